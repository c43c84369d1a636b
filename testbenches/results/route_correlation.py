# SPDX-License-Identifier: Apache-2.0
"""usage: route_correlation.py TRACE...: how much the batches of recorded routes differ, as a Markdown table.

For each switch and branch: the share of samples that take it, by batch. Of independent samples its variance would be
p (1 - p) / n. What is more comes from batches whose samples are alike, or from drift: the mean of the squared differences
of neighbouring batches has no slow drift in it (von Neumann, 1941)."""
import json
import statistics
import sys


def shares(trace):
    """By switch and branch: the shares of the batches, and the mean number of samples that reach the switch."""
    found = {}
    for line in open(trace):
        entry = json.loads(line)
        reached = [mask for mask in entry["mask"] if mask]
        for branch in range(entry["branches"]):
            of_branch = found.setdefault((entry["switch"], branch), ([], []))
            if reached:
                of_branch[0].append(sum(mask >> branch & 1 for mask in reached) / len(reached))
                of_branch[1].append(len(reached))
    return found


def main():
    print("| trace | branches | standard deviation over that of independent samples, median | largest | without slow drift, median |")
    print("| --- | --- | --- | --- | --- |")
    for trace in sys.argv[1:]:
        whole, quick = [], []
        for values, samples in shares(trace).values():
            mean = statistics.fmean(values)
            independent = mean * (1 - mean) / statistics.fmean(samples)
            if len(values) < 3 or independent < 1e-6:  # a branch that all samples take, or none
                continue
            steps = statistics.fmean((b - a) ** 2 for a, b in zip(values, values[1:])) / 2
            whole.append((statistics.pvariance(values) / independent) ** 0.5)
            quick.append((steps / independent) ** 0.5)
        name = trace.removeprefix("configs/workloads/").removesuffix("/routing.jsonl")
        print(f"| `{name}` | {len(whole)} | {statistics.median(whole):.2f} | {max(whole):.2f} | {statistics.median(quick):.2f} |")


main()
