#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: calibration_apart.sh ROOT [EXPERIMENT...]. No network that an experiment of the evaluation runs (default:
# configs/experiments/adyna_*.yaml) is in a calibration that constants of the scheduler stand on. Prints each one, and fails.
set -euo pipefail
cd "$1"
shift
if (($# == 0)); then set -- configs/experiments/adyna_*.yaml; fi
status=0
while read -r network; do
    if found=$(grep -nF "$network" testbenches/calibration/test_margins.cpp); then
        echo "testbenches/calibration/test_margins.cpp:${found%%:*}: $network is evaluated"
        status=1
    fi
done < <(sed 's/#.*//' "$@" | grep -ohE 'workloads/[A-Za-z0-9_]+' | sed 's#.*/##' | sort -u)
exit $status
