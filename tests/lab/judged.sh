#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# judged.sh: nothing is written that the process that writes has not judged, whatever the plan file
# says: looping tables, an order of writes that deadlocks, somebody who should drain left out, VLs
# that the links do not have, tables that are not installed; and what was shown is what is written.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/tty.sh"
. "$LAB_ROOT/tests/judge.sh"
make -s --no-print-directory -C "$LAB_ROOT" B="$B" $B/tests/lab/plan_forge >/dev/null 2>&1
forge=$LAB_ROOT/$B/tests/lab/plan_forge

lab_new || exit 1
dirs+=(--jobs "$LAB_DIR/jobs")
LAB_TIMEOUT=120
how=(--without-agents --accept-strangers --yes-fabric lab --no-input)

untouched() {
	lab_lfts | cmp -s - "$LAB_DIR/before"
}

# How it is forged, what is said; more options of apply
refused() {
	local name=$1 words=$2
	shift 2
	"$forge" "$LAB_DIR/plan" "$LAB_DIR/evil.$name" "$name" >"$LAB_DIR/forged" || { cat "$LAB_DIR/forged"; return 1; }
	does 4 apply --accept-slower "$LAB_DIR/evil.$name" "${dirs[@]}" "${how[@]}" "$@" && said "$words"
}

prompt() {
	cd "$LAB_DIR/work" || return 1
	# shellcheck disable=SC2046
	tty_start 100x30 env $(lab_env n0002) TERM=screen-256color LC_ALL=C.UTF-8 sh -c '"$@"; echo "exit $?"; sleep 60' sh \
		"$IBROUTE_TOP" apply --accept-slower "$1" "${dirs[@]}" --without-agents --accept-strangers --installer smp --confirm-timeout 30
	cd "$LAB_ROOT" || return 1
	tty_wait 20 'to start: *$'
}

lab_fabric torus:dims=4x4,hosts=1 || give_up "the fabric"
lab_opensm "routing_engine updn" || give_up "opensm"
echo "7 $(lab_hosts | tr '\n' ',' | sed 's/,$//')" >"$LAB_DIR/jobs"
lab_lfts >"$LAB_DIR/before"
ok "a plan" does 0 plan -e nue:1 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan"
"$forge" "$LAB_DIR/plan" "$LAB_DIR/x" reversed | sed 's/^/# /'

ok "looping tables are refused" refused circle 'loop' --installer smp
ok "as show says of them" eval '! "$IBROUTE_TOP" show "$LAB_DIR/evil.circle" >/dev/null 2>&1'
ok "into files, too" refused circle 'loop' --installer "file:$LAB_DIR/files"
ok "an order in one wave is refused" refused merged 'order of writes is not safe: in wave 1 of 1' --installer smp
ok "so are its waves in reverse order" refused reversed 'order of writes is not safe: in wave' --installer smp
ok "nobody who drains" refused nobody 'order of writes is not safe|must be drained' --installer smp
ok "a job left out that has to drain" refused job 'job 7 has to drain' --installer smp
ok "VLs that the links do not have" refused lanes 'did not pass|virtual lanes' --installer smp --accept-sl-change
ok "other tables than those installed" refused installed 'installed tables changed|other tables' --installer smp
ok "other service levels than the subnet manager gives" refused sls 'gives other service levels|virtual lanes|did not pass' --installer smp
ok "nothing was written" untouched
ok "no update was begun" eval '[ -z "$(ls "$LAB_DIR/state" 2>/dev/null | grep -E "^2")" ]'
ok "the record says what was judged" eval 'grep -hE "\"type\": ?\"plan.judged\"" "$LAB_DIR"/rec/*.jsonl | grep -cE "\"ok\": ?false" | grep -qxF 8'

# --- what was shown is what is written ---
cp "$LAB_DIR/plan" "$LAB_DIR/shown"
ok "the prompt waits" prompt "$LAB_DIR/shown"
cp "$LAB_DIR/evil.circle" "$LAB_DIR/shown"
tty_type lab
tty_keys Enter
ok "a file that was exchanged meanwhile is refused" tty_wait 10 'exit 4'
ok "for what it is" eval "tty_screen | tr -d \"\\n\" | grep -q \"has changed since it was read\""
tty_stop
ok "nothing was written" untouched
cp "$LAB_DIR/plan" "$LAB_DIR/shown"
: >"$LAB_DIR/out" # what came before says PREPARE, too
lab_on n0002 "$IBROUTE_TOP" apply --accept-slower "$LAB_DIR/shown" "${dirs[@]}" "${how[@]}" --installer smp >"$LAB_DIR/out" 2>&1 &
apply=$!
lab_wait 20 grep -q PREPARE "$LAB_DIR/out"
cp "$LAB_DIR/evil.circle" "$LAB_DIR/shown"
ok "exchanged after it began, the one that was shown is written" wait $apply
ok "that is the one of the record" eval 'grep -hE "\"type\": ?\"plan.create\"" "$LAB_DIR"/rec/*.jsonl | tail -n 1 |
	grep -q "$(head -c 400 "$LAB_DIR/plan" | grep -oE "p-[0-9a-f]{4}")"'
lab_lfts >"$LAB_DIR/now"
ok "the tables are others" eval '! cmp -s "$LAB_DIR/before" "$LAB_DIR/now"'
lab_on n0002 dump_fts >"$LAB_DIR/fts" 2>/dev/null
ok "and pass" eval '"$IBROUTE_TOP" check --topology "$LAB_DIR/net" --lfts "$LAB_DIR/fts" >/dev/null 2>&1'

# --- one at a time, also from another node with another state directory ---
record() { # as others see it
	lab_on n0005 saquery -S 2>/dev/null </dev/null | grep -c 'ServiceName.*ibroute-top update'
}

update() { # node, folder, exit code, more options
	local node=$1 dir=$2 want=$3 rc
	shift 3
	lab_on "$node" "$IBROUTE_TOP" apply --accept-slower "$LAB_DIR/$dir.plan" --record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/$dir" \
		--socket "$LAB_DIR/none.sock" --jobs "$LAB_DIR/jobs" --without-agents --accept-strangers --yes-fabric lab "$@" \
		>"$LAB_DIR/out" 2>&1
	rc=$?
	[ "$rc" -eq "$want" ] && return 0
	echo "# exit $rc, not $want"
	sed 's/^/# /' "$LAB_DIR/out" | tail -n 6
	return 1
}

first() { # its ID
	ls "$LAB_DIR/one" | grep -E '^2' | tail -n 1
}

for dir in one two; do
	ok "a plan for $dir" does 0 plan -e updn --fabric lab "${dirs[@]}" -o "$LAB_DIR/$dir.plan"
done
ok "no record yet" eval '[ "$(record)" = 0 ]'
ok "the first begins" update n0002 one 0 --installer smp --detach --confirm-timeout 60
ok "it waits" lab_wait 20 grep -q confirming "$LAB_DIR/one/$(first)/state.log"
ok "saquery shows its record" eval '[ "$(record)" = 1 ]'
lab_lfts >"$LAB_DIR/between"
"$IBROUTE_TOP" status last --state-dir "$LAB_DIR/one" >/dev/null 2>&1
ok "a plan while it waits" does 0 plan -e nue:1 --fabric lab "${dirs[@]}" -o "$LAB_DIR/two.plan"
ok "the second is refused, from another node" update n0003 two 4 --installer smp --no-input
ok "and names the first" said "update $(first) on .* is in progress, by its record"
ok "nothing of it was written" eval 'lab_lfts | cmp -s - "$LAB_DIR/between"'
ok "nor did it take the record away" eval '[ "$(record)" = 1 ]'
ok "the first is rolled back" lab_on n0002 "$IBROUTE_TOP" rollback "$(first)" --yes-fabric lab --state-dir "$LAB_DIR/one" --record-dir "$LAB_DIR/rec"
ok "its record is gone" eval '[ "$(record)" = 0 ]'
ok "as it was" eval 'lab_lfts | cmp -s - "$LAB_DIR/now"'

# --- OpenSM with our plugin ---
policy 'engine updn' 'vls 4' 'threads 1'
lab_plugin "qos TRUE" "routing_engine ibroute,no_fallback" || give_up "opensm with the plugin"
lab_lfts >"$LAB_DIR/before"
ok "a plan by what OpenSM has told" does 0 plan -e nue:1 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan"
for name in circle merged reversed; do
	ok "with the plugin: $name is refused" refused $name 'loop|order of writes is not safe|must be drained'
	ok "by SMPs beside it, too" refused $name 'loop|order of writes is not safe|must be drained' --installer smp
done
ok "other service levels than OpenSM has given out" refused sls 'other service levels of [0-9]+ paths than OpenSM has given out'
ok "nothing was written" untouched
ok "what was computed is written" does 0 apply --accept-slower "$LAB_DIR/plan" "${dirs[@]}" "${how[@]}"
finish
