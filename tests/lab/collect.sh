#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# collect.sh: a collector on a fabric behind real MADs, with a stock opensm and SLURM: many who look cost
# what one costs; a cable, the SM and SLURM fail, everybody sees it within seconds, and the past has it.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

B=${B:-build}
counter=$PWD/$B/tests/lab/libumad_sends.so
make -s "$B/tests/lab/libumad_sends.so" >/dev/null || give_up "libumad_sends.so builds"
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
lab_fabric fattree2:leaves=4,spines=2,hosts=4 || give_up "the fabric starts"
lab_opensm "routing_engine updn" || give_up "opensm brings the subnet up"
lab_slurm || give_up "SLURM starts"
job=$(lab_job -J wrf -w 'n[0003-0008]') || give_up "a job runs"
C=$LAB_DIR/collector

# up [OPTION...]: the collector on n0002, and its MADs in $LAB_DIR/sends; lab_on has a time limit
up() {
	LAB_TIMEOUT=500 lab_on n0002 env UMAD_SENDS="$LAB_DIR/sends" LD_PRELOAD="$counter:$LAB_PRELOAD" "$IBROUTE_TOP" collect --name ib -d 1 \
		--sweep-interval 300 --dir "$C" --state-dir "$LAB_DIR/state" --jobs slurm --jobs-interval 1 "$@" 2>"$LAB_DIR/collect.log" &
	lab_wait 30 see
}
down() { # the client of lab_on is the collector's parent
	pkill -TERM -f "collect --name ib -d 1 --sweep-interval 300 --dir $C"
	lab_wait 10 eval '! pgrep -f "collect --name ib -d 1 --sweep-interval 300 --dir $C"'
}
# see [OPTION...]: what one who looks sees, in $LAB_DIR/seen
see() { timeout 60 "$IBROUTE_TOP" --collector "$C" --json -n 1 "$@" >"$LAB_DIR/seen" 2>"$LAB_DIR/seen.err" </dev/null; }
of() { python3 -c "import json; r = json.load(open('$LAB_DIR/seen'))['overview']; print($1)"; }
# a Python expression over the overview r; what is missing there makes another exit code
is_so() { see "${@:2}"; [ "$(of "$1" 2>/dev/null)" = True ]; }
sends() { od -An -tu8 "$LAB_DIR/sends" | tr -d ' '; }
metrics() { # REGEX...: each is a line of the exporter that reads from it
	"$IBROUTE_TOP" --collector "$C" --prom -n 1 --prom-groups updates >"$LAB_DIR/prom" 2>&1 </dev/null || return
	for regex; do grep -qE -- "$regex" "$LAB_DIR/prom" || { grep -E '^ibroute_update' "$LAB_DIR/prom" | grep -v ' 0$'; return 1; }; done
}
over() { # seconds: MADs in that time
	local a
	a=$(sends)
	sleep "$1"
	echo $(($(sends) - a))
}

ok "a collector on a real port" up
ok "its viewers see the fabric, the SM and the job" lab_wait 20 is_so \
	'r["hosts"] == 16 and r["sm"]["state"] == "master" and r["jobs"]["running"] == 1'
ok "and its user, by the helper of SLURM" eval 'see --view jobs && grep -q "\"id\": *$job\b" "$LAB_DIR/seen"'

alone=$(over 6)
viewers=()
for _ in $(seq 20); do
	timeout 300 "$IBROUTE_TOP" --collector "$C" --jsonl -d 1 >/dev/null 2>&1 </dev/null &
	viewers+=($!)
done
crowd=$(over 6)
kill "${viewers[@]}" 2>/dev/null
echo "# MADs in 6 s: $alone, with 20 viewers $crowd"
ok "20 who look cost the fabric what none costs" test "$alone" -gt 0 -a $((crowd * 10)) -le $((alone * 13))

# --- a cable ---
before=$(date +%s)
sleep 2 # the second before, which is asked for below, has a sample
leaf=$(lab_node leaf2)
lab_con "Unlink \"$leaf\"[$(lab_port leaf2)]"
ok "a cable that was cut is seen" lab_wait 5 is_so 'r["cables"] == 7'
cut_is_found() { see --check; [ $? -eq 1 ] && grep -q 'cable gone' "$LAB_DIR/seen.err"; }
ok "and is a reason to call somebody" lab_wait 5 cut_is_found
ok "the past has the cable" is_so 'r["cables"] == 8' --at "@$before"
lab_con "ReLink \"$leaf\"[$(lab_port leaf2)]"
ok "it is seen when it is back" lab_wait 5 is_so 'r["cables"] == 8'

# --- counters between two runs of a line of cron: the collector reads them once a minute, and when --check asks ---
check() { "$IBROUTE_TOP" --collector "$C" --check -n 1 --state-dir "$LAB_DIR/cron" >"$LAB_DIR/seen" 2>"$LAB_DIR/seen.err" </dev/null; }
rose() { check; [ $? -eq 1 ] && grep -q 'SymbolErrorCounter rose by 5000' "$LAB_DIR/seen.err"; }
mkdir "$LAB_DIR/cron"
ok "a first run has nothing to tell" check
lab_counter leaf2 "$(lab_port leaf2)" PortCounters.SymbolErrorCounter=5000
ok "5,000 symbol errors since the last run are told at once" rose
ok "and are no news to the next run" check

# --- commands that look and plan: nothing is asked of the fabric ---
cost() { # COMMAND...: its MADs, its own exit code
	rm -f "$LAB_DIR/own"
	LAB_TIMEOUT=120 lab_on n0003 env UMAD_SENDS="$LAB_DIR/own" LD_PRELOAD="$counter:$LAB_PRELOAD" "$IBROUTE_TOP" "$@" \
		>"$LAB_DIR/said" 2>&1 </dev/null || { cat "$LAB_DIR/said"; return 1; }
	[ -s "$LAB_DIR/own" ] && od -An -tu8 "$LAB_DIR/own" | tr -d ' ' || echo 0
}
cheap() { # how many MADs it may cost by way of the collector; COMMAND...
	local most=$1 here there
	shift
	there=$(cost "$@" --collector "$C") && grep -q "the collector's" "$LAB_DIR/said" && cp "$LAB_DIR/said" "$LAB_DIR/by" &&
		here=$(cost "$@" --collector none) || return
	echo "# $*: $there MADs, $here without"
	[ "$there" -le "$most" ] && [ "$here" -gt $((most + 9)) ]
}
told_same() { diff <(grep -v "^note: fabric and tables" "$LAB_DIR/by") "$LAB_DIR/said"; }
ok "dump-lfts costs nothing by way of it" cheap 0 dump-lfts
ok "and says the same" told_same
ok "that of another fabric is not taken" eval '! cost dump-lfts --fabric other --collector "$C" && grep -q "is ib, not other" "$LAB_DIR/said"'
ok "so does plan" cheap 0 plan -e minhop --jobs none
ok "and compare" cheap 0 compare --engine minhop,updn --jobs none
ok "topology --slurm costs nothing" cheap 0 topology --slurm
ok "paths by name asks the hosts for their P_Keys alone" cheap 8 paths n0001 n0016
as_collected() { LAB_TIMEOUT=120 lab_on n0003 "$IBROUTE_TOP" "$@" >"$LAB_DIR/said" 2>&1 </dev/null; local rc=$?; cat "$LAB_DIR/said"; return $rc; }
sm_by() { # its exit code is 1: there is no plugin
	cost sm --collector "$1" --socket "$LAB_DIR/none" >/dev/null
	[ ! -s "$LAB_DIR/own" ] || od -An -tu8 "$LAB_DIR/own" | tr -d ' '
}
sm_is_told() {
	local there here

	there=$(sm_by "$C") && grep -v '^note' "$LAB_DIR/said" >"$LAB_DIR/by" && here=$(sm_by none) || return
	echo "# sm: ${there:-0} MADs, $here without"
	[ "${there:-0}" -eq 0 ] && [ "$here" -gt 9 ] && diff "$LAB_DIR/by" "$LAB_DIR/said" && grep -q '^master SM   n0001, .*master$' "$LAB_DIR/said"
}
ok "sm costs nothing, and says the same" sm_is_told
refused() { as_collected apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}" --yes-fabric ib --no-input; [ $? -eq 4 ] && grep -q 'the installed tables changed' "$LAB_DIR/said"; }
ok "a plan is made of what it knows" as_collected plan -e minhop --jobs none --fabric ib -o "$LAB_DIR/p.plan" --collector "$C"
ok "one of somebody else is made and applied meanwhile" eval 'as_collected plan -e minhop --exclude spine1 --jobs none --fabric ib -o "$LAB_DIR/q.plan" --collector none &&
	as_collected apply --accept-slower "$LAB_DIR/q.plan" "${dirs[@]}" --yes-fabric ib --no-input &&
	! as_collected dump-lfts "${dirs[@]:2:2}" --collector "$C" >/dev/null'
ok "then what was read before is not told" grep -q "has written since the collector read" "$LAB_DIR/said"
ok "the first is refused before anything is written, and why is said" refused

# --- the automatic mode, and a console that writes: they read from it, and write over a port of their own ---
echo '1 n[0001-0002,0005-0006,0009-0010,0013-0014]' >"$LAB_DIR/jobs"
echo '2 n[0003-0004,0007-0008,0011-0012,0015-0016]' >>"$LAB_DIR/jobs"
knows_tables() {
	as_collected dump-lfts --collector "$C" >/dev/null && grep -v '^note' "$LAB_DIR/said" >"$LAB_DIR/by" &&
		as_collected dump-lfts --collector none >/dev/null && cmp -s "$LAB_DIR/by" "$LAB_DIR/said"
}
ok "the collector has read what an update has written" lab_wait 12 knows_tables
service() { # OPTION...: its lines in $LAB_DIR/auto; its MADs in $LAB_DIR/own
	rm -f "$LAB_DIR/own"
	# shellcheck disable=SC2046
	env $(lab_env n0003) UMAD_SENDS="$LAB_DIR/own" LD_PRELOAD="$counter:$LAB_PRELOAD" "$IBROUTE_TOP" --auto=0.05 --auto-min-age 0 \
		--jobs "$LAB_DIR/jobs" --name ib --collector "$C" "${dirs[@]}" "$@" </dev/null >"$LAB_DIR/auto" 2>&1 &
	service=$!
}
auto_says() { lab_wait 10 grep -qE -- "$1" "$LAB_DIR/auto" || { tail -n 7 "$LAB_DIR/auto"; return 1; }; }
ended() { kill -TERM "$service" && wait "$service"; }
service
ok "automatic mode proposes what it finds" auto_says 'PROPOSED PLAN: .* blocks: gain'
ok "without a MAD of its own" eval '[ ! -s "$LAB_DIR/own" ] || [ $(od -An -tu8 "$LAB_DIR/own" | tr -d " ") -eq 0 ]'
ok "it ends" ended
service --rw --auto-confirm 2 --confirm-timeout 30
ok "armed, it writes and confirms" auto_says 'the new routing is confirmed'
ok "it ends" ended
ok "the collector has read again" lab_wait 12 knows_tables
console_writes() {
	# shellcheck disable=SC2046
	tty_start 100x30 env $(lab_env n0003) TERM=screen-256color LC_ALL=C.UTF-8 SLURM_CONF="$SLURM_CONF" "$IBROUTE_TOP" --rw --name ib \
		--collector "$C" "${dirs[@]}"
	tty_wait 20 'source: coll.*' && tty_wait 20 'hosts 16' || return
	tty_keys 6
	tty_engine minhop && tty_keys Space && tty_wait 60 'blocks' && tty_keys A && tty_wait 20 'ready to start' &&
		tty_update ib
}
. tests/tty.sh
trap 'tty_stop; lab_stop' EXIT
ok "a console with --rw on it applies a plan" console_writes
tty_stop

# --- what became of updates ---
counted=('^ibroute_updates_total\{fabric="ib",engine="minhop",result="confirmed"\} [12]$'
	'^ibroute_update_gain_ratio_total\{fabric="ib",engine="(sar|nue|parx|dfsssp|dfdn|repair)"\} 0\.[0-9]' '^ibroute_updates_interrupted\{fabric="ib"\} 0$')
ok "updates and what they were to gain are counted" lab_wait 10 metrics "${counted[@]}"
ok "in a form that Prometheus takes" python3 tests/prom.py "$LAB_DIR/prom"

# --- the same without a history ---
ok "it ends, and comes again without a history" eval 'down && up --history none'
ok "updates from before are counted still" lab_wait 10 metrics "${counted[@]}"
ok "another one is written" eval 'as_collected plan -e updn --exclude spine2 --jobs none --fabric ib -o "$LAB_DIR/r.plan" --collector none &&
	as_collected apply --accept-slower "$LAB_DIR/r.plan" "${dirs[@]}" --yes-fabric ib --no-input'
ok "and read at once, too" lab_wait 12 knows_tables

# --- SLURM and the SM ---
lab_slurmctld_stop
ok "SLURM is gone, and that is seen" lab_wait 15 is_so 'r["jobs"]["state"] == "unreachable"'
ok "the job stands meanwhile" is_so 'r["jobs"]["running"] == 1'
lab_slurmctld_start
ok "it is back" lab_wait 15 is_so 'r["jobs"]["state"] == "ok"'
lab_opensm_stop
ok "the SM is gone, and that is seen" lab_wait 10 is_so 'r["sm"]["answers"] is False'
ok "it ends when it is told to" down
finish
