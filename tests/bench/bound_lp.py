#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bound_lp.py PROGRAM [SPEC...]: the lower bound of the effective EFI beside a linear program.

The LP divides the pairs of hosts that share a job among all paths: what a channel carries at least,
whatever the routing.  Solved by clp (Debian's coinor-clp).  Paths are whole, so a bound may be the
next whole number, and above that where all that a switch sends to one LID takes one cable.  A row
with "below" is more than 3 % below the LP, and the exit code is 1 then."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

NETS = [
    "torus:dims=4x4x4,hosts=4",
    "torus:dims=5x5x5,hosts=2",
    "torus:dims=9x9,hosts=4,fail=2",
    "slimfly:q=5,hosts=4",
    "slimfly:q=7,hosts=6",
    "hyperx:dims=8x8,hosts=4",
    "random:switches=60,links=180,hosts=6,seed=3",
    "fattree2:leaves=14,spines=8,hosts=16,fail=9",
]
SIZES = [2, 4, 8, 16, 32, 64]
NEAR = 0.97
SOLVER_S = 900
tool, nets = os.path.abspath(sys.argv[1]), sys.argv[2:] or NETS


def read_topology(text):
    """Cables between switches as {(from, to): number}, and the switch of each host."""
    cables, hosts, switch = {}, {}, None
    for line in text.split("\n"):
        begin = re.match(r'(Switch|Ca)\s+\d+ "([^"]+)"', line)
        if begin:
            switch = begin.group(2) if begin.group(1) == "Switch" else None
        port = re.match(r'\[\d+\]\s+"([SH]-[^"]+)"\[\d+\](?:\([^)]*\))?\s*# "([^"\s]+)', line)
        if not port or not switch:
            continue
        if port.group(1).startswith("S-"):
            cables[switch, port.group(1)] = cables.get((switch, port.group(1)), 0) + 1
        else:
            hosts[port.group(2)] = switch
    return cables, hosts


def place_jobs(kind, hosts):
    order = sorted(hosts)
    if kind == "all":
        return [order]
    draw = random.Random(1)
    if kind == "random":
        draw.shuffle(order)
    jobs = []
    while order:
        n = draw.choice(SIZES)
        jobs.append(order[:n])
        order = order[n:]
    return jobs


def count_pairs(jobs, hosts):
    """{(from, to): pairs of hosts}, of switches."""
    pairs = {}
    for job in jobs:
        for a in job:
            for b in job:
                key = hosts[a], hosts[b]
                if key[0] != key[1]:
                    pairs[key] = pairs.get(key, 0) + 1
    return pairs


def solve(cables, pairs):
    """The least possible largest load of a cable, paths divided at will."""
    channels = sorted(cables)
    ends = sorted({d for _, d in pairs})
    number = {s: i for i, s in enumerate(sorted({a for a, _ in channels}))}
    out, into = {}, {}
    for i, (a, b) in enumerate(channels):
        out.setdefault(a, []).append(i)
        into.setdefault(b, []).append(i)
    with open("net.lp", "w") as lp:
        lp.write("Minimize\n obj: z\nSubject To\n")
        for d in ends:
            for s in number:
                if s != d:
                    lp.write(" " + " + ".join(f"f{number[d]}_{i}" for i in out[s]))
                    lp.write("".join(f" - f{number[d]}_{i}" for i in into[s]))
                    lp.write(f" = {pairs.get((s, d), 0)}\n")
        for i, c in enumerate(channels):
            lp.write(" " + " + ".join(f"f{number[d]}_{i}" for d in ends if d != c[0]))
            lp.write(f" - {cables[c]} z <= 0\n")
        lp.write("Bounds\n")
        for d in ends:
            for i in out[d]:
                lp.write(f" f{number[d]}_{i} = 0\n")
        lp.write("End\n")
    run = subprocess.run(["clp", "net.lp", "-barrier"], capture_output=True, text=True, timeout=SOLVER_S)
    found = re.search(r"(?:objective value|Optimal objective)\s+([\d.e+-]+)", run.stdout)
    if not found:
        sys.exit(f"bound_lp.py: clp found nothing: {run.stdout[-300:]}{run.stderr[-300:]}")
    return float(found.group(1))


def bound(topology, jobs):
    with open("topology", "w") as f:
        f.write(topology)
    with open("jobs", "w") as f:
        f.writelines(f"{i + 1} {','.join(j)}\n" for i, j in enumerate(jobs))
    begin = time.time()
    subprocess.run([tool, "route", "--engine", "minhop", "--topology", "topology", "--jobs", "jobs", "--out", "out"],
                   check=True, stdout=subprocess.DEVNULL)
    with open("out/summary.json") as f:
        return json.load(f), time.time() - begin


if not shutil.which("clp"):
    sys.exit("bound_lp.py: clp is missing (Debian: apt-get install coinor-clp)")
below = 0
print(f"{'net':45}{'jobs':8}{'LP':>10}{'bound':>8}{'ratio':>7}{'shortest':>10}{'route, s':>10}{'LP, s':>7}")
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for net in nets:
        topology = subprocess.run([tool, "topo", net], check=True, capture_output=True, text=True).stdout
        cables, hosts = read_topology(topology)
        for kind in "random", "near", "all":
            jobs = place_jobs(kind, hosts)
            summary, route_s = bound(topology, jobs)
            begin = time.time()
            least = solve(cables, count_pairs(jobs, hosts))
            ratio = summary["eff_efi_bound"] / least
            below += ratio < NEAR
            print(f"{net:45}{kind:8}{least:10.2f}{summary['eff_efi_bound']:8}{ratio:7.3f}"
                  f"{summary['eff_efi_bound_minimal']:10}{route_s:10.2f}{time.time() - begin:7.1f}"
                  f"{'  below' if ratio < NEAR else ''}", flush=True)
sys.exit(1 if below else 0)
