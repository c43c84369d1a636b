#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/speed.md: what speed_pairs.tsv and speed_shares.tsv tell, which lib/speed_pairs.sh has measured with the
# programs of two commits and lib/speed_shares.sh with those of one.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
folder=$(dirname "$0")
pairs=$folder/speed_pairs.tsv

cat <<'END'
# Speed, before and after

User CPU seconds of single runs, median of five and in brackets the smallest and the largest. The programs of two commits
take turns, on a virtual machine whose speed varies: ratios count. Results: `same` if reports or images are the same
bytes, `same keys` if reports agree in all keys that both commits have. The figures stand in
`testbenches/results/speed_pairs.tsv`, with the commits; a new pair is measured by

    testbenches/results/lib/speed_pairs.sh FOLDER_OF_PROGRAMS_BEFORE FOLDER_OF_PROGRAMS_AFTER

END
sed -n 's/^# //p' "$pairs"
printf '\n| case | before | after | before / after | results |\n| --- | --- | --- | --- | --- |\n'
grep -v '^#' "$pairs" | awk -F'\t' '{ printf "| %s | %s (%s to %s) | %s (%s to %s) | %.2f | %s |\n", $1, $2, $3, $4, $5, $6, $7, $2 / $5, $8 }'
echo
cat <<'END'
# Where single tiles spend their time

What a part takes, and how many times as fast a batch would be if the part took no time: the most that can be gained
there. `other` is what belongs to none, such as the reader of the image. Measured by

    testbenches/results/lib/speed_shares.sh FOLDER_OF_PROGRAMS

END
sed -n 's/^# //p' "$folder/speed_shares.tsv"
printf '\n| case | part | percent | if it were free |\n| --- | --- | --- | --- |\n'
grep -v '^#' "$folder/speed_shares.tsv" | awk -F'\t' '{ printf "| %s | %s | %s | %.2f |\n", $1, $2, $3, 100 / (100 - $3) }'
cat <<'END'

# What more would take

Where a batch is not yet three times as fast as before on single tiles, or twice with flits or banks: the largest parts,
`other` left out, that would have to take no time at all, and of the last one of them the percent of its time that could
stay. The ratios are those of the first table, with the noise of five pairs.

| case | before / after | wanted | without |
| --- | --- | --- | --- |
END
grep -hv '^#' "$pairs" "$folder/speed_shares.tsv" | awk -F'\t' '
    NF > 3 { sub(/, adyna$/, "", $1); gain[$1] = $2 / $5; wanted[$1] = $1 ~ / and / ? 2 : 3 }
    NF == 3 && $1 in gain {
        if (!($1 in left)) { left[$1] = 100; order[++cases] = $1 }
        over = left[$1] - 100 * gain[$1] / wanted[$1]  # percent of the time now, above what is wanted
        if (over <= 0 || $2 == "other") next
        left[$1] -= $3
        parts[$1] = parts[$1] (parts[$1] == "" ? "" : "; ") $2
        if ($3 > over) parts[$1] = parts[$1] sprintf(" (%d %% may stay)", 100 * (1 - over / $3))
    }
    END {
        for (i = 1; i <= cases; ++i) {
            name = order[i]
            if (parts[name] != "") printf "| %s | %.2f | %d | %s |\n", name, gain[name], wanted[name], parts[name]
        }
    }'
inputs "$pairs" "$folder/speed_shares.tsv"
