#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: pilot_experiment.sh BIN NAME: trains a pilot, runs configs/experiments/NAME.yaml with it and prints its page.
set -euo pipefail
bin=$1 name=$2
here=$(dirname "$0")
source "$here/inputs.sh"
file=configs/experiments/$name.yaml
training=configs/workloads/dynn_offload/pilot_training.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$bin/sy-sched" pilot train $training -o "$scratch/pilot.json" >/dev/null
"$bin/sy-sim" experiment "$file" --report "$scratch/out" --set training.pilot="$scratch/pilot.json" \
    >/dev/null 2>"$scratch/log" || {
    cat "$scratch/log" >&2
    exit 2
}
python3 "$here/experiment_page.py" "$file" "$scratch/out/results.json"
printf '\nThe pilot is trained first: `sy-sched pilot train %s -o out/pilot.json`.\n' $training
mapfile -t named < <(python3 "$here/experiment_files.py" "$file")
inputs "$file" $training "${named[@]}"
