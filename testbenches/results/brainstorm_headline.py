# SPDX-License-Identifier: Apache-2.0
"""usage: brainstorm_headline.py FOLDER: the speedups of Brainstorm's six models, from the pages of their experiments there,
beside the published ones."""
import math
import pathlib
import sys

# model, what it is compared with, page, section, row, row that it is divided by (none: they are ratios), published at most
ROWS = [
    ("SwitchTransformer", "PyTorch", "switch", "Speedup over PyTorch's loop", "brt-horizontal", None, 3.63),
    ("SwitchTransformer", "Tutel", "switch", "Speedup over Tutel's padding", "brt-horizontal", None, 3.33),
    ("LiveSR", "serial branches", "live_sr", "Speedup over serial branches, ten networks", "brt-horizontal", None, 8.62),
    ("TaskMoE", "padded all-to-all", "task_moe", "Sentences a second and GPU, 256 sentences of 32 tokens",
     "sparse and placed", "padded", 1.17 * 1.34),
    ("SwinV2-MoE", "DeepSpeed-MoE", "swin_moe", "Speedup over DeepSpeed-MoE", "BRT", None, 5.04),
    ("SwinV2-MoE", "Tutel", "swin_moe", "Speedup over Tutel", "BRT", None, 1.52),
    ("MSDNet", "vertical fusion", "msdnet", "Speedup over vertical fusion", "SP and HF", None, 11.7),
    ("DynamicRouting", "PyTorch", "dynamic_routing", "Speedup over PyTorch", "SP", None, 1.7),
]


def table(text, section):
    """Rows of the first table of a section: numbers by name, means left out."""
    lines = iter(text.splitlines())
    next(line for line in lines if line == f"## {section}")
    header = next(line for line in lines if line.startswith("| "))
    columns = [cell.strip() for cell in header.strip("|").split("|")][1:]
    kept = [i for i, column in enumerate(columns) if not column.endswith(" mean")]
    next(lines)
    rows = {}
    for line in lines:
        if not line.startswith("| "):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = [float(cells[1 + i]) for i in kept]
    return rows


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def values_of(folder, page, section, row, over):
    rows = table((folder / f"brainstorm_{page}.md").read_text(), section)
    return rows[row] if over is None else [a / b for a, b in zip(rows[row], rows[over])]


def mean(values):
    return sum(values) / len(values)


def main():
    folder = pathlib.Path(sys.argv[1])
    print("| model | against | page | points | least | geometric mean | most | published, at most |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    everything, largest, by_model = [], [], {}
    for model, against, page, section, row, over, published in ROWS:
        values = values_of(folder, page, section, row, over)
        everything += values
        largest.append(max(values))
        by_model.setdefault(model, []).extend(values)
        print(f"| {model} | {against} | [{page}](brainstorm_{page}.md) | {len(values)} | {min(values):.2f} "
              f"| {geometric(values):.2f} | {max(values):.2f} | {published:.2f} |")
    print()
    print("| what | published | ours |")
    print("| --- | --- | --- |")
    print(f"| most | 11.70 | {max(everything):.2f} |")
    print(f"| mean of all points | 3.29 | {mean(everything):.2f} |")
    print(f"| geometric mean of all points | 3.29 | {geometric(everything):.2f} |")
    print(f"| mean of the six models' means | 3.29 | {mean([mean(values) for values in by_model.values()]):.2f} |")
    print(f"| mean of the largest of each row above | {mean([row[-1] for row in ROWS]):.2f} | {mean(largest):.2f} |")


main()
