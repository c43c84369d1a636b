#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/noc_chips.md: whole networks on single tiles, packets and stages against flits. $1: the programs.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Mean latency of a batch in us: platform, image, implementation of the chip, of the network, further options.
latency() {
    "$bin/sy-sim" run --platform "configs/platforms/$1.yaml" --image "$2" --set "chip.impl=$3" --set "noc.impl=$4" "${@:5}" |
        sed -n 's/^ *latency a batch *\([0-9.]*\) us mean.*/\1/p'
}

cat <<'END'
# Packets and stages against flits on whole networks

Mean time of a batch, with the platforms' defaults and single tiles (one batch; digits: four of their recorded routes):

    sy-sim run --platform configs/platforms/PLATFORM.yaml --image IMAGE --set chip.impl=tiles --set noc.impl=packet|flit

and on stages (`--set chip.impl=stages`). Stages against flits is what packets leave out and what stages leave out of
tiles with packets, together. Networks called `calibration` are those of `testbenches/calibration/networks`.

Written by `./run results noc_chips`.

| network, platform, design | stages, us | packets, us | flits, us | packets against flits | stages against packets | stages against flits |
| --- | --- | --- | --- | --- | --- | --- |
END
for row in "digits_skipnet mini adyna" "skipnet_resnet34 adyna adyna" "tutel_moe adyna adyna" "dpsnet adyna adyna" \
    "fbsnet_mcifarnet adyna adyna" "fbsnet_resnet18 adyna adyna" "tutel_moe adyna m-tile" "dpsnet adyna m-tile" \
    "fbsnet_resnet18 adyna m-tile" "calibration/gated_blocks adyna adyna" "calibration/exits adyna adyna" \
    "calibration/experts adyna adyna" "calibration/channel_groups adyna adyna" "calibration/patches adyna adyna"; do
    read -r workload platform design <<<"$row"
    file=configs/workloads/$workload.yaml
    if [[ $workload == calibration/* ]]; then file=testbenches/calibration/networks/${workload#*/}.yaml; fi
    "$bin/sy-sched" compile "$file" --platform "configs/platforms/$platform.yaml" \
        --design "$design" -o "$scratch/image.syk" >/dev/null
    options=(--batches 1)
    if [[ $workload == digits_skipnet ]]; then
        options=(--batches 4 --trace configs/workloads/digits/skipnet/routing.jsonl)
    fi
    latency "$platform" "$scratch/image.syk" tiles flit "${options[@]}" >"$scratch/flit" &
    packets=$(latency "$platform" "$scratch/image.syk" tiles packet "${options[@]}")
    stages=$(latency "$platform" "$scratch/image.syk" stages packet "${options[@]}")
    wait
    flits=$(<"$scratch/flit")
    awk -v name="$workload, $platform, $design" -v s="$stages" -v p="$packets" -v f="$flits" \
        'BEGIN { printf "| %s | %s | %s | %s | %+.1f %% | %+.1f %% | %+.1f %% |\n", name, s, p, f, 100 * (p / f - 1),
                 100 * (s / p - 1), 100 * (s / f - 1) }'
done
inputs configs/platforms/{mini,adyna}.yaml configs/workloads/{digits_skipnet,skipnet_resnet34}.yaml \
    configs/workloads/{tutel_moe,fbsnet_mcifarnet,fbsnet_resnet18,dpsnet}.yaml \
    testbenches/calibration/networks/{gated_blocks,exits,experts,channel_groups,patches}.yaml
