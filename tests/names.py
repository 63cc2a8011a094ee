#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""names.py PROGRAM TOPOLOGY TABLES: names as 80 columns show them.

Each row of links, switches and failures tells its ends from those of all others, and names shown are taken by
what names are given to: goto, exclude, pin, path, filter, and options of commands; where several hosts
have one, the name that is offered instead is.  Of many names some are tried.  Prints what was wrong, or the counts."""
import os
import re
import subprocess
import sys

PROGRAM, FABRIC, TABLES = sys.argv[1:4]
TRIED = 8
FAULTS = []


def run(*args):
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, encoding="utf-8",
                          env=dict(os.environ, LC_ALL="C.UTF-8"))
    return done.returncode, done.stdout, done.stderr


def screen(view, command=None, lines=1000):
    code, out, err = run("--load", FABRIC, "--lfts", TABLES, "--screen", view, "--size", "80x%d" % lines,
                         "--color=never",
                         *(["--do", command] if command else []))
    if code:
        FAULTS.append("--screen %s --do %r: %s" % (view, command, err[-200:]))
    return out


def wrong(unless, what):
    if not unless:
        FAULTS.append(what)


def rows(view, first, behind=None):
    """The texts of the table from the column of that head on."""
    lines = screen(view).split("\n")
    at = next(i for i, l in enumerate(lines) if i > 2 and re.search(r" %s +" % first, l))
    begin = lines[at].index(first)
    end = lines[at].index(behind) if behind else None
    table = []
    for line in lines[at + 1:]:
        if not line.strip() or line.startswith("\u2500"):
            break
        table.append(line[begin:end].rstrip())
    return table


def distinct(view, texts, whole=True):
    wrong(texts, "%s: no row" % view)
    wrong(len(texts) == len(set(texts)), "%s: rows that look alike: %s"
          % (view, sorted(t for t in set(texts) if texts.count(t) > 1)[:3]))
    wrong(not whole or not any(".." in t for t in texts), "%s: a name is cut: %s"
          % (view, [t for t in texts if ".." in t][:3]))


links = rows("links", "from")
switches = rows("switches", "switch", "level")
distinct("links", links)
distinct("switches", switches)
# the one table whose names are too long for 80 columns, cut so that the rows differ
distinct("weak", rows("weak", "cable or switch", " hosts"), whole=False)
ends = [re.fullmatch(r"(\S.*?) +(\d+) +(\S.*?) +(\d+)", l) for l in links]
wrong(all(ends), "links without both ends and ports: %s" % [l for l, e in zip(links, ends) if not e][:3])
names = sorted({n for e in ends if e for n in (e[1], e[3])})
wrong(set(names) <= set(switches), "called otherwise in view 4: %s" % (set(names) - set(switches)))

# ports of all switches: the peer of each is told from all others, and taken where a host is named
code, out, err = run("--load", FABRIC, "-b", "-n", "1", "--view", "ports", "--filter", "kind=host")
lines = [l for l in out.split("\n") if l.strip()][1:]
begin, end = lines[0].index(" b ") + 1, lines[0].index(" b_port")
peers = [l[begin:end].strip() for l in lines[1:]]
wrong(peers and len(peers) == len(set(peers)), "ports: peers that look alike: %s"
      % sorted({p for p in peers if peers.count(p) > 1})[:3])
for peer in peers[::max(1, len(peers) // TRIED)][:TRIED]:
    wrong("Path %s -> " % peer in screen("paths", "path %s %s" % (peer, names[-1]), 24), "path " + peer)

some = names[::max(1, len(names) // TRIED)][:TRIED]
other = names[-1]

for name in some:
    wrong("\u2500 %s \u2500" % name in screen("switches", "goto " + name, 24), "goto " + name)
    wrong("routes around %s" % name in screen("switches", "exclude " + name, 24), "exclude " + name)
    wrong("Path %s -> %s" % (name, other) in screen("paths", "path %s %s" % (name, other), 24),
          "path " + name)
    own = [l for l, e in zip(links, ends) if e and name in (e[1], e[3])]
    said = screen("links", 'filter a="%s" or b="%s"' % (name, name), 24)
    found = re.search(r"^ (\d+) of \d+ links", said, re.M)
    wrong(own and found and int(found[1]) >= len(own), "filter " + name)
    code, out, err = run("paths", "--topology", FABRIC, "--tables", TABLES, name, other)
    wrong(code == 0 and name in out, "paths %s: %s" % (name, err[-200:]))
    # what would cut off hosts is refused, by that name
    code, out, err = run("route", "--topology", FABRIC, "--engine", "minhop", "--exclude", name)
    wrong(code == 0 or "cut off" in err or "no neighbour" in err, "route --exclude %s: %s" % (name, err[-200:]))

peers = {}
for switch in switches:
    said = screen("switches", "goto %s; open" % switch, 100)
    for port, peer in re.findall(r"^[> ] +(\d+) (\S.*?) +\d+ +\S", said, re.M):
        if peer not in switches:
            peers.setdefault(peer, (switch, port))
    if len(peers) >= TRIED:
        break
wrong(peers, "no host is shown")
for host in list(peers)[:TRIED]:
    said = screen("switches", "pin " + host, 24)
    wrong("leaves the paths to %s as they are" % host in said, "pin " + host)
    said = screen("paths", "path %s %s" % (other, host), 24)
    unique = re.search(r'have the name "[^"]*": use ([^ ,]+)', said) # of several ports or hosts
    if unique:
        said = screen("paths", "path %s %s" % (other, unique[1]), 24)
    wrong("-> %s" % (unique[1] if unique else host) in said, "path to " + host)

if FAULTS:
    print("\n".join(FAULTS))
    sys.exit(1)
print("%d links, %d switches, %d and %d names tried" % (len(links), len(switches), len(some),
                                                        min(len(peers), TRIED)))
