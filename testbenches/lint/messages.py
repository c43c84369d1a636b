#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: messages.py ROOT [--counts]. Messages of errors say `expected X, found Y; do Z`. Prints each message that does
not, as file:line: text, and fails if there is one. With --counts prints for each folder how many messages have the form
and how many do not."""
import collections
import pathlib
import re
import sys

# Internal errors of the program itself, which no input causes, and the interrupt of a user.
INTERNAL = re.compile(r"throw\s+(std::logic_error|std::system_error|std::bad_alloc|Interrupted)\b")
# The operating system says why a file cannot be opened: its words are what was found.
OF_SYSTEM = re.compile(r"\bcannot be (read|written|made|kept in memory)\b")
# Helpers of sw_scheduler/base/ that compose the form.
COMPOSED = re.compile(r"\b(not_one_of|not_both|not_among|not_made|refuse_time|expected)\(|\bmeaning_of\(")
# Part of a message behind which the message of another error follows.
PREFIX = re.compile(r"(^|: )(\{\})?$|^standard output$|^model file$|^line $|^offset $")

THROWN = re.compile(
    r"\bthrow\s+[\w:]+\s*[({]|(?<![\w:])(?:[\w\[\]().]+(?:\.|->))?(?:fail|fail_at|fail_to|refuse|needed)\s*\("
    r"|\bSC_REPORT_(?:ERROR|FATAL)\s*\(")
TOKEN = re.compile(r'//[^\n]*|R"([^(\n]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<![\w])\'(?:[^\'\\\n]|\\.)+\'', re.S)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def plain(text):
    """Without comments, characters and raw texts; the other texts stay."""
    def blank(match):
        found = match.group(0)
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)
    return TOKEN.sub(blank, text)


def end_of_call(text, opening):
    depth = 0
    for token in re.finditer(r'"(?:[^"\\\n]|\\.)*"|[()\[\]{}]', text[opening:]):
        if token.group(0) in "([{":
            depth += 1
        elif token.group(0) in ")]}":
            depth -= 1
            if depth == 0:
                return opening + token.end()
    return len(text)


def messages(text):
    """(line, call, texts) of each call that throws a message."""
    for match in THROWN.finditer(text):
        end = end_of_call(text, match.end() - 1)
        if re.match(r"\s*(const|noexcept|override)?\s*\{", text[end:]):
            continue  # a definition
        call = re.sub(r'"\s+"', "", text[match.start():end])
        texts = [found for found in LITERAL.findall(call) if " " in found]
        if texts:
            yield text.count("\n", 0, match.start()) + 1, call, texts


def has_form(call, texts):
    words = " ".join(texts)
    if INTERNAL.search(call) or OF_SYSTEM.search(words) or COMPOSED.search(call):
        return True
    return "expected " in words and "found" in words or all(PREFIX.search(found) for found in texts)


def main():
    root = pathlib.Path(sys.argv[1])
    good, bad = collections.Counter(), collections.defaultdict(list)
    for top in ("sw_scheduler", "tlm", "hw", "platform"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            parts = path.relative_to(root).parts
            folder = "/".join(parts[:min(len(parts) - 1, 3 if parts[:2] == ("platform", "systems") else 2)])
            for line, call, texts in messages(plain(path.read_text())):
                if has_form(call, texts):
                    good[folder] += 1
                else:
                    bad[folder].append(f"{path.relative_to(root)}:{line}: {' ... '.join(texts)}")
    if "--counts" in sys.argv:
        for folder in sorted(good.keys() | bad.keys()):
            print(f"{folder}: {good[folder]} with the form, {len(bad[folder])} without")
        return 0
    for folder in sorted(bad):
        print("\n".join(bad[folder]))
    return 1 if bad else 0


sys.exit(main())
