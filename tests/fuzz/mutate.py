#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mutate.py PROGRAM CORPUS OUT RUNS SEED [KIND...]: damaged inputs of the command line.

Takes the files of CORPUS (tests/mutate.sh makes it) apart as what they are: lines of words, JSON,
tables with a checksum, plans with parts, chained records, journals with sums; changes something within
that, puts it together again so that checksums and chains fit, and gives it to a command that reads
it.  No run may crash, be told off by a sanitizer, take more than CPU_S of CPU, WALL_S by the clock,
or MEMORY.  A run that takes more than CPU_S with sanitizers is made once more by PLAIN, the program as
users have it, which may take no more than PLAIN_S and a second for each 32 MiB of input, at most CPU_S.
What was found stays in OUT, with its command; a run is made again by RUN=N.  PROGRAM is
tests/fuzz/served.c, or the program itself, which takes longer."""
import collections
import gzip
import hashlib
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib

CPU_S, PLAIN_S, WALL_S, MEMORY = 5, 2, int(os.environ.get("WALL_S", 60)), 1 << 30
LEAKS = 8  # one run in so many is looked at for leaks, which takes as long as the run

program, corpus, out_dir = map(os.path.abspath, sys.argv[1:4])
plain = os.environ.get("PLAIN")
runs, seed = int(sys.argv[4]), int(sys.argv[5])
only = sys.argv[6:]
work = "%s/work.%d" % (out_dir, os.getpid())
os.makedirs(work)
rnd = random.Random(seed)
sha = lambda b: hashlib.sha256(b).hexdigest()


def corpus_file(name):
    with open("%s/%s" % (corpus, name), "rb") as f:
        return f.read()


# --- values that are at an edge of something -------------------------------------------------------
NUMBERS = [0, 1, 2, 7, 8, 15, 16, 63, 64, 127, 128, 254, 255, 256, 1023, 4095, 49151, 49152, 65534, 65535, 65536, 999999,
           1000000, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1,
           1 << 64, 10**18, 10**19, 10**30]
WORDS = [b"", b"-1", b"-0", b"1e308", b"-1e999", b"nan", b"inf", b"0x", b"0x1p9", b"00000000000000000000001", b"%n%s%s", b"\x1b[2J",
         b"\xc2\x9b31m", b"\xe2\x80\xae", b"\xff\xfe\x80", b"\xf0\x9f\x98\x80", b"n[0-999999]", b"n[1-9][1-9][1-9][1-9][1-9][1-9]",
         b"[", b"]", b"[[", b"n[", b"n[3-1]", b"n[1-", b"a" * 300, b"a" * 70000, b"/" * 5000, b"..", b"/dev/null", b"*x", b"&x", b"!!int",
         b"{", b"}", b"\"", b"'", b"\\", b"\\u0000", b"#", b"=", b",", b"|", b":", b"~", b"all", b"none", b"job:1", b"S-", b"H-", b"lid"]
MARKS = [b"\n", b"\r\n", b"\r", b"\0", b"\t", b" ", b"\xef\xbb\xbf", b"\\\n", b"\x0b"]


def number():
    return rnd.choice(NUMBERS) if rnd.random() < 0.8 else rnd.getrandbits(rnd.choice([4, 8, 16, 32, 64]))


def number_like(word):
    """Another number as that one is written."""
    v = number()
    if word[:2].lower() == b"0x":
        return b"0x%0*x" % (rnd.choice([0, len(word) - 2]), v)
    if rnd.random() < 0.3 and len(word) < 19:
        v = max(0, int(word) + rnd.choice([-2, -1, 1, 2, 64]))
    return b"%0*d" % (rnd.choice([0, 0, len(word)]), v)


# --- text: lines, and words within -----------------------------------------------------------------
TOKEN = re.compile(rb"0[xX][0-9a-fA-F]+|[0-9]+|[A-Za-z_.\-]+|[ \t]+|.", re.S)


def edit_line(line, lines):
    token = TOKEN.findall(line)
    if not token:
        return rnd.choice(WORDS)
    i, how = rnd.randrange(len(token)), rnd.random()
    numbers = [k for k, t in enumerate(token) if t[:1].isdigit()]
    if how < 0.35 and numbers:
        i = rnd.choice(numbers)
        token[i] = number_like(token[i])
    elif how < 0.5:
        token[i] = rnd.choice(WORDS)
    elif how < 0.6:
        token.insert(i, rnd.choice(WORDS + MARKS))
    elif how < 0.7:
        del token[i]
    elif how < 0.8:  # a word of the same form from elsewhere
        other = TOKEN.findall(rnd.choice(lines)) or [b""]
        same = [t for t in other if t[:1].isdigit() == token[i][:1].isdigit()]
        token[i] = rnd.choice(same or other)
    elif how < 0.9:
        k = rnd.randrange(len(token))
        token[i], token[k] = token[k], token[i]
    else:
        k = min(len(token), i + rnd.randrange(1, 6))
        token[i:k] = token[i:k] * rnd.choice([2, 3, 30, 1000])
    return b"".join(token)


def edit_lines(data):
    lines = data.split(b"\n")
    for _ in range(rnd.choice([1, 1, 1, 2, 3, 8])):
        i, how = rnd.randrange(len(lines)), rnd.random()
        k = min(len(lines), i + rnd.choice([1, 1, 1, 2, 5, 20]))
        block = lines[i:k]
        if how < 0.6:
            lines[i] = edit_line(lines[i], lines)
        elif how < 0.68:
            del lines[i:k]
        elif how < 0.76:
            at = rnd.randrange(len(lines) + 1)
            lines[at:at] = block
        elif how < 0.82:
            lines[i:k] = block * rnd.choice([2, 50, 2000])
        elif how < 0.9:
            lines[i:k] = block[::-1] if rnd.random() < 0.3 else rnd.sample(block, len(block))
            at = rnd.randrange(len(lines))
            lines[i], lines[at] = lines[at], lines[i]
        elif how < 0.95:
            lines[i] += rnd.choice(MARKS)
        else:
            lines[i] = b" " * rnd.choice([1, 9]) + lines[i] if rnd.random() < 0.5 else lines[i].strip()
        lines = lines or [b""]
    return b"\n".join(lines)


def edit_bytes(data):
    b = bytearray(data or b"\0")
    for _ in range(rnd.choice([1, 1, 2, 5])):
        i = rnd.randrange(len(b))
        how = rnd.randrange(5)
        if how == 0:
            b[i] ^= 1 << rnd.randrange(8)
        elif how == 1:
            b[i] = rnd.choice([0, 1, 0x7F, 0x80, 0xFF, rnd.randrange(256)])
        elif how == 2:
            del b[i : i + rnd.choice([1, 4, 100])]
        elif how == 3:
            b[i : i + rnd.choice([0, 4])] = struct.pack("<I", number() & 0xFFFFFFFF)
        else:
            del b[i:]
        b = b or bytearray(b"\0")
    return bytes(b)


TEXTS = ["net", "hyperx", "opensm-subnet.lst", "neighbors", "choice", "io", "guid2lid", "opensm-lfts.dump", "opensm.fdbs", "opensm-sl2vl.dump", "path-sl.dump", "jobs.list",
         "jobs.sacct", "jobs.csv", "topology.conf", "topology.yaml", "names", "demand", "ranks", "roots", "thresholds", "config", "agents.key", "heads",
         "s.cast", "x-nodes.ndat", "p.plan"]


def splice(data):
    """Lines of another file between these, at the end, or from there on."""
    lines, other = data.split(b"\n"), corpus_file(rnd.choice(TEXTS)).split(b"\n")
    i, at = rnd.randrange(len(other)), rnd.randrange(len(lines) + 1)
    some = other[i : i + rnd.choice([1, 1, 3, 20, len(other)])]
    lines[at : rnd.choice([at, at, len(lines)])] = some
    return b"\n".join(lines)


def edit_text(data):
    how = rnd.random()
    if how < 0.08:
        data = splice(data)
        return data if rnd.random() < 0.5 else edit_lines(data)
    return edit_bytes(data) if how < 0.2 else edit_lines(data)


# --- JSON ------------------------------------------------------------------------------------------
def json_value():
    return rnd.choice([None, True, False, number() & (1 << 63) - 1, -(number() & (1 << 63) - 1), 1e300, "", "x" * rnd.choice([1, 300, 70000]),
                       "\x1b[2J\u009b\u202e", "0x" + "f" * 70, [], {}, [[[[[[]]]]]], {"a": {"a": {"a": {}}}}, [0] * 1000])


def json_edit(j):
    if isinstance(j, dict) and j and rnd.random() < 0.95:
        key, how = rnd.choice(list(j)), rnd.random()
        if how < 0.1:
            del j[key]
        elif how < 0.15:
            j[rnd.choice(["", "x", key + "\n", key.upper()])] = j[key]
        elif how < 0.8:
            j[key] = json_edit(j[key])
        else:
            j[key] = json_value()
        return j
    if isinstance(j, list) and j and rnd.random() < 0.95:
        i, how = rnd.randrange(len(j)), rnd.random()
        if how < 0.15:
            del j[i]
        elif how < 0.3:
            j[i:i] = [j[i]] * rnd.choice([1, 2, 500])
        elif how < 0.4:
            rnd.shuffle(j)
        else:
            j[i] = json_edit(j[i])
        return j
    if isinstance(j, bool) or j is None or rnd.random() < 0.2:
        return json_value()
    if isinstance(j, int):
        return rnd.choice([j + 1, j - 1, -j, number() & (1 << 63) - 1, -1])
    if isinstance(j, str):
        return edit_line(j.encode("utf-8", "replace"), [b"a"]).decode("utf-8", "replace")
    return json_value()


dump = lambda j: json.dumps(j, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def nested(data):
    """Deeper than anybody writes: around the whole, or in the place of a value."""
    n, how = rnd.choice([40, 2000, 100000]), rnd.random()
    if how < 0.5:
        return b"[" * n + data + b"]" * n
    deep = b"[" * n + b"]" * n if how < 0.8 else b'{"a":' * n + b"1" + b"}" * n
    return re.sub(rb":\s*([0-9]+|\"[^\"]*\")", lambda m: b":" + deep, data, count=1)


def edit_json(data):
    try:
        j = json.loads(data)
    except (ValueError, RecursionError):
        return edit_text(data)
    if rnd.random() < 0.03:
        return nested(data)
    for _ in range(rnd.choice([1, 1, 2, 4])):
        j = json_edit(j)
    return dump(j)


# --- tables.ibr and plans -----------------------------------------------------------------------------
IBR_HEAD = 208


def edit_ibr(data):
    try:
        head, raw = bytearray(data[:IBR_HEAD]), bytearray(zlib.decompressobj().decompress(data[IBR_HEAD:]))
    except zlib.error:
        return edit_bytes(data)
    if rnd.random() < 0.5:
        at = rnd.choice(list(range(0, 60)) + list(range(96, 208, 4)))
        if rnd.random() < 0.5:
            head[at] = rnd.randrange(256)
        else:
            struct.pack_into("<I", head, min(at, IBR_HEAD - 4), number() & 0xFFFFFFFF)
    if rnd.random() < 0.6 and raw:
        for _ in range(rnd.choice([1, 3, 30])):
            raw[rnd.randrange(len(raw))] = rnd.randrange(256)
        if rnd.random() < 0.2:
            del raw[rnd.randrange(len(raw)) :]
        if rnd.random() < 0.1:
            raw += bytes(rnd.choice([1, 4096, 1 << 22]))
    body = bytes(head) + zlib.compress(bytes(raw), rnd.choice([0, 1, 9]))
    body = body[:16] + struct.pack("<Q", len(body) + 32) + body[24:]
    return body + hashlib.sha256(body).digest()


def uint_at(data, at):
    v = shift = 0
    while at < len(data):
        v |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            break
    return v, at


def uint(v):
    out = b""
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def edit_history(data):
    """Samples of a folder: packed numbers, behind a digest of the fabric."""
    at = 8
    for _ in range(2):
        _, at = uint_at(data, at)
    try:
        raw = bytearray(zlib.decompress(data[at:]))
    except zlib.error:
        return edit_bytes(data)
    for _ in range(rnd.choice([1, 1, 2, 8])):
        i, how = rnd.randrange(32, len(raw)) if rnd.random() < 0.9 else rnd.randrange(len(raw)), rnd.random()
        _, end = uint_at(raw, i)
        if how < 0.5:
            raw[i:end] = uint(number() & (1 << 64) - 1)
        elif how < 0.7:
            raw[i] = rnd.randrange(256)
        elif how < 0.8:
            del raw[i : i + rnd.choice([1, 4, 100])]
        elif how < 0.9:
            raw[i:i] = raw[i : i + rnd.choice([1, 20, 200])] * rnd.choice([1, 30, 1000])
        else:
            del raw[i:]
        if len(raw) < 34:
            break
    packed = zlib.compress(bytes(raw), 1)
    said = len(raw) if rnd.random() < 0.95 else number() & (1 << 64) - 1
    return data[:8] + uint(said) + uint(len(packed)) + packed


def edit_plan(data):
    nl = data.index(b"\n")
    head, at, parts = json.loads(data[:nl]), nl + 1, []
    for p in head["parts"]:
        parts.append(data[at : at + p["bytes"]])
        at += p["bytes"]
    if rnd.random() < 0.6:
        i = rnd.randrange(len(parts))
        parts[i] = edit_text(parts[i]) if i == 0 else edit_ibr(parts[i]) if i < 3 else edit_bytes(parts[i])
    if rnd.random() < 0.6:
        for _ in range(rnd.choice([1, 2, 4])):
            head = json_edit(head)
    try:
        for p, b in zip(head["parts"], parts):
            p["bytes"], p["sha256"] = len(b), sha(b)
    except (TypeError, KeyError, AttributeError):
        pass
    return dump(head) + b"\n" + b"".join(parts)


# --- records: chained lines ------------------------------------------------------------------------
def chain(lines):
    prev, out = "0" * 64, []
    for line in lines:
        try:
            j = json.loads(line)
            j.pop("prev", None)
            j.pop("self", None)
            b = dump(j)[:-1]
            if j.get("type") in ("session.end", "record.rotate"):
                b += b',"self":"' + sha(b).encode() + b'"'
            line = b + b',"prev":"' + prev.encode() + b'"}'
        except (ValueError, AttributeError, TypeError, RecursionError):
            pass
        out.append(line)
        prev = sha(line)
    return out


def edit_record(data):
    if rnd.random() < 0.25:
        return edit_text(data)
    lines = data.rstrip(b"\n").split(b"\n")
    for _ in range(rnd.choice([1, 1, 2, 5])):
        i = rnd.randrange(len(lines))
        how = rnd.random()
        if how < 0.7:
            lines[i] = edit_json(lines[i])
        elif how < 0.8 and len(lines) > 1:
            del lines[i]
        elif how < 0.9:
            lines.insert(rnd.randrange(len(lines) + 1), lines[i])
        else:
            k = rnd.randrange(len(lines))
            lines[i], lines[k] = lines[k], lines[i]
    return b"\n".join(chain(lines) if rnd.random() < 0.8 else lines) + b"\n"


# --- journals ---------------------------------------------------------------------------------------
def edit_state_log(data):
    """Each line begins with 16 digits of the SHA-256 of its rest."""
    lines = data.rstrip(b"\n").split(b"\n")
    for _ in range(rnd.choice([1, 2])):
        i = rnd.randrange(len(lines))
        lines[i] = lines[i][:17] + edit_line(lines[i][17:], lines)
    return b"".join(sha(l[17:])[:16].encode() + b" " + l[17:] + b"\n" for l in lines)


def edit_agents(data):
    return (lambda b: sha(b).encode() + b"\n" + b)(edit_json(data.split(b"\n", 1)[-1]))


def edit_head(data):
    j = json.loads(data)
    j.pop("head_sha256", None)  # of earlier versions, which had none
    for _ in range(rnd.choice([1, 2])):
        j = json_edit(j)
    return dump(j)


def edit_journal(folder):
    name = rnd.choice(["head.json", "state.log", "agents.json", "changes.bin", "plan"])
    path = "%s/%s" % (folder, name)
    if not os.path.exists(path):
        return
    data = open(path, "rb").read()
    how = {"head.json": edit_head, "state.log": edit_state_log, "agents.json": edit_agents, "plan": edit_plan}.get(name, edit_bytes)
    new = edit_bytes(data) if rnd.random() < 0.15 else how(data)
    if name == "changes.bin" and rnd.random() < 0.9:
        head = open(folder + "/head.json", "rb").read()
        j = json.loads(head)
        j.pop("head_sha256", None)
        j["changes_sha256"] = sha(new)
        open(folder + "/head.json", "wb").write(dump(j))
    open(path, "wb").write(new)


# --- what is run on it -------------------------------------------------------------------------------
def put(data, name="in"):
    path = "%s/%s" % (work, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def put_tree(name, edit):
    path = "%s/%s" % (work, name)
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree("%s/%s" % (corpus, name), path)
    edit(path)
    return path


C = lambda name: "%s/%s" % (corpus, name)
VIEWS = ["overview", "links", "ports", "switches", "jobs", "tiers", "events", "heatmap"]
SCREENS = ["overview", "heatmap", "links", "switches", "jobs", "topology", "events", "paths", "sessions"]
BATCH = [["-b", "-n", "1"], ["--json", "-n", "1"], ["--prom", "-n", "1"]]


def shown(*more):
    """A fabric, in some view."""
    if rnd.random() < 0.3:
        return ["--screen", rnd.choice(SCREENS), "--size", rnd.choice(["80x24", "30x5", "200x60"])] + list(more)
    how = rnd.choice(BATCH)
    return how + ([] if how[0] == "--prom" else ["--view", rnd.choice(VIEWS)]) + list(more)


def edit_cache(data):
    """ibnetdiscover's: a head, then records; the nodes of the corpus first."""
    b = bytearray(data)
    for _ in range(rnd.choice([1, 1, 2, 5])):
        how, at = rnd.random(), 28 + 207 * rnd.randrange(4)
        if how < 0.15:
            struct.pack_into("<I", b, rnd.choice([4, 8, 12]), number() & 0xFFFFFFFF)
        elif how < 0.35:  # of the first one: what says how long it is, and of what kind
            b[28 + rnd.choice([0, 1, 76, 77, 206])] = rnd.choice([0, 1, 2, 3, 4, 36, 254, 255])
        elif how < 0.6:  # a GUID of one port record in another
            ports = 95 * rnd.randrange(1, 9), 95 * rnd.randrange(1, 9)
            k, to = len(b) - ports[0] + rnd.choice([0, 77, 86]), len(b) - ports[1] + rnd.choice([0, 77, 86])
            b[to : to + 8] = b[k : k + 8]
        elif how < 0.8:
            b[at + 142 : at + 206] = rnd.choice(WORDS + MARKS)[:64].ljust(64, b"\0")
        else:
            k = rnd.randrange(len(b) - 8)
            b[k : k + 8] = struct.pack("<Q", number() & (1 << 64) - 1)
    return bytes(b) if rnd.random() < 0.85 else edit_bytes(bytes(b))


def fabric():
    name = rnd.choice(["net", "hyperx", "opensm-subnet.lst", "cache"])
    f = put((edit_cache if name == "cache" else edit_text)(corpus_file(name)))
    return rnd.choice([
        shown("--load", f),
        ["check", "--topology", f, "--lfts", C("opensm-lfts.dump"), "--bisections", "1"],
        ["route", "--engine", rnd.choice(["minhop", "updn", "ftree", "dor", "dfsssp", "dfdn", "nue", "sar"]), "--bisections", "1", "--topology", f],
        ["--load", C("net"), "--diff", f],
        ["paths", "n0001", "n0009", "--topology", f, "--lfts", C("opensm-lfts.dump"), "--no-load"],
    ])


# --- fabrics that are read without a fault, and are odd ----------------------------------------------
def cables_of_a_shape():
    """Pairs of switches, and how many there are."""
    kind = rnd.randrange(6)
    if kind == 0:  # a tree of two levels
        leaves, spines = rnd.randint(1, 8), rnd.randint(1, 5)
        return [(a, leaves + b) for a in range(leaves) for b in range(spines)], leaves + spines
    if kind == 1:  # pods of two levels under cores
        pods, k = rnd.randint(1, 4), rnd.randint(1, 3)
        n = pods * 2 * k
        up = [(p * 2 * k + a, p * 2 * k + k + b) for p in range(pods) for a in range(k) for b in range(k)]
        return up + [(p * 2 * k + k + b, n + b * k + c) for p in range(pods) for b in range(k) for c in range(k)], n + k * k
    if kind == 2:  # a ring, a mesh or a torus
        x, y, wrap = rnd.randint(1, 6), rnd.randint(1, 4), rnd.random() < 0.6
        at = lambda i, j: i % x + x * (j % y)
        return [(at(i, j), at(i + di, j + dj)) for i in range(x) for j in range(y) for di, dj in ((1, 0), (0, 1))
                if (wrap or (i + di < x and j + dj < y))], x * y
    if kind == 3:  # a HyperX
        x, y = rnd.randint(1, 5), rnd.randint(1, 4)
        sw = [(i, j) for i in range(x) for j in range(y)]
        return [(a, b) for a in range(x * y) for b in range(a) if sum(p != q for p, q in zip(sw[a], sw[b])) == 1], x * y
    if kind == 4:  # groups, each with a cable to each other
        g, a = rnd.randint(1, 5), rnd.randint(1, 4)
        local = [(k * a + i, k * a + j) for k in range(g) for i in range(a) for j in range(i)]
        return local + [(k * a + rnd.randrange(a), m * a + rnd.randrange(a)) for k in range(g) for m in range(k)], g * a
    n = rnd.randint(1, 16)
    return [(rnd.randrange(n), rnd.randrange(n)) for _ in range(rnd.randint(0, 3 * n))], n


def damage_cables(cables, n):
    """The same with something missing, twice, in circles, between others, and more switches."""
    for _ in range(rnd.choice([0, 1, 1, 2, 4])):
        how, k = rnd.random(), rnd.randrange(max(1, len(cables)))
        if how < 0.35 and cables:
            del cables[k]
        elif how < 0.5 and cables:
            cables += [cables[k]] * rnd.choice([1, 1, 3])
        elif how < 0.65:
            cables.append((rnd.randrange(n), rnd.randrange(n)))
        elif how < 0.75:
            cables.append((k % n, k % n))
        elif how < 0.9:
            cables.append((rnd.randrange(n), n))
            n += 1
        else:
            gone = rnd.randrange(n)
            cables = [c for c in cables if gone not in c]
    return cables, n


def connected(cables, n):
    """What is connected with switch 0, with numbers of its own."""
    number, todo = {0: 0}, [0]
    while todo:
        at = todo.pop()
        for a, b in cables:
            for u, v in ((a, b), (b, a)):
                if u == at and v not in number:
                    number[v] = len(number)
                    todo.append(v)
    return [(number[a], number[b]) for a, b in cables if a in number], len(number)


def shape_text():
    cables, n = damage_cables(*cables_of_a_shape())
    if rnd.random() < 0.9:
        cables, n = connected(cables, n)
    free, lines, cas = [0] * n, [[] for _ in range(n)], []
    speed = ["4xEDR"] * 12 + ["4xHDR", "1xEDR", "2xHDR", "4xSDR"]
    even, lmc = rnd.random() < 0.5, rnd.choice([0, 0, 0, 0, 1, 2])
    rate = (lambda: "4xEDR") if even else (lambda: rnd.choice(speed))
    lid = rnd.sample(range(1, 2000), 900) if rnd.random() < 0.5 else list(range(1, 900))
    guid, step, at = (lambda u: 0x2000000000000 + 16 * u), 1 << lmc, iter([x << 3 for x in lid] if lmc else lid)
    own = [next(at) for _ in range(n)]
    for a, b in cables:
        if free[a] > 38 or free[b] > 38:
            continue
        free[a] += 1
        p = free[a]
        free[b] += 1
        q, one = free[b], rate()
        two = one if rnd.random() < 0.95 else rate()  # the ends of a cable may be read at different times
        lines[a].append('[%d]\t"S-%016x"[%d]\t\t# "sw%d" lid %d %s' % (p, guid(b), q, b, own[b], one))
        lines[b].append('[%d]\t"S-%016x"[%d]\t\t# "sw%d" lid %d %s' % (q, guid(a), p, a, own[a], two))
    hosts, most, everywhere = 0, rnd.choice([0, 1, 2, 4, 9]), rnd.random() < 0.5
    for u in range(n):
        for _ in range(rnd.randint(0, most) if everywhere or u < n * 0.7 else 0):
            free[u] += 1
            hosts += 1
            g, l, one = 0x1000000000000 + 16 * hosts, next(at), rate()
            lines[u].append('[%d]\t"H-%016x"[1](%x)\t\t# "n%04d" lid %d %s' % (free[u], g, g + 1, hosts, l, one))
            cas.append('caguid=0x%x\nCa\t1 "H-%016x"\t\t# "n%04d"\n[1](%x)\t"S-%016x"[%d]\t\t# lid %d lmc %d "sw%d" lid %d %s\n' % (
                g, g, hosts, g + 1, guid(u), free[u], l, lmc, u, own[u], one))
    switches = ['switchguid=0x%x(%x)\nSwitch\t%d "S-%016x"\t\t# "sw%d" base port 0 lid %d lmc 0\n%s\n' % (
        guid(u), guid(u), max(free[u], 1), guid(u), u, own[u], "\n".join(lines[u])) for u in range(n)]
    rnd.shuffle(switches)
    return ("\n".join(switches) + "\n" + "\n".join(cas)).encode(), hosts


def shape():
    text, hosts = shape_text()
    f = put(text)
    shutil.rmtree(work + "/fail", ignore_errors=True)
    names = ["n%04d" % (k + 1) for k in range(hosts)]
    rnd.shuffle(names)
    with open(work + "/shape.jobs", "w") as out:
        for k in range(rnd.randint(0, 4)):
            out.write("%d %s\n" % (k + 1, ",".join(names[3 * k : 3 * k + rnd.randint(1, 6)]) or "n0001"))
    engine = rnd.choice(["minhop", "updn", "updn", "ftree", "ftree", "dor", "dfsssp", "dfdn", "nue", "nue", "sar", "parx"])
    vls = rnd.choice([[], [], ["--vls", str(rnd.randint(1, 8))]])
    more = rnd.choice([[], [], [], ["--lmc", str(rnd.randint(0, 2))], ["--lmc", "1", "--escape"], ["--spread"], ["--exclude", "sw%d" % rnd.randint(0, 4)],
                       ["--seed", str(rnd.randint(1, 9))], ["--threads", "3"]])
    jobs = ["--jobs", work + "/shape.jobs"]
    installed = []
    if plain and rnd.random() < 0.3:  # tables that something is then done with
        shutil.rmtree(work + "/tables", ignore_errors=True)
        first = rnd.choice(["minhop", "updn", "dfsssp", "nue"])
        with open(work + "/stderr.plain", "wb") as err:
            subprocess.call([plain, "route", "--engine", first, "--bisections", "1", "--topology", f, "--formats", "opensm,ibr", "--out", work + "/tables"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=err, env=env, cwd=work)
        if os.path.exists(work + "/tables/tables.ibr"):
            installed = ["--topology", f, "--tables", work + "/tables/tables.ibr"]
        lfts = ["--lfts", work + "/tables/opensm-lfts.dump"]
        if os.path.exists(work + "/tables/opensm-sl2vl.dump"):
            lfts += ["--sl2vl", work + "/tables/opensm-sl2vl.dump"]
    if installed:
        return rnd.choice([
            ["weak"] + installed + vls,
            ["plan", "-e", engine, "-o", work + "/o.plan", "--topology", f] + lfts + vls + jobs,
            ["plan", "-e", "sar", "-o", work + "/o.plan", "--topology", f] + lfts + jobs,
            ["compare", "--engines", engine + ",sar", "--bisections", "1"] + installed + jobs,
            ["route", "--engine", "repair", "--bisections", "1", "--exclude", "sw%d/%d" % (rnd.randint(0, 4), rnd.randint(1, 3))] + installed,
            ["deadlock"] + installed,
            ["paths", "n0001", "n0002", "--no-load"] + installed,
        ])
    return rnd.choice([
        ["route", "--engine", engine, "--bisections", "2", "--topology", f] + vls + more + jobs,
        ["route", "--engine", engine, "--bisections", "2", "--topology", f] + vls + more,
        ["compare", "--engines", "minhop,updn,ftree,dfsssp,nue,sar," + engine, "--topology", f, "--bisections", "1"] + jobs,
        ["failures", "--topology", f, "--engines", engine, "--repair", "--rate", "0..20%/10%", "--seeds", "1", "--bisections", "1", "-o", work + "/fail"],
        ["route", "--engine", "sar", "--sar-method", rnd.choice(["time", "leafwise", "paper", "patch"]), "--bisections", "1", "--topology", f] + vls + jobs,
        shown("--load", f),
    ])


def netloc():
    nodes, paths = corpus_file("x-nodes.ndat"), corpus_file("x-log-paths.ndat")
    nodes, paths = (edit_json(nodes), paths) if rnd.random() < 0.5 else (nodes, edit_json(paths))
    pack = rnd.random() < 0.2
    if pack:
        nodes, paths = gzip.compress(nodes), gzip.compress(paths + b" " * rnd.choice([0, 1 << 20, 1 << 27]), 1)
        nodes = edit_bytes(nodes) if rnd.random() < 0.3 else nodes
    gz = ".gz" if pack else ""
    n, p = put(nodes, "x-nodes.ndat" + gz), put(paths, "x-log-paths.ndat" + gz)
    return rnd.choice([shown("--load", n), ["check", "--topology", n, "--tables", p, "--bisections", "1"],
                       ["check", "--topology", n, "--tables", p, "--lmc", "1", "--bisections", "1", "--json"]])


def keys():
    name = rnd.choice(["agents.key", "agents.key", "key"])
    f = put(edit_text(corpus_file(name)), "k")
    os.chmod(f, 0o600)
    if name == "key":
        return ["audit", "verify", "--key", f, C("rec")]
    return ["agent", "--node-key", rnd.choice(["0x0002c90300000001", "1", "0xffffffffffffffff"]), "--agents-key", f]


def neighbors():
    put(edit_text(corpus_file("guid2lid")) if rnd.random() < 0.5 else corpus_file("guid2lid"), "guid2lid")
    return shown("--load", put(edit_text(corpus_file("neighbors")), "neighbors"))


def tables():
    kind = rnd.choice(["opensm-lfts.dump", "opensm.fdbs", "tables.ibr", "tables.ibr", "opensm-sl2vl.dump", "path-sl.dump", "ibdm-sl2vl"])
    f = put((edit_ibr if kind == "tables.ibr" else edit_text)(corpus_file(kind)))
    net = ["--topology", C("net"), "--bisections", "1"]
    if kind == "tables.ibr":
        return rnd.choice([["check", "--tables", f] + net, ["dump-lfts", "--topology", C("net"), "--tables", f],
                           ["plan", "--topology", C("net"), "--lfts", C("opensm-lfts.dump"), "--tables", f, "-o", work + "/o.plan"]])
    option = {"opensm-lfts.dump": "--lfts", "opensm.fdbs": "--fdbs", "path-sl.dump": "--path-sl"}.get(kind, "--sl2vl")
    more = [] if option in ("--lfts", "--fdbs") else ["--lfts", C("opensm-lfts.dump")]
    return ["check", option, f] + more + net


def plan():
    f = put(edit_plan(corpus_file("p.plan")))
    return rnd.choice([["show", f], ["show", "--json", "--diff", "--per-job", f], ["paths", "n0001", "n0009", "--plan", f, "--no-load"],
                       ["dump-lfts", "--plan", f]])


def jobs():
    f = put(edit_text(corpus_file(rnd.choice(["jobs.list", "jobs.sacct", "jobs.csv"]))))
    return rnd.choice([shown("--load", C("net"), "--jobs", f),
                       ["route", "--engine", "sar", "--bisections", "1", "--topology", C("net"), "--jobs", f, "--per-job", "--json"]])


def slurm():
    name = rnd.choice(["topology.conf", "topology.yaml", "topology.yaml"])
    f = put(edit_text(corpus_file(name)), name)
    return rnd.choice([shown("--load", f), ["--load", C("net"), "--racks", f, "--json", "-n", "1", "--view", "heatmap"]])


def limits():
    option, lists = rnd.choice([("--pin", [b"n[0001-0003]", b"n[0001,0003-0005],n0006", b"job:101", b"job:102,n0023"]),
                                ("--exclude", [b"leaf[1-3]", b"leaf1/5,spine1", b"0x0002000000000000/3", b"spine[2-3],leaf6/6"])])
    text = rnd.choice(lists)
    for _ in range(rnd.choice([1, 1, 2, 4])):
        text = edit_line(text, lists)
    text = text.replace(b"\0", b"")[:100000]
    return ["route", "--engine", "minhop", "--bisections", "1", "--topology", C("net"), "--lfts", C("opensm-lfts.dump"), "--jobs", C("jobs.list"), option, text]


def small():
    net, hyper = ["--topology", C("net"), "--bisections", "1"], ["--topology", C("hyperx"), "--bisections", "1"]
    name = rnd.choice(["choice", "io", "opensm.conf", "sinfo", "scontrol", "demand", "ranks", "roots", "names", "thresholds", "config", "ibdiag.conf", "guid2mkey", "heads"])
    f = put(edit_text(corpus_file(name)), name)
    if name == "choice":
        return ["check", "--tables", C("hyperx.ibr"), "--lid-choice", f] + hyper
    if name == "io":
        return shown("--load", C("net"), "--io-nodes", f)
    if name in ("opensm.conf", "sinfo"):  # they name C("io"), or are what bin/sinfo says
        return shown("--load", C("net"), "--io-nodes", "opensm:" + f if name == "opensm.conf" else "feature:io")
    if name == "scontrol":
        return ["--load", C("net"), "--racks", "slurm", "-b", "-n", "1", "--view", "heatmap"]
    if name == "demand":
        return ["route", "--engine", "parx", "--lmc", "2", "--demand", f, "--ranks", C("ranks")] + hyper
    if name == "ranks":
        return ["route", "--engine", "parx", "--lmc", "2", "--demand", C("demand"), "--ranks", f] + hyper
    if name == "roots":
        return ["route", "--engine", "updn", "--roots", f] + net
    if name == "names":
        return shown("--load", C("net"), "--node-name-map", f)
    if name == "thresholds":
        return ["--demo=fattree2:leaves=2,spines=1,hosts=1", "-d", "0.1", "-b", "-n", "1", "--check", "--threshold-file", f]
    if name == "config":
        return rnd.choice([["config", rnd.choice(["show", "check"]), "--config", f], shown("--load", C("net"), "--config", f)])
    if name == "heads":
        return ["audit", "verify", "--heads", f, C("rec")]
    if name == "guid2mkey":
        return ["sm", "--m_key_file", f, "-C", "none"]
    return ["config", "show", "-z", f]


def words():
    kind = rnd.randrange(5)
    cut = lambda b: b.replace(b"\0", b"")[:100000]
    if kind == 0:
        spec = rnd.choice([b"fattree2:leaves=4,spines=2,hosts=2", b"hyperx:dims=2x2,hosts=1", b"dragonfly:p=2", b"slimfly:q=5",
                           b"torus:dims=3x3,hosts=1,fail=1", b"random:switches=5,links=6,seed=1", b"kautz:b=2,n=3", b"oft:k=3",
                           b"xgft:h=2,m=2x2,w=1x2", b"kary:k=2,n=3"])
        return ["topo", cut(edit_line(spec, [spec]))]
    if kind == 1:
        f = rnd.choice([b"util>90 and tier~spine", b"errors>0 or problem=down", b"~^leaf0[12]/3", b"a=leaf* not (tier~\"^(leaf|spine)\")",
                        b"tx>1.5G | wait=unknown"])
        return ["--load", C("net"), "-b", "-n", "1", "--view", "ports", "--filter", cut(edit_line(f, [f]))]
    if kind == 2:
        do = rnd.choice([b"sort util; filter a=leaf*; view links", b"goto leaf1; path n0001 n0009", b"metric unused; view heatmap", b"exclude leaf1/2; set units bits"])
        return ["--load", C("net"), "--lfts", C("opensm-lfts.dump"), "--screen", rnd.choice(SCREENS), "--do", cut(edit_line(do, [do]))]
    if kind == 3:
        return ["--load", C("net"), "--json", "-n", "1", "--view", "links", "--fields", cut(edit_line(b"a,b,util_pct,tier", [b"x"])), "--sort",
                cut(edit_line(b"-util", [b"a"]))]
    return ["paths", cut(edit_line(b"n0001", [b"n"])), cut(edit_line(b"n0009:1", [b"n"])), "--topology", C("net"), "--lfts", C("opensm-lfts.dump"),
            "--no-load"]


def record():
    def edit(folder):
        name = rnd.choice(sorted(n for n in os.listdir(folder) if not n.endswith(".cast")))
        path = "%s/%s" % (folder, name)
        data = open(path, "rb").read()
        open(path, "wb").write(edit_record(data) if name.endswith("jsonl") else edit_text(data))

    d = put_tree("rec", edit)
    first = sorted(n for n in os.listdir(d) if n.endswith(".jsonl"))[0]
    return rnd.choice([["audit", "verify", d], ["audit", "verify", "--json", d + "/" + first], ["audit", "list", d], ["audit", "list", "--json", d],
                       ["audit", "verify", "--key", C("key"), d], ["audit", "prune", "--keep-sessions", "1", "--dry-run", d],
                       ["audit", "export", "--report", open(C("txn")).read().strip()] + rnd.choice([[], ["--html"]]) + [d],
                       ["--json", "--view", rnd.choice(["sessions", "actions"]), "--session", first[:-6], "--record-dir", d],
                       ["--load", C("net"), "--screen", "sessions", "--record-dir", d]])


def cast():
    f = put(rnd.choice([edit_text, edit_record])(corpus_file("s.cast")), "s.cast")
    return rnd.choice([["audit", "replay", "--dump", rnd.choice(["5s", "0", "1:30", "WRITE", "2099-01-01T00:00:00Z", "2"]), f], ["audit", "export", "--v3", f],
                       ["audit", "export", "--tlog", f], ["audit", "export", "--script", "-o", work + "/typescript", f]])


def journal():
    d = put_tree("state", lambda path: [edit_journal("%s/%s" % (path, n)) for n in os.listdir(path) if os.path.isdir("%s/%s" % (path, n))])
    return rnd.choice([["status"], ["status", "last", "--events"], ["status", "last", "--json", "--events"], ["status", "--json"], ["status", "--prune", "1"],
                       ["rollback", "last", "--yes-fabric", "demo", "-C", "none"]]) + ["--state-dir", d]


def snapshot():
    def edit(path):
        name = rnd.choice(sorted(os.listdir(path)))
        data = open("%s/%s" % (path, name), "rb").read()
        how = edit_ibr if name == "tables.ibr" else edit_history if name == "history.ibr" else edit_json if name.endswith(".json") else edit_bytes if name.endswith(".ibr") else edit_record if name.endswith(
            "jsonl") and rnd.random() < 0.5 else edit_text
        open("%s/%s" % (path, name), "wb").write(how(data))

    return shown("--load", put_tree("snap", edit))


KINDS = {"fabric": (fabric, 5), "shape": (shape, 6), "neighbors": (neighbors, 2), "netloc": (netloc, 2), "keys": (keys, 1), "tables": (tables, 4), "plan": (plan, 4), "jobs": (jobs, 3), "slurm": (slurm, 3),
         "limits": (limits, 2), "small": (small, 4), "words": (words, 2), "record": (record, 4), "cast": (cast, 2), "journal": (journal, 4),
         "snapshot": (snapshot, 4)}

# --- a run --------------------------------------------------------------------------------------------
env = dict(os.environ, PATH=corpus + "/bin:" + os.environ["PATH"], TZ="UTC", TERM="xterm", HOME=work, XDG_CONFIG_HOME=work, XDG_STATE_HOME=work, IBROUTE_STATE_DIR=work + "/none",
           IBROUTE_RECORD_DIR=work + "/none", IBROUTE_SOCKET=work + "/none/s",
           ASAN_OPTIONS="detect_leaks=1:exitcode=99:allocator_may_return_null=0:hard_rss_limit_mb=%d:quarantine_size_mb=16" % (MEMORY >> 20),
           UBSAN_OPTIONS="halt_on_error=1:exitcode=98:print_stacktrace=1", LSAN_OPTIONS="exitcode=97")


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S + 1, CPU_S + 2))
    no_large_files()


def no_large_files():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def run_alone(args, which=program, stderr="stderr"):
    with open("%s/%s" % (work, stderr), "wb") as err:
        p = subprocess.Popen([which] + args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err, env=env, cwd=work, start_new_session=True,
                             preexec_fn=limit)
    timer = threading.Timer(WALL_S, kill_group, (p.pid,))
    timer.start()
    _, status, usage = os.wait4(p.pid, 0)
    hung = not timer.is_alive()
    timer.cancel()
    p.returncode = 0
    kill_group(p.pid)  # what it may have left
    return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, hung


server, said = None, b""


def answer(wait_s=WALL_S):
    """A line of the server's, or None: there is none in time."""
    global said
    end = time.time() + wait_s
    while b"\n" not in said:
        if not select.select([server.stdout], [], [], max(0, end - time.time()))[0]:
            return None
        more = os.read(server.stdout.fileno(), 4096)
        if not more:
            sys.exit("mutate: the server ended with %s" % server.wait())
        said += more
    line, said = said.split(b"\n", 1)
    return line


SCHED_YIELD = b"%d " % {"x86_64": 24, "aarch64": 124}[os.uname().machine]


# a futex among what AddressSanitizer's allocator knows of its regions, behind the last of them: nothing of the program's lies there
REGION_LOCK = re.compile(rb"202 0x64[0-9a-f]{10} 0x80 ")


def waits_for_a_lock(group):
    """Does a process of the group do nothing but yield, or wait for a lock of the sanitizer's allocator?  The program never does; a
    child does, for ever, that was forked while another thread held such a lock."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getpgid(int(pid)) != group:
                continue
            yields = 0
            for _ in range(40):
                time.sleep(0.005)
                with open("/proc/%s/syscall" % pid, "rb") as f:
                    now = f.read()
                    yields += now.startswith(SCHED_YIELD) or bool(REGION_LOCK.match(now))
            if yields >= 20:
                return True
        except OSError:
            pass
    return False


def run_served(args, leaks, wait_s=WALL_S):
    """status, seconds of CPU, bytes, and what else: "", "hung" or "locked"."""
    global server
    if not server:
        server = subprocess.Popen([program, "--serve", str(CPU_S)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=env, cwd=work,
                                  preexec_fn=no_large_files)
    words = b"".join(os.fsencode(a) + b"\0" for a in args)
    server.stdin.write(b"%d %d\n" % (len(words), leaks) + words)
    pid, line, what = int(answer()), answer(min(wait_s, 3)), ""
    if line is None:
        what = "locked" if waits_for_a_lock(pid) else ""
        line = None if what else answer(wait_s)
        if line is None and not what:
            what = "locked" if waits_for_a_lock(pid) else "hung"
    kill_group(pid)
    status, ms, kb = map(int, (line or answer()).split())
    return status, ms / 1000, kb * 1024, what


def end_server():
    global server
    if server:
        server.stdin.close()
        server.wait()
    server = None


def run_again_while_locked(args, leaks):
    for _ in range(8):
        # the sanitizer's allocator may be locked by another thread when a reader is forked, which then waits for ever
        status, cpu, memory, what = run_served(args, leaks, 15)
        if what != "locked":
            break
        count["# locked"] += 1
    return status, cpu, memory, bool(what)


def run_plain(args):
    """Seconds of CPU of the program as users have it, where it came to an end."""
    status, cpu, _, hung = run_alone(args, plain, "stderr.plain")
    count["# slow"] += 1
    return 99 if hung or os.WIFSIGNALED(status) else cpu


def plain_bound():
    size = sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(work) for n in names if os.path.isfile(os.path.join(d, n)))
    return min(CPU_S, PLAIN_S + (size >> 25))


def run(args, leaks):
    """What went wrong, or None; the end of stderr; seconds of CPU; bytes; was the input taken."""
    if os.path.basename(program) == "served":
        status, cpu, memory, hung = run_again_while_locked(args, leaks)
    else:
        status, cpu, memory, hung = run_alone(args)
    slow = not hung and (cpu > CPU_S or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU))
    usual = run_plain(args) if slow and plain else 99
    with open(work + "/stderr", "rb") as err:
        err.seek(0, 2)
        err.seek(max(0, err.tell() - 20000))
        text = err.read()
    what = None
    if hung:
        what = "hangs"
    elif slow and usual > plain_bound():
        what = "takes %.1f s of CPU, %.1f s without sanitizers" % (cpu, usual)
    elif memory > MEMORY or b"hard rss limit" in text:
        what = "takes %d MiB" % (memory >> 20)
    elif os.WIFSIGNALED(status) and not slow:
        what = "signal %d" % os.WTERMSIG(status)
    elif b"this routing must not be used" in text and not {"minhop", "dor"} & set(args):
        what = "a routing that is refused by the verdict"
    elif os.WEXITSTATUS(status) in (97, 98, 99) or b"Sanitizer" in text or b"runtime error" in text:
        m = re.search(rb"(SUMMARY: [^\n]*|[^\n]*runtime error[^\n]*)", text)
        what = (m.group(1) if m else b"exit %d" % os.WEXITSTATUS(status)).decode("latin-1")
    return what, text, cpu, memory, status == 0


def where(text):
    return " < ".join(f.decode() for f in re.findall(rb"#\d+ 0x[0-9a-f]+ in (\w+)", text) if not f.startswith((b"__", b"x")))[:120]


def keep(n, kind, args, text):
    d = "%s/%s-%d-%d" % (out_dir, kind, seed, n)
    os.makedirs(d)
    with open(d + "/command", "w") as f:
        f.write(repr([program] + args) + "\n")
    with open(d + "/stderr", "wb") as f:
        f.write(text)
    for name in os.listdir(work):
        path = "%s/%s" % (work, name)
        if os.path.isfile(path) and os.path.getsize(path) < 1 << 24:
            shutil.copy(path, d)
        elif os.path.isdir(path) and name in ("rec", "state", "snap"):
            shutil.copytree(path, "%s/%s" % (d, name), dirs_exist_ok=True)


weights = {k: w for k, (_, w) in KINDS.items() if not only or k in only}
seen, count, taken, most = set(), collections.Counter(), collections.Counter(), collections.defaultdict(lambda: [0.0, 0])
begun, told = time.time(), time.time()
again = int(os.environ.get("RUN", -1))
print("mutate: %d runs, seed %d" % (runs, seed), flush=True)
for n in range(runs):
    # of its own, so that one run can be made again
    rnd = random.Random(seed * 1000003 + n)
    kind = rnd.choices(list(weights), list(weights.values()))[0]
    if again not in (-1, n):
        continue
    args = KINDS[kind][0]()
    what, text, cpu, memory, good = run(args, again == n or n % LEAKS == 0)
    count[kind] += 1
    taken[kind] += good
    most[kind] = [max(most[kind][0], cpu), max(most[kind][1], memory)]
    if what:
        key = (kind, re.sub(r"0x[0-9a-f]+|\d+", "N", what) + where(text))
        if key not in seen:
            seen.add(key)
            keep(n, kind, args, text)
            print("not ok - run %d, %s: %s %s" % (n, kind, what, where(text)), flush=True)
    if n % 2000 == 1999:
        end_server()
    if time.time() - told > 300:
        told = time.time()
        print("  # %d runs in %d s, %d findings" % (n + 1, told - begun, len(seen)), flush=True)
print("  # %d runs were slow with sanitizers only, %d were made again for their locks" % (count.pop("# slow", 0), count.pop("# locked", 0)))
for kind in sorted(count):
    print("  # %-10s %6d runs, %5d taken, at most %.1f s of CPU, %4d MiB" % (kind, count[kind], taken[kind], most[kind][0], most[kind][1] >> 20))
end_server()
shutil.rmtree(work)
print("%s - %d mutated inputs, seed %d: %d findings" % ("not ok" if seen else "ok", sum(count.values()), seed, len(seen)))
sys.exit(1 if seen else 0)
