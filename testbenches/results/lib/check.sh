#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: check.sh ROOT. Each page of docs/results/ names the files on which its figures depend, with their SHA-256 (inputs.sh).
# Prints each page that names none, and each file that is another one now, and fails.
set -euo pipefail
cd "$1"
status=0
for page in $(grep -L '^Inputs: ' docs/results/*.md); do
    echo "$page: names no inputs; run ./run results $(basename "$page" .md)"
    status=1
done
# A line has a page, a file and the file's digits.
inputs=$(awk -F'`' '/^Inputs: / { for (i = 2; i < NF; i += 2) print FILENAME, $i, substr($(i + 1), 2, 12) }' docs/results/*.md)
# sha256sum prints nothing but a message for a file that is missing.
sums=$(cut -d ' ' -f 2 <<<"$inputs" | sort -u | xargs sha256sum 2>/dev/null || true)
awk 'NR == FNR { sum[$2] = substr($1, 1, 12); next }
    {
        now = $2 in sum ? sum[$2] : "missing"
        if (now == $3) next
        page = $1
        sub(/.*\//, "", page)
        sub(/\.md$/, "", page)
        print $1 ": " $2 " was " $3 " and is " now "; run ./run results " page
        wrong = 1
    }
    END { exit wrong }' <(echo "$sums") <(echo "$inputs") || status=1
exit $status
