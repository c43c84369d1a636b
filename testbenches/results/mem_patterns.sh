#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: mem_patterns.sh BIN. The memory models by access pattern, as a Markdown table.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

achieved() { # BIN IMPL DEVICE ARGUMENT...
    "$1/sy-sim" mem --impl "$2" --device "$3" --json "$folder/mem.json" "${@:4}" >/dev/null
    sed -n 's/^ *"achieved_gbps": \([0-9.]*\),*$/\1/p' "$folder/mem.json"
}

cat <<'END'
# The memory models by access pattern

GB/s that each model achieves, requests offered faster than served. `bank` is the detailed model, `bandwidth` the fast
one; the difference is that of the fast one. Command: `./run results mem_patterns`, which calls
`sy-sim mem --impl IMPL --device DEVICE --requests 30000 --pattern ...` with devices of `configs/devices`.

| device | pattern | bank | bandwidth | difference |
| --- | --- | ---: | ---: | ---: |
END
for device in hbm2_2000 hbm2_2400 ddr4_2400 lpddr4_3200; do
    for pattern in sequential "sequential --read-share 0.5" random "random --read-share 0.5" \
        "random --request-bytes 4096" "strided --stride-bytes 256" "strided --stride-bytes 4096" \
        "strided --stride-bytes 65536" "streams --streams 4" "streams --streams 16" \
        "streams --streams 16 --request-bytes 4096" alternating copy row-conflict "row-conflict --request-bytes 256"; do
        read -ra words <<<"--requests 30000 --pattern $pattern"
        bank=$(achieved "$1" bank "$device" "${words[@]}")
        fast=$(achieved "$1" bandwidth "$device" "${words[@]}")
        awk -v d="$device" -v p="$pattern" -v b="$bank" -v f="$fast" \
            'BEGIN { printf "| %s | `%s` | %.1f | %.1f | %+.1f %% |\n", d, p, b, f, 100 * (f / b - 1) }'
    done
done
inputs configs/devices/{hbm2_2000,hbm2_2400,ddr4_2400,lpddr4_3200}.yaml
