#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/demo.md: the heads of what `./run demo` prints. $1: the programs.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
platform=configs/platforms/adyna.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run WORKLOAD OPTION...: prints the head of the report, without what depends on the host.
run() {
    local workload=$1
    shift
    "$bin/sy-sched" compile "configs/workloads/$workload.yaml" --platform "$platform" --design adyna \
        -o "$scratch/$workload.syk" >/dev/null
    "$bin/sy-sim" run --platform "$platform" --image "$scratch/$workload.syk" --batches 40 "$@" \
        --report "$scratch/$workload" >"$scratch/$workload.txt"
    printf '\n'
    grep -E "^$workload on |^  (latency a batch|throughput|PE utilisation|HBM bandwidth|energy|tiles, not|conservation) " \
        "$scratch/$workload.txt" | sed 's/^/    /'
}

# Processor seconds a batch of skipnet_resnet101 with chip.impl $1, in a run of $2 batches.
seconds_a_batch() {
    local TIMEFORMAT=%U
    { time "$bin/sy-sim" run --platform "$platform" --set "chip.impl=$1" --image "$scratch/skipnet_resnet101.syk" \
        --batches "$2" >/dev/null; } 2>&1 | awk -v batches="$2" '{ print $1 / batches }'
}

cat <<'END'
# What the demo prints

Written by `./run results demo`. The head of each report of `./run demo`:
END
run digits_skipnet --trace configs/workloads/digits/skipnet/routing.jsonl
run skipnet_resnet34
run skipnet_resnet101

stages=$(seconds_a_batch stages 80)
tiles=$(seconds_a_batch tiles 2)
cat <<END

## Host time

    sy-sim run --platform $platform --image skipnet_resnet101.syk --set chip.impl=IMPL

A batch takes $(awk "BEGIN { printf \"%.0f\", $tiles / $stages }") times as much processor time with \`tiles\` (2 batches) as with \`stages\` (80 batches).

END
inputs "$platform" configs/workloads/{digits_skipnet,skipnet_resnet34,skipnet_resnet101}.yaml \
    configs/workloads/digits/skipnet/routing.jsonl
