#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: growth_curves.py PROGRAMS [CURVE]... How time and memory grow with tiles, operators and samples of a batch.

Prints a line a point, separated by tabs: the curve, its value, operators, user CPU seconds and MiB of main memory
(largest resident set) of scheduling, of a batch on stages and of one on tiles, packets of that batch, and its cycles on
tiles. `-`: it did not end within LIMIT_S. CURVE: tiles, operators, batch; all if none is given. Run it from the top of the repository; it takes some
minutes of CPU time.
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

LIMIT_S = 300
CHIP = "configs/platforms/adyna.yaml"
NETWORK = "configs/workloads/skipnet_resnet34.yaml"
# The largest there is: images of large chips need more than the default.
WINDOW = ["--set", "host.image_window_bytes=251658240"]
SIDES = (8, 12, 16, 32, 64)
BLOCKS = (8, 16, 40, 80, 160)
BATCHES = (1, 4, 16, 64, 256, 1024)

# A residual network of blocks that samples may skip, as SkipNet's, but of one width.
BLOCK_NETWORK = """\
name: blocks
batch: 64
input: {{channels: 64, rows: 14, columns: 14}}
templates:
  block:
    - {{name: block<i>.mean, kind: global_pool, from: block<i-1>.out}}
    - {{name: block<i>.project, kind: matmul, out_channels: 10, fused: [bias]}}
    - {{name: block<i>.lstm, kind: matmul, out_channels: 80, fused: [bias, sigmoid]}}
    - {{name: block<i>.gate, kind: matmul, out_channels: 1, fused: [bias, sigmoid]}}
    - {{name: block<i>, kind: switch, from: block<i-1>.out, gate: block<i>.gate, branches: 2, choose: one}}
    - {{name: block<i>.a, kind: convolution, from: block<i>.1, out_channels: 64, filter: 3, pad: 1, fused: [bias, relu]}}
    - {{name: block<i>.b, kind: convolution, out_channels: 64, filter: 3, pad: 1, fused: [bias, {{add: block<i>.1}}, relu]}}
    - {{name: block<i>.out, kind: merge, from: [block<i>.0, block<i>.b], mode: exclusive}}
layers:
  - {{name: block0.out, kind: convolution, from: input, out_channels: 64, filter: 3, pad: 1, fused: [bias, relu]}}
  - {{use: block, with: {{i: 1..{blocks}}}}}
routing:
  seed: 1
  probability: [0.25, 0.75]
"""


def measured(command):
    """User CPU seconds and MiB of a command, or None if it does not end in time. Its errors end the script."""
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return None
    if status != 0:
        sys.exit(f"{' '.join(command)}: ended with status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def point(programs, work, curve, value, network, chip, extra=()):
    """Measures a point and prints its line."""
    image, report = work / "image.syk", work / "report"
    image.unlink(missing_ok=True)
    settings = [*WINDOW, *chip]
    schedule = measured([str(programs / "sy-sched"), "compile", str(network), "--platform", CHIP, *settings, "--design",
                         "adyna", *extra, "-o", str(image)])
    runs, operators, packets, cycles = [], "-", "-", "-"
    for model in ("stages", "tiles"):
        run = schedule and measured([str(programs / "sy-sim"), "run", "--platform", CHIP, *settings, "--set",
                                     f"chip.impl={model}", "--image", str(image), "--batches", "1", "--report",
                                     str(report)])
        runs.append(run)
        if run:
            told = json.loads((report / "report.json").read_text())
            operators = str(len(told["operators"]))
    if runs[1]:
        cycles = str(told["summary"]["run_cycles"])
        packets = f'{told["counters"]["router.injected_packets"]:.0f}'
    row = [curve, str(value), operators]
    for one in (schedule, *runs):
        row += [f"{one[0]:.3f}", f"{one[1]:.0f}"] if one else ["-", "-"]
    print("\t".join([*row, packets, cycles]), flush=True)


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    curves = sys.argv[2:] or ["tiles", "operators", "batch"]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for side in SIDES if "tiles" in curves else ():
            chip = ["--set", f"chip.columns={side}", "--set", f"chip.rows={side}"]
            point(programs, work, "tiles", side * side, NETWORK, chip)
        # Room for the kernels of a thousand operators.
        kernels = ["--set", "scratchpad.kernel_share=0.2"]
        for blocks in BLOCKS if "operators" in curves else ():
            network = work / "blocks.yaml"
            network.write_text(BLOCK_NETWORK.format(blocks=blocks))
            point(programs, work, "operators", blocks, network, kernels)
        for batch in BATCHES if "batch" in curves else ():
            point(programs, work, "batch", batch, NETWORK, [], ["--batch", str(batch)])


if __name__ == "__main__":
    main()
