#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: check.sh ROOT. Each page of docs/results/ names the files on which its figures depend, with their SHA-256 (inputs.sh).
# Prints each page that names none, and each file that is another one now, and fails.
set -euo pipefail
source "$(dirname "$0")/inputs.sh"
cd "$1"
status=0
for page in $(grep -L '^Inputs: ' docs/results/*.md); do
    echo "$page: names no inputs; run ./run results $(basename "$page" .md)"
    status=1
done
# A line has a page, a file and the file's digits.
inputs=$(awk -F'`' '/^Inputs: / { for (i = 2; i < NF; i += 2) print FILENAME, $i, substr($(i + 1), 2, 12) }' docs/results/*.md)
declare -A digits
while read -r page file before; do
    [[ -n $page ]] || continue  # no page names any
    digits[$file]=${digits[$file]:-$(input_digits "$file")}
    now=${digits[$file]}
    [[ $now != "$before" ]] || continue
    echo "$page: $file was $before and is $now; run ./run results $(basename "$page" .md)"
    status=1
done <<<"$inputs"
exit $status
