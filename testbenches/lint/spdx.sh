#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: spdx.sh ROOT. Prints each source file without an SPDX line among its first three lines, and fails if there is one.
set -euo pipefail
cd "$1"
missing=$(find sw_scheduler tlm hw rtl platform testbenches .cmake .ci/run CMakeLists.txt run -type f \
    \( -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.S' -o -name '*.sv' -o -name '*.svh' -o -name '*.py' \
    -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -path '*/run' -o -path run \) -not -path '*/data/*' \
    -exec awk '
        /SPDX-License-Identifier: Apache-2\.0/ { found[FILENAME] = 1 }
        FNR == 3 { nextfile }
        END { for (i = 1; i < ARGC; ++i) if (!(ARGV[i] in found)) print ARGV[i] ": no SPDX line" }' {} +)
if [[ -n $missing ]]; then
    sort <<<"$missing"
    exit 1
fi
