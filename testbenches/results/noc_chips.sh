#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/noc_chips.md: whole networks on single tiles, packets against flits. $1: the programs.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Mean latency of a batch in us: platform, image, impl, further options.
latency() {
    "$bin/sy-sim" run --platform "configs/platforms/$1.yaml" --image "$2" --set chip.impl=tiles --set "noc.impl=$3" "${@:4}" |
        sed -n 's/^ *latency a batch *\([0-9.]*\) us mean.*/\1/p'
}

cat <<'END'
# Packets against flits on whole networks

Mean time of a batch, with the platforms' defaults and single tiles (one batch; digits: four of their recorded routes):

    sy-sim run --platform configs/platforms/PLATFORM.yaml --image IMAGE --set chip.impl=tiles --set noc.impl=packet|flit

Written by `./run results noc_chips`.

| network, platform, design | packets, us | flits, us | packets against flits |
| --- | --- | --- | --- |
END
for row in "digits_skipnet mini adyna" "tutel_moe adyna adyna" "fbsnet_mcifarnet adyna adyna" "dpsnet adyna adyna" \
    "tutel_moe adyna m-tile"; do
    read -r workload platform design <<<"$row"
    "$bin/sy-sched" compile "configs/workloads/$workload.yaml" --platform "configs/platforms/$platform.yaml" \
        --design "$design" -o "$scratch/image.syk" >/dev/null
    options=(--batches 1)
    if [[ $workload == digits_skipnet ]]; then
        options=(--batches 4 --trace configs/workloads/digits/skipnet/routing.jsonl)
    fi
    latency "$platform" "$scratch/image.syk" flit "${options[@]}" >"$scratch/flit" &
    packets=$(latency "$platform" "$scratch/image.syk" packet "${options[@]}")
    wait
    flits=$(<"$scratch/flit")
    awk -v name="$workload, $platform, $design" -v p="$packets" -v f="$flits" \
        'BEGIN { printf "| %s | %s | %s | %+.1f %% |\n", name, p, f, 100 * (p / f - 1) }'
done
inputs configs/platforms/{mini,adyna}.yaml configs/workloads/{digits_skipnet,tutel_moe,fbsnet_mcifarnet,dpsnet}.yaml
