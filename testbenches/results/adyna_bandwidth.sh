#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/adyna_bandwidth.md. $1: the programs.
exec "$(dirname "$0")/lib/experiment.sh" "$1" adyna_bandwidth
