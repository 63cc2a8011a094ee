#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# campaign.sh: histories of jobs and campaigns from outside: replay, also killed in the middle;
# what a second program computes from their lines.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
top=$PWD
I=$top/${B:-build}/ibroute-top
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export XDG_CONFIG_HOME=$work/none TZ=UTC0
JUDGE_LOG=$work/log

# exit code, pattern in what is printed, command...
says() {
	local want=$1 pattern=$2 rc
	shift 2
	"$@" >said 2>&1 </dev/null
	rc=$?
	cat said
	[ "$rc" -eq "$want" ] && grep -qE -- "$pattern" said
}
says_not() {
	! grep -qE -- "$1" said
}

# --- a moment of a history ------------------------------------------------------------------
$I topo fattree2:leaves=6,spines=3,hosts=6 >net
cat >h.csv <<'END'
jobid,start,end,nodelist
1,1000000000,1000003000,n[0001-0012]
2,1000001200,1000002400,n[0013-0030]
3,1000002400,1000006000,n[0010-0020],other1
END
cat >h.filetxt <<'END'
JobId=7 UserId=anna(1000) GroupId=u(1) Name=a b JobState=COMPLETED Partition=p TimeLimit=1 StartTime=2001-09-09T01:46:40 EndTime=2001-09-09T02:00:00 NodeList=n[0001-0012] NodeCnt=12 ProcCnt=12 WorkDir=/tmp
END
cat >h.swf <<'END'
; UnixStartTime: 1000000000
; MaxNodes: 36
; MaxProcs: 36
1 0 0 3000 12 -1 -1 12 -1 -1 1 1 1 1 1 -1 -1 -1
2 600 0 3000 20 -1 -1 20 -1 -1 1 1 1 1 1 -1 -1 -1
3 700 0 300 20 -1 -1 20 -1 -1 1 1 1 1 1 -1 -1 -1
END
route() { "$I" compare --topology net --engines updn --bisections 0 "$@"; }
ok "the jobs of a moment" says 0 ' 2 jobs \(2 on' route --jobs h.csv --at @1000001500
ok "a zone counts" says 0 ' 1 jobs \(1 on' route --jobs h.csv --at 2001-09-09T03:46:41+02:00
ok "a history without --at is told" says 0 'is a history, from 2001-09-09T01:46:40\+0000 to .*--at TIME' route --jobs h.csv
ok "so are jobs that share nodes" grep -q '11 host ports are in several jobs at once (n0010' said
ok "and nodes that the fabric lacks" grep -q '1 of the 42 nodes named' said
ok "a time outside" says 0 'no job runs at 2033-.*the history is from' route --jobs h.csv --at @2000000000
ok "jobcomp/filetxt, and its time zone" says 0 'no zone: those of this machine are taken \(\+0000\)' route --jobs h.filetxt --at @1000000100
ok "with its job" grep -q ' 1 jobs (1 on' said
for p in first-fit scattered topology; do
	ok "Standard Workload Format, $p" says 0 ' 2 jobs \(2 on' route --jobs h.swf --placement $p --at @1000000800
done
ok "whoever finds no room is told" grep -q '1 of 3 jobs are left out.*the first: 3)' said
ok "a policy that there is not" says 64 'first-fit, scattered, topology' route --jobs h.swf --placement best
ok "a time that is none" says 64 'not a time' route --jobs h.csv --at noon
: >empty
ok "a file without a job" says 0 'empty: no job is in it' route --jobs empty
printf 'JobID|Start\n' >foreign
ok "a foreign file, with file and line" says 255 'foreign:1: .*NodeList' route --jobs foreign
ok "the console at a moment" says 0 '^ *3 ' "$I" --load net --jobs h.csv --at @1000005000 -b --view jobs

# --- replay ---------------------------------------------------------------------------------
python3 - >r.csv <<'END'
print("jobid,start,end,nodelist")
for i in range(40):
    a = 1 + (i * 7) % 24
    print(f"{i + 1},{1000000000 + 300 * i},{1000000000 + 300 * i + 1500},n[{a:04d}-{a + 8:04d}]")
END
replay() { "$I" replay --topology net --history r.csv --engines "dfsssp,updn,sar:paper@scratch,sar@always,sar" --every "${every:-job-change}" "$@"; }
same() { # DIR DIR
	local f
	for f in times.jsonl jobs.jsonl table1.txt table1.md table1.csv replay.json; do cmp "$1/$f" "$2/$f" || return 1; done
}
ok "a replay" says 0 'Gain, as in SC16 Table 1' replay -o whole
ok "Table 1 from its lines by a second program" python3 "$top/tests/campaign_check.py" replay whole
ok "its page needs no network" bash -c '! grep -E "https?://|src=|@import|<script" whole/report.html'
ok "every job has its line" [ "$(wc -l <whole/jobs.jsonl)" -eq 40 ]
killed() { # is killed again and again, each time a little later
	local ms
	for ms in 30 60 90 120 150 180 220 260 300; do
		timeout -s KILL "$(printf '0.%03d' "$ms")" "$I" replay --topology net --history r.csv \
			--engines "dfsssp,updn,sar:paper@scratch,sar@always,sar" --every job-change -o torn >/dev/null 2>&1
	done
	replay -o torn && same whole torn
}
ok "killed at any moment, it gives the same bytes" killed
ok "with another number of threads, too" bash -c "$(declare -f replay same); I=$I; replay --threads 1 -o one && same whole one"
ok "what is there is not mixed with another" says 1 'another fabric, history, version' replay -o whole --auto-gain 1
ok "unless it is asked to begin again" says 0 'Gain' replay -o whole --auto-gain 1 --again
ok "a history without times" says 255 'no times' "$I" replay --topology net --history <(echo '1 n[0001-0009]') --engines updn -o x
ok "installed needs tables" says 64 'installed needs' "$I" replay --topology net --history r.csv --engines installed -o x

# --- failures -------------------------------------------------------------------------------
spec=torus:dims=4x4x3,hosts=2
fails() { "$I" failures --topology "${net:-$spec}" --engines updn,dfsssp,nue,ftree --seeds 4 --rate 0..6%/3% --kill cables,switches "$@"; }
samef() { # DIR DIR
	local f
	for f in cells.jsonl failures.txt failures.md failures.csv failures.json; do cmp "$1/$f" "$2/$f" || return 1; done
}
ok "a failure campaign" says 0 'ftree: no usable routing first at 0 %: not a fat tree' fails -o lives --repair
ok "the throughput retained from its lines by a second program" python3 "$top/tests/campaign_check.py" failures lives
ok "its page needs no network" bash -c '! grep -E "https?://|src=|@import|<script" lives/report.html'
tornf() {
	local ms
	for ms in 50 100 150 200 250; do
		timeout -s KILL "0.$(printf '%03d' "$ms")" "$I" failures --topology "$spec" --engines updn,dfsssp,nue,ftree \
			--seeds 4 --rate 0..6%/3% --kill cables,switches --repair -o tornf >/dev/null 2>&1
	done
	printf '{"seed":4,"st' >>tornf/cells.jsonl # as a full disk leaves it
	fails -o tornf --repair && samef lives tornf
}
ok "killed at any moment, it gives the same bytes" tornf
ok "with another number of threads, too" bash -c "$(declare -f fails samef); I=$I spec=$spec; fails --repair --threads 1 -o onef && samef lives onef"
nested() {
	local k
	for k in 0 1 2; do
		"$I" failures --topology "$spec" --kill cables,switches --rate 0..6%/3% --dump 2,$k | grep -E '^(Switch|\[)' |
			sed -E 's/#.*//; s/ lid .*//' | sort >"nest.$k" || return 1
	done
	[ -z "$(comm -13 nest.0 nest.1)" ] && [ "$(wc -l <nest.2)" -lt "$(wc -l <nest.1)" ]
}
ok "what has failed at 3 % has failed at 6 %, as dumps show" nested
as_compare() {
	"$I" compare --topology "$spec" --engines updn,dfsssp,nue --bisections 50 --json >cmp.json || return 1
	python3 - <<-'END'
		import json, sys
		whole = {o["engine"]: o for o in json.load(open("cmp.json"))}
		n = 0
		for o in map(json.loads, open("lives/cells.jsonl")):
		    if o["step"] or o["engine"] not in whole:
		        continue
		    for k in whole[o["engine"]].keys() & o.keys() - {"engine"}:
		        a, b = whole[o["engine"]][k], o[k]
		        same = a == b or isinstance(a, float) and abs(a - b) < 1e-5 * max(1, abs(a))
		        n += 1
		        if not same:
		            sys.exit(f"{o['engine']}: {k} is {b}, compare says {a}")
		sys.exit(n < 100)
	END
}
ok "without failures it says what compare says" as_compare
ok "repair is no engine of its own here" says 64 'needs the tables of before' "$I" failures --topology net --engines repair -o x
ok "a part that there is not" says 64 'cables, switches, linecards' fails --kill fans -o x
ok "by time, with repairs" says 0 ' 731| 730' "$I" failures --topology net --engines updn,ftree --mtbf cable=20000 --years 2 \
	--repaired-after 30 --seeds 2 -o bytime
ok "with jobs: their time" says 0 '^updn' "$I" failures --topology net --engines updn,sar --rate 5% --seeds 2 --jobs h.csv \
	--at @1000001500 -o withjobs
ok "what is there is not mixed with another" says 1 'another fabric, version' fails -o lives --seeds 5
ok "packets in simulated time" says 0 'pkt shifts +pkt all +deadlocks' "$I" failures --topology net --engines updn --rate 0,10% --seeds 2 --bisections 5 --packets -o packets
packets_retained() { # from the lines again, by a second program
	python3 - <<-'PY'
	import csv, json
	lines = [json.loads(l) for l in open("packets/cells.jsonl")]
	rows = list(csv.DictReader(open("packets/failures.csv")))
	for key, column in (("shift_GBps", "packets_shift_pct"), ("all_to_all_GBps", "packets_all_to_all_pct")):
	    rate = {(l["seed"], l["step"]): l["packets"][key] for l in lines}
	    assert all(v > 0 for v in rate.values())
	    kept = [100 * rate[s, 1] / rate[s, 0] for s in (1, 2)]
	    assert abs(sum(kept) / 2 - float(rows[1][column])) < 0.01, (kept, rows[1])
	assert all(l["packets"]["deadlocks"] == 0 for l in lines)
	PY
}
ok "are retained as the lines say" packets_retained

# --- the same in cells ------------------------------------------------------------------------
cp net cells.net
cells=(--topology cells.net --engines updn,nue:2,dor --rate 0..4%/2% --seeds 4 --bisections 10 --repair)
campaign() { "$I" campaign "$@"; }
ok "cells are planned" says 0 '^cells: 12 cells, of 3 engines and 4 seeds' campaign plan cells "${cells[@]}"
rm cells.net # the folder has its own
ok "none is there" says 1 '12 of 12 cells are missing, 0 damaged; with 4 tasks: --array=0-3$' campaign status cells --tasks 4
ok "a share of them" says 0 '^4 cells computed' campaign run cells --shard 1/3
ok "is not computed twice" says 0 '^0 cells computed in .* 4 there before' campaign run cells --shard 1/3
ok "nothing is merged before all are there" says 1 '8 of 12 cells are missing.*--array=0,2-3,5-6,8-9,11' campaign merge cells
ok "a script for sbatch says what one takes" says 0 '^# measured: .* CPU seconds a cell, 12 cells' campaign run cells --submit --tasks 5
ok "with its share" grep -q 'campaign run .*cells. --threads 1 --shard "$SLURM_ARRAY_TASK_ID/5"' said
ok "several processes at a time, some of them twice" eval 'printf "%s\\n" 0 1 2 2 1 | xargs -P 5 -I% "$I" campaign run cells --shard %/3 >said'
ok "are merged" says 0 'throughput retained' campaign merge cells
cp net cells.net
ok "one process" says 0 'written to one' "$I" failures "${cells[@]}" -o one
same_bytes() {
	local f
	for f in cells.jsonl failures.json failures.txt failures.md failures.csv report.html; do
		cmp "one/$f" "cells/$f" || return 1
	done
}
ok "makes the same bytes" same_bytes
ok "which are printed again" says 0 'throughput retained' campaign report cells

# --- one of them, with its tables ---------------------------------------------------------------
ok "a damaged fabric is written with its tables" says 0 'ibroute-top --load .*/cell$' campaign dump cells --cell 3,nue:2,2 -o "$work/cell"
as_in_its_line() {
	"$I" check --topology cell/fabric.ibnetdiscover --tables cell/tables.ibr --bisections 10 --json >cell.json || return 1
	python3 - <<-'PY'
		import json
		line = next(o for o in map(json.loads, open("cells/cells.jsonl")) if (o["seed"], o["step"], o["engine"]) == (3, 2, "nue:2"))
		cell = json.load(open("cell.json"))
		assert line["cables_down"] > 0 and line["usable"]
		for key in ("switches", "terminals", "channels", "vls_used", "connected", "deadlock_free", "hops_mean", "efi_max", "sync", "ebb"):
		    assert line[key] == cell[key] or abs(line[key] - cell[key]) < 1e-5, (key, line[key], cell[key])
	PY
}
ok "they measure what its line says" as_in_its_line
ok "what an engine refuses is written without" says 1 'no tables: ' campaign dump cells --cell 1,dor,0 -o "$work/cell"
ok "the tables of before are gone" eval '[ -s cell/fabric.ibnetdiscover ] && [ ! -e cell/tables.ibr ]'
ok "a seed that is none" says 64 'the seeds of this campaign are 1 to 4' campaign dump cells --cell 5,dor,0 -o "$work/cell"
ok "a step that is none" says 64 'steps of this campaign are 0 to 2' campaign dump cells --cell 1,dor,3 -o "$work/cell"
ok "an engine that is none" says 64 "'nue' is no engine of this campaign" campaign dump cells --cell 1,nue,0 -o "$work/cell"
ok "without a folder" says 64 'needs --cell and --output' campaign dump cells --cell 1,dor,0

# --- on the screen ------------------------------------------------------------------------------
. "$top/tests/tty.sh"
trap 'tty_stop; rm -rf "$work"' EXIT
mkdir opened
tty_start 100x30 env TERM=screen-256color LC_ALL=C.UTF-8 XDG_STATE_HOME="$work/state" TMPDIR="$work/opened" "$I" --load cells
ok "a campaign's folder opens in its view" tty_wait 5 'Failures of fab-.* 3 engines, 3 steps, 4 seeds'
tty_keys Down Down
ok "with a line for each step" tty_wait 5 '^> +updn +4 % +4 of 4'
tty_keys Enter
ok "Enter opens the damaged fabric with its tables" tty_wait 10 'routing updn .*FILE'
ok "as a console of its own shows it" tty_wait 5 'ISLs [0-9]+ '
tty_keys q
ok "from which q leads back" tty_wait 5 '^> +updn +4 % +4 of 4'
ok "and nothing is left behind" eval '[ -z "$(ls opened)" ]'
tty_keys :
tty_type "campaign $work/whole"
tty_keys Enter
ok "a replay is read instead" tty_wait 5 'Replay of file r.csv on fab-.*\(1 of [0-9]+\)'
tty_keys ']'
ok "and walked through its moments" tty_wait 5 '\(2 of [0-9]+\)'
tty_keys q
ok "q ends it" eval 'for i in $(seq 50); do tty_dead && break; sleep 0.1; done; [ "$(tty_status)" = 0 ]'
tty_stop
one=$(ls cells/cells | head -n 1)
sed -i '2s/"step":0/"step":1/' "cells/cells/$one"
ok "a damaged cell is named" says 1 '0 of 12 cells are missing, 1 damaged' campaign merge cells
ok "and computed again" says 0 '^1 cell computed' campaign run cells
sed '1s/"program":"[^"]*"/"program":"0.1.0"/' "cells/cells/$one" >"cells/cells/${one%?}z"
ok "one of another version is not mixed in" says 1 'is of ibroute-top 0.1.0, .* versions are not mixed' campaign merge cells
sed '1s/"fingerprint":"./"fingerprint":"x/' "cells/cells/$one" >"cells/cells/${one%?}z"
ok "nor one of another fabric" says 1 'fabrics are not mixed' campaign merge cells
rm "cells/cells/${one%?}z"
ok "more seeds are another campaign" says 1 'has another campaign already' campaign plan cells "${cells[@]}" --seeds 5
ok "the same one is not" says 0 '12 cells' campaign plan cells "${cells[@]}"
$I topo fattree2:leaves=6,spines=3,hosts=5 >"cells/inputs/$(ls cells/inputs)"
ok "inputs that have changed are refused" says 1 'planned for another fabric or other jobs' campaign run cells
sed -i 's/"program": "[^"]*"/"program": "0.1.0"/' cells/campaign.json
ok "and another version" says 1 'was planned by ibroute-top 0.1.0' campaign run cells
ok "no folder" says 255 'nowhere: No such file' campaign run nowhere
ok "no campaign in it" says 255 'no campaign was planned there' campaign status one
ok "a shard that is none" says 64 "'3/3' is not I/N" campaign run cells --shard 3/3
finish
