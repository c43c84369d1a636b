#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What compare.py prints of a run that is stored, and of one that is twice as fast in one benchmark. Beside the
# benchmarks' files stands a timeline, as ./run bench leaves it.
set -euo pipefail
compare=$(dirname "$0")/compare.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# usage: run_with MILLISECONDS SECONDS
run_with() {
    printf '{"benchmarks": [{"name": "step", "run_type": "iteration", "cpu_time": %s, "time_unit": "ms"}]}' "$1" \
        >"$work/bench_one.json"
    printf 'a whole run\t%s\n' "$2" >"$work/whole.tsv"
    echo '{"traceEvents": []}' >"$work/timeline.json"
}
expect() {
    grep -Eq "$1" <<<"$2" || { printf 'no line "%s" in:\n%s\n' "$1" "$2" >&2; exit 1; }
}

run_with 10 4
expect '10 ms +- +- +bench_one step' "$("$compare" "$work" "$work/stored.json")"
run_with 5 4
printed=$("$compare" "$work" "$work/stored.json")
expect '5 ms +10 ms +2\.00 +bench_one step' "$printed"
expect '4 s +4 s +1\.00 +a whole run' "$printed"
