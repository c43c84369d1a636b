#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: sizes.py ROOT. In the libraries and programs, no function has more than 80 lines and no class more than 40 methods. Prints each that has, as
file:line: name, and fails; classes of LEFT may have as many methods as it says until they have become parts."""
import pathlib
import re
import sys

MOST_LINES, MOST_METHODS = 80, 40
LEFT = {
    "FlitNetwork": 96,
    "HostInterface": 57,
    "OnnxImporter": 78,
    "Segmenter": 70,
    "StageSearch": 52,
    "Timeline": 66,
}

TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\'', re.S)
DIRECTIVE = re.compile(r"(?m)^\s*#.*(?:\\\n.*)*$")
# The text between the end of the statement before and the body.
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::[^:].*)?$", re.S)
NOT_FUNCTION = re.compile(
    r"^\s*(?:namespace|extern|enum|union|class|struct|if|for|while|else|switch|do|try|catch|return|case)\b|=\s*$")
METHOD = re.compile(r"[\w~>\])]\s*\(")


def blank(text):
    """Without comments, texts and directives; lines stay where they are."""
    def spaces(found):
        return re.sub(r"[^\n]", " ", found.group(0))
    return TEXT.sub(spaces, DIRECTIVE.sub(spaces, text))


def bodies(text):
    """(kind, head, line of the head, lines, methods) of each class and function."""
    open_bodies, start, found = [], 0, []
    for at, sign in ((m.start(), m.group(0)) for m in re.finditer(r"[{};]|\b(?:public|private|protected):", text)):
        head = text[start:at]
        if sign == "{":
            parent = open_bodies[-1] if open_bodies else None
            kind = "other"
            stripped = re.sub(r"^\s*template\s*<.*?>\s*(?=class|struct|\w)", "", head, flags=re.S)
            of_class = CLASS.search(stripped)
            if of_class and "(" not in of_class.group(0).split(":")[0]:
                kind = "class"
            elif parent is None or parent["kind"] in ("class", "namespace"):
                if re.match(r"\s*(?:inline\s+)?namespace\b|\s*extern\b", head):
                    kind = "namespace"
                elif METHOD.search(head) and not NOT_FUNCTION.match(head):
                    kind = "function"
            if parent is not None and parent["kind"] == "class" and kind == "function":
                parent["methods"] += 1
            first = start + len(head) - len(head.lstrip())
            line = text.count("\n", 0, first) + 1
            open_bodies.append({"kind": kind, "head": head.strip(), "line": line, "methods": 0})
        elif sign == "}":
            if open_bodies:
                body = open_bodies.pop()
                body["lines"] = text.count("\n", 0, at) + 2 - body["line"]
                found.append(body)
        elif sign == ";" and open_bodies and open_bodies[-1]["kind"] == "class":
            other = re.match(r"\s*(?:using|friend|typedef|static_assert|return)\b", head) or "= " in head.split("(")[0]
            if METHOD.search(head) and not other:
                open_bodies[-1]["methods"] += 1
        start = at + len(sign)
    return found


def name_of(body):
    if body["kind"] == "class":
        return CLASS.search(body["head"]).group(1)
    return re.sub(r"\s+", " ", body["head"].split("(")[0]).split(" ")[-1]


def main():
    root, failed = pathlib.Path(sys.argv[1]), False
    for top in ("sw_scheduler", "tlm", "hw", "rtl", "platform"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            for body in bodies(blank(path.read_text())):
                if body["kind"] not in ("class", "function"):
                    continue
                of_class = body["kind"] == "class"
                size, what = (body["methods"], "methods") if of_class else (body["lines"], "lines")
                name = name_of(body)
                most = LEFT.get(name, MOST_METHODS) if of_class else MOST_LINES
                if size > most:
                    print(f"{path.relative_to(root)}:{body['line']}: expected at most {most} {what} of {name}, found {size}")
                    failed = True
                elif of_class and 0 < size < most and name in LEFT:
                    print(f"{name} has {size} {what}: write this number into LEFT, which has {most}")
                    failed = True
    return failed


sys.exit(main())
