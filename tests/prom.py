#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""prom.py [FILE]: is it Prometheus text by the rules of the format and of promtool check metrics?

Every family has HELP, then TYPE, once, before its samples, which stand together; counters end
with _total and gauges do not; names and labels are well-formed, values are numbers, no series is
there twice; base units only; nothing in it steers a terminal."""
import re
import sys

# C0, C1, and what turns the direction of writing or cannot be seen
BAD = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
NAME = re.compile(r"^[a-zA-Z_:][a-zA-Z0-9_:]*$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)')
SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
faults, series, seen, samples = [], set(), [], 0
helped, typed = {}, {}


def fault(n, text):
    faults.append("line %d: %s" % (n, text))


def labels(n, text):
    at, names = 0, []
    while at < len(text):
        m = LABEL.match(text, at)
        if not m:
            fault(n, "labels: %s" % text[at : at + 60])
            return
        names.append(m.group(1))
        at = m.end()
    if len(set(names)) != len(names):
        fault(n, "a label twice")


data = (open(sys.argv[1], "rb") if len(sys.argv) > 1 else sys.stdin.buffer).read()
if not data.endswith(b"\n"):
    faults.append("no newline at the end")
try:
    text = data.decode("utf-8")
except UnicodeDecodeError as e:
    faults.append("not UTF-8: %s" % e)
    text = data.decode("latin-1")
for n, line in enumerate(text.split("\n")[:-1], 1):
    if BAD.search(line):
        fault(n, "a control character: %r" % line[:200])
    if line.startswith("# HELP "):
        name, text = line[7:].split(" ", 1)
        if name in helped or not text:
            fault(n, "HELP of %s twice, or empty" % name)
        helped[name] = n
        continue
    if line.startswith("# TYPE "):
        name, kind = line[7:].split(" ")
        if name in typed or helped.get(name) != n - 1 or kind not in ("counter", "gauge"):
            fault(n, "TYPE of %s" % name)
        if (kind == "counter") != name.endswith("_total"):
            fault(n, "%s is a %s" % (name, kind))
        typed[name] = kind
        continue
    m = SAMPLE.match(line)
    if not m:
        fault(n, "neither comment nor sample: %s" % line[:80])
        continue
    name = m.group(1)
    samples += 1
    if name not in typed:
        fault(n, "%s has no TYPE before it" % name)
    if not seen or seen[-1] != name:
        if name in seen:
            fault(n, "samples of %s stand apart" % name)
        seen.append(name)
    if re.search(r"_(percent|pct|bits|milliseconds|ms|kb|mb|gb)(_|$)", name, re.I):
        fault(n, "%s is not in base units" % name)
    labels(n, m.group(2) or "")
    if not re.match(r"^[-+]?(\d+(\.\d+)?([eE][-+]?\d+)?|NaN|[+-]Inf)$", m.group(3)):
        fault(n, "value %s" % m.group(3))
    if line.rsplit(" ", 1)[0] in series:
        fault(n, "twice: %s" % line[:80])
    series.add(line.rsplit(" ", 1)[0])
for name in typed:
    if name not in seen:
        faults.append("%s has no sample" % name)
print("\n".join(faults[:20]))
print("%d families, %d samples, %d faults" % (len(seen), samples, len(faults)))
sys.exit(1 if faults or not samples else 0)
