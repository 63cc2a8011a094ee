#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mutate.sh [RUNS [SEED]]: damaged inputs of the command line under the sanitizers (fuzz/mutate.py), by
# WORKERS processes, or as many as there are cores.  Without a seed another one each time, which is printed.
set -u
cd "$(dirname "$0")/.." || exit 2
top=$PWD
. tests/judge.sh
. tests/tty.sh
runs=${1:-40000} seed=${2:-$(date +%s)}
B=${B:-build-address-undefined}
I=$top/$B/ibroute-top
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
found=$top/$B/found
work=$(mktemp -d)
trap 'tty_stop; rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM
[ -n "${NO_BUILD:-}" ] || make --no-print-directory -j"$(nproc)" SAN=address,undefined "$B/ibroute-top" "$B/tests/fuzz/served" >"$work/log" 2>&1 &&
	make --no-print-directory -j"$(nproc)" build/ibroute-top >>"$work/log" 2>&1 ||
	{ tail -n 5 "$work/log"; give_up "the program builds"; }
mkdir -p "$work/c" "$found"
cd "$work/c" || exit 2

# --- one of each file that a command reads -------------------------------------------------------
export HOME=$work XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work
"$I" topo fattree2:leaves=6,spines=3,hosts=4 -o net >/dev/null
"$I" topo hyperx:dims=3x3,hosts=2,lmc=2 -o hyperx >/dev/null
printf '101 n[0001-0009]\n102 n[0010-0020,0022]\n103 n0023\n' >jobs.list
printf 'JobIDRaw|JobName|User|Start|End|NodeList|State\n101|a|u|2026-11-20T10:00:00|Unknown|n[0001-0009]|RUNNING\n102|b c|v|2026-11-20|2026-11-21T00:00|n[0010-0020]|X\n' >jobs.sacct
printf '101,1763000000,,n[0001-0009]\n102,2026-11-20T10:00:00,1863000000,"n[0010-0020,0022]"\n' >jobs.csv
"$I" route --engine dfsssp --vls 4 --topology net --jobs jobs.list --out . --formats opensm,ibdm,path-sl,ibr >/dev/null
ls *.sl2vl >/dev/null 2>&1 && cp "$(ls ./*.sl2vl | head -n 1)" ibdm-sl2vl
[ -e ibdm-sl2vl ] || cp opensm-sl2vl.dump ibdm-sl2vl
"$I" plan -e sar --topology net --lfts opensm-lfts.dump --jobs jobs.list -o p.plan >/dev/null 2>&1
python3 - <<-'EOF'
	# the binary cache of ibnetdiscover, and netloc's files, of the same fabric
	import json, re, struct
	nodes, cables, at = {}, [], None
	for line in open("net"):
	    m = re.match(r'(Switch|Ca)\s+(\d+)\s+"[SH]-([0-9a-f]+)"\s*#\s*"([^"]*)"', line)
	    if m:
	        at, l = m.group(3), re.search(r"lid (\d+)", line)
	        nodes[at] = [m.group(1) == "Switch", int(m.group(2)), m.group(4), int(l.group(1)) if l else 0]
	    m = re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"[SH]-([0-9a-f]+)"\[(\d+)\]', line)
	    if m:
	        cables.append((at, int(m.group(1)), m.group(2), int(m.group(3))))
	        l = re.search(r"# lid (\d+)", line)
	        if l and not nodes[at][0]:
	            nodes[at][3] = int(l.group(1))
	port = lambda g, k: int(g, 16) + (0 if nodes[g][0] else k)
	n = p = b""
	for g, (switch, ports, name, lid) in nodes.items():
	    own = [c[1] for c in cables if c[0] == g]
	    d = bytearray(207)
	    struct.pack_into("<H", d, 0, lid)
	    struct.pack_into("<Q", d, 68, int(g, 16))
	    d[76:78] = 2 if switch else 1, ports
	    d[142 : 142 + len(name)] = name.encode()
	    d[206] = len(own)
	    n += bytes(d) + b"".join(struct.pack("<QB", port(g, k), k) for k in own)
	for g, k, peer, q in cables:
	    d = bytearray(95)
	    struct.pack_into("<QBxH", d, 0, port(g, k), k, nodes[g][3])
	    struct.pack_into("<QBQB", d, 77, int(g, 16), 1, port(peer, q), q)
	    p += bytes(d)
	open("cache", "wb").write(b"\x2b\x83\xe7\x8f" + struct.pack("<III", 1, len(nodes), len(cables)) + bytes(12) + n + p)
	dots = lambda g: ":".join(g[k : k + 4] for k in (0, 4, 8, 12))
	edge = {(a, q): i + 1 for i, (a, q, _, _) in enumerate(cables)}
	json.dump({"node_info": {dots(g): {"phy_id": dots(g), "node_type": "1" if s else "2", "log_id": str(lid), "desc": "'%s'" % name}
	                         for g, (s, _, name, lid) in nodes.items()},
	           "edge_info": {str(i + 1): {"euid": str(i + 1), "src_node_id": dots(a), "src_port_id": str(q), "dest_node_id": dots(b), "dest_port_id": str(r),
	                                      "speed": "EDR", "width": "4x"} for i, (a, q, b, r) in enumerate(cables)}}, open("x-nodes.ndat", "w"), indent=0)
	# from each host to its switch
	json.dump({"path_info": {dots(a): {dots(b): [edge[a, q]]} for a, q, b, _ in cables if not nodes[a][0]}}, open("x-log-paths.ndat", "w"), indent=0)
	EOF
"$I" agent --new-key agents.key >/dev/null && "$I" agent --new-key other.key >/dev/null
{ cat other.key && echo "issuer 0x0002c90300000001" && echo "# a comment"; } >>agents.key
"$I" agent --node-key 0x0002c90300000001 --agents-key agents.key >>agents.key
for f in cache x-nodes.ndat; do
	"$I" --load $f -b -n 1 >seen 2>&1 && grep -q 'hosts *24' seen || { head -n 5 seen; give_up "the corpus has a fabric in $f"; }
done
awk '/^Switch/ {print $3}' net | tr -d '"' | sed 's/S-/0x/;s/H-/0x/' | head -n 2 >roots
printf '0x0002c90300000001 "leaf one"\n0x2 "b"\n' >names
printf 'n0001: n0002=1000000,n0007=5\n' >demand
printf '0-1: n[0001-0002]\n' >ranks
printf 'SymbolErrorCounter=10\n[PortRcvErrors]\nLinkDownedCounter = 3\n' >thresholds
printf 'interval = 5\nrecord-keep-days = 90\n[fabric x]\nca = foo\ncolumns = a,b,util_pct\n' >config
printf 'CA=mlx5_0\nPort=1\ntimeout=50\nm_key=0x17\n' >ibdiag.conf
printf '0x0002c90300000001 0x17\n0x2 0x18\n' >guid2mkey
chmod 600 guid2mkey
printf 'SwitchName=r1 Nodes=n[0001-0009]\nSwitchName=r2 Nodes=n[0010-0024]\nSwitchName=top Switches=r[1-2]\n' >topology.conf
cat >topology.yaml <<-'Y'
	- topology: tree1
	  cluster_default: true
	  tree:
	    switches:
	      - switch: top
	        children: r[1-2]
	      - switch: r1
	        nodes: &a n[0001-0009]
	      - switch: r2
	        nodes: [ n0010, "n[0011-0024]" ]
	- topology: blocks
	  block: { block_sizes: [4], blocks: [ { block: b1, nodes: *a } ] }
Y
"$I" route --engine parx --lmc 2 --topology hyperx --out parx --bisections 1 >/dev/null
cp parx/lid-choice.txt choice && cp parx/tables.ibr hyperx.ibr
printf '0x0001000000000001 # one\nn[0002-0004]\nn0009\n' >io
printf 'routing_engine ar_updn,minhop\nio_guid_file %s\n' "$PWD/io" >opensm.conf
printf 'n0001 io,gpu\nn[0002-0004] io\nn0005 (null)\n' >sinfo
cp topology.conf scontrol
mkdir -p bin # SLURM's programs say what the run has put into its folder
for f in sinfo scontrol; do printf '#!/bin/sh\nexec cat "$HOME/%s"\n' $f >bin/$f && chmod +x bin/$f; done
: >guid2lid
: >neighbors
awk '/^(Switch|Ca)/ {g=$3; gsub(/"[SH]-|"/, "", g)}
	/^\[/ {p=$1; gsub(/[\[\]]|\(.*/, "", p); r=q=$2; sub(/^[^\[]*\[/, "", q); sub(/\].*/, "", q); sub(/^"[SH]-/, "", r); sub(/".*/, "", r); printf "0x%s:%d 0x%s:%d\n", g, p, r, q}' net >neighbors
awk '/^Switch/ {g=$3; gsub(/"S-|"/, "", g); printf "0x%s 0x%04x 0x%04x\n", g, ++n, n}' net >guid2lid
python3 "$top/tests/records.py" rec 3 --seal >key
printf 'x IBROUTE_HEAD=%064d sid=20251113T021320Z-1000 seq=3 host=a dir=/x\n' 0 >heads
# a console with an update that waits: its snapshot, record, recording and journal
tty_start 100x30 env TERM=screen-256color "$I" --demo="fattree2:leaves=6,spines=3,hosts=6" --rw -d 0.5 --record-dir "$work/rec" --state-dir "$work/state"
tty_wait 30 'hosts 36'
tty_type ':save snap'
tty_keys Enter 6
tty_wait 20 'Choose an engine'
tty_engine sar
tty_keys Space
tty_wait 40 blocks
tty_keys A
tty_wait 30 'ready to start'
# jobs may get slower by it: that is accepted first
for ((k = 0; k < 60; k++)); do
	case $(tty_screen) in
	*"to START"*) break ;;
	*"Type 'slower'"*) tty_type slower && tty_keys Enter ;;
	*" Slower:"*) tty_keys O ;;
	*) tty_keys Enter ;;
	esac
	sleep 1
done
tty_wait 10 'to START'
tty_type demo
tty_keys Enter
tty_wait 60 "NOT YET CONFIRMED" || give_up "an update for the corpus waits"
cp -r "$work/state" state
find state -type s -delete
ls state | grep -m 1 -E '^2[0-9]+T' >txn
cp "$work"/rec/*.jsonl rec
cp "$(ls -S "$work"/rec/*.cast | head -n 1)" s.cast
tty_stop
for f in choice hyperx.ibr snap/history.ibr snap/state.json state/*/head.json state/*/plan s.cast p.plan tables.ibr opensm.fdbs path-sl.dump neighbors; do
	# shellcheck disable=SC2086
	[ -s $f ] || give_up "the corpus has $f"
done
ok "a corpus" true
cd "$top" || exit 2

# --- and many like them ---------------------------------------------------------------------------
n=${WORKERS:-$(nproc)}
echo "mutate: RUNS=$runs SEED=$seed; again: bash tests/mutate.sh $runs $seed"
for ((i = 0; i < n; i++)); do
	PLAIN=$top/build/ibroute-top python3 tests/fuzz/mutate.py "${I%/*}/tests/fuzz/served" "$work/c" "$found" $(((runs + n - 1) / n)) $((seed + i)) >"$work/out.$i" 2>&1 &
done
wait
cat "$work"/out.*
for ((i = 0; i < n; i++)); do
	ok "$(((runs + n - 1) / n)) mutated inputs, seed $((seed + i)): nothing found (else see $found)" \
		grep -q '^ok - .* 0 findings$' "$work/out.$i"
done
finish
