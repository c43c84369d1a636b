#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: speed_pairs.sh BEFORE AFTER [CASES]: two folders of programs, of two commits. Runs each case five times with
# both in turn, and prints a line a case: name, median, smallest and largest user CPU seconds before, the same after, and
# whether the results are the same bytes ("same keys": reports agree in all keys that both commits have). CASES: a
# regular expression, of cases with such names alone. Run it from the top of the repository.
set -euo pipefail
before=$1 after=$2 cases=${3:-}
chip=configs/platforms/adyna.yaml small=configs/platforms/mini.yaml digits=configs/workloads/digits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# User CPU seconds of a command.
seconds() {
    local TIMEFORMAT=%U
    { time "$@" >/dev/null 2>&1; } 2>&1
}
summary() {
    printf '%s\n' "$@" | sort -n | awk '{ t[NR] = $1 } END { printf "%s\t%s\t%s", t[int((NR + 1) / 2)], t[1], t[NR] }'
}
# Whether two reports agree in all keys that both have.
agree() {
    python3 - "$@" <<'END'
import json
import sys


def agree(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return all(agree(a[key], b[key]) for key in a if key in b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(agree, a, b))
    return a == b


reports = [json.load(open(path, encoding="utf-8")) for path in sys.argv[1:]]
sys.exit(not agree(*reports))
END
}
compare() {
    if cmp -s "$work/before$1" "$work/after$1"; then
        echo same
    elif [[ $1 == /report.json ]] && agree "$work/before$1" "$work/after$1"; then
        echo same keys
    else
        echo different
    fi
}
# usage: pairs NAME RESULT COMMAND...: {} stands for the folder of programs, {side} for "before" or "after", {out} for
# where the result goes.
pairs() {
    local name=$1 result=$2 turn which bin args times_before=() times_after=()
    shift 2
    for turn in 1 2 3 4 5; do
        for which in before after; do
            bin=${!which}
            args=("${@//\{\}/$bin}")
            args=("${args[@]//\{out\}/$work/$which}")
            args=("${args[@]//\{side\}/$which}")
            if [[ $which == before ]]; then times_before+=("$(seconds "${args[@]}")"); else times_after+=("$(seconds "${args[@]}")"); fi
        done
    done
    printf '%s\t%s\t%s\t%s\n' "$name" "$(summary "${times_before[@]}")" "$(summary "${times_after[@]}")" "$(compare "$result")"
}
# usage: image NETWORK DESIGN PLATFORM [OPTION]...: each side compiles its own.
image() {
    local network=$1 design=$2 platform=$3 which
    shift 3
    for which in before after; do
        [[ -e "$work/$which.$network.$design.syk" ]] || "${!which}/sy-sched" compile "configs/workloads/$network.yaml" \
            --platform "$platform" "$@" --design "$design" -o "$work/$which.$network.$design.syk" >/dev/null
    done
}
wanted() { [[ $1 =~ $cases ]]; }
# usage: run NAME NETWORK DESIGN [KEY=VALUE]...
run() {
    local name=$1 network=$2 design=$3 settings=() setting
    wanted "$name" || return 0
    shift 3
    for setting in chip.impl=tiles "$@"; do settings+=(--set "$setting"); done
    image "$network" "$design" "$chip"
    pairs "$name" /report.json {}/sy-sim run --platform "$chip" "${settings[@]}" \
        --image "$work/{side}.$network.$design.syk" --batches 1 --report {out}
}
# usage: values NAME NETWORK INPUTS ACC
values() {
    wanted "$1" || return 0
    image "digits_$2" adyna "$small"
    pairs "$1" /report.json {}/sy-sim run --platform "$small" --set chip.functional=yes --set "pe_array.acc=$4" \
        --image "$work/{side}.digits_$2.adyna.syk" --weights "$digits/$2/weights" --inputs "$digits/$3" \
        --expect "$digits/$2/logits_batch0_to_19.npy" --bound 1000 --trace "$digits/$2/routing.jsonl" --batches 2 \
        --report {out}
}
# One matrix product with values, 512 x 512 x 512, on one tile of 32x32 PEs.
gemm_files() {
    [[ ! -e $work/gemm.yaml ]] || return 0
    cat >"$work/gemm.yaml" <<'END'
name: gemm
batch: 512
input: {channels: 512, rows: 1, columns: 1}
layers:
  - {name: product, kind: matmul, from: input, out_channels: 512, fused: [bias], parameters: product}
outputs: [product]
END
    python3 - "$work" <<'END'
import random
import struct
import sys


def write(name, *shape):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    count = 1
    for size in shape:
        count *= size
    values = [random.randint(-8, 8) / 16 for _ in range(count)]
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{count}f", *values))


random.seed(1)
write("product.weight", 512, 512)
write("product.bias", 512)
write("inputs", 512, 512)
END
}
# usage: gemm NAME ACC
gemm() {
    local which chip=(--platform "$small" --set chip.columns=1 --set chip.rows=1 --set pe_array.rows=32
        --set pe_array.columns=32 --set scratchpad.capacity_bytes=2097152)
    wanted "$1" || return 0
    gemm_files
    for which in before after; do
        "${!which}/sy-sched" compile "$work/gemm.yaml" "${chip[@]}" --design adyna -o "$work/$which.gemm.syk" >/dev/null
    done
    pairs "$1" /report.json {}/sy-sim run "${chip[@]}" --set chip.functional=yes --set "pe_array.acc=$2" \
        --image "$work/{side}.gemm.syk" --weights "$work" --inputs "$work/inputs.npy" --batches 1 --report {out}
}
# usage: schedule NETWORK [TEXT SETTING...]: TEXT tells what the settings are.
schedule() {
    local network=$1 text=${2:-}
    wanted "scheduling, $network$text" || return 0
    shift $(($# < 2 ? $# : 2))
    pairs "scheduling, $network$text" .syk {}/sy-sched compile "configs/workloads/$network.yaml" --platform "$chip" "$@" \
        --design adyna -o {out}.syk
}
# A whole tile in RTL, which there is for arrays of 16 x 16, in a chip of 144.
rtl_tile() {
    local name="one tile of 144 in RTL, dpsnet" array=(--set pe_array.rows=16 --set pe_array.columns=16)
    wanted "$name" || return 0
    image dpsnet adyna "$chip" "${array[@]}"
    pairs "$name" /report.json {}/sy-sim run --platform "$chip" "${array[@]}" --set chip.impl=tiles \
        --set pe_array.impl_of_tiles=5=rtl --set dispatcher.impl_of_tiles=5=rtl \
        --set network_interface.impl_of_tiles=5=rtl --image "$work/{side}.dpsnet.adyna.syk" --batches 1 --report {out}
}

run "tiles, tutel_moe, adyna" tutel_moe adyna
run "tiles, tutel_moe, m-tile" tutel_moe m-tile
run "tiles, skipnet_resnet34, adyna" skipnet_resnet34 adyna
for network in tutel_moe skipnet_resnet34; do
    run "tiles and flits, $network, adyna" "$network" adyna noc.impl=flit
    run "tiles and banks, $network, adyna" "$network" adyna hbm.impl=bank
    run "tiles, flits and banks, $network, adyna" "$network" adyna noc.impl=flit hbm.impl=bank
done
gemm "values, one product of 512 x 512 x 512, acc fp32" fp32
gemm "values, one product of 512 x 512 x 512, acc fp16" fp16
values "values, digits_moe, acc fp32" moe moe/inputs_batch0_to_19.npy fp32
values "values, digits_moe, acc fp16" moe moe/inputs_batch0_to_19.npy fp16
values "values, digits_skipnet, acc fp32" skipnet inputs_batch0_to_19.npy fp32
values "values, digits_channel_gate, acc fp16" channel_gate inputs_batch0_to_19.npy fp16
for network in tutel_moe skipnet_resnet34 skipnet_resnet101 fbsnet_mcifarnet fbsnet_resnet18 pabee_bert dpsnet; do
    schedule "$network"
done
schedule skipnet_resnet34 ", 64x64 tiles" --set chip.columns=64 --set chip.rows=64 --set host.image_window_bytes=134217728
rtl_tile
run "tiles, skipnet_resnet101, adyna" skipnet_resnet101 adyna
