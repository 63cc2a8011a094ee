#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What failover.sh makes of what it has read; knows nothing of our program.

figures DIR FIRST WHO WHAT   times, blocks and path records of the events from line FIRST on
reached SEEN LFTS            does every host of ibnetdiscover's text reach every other by these LFTs
"""
import re
import sys


def lft_lines(path):
    return {tuple(line.split()[:2]): line.split()[2] for line in open(path)}


def blocks_that_differ(before, after):
    both = {k[0] for k in before} & {k[0] for k in after}
    return len({(k[0], int(k[1], 0) // 64) for k in set(before) | set(after)
                if k[0] in both and before.get(k) != after.get(k)})


def records(path, begin, end):
    rows = [line.split() for line in open(path)]
    rows = [(int(t), float(ms), int(s)) for t, ms, s in (r for r in rows if len(r) == 3)]
    return [r for r in rows if begin <= r[0] <= end]


def figures(folder, first, who, what):
    events = [line.split() for line in open(folder + "/events")][int(first):]
    trap = min((int(t) for t, kind in events if kind == "trap"), default=0)
    held = [int(t) for t, kind in events if kind == "held" and int(t) >= trap]
    sets = sum(kind == "set" for _, kind in events)
    end = max(held, default=trap)
    differ = blocks_that_differ(lft_lines(folder + "/before"), lft_lines(folder + "/after"))
    asked = records(folder + "/records", trap, end)
    longest = max((ms for _, ms, _ in records(folder + "/records", trap, end + 1000000)), default=0)
    good, silent = sum(s == 0 for _, _, s in asked), sum(s == -1 for _, _, s in asked)
    print(f"# {who:8s} {what:14s} {(end - trap) / 1000:8.1f} ms from the trap to the last block, "
          f"{sets:5d} blocks set, {differ:5d} differ; path records meanwhile: {good} answered, "
          f"{silent} without an answer, longest {longest:.1f} ms")
    with open(folder + "/figures", "a") as out:
        out.write("\t".join(map(str, (who, what, end - trap, sets, differ, good, silent))) + "\n")
    return not trap


def read_net(path):
    """Peers by (node, port), LIDs of hosts."""
    peer, lid, node = {}, {}, None
    for line in open(path):
        m = re.match(r'(Switch|Ca)\s+\d+ "([SH]-\w+)"', line)
        if m:
            node = m.group(2)
        m = re.match(r'\[(\d+)\](?:\(\w+\))?\s+"([SH]-\w+)"\[(\d+)\]', line)
        if m and node:
            peer[node, int(m.group(1))] = m.group(2)
        m = re.match(r'\[\d+\]\(\w+\).*# lid (\d+)', line)
        if m and node.startswith("H"):
            lid[node] = int(m.group(1))
    return peer, lid


def arrives(switch, host, lid, peer, lft, good):
    way = []
    while switch not in good and len(way) < 64:
        way.append(switch)
        switch = peer.get((switch, lft.get((int(switch[2:], 16), lid), 255)))
        if switch == host:
            break
        if switch is None or not switch.startswith("S"):
            return False
    if len(way) == 64:
        return False
    good.update(way)
    return True


def reached(seen, lfts):
    peer, lid = read_net(seen)
    lft = {(int(g, 16), int(d, 0)): int(p) for (g, d), p in lft_lines(lfts).items()}
    at = {peer[k] for k in peer if k[0] in lid}
    lost = 0
    for host in lid:
        good = set()
        lost += sum(not arrives(s, host, lid[host], peer, lft, good) for s in sorted(at))
    print(f"# {len(lid)} hosts, {lost} pairs of a switch and a host without a path")
    return lost or len(lid) < 4


sys.exit(bool({"figures": figures, "reached": reached}[sys.argv[1]](*sys.argv[2:])))
