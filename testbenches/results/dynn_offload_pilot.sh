#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: dynn_offload_pilot.sh BIN. DyNN-Offload, Table IV and Fig. 11: accuracy by neurons and by representation.
set -euo pipefail
bin=$1
source "$(dirname "$0")/lib/inputs.sh"
epochs=10
w=configs/workloads/dynn_offload
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

measure() { # NAME OPTION...
    "$bin/sy-sched" pilot train $w/pilot_training.yaml --epochs $epochs "${@:2}" -o "$scratch/$1.json" >/dev/null
    "$bin/sy-sched" pilot evaluate "$scratch/$1.json" $w/{tree_cnn,tree_lstm,ugan,var_lstm}.yaml \
        --gpu configs/gpus/rtx6000.yaml --json "$scratch/$1.a.json" >/dev/null
    "$bin/sy-sched" pilot evaluate "$scratch/$1.json" $w/{var_bert,alphafold}.yaml \
        --gpu configs/gpus/a100_80gb.yaml --json "$scratch/$1.b.json" >/dev/null
    "$bin/sy-sched" pilot inspect "$scratch/$1.json" >"$scratch/$1.txt"
}
for neurons in 256 512 1024 2048 4096; do measure "idiom_$neurons" --neurons $neurons; done
for neurons in 512 2048; do measure "global_id_$neurons" --neurons $neurons --representation global_id; done

cat <<'MARKDOWN'
# DyNN-Offload: accuracy of the pilot

Written by `./run results dynn_offload_pilot`, which trains and evaluates pilots with

    sy-sched pilot train configs/workloads/dynn_offload/pilot_training.yaml --epochs 10 --neurons N -o PILOT
    sy-sched pilot evaluate PILOT NETWORK... --gpu GPU

3,000 samples of each network; training has other networks (sizes, data sets) and other seeds. Accuracy: samples whose
predicted blocks are those of the path that is taken. The published accuracy is of all networks together (Table IV).

MARKDOWN
python3 - "$scratch" <<'PYTHON'
import json
import re
import sys

published = {256: 0.70, 512: 0.82, 1024: 0.88, 2048: 0.91, 4096: 0.93}
def row(name):
    found = json.load(open(f"{sys.argv[1]}/{name}.a.json")) + json.load(open(f"{sys.argv[1]}/{name}.b.json"))
    size = re.search(r"([0-9.]+) KB", open(f"{sys.argv[1]}/{name}.txt").read()).group(1)
    return found, size
names = [entry["network"] for entry in row("idiom_512")[0]]
print("| representation | neurons | KB | published | mean | " + " | ".join(names) + " |")
print("| --- |" + " ---: |" * (4 + len(names)))
for kind, neurons in [("idiom", n) for n in published] + [("global_id", 512), ("global_id", 2048)]:
    found, size = row(f"{kind}_{neurons}")
    accuracy = [entry["accuracy"] for entry in found]
    reference = f"{published[neurons]:.2f}" if kind == "idiom" else "-"
    print(f"| {kind} | {neurons} | {size} | {reference} | {sum(accuracy) / len(accuracy):.3f} | "
          + " | ".join(f"{a:.3f}" for a in accuracy) + " |")
print()
print("Mispredictions of 3,000 samples, 512 neurons, without records and with them (published: Tree-CNN 167 and 59, "
      "Tree-LSTM 109 and 42, var-BERT 182 and 102):")
print()
print("| network | paths | without | with |")
print("| --- | ---: | ---: | ---: |")
for entry in row("idiom_512")[0]:
    print(f"| {entry['network']} | {entry['paths']} | {entry['mispredictions']} | {entry['mispredictions_with_records']} |")
PYTHON
inputs $w/pilot_training.yaml $w/{tree_cnn,tree_lstm,ugan,var_lstm,var_bert,alphafold,fixed_lstm,fixed_bert}.yaml configs/gpus/rtx6000.yaml \
    configs/gpus/a100_80gb.yaml
