#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/link_measurements.md: measured links and collectives beside those of hw/link. $1: the programs.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
measured=testbenches/calibration/link/measured.csv
"$1/calibrate_links" page "$measured" configs/topologies
cat <<'END'

Where the model differs:

- Latencies and small messages: NCCL's constants are those of a later NCCL, whose protocol LL the model chooses for 8 bytes;
  the measurements have the launch of kernels in them, which no constant here has.
- Seven devices: the search finds more rings than that NCCL did (34.7 is twice 17.35).
- A pair without NVLink, by copy engines: the model sends at the rate of PCI Express; the driver's copies through host memory
  get less. Kernels' traffic, and so collectives, goes at NCCL's constant for such pairs.
END
echo
inputs "$measured" configs/topologies/dgx1v.yaml configs/topologies/dgx1p.yaml
