#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: dynn_offload_real_pilot_a100.sh BIN: the experiment of this name with a pilot that is trained first.
exec "$(dirname "$0")/lib/pilot_experiment.sh" "$1" dynn_offload_real_pilot_a100
