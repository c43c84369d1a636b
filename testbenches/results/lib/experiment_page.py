# SPDX-License-Identifier: Apache-2.0
"""usage: experiment_page.py EXPERIMENT.yaml RESULTS.json: the results of an experiment as Markdown tables."""
import json
import sys


def text_of(value):
    if value is None:
        return "-"
    if isinstance(value, list):
        return " + ".join(text_of(part) for part in value)
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def ratio_or_equal(results, is_ratio, value, validated):
    """A ratio of two designs within the models' stated error shows nothing but that, if both are validated there."""
    if not validated and value is not None:
        return text_of(value) + r"\*"
    equal = is_ratio and isinstance(value, (int, float)) and value != 1 and abs(value - 1) <= results.get("model_error", 0)
    return "equal" if equal else text_of(value)


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows):
    return "\n".join([row(head), row(["---"] * len(head)), *(row(r) for r in rows)])


def figure_tables(results, figure):
    if figure["kind"] == "scatter":  # the plot shows the points
        sides = ["below", "on", "above"] if "diagonal" in figure["series"][0] else []
        heads = [{"below": "below the diagonal", "on": "on it", "above": "above"}[side] for side in sides]
        return table([figure["series_of"], "points", *heads],
                     [[series["name"], str(len(series["values"])), *(str(series["diagonal"][side]) for side in sides)]
                      for series in figure["series"]])
    lines = figure["kind"] == "lines"
    groups = [text_of(x) if isinstance(x, (int, float)) else str(x) for x in figure["x"]] if lines else figure["groups"]
    if len(groups) > 24:  # a line along batches: the plot shows it
        return f"{len(groups)} values a line: see the plot that `--report` writes."
    ratio = bool(figure["over"]) and figure["kind"] != "stacks"
    rows = [[series["name"], *(ratio_or_equal(results, ratio, value, validated)
                               for value, validated in zip(series["values"], series["validated"]))]
            for series in figure["series"]]
    result = table([figure["series_of"], *groups], rows)
    if figure.get("parts"):
        result += "\n\nParts: " + ", ".join(figure["parts"]) + "."
    crossings = [f"{series['name']} {text_of(series['crossing'])}" for series in figure["series"] if "crossing" in series]
    if crossings:
        result += "\n\nCrossings: " + ", ".join(crossings) + "."
    return result


def main():
    name, results = sys.argv[1], json.load(open(sys.argv[2]))
    print(f"# {results['title']}\n")
    print(f"Written by `./run results {name.split('/')[-1].removesuffix('.yaml')}`, which runs\n")
    print(f"    sy-sim experiment {name}\n")
    fidelities = [point["report"].get("fidelity", {}) for point in results["points"] if point["report"]]
    chips = sorted({fidelity["chip"] for fidelity in fidelities if "chip" in fidelity})
    if chips:
        print(f"{results['batches']} batches a point. Models of the chip: {', '.join(chips)}.")
    outside, points = results["points_outside"], len(results["points"])
    print(f"\n{outside} of {points} points are outside the validated domain of their model"
          + (r" (`docs/experiments.md`, Validated points). Values that are made of such a point have the mark \*."
             if outside else "."))
    if "model_error" in results:
        print(f"\n`equal`: a ratio within {100 * results['model_error']:g} % of 1, the models' stated error"
              + (", of validated points." if outside else "."))
    gaps = [point for point in results["points"] if point["report"] is None]
    for gap in gaps:
        print(f"Gap: {gap.get('network')} on {gap['design']}: {gap['infeasible']}")
    for figure in results["figures"]:
        print(f"\n## {figure['title']}\n")
        print(f"{figure['label']}.\n")
        print(figure_tables(results, figure))
        if figure["comparisons"]:
            print("\nPublished numbers beside ours:\n")
            print(table(["what", "statistic", "published", "ours", "ours, geometric mean", "source"],
                        [[c["what"], c["statistic"], text_of(c["published"]),
                          *(ratio_or_equal(results, " over " in c["what"], c[key], c["validated"])
                            for key in ("ours", "ours_geometric_mean")),
                          c["source"]] for c in figure["comparisons"]]))


main()
