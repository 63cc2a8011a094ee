#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# foreign.sh [SEED]: others write while an update waits, on a random net of its own.  The update changes
# SL2VL tables only, so that no LFT tells: somebody orders OpenSM to route by its policy, or writes a
# table directly.  It is seen within seconds, and who confirms at once afterwards is refused.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
seed=${1:-${LAB_SEED:-$((RANDOM % 9000 + 1))}}
tool=$LAB_ROOT/$B/tests/lab/wiretool

lab_needs_plugin
make -s -C "$LAB_ROOT" "$B/tests/lab/wiretool" >/dev/null || give_up "wiretool builds"

lab_new || exit 1
echo "# seed $seed"

field() { # of the update: a Python expression over t
	top status "$id" --state-dir "$LAB_DIR/state" --json 2>/dev/null |
		python3 -c 'import json, sys; j = json.load(sys.stdin); t = j.get("transactions", [j])[0]; print(eval(sys.argv[1]))' "$1"
}

is() { # expression, value
	[ "$(field "$1")" = "$2" ]
}

# SL2VL as smpquery, which is not ours, reads it: all tables towards that port of the switch
vls() {
	lab_on n0003 smpquery -G sl2vl "$guid" "$out" | sed -n 's/^ports: *//p'
}

same_vls() { # file
	vls | cmp -s - "$1"
}

same_lfts() {
	lab_lfts | cmp -s - "$LAB_DIR/lfts"
}

# The same update, waiting; $id is its name.
begin() { # more options
	does 0 apply "$LAB_DIR/plan" "${dirs[@]}" --without-agents --yes-fabric lab --detach \
		--confirm-timeout 120 "$@" || return 1
	id=$(grep -oE '[0-9]{8}T[0-9]{6}Z-[0-9]+' "$LAB_DIR/out" | head -n 1)
	lab_wait 20 is 't["state"]' confirming
}

# Within so many seconds, on a machine that has nothing else to do.
seen() { # seconds
	PATIENCE=2 lab_wait "$1" is 't["state"] in ("rollback", "rolled-back", "superseded")' True &&
		lab_wait 30 is 't["finished"]' True
}

not_confirmed() {
	! top confirm "$id" "${dirs[@]}" --yes-fabric lab >"$LAB_DIR/out" 2>&1 && lab_wait 30 is 't["finished"]' True &&
		! is 't["state"]' confirmed && is 't["why"]' foreign
}

recorded() { # regex
	grep -h '"rollback.begin"' "$LAB_DIR"/rec/*"$id"* "$LAB_DIR"/rec/*.jsonl 2>/dev/null | grep -F "$id" | grep -qE -- "$1"
}

# One table that the update changes gets its old contents, directly
overwrite() {
	# shellcheck disable=SC2046
	lab_on n0004 "$tool" vls "$sw" "$in" "$out" $(sed -n "s/^in *$in, out *$out: //p" "$LAB_DIR/old" | tr '|' ' ') \
		>"$LAB_DIR/out" 2>&1 || { sed 's/^/# /' "$LAB_DIR/out"; return 1; }
}

lab_fabric "random:switches=16,links=40,hosts=2,seed=$seed" || give_up "the fabric"
policy "engine updn" "seed 5" "threads 1"
lab_plugin "routing_engine ibroute,nue" "qos TRUE" || give_up "opensm"
lab_lfts >"$LAB_DIR/lfts"

# what routes now, with the VLs of SLs 0 and 1 changed for each other
ok "what is installed" does 0 dump-lfts --fabric lab "${dirs[@]}" -o "$LAB_DIR/now"
awk '/^[0-9]/ && $2 > 0 { t = $4; $4 = $5; $5 = t } { print }' "$LAB_DIR/now/opensm-sl2vl.dump" >"$LAB_DIR/swapped"
ok "a plan of the same paths with other VLs" does 0 plan --tables "$LAB_DIR/now/opensm-lfts.dump" \
	--tables-sl2vl "$LAB_DIR/swapped" --tables-path-sl "$LAB_DIR/now/path-sl.dump" --fabric lab "${dirs[@]}" \
	--bisections 0 -o "$LAB_DIR/plan"
ok "of no LFT block" said ': 0 of [0-9]+ LFT blocks \(0 entries\) and [1-9][0-9]+ SL2VL tables'

read -r sw in out < <("$IBROUTE_TOP" show --diff "$LAB_DIR/plan" |
	sed -n 's/^\([^ ]*\) SL2VL table of input port \([0-9]*\) and output port \([0-9]*\)$/\1 \2 \3/p' | head -n 1)
guid=$(lab_on n0003 ibswitches | sed -n "s/^Switch.*: \(0x[0-9a-f]*\) ports.*\"$sw[\" ].*/\1/p")
vls >"$LAB_DIR/old"
ok "smpquery reads SL2VL tables of $sw, output port $out" [ "$(wc -l <"$LAB_DIR/old")" -gt 3 ]

ok "an update waits" begin
vls >"$LAB_DIR/new"
ok "which has changed SL2VL tables" bash -c "! cmp -s '$LAB_DIR/old' '$LAB_DIR/new' && [ -s '$LAB_DIR/new' ]"
ok "and nothing else" same_lfts
ok "OpenSM is ordered to route by its policy" does 0 sm --forget "${dirs[@]}"
ok "seen within 3 s" seen 3
ok "the old tables are there" lab_wait 5 same_vls "$LAB_DIR/old"
ok "it ends as rolled back" is 't["state"]' rolled-back
ok "since another has written" is 't["why"]' foreign
ok "as the record says" recorded 'the policy was ordered to route'

ok "an update waits again" begin
top sm --forget "${dirs[@]}" >/dev/null 2>&1
ok "ordered, and confirmed at once: refused" not_confirmed
ok "the old tables are there" same_vls "$LAB_DIR/old"

printf '%s\n' "engine nue:3" "seed 7" "threads 1" >"$LAB_DIR/policy.conf.new"
ok "once more" begin
cp "$LAB_DIR/policy.conf" "$LAB_DIR/policy.conf.old"
cp "$LAB_DIR/policy.conf.new" "$LAB_DIR/policy.conf"
ok "OpenSM is ordered to route by another policy" does 0 sm --forget "${dirs[@]}"
ok "seen within 3 s" seen 3
ok "which stays: superseded" is 't["state"]' superseded
ok "and is told" does 0 status "$id" --state-dir "$LAB_DIR/state"
ok "with who routes" said 'the policy was ordered to route; OpenSM now routes by the engine of its policy; connected'
cp "$LAB_DIR/policy.conf.old" "$LAB_DIR/policy.conf"
ok "back to the first policy" does 0 sm --reroute "${dirs[@]}"
ok "as before" lab_wait 5 same_vls "$LAB_DIR/old"

ok "an update waits for a direct writer" begin
ok "who puts an old table back" overwrite
ok "seen within 8 s" seen 8
ok "the old tables are there" lab_wait 5 same_vls "$LAB_DIR/old"
ok "an update waits for him again" begin
overwrite
ok "written, and confirmed at once: refused" not_confirmed
ok "it is told which table" recorded "SL2VL tables no longer hold what was written .*$sw SL2VL $in->$out"
ok "the old tables are there" lab_wait 5 same_vls "$LAB_DIR/old"
ok "an update waits" begin
ok "is confirmed" does 0 confirm "$id" "${dirs[@]}" --yes-fabric lab
ok "and stays" lab_wait 5 same_vls "$LAB_DIR/new"
finish
