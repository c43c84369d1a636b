#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: rtl_proofs.py <ROWS

Adds a column to rows of a table, "| block | file.sv | ... |": the proofs of testbenches/formal/ whose properties hold for the
module of the file. Runs in the root of the repository.
"""

import pathlib
import re
import sys

FORMAL = pathlib.Path("testbenches/formal")
RTL = pathlib.Path("rtl")
INSTANCE = re.compile(r"^\s*(\w+)\s+(?:#\(|u_\w+\s*\()", re.M)


def instances(text):
    return {name for name in INSTANCE.findall(text) if name not in ("module", "for", "if", "else", "begin", "assign")}


def modules_of(block, name):
    """The modules of rtl/BLOCK under the properties `name`, but for those that the proof replaces by anything."""
    replaced = set()
    if name == "dispatcher":
        replaced = set(re.findall(r"^module (\w+)", (FORMAL / "dispatcher_stubs.sv").read_text(), re.M))
    known, open_files = set(), [FORMAL / f"{name}_properties.sv"]
    while open_files:
        for module in instances(open_files.pop().read_text()) - known - replaced:
            path = RTL / block / f"{module}.sv"
            if path.exists():
                known.add(module)
                open_files.append(path)
    return known


def main():
    proofs = {}
    for block, name in re.findall(r"^formal_(?:long_)?proof\((\w+) (\w+)", (FORMAL / "CMakeLists.txt").read_text(), re.M):
        for module in modules_of(block, name):
            proofs.setdefault((block, f"{module}.sv"), []).append(name)
    for row in sys.stdin:
        block, file = [cell.strip() for cell in row.split("|")[1:3]]
        found = proofs.get(("pe_array" if block == "fp" else block, file), [])
        print(f"{row.rstrip()} {', '.join(sorted(found)) or '-'} |")


if __name__ == "__main__":
    main()
