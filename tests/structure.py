#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""structure.py files|folders|names [BUILD]: what the structure promises, read from the object files.

  files    files that need each other in a circle
  folders  folders that need each other in a circle
  names    functions that are defined in more than one file, static ones too, read from the sources

What tests/structure.allow lists may stay for the reason given there.  An entry that is no longer
needed is an error as well, so that the list only shrinks.
"""
import collections
import os
import re
import subprocess
import sys

LAYERS = ("fabric", "engines", "views", "console")
HERE = os.path.dirname(os.path.abspath(__file__))


def find(top, suffix):
    for folder, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if name.endswith(suffix):
                yield os.path.join(folder, name)


def needs(build):
    """file -> files that define what it takes, and why: (file, file) -> symbols"""
    defined, taken = {}, collections.defaultdict(set)
    objects = [o for layer in LAYERS for o in find(os.path.join(build, layer), ".o")
               if os.path.exists(os.path.relpath(o, build)[:-2] + ".c")]
    if not objects:
        sys.exit("structure.py: no object files in %s: run make first" % build)
    out = subprocess.run(["nm", "-A", *objects], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in out.splitlines():
        path, _, rest = line.partition(":")
        where, words = os.path.relpath(path, build)[:-2], rest.split()
        if words[-2] == "U":
            taken[where].add(words[-1])
        elif words[-2] in "TDBRVWC":
            defined[words[-1]] = where
    graph = {os.path.relpath(o, build)[:-2]: set() for o in objects}
    why = collections.defaultdict(set)
    for where, symbols in taken.items():
        for s in symbols:
            if defined.get(s, where) != where:
                graph[where].add(defined[s])
                why[where, defined[s]].add(s)
    return graph, why


def folders_of(graph, why):
    folders, arrows = {os.path.dirname(f): set() for f in graph}, collections.defaultdict(set)
    for a, targets in graph.items():
        for b in targets:
            pair = os.path.dirname(a), os.path.dirname(b)
            if pair[0] != pair[1]:
                folders[pair[0]].add(pair[1])
                arrows[pair].add("%s -> %s (%s)" % (a, b, sorted(why[a, b])[0]))
    return folders, arrows


def circles(graph):
    """strongly connected components of more than one node (Tarjan, without recursion)"""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in sorted(graph):
        work = [(root, None)] if root not in index else []
        while work:
            v, it = work.pop()
            if it is None:
                index[v] = low[v] = len(index)
                stack.append(v)
                on.add(v)
                it = iter(sorted(graph[v]))
            for w in it:
                if w not in index:
                    work += [(v, it), (w, None)]
                    break
                if w in on:
                    low[v] = min(low[v], low[w])
            else:
                if low[v] == index[v]:
                    circle = set()
                    while v not in circle:
                        circle.add(stack.pop())
                    on -= circle
                    if len(circle) > 1:
                        found.append(tuple(sorted(circle)))
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
    return found


DEFINITION = re.compile(r"^(?!typedef|struct \w+ \{|else|return)[A-Za-z_][\w \t\*]*?\b(\w+)\(", re.M)


def functions():
    """name -> files that define it: in this style a definition begins in column 0"""
    where = collections.defaultdict(set)
    for layer in LAYERS:
        for path in find(layer, ".c"):
            text = open(path, encoding="utf-8").read()
            for m in DEFINITION.finditer(text):
                depth, i = 1, m.end()
                while depth and i < len(text):
                    depth += {"(": 1, ")": -1}.get(text[i], 0)
                    i += 1
                if re.match(r"\s*(__attribute__\s*\(\(.*?\)\)\s*)?\{", text[i:]):
                    where[m.group(1)].add(path)
    return where


def allowed(kind):
    entries = {}
    for n, line in enumerate(open(os.path.join(HERE, "structure.allow"), encoding="utf-8"), 1):
        words, _, reason = line.strip().partition(": ")
        if words and not words.startswith("#") and words.split()[0] == kind:
            if not reason:
                sys.exit("structure.allow:%d: no reason is given" % n)
            entries[tuple(words.split()[1:])] = n
    return entries


def judge(kind, found, show):
    known, bad = allowed(kind), 0
    for item in found:
        if item not in known:
            bad += 1
            show(item)
    for item in known:
        if item not in found:
            bad += 1
            print("structure.allow:%d: %s is gone: take the line out" % (known[item], " ".join(item)))
    print("%s: %d found, %d allowed" % (kind, len(found), len(known)))
    return bad


def show_circle(graph, why):
    def show(circle):
        print("circle: " + " ".join(circle))
        for a in circle:
            for b in circle:
                if b in graph[a]:
                    print("    %s -> %s: %s" % (a, b, " ".join(sorted(why[a, b])[:6])))
    return show


def main():
    kind = sys.argv[1]
    build = sys.argv[2] if len(sys.argv) > 2 else "build"
    if kind == "names":
        where = functions()
        shared = {n: f for n, f in where.items() if len(f) > 1 and n != "main"}
        return judge("name", [(n,) for n in sorted(shared)],
                     lambda n: print("%s is defined in %s" % (n[0], " ".join(sorted(shared[n[0]])))))
    graph, why = needs(build)
    if kind == "folders":
        graph, why = folders_of(graph, why)
        return judge("folders", circles(graph), show_circle(graph, why))
    return judge("files", circles(graph), show_circle(graph, why))


sys.exit(1 if main() else 0)
