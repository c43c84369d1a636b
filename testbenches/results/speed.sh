#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/speed.md: what the files speed_pairs*.tsv tell, each of which lib/speed_pairs.sh has measured with the
# programs of two commits.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
folder=$(dirname "$0")
pairs=("$folder/speed_pairs_segments.tsv" "$folder/speed_pairs_schedules.tsv" "$folder/speed_pairs.tsv")  # newest first

cat <<'END'
# Speed, before and after

User CPU seconds of single runs, median of five and in brackets the smallest and the largest. The programs of two commits
take turns, on a machine that does other work meanwhile: ratios count. Reports and images of both are compared byte by
byte. The figures stand in `testbenches/results/speed_pairs*.tsv`, with the commits; a new pair is measured by

    testbenches/results/lib/speed_pairs.sh FOLDER_OF_PROGRAMS_BEFORE FOLDER_OF_PROGRAMS_AFTER

END
for file in "${pairs[@]}"; do
    sed -n 's/^# //p' "$file"
    printf '\n| case | before | after | before / after | results |\n| --- | --- | --- | --- | --- |\n'
    grep -v '^#' "$file" | awk -F'\t' '{ printf "| %s | %s (%s to %s) | %s (%s to %s) | %.2f | %s |\n", $1, $2, $3, $4, $5, $6, $7, $2 / $5, $8 }'
    echo
done
inputs "${pairs[@]}"
