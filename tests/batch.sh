#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# batch.sh: the console without a screen: records as text, JSON and Prometheus text, valid in all
# views; filters, order, exit codes, signals, closed pipes, files and the server.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
top=$PWD
I=$top/${B:-build}/ibroute-top
work=$(mktemp -d)
pids=()
cleanup() {
	local p
	[ "$BASHPID" = "$$" ] || return # a child that a signal reaches before it is the program
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
	rm -rf "$work"
}
trap cleanup EXIT
JUDGE_LOG=$work/log
cd "$work" || exit 2
unset TERM
export XDG_STATE_HOME=$work/state
demo="$I --demo=fattree2:leaves=6,spines=4,hosts=6 -d 0.2"
valid() { python3 "$top/tests/schema.py" "$@"; }
is() { # wanted exit code, command...; stdout and stderr into out and err
	local want=$1 rc
	shift
	"$@" >out 2>err </dev/null
	rc=$?
	cat err
	[ "$rc" -eq "$want" ] || { echo "exit $rc, wanted $want"; return 1; }
}
says() { # wanted exit code, pattern in stderr, command...
	local want=$1 pattern=$2
	shift 2
	is "$want" "$@" && grep -qE -- "$pattern" err
}

every_view_is_valid() {
	local v
	for v in overview links ports switches jobs tiers events heatmap; do
		is 0 $demo --jsonl -n 2 --view $v && [ "$(wc -l <out)" -eq 2 ] && valid record out || return
	done
}
every_field_is_in_the_schema() {
	local v
	for v in links ports switches jobs tiers events; do
		is 0 $demo --json --view $v --fields all && valid --fields $v out || return
	done
}
rates_are_of_two_samples() {
	is 0 $demo --jsonl -n 3 --view ports --fields port,tx_Bps,util_pct || return
	python3 - <<-'EOF'
	import json
	for line in open("out"):
	    r = json.loads(line)
	    assert 0.1 < r["interval_s"] < 5, r["interval_s"]
	    assert all(p["tx_Bps"] is not None and p["util_pct"] is not None for p in r["ports"])
	    assert len(r["ports"]) == 6 * 6 + 2 * 24, len(r["ports"])
	EOF
}
filter_sort_and_top() {
	is 0 $demo --json -n 1 --view links --filter 'a~^leaf not a=leaf3' --sort -a_port --top 7 \
		--fields a,b,a_port || return
	python3 - <<-'EOF'
	import json
	rows = json.load(open("out"))["links"]
	assert len(rows) == 7 and list(rows[0]) == ["a", "b", "a_port"]
	assert all(r["a"].startswith("leaf") and r["a"] != "leaf3" for r in rows)
	ports = [r["a_port"] for r in rows]
	assert ports == sorted(ports), ports
	EOF
}
heatmap_is_of_the_links() {
	is 0 $demo --json --view heatmap --metric efi && valid record out && cp out heat || return
	is 0 $demo --json --view links --fields a,b,efi || return
	python3 - <<-'EOF2'
	import json
	h = json.load(open("heat"))["heatmap"]
	links = {(l["a"], l["b"]): l["efi"] for l in json.load(open("out"))["links"]}
	assert len(h["rows"]) == 6 and len(h["columns"]) == 4 and h["direction"] == "up"
	for y, a in enumerate(h["rows"]):
	    for x, b in enumerate(h["columns"]):
	        assert h["cells"][y][x] == links[a, b] and h["cables"][y][x] == 1, (a, b)
	EOF2
	is 0 $demo -b -n 1 --view heatmap --metric efi --down && grep -q '^leaf x spine, down, efi$' out &&
		[ "$(grep -c '^leaf[1-6] ' out)" -eq 6 ]
}
screens_of_all_views() {
	local v
	for v in overview heatmap links switches jobs engines apply events paths topology help; do
		is 0 $demo --screen $v --size 90x28 --ascii && [ "$(wc -l <out)" -eq 28 ] &&
			grep -q 'demo | SM' out || { echo "$v"; return 1; }
	done
	is 0 $demo --screen links --ascii --do 'filter leaf2' && grep -q 'filter: leaf2' out && ! grep -q 'leaf3/' out ||
		return
	mkdir -p conf/ibroute-top
	printf '[map]\nview = heatmap\nmetric = EFI\nlayout = switch x switch\n' >conf/ibroute-top/views
	is 0 env XDG_CONFIG_HOME="$PWD/conf" $demo --screen overview --ascii --do ':view map' &&
		grep -q 'switch x switch.*: EFI' out
}
a_saved_view_is_one() { # of --view and --screen; what is said beside it wins
	cat >conf/ibroute-top/views <<-'EOF2'
	[mine]
	view = links
	filter = a=leaf1
	columns = efi, b
	sort = -b
	[bad]
	view = switches
	problems = yes
	[map]
	view = heatmap
	metric = EFI
	layout = switch x switch
	[picture]
	view = topology
	EOF2
	set -- env XDG_CONFIG_HOME="$PWD/conf" $demo
	is 0 "$@" -b -n 1 --view mine && [ "$(sed 1d out | tr -s ' ' | head -n 3)" = $'efi b\n 30 spine4\n 30 spine3' ] || { cat out; return 1; }
	is 0 "$@" -b -n 1 --view mine --filter a=leaf2 --fields a,b && [ "$(sed -n 3p out)" = 'leaf2  spine4' ] || { cat out; return 1; }
	is 0 "$@" --json --view mine --top 1 && valid record out && grep -q '"view": "links"' out || return
	is 0 "$@" -b -n 1 --view bad && [ "$(grep -c '^leaf\|^spine' out)" -eq 0 ] || return
	is 0 "$@" --check --view bad && is 0 "$@" --json --view map && grep -q '"metric": "efi"' out && valid record out || return
	says 64 "'picture' is not a table or a matrix of numbers: --screen picture prints it" "$@" -b -n 1 --view picture || return
	says 64 "no view was saved as 'other'" "$@" -b -n 1 --view other && says 64 "no view was saved as 'other'" "$@" --screen other || return
	is 0 "$@" --screen mine --ascii && grep -q 'filter: a=leaf1' out && is 0 "$@" --screen picture --ascii && grep -q 'tree of 2 levels' out
}
notes_are_beside_what_they_are_on() {
	local guid
	is 0 $demo -b -n 1 --view switches --fields guid --filter name=leaf2 || return
	guid=$(grep -o '0x.*' out)
	mkdir -p noted/ibroute-top
	printf '%s\t2026-11-20T03:10:00Z\t%s\n' "switch $guid" 'fan is "loud"' "link $guid/7" 'cable swapped' >noted/ibroute-top/notes
	set -- env XDG_STATE_HOME="$PWD/noted" $demo
	is 0 $demo -b -n 1 --view switches && ! grep -q note out || return
	is 0 "$@" -b -n 1 --view switches && grep -q ' note$' out && grep -q '^leaf2 .* fan is "loud"$' out && grep -q '^leaf1 .* -$' out || return
	is 0 "$@" -b -n 1 --view links --fields a,b --filter 'note~swap' && [ "$(sed 1,2d out | tr -s ' ')" = $'leaf2 spine1\nspine1 leaf2' ] || return
	is 0 "$@" --json --view heatmap && valid record out && python3 - <<-'EOF2'
	import json
	h = json.load(open("out"))["heatmap"]
	(n,) = h["notes"]
	assert (n["row"], n["column"], n["link"], n["note"]) == (1, 0, "leaf2/7 -> spine1/2", "cable swapped"), n
	EOF2
}
what_is_on_a_screen_goes_into_files() {
	rm -f x.html x.csv x.png x.json x1.json
	says 0 'screen written to x.html' $demo --screen heatmap --do 'export x.html' && grep -q '<pre>' x.html || return
	says 0 'rows written to x.csv' $demo --screen links --do 'export x.csv' && cp x.csv was || return
	says 1 "x.csv exists: 'export!' overwrites it" $demo --screen switches --do 'export x.csv' && cmp x.csv was || return
	says 0 'rows written to x.csv' $demo --screen switches --do 'export! x.csv' && ! cmp -s x.csv was || return
	says 0 'screen written to x.png' $demo --screen links --do 'export x.png' && [ "$(head -c 8 x.png | od -An -c | tr -d ' ')" = '211PNG\r\n032\n' ] || return
	says 1 "x.png exists: 'export!' overwrites it" $demo --screen links --do 'export x.png' || return
	says 1 'font /nonexistent cannot be read' $demo --screen links --png-font /nonexistent --do 'export! x.png' || return
	says 1 "'x.gif' has to end in" $demo --screen links --do 'export x.gif' &&
		says 0 'links written to x.json' $demo --screen heatmap --do 'export x.json' &&
		says 0 'screen written to x1.json' $demo --screen overview --do 'export x1.json' || return
	python3 -c '
import json
links, lines = json.load(open("x.json")), json.load(open("x1.json"))
assert all("util_pct" in link for link in links) and len(lines["lines"]) > 20'
}
text_has_a_head_and_columns() {
	is 0 $demo -b -n 1 --view switches --fields name,hosts,ports || return
	[ "$(sed -n 2p out)" = "name    hosts  ports" ] || { sed -n 2p out; return 1; }
	[ "$(wc -l <out)" -eq 13 ]
}
reader_gone() {
	$demo --jsonl --view links </dev/null 2>err | head -n 1 >out
	local rc=${PIPESTATUS[0]}
	cat err
	[ "$rc" -eq 141 ] && [ ! -s err ] && valid record out
}
full_disk() {
	$demo --json >/dev/full 2>err </dev/null
	[ $? -eq 1 ] && grep -q 'stdout failed: No space left' err
}
signalled() { # signal, code
	rm -f out
	$demo --jsonl >out 2>err </dev/null &
	local p=$! i
	pids+=($p)
	for i in $(seq 100); do [ -s out ] && break; sleep 0.1; done
	kill -"$1" $p
	wait $p
	local rc=$?
	cat err
	[ "$rc" -eq "$2" ] && valid record out
}
early_signal() {
	rm -f out
	$I --demo=fattree2:leaves=200,spines=100,hosts=18 --json >out 2>err </dev/null &
	local p=$!
	pids+=($p)
	sleep 0.3
	kill -TERM $p
	wait $p
	[ $? -eq 143 ] && [ ! -s out ]
}
files_are_looked_at() {
	is 0 "$I" topo fattree2:leaves=4,spines=2,hosts=4 && cp out net || return
	is 0 "$I" route --engine minhop --topology net --out routes || return
	is 0 "$I" --load net --lfts routes/opensm-lfts.dump --json && valid record out || return
	python3 -c 'import json; r = json.load(open("out")); assert r["interval_s"] is None
assert r["overview"]["routes"]["efi_max"] > 0 and r["complete"]
t = r["overview"]["routes"]
assert 0 < t["sync"] <= 1 and 0 < t["rate_mean"] <= 1 and t["time_mean"] is None  # no jobs'
}
jobs_of_a_file() {
	printf '17 n[0001-0004]\n18 n[0005-0008]\n' >jobs
	is 0 "$I" --load net --jobs jobs --json --view jobs && valid record out && grep -q '"id": 17' out
}
what_slurm_says_of_jobs() {
	cat >sacct <<-'E'
		JobIDRaw|JobID|JobName|User|Partition|Account|Reservation|Constraints|NodeList
		5|5_1|arr|ann|gpu|met||ib|n[0001-0006]
		7|7+0|het|bob|batch|phy|maint||n0007
		8|7+1|het|bob|batch|phy|maint||n[0008-0009]
	E
	is 0 "$I" --load net --jobs sacct -b --view jobs --filter 'partition=gpu and account=met and constraint=ib' --fields id,label,partition &&
		grep -qx "5_1  5_1    gpu" out || return
	is 0 "$I" --load net --jobs sacct --json --view jobs --fields id,label,reservation,nodes && valid record out || return
	python3 -c 'import json; j = {x["id"]: x for x in json.load(open("out"))["jobs"]}
assert j[5]["label"] == "5_1" and j[7]["label"] == "7" and j[7]["nodes"] == 3 and j[7]["reservation"] == "maint" and j[5]["reservation"] is None' || return
	is 0 "$I" --load net --jobs sacct --screen jobs && grep -q 'Job 5_1' out && grep -q 'partition gpu  account met  features ib' out || return
	is 0 "$I" --load net --jobs sacct -b -n 1 --save snapped && valid snapshot_jobs snapped/jobs.json || return
	is 0 "$I" --load snapped --json --view jobs --filter label=5_1 --fields account && grep -q '"met"' out || return
	is 0 "$I" plan -e sar --topology net --lfts routes/opensm-lfts.dump --jobs sacct --pin job:5_1 --per-job -o p5.plan && grep -q '^ *5_1 ' out || return
	says 64 'no job 5_2 is running' "$I" plan -e sar --topology net --lfts routes/opensm-lfts.dump --jobs sacct --pin job:5_2
}
saved_and_loaded() {
	is 0 $demo --save snap && is 0 "$I" --load snap --json --view links && valid record out || return
	python3 -c 'import json; assert len(json.load(open("out"))["links"]) == 48' || return
	valid snapshot_state snap/state.json && valid snapshot_jobs snap/jobs.json && valid snapshot_event snap/events.jsonl || return
	is 0 "$I" dump-lfts --topology snap/fabric.ibnetdiscover --lfts snap/tables.ibr && grep -q '^0x0001 ' out && [ ! -e snap/opensm-lfts.dump ] || return
	is 1 $demo --save snap # never over another one
}
racks() { # wanted head of the matrix, options: the racks and their cables
	local want=$1
	shift
	is 0 "$I" "$@" -b -n 1 --view heatmap --metric efi --layout 'rack x rack' && grep -qx "$want" out || return
	grep -q '^r1  *12  *12$' out && grep -q '^r2  *12  *12$' out
}
# what SLURM's scontrol prints, in its words: a switch above lists all nodes below it, too
racks_of_slurm() {
	mkdir -p bin
	printf '#!/bin/sh\n[ "$*" = "show topology" ] && cat %s/told\n' "$work" >bin/scontrol && chmod +x bin/scontrol
	cat >told <<-'EOF'
	SwitchName=r1 Level=0 LinkSpeed=1 Nodes=n[0001-0008]
	SwitchName=r2 Level=0 LinkSpeed=1 Nodes=n[0009-0018]
	SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0001-0018] Switches=r[1-2]
	EOF
	printf 'BlockName=r1 Nodes=n[0001-0008]\nBlockName=r2 Nodes=n[0009-0018]\nBlockSizes=4,8\n' >blocks
	is 0 "$I" topo hyperx:dims=3x3,hosts=2 -o plane && is 0 "$I" route --engine dfsssp --topology plane --out plane.d || return
	local of=(--load plane --lfts plane.d/opensm-lfts.dump) path=$PATH rc=1
	PATH=$work/bin:$PATH
	racks 'rack x rack by slurm, out, efi' "${of[@]}" --racks slurm &&
		is 0 "$I" "${of[@]}" --racks slurm -b -n 1 --save racked && racks 'rack x rack by racks, out, efi' --load racked &&
		racks 'rack x rack by blocks, out, efi' "${of[@]}" --racks blocks && echo 'exit 1' >bin/scontrol &&
		says 255 'SLURM reports no topology' "$I" "${of[@]}" --racks slurm -b -n 1
	rc=$?
	PATH=$path
	return $rc
}
history_of_a_snapshot() {
	is 0 $demo --jsonl -n 3 --view links --fields link,tx_Bps --save past --mark storm && cp out live || return
	is 0 "$I" --load past --json --view history && valid record out && cp out list || return
	for at in -1 -2 storm; do
		is 0 "$I" --load past --json --view links --fields link,tx_Bps --at=$at && valid record out && cp out "at$at" || return
	done
	python3 - <<-'EOF' || return
	import json
	live = [json.loads(line)["links"] for line in open("live")]
	past = json.load(open("list"))["history"]
	assert [s["back"] for s in past] == list(range(len(past)))[::-1] and past[-1]["mark"] == "storm", past
	for at, k in ("-1", 1), ("-2", 0), ("storm", 2):
	    r = json.load(open("at" + at))
	    assert r["links"] == live[k], at
	    assert (r["at"] or {"back": 0})["back"] == 2 - k, r["at"]
	EOF
	is 0 "$I" --load past --screen links --do 'back 2' && grep -q 'HIST .* -2/' out || return
	says 1 'is not a bookmark' "$I" --load past -b --view links --at never &&
		says 1 'before the oldest' "$I" --load past -b --view links --at 2001-01-01T00:00:00Z &&
		says 64 'needs --load' $demo -b --at -1
}
findings() {
	is 1 $demo --check --view links --filter 'efi>0' && [ ! -s out ] || return
	is 0 $demo --check --view links --filter 'efi>1G' || return
	is 0 $demo --check || return
	is 1 $demo --check --json --view links --filter 'efi>0' --top 1 && valid record out || return
	python3 -c 'import json; r = json.load(open("out")); assert r["findings"] == 48 and len(r["links"]) == 1'
}
prom_text() {
	is 0 $demo --prom && python3 "$top/tests/prom.py" out || return
	grep -q '^ibroute_port_transmit_bytes_total{fabric="demo",switch="leaf1",port="1"' out
}
prom_of_some() {
	is 0 $demo --prom --filter 'kind=host a=leaf2' && python3 "$top/tests/prom.py" out || return
	[ "$(grep -c '^ibroute_port_replied' out)" -eq 6 ]
}
odd_names() {
	guid=$("$I" topo fattree2:leaves=2,spines=1,hosts=2 | grep -om1 '"S-[0-9a-f]*"' | tr -d '"S-')
	printf '0x%s "odd\\ {name=1}, x"\n' "$guid" >map
	is 0 "$I" --demo=fattree2:leaves=2,spines=1,hosts=2 -d 0.2 --node-name-map map --prom &&
		python3 "$top/tests/prom.py" out && grep -qF 'odd\\ {name=1}, x' out
}
prom_file() {
	is 0 $demo --prom-file metrics.prom -n 2 && [ ! -s out ] && python3 "$top/tests/prom.py" metrics.prom || return
	[ "$(ls metrics.prom* | wc -l)" -eq 1 ] || return
	is 1 $demo --prom-file no/such/dir/x.prom -n 1
}
serve() { # into $url
	rm -f err
	$demo --prom-listen "$1" >out 2>err </dev/null &
	server=$!
	pids+=($server)
	local i
	for i in $(seq 100); do
		url=$(grep -o 'http://.*metrics' err 2>/dev/null)
		[ -n "$url" ] && curl -sf -m 5 -o /dev/null "$url" && return
		sleep 0.1
	done
	cat err
	return 1
}
code() { curl -s -m 8 -o /dev/null -w '%{http_code}' "$@"; }
served() {
	serve 0 || return
	curl -sf -D head "$url" >page || return
	python3 "$top/tests/prom.py" page && grep -qi '^content-type: text/plain; version=0.0.4' head &&
		[ "$(code "${url%metrics}")" = 200 ] && [ "$(code "${url%metrics}x")" = 404 ] &&
		[ "$(code -d a=b "$url")" = 405 ] && [ "$(code -X DELETE "$url")" = 405 ] &&
		[ "$(code -I "$url")" = 200 ]
}
packed() { # a third, and the same for who takes gzip; plain for who does not
	curl -sf -H 'Accept-Encoding: gzip' -D head "$url" >page.gz && grep -qi '^content-encoding: gzip' head &&
		grep -qi '^vary: accept-encoding' head && gzip -dc page.gz >page && python3 "$top/tests/prom.py" page &&
		[ "$(stat -c %s page.gz)" -lt $(($(stat -c %s page) / 3)) ] &&
		curl -sf -H 'Accept-Encoding: gzip;q=0, br' -D head "$url" >page && ! grep -qi '^content-encoding' head
}
groups() { # of metrics
	$demo --prom -n 1 --prom-groups none >page 2>err && python3 "$top/tests/prom.py" page && grep -q '^ibroute_up' page &&
		! grep -qE '^ibroute_(port|job_nodes|tier|update)' page || return
	$demo --prom -n 1 --prom-groups jobs,tiers --prom-nameless >page 2>err && python3 "$top/tests/prom.py" page || return
	grep -qE '^ibroute_job_nodes\{fabric="demo",job="[0-9]+"\} ' page && grep -q '^ibroute_tier_links' page && ! grep -qE 'user=|^ibroute_port_' page
}
no_updates_yet() { # all engines, results and causes are there at 0, so that a first one is a rise
	$demo --prom -n 1 --prom-groups updates >page 2>err && python3 "$top/tests/prom.py" page &&
		[ "$(grep -cE '^ibroute_updates_total\{.*engine="(sar|nue|other)",result="(confirmed|rolled-back|superseded)"\} 0$' page)" -eq 9 ] &&
		grep -qE '^ibroute_update_rollbacks_total\{.*cause="watch"\} 0$' page && ! grep -q 'cause=""' page
}
only_here() {
	local port=${url##*:}
	port=${port%/metrics}
	ss -ltn 2>/dev/null | grep ":$port " | grep -v 127.0.0.1 && return 1
	[ "${url#http://127.0.0.1:}" != "$url" ]
}
# Each sends a byte a second, from one address and from many: more than there are places for.
slow_clients() {
	python3 - "$url" <<-'EOF'
	import socket, sys, time, urllib.request
	url = sys.argv[1]
	host, port = url.split("/")[2].split(":")
	def client(i):
	    s = socket.socket()
	    s.settimeout(3)
	    s.bind(("127.0.0.%d" % (1 + i % 9), 0))
	    s.connect((host, int(port)))
	    s.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
	    return s
	def alive(s):
	    try:
	        s.send(b"a")
	        s.setblocking(False)
	        return s.recv(100) != b""
	    except BlockingIOError:
	        return True
	    except OSError:
	        return False
	start, socks, slowest = time.time(), [], 0
	for i in range(120):
	    try:
	        socks.append(client(i))
	    except OSError:
	        pass # no place for another of that address
	opened, cut = time.time(), None
	while time.time() < opened + 14:
	    socks = [s for s in socks if alive(s)]
	    t = time.time()
	    urllib.request.urlopen(url, timeout=5).read()
	    slowest = max(slowest, time.time() - t)
	    if not socks:
	        cut = time.time() - opened
	        break
	    time.sleep(1)
	print("slowest scrape %.2f s, all cut after %s s" % (slowest, cut))
	assert cut is not None and cut < 13 and slowest < 3
	EOF
}
bad_clients() {
	python3 - "$url" <<-'EOF'
	import random, socket, sys, time, urllib.request
	url = sys.argv[1]
	port = int(url.split(":")[2].split("/")[0])
	random.seed(1)
	# garbage, half requests, endless headers, a body without end, clients that never read
	for text in (random.randbytes(100000), b"GET /metrics\r\n\r\n", b"GET " + b"/" * 100000,
	             b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 20000, b"\r\n" * 5000, b"\0" * 5000,
	             b"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 1000000):
	    s = socket.create_connection(("127.0.0.1", port))
	    s.settimeout(8)
	    try:
	        s.sendall(text)
	        s.recv(1000)
	    except OSError:
	        pass
	    s.close()
	slow = []
	for i in range(40):
	    s = socket.create_connection(("127.0.0.1", port))
	    try:
	        s.send(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" if i % 2 else b"GET /me")
	    except OSError:
	        pass
	    slow.append(s)
	start = time.time()
	while True:
	    try:
	        page = urllib.request.urlopen(url, timeout=3).read()
	        break
	    except OSError:
	        assert time.time() - start < 15, "nobody is served any more"
	        time.sleep(0.2)
	assert b"ibroute_up" in page
	print("served %.1f s after 40 idle clients" % (time.time() - start))
	EOF
}
polls_on() { # the sample's time goes on with such clients there
	local a b
	a=$(curl -s -m 8 "$url" | grep '^ibroute_sample_timestamp_seconds')
	sleep 2
	b=$(curl -s -m 8 "$url" | grep '^ibroute_sample_timestamp_seconds')
	echo "$a / $b"
	[ -n "$b" ] && [ "$a" != "$b" ]
}
server_ends() {
	kill -TERM $server
	wait $server
	[ $? -eq 143 ]
}

ok "JSON of every view is valid" every_view_is_valid
ok "the schema has every field" every_field_is_in_the_schema
ok "rates are of two samples" rates_are_of_two_samples
ok "filter, order, number of rows" filter_sort_and_top
ok "a heatmap has the figures of the links" heatmap_is_of_the_links
ok "screens of all views" screens_of_all_views
ok "a saved view is one of --view and of --screen" a_saved_view_is_one
ok "notes are beside what they are on" notes_are_beside_what_they_are_on
ok "--do export writes what is in view, or says why not" what_is_on_a_screen_goes_into_files
ok "an unknown matrix" says 1 "this fabric has 'leaf x spine'" $demo -b -n 1 --view heatmap --layout torus
ok "an unknown view" says 64 "unknown view 'x'" $demo --screen x
ok "text has a head and columns" text_has_a_head_and_columns
ok "a reader that goes away" reader_gone
ok "a full disk" full_disk
ok "SIGINT" signalled INT 130
ok "SIGTERM" signalled TERM 143
ok "SIGTERM before there is anything" early_signal
ok "files" files_are_looked_at
ok "jobs of a file" jobs_of_a_file
ok "of jobs: ids as SLURM shows them, partition, account, reservation and features, kept in snapshots" what_slurm_says_of_jobs
ok "jobs that cannot be read" says 255 "Cannot read the jobs file" "$I" --load net --jobs none.txt --json
ok "a snapshot saved and loaded" saved_and_loaded
# files of at most 4 KiB stand for a disk that is full
small_disk() { (trap '' XFSZ && ulimit -f 4 && exec "$@"); }
no_half_snapshot() {
	says 1 'File too large' small_disk $demo -b -n 1 --save half/ && ! ls -d half*
}
ok "racks of a running SLURM, of its blocks, and in a snapshot" racks_of_slurm
ok "nothing is left of a snapshot that cannot be written" no_half_snapshot
ok "the history of a snapshot, its bookmarks, and a record of any moment" history_of_a_snapshot
what_has_changed() { # a cable less, a name and a speed changed; against a dump and a snapshot
	"$I" topo fattree2:leaves=4,spines=2,hosts=3 -o whole && "$I" topo fattree2:leaves=4,spines=2,hosts=3,fail=1,seed=2 -o less &&
		sed -i 's/"n0002"/"renamed"/; s/lid 1 4xEDR/lid 1 4xHDR/' less || return
	is 0 "$I" --load whole --diff whole && is 1 "$I" --load less --diff whole --json && valid fabric_diff out || return
	python3 -c 'import json
rows = sorted((r["change"], r["what"]) for r in json.load(open("out"))["diff"])
assert rows == [("changed", "link"), ("changed", "name"), ("gone", "cable")], rows' || return
	is 1 "$I" --load whole --diff less && grep -q '^+ cable ' out || return
	is 0 "$I" --demo=fattree2:leaves=4,spines=2,hosts=3 --diff whole && is 255 "$I" --load whole --diff none
}
ok "--diff" what_has_changed
limits() { # of ibqueryerrors
	printf '# ours\n\nSymbolErrorCounter=0 # none\nPortXmitWait = 999999999999\nVL15Dropped=3\n' >limits
	is 0 $demo --check --threshold-file limits && [ ! -s err ] || return
	printf 'PortXmitDiscards=5\nSymbolErrors=1\n' >limits
	says 255 'limits:2: not COUNTER=NUMBER: SymbolErrors=1' $demo --check --threshold-file limits
}
ok "limits of counters from a file of the diags" limits
ok "--check and its findings" findings
ok "Prometheus text" prom_text
ok "Prometheus text of some ports" prom_of_some
ok "names that need escapes" odd_names
ok "Prometheus text in a file" prom_file
ok "a server" served
ok "it listens here only" only_here
ok "bad clients" bad_clients
ok "pages are compressed for who takes gzip" packed
ok "groups of metrics can be left out, and names of jobs and users" groups
ok "updates that there were none of" no_updates_yet
ok "a group that is none" says 64 "'links' is not one of tiers, jobs, ports, errors, updates, none" $demo --prom --prom-groups links
ok "clients that send a byte a second keep nobody out, and are cut off" slow_clients
ok "it still polls" polls_on
ok "it ends" server_ends
ok "an address that is none" says 64 'is not a numeric address' $demo --prom-listen nowhere:99
ok "a port that is none" says 64 'not of the form' $demo --prom-listen 127.0.0.1:99999
ok "an unknown field" says 64 "no field 'utl' \(did you mean util_pct\?\)" $demo -b --view links --fields utl
ok "a filter with a mistake" says 64 'column 6' $demo -b --view links --filter 'util>>1'
ok "an order by nothing" says 64 'no field' $demo -b --view links --sort x
ok "a filter without rows" says 64 'need a --view' $demo -b --filter 'util>1'
ok "two forms" says 64 'only one of' $demo -b --json
ok "options of a batch on a screen" says 64 'need -b' $I --demo --view links
ok "a batch does not write" says 64 'batch output is read-only' $demo -b --rw
ok "no fabric" is 255 "$I" --json -C no-such-ca
ok "a command that is none" says 64 "ambiguous command 'nonsense'" $demo --screen links --do 'sort util; nonsense 5'
ok "a command without what it needs" says 64 '--do: view VIEW' $demo --screen links --do 'view'
ok "commands without a screen" says 64 '--do needs --screen' $demo -b --do 'sort util'
ok "no field at all" says 64 "no field ''" $demo -b --view links --fields ''
ok "a list of fields" is 0 "$I" --view jobs --fields help
finish
