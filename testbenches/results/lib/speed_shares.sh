#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: speed_shares.sh PROGRAMS [CASES]: where single tiles spend their time. Runs one batch of each case under perf, which
# must be there, and prints a line a case and part: case, part, percent of the samples of user time. CASES: a regular
# expression. Run it from the top of the repository.
set -euo pipefail
bin=$1 cases=${2:-}
chip=configs/platforms/adyna.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# By the names of functions.
parts() {
    perf report -i "$1" --stdio --no-children -g none --percent-limit 0 -F overhead,dso,sym 2>/dev/null | awk '
        /^#/ || !NF { next }
        {
            share = $1; sub("%", "", share); object = $2; name = $0; sub(/^[^\]]*\] /, "", name)
            if (name ~ /flit::/) part = "flit routers"
            else if (name ~ /Router::|LinkCalendar|PacketNetwork/) part = "routers and calendars of links"
            else if (name ~ /MemoryInterface|BandwidthTiming|BankCosts|SparseMemory|TimedDram|dram::/) part = "memory interfaces"
            else if (name ~ /InboundSlots|OutboundSender|NetworkInterface|Interface(Ports|Task)|MemoryFetcher|MemoryReaders|IndexLists|PackedParts|TransferPlan/)
                part = "network interfaces"
            else if (name ~ /TileController|Dispatcher|Profiler|PeArray|Scratchpad|TileProgram/)
                part = "tile controllers, dispatchers, PE arrays"
            else if (object ~ /systemc/) part = "SystemC kernel and TLM payloads"
            else if (name ~ /malloc|free|consolidate|unlink_chunk|operator new|operator delete/) part = "memory allocation"
            else part = "other"
            sum[part] += share; all += share
        }
        END { for (part in sum) printf "%s\t%.1f\n", part, 100 * sum[part] / all }' | sort -t$'\t' -k2,2 -rn
}
# usage: measure NAME NETWORK [KEY=VALUE]...
measure() {
    local name=$1 network=$2 settings=(--set chip.impl=tiles) setting
    shift 2
    [[ $name =~ $cases ]] || return 0
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$bin/sy-sched" compile "configs/workloads/$network.yaml" --platform "$chip" --design adyna -o "$work/image" >/dev/null
    perf record -q -e cpu-clock:u -F 499 -o "$work/data" "$bin/sy-sim" run --platform "$chip" "${settings[@]}" \
        --image "$work/image" --batches 1 --report "$work/report" >/dev/null
    parts "$work/data" | sed "s/^/$name\t/"
}
measure "tiles, tutel_moe" tutel_moe
measure "tiles, skipnet_resnet34" skipnet_resnet34
measure "tiles, skipnet_resnet101" skipnet_resnet101
measure "tiles and flits, tutel_moe" tutel_moe noc.impl=flit
measure "tiles and banks, tutel_moe" tutel_moe hbm.impl=bank
measure "tiles and flits, skipnet_resnet34" skipnet_resnet34 noc.impl=flit
measure "tiles and banks, skipnet_resnet34" skipnet_resnet34 hbm.impl=bank
