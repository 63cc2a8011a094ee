#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""campaign_check.py replay DIR: Table 1 again, from the lines of a replay alone.
campaign_check.py failures DIR: the throughput retained, from the lines of a failure campaign.

A second program that shares nothing with the first; it fails where the two differ."""
import csv, json, math, sys
from collections import defaultdict

FIGURES = ["eff_efi_max", "job_efi_max_mean", "dark_fiber_pct", "links_per_job_mean", "time_mean"]


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def close(a, b):
    return abs(a - b) <= 2e-5 * max(1, abs(a), abs(b))


def differ(what, ours, theirs):
    sys.exit(f"campaign_check: {what}: {ours} is computed, {theirs} is written")


def replay(where):
    at = defaultdict(dict)
    aware = {}
    for o in lines(f"{where}/times.jsonl"):
        aware[o["routing"]] = o["uses_jobs"]
        if o["eff_efi_max"] is not None:
            at[o["time"]][o["routing"]] = o
    got = {}
    for a in aware:
        for b in aware:
            if not aware[a] or aware[b]:
                continue
            for k in FIGURES:
                sign = 1 if k == "links_per_job_mean" else -1
                gain = [(sign * (v[a][k] - v[b][k]), v[b][k]) for v in at.values() if a in v and b in v]
                if gain:
                    pct = [100 * g / base if base > 0 else 0 for g, base in gain]
                    got[a, b, k] = (max([0] + [g for g, _ in gain]), max([0] + pct),
                                    sum(g for g, _ in gain) / len(gain), sum(pct) / len(pct), len(gain))
    rows = 0
    with open(f"{where}/table1.csv") as f:
        for r in csv.DictReader(f):
            key = r["routing"], r["over"], r["figure"]
            told = [float(r[c]) for c in ("largest", "largest_pct", "mean", "mean_pct", "times")]
            if key not in got or not all(map(close, got[key], told)):
                differ(" ".join(key), got.get(key), told)
            rows += 1
    if rows != len(got) or not rows:
        differ("rows of Table 1", len(got), rows)
    print(f"{rows} rows of Table 1 are the same")


def failures(where):
    whole, cells = {}, defaultdict(list)
    for o in lines(f"{where}/cells.jsonl"):
        v = o["throughput"] if o["usable"] else 0.0
        if o["step"] == 0:
            whole[o["engine"], o["seed"]] = v
        cells[o["engine"], o["step"]].append((o["seed"], v, o["usable"]))
    rows = 0
    with open(f"{where}/failures.csv") as f:
        for r in csv.DictReader(f):
            key = r["engine"], int(r["step"])
            v = [100 * x / whole[key[0], s] for s, x, _ in cells[key] if whole.get((key[0], s))]
            mean = sum(v) / len(v) if v else math.nan
            usable = sum(u for _, _, u in cells[key])
            told = float(r["retained_pct"]) if r["retained_pct"] else math.nan
            if not (close(mean, told) or math.isnan(mean) and math.isnan(told)) or usable != int(r["usable"]):
                differ(" ".join(map(str, key)), (mean, usable), (told, r["usable"]))
            rows += 1
    if rows != len(cells) or not rows:
        differ("rows", len(cells), rows)
    print(f"{rows} rows of the throughput retained are the same")


if __name__ == "__main__":
    {"replay": replay, "failures": failures}[sys.argv[1]](sys.argv[2])
