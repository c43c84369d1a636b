#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: sizes.py ROOT. No function has more than 80 lines and no class more than 40 methods. Prints each that has, as
file:line: name, and fails; classes of LEFT may have as many methods as it says until they have become parts."""
import pathlib
import re
import sys

MOST_LINES, MOST_METHODS = 80, 40
LEFT = {}

TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\'', re.S)
# What begins a body: the text between it and the end of the statement before.
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::[^:].*)?$", re.S)
NOT_FUNCTION = re.compile(r"^\s*(?:namespace|extern|enum|union|class|struct|if|for|while|else|switch|do|try|catch|return|case)\b|=\s*$", re.S)
METHOD = re.compile(r"[\w~>\])]\s*\(")


def blank(text):
    return TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), re.sub(r"(?m)^\s*#.*(?:\\\n.*)*$", lambda f: re.sub(r"[^\n]", " ", f.group(0)), text))


def bodies(text):
    """(kind, head, line of the head, lines, methods) of each class and function."""
    open_bodies, start, found = [], 0, []
    for at, sign in ((m.start(), m.group(0)) for m in re.finditer(r"[{};]|\b(?:public|private|protected):", text)):
        head = text[start:at]
        if sign == "{":
            parent = open_bodies[-1] if open_bodies else None
            kind = "other"
            stripped = re.sub(r"^\s*template\s*<.*?>\s*(?=class|struct|\w)", "", head, flags=re.S)
            if CLASS.search(stripped) and "(" not in CLASS.search(stripped).group(0).split(":")[0]:
                kind = "class"
            elif parent is None or parent["kind"] in ("class", "namespace"):
                if re.match(r"\s*(?:inline\s+)?namespace\b|\s*extern\b", head):
                    kind = "namespace"
                elif METHOD.search(head) and not NOT_FUNCTION.match(head):
                    kind = "function"
            if parent is not None and parent["kind"] == "class" and kind == "function":
                parent["methods"] += 1
            first = start + len(head) - len(head.lstrip())
            open_bodies.append({"kind": kind, "head": head.strip(), "line": text.count("\n", 0, first) + 1, "methods": 0})
        elif sign == "}":
            if open_bodies:
                body = open_bodies.pop()
                body["lines"] = text.count("\n", 0, at) + 2 - body["line"]
                found.append(body)
        elif sign == ";" and open_bodies and open_bodies[-1]["kind"] == "class":
            if METHOD.search(head) and not re.match(r"\s*(?:using|friend|typedef|static_assert|return)\b", head) and "= " not in head.split("(")[0]:
                open_bodies[-1]["methods"] += 1
        start = at + len(sign)
    return found


def name_of(body):
    if body["kind"] == "class":
        return CLASS.search(body["head"]).group(1)
    return re.sub(r"\s+", " ", body["head"].split("(")[0]).split(" ")[-1]


def main():
    root, failed = pathlib.Path(sys.argv[1]), False
    for top in ("sw_scheduler", "tlm", "hw", "rtl", "platform", "testbenches"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            for body in bodies(blank(path.read_text())):
                size, most, what = (body["methods"], MOST_METHODS, "methods") if body["kind"] == "class" else (body["lines"], MOST_LINES, "lines")
                if body["kind"] not in ("class", "function"):
                    continue
                name = name_of(body)
                if size > LEFT.get(name, most):
                    print(f"{path.relative_to(root)}:{body['line']}: {name} has {size} {what}, expected at most {LEFT.get(name, most)}")
                    failed = True
                elif name in LEFT and body["kind"] == "class" and size < LEFT[name] and size > 0:
                    print(f"{name} has {size} {what}: write this number into LEFT, which has {LEFT[name]}")
                    failed = True
    return failed


sys.exit(main())
