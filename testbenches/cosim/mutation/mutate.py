#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: mutate.py OUT [--selected FILE] [--shared] SOURCE.sv...

Writes copies of the sources into the folder OUT that hold all of their mutants: each mutated expression becomes
(selected == K ? mutant : original), each deleted assignment is executed unless its mutant is selected. mutation_pkg.sv reads
`selected` once, when the model is constructed, from the C function switchyard_mutant() of the test program; 0 is the
original. mutants.tsv lists them: number, file, line, kind, original, mutant.

Kinds: operator (another one, or an operand alone), constant, index (a place of a vector), condition (always, never),
assignment (left out, or inverted), reset (of what a reset assigns, and of its condition), selected: those of FILE, a line each:
file name, original expression (the first one of the file that reads so), mutant, separated by tabs. A source that FILE
names is among SOURCE or the line is not used. --shared: modules stay apart in C++, for those that stand many times.
"""

import pathlib
import re
import sys

from sv_parser import Parser, ParseError

SWAPS = {
    "&&": ["||"], "||": ["&&"], "&": ["|"], "|": ["&"], "^": ["|"], "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"],
    "%": ["/"], "<<": [">>"], ">>": ["<<"], "==": ["!="], "!=": ["=="], "<": ["<=", ">"], "<=": ["<", ">="],
    ">": [">=", "<"], ">=": [">", "<="],
}
# An operand alone, of those where that has a meaning.
KEPT_OPERANDS = {"&&": (0, 1), "||": (0, 1), "&": (0, 1), "|": (0, 1), "^": (0, 1), "+": (0,), "-": (0,), "*": (0, 1),
                 "/": (0,), "%": (0,), "<<": (0,), ">>": (0,)}
ENUMERATORS = re.compile(r"(State|Status|Fetch)[A-Z]\w*$")
SELECTED = "mutation_pkg::selected"


def literal_neighbours(text):
    """Mutants of a literal: inverted if it is a bit or a fill, one more and one less otherwise."""
    if text in ("'0", "'1"):
        return ["'1" if text == "'0" else "'0"]
    match = re.fullmatch(r"(\d+)\s*'([bdhBDH])([0-9a-fA-F_]+)", text)
    if not match:
        return [str(int(text) + 1)] + ([str(int(text) - 1)] if int(text) > 0 else [])
    width = int(match[1])
    value = int(match[3].replace("_", ""), {"b": 2, "d": 10, "h": 16}[match[2].lower()])
    if width == 1:
        return ["1'b0" if value else "1'b1"]
    return [f"{width}'d{value + change}" for change in (1, -1) if 0 <= value + change < 2**width]


def write_if_changed(path, text):
    """What is built from the file stays up to date if it says the same."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


class Mutator:
    def __init__(self, name, text, first_number, selected, shared):
        self.name, self.text, self.number, self.shared = name, text, first_number, shared
        self.mutants = []
        self.selected = dict(selected)
        self.parser = Parser(text, name)

    def source(self, node):
        return self.text[node.start:node.end]

    def add(self, node, kind, mutant):
        """Numbers a mutant of `node`; returns its number."""
        flat = [" ".join(part.split()) for part in (self.source(node), mutant)]
        self.mutants.append((self.number, self.name, self.parser.line(node.start), kind, *flat))
        self.number += 1
        return self.number - 1

    def alternatives(self, node):
        """(kind, text) of the mutants of an expression, not of its parts."""
        source = self.source(node)
        if node.const:
            if node.kind == "literal":
                return [("constant", text) for text in literal_neighbours(source)]
            if ENUMERATORS.search(source) or node.kind in ("ternary", "select"):
                return []
            mutants = [("constant", f"{source} + 1'b1")]
            # Of the numbers of a loop all are there anyway.
            if not self.parser.loop_variables & set(re.findall(r"\w+", source)):
                mutants.append(("constant", f"{source} - 1'b1"))
            return mutants
        if node.kind == "binary":
            left, right = (self.source(child) for child in node.children)
            swapped = [("operator", f"{left} {operator} {right}") for operator in SWAPS[node.op]]
            return swapped + [("operator", (left, right)[kept]) for kept in KEPT_OPERANDS.get(node.op, ())]
        if node.kind == "unary":
            operand = self.source(node.children[0])
            other = {"&": "|", "|": "&"}.get(node.op, "")
            return [("operator", f"{other}{operand}")]
        if node.kind == "ternary":
            return [("condition", self.source(node.children[1])), ("condition", self.source(node.children[2]))]
        if node.kind == "select" and "range" in node.detail:
            high, low = node.detail["range"]
            step = -1 if low > 0 else 1
            base = self.text[node.start:node.detail["bracket"]]
            places = f"{low + step}" if high == low else f"{high + step}:{low + step}"
            return [("index", f"{base}[{places}]")]
        return []

    def spliced(self, node, children):
        """The node's text with its children rendered."""
        parts, at = [], node.start
        for child in children:
            parts += [self.text[at:child.start], self.render(child)]
            at = child.end
        return "".join(parts) + self.text[at:node.end]

    def render(self, node):
        chosen = self.alternatives(node)
        if node.kind == "condition":
            chosen = [("condition", "1'b1")] + ([] if node.detail["single"] else [("condition", "1'b0")])
        source = " ".join(self.source(node).split())
        if source in self.selected:
            chosen.append(("selected", self.selected.pop(source)))
        numbers = [(self.add(node, "reset" if node.reset and kind != "selected" else kind, text), text)
                   for kind, text in chosen]
        inner = self.source(node) if node.const else self.spliced(node, node.children)
        if not numbers:
            return inner
        selects = "".join(f"{SELECTED} == {number} ? ({text}) : " for number, text in numbers)
        return f"({selects}({inner}))"

    def render_assignment(self, node):
        value = node.children[0]
        detail = node.detail
        # An unconditional assignment of combinational logic cannot be left out: there would be a latch.
        removable = detail["process"] in ("ff", "function") or (detail["process"] == "comb" and not detail["always"])
        removed = self.add(node, "reset" if node.reset else "assignment", "") if removable else None
        before = len(self.mutants)
        rendered = self.render(value)
        if not removable and len(self.mutants) == before and not value.const:
            number = self.add(value, "assignment", f"~{self.source(value)}")
            rendered = f"({SELECTED} == {number} ? ~({self.source(value)}) : ({self.source(value)}))"
        text = self.text[node.start:value.start] + rendered + self.text[value.end:node.end]
        return f"begin if ({SELECTED} != {removed}) {text} end" if removed is not None else text

    def mutated(self):
        parts, at = [], 0
        for root in sorted(self.parser.roots, key=lambda node: node.start):
            rendered = self.render_assignment(root) if root.kind == "assignment" else self.render(root)
            parts += [self.text[at:root.start], rendered]
            at = root.end
        if self.selected:
            raise ParseError(f"{self.name}: no such expression to mutate: {next(iter(self.selected))}")
        text = "".join(parts) + self.text[at:]
        text = text.replace("/*verilator no_inline_task*/", "")  # such a function in C++ cannot read `selected`
        return re.sub(r"\n\);\n", "\n); /*verilator no_inline_module*/\n", text, count=1) if self.shared else text


def main(arguments):
    out = pathlib.Path(arguments.pop(0))
    selected = {}
    if arguments[0] == "--selected":
        for line in pathlib.Path(arguments[1]).read_text().splitlines():
            if line and not line.startswith("#"):
                name, original, mutant = line.split("\t")
                selected.setdefault(name, {})[original] = mutant
        arguments = arguments[2:]
    shared = arguments[0] == "--shared"
    if shared:
        arguments.pop(0)
    out.mkdir(parents=True, exist_ok=True)
    mutants = []
    for path in map(pathlib.Path, arguments):
        mutator = Mutator(path.name, path.read_text(), len(mutants) + 1, selected.get(path.name, {}), shared)
        write_if_changed(out / path.name, f'`line 1 "{path}" 0\n' + mutator.mutated())
        mutants += mutator.mutants
    write_if_changed(out / "mutants.tsv", "".join("\t".join(map(str, mutant)) + "\n" for mutant in mutants))
    write_if_changed(out / "mutation_pkg.sv",
                     "package mutation_pkg;\n"
                     '    import "DPI-C" function int unsigned switchyard_mutant();\n'
                     "    int unsigned selected = switchyard_mutant();\n"
                     "endpackage\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ParseError, OSError) as error:
        sys.exit(f"mutate.py: {error}")
