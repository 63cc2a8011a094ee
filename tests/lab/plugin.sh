#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# plugin.sh [full]: our engines inside a stock opensm on ibsim.  What dump_fts, smpquery and saquery find
# is what "ibroute-top route" computes for the fabric that ibnetdiscover sees; and it stays so when
# cables go and come back and when opensm starts again.  In full (make soak) smpquery and saquery look
# at more switches and pairs.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
every=18 pairs=10 # switches, pairs of hosts that are looked at
[ "${1:-}" != full ] || every=9 pairs=30

lab_needs_plugin

log() { # what opensm has said since mark()
	tail -n "+$mark" "$LAB_DIR/osm/opensm.log"
}

mark() {
	mark=$(($(wc -l <"$LAB_DIR/osm/opensm.log") + 1))
}

hup() {
	mark
	kill -HUP "$(cat "$LAB_DIR/opensm.pid")"
}

said() { # regex
	log | grep -qE -- "$1"
}

not_said() {
	! said "$1"
}

# The engine says so, and OpenSM has distributed what it said.
done_after() {
	log | awk -v re="$1" '$0 ~ re { said = 1 } said && /SUBNET UP/ { up = 1 } END { exit !up }'
}

comes() { # regex
	lab_wait 15 done_after "$1" || { log | sed 's/^/# /' | tail -n 8; return 1; }
}

up_twice() {
	[ "$(log | grep -c 'SUBNET UP')" -ge 2 ]
}

refused() { # regex
	lab_wait 15 said "ibroute: no routes of ours.*$1" || { log | sed 's/^/# /' | tail -n 8; return 1; }
}

# opensm, with lines for its configuration
sm() {
	mark=1
	lab_plugin "$@"
}

# What our own program routes, for the fabric as ibnetdiscover sees it: in $LAB_DIR/ours
expect() { # lmc, options of route...
	local lmc=$1
	shift
	rm -rf "$LAB_DIR/ours"
	lab_on n0003 ibnetdiscover >"$LAB_DIR/seen" &&
		"$IBROUTE_TOP" route --topology "$LAB_DIR/seen" --lmc "$lmc" --bisections 0 \
			--formats opensm,ibdm "$@" --out "$LAB_DIR/ours" >"$LAB_DIR/route.out" 2>&1 ||
		{ tail -n 3 "$LAB_DIR/route.out"; return 1; }
}

same_lfts() {
	lab_lfts_as_in "$LAB_DIR/ours" 1000
}

# SL2VL in some switches, all pairs of ports: so many tables at least, output ports
same_sl2vl() {
	lab_sl2vl_as_in "$LAB_DIR/ours" "$every" "${2:-7}" $((${1:-150} * 9 / every))
}

# SLs of path records for pairs of hosts; prints how many had which
same_sls() {
	local slid dlid sl got n=0

	awk 'FNR == NR {
			if (/^Ca/) { split($0, q, "\""); sub(/.*H-/, "0x", q[2]); node = q[2] }
			else if (/^\[1\]/ && match($0, /# lid [0-9]+/)) {
				lid = substr($0, RSTART + 6, RLENGTH - 6) + 0; of[node] = lid; ca[lid] = 1 }
			next }
		$1 in of && $2 in ca && of[$1] != $2 && (NR * 7919) % 1009 < 9 { print of[$1], $2, $3 }' \
		"$LAB_DIR/seen" "$LAB_DIR/ours/path-sl.dump" | sort -n | head -n "$1" >"$LAB_DIR/pairs"
	while read -r slid dlid sl; do
		got=$(lab_on n0004 saquery -p --slid "$slid" --dlid "$dlid" </dev/null |
			sed -n 's/^[ \t]*sl\.\.*//p')
		[ "$((${got:-99}))" -eq "$sl" ] ||
			{ echo "# LID $slid to $dlid: SL ${got:-none}, not $sl"; return 1; }
		n=$((n + 1))
	done <"$LAB_DIR/pairs"
	echo "# SLs of $n pairs: $(cut -d ' ' -f 3 "$LAB_DIR/pairs" | sort | uniq -c | awk '{ printf "%s%d of SL %d", (NR > 1 ? ", " : ""), $1, $2 }')"
	[ "$n" -ge $(($1 / 2)) ]
}

# opensm's own dumps, judged.
judged() {
	timeout 20 "$IBROUTE_TOP" check --topology "$LAB_DIR/osm/opensm-subnet.lst" --bisections 0 \
		--lfts "$LAB_DIR/osm/opensm-lfts.dump" --sl2vl "$LAB_DIR/osm/opensm-sl2vl.dump" \
		--path-sl "$LAB_DIR/ours/path-sl.dump" "$@" >"$LAB_DIR/check.out" 2>&1 ||
		{ tail -n 4 "$LAB_DIR/check.out"; return 1; }
}

# It often crashes after it has said so.
ibdmchk_agrees() {
	: >"$LAB_DIR/empty"
	(cd "$LAB_DIR/work" && timeout 60 ibdmchk -m "$LAB_DIR/empty" -l 0 -s "$LAB_DIR/osm/opensm-subnet.lst" \
		-f "$LAB_DIR/osm/opensm.fdbs" -c "$LAB_DIR/ours/path-sl.dump" \
		-d "$LAB_DIR/ours/ibdm-sl2vl.dump" >"$LAB_DIR/ibdm.out" 2>&1 </dev/null)
	grep -aq 'no credit loops found' "$LAB_DIR/ibdm.out" || { tail -n 3 "$LAB_DIR/ibdm.out"; return 1; }
} 2>/dev/null

# The fingerprint in our program's tables begins with the digits that the plugin has logged last.
same_fabric() {
	local digits

	digits=$(log | sed -n 's/.*ibroute: routed by.*: fabric \([0-9a-f]*\) of.*/\1/p' | tail -n 1)
	python3 - "$digits" "$LAB_DIR/ours/tables.ibr" <<-'PY'
		import sys
		sys.exit(len(sys.argv[1]) != 8 or bytes.fromhex(sys.argv[1]) not in open(sys.argv[2], 'rb').read(256))
	PY
}

# Unlink or ReLink of all that leads to other switches
cables_of() { # switch, command
	local port
	for port in $(sed -n "/\"$1\"/,/^\$/s/^\(\[[0-9]*\]\).*\"S-.*/\1/p" "$LAB_DIR/net"); do
		lab_con "$2 \"$(lab_node "$1")\"$port"
	done
}

# everything about the routes that are installed now
ours() { # name, lmc, options of route...
	local name=$1
	shift
	ok "$name: our program routes this fabric" expect "$@" || return
	ok "$name: the same fabric to both" same_fabric
	ok "$name: LFTs in the switches" same_lfts
	ok "$name: SL2VL in the switches" same_sl2vl
	ok "$name: SLs in path records" same_sls $pairs
	ok "$name: opensm's dumps pass our judge" judged --lmc "$1"
}

lab_new || exit 1
lab_fabric dragonfly:p=2 || give_up "the fabric"
cable=$(sed -n '/"sw01"/,/^$/s/^\(\[[0-9]*\]\).*"S-.*/\1/p' "$LAB_DIR/net" | head -n 1)
route=(--vls 4 --seed 7)

policy "engine dfsssp" "vls 4" "seed 7" "on_change reroute"
sm "routing_engine ibroute,no_fallback" "qos TRUE" || give_up "opensm"
ok "dfsssp: routes" comes "ibroute: routed by engine dfsssp.* 90 links.* verified"
ours dfsssp 0 --engine dfsssp "${route[@]}"
ok "dfsssp: ibdmchk finds no credit loop" ibdmchk_agrees

for e in dfdn nue; do
	policy "engine $e" "vls 4" "seed 7" "on_change reroute"
	hup
	ok "$e: the new policy routes" comes "ibroute: routed by engine $e"
	ours $e 0 --engine $e "${route[@]}"
	ok "$e: ibdmchk finds no credit loop" ibdmchk_agrees
done

mark
lab_con "Unlink \"$(lab_node sw01)\"$cable"
ok "a cable gone: routed again" comes "ibroute: routed by engine nue.* 89 links.* verified"
ours "a cable gone" 0 --engine nue "${route[@]}"
mark
lab_con "ReLink \"$(lab_node sw01)\"$cable"
ok "the cable back: routed again" comes "ibroute: routed by engine nue.* 90 links.* verified"
ours "the cable back" 0 --engine nue "${route[@]}"

# tables of the console: another seed than the policy's engine has
ok "tables of our program" expect 0 --engine dfsssp --vls 4 --seed 99
cp "$LAB_DIR/ours/tables.ibr" "$LAB_DIR/confirmed.ibr"
policy "engine nue:2" "tables confirmed.ibr" "on_change reroute"
hup
ok "given tables: used" comes "ibroute: routed by the given tables of dfsssp"
ours "given tables" 0 --engine dfsssp --vls 4 --seed 99
mark
lab_con "Unlink \"$(lab_node sw01)\"$cable"
ok "given tables, a cable gone: the engine instead" comes "ibroute: routed by engine nue.* 89 links"
ok "given tables, a cable gone: says why" said "ibroute: not the given tables, but nue:2: .*fabric"
mark
lab_con "ReLink \"$(lab_node sw01)\"$cable"
ok "given tables, the cable back: used" comes "ibroute: routed by the given tables.* 90 links"

# a switch under maintenance, which the given tables pass
ok "the given tables pass sw05" [ "$(lab_passing sw05 "$LAB_DIR/seen")" -gt 0 ]
policy "engine nue:2" "tables confirmed.ibr" "on_change reroute" "exclude sw05"
hup
ok "excluded: the engine instead" comes "ibroute: routed by engine nue.* 90 links"
ok "excluded: says why" said "ibroute: not the given tables, but nue:2: .* passes sw05"
ok "excluded: nothing passes" lab_nothing_passes sw05 "$LAB_DIR/seen"
mark
cables_of sw05 Unlink
ok "excluded and down: routed without it" comes "ibroute: routed by engine nue.* 35 switches.* 85 links"
mark
cables_of sw05 ReLink
ok "excluded, back: routed again" comes "ibroute: routed by engine nue.* 90 links"
ok "excluded, back: nothing passes" lab_nothing_passes sw05 "$LAB_DIR/seen"
policy "engine nue:2" "tables confirmed.ibr" "on_change reroute"
sm "routing_engine ibroute,no_fallback" "qos TRUE" || give_up "opensm again"
ok "opensm again: the given tables from disk" comes "ibroute: routed by the given tables of dfsssp"
ours "opensm again" 0 --engine dfsssp --vls 4 --seed 99

policy "engine nosuch"
hup
ok "a broken policy: the one before holds" comes "ibroute: routed by the given tables of dfsssp"
ok "a broken policy: says where" said "ibroute: the previous policy stays in effect: .*policy.conf:1: .*nosuch"

policy "engine ftree"
hup
ok "no engine behind ours: refused" refused "not a fat tree"
ok "no engine behind ours: the switches keep their routes" same_lfts
sm "routing_engine ibroute,dfsssp" "qos TRUE" || give_up "opensm with dfsssp behind"
ok "an engine that does not suit: refused" refused "not a fat tree"
ok "and opensm's next engine routes" comes "dfsssp tables configured"

policy "engine dfsssp" "vls 4"
sm "routing_engine ibroute,dfsssp" || give_up "opensm without QoS"
ok "no QoS: refused" refused "qos TRUE"
sm "routing_engine ibroute,dfsssp" "qos TRUE" "max_op_vls 1" || give_up "opensm with 1 VL"
ok "links with 1 VL: refused" refused "did not pass.*VL"

policy "engine nue:4" "seed 3" "escape yes"
sm "routing_engine ibroute,no_fallback" "qos TRUE" "lmc 1" || give_up "opensm with LMC 1"
ok "LMC 1 with escape LIDs: routes" comes "ibroute: routed by engine nue.*LMC 1; verified"
# the links come up with the 1 VL of the run before, and OpenSM's SL2VL tables with them
ok "LMC 1: OpenSM has cut SL2VL tables off, another sweep is asked for" said "another sweep follows"
ok "LMC 1: and comes" lab_wait 10 up_twice
ours "LMC 1 with escape LIDs" 1 --engine nue:4 --seed 3 --escape

# four LIDs a host for traffic and four escape LIDs, on a fabric that parx is for
lab_opensm_stop
lab_kill ibsim
lab_fabric hyperx:dims=4x4,hosts=2 || give_up "the HyperX"
printf '0: 1=1000000\n1: 2=500000,3=1000\n2: 0=70000\n3: 0=9\n' >"$LAB_DIR/demand.txt"
printf '0: n0001\n1-3: n[0009-0011]\n' >"$LAB_DIR/ranks.txt"
policy "engine parx" "seed 5" "escape yes" "demand demand.txt" "ranks ranks.txt"
sm "routing_engine ibroute,no_fallback" "qos TRUE" "lmc 3" || give_up "opensm with LMC 3"
ok "parx, LMC 3: routes" comes "ibroute: routed by engine parx.*LMC 3; verified"
ok "parx: with its demand" not_said "routing without"
lab_wait 10 up_twice
ok "parx: our program routes this fabric" expect 3 --engine parx --seed 5 --escape \
	--demand "$LAB_DIR/demand.txt" --ranks "$LAB_DIR/ranks.txt"
ok "parx: the same fabric to both" same_fabric
ok "parx: LFTs in the switches" same_lfts
ok "parx: SL2VL in the switches" same_sl2vl 60 8
ok "parx: SLs in path records" same_sls $((pairs < 16 ? pairs : 16))
ok "parx: opensm's dumps pass our judge" judged --lmc 3
finish
