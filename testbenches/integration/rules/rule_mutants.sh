#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: rule_mutants.sh PROGRAM FOLDER MUTANT... Runs the program with each mutant of the rules (librules_MUTANT.so) on
# tiles and on stages. Fails unless each of them changes latencies, or ends the run, on both.
set -euo pipefail
program=$1 folder=$2
shift 2
mini=configs/platforms/mini.yaml
# Network, platform, settings.
runs=("testbenches/data/moe.yaml $mini"
    "testbenches/data/moe.yaml $mini hbm.pseudo_channel_gb_per_s=1"
    "configs/workloads/digits_skipnet.yaml $mini"
    "configs/workloads/digits_skipnet.yaml $mini controller.mask_prefetch_units=1")

# A mutant may end the program in any way.
run() { # run LIBRARY IMPL RUN
    local arguments
    read -ra arguments <<<"$3"
    LD_PRELOAD=$folder/lib$1.so timeout 60 "$program" "$2" "${arguments[@]}" 2>/dev/null || echo "status $?"
}

status=0 good=()
for impl in tiles stages; do
    for run in "${runs[@]}"; do
        good[${#good[@]}]=$(run rules_good "$impl" "$run")
        if [[ ${good[-1]} == *status* ]]; then
            echo "$impl, $run: ${good[-1]}"
            exit 1
        fi
    done
done
for mutant in "$@"; do
    found="" number=0
    for impl in tiles stages; do
        changed=no
        for run in "${runs[@]}"; do
            if [[ $changed == no && $(run "rules_$mutant" "$impl" "$run") != "${good[number]}" ]]; then changed=yes; fi
            number=$((number + 1))
        done
        found+=" $impl $changed"
    done
    echo "$mutant:$found"
    if [[ $found != *"tiles yes stages yes" ]]; then status=1; fi
done
exit $status
