#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# roundtrip.sh: what the real OpenSM dumps, read by us and written again, is the same file; and
# OpenSM, given our dump of its own routes, installs them again.
#
# Left out of the comparison, because a fabric does not hold it: system GUIDs, vendor and device
# numbers, which CA runs the SM, SL2VL tables of CAs, and the port that opensm.fdbs proposes for a
# detour (any port of a shortest path is right there).
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/judge.sh
B=${B:-build}
make --no-print-directory "$B/tests/lab/dumps_tool" >/dev/null || exit 1
tool=$PWD/$B/tests/lab/dumps_tool
top=$PWD/$B/ibroute-top
work=$(mktemp -d)
JUDGE_LOG=$work/why
sim=

done_with_it() {
	[ -n "$sim" ] && kill "$sim" 2>/dev/null
	rm -rf "$work"
}
trap done_with_it EXIT

umad=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
if ! command -v ibsim >/dev/null || ! PATH=$PATH:/usr/sbin command -v opensm >/dev/null || [ -z "$umad" ]; then
	skip "roundtrip: ibsim or opensm is not installed"
	finish
fi
PATH=$PATH:/usr/sbin

sim_start() { # spec
	"$tool" net "$1" >"$work/net" || return 1
	export IBSIM_SOCKNAME=rt$$.$RANDOM
	(cd "$work" && exec ibsim -s -n net) >"$work/ibsim.log" 2>&1 &
	sim=$!
	for _ in $(seq 100); do
		grep -q 'Network simulator ready' "$work/ibsim.log" && return 0
		sleep 0.1
	done
	tail -n 3 "$work/ibsim.log"
	return 1
}

sim_stop() {
	kill "$sim" 2>/dev/null
	wait "$sim" 2>/dev/null
	sim=
}

sm() { # folder, arguments...
	local dir=$1
	shift
	mkdir -p "$dir"
	(cd "$dir" && SIM_HOST=$host OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir LD_PRELOAD=$umad \
		timeout 60 opensm -o -D 0x43 -f "$dir/log" "$@" >"$dir/out" 2>&1 </dev/null)
	[ -s "$dir/opensm-lfts.dump" ]
}

plain_subnet() {
	sed -E 's/ (SystemGUID|VenID|DevID|Rev):[0-9A-Fa-f]+//g; s/\{ (CA|SW)-SM /{ \1 /g' "$1"
}
plain_fdbs() { sed -E 's/via port [0-9]+!/via port N!/' "$1"; }
# sections of switches only
plain_sl2vl() { awk '/^(Channel Adapter|Router) /{skip = 1} /^Switch /{skip = 0} !skip' "$1"; }

# what ibnetdiscover keeps for --load-cache is the fabric that it prints
discovered() {
	local form
	(export SIM_HOST=$host LD_PRELOAD=$umad; ibnetdiscover --cache "$work/cache" >"$work/printed") || return
	for form in cache printed; do
		"$top" --load-cache "$work/$form" --json --view ports --jobs none --fields a,a_port,a_guid,b,b_port,b_guid,kind |
			grep -v '"ts"\|"source"' >"$work/$form.json" || return
	done
	[ "$(grep -c '"a_guid"' "$work/cache.json")" -gt 10 ] && diff "$work/cache.json" "$work/printed.json"
}
# and so is what OpenSM remembers of it, but for the names
remembered() {
	"$top" --load "$in/neighbors" --diff "$work/printed" >"$work/differ"
	grep -q 'differences' "$work/differ" && ! grep -v '^~ name' "$work/differ" | grep -v ' differences from '
}

same() { # how, file
	diff <("$1" "$in/$2") <("$1" "$out/$2")
}

# VLs that depend on the kind of switch port, so that SL2VL tables are not all alike
cat >"$work/qos.conf" <<-EOF
	qos TRUE
	qos_sw0_sl2vl 7,6,5,4,3,2,1,0,7,6,5,4,3,2,1,0
	qos_swe_sl2vl 0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7
EOF

# a fresh simulator for each run: its switches remember the tables of the run before
for spec in fattree2:leaves=4,spines=2,hosts=4 torus:dims=4x3,hosts=2,fail=2 hyperx:dims=3x3,hosts=2 \
	torus:dims=6x4,hosts=1; do
	for run in "updn 0" "updn 1" "dfsssp 0 -Q" "dfsssp 1 -Q" "minhop 0 -Q" "updn 1 -F $work/qos.conf"; do
		read -r engine lmc qos <<<"$run"
		what="$spec $engine lmc $lmc${qos:+ with QoS}"
		in=$work/in out=$work/out again=$work/again
		rm -rf "$in" "$out" "$again"
		mkdir "$out"
		ok "$what: ibsim" sim_start "$spec" || continue
		host=$(sed -n 's/^Ca[ \t]*[0-9]* "\([^"]*\)".*/\1/p' "$work/net" | head -n 1)
		# shellcheck disable=SC2086 # two words or none
		ok "$what: opensm" sm "$in" -R "$engine" -l "$lmc" $qos
		[ "$engine $lmc" = "updn 0" ] && ok "$what: the cache of ibnetdiscover" discovered &&
			ok "$what: neighbors and guid2lid of OpenSM" remembered
		ok "$what: read and write" "$tool" back "$in" "$out" "$lmc"
		ok "$what: opensm-lfts.dump" same cat opensm-lfts.dump
		ok "$what: opensm.fdbs" same plain_fdbs opensm.fdbs
		ok "$what: opensm-subnet.lst" same plain_subnet opensm-subnet.lst
		[ -z "$qos" ] || ok "$what: opensm-sl2vl.dump" same plain_sl2vl opensm-sl2vl.dump
		ok "$what: opensm takes our dump" sm "$again" -R file -U "$out/opensm-lfts.dump" -l "$lmc"
		ok "$what: and installs the same" diff "$in/opensm-lfts.dump" "$again/opensm-lfts.dump"
		sim_stop
	done
done
finish
