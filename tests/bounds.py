#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bounds.py PROGRAM [NAME...]: one small file of each format that says it stands for much.

Files of at most 20 kB, made as what they are up to where they lie: sums fit, packed bodies unpack to a
thousand times as much, heads count what is not there.  Whatever the command says of one, it takes at
most CPU_S of CPU and MEMORY, with the processes that it starts.  Run in an empty folder."""
import gzip
import hashlib
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import zlib

CPU_S, MEMORY, FILE_MAX = 2.0, 100 << 20, 20000
I, only = sys.argv[1], sys.argv[2:]
sha = lambda b: hashlib.sha256(b).hexdigest()
dump = lambda j: json.dumps(j, separators=(",", ":")).encode()
dev_null = subprocess.DEVNULL


def sh(*args):
    subprocess.run([I] + list(args), check=True, stdout=dev_null, stderr=dev_null)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def put(path, data):
    data = data.encode("latin-1") if isinstance(data, str) else data
    assert len(data) <= FILE_MAX, (path, len(data))
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def filled(line, head="", tail="", most=FILE_MAX - 500):
    """As many lines as fit; a function gets their number."""
    out, size, n = [head], len(head) + len(tail), 0
    while True:
        text = line(n) if callable(line) else line
        size += len(text)
        if size > most:
            return "".join(out) + tail
        out.append(text)
        n += 1


# --- a small fabric, and what belongs to it -----------------------------------------------------------
sh("topo", "fattree2:leaves=2,spines=1,hosts=2", "-o", "net")
sh("topo", "hyperx:dims=2x2,hosts=1,lmc=2", "-o", "hx")
sh("route", "--engine", "dfsssp", "--vls", "4", "--topology", "net", "--out", ".", "--formats", "opensm,ibdm,path-sl,ibr")
sh("route", "--engine", "parx", "--lmc", "2", "--topology", "hx", "--out", "hxo")
put("jobs", "1 n[0001-0002]\n")
put("demand", "0: 1=1000\n")
sh("plan", "-e", "updn", "--topology", "net", "--lfts", "opensm-lfts.dump", "-o", "p.plan")
sh("--load", "net", "--lfts", "opensm-lfts.dump", "--jobs", "jobs", "-b", "-n", "1", "--save", "snap")
NET = ["--topology", "net", "--bisections", "1"]
LFTS = NET + ["--lfts", "opensm-lfts.dump"]
SHOW = ["-b", "-n", "1"]
HX = ["--topology", "hx", "--bisections", "1"]
tests = []


def case(name, *args):
    tests.append((name, list(args)))


def fabric_cases(name, path):
    case(name, "--load", path, *SHOW)
    case(name + ", its links", "--load", path, "--json", "-n", "1", "--view", "links")
    case(name + ", routed", "route", "--engine", "minhop", "--topology", path, "--bisections", "1")


# --- fabrics ------------------------------------------------------------------------------------------
ports = lambda n, lid: 'Switch %d "S-%016x" # "s" port 0 lid %d lmc 0\n' % (n, lid + 1, lid)
fabric_cases("ibnetdiscover: switches of 254 ports", put("f.ports", filled(lambda i: ports(254, i))))
fabric_cases("ibnetdiscover: port numbers that are none", put("f.huge", filled(lambda i: 'Switch %d "S-%016x" # "s" port 0 lid %d lmc 0\n[%d] "S-%016x"[%d]\n' % (
    2**32 - 1 - i, i, 2**31 + i, 4294967295, i + 1, 65535))))
fabric_cases("ibnetdiscover: the highest LIDs", put("f.lids", filled(lambda i: 'Switch 2 "S-%x"#"" port 0 lid %d\n[1] "H-%x"[1]\nCa 1 "H-%x"#""\n[1](%x) "S-%x"[1]#lid %d lmc 7\n' % (
    i + 1, 49151 - i, 2**40 + i, 2**40 + i, 2**41 + i, i + 1, 128 * i + 128))))
fabric_cases("ibnetdiscover: hosts of 254 ports with 128 LIDs", put("f.cas", filled(lambda i: 'Ca 254 "H-%x" # "h"\n[254](%x) "S-1"[%d]#lid %d lmc 7\n' % (
    i + 16, i + 99999, i + 1, 128 * i + 128), 'Switch 254 "S-1" # "s" port 0 lid 49151\n')))
fabric_cases("ibnetdiscover: a name of 19 kB", put("f.name", read("net").replace(b'"leaf1"', b'"' + b"x" * 18000 + b'"', 1)))
cache = lambda nodes, n: b"\x2b\x83\xe7\x8f" + struct.pack("<III", 1, nodes, n) + bytes(12)
fabric_cases("ibnetdiscover's cache: counts of 2^32", put("cache", cache(2**32 - 1, 2**32 - 1) + bytes(15000)))
node = bytearray(207)
node[76:78], node[206] = b"\2\xff", 255
fabric_cases("ibnetdiscover's cache: nodes with 255 ports", put("cache2", cache(80, 2**31) + b"".join(
    bytes(node[:68]) + struct.pack("<Q", i + 1) + bytes(node[76:]) for i in range(80))))
fabric_cases("OpenSM's neighbors", put("g/neighbors", filled(lambda i: "0x%x:254 0x%x:254\n" % (2 * i + 1, 2 * i + 2))))
put("g2/guid2lid", filled(lambda i: "0x%x 0x0001 0xbfff\n" % (i + 1)))
fabric_cases("OpenSM's guid2lid: 49,151 LIDs each", put("g2/neighbors", filled(lambda i: "0x%x:1 0x%x:1\n" % (2 * i + 1, 2 * i + 2))))
lst = read("opensm-subnet.lst").decode().splitlines(True)
fabric_cases("opensm-subnet.lst", put("l.lst", filled(lambda i: lst[0].replace("Ports:01", "Ports:fe").replace("Ports:03", "Ports:fe").replace(
    "0001000000000000", "%016x" % (i + 5)).replace("LID:0005", "LID:bfff").replace("LID:0001", "LID:%04x" % (i + 1)).replace(
    "PN:01 } PHY", "PN:%02x } PHY" % (i % 254 + 1)))))
edge = lambda i: '"%d":{"euid":%d,"src_node_id":"0:0:0:%x","src_port_id":"254","dest_node_id":"0:0:0:%x","dest_port_id":"254"}' % (i, i, i, i + 1)
netnode = lambda i: '"0:0:0:%x":{"phy_id":"0:0:0:%x","node_type":2,"log_id":"65535","desc":""}' % (i, i)
nodes = '{"node_info":{' + ",".join(netnode(i) for i in range(110)) + '},"edge_info":{' + ",".join(edge(i) for i in range(80)) + "}}"
fabric_cases("netloc's nodes", put("n-nodes.ndat", nodes))
for what, body in [("zeros", bytes(18 << 20)), ("empty objects", b'{"node_info":[' + b"{}," * (6 << 20) + b"{}]}"), ("a text", b'{"a":"' + b"x" * (18 << 20) + b'"}'),
                   ("numbers", b"[" + b"1," * (6 << 20) + b"1]"), ("brackets", b"[" * (18 << 20))]:
    fabric_cases("netloc, packed: " + what, put("z/%s-nodes.ndat.gz" % what.replace(" ", ""), gzip.compress(body)[:FILE_MAX]))
fabric_cases("a topology of brackets", put("t/topology.yaml", filled(lambda i: "      - switch: s%d\n        nodes: n[0-99999]\n" % i, "- topology: t\n  tree:\n    switches:\n")))
fabric_cases("a topology of aliases", put("t2/topology.yaml", filled("      - *x\n", "- topology: t\n  tree:\n    switches:\n      - &x\n        switch: s\n        nodes: n[0-9999]\n")))
fabric_cases("a topology of aliases of aliases", put("t3/topology.yaml", "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    "a%d: &a%d [%s]\n" % (i, i, ",".join(["*a%d" % (i - 1)] * 10)) for i in range(1, 12)) + "- topology: *a11\n"))
fabric_cases("a topology of switches in brackets", put("t4/topology.yaml", filled(lambda i: "      - switch: s%d\n        children: s[0-99999]\n" % i, "- topology: t\n  tree:\n    switches:\n")))
fabric_cases("a deep topology", put("t5/topology.yaml", "- topology: t\n  tree:\n    switches:\n      - switch: " + "[" * 19000 + "\n"))
fabric_cases("topology.conf of brackets", put("t6/topology.conf", filled(lambda i: "SwitchName=s%d Nodes=n[0-999999]\n" % i)))
fabric_cases("topology.conf of switches in brackets", put("t7/topology.conf", filled(lambda i: "SwitchName=s[0-99999] Switches=s[0-99999]\n")))
for t in ("t/topology.yaml", "t2/topology.yaml", "t4/topology.yaml", "t6/topology.conf", "t7/topology.conf"):
    case("racks of " + t, "--load", "net", "--racks", t, *SHOW, "--view", "heatmap")

# --- tables -------------------------------------------------------------------------------------------
for what, line in [("LIDs to 49151", lambda i: "Unicast lids [0-49151] of switch Lid 5 guid 0x%x ('x'):\n0xbfff 254\n" % (i + 1)),
                   ("one switch again", lambda i: "Unicast lids [0-49151] of switch Lid 5 guid 0x0002000000000000 ('x'):\n0xbfff 254\n"),
                   ("LIDs that are none", lambda i: "Unicast lids [0x0-0xffffffffffff] of switch Lid 5 guid 0x0002000000000000 ('x'):\n0xffffffffff 99999\n")]:
    case("LFTs: " + what, "check", *NET, "--lfts", put("lft." + what.replace(" ", ""), filled(line)))
case("fdbs", "check", *NET, "--fdbs", put("fdbs", filled(lambda i: "dump_ucast_routes: Switch 0x%x\nLID    : Port : Hops : Optimal\n0xBFFF : 254  : 01   : yes\n\n" % (i + 1))))
case("SL2VL tables", "check", *LFTS, "--sl2vl", put("sl2vl", filled(lambda i: "Switch 0x0002000000000000, base LID 5, \"x\"\n%d %d : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n" % (i % 255, 2**31 + i))))
case("ibdmchk's SL2VL tables", "check", *LFTS, "--sl2vl", put("ibdm", filled(lambda i: "0x%x %d %d 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef\n" % (i, i % 255, 255 - i % 255))))
case("SLs of paths", "check", *LFTS, "--path-sl", put("path-sl", filled(lambda i: "0x%x 49151 15\n" % (i + 1))))
case("a choice of LIDs", "check", "--topology", "hx", "--tables", "hxo/tables.ibr", "--bisections", "1", "--lid-choice",
     put("choice", filled("pair 4294967295 4294967295 small 1 large 0\n", "lid-choice 1\ntopology hyperx 2147483647x2147483647\nlmc 2\n")))
case("a choice of LIDs of 2^16 x 2^16", "check", "--topology", "hx", "--tables", "hxo/tables.ibr", "--bisections", "1", "--lid-choice",
     put("choice2", filled(lambda i: "pair 65535 %d small 1 large 0\n" % i, "lid-choice 1\ntopology hyperx 65536x65536\nlmc 7\n")))
HEAD = 208


def ibr(name, data, raw=None, **at):
    head = bytearray(data[:HEAD])
    body = zlib.decompressobj().decompress(data[HEAD:]) if raw is None else raw
    for where, v in at.items():
        struct.pack_into("<Q" if where in ("a24", "a32") else "<I", head, int(where[1:]), v)
    out = bytes(head) + zlib.compress(body, 9)
    out = out[:16] + struct.pack("<Q", len(out) + 32) + out[24:]
    return put(name, out + hashlib.sha256(out).digest())


tables = read("tables.ibr")
huge = 2**32 - 1
for name, path in [("counts of 2^32", ibr("i1", tables, a40=huge, a44=huge, a48=49151)), ("a body of 2^40", ibr("i2", tables, a24=2**40)),
                   ("a body of 19 MB", ibr("i3", tables, raw=bytes(18 << 20))), ("a body of 19 MB that is announced", ibr("i4", tables, raw=bytes(18 << 20), a24=18 << 20)),
                   ("switches of 19 MB", ibr("i5", tables, raw=bytes(18 << 20), a24=18 << 20, a40=384, a48=49151)),
                   ("a head of 2^32", ibr("i6", tables, a12=huge)), ("ends of 2^31", ibr("i7", tables, a44=2**31))]:
    case("tables.ibr: " + name, "check", *NET, "--tables", path)
    case("tables.ibr: " + name + ", planned", "plan", "--topology", "net", "--lfts", "opensm-lfts.dump", "--tables", path, "-o", "o.plan")

# --- jobs, lists ----------------------------------------------------------------------------------------
for name, line in [("", lambda i: "%d n[0-999999]\n" % (i + 1)), ("once", lambda i: "1 n[0-999999]\n" if not i else "%d n1\n" % (i + 1)),
                   ("products", lambda i: "%d n[0-99][0-99][0-99]\n" % (i + 1)), ("csv", lambda i: '%d,1763000000,,"n[0-999999]"\n' % i),
                   ("sacct", lambda i: "%d|x|u|Unknown|Unknown|n[0-999999]|RUNNING\n" % i if i else "JobIDRaw|JobName|User|Start|End|NodeList|State\n")]:
    path = put("jobs." + (name or "list"), filled(line))
    case("jobs, %s" % (name or "list"), "--load", "net", "--jobs", path, *SHOW, "--view", "jobs")
    case("jobs, %s, routed" % (name or "list"), "route", "--engine", "sar", "--lfts", "opensm-lfts.dump", *NET, "--jobs", path)
parx = ["route", "--engine", "parx", "--lmc", "2"] + HX
for name, text in [("to 10 million, a host", "0-9999999: n1\n"), ("of lists", filled(lambda i: "%d-%d: n[0-999999]\n" % (i * 1000000, i * 1000000 + 999999), most=250)),
                   ("of small lists", filled(lambda i: "%d-%d:n[1-2]\n" % (2 * i, 2 * i + 1))), ("of products", filled(
                       lambda i: "%d-%d:n[0-9][0-9][0-9][0-9]\n" % (i * 10000, i * 10000 + 9999), most=15000)),
                   ("backwards", filled(lambda i: "%d:n1\n" % (9000000 - i)))]:
    case("ranks " + name, *parx, "--demand", "demand", "--ranks", put("ranks." + name.replace(" ", ""), text))
case("demand of lists", *parx, "--demand", put("d1", filled("n[0-99999]: n[0-99999]=1\n")))
case("demand of one", *parx, "--demand", put("d2", "n0001: " + filled("n0002=18446744073709551615,")))
case("names", "--load", "net", "--node-name-map", put("names", filled(lambda i: '0x%x "n"\n' % (2**40 - i))), *SHOW)
case("a name of 19 kB", "--load", "net", "--node-name-map", put("names2", '0x0002000000000000 "%s"\n' % ("x" * 19000)), *SHOW, "--view", "switches")
case("roots", "route", "--engine", "updn", *NET, "--roots", put("roots", filled(lambda i: "0x%x\n" % (2**40 - i))))
case("I/O nodes", "route", "--engine", "sar", *LFTS, "--io-nodes", put("io", filled("n[0-999999]\n")))
case("I/O nodes, routed", "route", "--engine", "minhop", *LFTS, "--jobs", "jobs", "--io-nodes", put("io2", filled("n[0-9][0-9][0-9][0-9][0-9][0-9]\n")))
case("pinned hosts", "route", "--engine", "minhop", *LFTS, "--jobs", "jobs", "--pin", filled("n[0-999999],"))
case("excluded switches", "route", "--engine", "minhop", *LFTS, "--exclude", filled("s[0-999999],"))
case("a path of brackets", "paths", "n[0-999999]", "n[0-999999]", "--topology", "net", "--lfts", "opensm-lfts.dump", "--no-load")

# --- plans ------------------------------------------------------------------------------------------------
data = read("p.plan")
nl = data.index(b"\n")
head, at, parts = json.loads(data[:nl]), nl + 1, []
for p in head["parts"]:
    parts.append(data[at:at + p["bytes"]])
    at += p["bytes"]


def plan(name, change=None, part=None, fit=True):
    j, own = json.loads(data[:nl]), list(parts)
    if part:
        own[part[0]] = part[1]
    for p, b in zip(j["parts"], own):
        if fit:
            p["bytes"], p["sha256"] = len(b), sha(b)
    if change:
        change(j)
    return put(name, dump(j) + b"\n" + b"".join(own))


def each_number(v):
    def change(j):
        for k in list(j):
            if isinstance(j[k], int) and not isinstance(j[k], bool) and k not in ("version",):
                j[k] = v
    return change


def part_bytes(v):
    def change(j):
        for p in j["parts"]:
            p["bytes"] = v
    return change


plans = [("counts of 2^31", plan("p1", each_number(2**31))), ("counts of 2^53", plan("p2", each_number(2**53))), ("parts of 2^62 bytes", plan("p3", part_bytes(2**62), fit=False)),
         ("parts of 2^31 bytes", plan("p4", part_bytes(2**31), fit=False)), ("many parts", plan("p5", lambda j: j.update(parts=j["parts"][:1] * 150)))]
for i, b in enumerate(parts):
    plans.append(("part %d of zeros" % i, plan("p.z%d" % i, part=(i, bytes(12000)))))
    plans.append(("part %d of 255" % i, plan("p.o%d" % i, part=(i, b"\xff" * 12000))))
for name, path in plans:
    case("plan: " + name, "show", path)
    case("plan: " + name + ", its dump", "dump-lfts", "--plan", path)

# --- journals ---------------------------------------------------------------------------------------------
journal = {"version": 1, "id": "20261123T035116Z-20394", "fabric": "f", "plan": "p", "engine": "e", "user": "u", "host": "h", "pid": 1, "time_s": 1, "lft_blocks": 1,
           "sl2vl_tables": 0, "number": 1, "waves": 1, "fingerprint": "0" * 64, "from_hash": "0" * 64, "to_hash": "0" * 64, "changes_sha256": "0" * 64}


def state(name, head=journal, log=None, agents=None, changes=b""):
    d = name + "/20261123T035116Z-20394"
    put(d + "/head.json", dump(dict(head, changes_sha256=sha(changes))))
    put(d + "/changes.bin", changes)
    lines = log or [b"0 1795000000 prepared 0 x"]
    put(d + "/state.log", b"".join(sha(l)[:16].encode() + b" " + l + b"\n" for l in lines))
    b = agents if agents is not None else b"[]"
    put(d + "/agents.json", sha(b).encode() + b"\n" + b)
    return name


states = [("counts of 2^31", state("j1", dict(journal, lft_blocks=2**31, sl2vl_tables=2**31, waves=2**31, number=2**62), changes=bytes(1000))),
          ("lines of steps", state("j2", log=[b"%d 1795000000 writing %d" % (i, 2**31 + i) for i in range(390)])),
          ("agents", state("j3", agents=dump([{"name": "n[0-999999]", "guid": "0x1", "lid": 65535, "state": "drained", "job": "1"}] * 180))),
          ("agents in agents", state("j4", agents=b"[" * 9000 + b"]" * 9000)), ("a head of brackets", state("j5", head={"version": 1, "waves": [[[0] * 900] * 3]}))]
for name, path in states:
    case("journal: " + name, "status", "last", "--events", "--state-dir", path)
    case("journal: " + name + ", all", "status", "--json", "--state-dir", path)
    case("journal: " + name + ", rolled back", "rollback", "last", "--yes-fabric", "f", "-C", "none", "--state-dir", path)

# --- folders of key w ---------------------------------------------------------------------------------------


def snap(name, **files):
    name = name.replace(",", "")
    shutil.copytree("snap", name, dirs_exist_ok=True)
    for k, v in files.items():
        put("%s/%s" % (name, k.replace("_", ".")), v)
    return name


def every_number(j, v):
    if isinstance(j, dict):
        return {k: every_number(x, v) if k != "version" else x for k, x in j.items()}
    if isinstance(j, list):
        return [every_number(x, v) for x in j]
    return v if isinstance(j, int) and not isinstance(j, bool) else j


state_json, jobs_json = json.loads(read("snap/state.json")), json.loads(read("snap/jobs.json"))
history = read("snap/history.ibr")
snaps = [("numbers of 2^31", snap("w1", state_json=dump(every_number(state_json, 2**31)), jobs_json=dump(every_number(jobs_json, 2**31)))),
         ("nodes in brackets", snap("w2", jobs_json=dump(jobs_json).replace(b"n[0001-0002]", b"n[0-999999]"))),
         ("deep", snap("w3", state_json=b"[" * 9900 + b"]" * 9900)), ("events", snap("w4", events_jsonl=filled('{"time_ns":1,"level":"warn","area":"a","text":""}\n'))),
         ]


def uint(v):
    out = b""
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def uint_at(data, at):
    v = shift = 0
    while True:
        v |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return v, at


at = 8
for _ in range(2):
    _, at = uint_at(history, at)
raw = zlib.decompress(history[at:])
nport, at = uint_at(raw, 32)
for _ in range(nport):
    for _ in range(4):
        _, at = uint_at(raw, at)
    at += 7
ports_of = raw[:at]
packed = lambda b, n=None: b"IBRPAST1" + uint(len(b) if n is None else n) + uint(len(zlib.compress(b, 9))) + zlib.compress(b, 9)
a_job = lambda unknown, n: uint(1) + uint(0) * 3 + uint(0) + uint(unknown) + uint(0)
samples = lambda n, said=None: uint(n if said is None else said) + (uint(0) + uint(0) + uint(0) + uint(4) + uint(1) * 4) * n + uint(0)
for name, body, n in [("2 GB that are announced", ports_of, 1 << 31), ("zeros", ports_of + bytes(14 << 20), None), ("20,000 jobs of a million hosts", ports_of + uint(1) + uint(0) * 3 + uint(
        20000) + a_job(1000000, 0) * 20000 + samples(0), None), ("10,000 sets of jobs", ports_of + uint(10000) + (uint(0) * 3 + uint(0)) * 10000 + samples(0), None),
                      ("a million samples", ports_of + uint(0) + samples(1000000), None), ("9,000 samples", ports_of + uint(0) + samples(9000), None),
                      ("2^62 samples", ports_of + uint(0) + samples(3, 2**62), None), ("2^62 jobs", ports_of + uint(1) + uint(0) * 3 + uint(2**62), None)]:
    snaps.append(("samples, " + name, snap("w." + name.replace(" ", ""), history_ibr=packed(body, n))))
for name, path in snaps:
    case("folder: " + name, "--load", path, *SHOW)
    case("folder: " + name + ", history", "--load", path, *SHOW, "--view", "history")

# --- records, recordings ---------------------------------------------------------------------------------------


def chain(lines):
    prev, out = "0" * 64, b""
    for j in lines:
        b = dump(j)[:-1] + b',"prev":"' + prev.encode() + b'"}'
        prev, out = sha(b), out + b + b"\n"
    return out


begin = {"v": 1, "t": "2026-11-20T10:00:00.000Z", "seq": 0, "sid": "20261120T100000Z-1", "type": "session.begin"}
put("rec/20261120T100000Z-1.jsonl", chain([begin] + [{"v": 1, "t": "2026-11-20T10:00:00.000Z", "seq": i + 1, "type": "x", "a": [[]] * 9} for i in range(90)]))
put("rec2/20261120T100000Z-1.jsonl", b"[" * 9900 + b"]" * 9900 + b"\n")
for d in ("rec", "rec2"):
    for words in (["list"], ["verify"], ["prune", "--keep-sessions", "1", "--dry-run"]):
        case("records in %s: %s" % (d, words[0]), "audit", *words, d)
    case("records in %s, shown" % d, "-b", "--view", "actions", "--session", "20261120T100000Z-1", "--record-dir", d)
cast = lambda w, h: '{"version": 2, "width": %d, "height": %d, "timestamp": 1}\n' % (w, h)
for name, text in [("of 2^31 x 2^31", cast(2**31 - 1, 2**31 - 1) + '[0, "o", "x"]\n'), ("of 65535 x 65535", cast(65535, 65535) + '[0, "o", "x"]\n'),
                   ("of 9999 x 9999", cast(9999, 9999) + '[0, "o", "x"]\n'),
                   ("that changes its size", filled(lambda i: '[%d, "r", "%dx%d"]\n' % (i, 9999 - i % 2, 9999), cast(80, 24))),
                   ("that scrolls", filled('[0, "o", "\\u001b[99999999L\\u001b[9999999b"]\n', cast(500, 500))),
                   ("of marks", filled('[1e300, "m", "x"]\n', cast(80, 24)))]:
    path = put("c." + name.replace(" ", "") + ".cast", text)
    case("recording " + name, "audit", "replay", "--dump", "5s", path)
    case("recording %s, as a script" % name, "audit", "export", "--script", "-o", "typescript", path)

# --- what the operator writes --------------------------------------------------------------------------------
case("configuration", "config", "show", "-z", put("conf", filled(lambda i: "[fabric f%d]\ninterval=99999999999\ncolumns=%s\n" % (i, "a," * 30))))
case("thresholds", "--demo=fattree2:leaves=2,spines=1,hosts=1", "-d", "0.1", *SHOW, "--check", "--threshold-file", put("thr", filled("SymbolErrorCounter=99999999999\n")))
key = put("agents.key", filled("issuer 0x0002c90300000001\n"))
os.chmod(key, 0o600)
case("keys", "agent", "--node-key", "1", "--agents-key", key)
mkeys = put("guid2mkey", filled(lambda i: "0x%x 0x17\n" % (2**40 - i)))
os.chmod(mkeys, 0o600)
case("M_Keys", "sm", "--m_key_file", mkeys, "-C", "none")


def run(args):
    p = subprocess.Popen([I] + args, stdin=dev_null, stdout=dev_null, stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 21)))
    text = p.stderr.read()
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = 0
    return status, use.ru_utime + use.ru_stime, use.ru_maxrss << 10, text.decode("utf-8", "replace").strip().split("\n")[-1]


bad = 0
for name, args in tests:
    if only and not any(o in name for o in only):
        continue
    status, cpu, memory, said = run(args)
    wrong = cpu > CPU_S or memory > MEMORY or (os.WIFSIGNALED(status) or 128 <= os.WEXITSTATUS(status) < 255)
    bad += wrong
    if wrong or os.environ.get("VERBOSE"):
        print("%s: %s: %.2f s of CPU, %d MB, status %d: %s" % ("not so" if wrong else "  fine", name, cpu, memory >> 20, status, said[:150]), flush=True)
print("%d small files, %d of them too much" % (len(tests), bad))
sys.exit(bad > 0)
