#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""records.py DIR N [--seal] [--text JSON] [--lines N]: records of N sessions, as the program writes them.

Written from the description of the format alone (record_line.h, record_hmac.h, record_end.h).  --seal:
sealed, and the first key is printed; --text: what stands in every string that comes from outside."""
import argparse
import hashlib
import hmac
import json
import os
import time

p = argparse.ArgumentParser()
p.add_argument("dir")
p.add_argument("n", type=int)
p.add_argument("--seal", action="store_true")
p.add_argument("--text", default='"n0001"')
p.add_argument("--txn", default="20261123T035116Z-20394")
p.add_argument("--lines", type=int, default=3)
o = p.parse_args()
os.makedirs(o.dir, exist_ok=True)
text = json.loads(o.text)
sha = lambda b: hashlib.sha256(b).hexdigest()
mac = lambda key, b: hmac.new(key, b, hashlib.sha256).digest()
epoch_key = first = hashlib.sha256(b"the first key").digest()
user = {"uid": 0, "loginuid": None, "ssh": text}
genesis = None


def line(seq, ts, sid, kind, data, prev, key, epoch):
    """One line and the key of the next."""
    j = {"v": 1, "seq": seq, "ts": ts, "mono_ns": seq * 1000, "sid": sid, "type": kind, "user": user, "data": data}
    if key:
        j["seal"] = {"v": 2, "epoch": epoch, "mac": "0" * 64}
    b = json.dumps(j, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")[:-1]
    end = b',"prev":"' + prev.encode() + b'"}'
    if key:
        sealed = mac(key, b + end).hex().encode()
        at = b.rindex(b'"mac":"') + 7
        b = b[:at] + sealed + b[at + 64 :]
        key = mac(key, b"ibroute-top seal line")
    if kind == "session.end":
        b += b',"self":"' + sha(b).encode() + b'"'
    return b + end, key


for i in range(o.n):
    t = 1763000000 + 60 * i
    ts = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t))
    sid = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(t)) + "-%d" % (1000 + i)
    key = mac(epoch_key, b"ibroute-top seal session") if o.seal else None
    prev, seq, out = "0" * 64, 0, []
    start = {"program": "ibroute-top", "version": "0.2.0", "fabric": text, "mode": "rw", "host": text, "pid": 1000 + i,
             "genesis": genesis}
    todo = [("session.start", start)]
    todo += [("note", {"text": text, "txn": o.txn}), ("key.action", {"action": text, "detail": text}), ("error", {"area": text, "text": text})] * (
        o.lines // 3)
    todo.append(("session.end", {"lines": len(todo), "lost": 0}))
    for kind, data in todo:
        b, key = line(seq, ts + ".%03dZ" % seq, sid, kind, data, prev, key, i + 1)
        prev, seq = sha(b), seq + 1
        out.append(b)
    with open("%s/%s.jsonl" % (o.dir, sid), "wb") as f:
        f.write(b"\n".join(out) + b"\n")
    if o.seal:
        epoch_key = mac(epoch_key, b"ibroute-top seal epoch")
        with open("%s/%s.seal" % (o.dir, sid), "w") as f:
            f.write("ibroute-seal-end 1\nlines %020d\nmac %s\n" % (seq, mac(key, b"ibroute-top seal end %d" % seq).hex()))
    genesis = {"sid": sid, "seq": seq - 1, "head": prev}
if o.seal:
    with open(o.dir + "/seal.state", "w") as f:
        f.write("ibroute-seal 1\nepoch %020d\nkey %s\n" % (o.n + 1, epoch_key.hex()))
    print(first.hex())
