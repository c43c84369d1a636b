#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: rule_mutants.sh PROGRAM FOLDER MUTANT... Runs the program with each mutant of the rules (librules_MUTANT.so) on
# tiles and on stages. Fails unless each of them changes latencies, or ends the run, on both.
set -euo pipefail
program=$1 folder=$2
shift 2
networks=("testbenches/data/moe.yaml" "configs/workloads/digits_skipnet.yaml")
platform=configs/platforms/mini.yaml

# A mutant may end the program in any way.
run() { # run LIBRARY IMPL NETWORK
    LD_PRELOAD=$folder/lib$1.so timeout 60 "$program" "$2" "$3" "$platform" 2>/dev/null || echo "status $?"
}

status=0
for impl in tiles stages; do
    for network in "${networks[@]}"; do
        good[${#good[@]}]=$(run rules_good "$impl" "$network")
    done
done
for mutant in "$@"; do
    found="" number=0
    for impl in tiles stages; do
        changed=no
        for network in "${networks[@]}"; do
            if [[ $changed == no && $(run "rules_$mutant" "$impl" "$network") != "${good[number]}" ]]; then changed=yes; fi
            number=$((number + 1))
        done
        found+=" $impl $changed"
    done
    echo "$mutant:$found"
    if [[ $found != *"tiles yes stages yes" ]]; then status=1; fi
done
exit $status
