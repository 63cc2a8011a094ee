#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# journal.sh [SEED]: a killed update whose journal is damaged on the disk, on a random net of its own.
# The plan file beside it, else OpenSM's plugin, leads back; else it is given up, and the next update
# works.  The tables are read by dump_fts.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
seed=${1:-${LAB_SEED:-$((RANDOM % 9000 + 1))}}

lab_needs_plugin

lab_new || exit 1
echo "# seed $seed"

sm() {
	lab_plugin "routing_engine ibroute,nue" "qos TRUE"
}

begun() {
	[ -n "$(ls "$LAB_DIR/state" | grep -E '^2' | tail -n 1)" ] || return 1
	id=$(ls "$LAB_DIR/state" | grep -E '^2' | tail -n 1)
	[ "$id" != "$last" ] && grep -q " $1 " "$LAB_DIR/state/$id/state.log" && [ -s "$LAB_DIR/state/$id/plan" ]
}

# An update whose processes are killed when its journal says $1; $id is its name.
killed_at() {
	last=$(ls "$LAB_DIR/state" 2>/dev/null | grep -E '^2' | tail -n 1)
	top apply "$LAB_DIR/p1" "${dirs[@]}" --without-agents --yes-fabric lab --detach >"$LAB_DIR/out" 2>&1 &
	lab_wait 20 begun "$1" || { cat "$LAB_DIR/out"; return 1; }
	kill_ours
	wait
	journal=$LAB_DIR/state/$id
}

damage() { # file, how
	local n
	n=$(stat -c %s "$1") || return 1
	case $2 in
	removed) rm "$1" ;;
	cut) truncate -s $((n / 2)) "$1" ;;
	flipped) python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); c = f.read(1)[0]; f.seek(int(sys.argv[2])); f.write(bytes([c ^ 1]))' \
		"$1" $((n / 2)) ;;
	esac
}

lab_fabric "random:switches=16,links=40,hosts=2,seed=$seed" || give_up "the fabric"
policy "engine nue:2" "seed 5" "threads 1"

# A client that is killed keeps its place in the simulator, which has ten.
fresh() {
	lab_opensm_stop
	lab_kill ibsim
	lab_ibsim || return 1
	sm || return 1
	lab_lfts >"$LAB_DIR/before"
	does 0 plan -e dfsssp:4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/p1"
}

# SL2VL tables of every switch's first port as smpquery, and service levels of 8 pairs as saquery has them.
vls_and_sls() {
	local lid a b
	lab_on n0003 ibnetdiscover >"$LAB_DIR/seen" 2>/dev/null
	for lid in $(sed -n 's/^Switch.* lid \([0-9]*\) .*/\1/p' "$LAB_DIR/seen"); do
		echo "switch $lid"
		lab_on n0003 smpquery sl2vl "$lid" 1 </dev/null 2>/dev/null | grep '^ports'
	done
	for a in 5 9 13 17; do
		for b in 7 21; do
			echo "$a $b $(lab_on n0003 saquery -p --slid "$(lab_lid "$(lab_hosts | sed -n "${a}p")")" \
				--dlid "$(lab_lid "$(lab_hosts | sed -n "${b}p")")" </dev/null 2>/dev/null | sed -n 's/^[ \t]*sl\.\.*//p')"
		done
	done
}

same_vls_and_sls() {
	vls_and_sls >"$LAB_DIR/vls.now"
	[ "$(grep -cE '^[0-9]+ [0-9]+ (0x)?[0-9a-f]+$' "$LAB_DIR/vls.now")" -eq 8 ] && [ "$(grep -c '^ports' "$LAB_DIR/vls.now")" -gt 30 ] &&
		diff "$LAB_DIR/vls.before" "$LAB_DIR/vls.now" >"$LAB_DIR/vls.diff" || { head -n 4 "$LAB_DIR/vls.diff" | sed 's/^/# /'; return 1; }
}

states=(confirming writing)
k=0
for file in head.json changes.bin state.log; do
	ok "a fresh subnet" fresh
	for how in removed cut flipped; do
		at=${states[k++ % 2]}
		ok "killed when $at" killed_at "$at"
		ok "$file $how" damage "$journal/$file" "$how"
		if [ "$file" != state.log ]; then
			ok "status says so" does 1 status "$id" "${dirs[@]}"
			ok "and what helps" said "made good by the plan file"
		fi
		ok "rollback leads out" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab
		ok "to the old tables" same "$LAB_DIR/before"
		ok "and says so" is_state "$id" rolled-back
	done
done

ok "a fresh subnet" fresh
vls_and_sls >"$LAB_DIR/vls.before"
ok "killed while it waits" killed_at confirming
ok "who plans hears of it" does 0 plan -e nue:3 --fabric lab "${dirs[@]}" -o "$LAB_DIR/p2"
ok "from the journal" said "update $id of fabric lab was interrupted in state confirming"
ok "another admin node, too" does 0 plan -e nue:3 --fabric lab --state-dir "$LAB_DIR/state2" --socket "$sock" -o "$LAB_DIR/p2"
ok "from OpenSM" said "update $id of .* is in progress"
rm "$journal/plan" "$journal/head.json"
ok "without head and plan the plugin leads back" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab
ok "to the old tables" same "$LAB_DIR/before"
ok "SL2VL tables and service levels as well" same_vls_and_sls

ok "killed while it waits" killed_at confirming
ok "the plan and" damage "$journal/plan" flipped
ok "the changes" damage "$journal/changes.bin" flipped
ok "OpenSM ends it" lab_wait 30 plugin 'p["ended"] and not p["update"]'
ok "another one is refused" does 4 apply "$LAB_DIR/p1" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
ok "rollback says what helps" does 4 rollback "$id" "${dirs[@]}" --yes-fabric lab
ok "that is" said "rollback $id --give-up"
ok "which works" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab --give-up "damaged disk"
ok "and says what is lost" said "^lost: .*changes.bin"
ok "and what the switches hold" said "^routing in the switches: .*(deadlock|connected)"
ok "the old tables" same "$LAB_DIR/before"
ok "the next update works" does 0 apply "$LAB_DIR/p1" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
finish
