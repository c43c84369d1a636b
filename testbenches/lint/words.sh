#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: words.sh ROOT. Prints each line of code and documents that has a word which docs/glossary.md replaces, as
# file:line:text, and fails if there is one.
set -euo pipefail
cd "$1"

everywhere='\b([Dd]oors?|[Tt]wins?|[Hh]and-over (unit|slot)s?|hand_over|so many|[Ll]enient\w*|[Yy]ardsticks?|LazyMemory|lazy_memory'
everywhere+='|void_buffer|[Cc]omplaints?|[Oo]bjections?|[Pp]aces?|[Pp]icked|SampleFrame\w*|sample frames?|k(Most|Least)[A-Z]\w*'
everywhere+='|(most|least)_[a-z]\w*|[knp]_ways|TileExceptions)\b'
scheduler='\b[Ll]anes?\b'

folders=()
for folder in sw_scheduler tlm hw rtl platform testbenches configs docs README.md; do
    if [[ -e $folder ]]; then folders+=("$folder"); fi
done
# The list itself, and the glossary, which names the old keys; keys that are refused by name.
search() {
    grep -rHnE "$1" --include='*.h' --include='*.cpp' --include='*.c' --include='*.sv' --include='*.py' --include='*.sh' \
        --include='*.md' --include='*.yaml' --include='*.txt' --include='*.cmake' "${@:2}" |
        grep -vE '^(testbenches/lint/words(\.sh|_must_fail\.cmake)|docs/glossary\.md):|renamed\(|expected the key [a-z_.]+, found its earlier name' || true
}
found=$(search "$everywhere" "${folders[@]}")
if [[ -d sw_scheduler ]]; then found+=$(search "$scheduler" sw_scheduler); fi
if [[ -n $found ]]; then
    printf '%s\n' "$found"
    exit 1
fi
