#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: links.sh ROOT. Each file of the repository that a document names in backticks has to exist. Prints those that do
# not, as file:line: name, and fails.
set -euo pipefail
cd "$1"
status=0
while IFS=: read -r file line name; do
    name=${name//\`/}
    if ! compgen -G "$name" >/dev/null; then
        echo "$file:$line: no $name"
        status=1
    fi
done < <(grep -noE '`(docs|hw|tlm|rtl|sw_scheduler|platform|testbenches|configs)/[A-Za-z0-9_./*-]+`' README.md docs/*.md docs/*/*.md |
    grep -vE '/[A-Z][A-Z_]+|NAME|\.\.\.|hw/host/host_registers.h')
exit $status
