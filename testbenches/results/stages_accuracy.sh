#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/stages_accuracy.md: the chip as pipelines of stages against single tiles. $1: the programs.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat <<'END'
# Stages against tiles

Written by `./run results stages_accuracy`. Latency of a batch on `chip.impl: stages` over that on `chip.impl: tiles`,
less 1.

## Workloads

    sy-sim run --platform configs/platforms/adyna.yaml --set chip.impl=stages --image IMAGE --batches 2 --spot-check 2

The next columns are the figures by which `chip.impl: auto` chooses (`docs/models/stages.md`).

| workload | stages, us | tiles, us | difference | flights | waits | DMA | first units | auto |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
END
for workload in skipnet_resnet34 fbsnet_mcifarnet pabee_bert tutel_moe dpsnet digits_skipnet digits_early_exit; do
    "$bin/sy-sched" compile "configs/workloads/$workload.yaml" --platform configs/platforms/adyna.yaml --design adyna \
        -o "$scratch/image.syk" >/dev/null
    options=(--batches 2)
    if [[ $workload == digits_* ]]; then
        options+=(--trace "configs/workloads/digits/${workload#digits_}/routing.jsonl")
    fi
    "$bin/sy-sim" run --platform configs/platforms/adyna.yaml --set chip.impl=stages --image "$scratch/image.syk" \
        "${options[@]}" --spot-check 2 --report "$scratch" >/dev/null
    python3 - "$workload" "$scratch/report.json" <<'END'
import json, sys
validation = json.load(open(sys.argv[2]))["validation"]
check = validation["spot_check"]
figures = " | ".join(f"{figure['got']:.3f}" for figure in validation["figures"])
chip = "tiles" if validation["outside"] else "stages"
print(f"| `{sys.argv[1]}` | {check['stages_latency_us']:.2f} | {check['tiles_latency_us']:.2f} | "
      f"{100 * check['difference']:+.1f} % | {figures} | {chip} |")
END
done

cat <<'END'

## Random networks on random chips

    property_pairs --seed 24000000 --pairs 2000 --jobs 2

`validated`: the pairs for which `auto` takes stages. The networks are small, so that most lie beyond the bounds.

END
"$bin/property_pairs" --seed 24000000 --pairs 2000 --jobs 2 | sed -n '2,5s/^/    /p'
inputs configs/platforms/adyna.yaml configs/workloads/{skipnet_resnet34,fbsnet_mcifarnet,pabee_bert,tutel_moe,dpsnet,digits_skipnet,digits_early_exit}.yaml
