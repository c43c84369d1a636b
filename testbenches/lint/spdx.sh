#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: spdx.sh ROOT. Prints each source file without an SPDX line among its first three lines, and fails if there is one.
set -euo pipefail
cd "$1"
status=0
while IFS= read -r file; do
    if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
        echo "$file: no SPDX line"
        status=1
    fi
done < <(find sw_scheduler tlm hw rtl platform testbenches .cmake .ci/run CMakeLists.txt run -type f \
    \( -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.S' -o -name '*.sv' -o -name '*.svh' -o -name '*.py' \
    -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -path '*/run' -o -path run \) -not -path '*/data/*' 2>/dev/null | sort)
exit $status
