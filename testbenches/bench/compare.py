#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the benchmarks of a run with a stored run of the same machine.

usage: compare.py FOLDER BASELINE [--store]

FOLDER: bench_NAME.json of each program of Google Benchmark, and whole.tsv with lines of name and CPU seconds. BASELINE:
a file of the same figures with the machine on which they were measured. Prints CPU times, and the baseline's by them:
above 1 is faster. --store, or a baseline that is missing or of another machine, makes the run the new baseline. Exit
status 0.
"""
import json
import os
import pathlib
import sys

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def machine():
    """Name of the processor and how many of its cores can be used."""
    name = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return f"{name}, {os.cpu_count()} cores"


def figures(folder):
    """CPU nanoseconds by name, in the order of the programs."""
    times = {}
    for path in sorted(folder.glob("bench_*.json")):  # not a timeline that stands beside them
        for run in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]:
            if run.get("run_type", "iteration") != "iteration" or run.get("error_occurred"):
                continue
            times[f"{path.stem} {run['name']}"] = run["cpu_time"] * NANOSECONDS[run["time_unit"]]
    whole = folder / "whole.tsv"
    if whole.exists():
        for line in whole.read_text(encoding="utf-8").splitlines():
            name, seconds = line.split("\t")
            times[name] = float(seconds) * 1e9
    return times


def text(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def main():
    folder, store = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    now = figures(folder)
    before = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    if before and before["machine"] != machine():
        print(f"The baseline is of another machine ({before['machine']}).")
        before = {}
    times = before.get("times", {})
    print(f"{'CPU time':>10} {'baseline':>10} {'ratio':>6}  benchmark")
    for name, time in now.items():
        if name in times:
            print(f"{text(time):>10} {text(times[name]):>10} {times[name] / time:6.2f}  {name}")
        else:
            print(f"{text(time):>10} {'-':>10} {'-':>6}  {name}")
    if "--store" in sys.argv[3:] or not before:
        store.parent.mkdir(parents=True, exist_ok=True)
        store.write_text(json.dumps({"machine": machine(), "times": now}, indent=1) + "\n", encoding="utf-8")
        print(f"This run is the baseline now: {store}")


if __name__ == "__main__":
    main()
