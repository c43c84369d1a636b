#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: synth.sh FOLDER
# Maps the blocks of a tile, a router, a GPU's scheduling window and SUSHI's dot-product array to generic gates (gates.lib) with yosys and prints cells and gate equivalents a block, and
# the dispatcher's share of a tile beside Table IV of the Adyna paper; the same goes into FOLDER/synth.json, yosys' logs
# and statistics into FOLDER/*.log and *.stat. A gate equivalent is a two-input NAND.
#
# Gates are mapped for area, without timing, and memories become flip-flops: figures to compare blocks with each other.
set -euo pipefail
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# synthesise NAME FOLDER MODULE [PARAMETER VALUE]...
synthesise() {
    local name=$1 folder=$2 module=$3 parameters=""
    shift 3
    while (($# > 0)); do
        parameters+=" -set $1 $2"
        shift 2
    done
    echo "synthesis: $name" >&2
    local packages sources
    mapfile -t packages < <(find common "$folder" -name '*_pkg.sv' | sort)
    mapfile -t sources < <(find common "$folder" -name '*.sv' ! -name '*_pkg.sv' | sort)
    # Modules stay apart, so that a PE is mapped once and shows as a line of its own.
    yosys -q -l "$out/$name.log" >/dev/null -p "
        read_verilog -sv -Icommon ${packages[*]}
        read_verilog -sv -defer -Icommon ${sources[*]}
        ${parameters:+chparam$parameters $module}
        hierarchy -check -top $module
        synth -noabc -top $module
        dfflibmap -liberty synth/gates.lib
        abc -liberty synth/gates.lib -script +strash;dc2;map,-a
        opt_clean
        tee -q -o $out/$name.stat stat -top $module -liberty synth/gates.lib" 2>"$out/$name.errors" || {
        tail -n 5 "$out/$name.errors" >&2
        exit 1
    }
}

for unit in fp16_fma fp16_mac32; do synthesise $unit pe_array $unit; done
synthesise fp16_fma_pipe pe_array fp16_mac_pipe ACC_FP16 1
synthesise fp16_mac32_pipe pe_array fp16_mac_pipe ACC_FP16 0
synthesise pe_array pe_array pe_array ROWS 32 COLS 32
synthesise dispatcher dispatcher dispatcher KERNELS 256
# A narrow one: buffers and switch grow with the width of the link, the rest does not.
synthesise router router router PORTS 5 VCS 4 DEPTH 8 COLUMNS 4 ROWS 4 PAYLOAD_BITS 32
for block in switch_splitter merge_reorder; do synthesise $block network_interface $block BRANCHES 4 ID_WIDTH 16; done
synthesise packetiser network_interface packetiser FLIT_BYTES 16 HEADER_BYTES 8 VCS 4 DEPTH 8
synthesise scheduling_window scheduling_window scheduling_window SLOTS 32
# SushiAccel's on the ZCU104.
synthesise dot_product_array dot_product_array dot_product_array ROWS 12 COLUMNS 12
synthesise requantiser dot_product_array requantiser
# Of one channel; its lines become flip-flops.
synthesise line_buffer dot_product_array line_buffer SIDE 3 MAX_WIDTH 64

# Table IV of the Adyna paper, mm2 in 28 nm: a tile with 32x32 PEs. Scratchpad and router are not synthesised: a tile of
# ours has them in Table IV's proportion to its PE array.
awk -v json="$out/synth.json" -v paper_array=1.981 -v paper_scratchpad=1.413 -v paper_dispatcher=0.148 \
    -v paper_router=0.025 '
    function base(name) { sub(/^[$]paramod[^\\]*\\/, "", name); sub(/\\.*$/, "", name); return name }
    function print_module(indent, name, instances, cells, area) {
        printf "%-28s %9d %11d %13.0f\n", indent name, instances, cells, area
    }
    FNR == 1 {
        block = FILENAME
        sub(/.*\//, "", block)
        sub(/[.]stat$/, "", block)
        blocks[++block_count] = block
        in_hierarchy = 0
        top = ""
    }
    /^=== / { module = $2; in_hierarchy = /design hierarchy/; next }
    in_hierarchy && NF == 2 && !/:/ && top == "" { top = $1; next }
    in_hierarchy && NF == 2 && !/:/ && ((block, $1) in module_area) {
        part = base($1)
        if (!((block, part) in instances)) parts[block] = parts[block] " " part
        instances[block, part] += $2
        part_cells[block, part] += $2 * module_cells[block, $1]
        part_area[block, part] += $2 * module_area[block, $1]
    }
    /Number of cells:/ {
        cells[block] = $NF
        if (!in_hierarchy) module_cells[block, module] = $NF
    }
    /Chip area/ {
        area[block] = $NF
        if (!in_hierarchy) module_area[block, module] = $NF
    }
    END {
        printf "%-28s %9s %11s %13s\n", "block", "instances", "cells", "gate equiv."
        printf "{\n  \"schema\": \"switchyard.synthesis/1\",\n  \"blocks\": {" > json
        for (b = 1; b <= block_count; ++b) {
            block = blocks[b]
            print_module("", block, 1, cells[block], area[block])
            printf "%s\n    \"%s\": {\"cells\": %d, \"gate_equivalents\": %.1f, \"parts\": {",
                (b > 1 ? "," : ""), block, cells[block], area[block] > json
            count = split(parts[block], names, " ")
            for (i = 1; i <= count; ++i) {
                print_module("  ", names[i], instances[block, names[i]], part_cells[block, names[i]],
                    part_area[block, names[i]])
                printf "%s\n      \"%s\": {\"instances\": %d, \"cells\": %d, \"gate_equivalents\": %.1f}",
                    (i > 1 ? "," : ""), names[i], instances[block, names[i]], part_cells[block, names[i]],
                    part_area[block, names[i]] > json
            }
            printf "}}" > json
        }

        array = area["pe_array"]
        dispatcher = area["dispatcher"]
        tile = array * (1 + (paper_scratchpad + paper_router) / paper_array) + dispatcher
        paper_tile = paper_array + paper_scratchpad + paper_dispatcher + paper_router
        printf "\n%-44s %10s %10s\n", "dispatcher and controller", "this RTL", "Table IV"
        printf "%-44s %8.2f %% %8.2f %%\n", "of the PE array", 100 * dispatcher / array,
            100 * paper_dispatcher / paper_array
        printf "%-44s %8.2f %% %8.2f %%\n", "of a tile", 100 * dispatcher / tile, 100 * paper_dispatcher / paper_tile
        printf "This RTL: dispatcher and profiler, no tile controller; scratchpad and router as in Table IV.\n"
        printf "\n  },\n  \"dispatcher_share\": {\n    \"of_pe_array\": %.6f, \"of_pe_array_table_iv\": %.6f,\n",
            dispatcher / array, paper_dispatcher / paper_array > json
        printf "    \"of_tile\": %.6f, \"of_tile_table_iv\": %.6f\n  }\n}\n", dispatcher / tile,
            paper_dispatcher / paper_tile > json
    }' "$out"/{fp16_fma,fp16_fma_pipe,fp16_mac32,fp16_mac32_pipe,pe_array,dispatcher,router,switch_splitter,merge_reorder,packetiser,scheduling_window,dot_product_array,requantiser,line_buffer}.stat
