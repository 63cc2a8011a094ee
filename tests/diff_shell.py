#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""diff_shell.py PROGRAM N SEED: audit verify and its six lines of sh on N damaged records.

They say the same of every record that was changed after it was written, but for ends that only the
seal's count of lines shows.  Of one whose chain was made again the program refuses more: what the lines
say has to fit, which the README lists as not seen by the six lines."""
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile

program, n, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
here = os.path.dirname(os.path.abspath(__file__))
rnd = random.Random(seed)
work = tempfile.mkdtemp()
os.chdir(work)
subprocess.run([sys.executable, here + "/records.py", "plain", "1", "--lines", "6"], check=True)
subprocess.run([sys.executable, here + "/records.py", "sealed", "1", "--lines", "6", "--seal"], check=True, stdout=subprocess.DEVNULL)
with open("check.sh", "wb") as f:
    f.write(subprocess.run([program, "audit", "verify", "--shell"], stdout=subprocess.PIPE, check=True).stdout)
sha = lambda b: hashlib.sha256(b).hexdigest().encode()


def rechain(lines):
    """As somebody would who knows how, but has no key and no log."""
    prev, out = b"0" * 64, []
    for line in lines:
        if line:
            b = line[: line.rfind(b',"prev":"')]
            at = b.rfind(b',"self":"')
            b = b[:at] if at > 0 else b
            if b'"type":"session.end"' in b or b'"type":"record.rotate"' in b:
                b += b',"self":"' + sha(b) + b'"'
            line = b + b',"prev":"' + prev + b'"}'
            prev = sha(line)
        out.append(line)
    return out


def flip(l, i):
    b = bytearray(l[i])
    b[rnd.randrange(len(b))] ^= 1 << rnd.randrange(8)
    l[i] = bytes(b)


def into_data(text):
    def edit(l, i):
        l[i] = l[i].replace(b'"data":{', b'"data":{' + text, 1)
    return edit


def swap(l, i):
    k = rnd.randrange(len(l))
    l[i], l[k] = l[k], l[i]


# what it is, how it is done, and whether only the program can know (then the six lines may accept it)
EDITS = [
    ("a bit", flip), ("a line removed", lambda l, i: l.pop(i)), ("a line twice", lambda l, i: l.insert(i, l[i])), ("two lines swapped", swap),
    ("the end cut off", lambda l, i: l.__delitem__(slice(i + 1, None))), ("the start cut off", lambda l, i: l.__delitem__(slice(0, i))),
    ("something behind a line", lambda l, i: l.__setitem__(i, l[i] + rnd.choice([b"\r", b" ", b"\0", b"\t", b"\\"]))),
    ("something before a line", lambda l, i: l.__setitem__(i, rnd.choice([b" ", b"\\", b"\0", b"\xef\xbb\xbf"]) + l[i])),
    ("an empty line", lambda l, i: l.insert(i, b"")), ("a type within data", into_data(b'"type":"session.end",')),
    ("a prev within data", into_data(b'"x":",\\"prev\\":\\"","y":"%s%n\\\\n",')), ("bytes that are not UTF-8", into_data(b'"k":"\xff\xfe",')),
    ("a key twice", into_data(b'"k":1,"k":2,')), ("a backslash", into_data(b'"k":"\\\\",')), ("another seq", lambda l, i: l.__setitem__(i, l[i].replace(b'"seq":', b'"seq":1', 1))),
    ("another version", lambda l, i: l.__setitem__(i, l[i].replace(b'{"v":1', b'{"v":2', 1))),
    ("another session", lambda l, i: l.__setitem__(i, l[i].replace(b'"sid":"20', b'"sid":"19', 1))),
    ("another type", lambda l, i: l.__setitem__(i, l[i].replace(b'"type":"session.', b'"type":"record.', 1))),
    ("a part", lambda l, i: l.__setitem__(0, l[0].replace(b'"session.start"', b'"record.part"'))),
    ("not JSON", lambda l, i: l.__setitem__(i, l[i].replace(b'"data":{', b'"data":{,', 1))),
    ("a self", lambda l, i: l.__setitem__(i, l[i].replace(b',"prev":"', b',"self":"' + b"0" * 64 + b'","prev":"', 1))),
]
differ, bad = {}, []
for run in range(n):
    kind = rnd.choice(["plain", "sealed"])
    path = "%s/%s" % (kind, [f for f in os.listdir(kind) if f.endswith(".jsonl")][0])
    lines = open(path, "rb").read().rstrip(b"\n").split(b"\n")
    what, edit = rnd.choice(EDITS)
    edit(lines, rnd.randrange(len(lines)))
    again = rnd.random() < 0.5
    if again:
        lines = rechain(lines)
    os.makedirs("d", exist_ok=True)
    name = "d/" + os.path.basename(path)
    with open(name, "wb") as f:
        f.write(b"\n".join(lines) + (b"\n" if rnd.random() < 0.95 else b""))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run("cp -f %s/*.seal d 2>/dev/null || rm -f d/*.seal" % kind, shell=True)
    said = subprocess.run([program, "audit", "verify", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ours = said.returncode
    theirs = subprocess.run(["sh", "check.sh", name], **quiet).returncode
    if (ours == 0) != (theirs == 0):
        key = "%s, %s, %s: %s" % (kind, what, "chained again" if again else "as it is", "only the program refuses" if ours else "ONLY SH REFUSES")
        differ[key] = differ.get(key, 0) + 1
        if not ours or (not again and b"the seal has counted" not in said.stdout):
            bad.append(key + said.stdout.decode("utf-8", "replace")[:200])
for k in sorted(differ):
    print("  # %4d  %s" % (differ[k], k))
subprocess.run(["rm", "-rf", work])
print("%d records, %d differences of %d kinds" % (n, sum(differ.values()), len(differ)))
print("\n".join(bad))
sys.exit(1 if bad else 0)
