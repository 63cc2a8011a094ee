#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cli.sh: every subcommand from outside: output, exit codes, messages, pipes, nothing half written.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
top=$PWD
I=$top/${B:-build}/ibroute-top
SHARED=${SHARED:-../shared}
case $SHARED in /*) ;; *) SHARED=$top/$SHARED ;; esac
work=$(mktemp -d)
pids=()
cleanup() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
	chmod -R u+w "$work" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 2
export XDG_CONFIG_HOME=$work/none

good() { passed=$((passed + 1)); }
bad() {
	failed=$((failed + 1))
	echo "FAILED: $1"
	[ -s out ] && head -n 12 out | sed 's/^/  out: /'
	[ -s err ] && head -n 12 err | sed 's/^/  err: /'
}
# what it shows, wanted exit code, pattern in stdout or stderr, command...
expect() {
	local what=$1 want=$2 pattern=$3 rc
	shift 3
	"$@" >out 2>err </dev/null
	rc=$?
	if [ "$rc" -ne "$want" ]; then
		bad "$what: exit $rc, wanted $want"
	elif [ -n "$pattern" ] && ! cat out err | grep -qE -- "$pattern"; then
		bad "$what: no \"$pattern\" in the output"
	else
		good
	fi
}
check() { # what it shows, command that must succeed
	local what=$1
	shift
	: >err
	if "$@" >out 2>err; then good; else bad "$what"; fi
}
check_not() {
	local what=$1
	shift
	if "$@" >out 2>err; then bad "$what"; else good; fi
}
keys() { # FILE...: each is JSON with all keys of the contract, in their types
	python3 - "$@" <<-'EOF'
	import json, sys
	ints = "switches terminals lids channels vls_used sls_used hops_max efi_max eff_efi_max eff_efi_bound eff_efi_bound_minimal lft_blocks lft_entries_changed lft_blocks_changed".split()
	reals = "hops_mean job_efi_max_mean dark_fiber_pct links_per_job_mean ebb".split()
	bools = "connected loop_free deadlock_free".split()
	for name in sys.argv[1:]:
	    data = json.load(open(name))
	    for o in data if isinstance(data, list) else [data]:
	        assert isinstance(o["engine"], str)
	        assert list(o["seconds"]) == ["total", "paths", "layers", "verify"]
	        for k in ints: assert o[k] is None or type(o[k]) is int, (k, o[k])
	        for k in reals: assert o[k] is None or type(o[k]) is float, (k, o[k])
	        for k in bools: assert o[k] is None or type(o[k]) is bool, (k, o[k])
	        for k in "time_mean time_stderr time_bound time_node_mean time_worst time_s_per_mib sync sync_stderr rate_mean".split():
	            assert o[k] is None or type(o[k]) is float, (k, o[k])
	        assert (o["time_mean"] is None) == (o["times"] is None) == (o["time_worst"] is None), "times"
	        assert o["time_mean"] is None or 1 <= o["time_mean"] <= o["time_worst"] + 1e-9, "time_mean"
	        assert o["time_bound"] is None or 1 <= o["time_bound"] <= o["time_mean"] + 1e-9, "time_bound"
	        assert o["sync"] is None or o["connected"] and 0 < o["sync"] <= 1 and 0 < o["rate_mean"] <= 1, "sync"
	        assert (o["ebb"] is None) == (not o["connected"]), "ebb"
	        assert o["ebb"] is None or 0 < o["ebb"] <= 1 and 0 <= o["ebb_ci95"] < 0.2, "ebb"
	EOF
}
value() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"; }

# --- the program -----------------------------------------------------------------------------
expect "version" 0 '^ibroute-top [0-9]' "$I" --version
expect "unknown subcommand is refused with the list" 64 'compare ' "$I" rout
expect "--help lists the subcommands" 0 '^  ibroute-top compare ' "$I" --help
for c in topo route check deadlock compare; do
	expect "$c --help" 0 'Usage: ibroute-top '$c "$I" $c --help
	expect "$c --version" 0 '^ibroute-top [0-9]' "$I" $c --version
	expect "$c: unknown option" 64 'unrecognized option' "$I" $c --colour
	expect "$c: nothing given" 64 'is? ?needed' "$I" $c
done
expect "route --help lists the engines" 0 '^  sar ' "$I" route --help
expect "topo --help lists the types" 0 'dragonfly: ' "$I" topo --help

# Each option of a number: one that is none ends in words.
numbers_are_read() {
	local c o rc n=0

	for c in "" $("$I" --help | sed -n 's/^  ibroute-top \([a-z-]*\) .*/\1/p'); do
		# shellcheck disable=SC2086
		for o in $("$I" $c --help | grep -oE -- '--[a-zA-Z0-9_-]+=(N|PORT|MS|SECONDS|K|S|T|L|PERCENT|HOPS|DAYS)\>'); do
			"$I" $c "${o%=*}=7x" </dev/null >"$work/out" 2>&1
			rc=$? n=$((n + 1))
			[ "$rc" -eq 64 ] && grep -q 7x "$work/out" && continue
			echo "$c ${o%=*}=7x: exit $rc"
			return 1
		done
	done
	[ "$n" -gt 80 ]
}
ok "every option that takes a number refuses one that is none" numbers_are_read

# --- topo ------------------------------------------------------------------------------------
for spec in $("$I" topo --list | sed -n 's/^    for example //p'); do
	expect "topo $spec" 0 '^switchguid=0x2000000000000' "$I" topo "$spec"
done
expect "topo: bad value names key and range" 64 'torus: hosts=300 is out of range; 0 to 254' "$I" topo torus:dims=3x3,hosts=300
expect "topo: bad type lists the types" 64 'the types are fattree2, ' "$I" topo ring:n=3
expect "topo: two specs" 64 'unexpected argument' "$I" topo oft:k=3 oft:k=4
expect "topo -o FILE" 0 '' "$I" topo hyperx:dims=4x4,hosts=2 -o h.net
mkfifo pipe
expect "topo -o leaves a pipe what it is" 1 'pipe is a pipe or device' "$I" topo hyperx:dims=4x4,hosts=2 -o pipe
check "topo -o writes what stdout gets" bash -c "'$I' topo hyperx:dims=4x4,hosts=2 | cmp - h.net"
expect "topo: no such folder" 1 'nowhere/h.net cannot be written: No such file' "$I" topo oft:k=3 -o nowhere/h.net
check "topo: the same seed, the same bytes" bash -c "cmp <('$I' topo random:switches=9,links=20,seed=5) <('$I' topo random:switches=9,links=20,seed=5)"
check_not "topo: another seed, another fabric" cmp <("$I" topo random:switches=9,links=20,seed=5) <("$I" topo random:switches=9,links=20,seed=6)
if [ -c /dev/full ]; then
	expect "topo to a full disk" 1 'No space left' bash -c "'$I' topo oft:k=3 >/dev/full"
	expect "route --json to a full disk" 1 'No space left' bash -c "'$I' route --engine updn --topology h.net --json >/dev/full"
	expect "compare to a full disk" 1 'No space left' bash -c "'$I' compare --engines updn --topology h.net >/dev/full"
	for c in --version --help "config show" "audit verify --shell" "status"; do
		expect "$c to a full disk" 1 'No space left' bash -c "'$I' $c >/dev/full"
	done
else
	skip "/dev/full is not there"
fi

expect "a closed stdout" 1 'writing to stdout failed: Bad file descriptor' bash -c "'$I' topo --list >&-"
check "and nothing that was to go there is in a file opened later" bash -c "'$I' topo oft:k=3 -o closed.net >&- 2>&- && '$I' topo oft:k=3 | cmp - closed.net"

# --- route -----------------------------------------------------------------------------------
cat >jobs <<-'EOF'
# three jobs over several switches
1 n[0001-0010]
2 n[0011,0013,0015,0017-0020]
3 n[0021-0032]
EOF
for e in minhop updn dfsssp sar; do
	expect "route $e" 0 'Connected, loop-free and deadlock-free' "$I" route --engine $e --topology h.net --jobs jobs --out d-$e --formats opensm,ibdm
	check "route $e: summary.json" keys d-$e/summary.json
	expect "check $e by our tables" 0 'deadlock-free' "$I" check --topology h.net --tables d-$e/tables.ibr
	expect "check $e by OpenSM's dumps" 0 'deadlock-free' "$I" check --topology h.net --lfts d-$e/opensm-lfts.dump --path-sl d-$e/path-sl.dump --sl2vl d-$e/opensm-sl2vl.dump
	expect "check $e by ibdmchk's files" 0 'deadlock-free' "$I" check --topology d-$e/opensm-subnet.lst --fdbs d-$e/opensm.fdbs --path-sl d-$e/path-sl.dump --sl2vl d-$e/ibdm-sl2vl.dump
	check "route $e: one thread or two, the same bytes" bash -c "'$I' route --engine $e --topology h.net --jobs jobs --threads 1 --out t1 >/dev/null && '$I' route --engine $e --topology h.net --jobs jobs --threads 2 --out t2 >/dev/null && cmp t1/tables.ibr t2/tables.ibr && cmp t1/tables.ibr d-$e/tables.ibr"
done
expect "route uses no more VLs than it needs" 0 '"vls_used": 2' "$I" route --engine dfsssp --topology slimfly:q=5,hosts=2 --vls 8 --json
expect "route --spread uses all VLs" 0 '"vls_used": 8' "$I" route --engine dfsssp --topology slimfly:q=5,hosts=2 --vls 8 --spread --json
expect "route --per-job" 0 '"slowdown": [1-9]' "$I" route --engine sar --topology h.net --jobs jobs --per-job --json
expect "route --per-job tells how far a job's bisection bandwidth may be off" 0 '"ebb_together_ci95": 0\.0*[1-9]' "$I" route --engine sar --topology h.net --jobs jobs --per-job --json
expect "route --per-job tells the time of each job" 0 '"time": [1-9]' "$I" route --engine sar --topology h.net --jobs jobs --per-job --json
expect "compare --per-job prints a line for each" 0 'time +slowdown +rate min +bisection alone' "$I" compare --engines sar,updn --topology h.net --jobs jobs --per-job --pattern ring
expect "predictions can be left out" 0 '"slowdown_mean": null' "$I" route --engine sar --topology h.net --jobs jobs --pattern none --json
expect "unknown pattern" 64 'pattern.*"best".*stencil2d' "$I" route --engine sar --topology h.net --pattern best
expect "escape LIDs" 0 'deadlock-free' "$I" route --engine dfsssp --topology torus:dims=3x3,hosts=2,lmc=1 --escape --out esc
expect "escape LIDs pass check from the files" 0 'deadlock-free' "$I" check --topology torus:dims=3x3,hosts=2,lmc=1 --tables esc/tables.ibr
expect "escape LIDs need an LMC" 1 'use LMC 1 or more' "$I" route --engine dfsssp --topology torus:dims=3x3,hosts=2 --escape
printf "%s\n" "n0001: n0002=1000000,n0007=5" "n0009: n0001=77" >demand
printf "%s\n" "n0001: n0002=1000000,n0007=5" "n0009 n0001=77" >baddemand
printf "%s\n" "0: 1=1000000,2=5" >rankdemand
printf "%s\n" "0-2: n[0001-0003]" >ranks
expect "route with a demand" 0 "deadlock-free" "$I" route --engine parx --topology hyperx:dims=4x3,hosts=2,lmc=2 --demand demand
expect "route with a demand of ranks" 0 "deadlock-free" "$I" route --engine parx --topology hyperx:dims=4x3,hosts=2,lmc=2 --demand rankdemand --ranks ranks
expect "parx writes its choice of LIDs" 0 '"ok": true' "$I" route --engine parx --topology hyperx:dims=4x3,hosts=2,lmc=2 --out px --json
expect "what UCX can use of it is written" 0 'mpi-env.txt' "$I" route --engine parx --topology hyperx:dims=4x3,hosts=2,lmc=2 --formats mpi --out pm --json
expect "by host, or why not" 0 '^(# )?n0001:? ' cat pm/mpi-env.txt
expect "without a choice of LIDs that is left out" 0 'no choice of LIDs' "$I" route --engine minhop --topology hyperx:dims=4x3,hosts=2,lmc=2 --formats mpi --out pn --json
expect "with a choice of LIDs times are those of large messages" 0 'Times are those of large messages' "$I" check --topology hyperx:dims=4x3,hosts=2,lmc=2 --tables px/tables.ibr --lid-choice px/lid-choice.txt
expect "who knows base LIDs only is warned" 0 'software that knows base LIDs only gets .* let MPI choose' "$I" route --engine parx --topology hyperx:dims=6x4,hosts=3,lmc=2
"$I" route --engine minhop --topology hyperx:dims=4x3,hosts=2,lmc=2 --out hx >/dev/null 2>&1
expect "plan with a demand: its time by the size of messages" 0 '^time of the demand( +[0-9.]+){3}$' "$I" plan --engine parx --topology hyperx:dims=4x3,hosts=2,lmc=2 --lfts hx/opensm-lfts.dump --demand demand
"$I" plan --engine parx --topology hyperx:dims=4x3,hosts=2,lmc=2 --lfts hx/opensm-lfts.dump -o parx.plan >/dev/null 2>&1
expect "show tells a plan of parx by the size of messages" 0 '^messages of this size: +base LIDs +small +large$' "$I" show parx.plan
expect "the choice of LIDs keeps its promises" 0 'around the direct cable' "$I" check --topology hyperx:dims=4x3,hosts=2,lmc=2 --tables px/tables.ibr --lid-choice px/lid-choice.txt
sed 's/^pair 0 1 .*/pair 0 1 small 0 large 0/' px/lid-choice.txt >badchoice
expect "a choice that breaks them is found" 1 'these tables are faulty' "$I" check --topology hyperx:dims=4x3,hosts=2,lmc=2 --tables px/tables.ibr --lid-choice badchoice
sed 's/^pair 0 1 .*/pair 0 1 small 9 large 0/' px/lid-choice.txt >badchoice
expect "a bad choice: file and line" 255 'badchoice:[0-9]*: ' "$I" check --topology hyperx:dims=4x3,hosts=2,lmc=2 --tables px/tables.ibr --lid-choice badchoice
check "the LIDs for OpenSM are unique and by quadrants" bash -c "[ \$(grep -c ^0x px/guid2lid) -eq 36 ] && [ \$(sed -n 's/^0x[^ ]* //p' px/guid2lid | sort -u | wc -l) -eq 36 ]"
expect "figures of all LIDs" 0 '"efi_max": [1-9]' "$I" route --engine dfsssp --topology hyperx:dims=4x3,hosts=2,lmc=2 --all-lids --json
expect "bad demand: file and line" 255 "baddemand:2: " "$I" route --engine parx --topology hyperx:dims=4x3,hosts=2,lmc=2 --demand baddemand
expect "route without bisections" 0 '"ebb": null' "$I" route --engine sar --topology h.net --bisections 0 --json
check "route --json prints what summary.json holds, but for the times" bash -c "'$I' route --engine sar --topology h.net --jobs jobs --out d-sar --formats opensm,ibdm --json >s.json && cmp s.json d-sar/summary.json"
check "all files of both formats are there" bash -c '[ "$(ls -A d-sar | tr "\n" " ")" = "ibdm-sl2vl.dump opensm-lfts.dump opensm-sl2vl.dump opensm-subnet.lst opensm.fdbs path-sl.dump summary.json tables.ibr " ]'
check "figures of jobs are numbers with jobs" bash -c "python3 -c 'import json; o=json.load(open(\"s.json\")); assert o[\"eff_efi_max\"] >= o[\"eff_efi_bound\"] > 0'"
expect "route without jobs" 0 '"eff_efi_max": null' "$I" route --engine sar --topology h.net --json
expect "route through a pipe" 0 '"terminals": 18' bash -c "'$I' topo torus:dims=3x3,hosts=2 | '$I' route --engine dfsssp --topology - --json"
expect "route on a text of topo" 0 '"terminals": 18' "$I" route --engine dfsssp --topology torus:dims=3x3,hosts=2 --json
expect "tables for repair" 0 'deadlock-free' "$I" route --engine dfsssp --topology xgft:h=2,m=4x4,w=1x4 --out r0
expect "any engine takes tables of before, and says what has changed" 0 'the fabric has changed since: 1 cable gone; gone: leaf[0-9]/[0-9]-spine[0-9]/[0-9]' "$I" route --engine updn --topology xgft:h=2,m=4x4,w=1x4,fail=1 --tables r0/tables.ibr
expect "check says what tables of before still reach, of a folder" 1 'paths are missing' "$I" check --topology xgft:h=2,m=4x4,w=1x4,fail=1 --tables r0
expect "compare counts changes against what stands" 0 'entries changed  *- *[1-9]' "$I" compare --engines updn --topology xgft:h=2,m=4x4,w=1x4,fail=1 --tables r0/tables.ibr
expect "plan refuses tables of before that have lost paths" 1 'must not be installed' "$I" plan --topology xgft:h=2,m=4x4,w=1x4,fail=1 --lfts r0/tables.ibr --tables r0/tables.ibr
check "a plan on the fabric of before" "$I" plan -e dfsssp --topology xgft:h=2,m=4x4,w=1x4 --lfts r0/tables.ibr -o before.plan
expect "show says what still stands of it" 1 'the fabric has changed since: 1 cable gone; gone: ' "$I" show --topology xgft:h=2,m=4x4,w=1x4,fail=1 before.plan
expect "show on its own fabric" 0 'deadlock-free' "$I" show --topology xgft:h=2,m=4x4,w=1x4 before.plan
expect "weak lists failures, worst first" 0 'cable  leaf[0-9]/[0-9]-spine[0-9]/[0-9] .* 1 .*' "$I" weak --topology xgft:h=2,m=4x4,w=1x4 --tables r0 --limit 3
expect "weak takes complete tables only" 1 'have no path to LID' "$I" weak --topology xgft:h=2,m=4x4,w=1x4,fail=1 --tables r0
expect "the console shows them, too" 0 " repaired  *[0-9.][0-9.]*x " "$I" --demo=xgft:h=2,m=4x4,w=1x4 --screen weak
expect "scripts have a command for them" 64 "ibroute-top weak prints" "$I" --demo=xgft:h=2,m=4x4,w=1x4 -b --view failures
check "tables from before a cable came" "$I" route --engine dfsssp --topology xgft:h=2,m=4x4,w=1x4,fail=1 --out r3
expect "plan takes them, as they still hold" 0 '0 entries' "$I" plan --topology xgft:h=2,m=4x4,w=1x4 --lfts r3/tables.ibr --tables r3/tables.ibr
expect "repair takes them, and says what has changed" 0 'the fabric has changed since: 1 cable gone' "$I" route --engine repair --topology xgft:h=2,m=4x4,w=1x4,fail=1 --tables r0/tables.ibr --out r1
expect "check after a repair" 0 'deadlock-free' "$I" check --topology xgft:h=2,m=4x4,w=1x4,fail=1 --tables r1/tables.ibr
expect "repair says what it changes" 0 '"entries_needed": [1-9]' cat r1/summary.json
expect "repair of a dump" 0 'deadlock-free' "$I" route --engine repair --topology xgft:h=2,m=4x4,w=1x4,fail=1 --lfts r0/opensm-lfts.dump --path-sl r0/path-sl.dump --sl2vl r0/opensm-sl2vl.dump --json --out r2
check "the same entries from tables.ibr and from the dump" cmp r1/opensm-lfts.dump r2/opensm-lfts.dump
expect "a plan of a repair" 0 'no LID needs a drain' "$I" plan -e repair --topology xgft:h=2,m=4x4,w=1x4,fail=1 --lfts r0/tables.ibr
expect "repair without tables says so" 0 'no installed tables to repair' "$I" route --engine repair --topology xgft:h=2,m=4x4,w=1x4
expect "route --lmc" 0 '"lids": 45' "$I" route --engine dfsssp --topology torus:dims=3x3,hosts=2 --lmc 1 --json --out l1
expect "check with another LMC is refused with a hint" 255 'made with --lmc' "$I" check --topology torus:dims=3x3,hosts=2 --tables l1/tables.ibr
expect "check with the same LMC" 0 'deadlock-free' "$I" check --topology torus:dims=3x3,hosts=2 --lmc 1 --tables l1/tables.ibr
expect "route counts what would change" 0 '"lft_entries_changed": [1-9]' "$I" route --engine sar --topology h.net --jobs jobs --lfts d-updn/opensm-lfts.dump --json
expect "route: the same again changes nothing" 0 '"lft_entries_changed": 0,' "$I" route --engine updn --topology h.net --tables d-updn/tables.ibr --json
printf '0x0002000000000050 # the middle\n' >roots
expect "route --roots" 0 'deadlock-free' "$I" route --engine updn --topology h.net --roots roots
printf '0x0001000000000000 "alpha one"\n' >map
printf '9 alpha,n[0002-0012]\n' >jobs2
expect "nodes of jobs are unknown without the node-name-map" 0 'jobs2: 1 of the 12 nodes' "$I" route --engine sar --topology h.net --jobs jobs2
expect "node-name-map names nodes of jobs" 0 '' "$I" route --engine sar --topology h.net --node-name-map map --jobs jobs2
check "and none is unknown any more" test ! -s err

expect "route --formats ibr" 0 '' "$I" route --engine updn --topology h.net --formats ibr --out small
check "writes tables.ibr and the summary only" bash -c '[ "$(ls -A small | tr "\n" " ")" = "summary.json tables.ibr " ]'

# --- what others wrote, and files that are none ------------------------------------------------
mkdir nothing
printf '0x2000000000000 "le\033[31maf"\n' >tame.map
printf '\033]0;title\007 = 1\n' >tame.config
head -c 1100000 /dev/zero | tr '\0' x >long.map
: >empty.roots
no_escape() { ! "$@" 2>&1 | grep -q $'\e'; }
expect "a name moves no cursor" 0 'le\?\[31maf' "$I" paths --topology h.net --node-name-map tame.map --tables d-updn/tables.ibr --no-load n0001 n0032
check "no name does" no_escape "$I" paths --topology h.net --node-name-map tame.map --tables d-updn/tables.ibr --no-load n0001 n0032
check "nor does a line that a message quotes" no_escape "$I" config check --config tame.config
expect "which is refused with file and line" 1 "^ibroute-top config: tame.config:1: unknown setting '.\]0;title" "$I" config check --config tame.config
expect "a folder is no configuration" 1 'nothing: Is a directory' "$I" config check --config nothing
expect "a line without end is no name" 255 'long.map:1: reading stopped: Message too long' "$I" route --engine updn --topology h.net --node-name-map long.map
expect "roots that name nobody" 255 'empty.roots: no GUID in it' "$I" route --engine updn --topology h.net --roots empty.roots
expect "audit list of what is not there" 255 'nowhere: cannot be listed: No such file' "$I" audit list nowhere
expect "audit prune of what is not there" 1 'nowhere: cannot be listed: No such file' "$I" audit prune --keep-days 1 nowhere
expect "audit verify of a folder without records" 255 'nothing: no records' "$I" audit verify nothing

# --- above 4,000 terminals -------------------------------------------------------------------
big=fattree2:leaves=80,spines=20,hosts=51
expect "a large fabric" 0 '"left_out": \{' "$I" route --engine updn --topology $big --out big --json
check "path-sl.dump is left out and told" bash -c '[ ! -e big/path-sl.dump ] && python3 -c "import json; assert \"path-sl.dump\" in json.load(open(\"big/summary.json\"))[\"left_out\"]"'

# --- check -----------------------------------------------------------------------------------
"$I" route --engine minhop --topology torus:dims=5x5,hosts=1 --out ring >out 2>err
expect "a deadlock is told with its witness" 1 'VL 0  because n' "$I" check --topology torus:dims=5x5,hosts=1 --lfts ring/opensm-lfts.dump
expect "the witness in JSON" 1 '"witness": \[' "$I" check --topology torus:dims=5x5,hosts=1 --lfts ring/opensm-lfts.dump --json
cp out witness.json
check "JSON with a witness has all keys" keys witness.json
sed 's/^\(0x00[0-9a-f][0-9a-f]\) 00[0-9]/\1 001/' ring/opensm-lfts.dump >broken.dump
expect "broken tables are refused" 1 'ibroute-top check: these tables are faulty' "$I" check --topology torus:dims=5x5,hosts=1 --lfts broken.dump
expect "broken tables in JSON" 1 '"(connected|loop_free)": false' "$I" check --topology torus:dims=5x5,hosts=1 --lfts broken.dump --json
cp out broken.json
check "JSON of broken tables has all keys" keys broken.json
# --- deadlock --------------------------------------------------------------------------------
expect "a missing VL: who waits for whom" 1 'sw02/4 -> sw03/3 VL 0, 24 packets, the first from n0004' "$I" deadlock --topology slimfly:q=5,hosts=2 --engine dfdn --fold-vls 1
expect "a deadlock in JSON" 1 '"deadlock": true' "$I" deadlock --topology slimfly:q=5,hosts=2 --engine dfdn --fold-vls 1 --json
expect "two VLs keep it moving" 0 'No deadlock in 1.000 ms: [0-9]{6} packets' "$I" deadlock --topology slimfly:q=5,hosts=2 --engine dfdn
expect "tables of others deadlock, too" 1 'Deadlock after [0-9.]* us: ' "$I" deadlock --topology torus:dims=5x5,hosts=1 --lfts ring/opensm-lfts.dump
expect "broken tables are not driven" 1 'these tables lose packets' "$I" deadlock --topology torus:dims=5x5,hosts=1 --lfts broken.dump
expect "deadlock: tables and engine" 64 'one of --engine' "$I" deadlock --topology torus:dims=5x5,hosts=1 --lfts ring/opensm-lfts.dump --engine updn
expect "deadlock: no such engine" 64 'there is no engine' "$I" deadlock --topology torus:dims=5x5,hosts=1 --engine updwn
expect "deadlock: one message a host" 1 '^[1-4][0-9] of 100 messages .[1-4][0-9].0 %. arrived' "$I" deadlock --topology slimfly:q=5,hosts=2 --engine dfsssp --fold-vls 1 --protocol hoti16
expect "deadlock: all messages arrive" 0 '100 of 100 messages' "$I" deadlock --topology slimfly:q=5,hosts=2 --engine dfsssp --protocol hoti16 --message-kib 256
expect "deadlock: jobs send" 0 'between the jobs. ranks .stencil2d. send a message of 128 KiB each; the VLs of a port share its buffer' "$I" deadlock --topology h.net --engine updn --jobs jobs --pattern stencil2d --protocol hoti16
expect "deadlock: jobs send without end, buffers of VLs" 0 'between the jobs. ranks .ring. send continuously.$' "$I" deadlock --topology h.net --engine updn --jobs jobs --pattern ring --buffers vl
echo '1 n0001' >alone
expect "deadlock: a job that sends nothing" 0 'Nothing was sent: there are no two hosts in any job' "$I" deadlock --topology h.net --engine updn --jobs alone --pattern ring
expect "deadlock: a pattern of no jobs" 64 '.-pattern needs --jobs' "$I" deadlock --topology h.net --engine updn --pattern ring
expect "deadlock: messages without end have no size" 64 '.-message-kib needs --protocol hoti16' "$I" deadlock --topology h.net --engine updn --message-kib 4
expect "deadlock: no such protocol" 64 'is not saturate or hoti16' "$I" deadlock --topology h.net --engine updn --protocol hoti
expect "deadlock: no such buffers" 64 'is not vl or port' "$I" deadlock --topology h.net --engine updn --buffers both
expect "deadlock: bad time" 64 "--time-ms: '0' is not a whole number from 1 to " "$I" deadlock --topology torus:dims=5x5,hosts=1 --engine updn --time-ms 0

expect "two kinds of tables" 64 'given twice' "$I" check --topology h.net --lfts a --fdbs b
expect "check: no tables" 64 'one of --lfts' "$I" check --topology h.net
if [ -e "$SHARED/data/fabrics/ibutils-62sw.subnet.lst" ]; then
	expect "OpenSM's own dump of a real fabric" 0 '"switches": 62,' "$I" check --topology "$SHARED/data/fabrics/ibutils-62sw.subnet.lst" --fdbs "$SHARED/data/fabrics/ibutils-62sw.osm.fdbs" --terminals-only --json
	for f in "$SHARED"/data/fabrics/*.ibnetdiscover; do
		expect "route $(basename "$f")" 0 'deadlock-free' "$I" route --engine sar --topology "$f" --out real
		expect "check $(basename "$f")" 0 'deadlock-free' "$I" check --topology "$f" --tables real/tables.ibr
		expect "names of $(basename "$f") at 80 columns" 0 'names tried' python3 "$top/tests/names.py" "$I" "$f" real/tables.ibr
	done
	netloc=$SHARED/data/fabrics/plafrim-netloc-nodes.ndat.gz
	expect "netloc's nodes" 0 '9 switches, 125 terminals' "$I" compare --engines updn --topology "$netloc"
	expect "the paths beside netloc's nodes are that fabric's routing" 0 'Connected, loop-free' \
		"$I" check --terminals-only --topology "$netloc" --lfts "${netloc%-nodes*}-log-paths.ndat.gz"
	expect "netloc's nodes through a pipe" 0 '9 switches, 125 terminals' bash -c "cat '$netloc' | '$I' compare --engines updn --topology -"
else
	skip "$SHARED/data/fabrics is not there: no fabrics of others"
fi

# --- compare ---------------------------------------------------------------------------------
expect "compare prints a column each" 0 'updn +dfsssp +sar$' "$I" compare --engines updn,dfsssp,sar --topology h.net --jobs jobs
expect "compare with the installed tables" 0 'installed +sar$' "$I" compare --engines sar --topology h.net --jobs jobs --lfts d-updn/opensm-lfts.dump
expect "compare without jobs" 0 'updn$' "$I" compare --engines updn --topology h.net --jobs none
expect "plan without jobs" 0 'made|plan p-' "$I" plan -e updn --topology h.net --lfts d-updn/opensm-lfts.dump --jobs none
expect "compare --json" 0 '"engine": "sar"' "$I" compare --engines updn,sar --topology h.net --jobs jobs --json
cp out compare.json
expect "adaptive routing that is declared is told" 0 'adaptive routing \(declared\): metrics' "$I" compare --engines updn \
	--topology h.net --adaptive-routing yes
expect "in JSON" 0 '"state": "yes"' "$I" compare --engines updn --topology h.net --adaptive-routing yes --json
expect "of a dump it is not known" 0 '"state": "unknown"' "$I" compare --engines updn --topology h.net --json
"$I" route --engine updn --topology h.net --out ad >/dev/null 2>&1
expect "check tells it, too" 0 'adaptive routing \(declared\): metrics' "$I" check --topology h.net --lfts ad/opensm-lfts.dump --path-sl ad/path-sl.dump --sl2vl ad/opensm-sl2vl.dump --adaptive-routing yes
expect "and route, in JSON" 0 '"why": "declared"' "$I" route --engine updn --topology h.net --adaptive-routing yes --json
expect "paths tells it, too" 0 'adaptive routing \(declared\): metrics' "$I" paths --topology h.net --lfts ad/opensm-lfts.dump --adaptive-routing yes 1 2 --Lid
expect "it is auto, yes or no" 64 "not one of auto, yes, no" "$I" compare --engines updn --topology h.net --adaptive-routing 1
expect "the console has it, too" 0 '"adaptive_routing": "adaptive routing .declared' "$I" --demo --adaptive-routing yes --json
check "compare --json has all keys" keys compare.json
check "one of them is recommended" python3 -c 'import json; l = json.load(open("compare.json")); assert [o["recommended"] for o in l].count(True) == 1; assert all(o["reason"] for o in l); assert all("cost" in o and "change" in o for o in l if o["recommended"])'
expect "compare ends with a recommendation" 0 'Recommended: sar: time of jobs' "$I" compare --engines updn,sar --topology h.net --jobs jobs
expect "and names what would need more VLs" 1 'With 3 VLs dfsssp would be better' "$I" compare --engines updn,dfsssp --vls 1 --topology torus:dims=5x5,hosts=1
expect "compare: unknown engine" 64 'there is no engine "best"; choose one of' "$I" compare --engines updn,best --topology h.net
expect "an engine that refuses keeps its column and its reason" 1 'dfsssp: .*VL' "$I" compare --engines updn,dfsssp --vls 1 --topology torus:dims=5x5,hosts=1

# --- pinned hosts ----------------------------------------------------------------------------
p=(--topology h.net --lfts d-updn/opensm-lfts.dump)
mapfile -t host < <(grep -o '^Ca.*# "[^"]*"' h.net | sed 's/.*# "\([^" ]*\).*/\1/')
expect "pinned hosts and small jobs are told" 0 '\[ok\] paths to 2 pinned hosts unchanged' "$I" route --engine sar "${p[@]}" --jobs jobs --pin "${host[0]},${host[-1]}" --job-nodes-min 3 --out d-pin
check "also in the tables" grep -qaE 'jobs>=3 .*pin=' d-pin/tables.ibr
cp d-pin/summary.json pinned.json
expect "plan of pinned hosts" 0 '\[ok\] paths to 1 pinned host unchanged' "$I" plan -e dfsssp "${p[@]}" --pin "${host[1]}" -o pinned.plan
expect "show tells who is pinned" 0 "pin=${host[1]}" "$I" show pinned.plan
expect "what changes pinned routes is refused" 1 'paths to pinned hosts change: the entry at switch' "$I" plan --tables d-sar/tables.ibr "${p[@]}" --pin "$(IFS=,; echo "${host[*]}")"
expect "compare with pinned hosts" 0 'pinned host' "$I" compare --engines dfsssp,nue "${p[@]}" --pin "${host[2]}"
expect "nobody of that name" 64 'no host of this fabric has the name nobody' "$I" route --engine sar "${p[@]}" --pin nobody
expect "no such job" 64 'no job 999999 is running' "$I" route --engine sar "${p[@]}" --jobs jobs --pin job:999999
expect "pinned to what is not known" 1 'installed tables are unknown' "$I" route --engine sar --topology h.net --pin "${host[0]}"

# --- excluded switches and cables ------------------------------------------------------------
x=(--topology fattree2:leaves=4,spines=3,hosts=2)
expect "nothing passes what is excluded" 0 '\[ok\] nothing passes spine2' "$I" route --engine ftree "${x[@]}" --exclude spine2 --out d-excl
check "also in the tables" grep -qa 'exclude=spine2' d-excl/tables.ibr
cp d-excl/summary.json excluded.json
expect "the hosts on it are told" 0 '2 hosts on 1 excluded switch \(leaf3\) share 1 cable' "$I" route --engine sar "${x[@]}" --exclude leaf3
"$I" route --engine ftree "${x[@]}" --out d-whole >/dev/null
expect "plan around a switch and a cable" 0 'nothing passes spine3,leaf1/3' "$I" plan -e sar "${x[@]}" --lfts d-whole/tables.ibr --jobs none --exclude spine3,spine1/1 -o excl.plan
expect "sar for the jobs of a dump that nobody has named" 64 'sar routes for the running jobs, and a dump has none' "$I" plan -e sar "${x[@]}" --lfts d-whole/tables.ibr
expect "show tells what was excluded" 0 'exclude=spine3,leaf1/3' "$I" show excl.plan
expect "tables that pass it are refused" 1 'pass what is excluded; the first, from switch .* passes spine3' "$I" plan --tables d-whole/tables.ibr "${x[@]}" --lfts d-excl/tables.ibr --exclude spine3 -o never.plan
check "there is no plan of them" test ! -e never.plan
expect "what would be cut off is named" 1 'switch leaf[234] would be cut off.*spine1, spine2' "$I" route --engine nue "${x[@]}" --exclude 'spine[1-3]'
expect "no such switch" 64 'no switch "spine9"' "$I" route --engine nue "${x[@]}" --exclude spine9
expect "a torus is routed around two excluded switches" 0 'dor: routed around sw\[01,07\]' "$I" route --engine dor --topology torus:dims=5x3,hosts=1 --exclude sw01,sw07
expect "an engine says that it is for what is excluded" 1 'without sw\[01,07,12\], which are excluded: ' "$I" route --engine dor --topology torus:dims=5x3,hosts=1 --exclude sw01,sw07,sw12
expect "check: tables that pass it" 1 '\[NO\] 15 paths pass what is excluded; the first, from switch .* passes spine2' "$I" check "${x[@]}" --tables d-whole/tables.ibr --exclude spine2
expect "check: tables that do not" 0 '\[ok\] nothing passes spine2' "$I" check "${x[@]}" --tables d-excl/tables.ibr --exclude spine2
expect "deadlock around what is excluded" 0 'No deadlock in ' "$I" deadlock "${x[@]}" --engine ftree --exclude spine2
expect "deadlock: what would be cut off" 1 'would be cut off.*spine1, spine2' "$I" deadlock "${x[@]}" --engine ftree --exclude 'spine[1-3]'
expect "deadlock: tables are judged elsewhere" 64 '"check" verifies' "$I" deadlock "${x[@]}" --tables d-whole/tables.ibr --exclude spine2
expect "compare with excluded switches" 0 'nue: routed around spine1' "$I" compare --engines sar,nue "${x[@]}" --exclude spine1

# --- paths, dump-lfts ------------------------------------------------------------------------
valid() { # WHAT DEFINITION: the output before this
	cp out got
	check "$1" python3 "$top/tests/schema.py" "$2" got
}
same() { # WHAT FILE
	cp out got
	check "$1" cmp got "$2"
}
h=(--topology h.net --tables d-sar/tables.ibr)
expect "paths by name" 0 "^ +1  .*  [0-9]+ +[0-9]+ " "$I" paths "${h[@]}" "${host[0]}" "${host[-1]}"
expect "paths as JSON" 0 '"arrives": true' "$I" paths "${h[@]}" "${host[0]}" "${host[-1]}" --json
valid "is valid" paths
lid=$(sed -n 's/^\[1\].*# lid \([0-9]*\) .*/\1/p' h.net | head -n 1)
expect "paths by LID" 0 "\(LID $lid\) to " "$I" paths "${h[@]}" "$lid" "${host[-1]}"
guid=$(sed -n 's/^Ca.*"H-\([0-9a-f]*\)".*/0x\1/p' h.net | tail -n 1)
expect "paths by GUID" 0 "to ${host[-1]}" "$I" paths "${h[@]}" "${host[0]}" "$guid"
expect "paths to nobody" 64 'no host or switch has the name "nobody"' "$I" paths "${h[@]}" "${host[0]}" nobody
expect "paths without an end" 64 'a source and a destination' "$I" paths "${h[@]}" "${host[0]}"
expect "paths of files need tables" 64 'these need --topology' "$I" paths --topology h.net a b
grep -v "^0x00*$(printf %x "$lid") " d-sar/opensm-lfts.dump >hole.dump
expect "a way that ends is told" 1 'no entry' "$I" paths --topology h.net --lfts hole.dump "${host[-1]}" "$lid"
expect "no plan" 255 'h.net' "$I" paths --plan h.net a b
expect "dump-lfts" 0 '^Unicast lids' "$I" dump-lfts "${h[@]}"
same "is what route has written" d-sar/opensm-lfts.dump
expect "dump-lfts in our form" 0 '' "$I" dump-lfts "${h[@]}" --format ibr
same "is the same file" d-sar/tables.ibr
expect "dump-lfts into a folder" 0 '' "$I" dump-lfts "${h[@]}" --format ibdm -o dumped
check "leaves the files of ibdmchk" test -s dumped/opensm.fdbs -a -s dumped/ibdm-sl2vl.dump -a -s dumped/opensm-subnet.lst
expect "dump-lfts: unknown format" 64 "'pdf' is not one of" "$I" dump-lfts "${h[@]}" --format pdf
expect "dump-lfts to a full disk" 1 'No space left' bash -c "'$I' dump-lfts --topology h.net --tables d-sar/tables.ibr >/dev/full"
expect "show: no plan" 255 'h.net' "$I" show h.net
expect "show: nothing named" 64 'a plan is needed' "$I" show
expect "route: a fabric without the option's name" 64 'a fabric is given as --topology=h.net' "$I" route h.net

# --- every JSON output is valid by the schema ------------------------------------------------
cp d-sar/summary.json out
valid "summary.json is valid" summary
cp pinned.json out
valid "summary.json of pinned routes is valid" summary
cp excluded.json out
valid "summary.json around what is excluded is valid" summary
cp compare.json out
valid "compare --json is valid" comparison
expect "compare of engines that refuse" 1 '"error"' "$I" compare --engines updn,dfsssp --vls 1 --topology torus:dims=5x5,hosts=1 --json
valid "is valid" comparison
expect "compare with all about jobs" 0 '"slowdown"' "$I" compare --engines sar --topology h.net --jobs jobs --per-job --json
valid "is valid" comparison
expect "check --json" 0 '"verdict"' "$I" check --topology h.net --lfts d-sar/opensm-lfts.dump --path-sl d-sar/path-sl.dump --sl2vl d-sar/opensm-sl2vl.dump --json
valid "is valid" summary
expect "check --json of a deadlock" 1 '"witness"' bash -c "'$I' route --engine minhop --topology torus:dims=5x5,hosts=1 --out loops >/dev/null; '$I' check --topology torus:dims=5x5,hosts=1 --lfts loops/opensm-lfts.dump --json"
valid "is valid" summary
expect "deadlock --json" 1 '"deadlock": true' "$I" deadlock --topology torus:dims=5x5,hosts=1 --lfts loops/opensm-lfts.dump --json
valid "is valid" deadlock
expect "deadlock --json of messages" 0 '"delivered_share": 1.0' "$I" deadlock --topology h.net --engine updn --jobs jobs --pattern alltoall --protocol hoti16 --json
valid "is valid" deadlock
expect "weak --json has all failures" 0 '"failures": 24' "$I" weak --topology xgft:h=2,m=4x4,w=1x4 --tables r0 --json
valid "is valid" weak
check "the worst are worse than what is" python3 -c 'import json; o=json.load(open("got")); assert len(o["worst"]) == 24 and o["worst"][0]["time"] >= o["time"]'
expect "a campaign of cells" 0 '^cells: 2 cells' "$I" campaign plan cells --topology torus:dims=3x3,hosts=1 --engines updn --rate 0 --seeds 2
expect "campaign status --json" 1 '"array": "0-1"' "$I" campaign status cells --json
valid "is valid" campaign
expect "status --json of nothing" 0 '"unfinished": 0' "$I" status --json --state-dir nothing
valid "is valid" status

expect "route --json" 0 '"connected": true' "$I" route --engine updn --topology h.net --jobs jobs --per-job --json
valid "is valid" summary
expect "audit verify --json of nothing that is a record" 1 '"ok": ?false' "$I" audit verify h.net --json
valid "is valid" audit
# A command that learns to print JSON is to be held against the schema by some script, too.
judged() { # command: the definition of what it prints is one that a script asks for
	local def
	case $1 in
	route | check) def=summary ;;
	compare) def=comparison ;;
	show) def=shown_plan ;;
	agent) def=agent_status ;;
	*) def=$1 ;;
	esac
	grep -qE "(valid|prints) (\"[^\"]*\" )?$def( |\$)" "$top"/tests/*.sh "$top"/tests/lab/*.sh
}
for c in $("$I" --help | sed -n 's/^  ibroute-top \([a-z-]*\) .*/\1/p'); do
	"$I" $c --help | grep -q -e ' --json' || continue
	check "$c --json is held against the schema by a script" judged $c
done

# --- configuration files reach every command that asks a fabric --------------------------------
cat >conf <<'EOF'
ca = none-for-all
state-dir = all-state
[fabric lab]
ca = no-such-ca
state-dir = lab-state
EOF
for c in "plan -e updn" dump-lfts "paths a b" sm "agent --state a.state" "compare --engines updn" "-b -n 1"; do
	expect "$c: for every fabric" 255 'none-for-all' "$I" $c --config conf
	expect "$c: of a profile" 255 'no-such-ca' "$I" $c --config conf --profile lab
	expect "$c: what is typed wins" 255 'typed is no' "$I" $c --config=conf --prof=lab -C typed
	expect "$c: a profile that is not there" 64 'no section \[fabric labb\] in conf' "$I" $c --config conf --profile labb
done
for c in status "attach x" "note x y" "extend x 5m" "override x sm"; do
	expect "$c: the journals of a profile" "$([ "$c" = status ] && echo 0 || echo 4)" 'in lab-state' "$I" $c --config conf --profile lab
done
printf 'record-dir = all-records\n[fabric lab]\nrecord-dir = lab-records\n' >recconf
expect "audit: the records of every fabric" 255 'all-records' "$I" audit list --config recconf
expect "audit: the records of a profile" 255 'lab-records' "$I" audit list --config recconf --profile lab
expect "audit: a directory that is named" 255 'these-records' "$I" audit list --config recconf these-records
timer() { # what the timer of Debian's package runs, with its settings
	(
		set -ea
		. "$top/console/debian/ibroute-top.default"
		mkdir -p pruned/state pruned/rec
		export IBROUTE_RECORD_DIR=$work/pruned/rec
		sed -n "s,^ExecStart=/usr/bin/ibroute-top \\(.*\\),'$I' \\1,p" "$top/console/debian/units/ibroute-top-prune.service" |
			sed "s,status,& --state-dir $work/pruned/state," >pruned/run
		[ "$(wc -l <pruned/run)" -eq 2 ] && sh -eux pruned/run
	)
}
expect "the timer of the package prunes records and journals" 0 'removed 0 updates that ended more than 400 days ago' timer
"$I" topo fattree2:leaves=4,spines=2,hosts=3 -o dump && "$I" route --engine minhop --topology dump --out dump.d >/dev/null
echo '1 n[0001-0006]' >dump.jobs
expect "a plan from a dump" 2 'of 6 LFT blocks' "$I" plan -e sar:paper --topology dump --lfts dump.d/opensm-lfts.dump \
	--jobs dump.jobs --fabric hpc1 -o dump.plan --detailed-exitcode
expect "says when and for which fabric" 0 'made 20[2-9]' "$I" show dump.plan
expect "each of its links" 0 'leaf1 .* > ' "$I" show --links dump.plan
"$I" route --engine updn --topology dump --out dump.u --formats opensm,ibdm,path-sl >/dev/null
of=(--topology dump --lfts dump.d/opensm-lfts.dump --jobs dump.jobs)
"$I" topo fattree2:leaves=6,spines=3,hosts=6 -o slow && "$I" route --engine ftree --topology slow --out slow.d >/dev/null
printf '11 n[0001,0003,0005,0007-0036]\n12 n[0002,0004,0006]\n' >slow.jobs
slow=(--topology slow --lfts slow.d/opensm-lfts.dump --jobs slow.jobs --fabric hpc1)
expect "a plan that makes jobs slower says so" 0 'SLOWER. than the installed routing: .*job 11 in alltoall ' "$I" plan -e updn "${slow[@]}" --exclude spine1 -o slow.plan
expect "and how it is applied" 0 'apply --accept-slower slow.plan' "$I" plan -e updn "${slow[@]}" --exclude spine1 -o slow.plan
expect "show says it too" 0 'SLOWER. .*limit 10 %' "$I" show slow.plan
expect "apply refuses it" 4 'makes jobs slower than the installed routing: .*job 11 in alltoall' "$I" apply slow.plan --yes-fabric hpc1 -C none
expect "unless that is accepted" 255 'none' "$I" apply slow.plan --accept-slower --yes-fabric hpc1 -C none
"$I" plan -e updn "${slow[@]}" --exclude spine1 --json >out
valid "its figures as JSON" plan
expect "one that does not, does not" 1 '' grep -q SLOWER <("$I" plan -e ftree "${slow[@]}")
io=(--topology slow --jobs slow.jobs --io-nodes)
printf 'io_guid_file %s/io.guids\n' "$PWD" >io.conf
sed -n 's/^caguid=\(0x[0-9a-f]*\).*/\1/p' slow | tail -n 4 >io.guids
printf '# ours\nn[0033-0034]\nn[0035-0036]\n' >io.list
for x in 'n[0033-0036]' ./io.list ./io.guids opensm:io.conf; do
	expect "I/O nodes from $x" 0 '"io_nodes": 4' "$I" route --engine sar:paper "${io[@]}" "$x" --json
done
expect "their traffic is told" 0 'I/O EFI, max +[1-9]' "$I" route --engine sar:paper "${io[@]}" ./io.list
expect "in JSON" 0 '"io_time_mean": [1-9]' "$I" compare --engines sar,sar:paper "${io[@]}" ./io.list --json
valid "is valid" comparison
expect "without them there are none" 0 '"io_nodes": null' "$I" route --engine sar:paper --topology slow --jobs slow.jobs --json
echo 'n[1-' >io.bad
expect "a mistake in the file" 255 'io.bad:1: ' "$I" route --engine sar "${io[@]}" ./io.bad
expect "hosts that are not there" 255 'no host of .* is among x1' "$I" route --engine sar "${io[@]}" x1
expect "an opensm.conf without it" 255 'io.list: it names no io_guid_file' "$I" route --engine sar "${io[@]}" opensm:io.list
echo '1 n[0001-0020]' >io.jobs
check_not "they are routed apart by the paper's method" cmp -s <("$I" route --engine sar:paper --topology slow --jobs io.jobs --io-nodes ./io.list --out io.a >/dev/null; cat io.a/opensm-lfts.dump) \
	<("$I" route --engine sar:paper --topology slow --jobs io.jobs --out io.b >/dev/null; cat io.b/opensm-lfts.dump)
expect "a plan around what is excluded, as JSON" 0 '"lft_entries": [1-9]' "$I" plan -e updn "${of[@]}" --exclude spine1 --json -o around.plan
valid "is valid" plan
expect "show --json of it" 0 'spine1' "$I" show around.plan --json
valid "is valid" shown_plan
expect "a plan that changes nothing, by its exit code" 0 ': 0 of 6 LFT blocks' "$I" plan --tables dump.d/opensm-lfts.dump --topology dump \
	--lfts dump.d/opensm-lfts.dump --detailed-exitcode
for x in dump.u/opensm-lfts.dump dump.u/opensm.fdbs dump.u/tables.ibr dump.plan; do
	expect "a plan of tables read from $x" 0 "tables: ${x##*/}, SHA-256 $(sha256sum <"$x" | cut -c1-64)" "$I" plan -e file --tables "$x" "${of[@]}" -o file.plan
	expect "show names $x" 0 "tables read from .*/$x, SHA-256" "$I" show file.plan
done
expect "the files in JSON" 0 '"kind": "path-sl"' "$I" plan --tables dump.u/opensm-lfts.dump --tables-path-sl dump.u/path-sl.dump --tables-sl2vl dump.u/opensm-sl2vl.dump "${of[@]}" --json
cp out file.json
check "are as the schema has them" python3 "$top/tests/schema.py" plan file.json
expect "SL2VL tables without service levels" 1 'a file of path SLs is needed' "$I" plan --tables dump.u/opensm-lfts.dump --tables-sl2vl dump.u/opensm-sl2vl.dump "${of[@]}"
expect "a file after the colon" 0 'tables: tables.ibr, SHA-256' "$I" plan -e file:dump.u/tables.ibr "${of[@]}"
expect "a file is held against what is excluded" 1 'spine1' "$I" plan --tables dump.u/tables.ibr "${of[@]}" --exclude spine1
expect "-e file without one" 64 'of --tables FILE' "$I" plan -e file "${of[@]}"
expect "compare with files among the engines" 0 'installed +updn +dump.plan +opensm.fdbs$' "$I" compare --engines updn,file:dump.plan,file:dump.u/opensm.fdbs "${of[@]}"
expect "a dump without its tables" 64 'need each other' "$I" plan -e sar --topology dump
expect "--fabric is the name, and its profile where there is one" 255 'no-such-ca' "$I" plan -e updn --config conf --fabric lab
expect "or the name alone" 255 'none-for-all' "$I" plan -e updn --config conf --fabric other
expect "of the console it is the profile" 64 '^ibroute-top: no section \[fabric other\]' "$I" -b --config conf --fabric other
expect "files have no profile" 64 'cannot be used with --topology' "$I" dump-lfts "${h[@]}" --config conf
echo 'port = 999' >badconf
expect "a mistake in the file" 64 'badconf:1: port: .999. is not' "$I" sm --config badconf
printf 'exclude = spine1\n[fabric lab]\nvls = 99\n' >badconf
expect "in an option of engines" 64 'badconf:3: vls: .99. is not a whole number from 1 to 15' "$I" plan -e sar --config badconf
printf 'pin = n[1-\n' >badconf
expect "in a list" 64 'badconf:1: pin: node list' "$I" --demo -b --config badconf
expect "in a list that is typed" 64 '--exclude: spine\[1: the bracket is not closed' "$I" route --engine sar "${h[@]}" --exclude 'spine[1'
expect "in a list of the automatic mode" 64 '--auto-pin: node list' "$I" --auto --auto-pin 'n[1-'
printf 'seed = 7\nvls = 4\nexclude = n[1-2]\n[fabric lab]\nvls = 0\n' >engconf
expect "options of engines reach the previews" 0 'e VLs 4 seed 7 exclude n.1-2.' "$I" --demo=fattree2:leaves=2,spines=1,hosts=1 --screen engines --config engconf
expect "a profile and what is typed override them" 0 'e seed 5 spread' "$I" --demo=fattree2:leaves=2,spines=1,hosts=1 --screen engines --config engconf --profile lab --seed 5 --set exclude= --set spread=yes
expect "and they are listed" 0 '^exclude +. n.1-2. +# engconf:3' "$I" config show --config engconf
"$I" config sample >sampleconf
check "a sample of the configuration file changes nothing" eval '"$I" config show --config sampleconf | cmp - <(: >noconf; "$I" config show --config noconf)'
check "and has all settings but keys" eval '[ "$(grep -c "^#[a-z-]* =" sampleconf)" -eq "$("$I" config show --config sampleconf | grep -vc "^key\.")" ]'
sed 's/^#interval = .*/interval = 5/' sampleconf >sampleconf2
expect "a line of it without its # holds" 0 '^interval +. 5 +# sampleconf2' "$I" config show --config sampleconf2

# --- inputs that make no sense ---------------------------------------------------------------
expect "no such fabric" 255 'nofile cannot be read: No such file' "$I" route --engine sar --topology nofile
expect "a folder as fabric" 255 'Is a directory' "$I" route --engine sar --topology .
printf 'Hello\nWorld\n' >hello
expect "not a fabric: file and line" 255 'hello:1: ' "$I" route --engine sar --topology hello
expect "an empty fabric" 255 'no switch' "$I" route --engine sar --topology /dev/null
sed '20,25s/"S-[^"]*"//' h.net >damaged.net
expect "a damaged fabric: warnings with file and line" 0 'damaged.net:2[0-9]: ' "$I" route --engine updn --topology damaged.net
sed '20s/"S-[^"]*//' h.net >nowhere.net
expect "a cable that leads nowhere: a warning with its line" 0 'nowhere.net:20: port ' "$I" route --engine updn --topology nowhere.net
expect "and refused where that is wanted" 255 'nowhere.net:20: port .*the file is incomplete \(1 gap\)' "$I" route --engine updn --topology nowhere.net --strict
printf '1 n[0001-0003\n' >badjobs
expect "bad jobs: file and line" 255 'badjobs:1: ' "$I" route --engine sar --topology h.net --jobs badjobs
printf '1 n[0001-0003],x7\n' >strangers
expect "unknown nodes of jobs are told" 0 'strangers: 1 of the 4 nodes' "$I" route --engine sar --topology h.net --jobs strangers
printf '0x1 "a"\nleaf\n' >badmap
expect "bad name map: file and line" 255 'badmap:2: ' "$I" route --engine sar --topology h.net --node-name-map badmap
printf '# x\nleaf1\n' >badroots
expect "bad roots: file and line" 255 'badroots:2: ' "$I" route --engine updn --topology h.net --roots badroots
printf '0x77\n' >strangeroots
expect "roots of another fabric" 255 '0x0000000000000077 is not' "$I" route --engine updn --topology h.net --roots strangeroots
expect "bad tables" 255 'hello' "$I" check --topology h.net --lfts hello
expect "bad path SLs" 255 'hello' "$I" check --topology h.net --lfts d-sar/opensm-lfts.dump --path-sl hello
expect "bad SL2VL" 255 'hello' "$I" check --topology h.net --lfts d-sar/opensm-lfts.dump --sl2vl hello
printf 'Switch 0x%s\nLID    : Out Port(s)\n0xC000 : 0x000 \n' "$(sed -n 's/^switchguid=0x\([0-9a-f]*\).*/\1/p' h.net | head -n 1)" >mfts
expect "multicast tables" 0 'multicast: 1 group on 1 switch, to 0 ports of hosts; each is a tree' "$I" check --topology h.net --lfts d-sar/opensm-lfts.dump --path-sl d-sar/path-sl.dump --sl2vl d-sar/opensm-sl2vl.dump --mfts mfts
printf 'Default=0x7fff : ALL=limited ;\n' >partitions.conf
expect "hosts of a job that may not talk" 1 'partitions: job [0-9]+: .* may not talk' "$I" check --topology h.net --lfts d-sar/opensm-lfts.dump --path-sl d-sar/path-sl.dump --sl2vl d-sar/opensm-sl2vl.dump --jobs jobs --partitions partitions.conf
expect "partitions without jobs" 64 'needs --jobs' "$I" check --topology h.net --lfts d-sar/opensm-lfts.dump --partitions partitions.conf
expect "SL2VL tables instead of forwarding tables" 255 'has no forwarding tables, but SL2VL tables, which --sl2vl reads' "$I" check --topology h.net --lfts d-sar/opensm-sl2vl.dump
expect "forwarding tables instead of a fabric" 255 'is no fabric: it has forwarding tables, which --lfts reads' "$I" check --topology d-sar/opensm-lfts.dump --lfts d-sar/opensm-lfts.dump
expect "bad multicast tables" 255 'hello' "$I" check --topology h.net --lfts d-sar/opensm-lfts.dump --mfts hello
head -c 300 d-sar/tables.ibr >cut.ibr
expect "cut tables.ibr" 255 'cut.ibr' "$I" check --topology h.net --tables cut.ibr
expect "tables of another fabric" 255 'tables.ibr' "$I" check --topology oft:k=3 --tables d-sar/tables.ibr
expect "a method of sar after the engine's name" 0 '' "$I" route --engine sar:patch --topology h.net --jobs jobs
expect "an engine named with its VLs" 0 'dfsssp:3 ' "$I" compare --engines dfsssp,dfsssp:3,sar:paper --topology h.net
expect "unknown method of sar" 64 "--sar-method: 'best' is not one of time, leafwise, paper, patch" "$I" route --engine sar --sar-method best --topology h.net
expect "detours of sar" 64 "--max-detour: '3' is not one of auto, 0, 1, 2" "$I" route --engine sar --max-detour 3 --topology h.net
expect "unknown method of sar after the name" 64 'data VLs, 1 to 15, or time, leafwise, paper, patch' "$I" route --engine sar:best --topology h.net
expect "VLs after an engine's name" 64 'updn:16: the colon must be followed by a number of data VLs' "$I" compare --engines updn:16 --topology h.net
expect "unknown engine" 64 'there is no engine "best"; choose one of' "$I" route --engine best --topology h.net
expect "bad number" 64 "--vls: '0' is not a whole number from 1 to 15" "$I" route --engine sar --topology h.net --vls 0
expect "bad number, again" 64 "--lmc: 'x' is not " "$I" route --engine sar --topology h.net --lmc x
expect "bad format" 64 'unknown format "pdf"' "$I" route --engine sar --topology h.net --formats opensm,pdf
expect "an operand too many" 64 'unexpected argument' "$I" route --engine sar --topology h.net more

# --- nothing lost, nothing half written --------------------------------------------------------
mkdir kept && cp d-sar/* kept/
: >file
expect "--out is a file" 1 'file cannot be created: ' "$I" route --engine sar --topology h.net --out file
expect "a limit on file sizes acts as a full disk" 1 'd-sar/opensm-lfts.dump: .*File too large' bash -c "trap '' XFSZ; ulimit -f 4; '$I' route --engine updn --topology h.net --out d-sar --formats opensm,ibdm"
check "nothing unfinished is left" bash -c '[ "$(ls -A d-sar)" = "$(ls -A kept)" ]'
check "files that were not written are as they were" bash -c 'for f in opensm-lfts.dump path-sl.dump opensm-subnet.lst opensm.fdbs summary.json; do cmp d-sar/$f kept/$f || exit 1; done'
if [ "$(id -u)" -ne 0 ]; then
	mkdir locked && chmod a-w locked
	expect "--out without rights" 1 'locked.*Permission denied' "$I" route --engine sar --topology h.net --out locked
else
	skip "root may write everywhere"
fi
check "a deep folder is made" "$I" route --engine updn --topology h.net --out a/b/c
check "and once more into the same" "$I" route --engine updn --topology h.net --out a/b/c

# --- what SLURM is told of the fabric ------------------------------------------------------------
net=kary:k=3,n=3
for how in --slurm "--slurm --yaml" --slurm=block "--slurm=block --yaml"; do
	# shellcheck disable=SC2086
	check "topology $how" "$I" topology --topology $net $how -o told
	expect "what is written does not differ ($how)" 0 'told: 9 switches and 27 hosts compared, 0 differences' \
		"$I" topology --topology $net --compare told
done
mkdir etc && "$I" topology --topology $net --slurm | sed 's/n\[0001-0003\]/n[0001-0002,9999]/' >etc/topology.conf
n=$(grep -n 'SwitchName=leaf1 ' etc/topology.conf | cut -d: -f1)
expect "a folder of SLURM's is read as SLURM does, and differs" 1 "^etc/topology.conf:$n: host n9999 is not in the fabric" \
	"$I" topology --topology $net --compare etc
expect "all that differs is told" 1 'etc/topology.conf: host n0003 on leaf1 is not in the file' "$I" topology --topology $net --compare etc
expect "as JSON" 1 '"kind": ?"host-unknown"' "$I" topology --topology $net --compare etc --json
valid "the schema has it" topology
sed -i 's/9999\]/9999/' etc/topology.conf
expect "a mistake in a host list is told with its line" 255 "etc/topology.conf:$n: node list" "$I" topology --topology $net --compare etc
expect "neither writes nor compares" 64 'either --slurm or --compare FILE' "$I" topology --topology $net

# --- Ctrl-C ----------------------------------------------------------------------------------
interrupt() { # DELAY: ms from SIGINT to the end, and the exit code
	python3 - "$I" "$1" <<-'EOF'
	import signal, subprocess, sys, time
	p = subprocess.Popen([sys.argv[1], "route", "--engine", "dfsssp", "--topology", "dragonfly:p=7", "--out", "stopped"],
	                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	time.sleep(float(sys.argv[2]))
	if p.poll() is not None:
	    sys.exit("it had ended before")
	t = time.monotonic()
	p.send_signal(signal.SIGINT)
	rc = p.wait()
	ms = (time.monotonic() - t) * 1000
	print("exit", rc, "after", round(ms), "ms")
	sys.exit(0 if rc == 130 and ms < 500 else 1)
	EOF
}
# 50 ms on a quiet machine; the tests of a busy one allow ten times that
check "Ctrl-C in the middle of the paths ends with 130" interrupt 0.5
check "and leaves nothing behind" bash -c '[ ! -e stopped ] || [ -z "$(ls -A stopped)" ]'

# --- ibsim takes what topo writes ------------------------------------------------------------
if command -v ibsim >/dev/null && command -v ibnetdiscover >/dev/null; then
	"$I" topo torus:dims=3x4,hosts=2,lids=random,fail=2,seed=3 -o sim.net
	export IBSIM_SOCKNAME=$work/ibsim
	ibsim -s -n sim.net >ibsim.log 2>&1 </dev/null &
	pids+=($!)
	for _ in $(seq 50); do grep -q ready ibsim.log && break; sleep 0.1; done
	preload=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
	SIM_HOST=n0003 LD_PRELOAD=$preload timeout 20 ibnetdiscover >found.net 2>err
	first() { "$I" compare --engines updn --topology "$1" | head -n 1; }
	check "ibnetdiscover over ibsim finds the same fabric, LIDs included" bash -c "[ -n \"\$('$I' compare --engines updn --topology found.net | head -n 1)\" ] && [ \"\$('$I' compare --engines updn --topology found.net | head -n 1)\" = \"\$('$I' compare --engines updn --topology sim.net | head -n 1)\" ]"
	check "and the same names" bash -c "diff <(grep -o '# \"[^\"]*\"' sim.net | sort) <(grep -o '# \"[^\"]*\"' found.net | sort)"
	check_not "ibsim has nothing to complain of" grep -iE 'warn|fatal|error' ibsim.log
else
	skip "ibsim or ibnetdiscover is not installed"
fi

finish
