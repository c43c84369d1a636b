#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: check.sh ROOT. Each page of docs/results/ names the files on which its figures depend, with their SHA-256 (inputs.sh).
# Prints each page that names none, and each file that is another one now, and fails.
set -euo pipefail
cd "$1"
status=0
for page in docs/results/*.md; do
    if ! grep -q '^Inputs: ' "$page"; then
        echo "$page: names no inputs; run ./run results $(basename "$page" .md)"
        status=1
        continue
    fi
    while read -r file digits; do
        now=$(if [[ -f $file ]]; then sha256sum "$file" | cut -c1-12; else echo missing; fi)
        if [[ $now != "$digits" ]]; then
            echo "$page: $file was $digits and is $now; run ./run results $(basename "$page" .md)"
            status=1
        fi
    done < <(sed -n 's/^Inputs: //p' "$page" | grep -oE '`[^`]+` [0-9a-f]{12}' | tr -d '`')
done
exit $status
