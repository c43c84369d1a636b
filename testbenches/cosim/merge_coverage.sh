#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: merge_coverage.sh ROOT FOLDER
# Merges what the cosim tests left in FOLDER (*.dat of Verilator, *.points of functional coverage) into
# FOLDER/report.txt and FOLDER/report.json, a line a block (a folder of ROOT/rtl) and a file, and prints the report.
# FOLDER/merged/ holds the merged data and the annotated sources. Fails if a block has less than 98 % of its lines
# (statements and branches), less than 90 % of its toggles or less than 100 % of its functional points, or if a module
# was never simulated.
#
# A point counts as covered if any instance in any test covered it.
set -euo pipefail
root=$1
folder=$2
line_floor=98
toggle_floor=90

shopt -s nullglob
data=("$folder"/*.dat)
points=("$folder"/*.points)
if ((${#data[@]} == 0)); then
    echo "no coverage in $folder: run ctest -L cosim first" >&2
    exit 1
fi
merged=$folder/merged
mkdir -p "$merged"
verilator_coverage --write "$merged/merged.dat" "${data[@]}" >/dev/null
(cd "$root" && verilator_coverage --annotate "$merged/annotated" --annotate-all --annotate-min 1 "$merged/merged.dat" >/dev/null)

# Every file that defines a module has to be there.
mapfile -t modules < <(cd "$root" && grep -lE '^module ' rtl/*/*.sv | sort)

# Verilator's records are: C '<key>^B<value>^A<key>...' <hits>.
# The arrays: lines[file point], toggles[file point] and functional[block point] hold the hits.
LC_ALL=C awk -v root="$root/" -v modules="${modules[*]}" -v line_floor=$line_floor -v toggle_floor=$toggle_floor \
    -v json="$folder/report.json" '
    function share(covered, all) { return all == 0 ? 100 : 100 * covered / all }
    function block_of(file,   parts) { split(file, parts, "/"); return parts[2] }
    function add(kind, file, point, hits,   key) {
        key = file SUBSEP kind SUBSEP point
        if (!(key in seen)) { seen[key] = 1; all[file, kind]++; all[block_of(file), kind]++ }
        if (hits > 0 && !(key in hit)) { hit[key] = 1; covered[file, kind]++; covered[block_of(file), kind]++ }
    }
    FILENAME ~ /\.points$/ {
        split($0, field, "\t")
        if (!((field[1], field[2]) in point_hits)) all[field[1], "points"]++
        if (field[3] > 0 && !(point_hits[field[1], field[2]] > 0)) covered[field[1], "points"]++
        point_hits[field[1], field[2]] += field[3]
        if (!(field[1] in blocks)) { blocks[field[1]] = 1; block_names[++block_count] = field[1] }
        next
    }
    $1 == "C" {
        hits = $NF
        delete value
        text = substr($0, 4, length($0) - length($NF) - 5)
        count = split(text, parts, "\001")
        for (i = 1; i <= count; ++i)
            if (split(parts[i], pair, "\002") == 2) value[pair[1]] = pair[2]
        file = value["f"]
        if (index(file, root) == 1) file = substr(file, length(root) + 1)
        if (file !~ /^rtl\//) next
        kind = value["page"] ~ /^v_toggle/ ? "toggles" : value["page"] ~ /^v_(line|branch)/ ? "lines" : ""
        if (kind == "") next
        if (!(file in files)) { files[file] = 1; file_names[++file_count] = file }
        if (!(block_of(file) in blocks)) { blocks[block_of(file)] = 1; block_names[++block_count] = block_of(file) }
        add(kind, file, value["l"] ":" value["n"] ":" value["o"], hits)
    }
    function line(name, keyed, indent) {
        printf "%-44s %7d %7.2f %% %8d %7.2f %%", indent name, all[keyed, "lines"],
            share(covered[keyed, "lines"], all[keyed, "lines"]), all[keyed, "toggles"],
            share(covered[keyed, "toggles"], all[keyed, "toggles"])
        if (all[keyed, "points"] > 0)
            printf " %7d %7.2f %%", all[keyed, "points"], share(covered[keyed, "points"], all[keyed, "points"])
        printf "\n"
    }
    function sort(names, count,   i, j, name) {
        for (i = 2; i <= count; ++i) {
            name = names[i]
            for (j = i - 1; j > 0 && names[j] > name; --j) names[j + 1] = names[j]
            names[j + 1] = name
        }
    }
    function counts(keyed, kind) {
        return sprintf("{\"points\": %d, \"covered\": %d}", all[keyed, kind], covered[keyed, kind])
    }
    END {
        sort(block_names, block_count)
        sort(file_names, file_count)
        printf "%-44s %18s %19s %18s\n", "block", "lines", "toggles", "functional"
        printf "{\n  \"schema\": \"switchyard.coverage/1\",\n  \"blocks\": {" > json
        for (b = 1; b <= block_count; ++b) {
            block = block_names[b]
            line(block, block, "")
            printf "%s\n    \"%s\": {", (b > 1 ? "," : ""), block > json
            printf "\"lines\": %s, \"toggles\": %s, \"functional\": %s, \"files\": {", counts(block, "lines"),
                counts(block, "toggles"), counts(block, "points") > json
            comma = ""
            for (f = 1; f <= file_count; ++f) {
                if (block_of(file_names[f]) != block) continue
                line(file_names[f], file_names[f], "  ")
                printf "%s\n      \"%s\": {\"lines\": %s, \"toggles\": %s}", comma, file_names[f],
                    counts(file_names[f], "lines"), counts(file_names[f], "toggles") > json
                comma = ","
            }
            printf "\n    }}" > json
        }
        printf "\n  }\n}\n" > json

        for (b = 1; b <= block_count; ++b) {
            block = block_names[b]
            if (share(covered[block, "lines"], all[block, "lines"]) < line_floor) {
                printf "FAIL %s: lines below %d %%\n", block, line_floor
                bad = 1
            }
            if (share(covered[block, "toggles"], all[block, "toggles"]) < toggle_floor) {
                printf "FAIL %s: toggles below %d %%\n", block, toggle_floor
                bad = 1
            }
        }
        for (key in point_hits)
            if (point_hits[key] == 0) {
                split(key, names, SUBSEP)
                printf "FAIL %s: not reached: %s\n", names[1], names[2] | "sort"
                bad = 1
            }
        close("sort")
        count = split(modules, expected, " ")
        for (i = 1; i <= count; ++i)
            if (!(expected[i] in files)) {
                printf "FAIL %s was not simulated for coverage\n", expected[i]
                bad = 1
            }
        # The lines that nothing reached, to look at.
        for (key in seen)
            if (!(key in hit)) {
                split(key, names, SUBSEP)
                printf "not covered: %s %s %s\n", names[1], names[2], names[3] | "sort"
            }
        close("sort")
        exit bad
    }' "$merged/merged.dat" "${points[@]}" | tee "$folder/report.txt"
