#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/route_correlation.md: recorded routes beside generated ones. $1: the programs.
set -euo pipefail
here=$(dirname "$0")
source "$here/lib/inputs.sh"
bin=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

traces=(configs/workloads/digits/*/routing.jsonl)
cat <<'END'
# How much batches differ

Share of the samples of a batch that take a branch, by batch, for every switch and branch. 1.00 would be samples that have nothing in common. What is above 1 comes from samples of a batch that are alike, or from routes that drift.

Recorded routes of the trained digits networks, whose images become noisier over the run and come in random order:

END
python3 "$here/route_correlation.py" "${traces[@]}"
cat <<'END'

Generated routes of SkipNet on ResNet-34 (correlation 0.5, 200 batches), by `batch: {correlation: c}`:

END
generated=()
for correlation in 0 0.05 0.1 0.25 0.5; do
    trace=$scratch/c_$correlation/routing.jsonl
    mkdir -p "$(dirname "$trace")"
    cat >"$scratch/routing.yaml" <<END
seed: 1
correlation: 0.5
batch: {correlation: $correlation}
probability: [0.2224, 0.7776]
END
    "$bin/sy-sched" routes configs/workloads/skipnet_resnet34.yaml --routing "$scratch/routing.yaml" --batches 200 -o "$trace" >/dev/null
    generated+=("$trace")
done
python3 "$here/route_correlation.py" "${generated[@]}" | sed "s#$scratch/##"
printf '\nWritten by `./run results route_correlation`.\n'
inputs configs/workloads/skipnet_resnet34.yaml "${traces[@]}"
