#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: dynn_offload_dtr_logs.sh BIN. The design `dtr` on the steps that the authors of DTR recorded, against what they measured.
# The logs are not part of this library (they have no licence): SWITCHYARD_DTR_LOGS names the folder with the content of
# simrd/logs.zip of https://github.com/uwsampl/dtr-prototype. Without it the exit status is 77, and the page stays as it is.
set -euo pipefail
bin=$1
source "$(dirname "$0")/lib/inputs.sh"
logs=${SWITCHYARD_DTR_LOGS:-}
if [[ -z $logs ]]; then
    echo "dynn_offload_dtr_logs: SWITCHYARD_DTR_LOGS names no folder with the content of simrd/logs.zip of uwsampl/dtr-prototype" >&2
    exit 77
fi
platform=configs/platforms/training_rtx6000.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 - "$bin" "$logs" "$platform" "$scratch" <<'PYTHON'
import glob
import json
import subprocess
import sys

program, logs, platform, scratch = sys.argv[1] + "/sy-sim", *sys.argv[2:]
# data_files/data-full.json of the same repository (Titan V, March 2021), of the networks whose log has the same batch:
# budget in GB, computation, recomputation in ms.
MEASURED = {
    ("InceptionV4", "inceptionv4-64"): [(10, 635.1, 8.6), (8, 634.9, 28.3), (6, 635.4, 53.4),
                                        (4, 636.0, 112.9)],
    ("DenseNet-121", "tv_densenet121-84"): [(10, 352.2, 9.9), (8, 352.6, 32.3), (6, 351.7, 57.3),
                                            (4, 351.2, 127.0)],
    ("Transformer", "transformer-10"): [(8, 273.9, 6.3), (6, 274.0, 14.7), (4, 274.2, 26.3),
                                        (2, 274.0, 138.7)],
    ("U-Net", "unet-6"): [(8, 434.8, 5.7), (7, 430.9, 19.2), (6, 434.9, 37.3), (4, 430.1, 95.0)],
}


def share(network, budget_gb, fragmentation):
    """Recomputation over computation of a step, and what it computes in ms; None: it does not train."""
    command = [program, "run", "--design", "dtr", "--platform", platform, "--workload", network, "--batches", "1",
               "--report", f"{scratch}/report",
               "--set", f"training.budget_gb={budget_gb}", "--set", "training.functional=yes",
               "--set", f"training.fragmentation={fragmentation}"]
    subprocess.run(command, check=True, capture_output=True)
    with open(f"{scratch}/report/report.json", encoding="utf-8") as file:
        report = json.load(file)
    assert report["ok"], command
    summary = report["summary"]
    if summary["trained"] == 0:
        return None
    return summary["recompute_over_compute"], summary["breakdown_us"]["compute"] * 1e-3


def text(found):
    return "does not train" if found is None else f"{100 * found[0]:.1f} %"


print("""# DTR on the logs of its authors

Written by `./run results dynn_offload_dtr_logs`: the design `dtr` on the training steps that the authors of DTR recorded
(`network: recorded`), against what their prototype measured on a Titan V with 12 GB. Shown is the time of recomputation over
that of computation. Of the eight logs, those of four networks have the batch of the measurement.

| network | budget GB | computation ms, ours | measured | recomputation, ours | measured | difference, points | ours with fragmentation |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |""")
differences = []
for (name, log), cells in MEASURED.items():
    found, = glob.glob(f"{glob.escape(logs)}/**/{log}-*.log", recursive=True)
    network = f"{scratch}/network.yaml"
    with open(network, "w", encoding="utf-8") as file:
        json.dump({"name": name, "training": {"network": "recorded", "log": found}}, file)
    for budget, computed, recomputed in cells:
        ours, fragmented = share(network, budget, "no"), share(network, budget, "yes")
        measured = recomputed / computed
        difference = "-"
        if ours is not None:
            differences.append(abs(ours[0] - measured) * 100)
            difference = f"{100 * (ours[0] - measured):+.1f}"
        print(f"| {name} | {budget} | {'-' if ours is None else f'{ours[1]:.1f}'} | {computed:.1f} | {text(ours)} "
              f"| {100 * measured:.1f} % | {difference} | {text(fragmented)} |")
differences.sort()
print(f"""
The differences have a median of {differences[len(differences) // 2]:.1f} points, at most {differences[-1]:.1f}.

Differences of more than two points come with the smallest budgets alone, and fragmentation is their likely cause: in the last
column tensors have addresses, and one that finds no gap evicts others (`training.fragmentation`). What was measured lies
between the two, but for the Transformer, where even fragmentation does not reach it. The prototype's allocator, PyTorch's,
has pools of sizes, which are not modelled. With 4 GB the prototype looks at all candidates (but for the Transformer), otherwise
at a random sample of them; ours always looks at all.""")
PYTHON
inputs testbenches/results/dynn_offload_dtr_logs.sh $platform configs/gpus/rtx6000.yaml
