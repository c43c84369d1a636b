#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: experiment.sh BIN NAME: runs configs/experiments/NAME.yaml and prints its page of docs/results/.
set -euo pipefail
bin=$1 name=$2
here=$(dirname "$0")
source "$here/inputs.sh"
file=configs/experiments/$name.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$bin/sy-sim" experiment "$file" --report "$scratch" >/dev/null 2>"$scratch/log" || {
    cat "$scratch/log" >&2
    exit 2
}
python3 "$here/experiment_page.py" "$file" "$scratch/results.json"
mapfile -t named < <(python3 "$here/experiment_files.py" "$file")
inputs "$file" "${named[@]}"
