#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints docs/results/digits_values.md: the trained digits networks computed on the chip, against PyTorch.
# usage: digits_values.sh BIN
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
platform=configs/platforms/mini.yaml
digits=configs/workloads/digits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat <<'END'
# Values of the digits networks

Written by `./run results digits_values`. Networks trained in PyTorch (`docs/workloads.md`) are computed on the chip of
`configs/platforms/mini.yaml` for all recorded batches, and compared with the labels, decisions and outputs that PyTorch
computed in binary32:

```
sy-sched compile configs/workloads/digits_NETWORK.yaml --platform configs/platforms/mini.yaml --design adyna SETTINGS -o digits.syk
sy-sim run --platform configs/platforms/mini.yaml --set chip.functional=yes SETTINGS --image digits.syk \
    --weights FOLDER/weights --inputs INPUTS --expect FOLDER/EXPECTED --bound 1000 --trace FOLDER/routing.jsonl
```

A sample that takes another way at one gate may do so at later ones, too, and has other outputs; `rerouted` counts these
samples, of `moe` its tokens. Errors are of all samples.

| folder | settings | samples | other labels | decisions | other decisions | rerouted | max error | mean error |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
END

# The number in front of, or behind, a word in a line of the run's table.
field() {
    sed -nE "s/^  $1 .*$2.*/\1/p" "$work/run.txt"
}

# usage: row NETWORK FOLDER INPUTS EXPECTED [KEY=VALUE]...
row() {
    local network=$1 folder=$2 inputs=$digits/$3 expected=$digits/$2/$4 settings=() setting rerouted
    shift 4
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$bin/sy-sched" compile "configs/workloads/digits_$network.yaml" --platform "$platform" --design adyna \
        ${settings[@]:+"${settings[@]}"} -o "$work/digits.syk" >/dev/null
    "$bin/sy-sim" run --platform "$platform" --set chip.functional=yes ${settings[@]:+"${settings[@]}"} \
        --image "$work/digits.syk" --weights "$digits/$folder/weights" --inputs "$inputs" --expect "$expected" \
        --bound 1000 --trace "$digits/$folder/routing.jsonl" --report "$work" >"$work/run.txt"
    rerouted=$(sed -n '/"differences": \[/,/\]/p' "$work/report.json" |
        awk -F'[:,]' '/"batch"/ { batch = $2 } /"sample"/ { seen[batch $2] } END { print length(seen) }')
    printf '| `%s` | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$folder" "${*:-}" \
        "$(field labels ' of ([0-9]+)')" "$(field labels ' ([0-9]+) of')" \
        "$(field decisions ' of ([0-9]+)')" "$(field decisions ' ([0-9]+) of')" "$rerouted" \
        "$(field outputs 'largest error ([^,]+)')" "$(field outputs 'mean ([^,]+)')"
}

for acc in fp32 fp16; do
    row skipnet skipnet inputs_batch0_to_19.npy logits_batch0_to_19.npy "pe_array.acc=$acc"
done
for folder in skipnet_seed1 skipnet_seed2; do
    row skipnet "$folder" inputs_batch0_to_19.npy logits_batch0_to_19.npy
done
for sums in fp16 fp32; do
    row channel_gate channel_gate inputs_batch0_to_19.npy logits_batch0_to_19.npy "pe_array.partial_sums=$sums"
done
row patch_select patch_select patch_select/inputs_batch0_to_4.npy logits_batch0_to_4.npy
for network in early_exit moe; do
    inputs=inputs_batch0_to_19.npy
    [[ $network == early_exit ]] || inputs=$network/$inputs
    for acc in fp32 fp16; do
        row "$network" "$network" "$inputs" logits_batch0_to_19.npy "pe_array.acc=$acc"
    done
done
inputs "$platform" configs/workloads/digits_{skipnet,channel_gate,patch_select,early_exit,moe}.yaml
