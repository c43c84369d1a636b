#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/results/brainstorm_headline.md: all models' speedups, from the pages of their experiments, which must be current.
set -euo pipefail
here=$(dirname "$0")
source "$here/lib/inputs.sh"

cat <<'END'
# Brainstorm: speedups of the six models

Speedups of the six models, by the pages of their experiments (Figs. 16 to 19, 21 and 22): latency of what they are compared with over latency with Brainstorm's mechanisms. Where they are compared with two others, both are here. The paper does not say over which points it averages, so that several means stand beside the published one. TaskMoE: the published number is the product of 1.17 for sparse all-to-all and 1.34 for placement.

END
python3 "$here/brainstorm_headline.py" docs/results
cat <<'END'

Why they differ: `docs/brainstorm.md`, Why figures differ. Written by `./run results brainstorm_headline`.
END
inputs docs/results/brainstorm_{switch,live_sr,task_moe,swin_moe,msdnet,dynamic_routing}.md
