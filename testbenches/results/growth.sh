#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/growth.md: what growth.tsv tells, which lib/growth_curves.py has measured.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
points=$(dirname "$0")/growth.tsv

cat <<'END'
# How time and memory grow

User CPU seconds and largest resident set (MiB) of single runs: scheduling (`sy-sched compile`, design `adyna`), one batch
on stages and one on tiles (`sy-sim run`, with reading the image and writing the report). `packets`: injected into the
network on tiles in that batch. `cycles`: of the batch on tiles. The figures stand in `testbenches/results/growth.tsv`; new
ones are measured in some minutes of CPU time by

    testbenches/results/lib/growth_curves.py FOLDER_OF_PROGRAMS

END
sed -n 's/^# //p' "$points"
# usage: curve NAME TITLE COLUMN TEXT
curve() {
    printf '\n## %s\n\n%s\n\n' "$2" "$4"
    printf '| %s | operators | scheduling s | MiB | stages s | MiB | tiles s | MiB | packets | cycles |\n' "$3"
    printf '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n'
    awk -F'\t' -v OFS=' | ' -v name="$1" '$1 == name { print "| " $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 " |" }' "$points"
}
curve tiles "Tiles of the chip" tiles "\`skipnet_resnet34\`, 128 samples, on square chips with the tiles and the 24 memory interfaces of \`adyna\`."
curve operators "Operators of the network" blocks "A network of equal blocks with gates (in the script), 64 samples, on 12x12 tiles that keep a fifth of their scratchpads for kernels."
curve batch "Samples of a batch" samples "\`skipnet_resnet34\` on 12x12 tiles."
inputs "$points"
