#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/noc_peers.md: sy-sim noc, flits and packets, beside BookSim 2 (noc_peers_booksim2.txt). $1: the programs.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
reference=$(dirname "$0")/noc_peers_booksim2.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# topology, routers in a row, VCs, flits of a packet, traffic, load, BookSim 2's mean latency
mapfile -t points < <(grep -v '^#' "$reference")

for point in "${points[@]}"; do
    read -r topology size vcs flits traffic load _ <<<"$point"
    for impl in flit packet; do
        while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
        "$bin/sy-sim" noc --topology "$topology" --size "${size}x$size" --vcs "$vcs" --packet-flits "$flits" \
            --traffic "$traffic" --rate "$load" --cycles 4000 --impl "$impl" \
            --json "$scratch/$topology.$size.$vcs.$flits.$traffic.$load.$impl" >/dev/null &
    done
done
wait

# The first value under a key of a report.
field() { sed -n 's/^ *"'"$2"'": *\([^,]*\),*$/\1/p' "$1" | head -1; }

# Mean latency, "saturated", or in brackets where the packet model says that it was not validated.
latency() {
    local text=saturated
    if [[ $(field "$1" saturated) == false ]]; then text=$(printf '%.1f' "$(field "$1" mean)"); fi
    if [[ $(field "$1" validated) == false ]]; then text="($text)"; fi
    echo "$text"
}

cat <<'END'
# The network against BookSim 2

Mean latency in cycles, from a packet's generation to its last flit. BookSim 2 (28f43299): `iq` router, one cycle for each
stage, 8-flit buffers, `dim_order`, links of two cycles on the torus (`use_noc_latency = 1`) and one on the mesh. Ours:

    sy-sim noc --topology T --size NxN --vcs V --packet-flits F --traffic P --rate LOAD --cycles 4000 --impl flit|packet

In brackets: the packet model says that it was not validated there (`against_flits`, `docs/cli.md`). Written by
`./run results noc_peers`; BookSim 2's figures stand in `testbenches/results/noc_peers_booksim2.txt`.

| network, traffic | VCs | flits | load | BookSim 2 | flits | packets |
| --- | --- | --- | --- | --- | --- | --- |
END
for point in "${points[@]}"; do
    read -r topology size vcs flits traffic load booksim <<<"$point"
    report=$scratch/$topology.$size.$vcs.$flits.$traffic.$load
    echo "| ${size}x$size $topology, $traffic | $vcs | $flits | $load | $booksim |" \
        "$(latency "$report.flit") | $(latency "$report.packet") |"
done
inputs "$reference"
