#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/gpu_kernels.md: measured kernels beside those of hw/gpu. $1: the programs.
set -euo pipefail
here=$(dirname "$0")
source "$here/lib/inputs.sh"
"$1/calibrate_gpu" page
cat "$here/gpu_kernels_notes.md"
inputs testbenches/calibration/gpu/a100_kernels.csv configs/gpus/a100_40gb.yaml configs/gpus/a100_80gb.yaml
