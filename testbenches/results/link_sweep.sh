#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/link_sweep.md: padded and sparse all-to-all over devices, link rates, topologies and skews. $1: the programs.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Columns of a row: times in ms and their ratio; bytes of the busiest links and the share of the time in which they are
# busy. Options of sy-sim link.
columns() {
    "$bin/sy-sim" link "$@" --bytes 16777216 --seed 3 --collective all_to_all_padded,all_to_all_sparse \
        --json "$scratch/link.json" >/dev/null
    python3 - "$scratch/link.json" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
times = [row["us"] / 1000 for row in rows]
busiest = ["%s %.1f, %.0f %%" % (row["busiest_link"], row["busiest_link_bytes"] / 2**20, 100 * row["busiest_link_busy"])
           for row in rows]
print("| %.3f | %.3f | %.2f | %s |" % (*times, times[0] / times[1], " | ".join(busiest)))
PY
}

header() {
    printf '\n## %s\n\n| %s | padded, ms | sparse, ms | padded / sparse ' "$1" "$2"
    printf '| padded: link with most bytes, MiB, busy | sparse: the same |\n| --- | --- | --- | --- | --- | --- |\n'
}

cat <<'PAGE'
# All-to-all over devices, rates, topologies and skews

Each device has cells of 1 KiB, 16 MiB in all, for all devices:

    sy-sim link TOPOLOGY|--family FAMILY --bytes 16777216 --seed 3 --skew S --ranks shared|own \
        --collective all_to_all_padded,all_to_all_sparse

Families have one NVLink 2 (25 GB/s each way) a link: `switch` one for each device, `fully_connected` one for each pair, `ring`
one to each neighbour, `pcie_tree` one for each device and switch. With skew 1 and ranks `shared` the same device gets most
cells of all sources, with `own` each source has a device of its own to which it sends most. Links alone: no software, no
kernels that arrange cells.

**Rings are not calibrated; where they were compared with flits their times were too short** (`docs/models/link.md`).

Written by `./run results link_sweep`.
PAGE

for ranks in shared own; do
    header "Devices, skew 1, ranks $ranks" "family, devices"
    for family in switch fully_connected ring pcie_tree; do
        for devices in 2 4 8 16 32 64; do
            echo "| $family, $devices $(columns --family "$family" --devices "$devices" --skew 1 --ranks "$ranks")"
        done
    done
done

header "Link rate, switch of 8 devices, skew 1, ranks own" "GB/s each way"
for factor in 0.25 0.5 1 2 4 8; do
    rate=$(awk -v f="$factor" 'BEGIN { printf "%g", 25 * f }')
    echo "| $rate $(columns --family switch --devices 8 --rate-factor "$factor" --skew 1 --ranks own)"
done

header "Skew, switch of 16 devices" "skew, ranks"
for skew in 0 0.5 1 1.5 2; do
    for ranks in shared own; do
        echo "| $skew, $ranks $(columns --family switch --devices 16 --skew "$skew" --ranks "$ranks")"
    done
done

header "Topologies of configs/topologies" "topology, skew, ranks"
for topology in dgx1v dgx1p fully_connected_8 ring_8 pcie_tree_8 nvswitch_16; do
    for load in "0 shared" "1 shared" "1 own"; do
        read -r skew ranks <<<"$load"
        echo "| $topology, $skew, $ranks $(columns "configs/topologies/$topology.yaml" --skew "$skew" --ranks "$ranks")"
    done
done

header "Buffers, ring of 16 devices, skew 1, ranks shared" "chunks of an input"
for chunks in 1 4 16 64; do
    echo "| $chunks $(columns --family ring --devices 16 --skew 1 --buffer-chunks "$chunks")"
done
cat <<'PAGE'

The share of time in which the link is busy is what buffers of 4 chunks, the default, cost on longer rings.
PAGE

inputs configs/topologies/{dgx1v,dgx1p,fully_connected_8,ring_8,pcie_tree_8,nvswitch_16}.yaml
