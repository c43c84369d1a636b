#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: sushi_design_space.sh BIN
# Runs configs/experiments/sushi_design_space.yaml and prints the designs that no other one beats in latency, storage and engines.
set -euo pipefail
bin=$1
here=$(dirname "$0")
source "$here/lib/inputs.sh"
file=configs/experiments/sushi_design_space.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$bin/sy-sim" experiment "$file" --report "$scratch" >/dev/null 2>"$scratch/log" || {
    cat "$scratch/log" >&2
    exit 2
}
cat <<'MARKDOWN'
# SUSHI: design space

Written by `./run results sushi_design_space`, which runs

    sy-sim experiment configs/experiments/sushi_design_space.yaml

Rows of 12 engines, persistent buffer (PB) and streaming buffer (SB) in KiB; DDR4-2400 at a quarter of its rate. A design is listed
if no other one has less or equal latency, storage and operations a second, and less of one of them.
MARKDOWN
python3 - "$scratch/results.json" <<'PYTHON'
import json
import sys

points = json.load(open(sys.argv[1]))["points"]
for network in dict.fromkeys(point["network"] for point in points):
    designs = []
    for point in points:
        if point["network"] == network and point["report"] is not None:
            report = point["report"]
            summary = report["summary"]
            designs.append((point["design"], summary["latency_us"]["mean"] / 1e3, report["storage_kib"],
                            summary["peak_gigaoperations_per_s"]))
    def beaten(design):
        return any(all(a <= b for a, b in zip(other[1:], design[1:])) and other[1:] != design[1:] for other in designs)
    front = sorted((design for design in designs if not beaten(design)), key=lambda design: design[1])
    print(f"\n## {network}: {len(front)} of {len(designs)} designs\n")
    print("| design | latency (ms) | storage (KiB) | peak (G operations/s) |\n| --- | --- | --- | --- |")
    for name, latency, storage, peak in front:
        print(f"| {name} | {latency:.4g} | {storage:.0f} | {peak:.4g} |")
print()
PYTHON
mapfile -t named < <(python3 "$here/lib/experiment_files.py" "$file")
inputs "$file" "${named[@]}"
