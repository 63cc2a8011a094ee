#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""words.py: finds words that console/manual/glossary.md replaces, in all text that a user can see.

Looks at string literals of the sources that hold a sentence or a label of several words, and at the
manuals.  What has no blank is a key or an identifier and may stay.  Prints FILE:LINE and the word to use.
"""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
GLOSSARY = "console/manual/glossary.md"
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGES.md", "console/manual/ibroute-top.1.in",
         *sorted(set(glob.glob("console/manual/*.md")) - {GLOSSARY}),
         *sorted(glob.glob("engines/opensm/*.sample")), "console/schema.json"]
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:[^\'\\\n]|\\.)*\'|"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', re.S)


def replaced():
    words, on = [], False
    for line in open(GLOSSARY, encoding="utf-8"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if line.startswith("| not |"):
            on = True
        elif on and line.startswith("|") and not cells[0].startswith("-"):
            pattern = r"(?<![\w.])" + re.escape(cells[0]).replace(r"\ ", r"\s+") + r"\b"
            words.append((cells[0], cells[1], re.compile(pattern, re.I)))
    return words


def literals(path):
    text = open(path, encoding="utf-8").read()
    for m in TOKEN.finditer(text):
        if m.group(0).startswith('"') and not re.search(r"#\s*include\s+$", text[:m.start()][-20:]):
            parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', m.group(0))
            yield text.count("\n", 0, m.start()) + 1, "".join(parts)


def main():
    words, bad, seen = replaced(), 0, 0
    if len(words) < 10:
        sys.exit("words.py: no table of words in " + GLOSSARY)
    for layer in ("fabric", "engines", "views", "console"):
        for folder, _, names in sorted(os.walk(layer)):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(folder, name)
                for line, text in literals(path):
                    if not re.search(r"\w\s+\w", text):
                        continue
                    seen += 1
                    for word, better, pattern in words:
                        if pattern.search(text):
                            bad += 1
                            print("%s:%d: \"%s\": say %s" % (path, line, word, better))
    for path in PAGES:
        if not os.path.exists(path):
            continue
        for n, line in enumerate(open(path, encoding="utf-8"), 1):
            for word, better, pattern in words:
                if pattern.search(line):
                    bad += 1
                    print("%s:%d: \"%s\": say %s" % (path, n, word, better))
    if seen < 1000:
        sys.exit("words.py: only %d texts found in the sources" % seen)
    print("words: %d texts, %d to change" % (seen, bad))
    return bad


sys.exit(1 if main() else 0)
