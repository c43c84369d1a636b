#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: dynn_offload_pilot_trees.sh BIN. DyNN-Offload: why the pilot's accuracy stays low on trees. One change of the training
# at a time; measured on the tree networks of pilot_validation.yaml, never on those that are evaluated.
set -euo pipefail
bin=$1
source "$(dirname "$0")/lib/inputs.sh"
w=configs/workloads/dynn_offload
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Lists of networks: which trees, how many samples, what noise.
python3 - "$w" "$scratch" <<'PYTHON'
import os
import sys

import yaml

folder, scratch = sys.argv[1], sys.argv[2]
training = yaml.safe_load(open(f"{folder}/pilot_training.yaml"))["pilot_training"]
validation = yaml.safe_load(open(f"{folder}/pilot_validation.yaml"))["pilot_validation"]


def is_tree(network):
    return network["file"].startswith("tree_")


def write(name, section, base, networks, noise=None):
    copied = []
    for network in networks:
        entry = dict(network, file=os.path.abspath(f"{folder}/{network['file']}"),
                     gpu=os.path.abspath(f"{folder}/{network['gpu']}"), set=dict(network["set"]))
        if noise is not None:
            entry["set"]["embedding_noise"] = noise
        copied.append(entry)
    yaml.safe_dump({section: {"seed": base, "networks": copied}}, open(f"{scratch}/{name}.yaml", "w"))


trees = [n for n in training["networks"] if is_tree(n)]
checked = [n for n in validation["networks"] if is_tree(n)]
many = [dict(n, samples=5 * n["samples"]) for n in trees]
# The sizes of the validation networks, with sentences of other seeds.
same = [dict(n, samples=500, set=dict(n["set"], corpus_seed=300 + 10 * i + j)) for i, n in enumerate(checked) for j in range(8)]
seed = training["seed"]
write("as_trained", "pilot_training", seed, training["networks"])
write("trees_alone", "pilot_training", seed, trees)
write("more_samples", "pilot_training", seed, many)
write("same_sizes", "pilot_training", seed, same)
write("same_sizes_more", "pilot_training", seed, [dict(n, samples=2500) for n in same])
write("no_noise", "pilot_training", seed, trees, noise=0)
write("check", "pilot_validation", validation["seed"], checked)
write("check_no_noise", "pilot_validation", validation["seed"], checked, noise=0)
# The very samples of the training: the trees stand first in its list, so that they have the same seeds.
write("check_trained", "pilot_validation", seed, trees)
PYTHON

measure() { # NAME TRAINING VALIDATION OPTION...
    "$bin/sy-sched" pilot train "$scratch/$2.yaml" "${@:4}" -o "$scratch/$1.json" >"$scratch/$1.txt"
    "$bin/sy-sched" pilot evaluate "$scratch/$1.json" "$scratch/$3.yaml" --json "$scratch/$1.found.json" >/dev/null
}
limit_jobs() {
    while (($(jobs -rp | wc -l) >= ${SWITCHYARD_JOBS:-2})); do wait -n; done
}
while read -ra arguments; do
    measure "${arguments[@]}" &
    limit_jobs
done <<'RUNS'
base as_trained check
trees_alone trees_alone check
trained trees_alone check_trained
no_noise no_noise check_no_noise
epochs trees_alone check --epochs 100
samples more_samples check
same_sizes same_sizes check
same_sizes_samples same_sizes_more check
wide trees_alone check --sample-layer 128 --second-layer 128
RUNS
wait

cat <<'MARKDOWN'
# DyNN-Offload: why the pilot misses trees

Written by `./run results dynn_offload_pilot_trees`. One change of the training at a time, 512 neurons, 1,000 samples of each
of the two tree networks of `pilot_validation.yaml`, which are neither trained with nor evaluated elsewhere.

MARKDOWN
python3 - "$scratch" <<'PYTHON'
import json
import sys

rows = [("base", "as `docs/results/dynn_offload_pilot.md` has it: 64 networks, 20 epochs"),
        ("trees_alone", "the 16 tree networks of them alone"),
        ("trained", "the same, evaluated on the samples of the training itself"),
        ("no_noise", "trees alone, embeddings without noise, in validation too"),
        ("epochs", "trees alone, 100 epochs"),
        ("samples", "trees alone, five times the samples"),
        ("wide", "trees alone, 128 outputs of the sample's input layer and 128 neurons in the second layer"),
        ("same_sizes", "trees of the sizes of the validation networks, sentences of other seeds: 8,000 samples"),
        ("same_sizes_samples", "the same with five times the samples")]
COUNTS = ("samples", "mispredictions", "mispredictions_with_records", "right_size_other_path",
          "mispredictions_of_true_labels", "mispredictions_of_likeliest_path", "compared", "resolved")
print("| training | network | accuracy | with records | right number of operators and control flows, but another tree "
      "| true labels | best | output to its label | label to the nearest | resolved |")
print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
for name, title in rows:
    by_network = {}
    for found in json.load(open(f"{sys.argv[1]}/{name}.found.json")):
        by_network.setdefault(found["network"], []).append(found)
    for network, all_of in by_network.items():
        count = {key: sum(found[key] for found in all_of) for key in COUNTS}
        n, compared = count["samples"], count["compared"]

        def mean(key):
            return sum(found[key] * found["compared"] for found in all_of) / compared

        print(f"| {title} | {network} | {1 - count['mispredictions'] / n:.3f} "
              f"| {1 - count['mispredictions_with_records'] / n:.3f} | {count['right_size_other_path'] / n:.3f} "
              f"| {1 - count['mispredictions_of_true_labels'] / n:.3f} "
              f"| {1 - count['mispredictions_of_likeliest_path'] / n:.3f} "
              f"| {mean('output_difference'):.3f} | {mean('label_separation'):.4f} | {count['resolved'] / compared:.3f} |")
PYTHON
cat <<'MARKDOWN'

*With records*: a misprediction whose output was recorded before is not made again. *True labels* and *best*: accuracy if the
pilot's output were the path's label itself, and of the most probable path given the embedding. *Output to its label*: mean
difference between the pilot's output and the label of the path that is taken, as the mapping back to a path has it (sums up
to the blocks' ends over those of the step, ten elements). *Label to the nearest*: the same between that label and the nearest
other label of a path of the same size. *Resolved*: samples whose output is nearer to its label than half of that; of the others
it is chance which tree of the size is the nearest.

MARKDOWN
inputs $w/{pilot_training,pilot_validation,tree_cnn,tree_lstm}.yaml configs/gpus/rtx6000.yaml
