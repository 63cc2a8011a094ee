#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""only_text.py [--json] [FILE...]: does it hold nothing that a terminal takes for more than text?

UTF-8 without control characters (but line feeds and tabs), and without what turns the direction of
writing or cannot be seen (fabric/base/message/plain.h).  --json: each line, or the whole file, is JSON, whose
strings and keys are so, too, with escapes undone."""
import json
import re
import sys

BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
faults = []


def look(where, text):
    m = BAD.search(text)
    if m:
        faults.append("%s: %r" % (where, text[max(0, m.start() - 30) : m.end() + 30]))


def walk(where, j):
    if isinstance(j, str):
        look(where, j)
    elif isinstance(j, dict):
        for k, v in j.items():
            look(where, k)
            walk(where, v)
    elif isinstance(j, list):
        for v in j:
            walk(where, v)


names = sys.argv[1:]
is_json = names[:1] == ["--json"]
for name in names[is_json:] or ["/dev/stdin"]:
    data = open(name, "rb").read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        faults.append("%s: %s" % (name, e))
        continue
    look(name, text)
    if is_json:
        try:
            parts = [json.loads(text)]
        except ValueError:
            parts = [json.loads(l) for l in text.splitlines() if l]
        for j in parts:
            walk(name, j)
print("\n".join(faults[:10]))
sys.exit(1 if faults else 0)
