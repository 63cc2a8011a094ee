#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hostile.sh: names, files and records by somebody who means harm.  Every byte value in the names of nodes, jobs
# and users, in journals, records and recordings: nothing but text comes out, whatever prints it.  Files of a few
# kB that stand for gigabytes, and folders of thousands of sessions.  "hostile.sh promtool" insists on promtool; its
# package is unpacked, not installed, which would start a server.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
top=$PWD
I=$top/${B:-build}/ibroute-top
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM
cd "$work" || exit 2
JUDGE_LOG=$work/log
export XDG_STATE_HOME=$work/none XDG_CONFIG_HOME=$work/none LC_ALL=C.UTF-8
only_text() { python3 "$top/tests/only_text.py" "$@"; }
# exit code does not matter: what is printed, on stdout and stderr, does
prints_text() {
	local rc

	"$I" "$@" >out 2>&1 </dev/null
	rc=$?
	{ [ $rc -lt 128 ] || [ $rc -eq 255 ]; } && [ -s out ] && only_text out
}
prints_json() { "$I" "$@" >out 2>err </dev/null; [ -s out ] && only_text --json out && only_text err; }
# CPU seconds, whatever else the machine does; and 1 GB
within() { # SECONDS COMMAND...
	local s=$1
	shift
	(ulimit -t "$s" -v 1048576 && "$@") >out 2>&1 </dev/null
	local rc=$?
	tail -n 3 out
	[ $rc -lt 128 ] || [ $rc -eq 255 ]
}

# --- names ------------------------------------------------------------------------------------------
"$I" topo fattree2:leaves=4,spines=2,hosts=16 -o plain >/dev/null
python3 - <<'EOF'
import re
# a host has four values in its name, 64 hosts have all; what ends a line or a name in that format is left out
data, n = open("plain", "rb").read(), 0
names = {}
def evil(m):
    global n
    name = m.group(1)
    if name not in names:
        v = [c for c in range(4 * n, 4 * n + 4) if c not in (0, 10, 13, 34)]
        names[name] = name[:1] + b"\x1b[2J"[:n % 5] + bytes(v) + b"\xc2\x9b\xe2\x80\xae" + name
        n += 1
    return b'"' + names[name] + m.group(2)
out = re.sub(rb'"(n\d+)([ "])', evil, data)
out = re.sub(rb'"(leaf\d+|spine\d+)(["\s])', lambda m: b'"' + m.group(1) + b"\x1b]0;x\x07\xff" + m.group(2), out)
open("net", "wb").write(out)
assert n >= 64, n
with open("jobs", "wb") as f:
    f.write(b"JobIDRaw|JobName|User|Start|End|NodeList\n")
    for i in range(64):
        v = bytes(c for c in range(4 * i, 4 * i + 4) if c not in (0, 10, 13, 124))
        f.write(b"%d|j%s\x1b[31m|u%s\xff|Unknown|Unknown|n%04d,x%s\n" % (i // 2 + 1, v, v, i + 1, v.translate(None, b",[] \t")))
open("names", "wb").write(b'0x1 "a\x1b[2J\xff"\n')
open("topology.conf", "wb").write(b"SwitchName=r\x1b[2J\xff Nodes=n1,\xc2\x9bn2\nnonsense\x1b[2J\nSwitchName=\x07 Switches=r9\xe2\x80\xae\n")
EOF
"$I" topo fattree2:leaves=4,spines=2,hosts=16 -o same >/dev/null
"$I" route --engine updn --topology same --out d >/dev/null 2>&1
views() {
	local v
	for v in overview links ports switches jobs tiers events heatmap; do
		prints_text --load net --jobs jobs -b -n 1 --view $v || { echo "-b $v"; return 1; }
		prints_json --load net --jobs jobs --json -n 1 --view $v || { echo "--json $v"; return 1; }
	done
	for v in overview heatmap links switches jobs topology events paths; do
		prints_text --load net --jobs jobs --screen $v --size 200x60 || { echo "--screen $v"; return 1; }
	done
}
ok "every byte value in names of nodes, jobs and users: views are text" views
if [ "${1:-}" = promtool ] && ! command -v promtool >/dev/null; then
	mkdir pkg && (cd pkg && apt-get download prometheus && dpkg -x prometheus_*.deb .) >log 2>&1
	PATH=$PATH:$work/pkg/usr/bin
	ok "promtool can be had" command -v promtool
fi
prom() {
	"$I" --load net --jobs jobs --prom -n 1 >prom 2>err && python3 "$top/tests/prom.py" prom && only_text prom err || return 1
	! command -v promtool >/dev/null || promtool check metrics <prom
}
ok "metrics are text, each series once$(command -v promtool >/dev/null && echo ', and promtool takes them')" prom
commands() {
	prints_text route --engine sar --topology net --jobs jobs --per-job --bisections 1 --out r &&
		prints_json route --engine sar --topology net --jobs jobs --per-job --bisections 1 --json &&
		prints_text check --topology net --lfts d/opensm-lfts.dump --bisections 1 &&
		prints_text compare --topology net --engines updn,minhop --jobs jobs --bisections 1 &&
		prints_text paths nowhere$'\e'[2J elsewhere$'\xff' --topology net --lfts d/opensm-lfts.dump &&
		prints_text --load net --diff same && prints_text --load same --diff net
}
arguments() { # what a mistake quotes
	local x=$'x\e[2J\xff' a

	prints_text "$x" || return
	for a in "--$x" "-$x" "--threads=$x" "--engine=$x" "--pin=$x" "--jobs=$x" "--topology=$x" "$x"; do
		prints_text route "$a" || { echo "route $a"; return 1; }
	done
	prints_text agent --node-key "$x" && prints_text status "$x" --state-dir "$x" && prints_text config show -z "$x" && prints_text audit list "$x"
}
ok "words of the command line are quoted as text" arguments
ok "what commands print is text" commands
plans() {
	"$I" plan -e dfsssp --topology net --lfts d/opensm-lfts.dump --jobs jobs -o p.plan >out 2>&1
	only_text out && [ -s p.plan ] && head -n 1 p.plan >head.json && only_text --json head.json &&
		prints_text show p.plan && prints_text paths n0001 n0002 --plan p.plan --no-load && prints_json show p.plan --json --diff
}
ok "plans are made of text, and shown as text" plans
ok "racks, name maps and mistakes of files are told as text" eval \
	'prints_text --load topology.conf -b -n 1 && prints_text --load same --racks topology.conf -b -n 1 && prints_text --load same --node-name-map names -b -n 1 --view switches &&
	prints_text topology --topology net --compare topology.conf && prints_json topology --topology net --compare topology.conf --json &&
	prints_text topology --topology net --slurm'
snapshots() { # of it, and one that somebody else has made
	"$I" --load net --jobs jobs -b -n 1 --save snap >/dev/null 2>&1
	find snap -name '*.json' -o -name '*.jsonl' | while read -r f; do only_text --json "$f" || echo bad; done | grep bad && return 1
	python3 - <<-'EOF'
	import json
	evil = "".join(map(chr, range(1, 256))) + "\u202e\ufeff"
	open("snap/events.jsonl", "w").write(json.dumps({"time_ns": 2**62, "level": "warn", "area": evil, "text": evil}) + "\n")
	def spoil(j):
	    return {k: spoil(v) for k, v in j.items()} if isinstance(j, dict) else list(map(spoil, j)) if isinstance(j, list) else \
	        j + evil if isinstance(j, str) else j
	for f in ("snap/jobs.json", "snap/state.json"):
	    try: j = json.load(open(f))
	    except FileNotFoundError: continue
	    open(f, "w").write(json.dumps(spoil(j)))
	EOF
	prints_text --load snap -b -n 1 --view events && prints_json --load snap --json -n 1 --view events &&
		prints_text --load snap -b -n 1 --view jobs && prints_text --load snap --screen events
}
ok "snapshots hold text, and are shown as text" snapshots

# --- journals -----------------------------------------------------------------------------------------
python3 - <<'EOF'
import hashlib, json, os
evil = "".join(map(chr, range(1, 256))) + "\u202e\ufeff"
sha = lambda b: hashlib.sha256(b).hexdigest()
d = "state/20261123T035116Z-20394"
os.makedirs(d)
head = {"version": 1, "id": "x" + evil, "fabric": "f" + evil, "plan": "p" + evil, "engine": "e" + evil, "user": "u" + evil, "host": "h" + evil,
        "pid": 1, "time_s": 2**62, "lft_blocks": 1, "sl2vl_tables": 0, "number": 1, "waves": 1, "fingerprint": "0" * 64, "from_hash": "0" * 64,
        "to_hash": "0" * 64, "changes_sha256": "0" * 64}
open(d + "/head.json", "w").write(json.dumps(head))
with open(d + "/state.log", "wb") as f:
    # times that gmtime() has no calendar for; the last one is an end
    for i, (s, state) in enumerate([(1795000000, "prepared"), (2**63 - 1, "writing"), (-2**63, "writing"), (67768036191676800, "confirming"), (1, "rolled-back")]):
        said = bytes(c for c in range(1, 256) if c != 10) + "\u009b\u202e".encode()
        line = b"%d %d %s %d %s" % (i, s, state.encode(), i, said)
        f.write(sha(line)[:16].encode() + b" " + line + b"\n")
agents = json.dumps([{"name": "n" + evil, "guid": "0x1", "lid": 3, "state": evil, "job": evil}]).encode()
open(d + "/agents.json", "wb").write(sha(agents).encode() + b"\n" + agents)
os.makedirs("state/20261123T035117Z-1\x1b[2J")
EOF
ok "a journal of every byte value, and times that are none: status is text" eval \
	'prints_text status --state-dir state && prints_text status last --events --state-dir state && grep -q "? writing" out'
ok "status --json, too" prints_json status --json --state-dir state

# --- records --------------------------------------------------------------------------------------------
text=$(python3 -c 'import json; print(json.dumps("".join(map(chr, range(1, 256))) + "\u202e\ufeff 20261123T035116Z-20394"))')
python3 "$top/tests/records.py" rec 3 --text "$text" >/dev/null
cp rec/*-1000.jsonl "rec/$(printf 'a\e[2J\xff').jsonl"
sid=$(ls rec | grep -m 1 1001)
audit() {
	prints_text audit list rec && prints_json audit list --json rec && prints_text audit verify rec && prints_json audit verify --json rec &&
		prints_text audit prune --keep-sessions 1 --dry-run rec && prints_text audit export --report 20261123T035116Z-20394 rec &&
		prints_text audit export --html --report 20261123T035116Z-20394 rec && prints_text -b --view actions --session "${sid%.jsonl}" --record-dir rec &&
		prints_json --json --view sessions --record-dir rec && prints_text --load same --screen sessions --record-dir rec
}
ok "records of every value: list, verify, prune, reports and views are text" audit
python3 - <<'EOF'
import json
evil = "".join(map(chr, range(1, 256))) + "\u202e\ufeff"
with open("x.cast", "w") as f:
    f.write(json.dumps({"version": 2, "width": 80, "height": 24, "timestamp": 2**62}) + "\n")
    for t, code, text in [(0, "o", "\x1b[?7l\x1b[?25l\x1b[0m\x1b[2J\x1b[2;3HHELLO"), (1, "o", "\x1b]52;c;ZQ==\x07\x1b]0;X\x07\x1bP1$r0m\x1b\\\x9b31m\x1b[5n\x1b[21t\x1b[?1049h" + evil),
                          (2, "m", "mark\x1b]0;MARK\x07" + evil), (3, "r", "80x24\x1b[2J")]:
        f.write(json.dumps([t, code, text]) + "\n")
EOF
# nothing but what a recording draws with
drawn() { sed -E $'s/\e\\[(2J|\\?7l|\\?25l|[0-9;]*[mH])//g; s/\r//g' "$1" | only_text; }
casts() {
	local w

	for w in 5s 0 2099-01-01T00:00:00Z mark; do prints_text audit replay --dump "$w" x.cast || return; done
	"$I" audit export --script -o script x.cast && drawn script && grep -q HELLO script || return
	for w in --v3 --tlog; do
		"$I" audit export $w x.cast >out || return
		python3 -c 'import json, re, sys
for line in open("out"):
    for s in re.findall(r"\"((?:[^\"\\]|\\.)*)\"", line): sys.stdout.write(json.loads("\"" + s + "\"") + "\n")' >strings && drawn strings || return
	done
}
ok "recordings: replay is text, exports hold only what recordings draw with" casts
replayed() { # on a terminal
	python3 - "$I" <<-'EOF'
	import fcntl, os, pty, re, select, struct, sys, termios, time
	pid, fd = pty.fork()
	if not pid:
	    time.sleep(0.5)
	    os.execv(sys.argv[1], [sys.argv[1], "audit", "replay", "--speed", "20", "x.cast"])
	fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 180, 0, 0))
	out, end = b"", time.time() + 20
	while time.time() < end and b"mark?" not in out:
	    if select.select([fd], [], [], 0.2)[0]:
	        try: out += os.read(fd, 65536)
	        except OSError: break
	os.write(fd, b"q")
	time.sleep(1)
	assert b"HELLO" in out and b"mark?]0;MARK?" in out, out[-300:]
	left = re.sub(rb"\x1b\[(\?(1049|25|7)[hl]|2J|[0-9;]*[mH])|[\r\n]", b"", out)
	open("left", "wb").write(left)
	EOF
	[ $? -eq 0 ] && only_text left
}
ok "replayed on a terminal, its marks do not steer it" replayed

# --- how much a file may ask for ----------------------------------------------------------------------
python3 - <<'EOF'
with open("many", "w") as f:
    for i in range(1000): f.write("%d n[0-999999]\n" % (i + 1))
head = "- topology: t\n  tree:\n    switches:\n"
with open("lists.yaml", "w") as f:
    f.write(head + "".join("      - switch: s%d\n        nodes: n[0-99999]\n" % i for i in range(400)))
with open("alias.yaml", "w") as f:
    f.write(head + "      - &x\n        switch: s\n        nodes: n[0-9999]\n" + "      - *x\n" * 1500)
with open("deep.yaml", "w") as f:
    f.write(head + "      - switch: " + "[" * 300000 + "\n")
EOF
ok "a jobs file of 15 kB that names a billion hosts" within 5 "$I" --load same --jobs many --json -n 1
ok "the same for an engine" within 5 "$I" route --engine minhop --topology same --jobs many --bisections 1 --json
yaml() {
	local f
	for f in lists alias deep; do
		cp $f.yaml topology.yaml
		within 5 "$I" --load topology.yaml --json -n 1 || { echo $f; return 1; }
		[ "$(wc -c <out)" -lt 2000 ] || return 1
	done
}
ok "topologies of a few kB that stand for more" yaml
python3 - <<'EOF'
open("lists.conf", "w").writelines("SwitchName=s%d Nodes=n[0-99999]\n" % i for i in range(500))
open("ranks", "w").writelines("%d-%d: n[0-999999]\n" % (i * 1000000, i * 1000000 + 999999) for i in range(10))
open("demand", "w").write("0: 1=1000\n")
open("lists.demand", "w").write("n[0-99999]: n[0-99999]=1\n" * 500)
open("many.names", "w").writelines('0x%x "node %d"\n' % (i, i) for i in range(100000, 0, -1))
EOF
lists() {
	local route="route --engine minhop --topology same --bisections 1"

	within 5 "$I" --load same --racks lists.yaml -b -n 1 && within 5 "$I" --load same --racks lists.conf -b -n 1 || return
	# shellcheck disable=SC2086
	within 10 "$I" $route --demand demand --ranks ranks && within 5 "$I" $route --demand lists.demand
}
ok "so do racks, ranks and demands" lists
ok "100,000 names of nodes, in the worst order" within 2 "$I" --load same --node-name-map many.names -b -n 1
# 2 s of CPU and 100 MB for each
ok "a file of 20 kB of each format that stands for much" eval 'mkdir bounds && (cd bounds && python3 "$top/tests/bounds.py" "$I")'
python3 "$top/tests/records.py" 5000 5000 --seal >key
ok "5,000 sealed sessions are listed" eval 'within 10 "$I" audit list 5000 && grep -c " ok$" out | grep -qx 5000'
ok "and verified with their key" eval 'within 15 "$I" audit verify --key key 5000 && grep -c "every line verified" out | grep -qx 5000'
last=$(ls 5000/*.jsonl | tail -n 1)
sed -i '$d' "$last"
cut_off() { "$I" audit verify 5000 >out; [ $? -eq 12 ] && grep -c 'the end was truncated' out | grep -qx 1; }
ok "an end that was cut off the last one has an exit code of its own" cut_off
ok "all but ten are pruned" eval 'within 20 "$I" audit prune --keep-sessions 10 --state-dir none 5000 && [ "$(ls 5000/*.jsonl | wc -l)" = 11 ]'
finish
