#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: layering.sh ROOT. Includes run one way:
#   platform -> {hw, rtl, sw_scheduler} -> tlm; hw and rtl see of sw_scheduler base/ and formats only (operators,
#   convolutions with their weight tiles, kernel streams, topologies of links and programs of transfers, adyna/image/, adyna/rules/, ace/window_entry.h); sw_scheduler sees none of the others, and no SystemC; in it {adyna, ace, sushi, brainstorm, kernel_streams} -> workload/ -> base/;
#   in platform, apps -> {experiment, systems/X, characterisation} -> {chip, gpu} -> system/, where experiment sees system/ only,
#   a system never sees another, system/ sees of sw_scheduler base/ and workload/ only, and no SystemC; a component of hw/ or rtl/ never sees another component,
#   but the component that it implements: rtl/X sees hw/X, and rtl/router hw/noc, whose router it is; all see hw/numerics/ (arithmetic) and hw/messages/ (what components say to each other), and rtl/ sees rtl/common/;
#   network, memory and the routers in RTL serve any system: hw/noc, hw/memory and rtl/router do not see hw/messages/;
#   tlm/ sees of sw_scheduler base/ alone.
# Prints each include that does not, as file:line, and fails.
set -euo pipefail
cd "$1"

folders=()
for folder in sw_scheduler tlm hw rtl platform; do
    if [[ -d $folder ]]; then folders+=("$folder"); fi
done

grep -rnHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' --include='*.h' --include='*.cpp' "${folders[@]}" |
    sed -E 's/^([^:]*):([0-9]+):[^<"]*([<"])([^">]*).*$/\1 \2 \3 \4/' |
    awk '
    function refuse(why) { printf "%s:%s: %s may not include %s: %s\n", $1, $2, layer, $4, why; bad = 1 }
    function within(path, folder) { return index(path, folder "/") == 1 }
    {
        split($1, from, "/")
        layer = from[1]
        target = $4
        if ($3 == "<") {
            if (layer == "sw_scheduler" && target ~ /^(systemc|tlm)/) refuse("the scheduler knows no SystemC")
            next
        }
        if (!within(target, "switchyard")) { refuse("ours begin with \"switchyard/\""); next }
        target = substr(target, length("switchyard/") + 1)
        if (target == "accelerator.h") target = "platform/systems/adyna/accelerator.h"
        split(target, to, "/")

        if (layer == "sw_scheduler") {
            if (to[1] != "sw_scheduler") refuse("the scheduler stands alone")
            else if (from[2] == "base" && to[2] != "base") refuse("base/ stands alone")
            else if (from[2] == "workload" && to[2] !~ /^(base|workload)$/) refuse("a workload belongs to no system")
            else if (from[2] == "onnx_import" && to[2] !~ /^(base|workload|onnx_import)$/) refuse("an import belongs to no system")
            else if (from[2] == "collectives" && to[2] !~ /^(base|collectives)$/) refuse("collectives belong to no system")
            else if (from[2] ~ /^(adyna|ace|sushi|brainstorm|kernel_streams)$/ && to[2] !~ /^(base|workload|collectives)$/ && to[2] != from[2])
                refuse("a system never includes another")
            else if (from[3] == "image" && within(target, "sw_scheduler/adyna") &&
                     !within(target, "sw_scheduler/adyna/image")) refuse("image/ stands alone")
            else if (from[3] == "rules" && within(target, "sw_scheduler/adyna") &&
                     target !~ /^sw_scheduler\/adyna\/(image|rules)\//) refuse("rules/ see the image alone")
        } else if (layer == "platform") {
            if (to[1] !~ /^(platform|hw|rtl|sw_scheduler|tlm)$/) refuse("not a library")
            else if (from[2] == "system" && !within(target, "platform/system") && !within(target, "sw_scheduler/base") &&
                     !within(target, "sw_scheduler/workload") && to[1] != "tlm")
                refuse("system/ knows no system")
            else if (from[2] == "experiment" && !within(target, "platform/experiment") &&
                     !within(target, "platform/system") && !within(target, "sw_scheduler/base") &&
                     !within(target, "sw_scheduler/workload"))
                refuse("experiments know the System interface only")
            else if (from[2] != "apps" && to[1] == "platform" && to[2] == "apps")
                refuse("no library knows a program")
            else if (from[2] ~ /^(chip|gpu|characterisation|systems)$/ && to[1] == "platform" &&
                     to[2] !~ /^(system|chip|gpu|driver)$/ && to[2] != from[2])
                refuse("it knows neither experiments nor systems")
            else if (from[2] == "chip" && to[1] == "platform" && to[2] == "driver")
                refuse("the chip knows no driver")
            else if (from[2] == "systems" && within(target, "platform/systems") && to[3] != from[3])
                refuse("a system never includes another")
        } else if (from[2] ~ /^(noc|memory|router)$/ && within(target, "hw/messages")) {
            refuse("network and memory serve any system")
        } else if (layer == "tlm" && to[1] == "sw_scheduler") {
            if (to[2] != "base") refuse("tlm/ knows no system")
        } else if (to[1] == "sw_scheduler") {
            if (to[2] != "base" && !within(target, "sw_scheduler/adyna/image") &&
                !within(target, "sw_scheduler/adyna/rules") &&
                target !~ /^sw_scheduler\/(collectives\/(link_topology|program)|workload\/(operator|kernel_stream|memory_segment|convolution|weight_tiles)|ace\/window_entry)\.h$/)
                refuse("only formats: sw_scheduler/base/, operators, convolutions, kernel streams, images and window entries")
        } else if (layer ~ /^(hw|rtl)$/ && (within(target, "hw/numerics") || within(target, "hw/messages"))) {
            next
        } else if (layer == "rtl" && (within(target, "rtl/common") || (to[1] == "hw" && from[2] == to[2]) ||
                                     (from[2] == "router" && within(target, "hw/noc")))) {
            next
        } else if (to[1] == layer && layer != "tlm") {
            if (from[2] != to[2]) refuse("components meet at sockets")
        } else if (to[1] != "tlm") {
            refuse("wrong direction")
        }
    }
    END { exit bad }'
