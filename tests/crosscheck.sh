#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# crosscheck.sh: our verdicts against those of ibdmchk (package ibutils), which shares no line
# with us: routes of every engine on every kind of fabric, with and without broken cables, LMC 0
# and 1, and the same routes spoilt: all paths on one SL, VLs folded onto two, an entry taken out,
# a loop put in.  A case passes when both find the same: ok, cyclic (a credit loop) or
# disconnected (a path that does not arrive).  FULL=1: 200 to 430 hosts each instead of
# 100, or 50 of a damaged one, and whole and damaged ones at either LMC (the time that ibdmchk needs
# grows with the square of the hosts and of 2^lmc: hours at 1,000).
#
# What ibdmchk is like (1.5.7), and what is done about it:
#  - It takes every port, switches' too, to own 2^lmc LIDs and goes through LIDs in steps of 2^lmc:
#    with LMC 1 and switch LIDs next to each other it looks at half of the switches.  So the LIDs of
#    a fabric are multiplied by 2^lmc before it is routed, which aligns all of them, as OpenSM does.
#  - With LMC > 0 its check of the min hop tables begins at LID 1, so that it asks for LIDs 1, 3, 5,
#    ..., where base LIDs are 2, 4, 6, ... (their low LMC bits are 0), finds hops for none of them
#    ("un-assigned hops") and gives up: on OpenSM's own dumps too.
#    So LIDs are lowered by 2^lmc - 1 in the copies of the files that it is given.
#  - It judges paths between CAs only: ours is asked with --terminals-only wherever the routes are
#    not meant to be good.  Routes as the engine made them must pass ours in full.
#  - Sources are known by node GUID: two ports of one adapter have one list of SLs.
#  - It ends with a crash (SIGSEGV in CrdLoopCleanup, after the verdict was printed) when the SL2VL
#    file names more VLs than the paths use SLs.  So its words count, not its exit code.
#  - It writes beyond its memory: with some files, in folders whose names have some lengths, glibc
#    aborts it before the verdict.  So who died of a signal without a verdict is asked again, with
#    the allocator laid out otherwise.
#  - It says "credit loops in routing" without an end of line.
#  - Times: each path is walked once per source and destination LID, and path-SL lines are matched
#    by regular expressions twice.
#  - It writes its histograms to /var/cache/ibutils.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
R=${IBROUTE_TOP:-$PWD/$B/ibroute-top}
SHARED=${SHARED:-../shared}
FULL=${FULL:-}
ENGINES=${ENGINES:-$("$R" route --help | sed -n '/^Engines:/,/^$/s/^  \([a-z]*\) .*/\1/p' | xargs)}
SPOIL=${SPOIL:-minhop updn dfsssp nue} # engines whose routes are spoilt, too

if [ "${1:-}" != --case ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi

# ---- one case: crosscheck.sh --case KIND ARGUMENTS, prints "ok", "not ok" and "SKIP" lines ----

field() { sed -n "s/^ *\"$2\": \\(true\\|false\\).*/\\1/p" "$1"; }

ours() { # lmc, arguments of check -> ok, cyclic, disconnected or error
	local lmc=$1
	shift
	"$R" check --json --lmc "$lmc" "$@" >"$d/ours" 2>"$d/ours.err"
	case "$(field "$d/ours" connected) $(field "$d/ours" loop_free) $(field "$d/ours" deadlock_free)" in
	"true true true") echo ok ;;
	"true true false") echo cyclic ;;
	"false "* | "true false "*) echo disconnected ;;
	*) echo "error: $(head -n 1 "$d/ours.err")" ;;
	esac
}

# a copy for ibdmchk with LIDs lowered by 2^lmc - 1
lowered() { # -s, -f or -c; file; lmc
	if [ "$3" -eq 0 ]; then
		echo "$2"
		return
	fi
	perl -pe '
		BEGIN {$k = (1 << shift) - 1; $form = shift}
		if ($form eq "-s") {s/ LID:([0-9A-F]+)/sprintf " LID:%04X", hex($1) - $k/ge}
		elsif ($form eq "-f") {if (s/^0x([0-9A-Fa-f]+) /sprintf "0x%04X ", hex($1) - $k/e) {$_ = "" if hex($1) <= $k}}
		else {s/^(0x\w+) (\d+)/$1 . " " . ($2 - $k)/e}' \
		"$3" "$1" <"$2" >"$d/lowered$1"
	echo "$d/lowered$1"
}

ibdm() { # lmc, arguments of ibdmchk
	local lmc=$1 args=()
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		-s | -f | -c)
			args+=("$1" "$(lowered "$1" "$2" "$lmc")")
			shift
			;;
		*) args+=("$1") ;;
		esac
		shift
	done
	local rc=0 tunable
	for tunable in '' tcache_count=0 mmap_threshold=4096; do
		GLIBC_TUNABLES=${tunable:+glibc.malloc.$tunable} \
			timeout 300 ibdmchk -m "$d/empty" -l "$lmc" "${args[@]}" >"$d/ibdm" 2>&1 </dev/null
		rc=$?
		if [ "$rc" -lt 128 ] || ibdm_verdict >/dev/null; then break; fi
	done
	ibdm_verdict || echo "error: exit $rc, $(tail -n 1 "$d/ibdm")"
} 2>/dev/null

ibdm_verdict() {
	if grep -aq 'credit loops in routing' "$d/ibdm"; then
		echo cyclic
	elif grep -aq 'no credit loops found' "$d/ibdm"; then
		echo ok
	elif grep -aqE 'Point to Point Traversals Failed|Fail to build dependency|Fail to update Min Hops' "$d/ibdm"; then
		echo disconnected
	else
		return 1
	fi
}

agree() { # name, expected verdict or "any", ours, ibdm
	if [ "$3" != "$4" ] || { [ "$2" != any ] && [ "$2" != "$3" ]; }; then
		echo "not ok $1: ours $3, ibdmchk $4, expected $2"
		if [ -n "${KEEP:-}" ]; then cp -r "$d" "$KEEP/$(date +%N)"; fi
	else
		echo "ok $1: $3"
	fi
}

# all LIDs of ibnetdiscover text times 2^lmc
scale_lids() {
	awk -v k=$((1 << $1)) '{
		out = ""
		while (match($0, / lid [0-9]+/)) {
			out = out substr($0, 1, RSTART + 4) (substr($0, RSTART + 5, RLENGTH - 5) * k)
			$0 = substr($0, RSTART + RLENGTH)
		}
		print out $0
	}'
}

routed() { # name, topology, engine, lmc
	local name="$1 $3 lmc $4" o=$d/o x lmc=$4
	rm -rf "$o"
	if ! "$R" route --engine "$3" --topology "$2" --lmc "$lmc" --vls 15 --out "$o" \
		--formats opensm,ibdm,path-sl >"$d/route" 2>&1; then
		if [ -s "$o/opensm.fdbs" ]; then
			echo "not ok $name: route found its own result bad: $(tail -n 1 "$d/route")"
		else
			echo "SKIP $name: $(tail -n 1 "$d/route")"
		fi
		return
	fi
	local t=(--topology "$o/opensm-subnet.lst" --lfts "$o/opensm-lfts.dump")
	local i=(-s "$o/opensm-subnet.lst" -f "$o/opensm.fdbs")
	agree "$name" ok "$(ours "$lmc" "${t[@]}" --path-sl "$o/path-sl.dump" --sl2vl "$o/ibdm-sl2vl.dump")" \
		"$(ibdm "$lmc" "${i[@]}" -c "$o/path-sl.dump" -d "$o/ibdm-sl2vl.dump")"
	[ "$3" = updn ] && return # one SL and one VL as it is
	case " $SPOIL " in *" $3 "*) ;; *) return ;; esac
	agree "$name, all on one SL" any "$(ours "$lmc" --terminals-only "${t[@]}")" "$(ibdm "$lmc" "${i[@]}")"
	# VL v of the file becomes v modulo 2: half of a layered routing lies on top of the other
	awk '{for (i = 4; i <= NF; i++) {x = $i; gsub(/[2468ace]/, "0", x); gsub(/[3579bdf]/, "1", x)
		sub(/^./, "0", x); $i = x}; print}' "$o/ibdm-sl2vl.dump" >"$d/folded"
	agree "$name, VLs folded on two" any \
		"$(ours "$lmc" --terminals-only "${t[@]}" --path-sl "$o/path-sl.dump" --sl2vl "$d/folded")" \
		"$(ibdm "$lmc" "${i[@]}" -c "$o/path-sl.dump" -d "$d/folded")"
	if [ "$3" = minhop ]; then
		hole "$name" "$o" "$lmc"
	fi
}

# the switch of the first CA loses its way to the last CA
hole() { # name, folder, lmc
	local guid lid
	guid=$(sed -n '/^{ CA/{s/.*{ SW .*NodeGUID:\([0-9A-Fa-f]*\).*/\1/p;q}' "$2/opensm-subnet.lst" | tr A-F a-f)
	lid=$(awk '/lids dumped/{exit} /Channel Adapter/{l = $1} END{print l}' "$2/opensm-lfts.dump")
	awk -v g="guid 0x$guid " -v l="$lid" '/^Unicast/{on = index($0, g)} !(on && $1 == l)' \
		"$2/opensm-lfts.dump" >"$d/lfts"
	awk -v g="0x$guid" -v l="${lid#0x}" '/^dump_/{on = $3 == g}
		on && tolower($1) == "0x" l {print $1 " : UNREACHABLE"; next} 1' "$2/opensm.fdbs" >"$d/fdbs"
	agree "$1, an entry taken out" disconnected \
		"$(ours "$3" --terminals-only --topology "$2/opensm-subnet.lst" --lfts "$d/lfts")" \
		"$(ibdm "$3" -s "$2/opensm-subnet.lst" -f "$d/fdbs")"
}

# two leaves and a spine: the spine sends what is for host 1 to the wrong leaf, which sends it back
loop() {
	local o=$d/o spine=0002000000000020
	"$R" route --engine minhop --topology fattree2:leaves=2,spines=1,hosts=2 --out "$o" \
		--formats opensm,ibdm >"$d/route" 2>&1
	awk -v g="guid 0x$spine " '/^Unicast/{on = index($0, g)} on && $1 == "0x0001" {$2 = "002"} 1' \
		"$o/opensm-lfts.dump" >"$d/lfts"
	awk -v g="0x$spine" '/^dump_/{on = $3 == g} on && $1 == "0x0001" {$3 = "002"} 1' \
		"$o/opensm.fdbs" >"$d/fdbs"
	agree "fattree2, a loop put in" disconnected \
		"$(ours 0 --terminals-only --topology "$o/opensm-subnet.lst" --lfts "$d/lfts")" \
		"$(ibdm 0 -s "$o/opensm-subnet.lst" -f "$d/fdbs")"
}

run_case() {
	d=$(mktemp -d)
	trap 'rm -rf "$d"' EXIT
	: >"$d/empty"
	case $1 in
	spec) # spec, lmc
		if ! "$R" topo "$2" >"$d/net0" 2>"$d/topo"; then
			echo "not ok $2: $(head -n 1 "$d/topo")"
			return
		fi
		scale_lids "$3" <"$d/net0" >"$d/net"
		for e in $ENGINES; do routed "$2" "$d/net" "$e" "$3"; done
		;;
	file) # file, lmc
		scale_lids "$3" <"$2" >"$d/net"
		for e in $ENGINES; do routed "$(basename "$2")" "$d/net" "$e" "$3"; done
		;;
	netloc)
		for e in $ENGINES; do routed "$(basename "$2")" "$2" "$e" 0; done
		;;
	theirs) # tables that somebody else's OpenSM made
		agree "$(basename "$2") with its own fdbs" any \
			"$(ours 0 --terminals-only --topology "$2" --fdbs "$3")" "$(ibdm 0 -s "$2" -f "$3")"
		;;
	loop) loop ;;
	esac
}

if [ "${1:-}" = --case ]; then
	shift
	run_case "$@"
	exit 0
fi

# ---- all cases ----

finish() {
	local p f s
	p=$(grep -c '^ok ' "$work/all") f=$(grep -c '^not ok ' "$work/all") s=$(grep -c '^SKIP ' "$work/all")
	grep -E '^(not ok|SKIP) ' "$work/all"
	echo "both found: $(sed -n 's/^ok .*: //p' "$work/all" | sort | uniq -c | awk '{printf "%s%s %s", (NR > 1 ? ", " : ""), $1, $2}')"
	echo "crosscheck: $p passed, $f failed, $s skipped"
	[ -n "${COUNTS:-}" ] && echo "crosscheck $p $f $s" >>"$COUNTS"
	[ "$f" -eq 0 ]
	exit
}

if ! command -v ibdmchk >/dev/null; then
	echo "SKIP crosscheck: ibdmchk (package ibutils) is not installed" >"$work/all"
	finish
fi

if [ -n "$FULL" ]; then
	specs="fattree2:leaves=18,spines=18,hosts=18 fattree3:k=12 kary:k=7,n=3,hosts=7
		xgft:h=3,m=7x7x7,w=1x4x4 hyperx:dims=8x6,hosts=7 torus:dims=5x5x5,hosts=3 mesh:dims=5x5x5,hosts=3
		dragonfly:p=3 slimfly:q=7,hosts=3 oft:k=4,hosts=8 kautz:b=3,n=3,hosts=9
		random:switches=60,links=240,hosts=6,seed=1"
	damaged=$specs
else
	specs="fattree2:leaves=9,spines=6,hosts=12 fattree3:k=8 kary:k=5,n=3,hosts=4
		xgft:h=3,m=5x5x4,w=1x3x2 hyperx:dims=4x3x2,hosts=4 torus:dims=4x4x4,hosts=2 mesh:dims=5x4x3,hosts=2
		dragonfly:p=2 slimfly:q=5,hosts=2 oft:k=3,hosts=4 kautz:b=3,n=3,hosts=3
		random:switches=40,links=120,hosts=3,seed=1"
	damaged="fattree2:leaves=8,spines=4,hosts=8 fattree3:k=6 kary:k=4,n=3,hosts=4
		xgft:h=3,m=4x4x4,w=1x3x2 hyperx:dims=4x3x2,hosts=3 torus:dims=4x4x3,hosts=1 mesh:dims=4x4x3,hosts=1
		dragonfly:p=2 slimfly:q=5,hosts=1 oft:k=3,hosts=3 kautz:b=3,n=3,hosts=2
		random:switches=30,links=90,hosts=2,seed=1"
fi

for t in $("$R" topo --list | sed -n 's/^  \([a-z0-9]*\): .*/\1/p'); do
	case " $(echo $specs) " in
	*" $t:"*) ;;
	*) echo "not ok $t: a kind of fabric that this script does not know" ;;
	esac
done >"$work/all"

{
	echo "loop"
	echo "spec hyperx:dims=3x3,hosts=3 2"
	echo "spec hyperx:dims=4x2,hosts=2,fail=1 2"
	for s in $specs; do
		echo "spec $s 0"
		[ -z "$FULL" ] || echo "spec $s 1"
	done
	for s in $damaged; do
		echo "spec $s,fail=1% 1"
		[ -z "$FULL" ] || echo "spec $s,fail=1% 0"
	done
	if [ -d "$SHARED/data/fabrics" ]; then
		f=$SHARED/data/fabrics
		for x in "$f"/*.ibnetdiscover "$f"/*topology.conf; do echo "file $x 0"; done
		echo "file $f/psmn-x5-2020.ibnetdiscover 1"
		echo "netloc $f/plafrim-netloc-nodes.ndat.gz"
		echo "theirs $f/ibutils-62sw.subnet.lst $f/ibutils-62sw.osm.fdbs"
	else
		echo "SKIP real fabrics: $SHARED/data/fabrics is not there (set SHARED)" >>"$work/all"
	fi
} >"$work/cases"
export B SHARED FULL ENGINES SPOIL
xargs -P 2 -L 1 bash tests/crosscheck.sh --case <"$work/cases" >>"$work/all" 2>"$work/err"
# a case that prints nothing would pass unseen
want=$(awk -v e="$(echo $ENGINES | wc -w)" '{n += ($1 == "spec" || $1 == "file" || $1 == "netloc") ? e : 1} END {print n}' "$work/cases")
[ "$(wc -l <"$work/all")" -ge "$want" ] || {
	echo "not ok: $(wc -l <"$work/all") lines for at least $want cases" >>"$work/all"
	tail -n 5 "$work/err"
}
finish
