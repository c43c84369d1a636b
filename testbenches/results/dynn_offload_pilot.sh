#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: dynn_offload_pilot.sh BIN. DyNN-Offload, Table IV and Fig. 11: accuracy by neurons and by representation; what
# limits it. SWITCHYARD_NEURONS: which sizes (default: the five published ones; 2048 and 4096 take most of the time).
set -euo pipefail
bin=$1
source "$(dirname "$0")/lib/inputs.sh"
w=configs/workloads/dynn_offload
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

measure() { # NAME TRAINING OPTION...
    "$bin/sy-sched" pilot train "$w/$2.yaml" "${@:3}" -o "$scratch/$1.json" >/dev/null
    "$bin/sy-sched" pilot evaluate "$scratch/$1.json" $w/{tree_cnn,tree_lstm,ugan,var_lstm,fixed_lstm}.yaml \
        --gpu configs/gpus/rtx6000.yaml --json "$scratch/$1.a.json" >/dev/null
    "$bin/sy-sched" pilot evaluate "$scratch/$1.json" $w/{var_bert,alphafold,fixed_bert}.yaml \
        --gpu configs/gpus/a100_80gb.yaml --json "$scratch/$1.b.json" >/dev/null
    "$bin/sy-sched" pilot inspect "$scratch/$1.json" >"$scratch/$1.txt"
}
limit_jobs() { # behind each measurement in the background
    while (($(jobs -rp | wc -l) >= ${SWITCHYARD_JOBS:-2})); do wait -n; done
}
read -ra sizes <<<"${SWITCHYARD_NEURONS:-256 512 1024 2048 4096}"
for neurons in "${sizes[@]}"; do
    measure "idiom_$neurons" pilot_training --neurons $neurons &
    limit_jobs
done
measure global_id_512 pilot_training --neurons 512 --representation global_id &
limit_jobs
measure published_512 pilot_training_published --neurons 512 &
wait
"$bin/sy-sched" pilot evaluate "$scratch/idiom_512.json" $w/pilot_validation.yaml --json "$scratch/validation.json" >/dev/null

cat <<'MARKDOWN'
# DyNN-Offload: accuracy of the pilot

Written by `./run results dynn_offload_pilot`, which trains and evaluates pilots with

    sy-sched pilot train configs/workloads/dynn_offload/pilot_training.yaml --neurons N -o PILOT
    sy-sched pilot evaluate PILOT NETWORK... --gpu GPU

3,000 samples of each network; training has other networks (sizes, data sets) and other seeds. Accuracy: samples for which
the predicted path's blocks fetch the tensors of the path that is taken. The published accuracy is of all networks together
(Table IV).

MARKDOWN
python3 - "$scratch" "${sizes[@]}" <<'PYTHON'
import json
import re
import sys

published = {256: 0.70, 512: 0.82, 1024: 0.88, 2048: 0.91, 4096: 0.93}
def found_of(name):
    return json.load(open(f"{sys.argv[1]}/{name}.a.json")) + json.load(open(f"{sys.argv[1]}/{name}.b.json"))
def size_of(name):
    return re.search(r"([0-9.]+) KB", open(f"{sys.argv[1]}/{name}.txt").read()).group(1)
def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()
names = [entry["network"] for entry in found_of("idiom_512")]
rows = []
for kind, neurons in [("idiom", int(n)) for n in sys.argv[2:]] + [("global_id", 512)]:
    found = found_of(f"{kind}_{neurons}")
    accuracy = [entry["accuracy"] for entry in found]
    reference = f"{published[neurons]:.2f}" if kind == "idiom" else "-"
    rows.append([kind, neurons, size_of(f"{kind}_{neurons}"), reference, f"{sum(accuracy) / len(accuracy):.3f}",
                 *(f"{a:.3f}" for a in accuracy)])
table(["representation", "neurons", "KB", "published", "mean", *names], rows)
print("## What limits it\n")
print("512 neurons, idioms, 3,000 samples of each network. *Other path*: another path was predicted, with the same blocks "
      "or not. *Other label*: one whose blocks have other vectors. *True labels*: mispredictions if the pilot's output "
      "were the path's label itself. *Best*: mispredictions of the most probable path given the embedding.\n")
table(["network", "paths", "other path", "other label", "mispredictions", "with records", "true labels", "best",
       "published", "published with records"],
      [[e["network"], e["paths"], e["other_path"], e["other_label"], e["mispredictions"],
        e["mispredictions_with_records"], e["mispredictions_of_true_labels"], e["mispredictions_of_likeliest_path"],
        *{"tree_cnn": (167, 59), "tree_lstm": (109, 42), "var_bert": (182, 102)}.get(e["network"], ("-", "-"))]
       for e in found_of("idiom_512")])
print("## Training as published\n")
print("The paper trains with other samples of six of the networks that it evaluates (`pilot_training_published.yaml`); "
      "above, all networks are new to the pilot. 512 neurons.\n")
table(["training", "mean", *names],
      [[title, f"{sum(e['accuracy'] for e in found_of(name)) / len(names):.3f}",
        *(f"{e['accuracy']:.3f}" for e in found_of(name))]
       for title, name in [("other networks", "idiom_512"), ("other samples of six networks", "published_512")]])
print("## Validation\n")
print("The settings of the training were chosen with these networks (`pilot_validation.yaml`). 512 neurons.\n")
validation = json.load(open(f"{sys.argv[1]}/validation.json"))
table(["network", "changes", "samples", "accuracy"],
      [[e["network"], e["changes"], e["samples"], f"{e['accuracy']:.3f}"] for e in validation])
PYTHON
inputs $w/{pilot_training,pilot_training_published,pilot_validation}.yaml \
    $w/{tree_cnn,tree_lstm,ugan,var_lstm,var_bert,alphafold,fixed_lstm,fixed_bert}.yaml configs/gpus/rtx6000.yaml \
    configs/gpus/a100_80gb.yaml
