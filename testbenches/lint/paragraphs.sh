#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: paragraphs.sh ROOT. Prints each paragraph and list item of the documents that is longer than 600 characters, as
# file:line:characters, and fails if there is one. Tables, code and the generated pages of docs/results/ are not read.
set -euo pipefail
cd "$1"

files=()
if [[ -f README.md ]]; then files+=(README.md); fi
if [[ -d docs ]]; then
    mapfile -t -O "${#files[@]}" files < <(find docs -name '*.md' -not -path 'docs/results/*' | LC_ALL=C sort)
fi
awk -v longest=600 '
    function close_paragraph() {
        if (length(text) > longest) { print file ":" line ":" length(text) " characters in a paragraph"; found = 1 }
        text = ""
    }
    FNR == 1 { close_paragraph(); code = 0; file = FILENAME }
    /^ *```/ { close_paragraph(); code = !code; next }
    code { next }
    /^ *$/ || /^ *\|/ || /^#/ { close_paragraph(); next }
    /^ *([-*]|[0-9]+\.) / { close_paragraph(); sub(/^ *([-*]|[0-9]+\.) /, "") }
    { gsub(/^ *| *$/, ""); if (text == "") { line = FNR; text = $0 } else text = text " " $0 }
    END { close_paragraph(); exit found }
' ${files[@]:+"${files[@]}"} /dev/null
