#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# watchdog.sh [KILLS [SEED]]: updates over ibsim that lose their terminal, their watchdog, its guard
# or both, and those that the watchdog objects to.  dump_fts, which is not ours, says what is in
# the switches; after KILLS (preset 4) SIGKILLs at random moments it is always one of two routings,
# and status says which.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
kills=${1:-4}
RANDOM=${2:-1}

# Not on the wire: needs no place in the simulator.
top() {
	timeout 30 "$IBROUTE_TOP" "$@"
}

# A number or word of the newest update: field last state
field() { # update, python expression on t
	top status "$1" "${state[@]}" --json | python3 -c 'import json, sys
t = json.load(sys.stdin); p = t["process"] or {}; s = p.get("status") or {}
print(eval(sys.argv[1]))' "$2" 2>/dev/null
}

is() { # update, expression, value
	[ "$(field "$1" "$2")" = "$3" ]
}

# Begins it in the background without anybody at a terminal; waits until it waits.
begin() { # plan, options...
	id=
	does 0 apply --accept-slower "$@" "${dirs[@]}" --yes-fabric lab1 --detach || return 1
	id=$(tail -n 1 "$LAB_DIR/out")
	lab_wait 15 is "$id" 's.get("waiting")' True || { echo "# $id does not wait"; return 1; }
}

pid_in() { # lock|guard: who holds that
	sed -n 's/.*process \([0-9]*\).*/\1/p' "$LAB_DIR/state/$id/$1" 2>/dev/null
}

ends() { # state, seconds
	lab_wait "${2:-20}" is "$id" 't["state"], t["live"]' "('$1', False)" ||
		{ echo "# $id: $(field "$id" 't["state"], t["live"]'), not $1"; return 1; }
}

watch_says() { # regex
	grep -hE "$1" "$LAB_DIR/state/watchdog.log" >/dev/null
}

valid() { # definition of the schema, file
	python3 "$LAB_ROOT/tests/schema.py" "$1" "$2" >"$LAB_DIR/out" 2>&1 || { tail -n 5 "$LAB_DIR/out"; return 1; }
}

# The socket of an update that waits, as a script of somebody else's would ask it; what it tells a
# follower ends, for us, where it begins to wait.
asked() {
	python3 - "$LAB_DIR/state/$id/control" "$LAB_DIR" <<-'PY'
		import socket, sys

		def ask(*requests):
		    s = socket.socket(socket.AF_UNIX)
		    s.settimeout(20)
		    s.connect(sys.argv[1])
		    f = s.makefile("rwb")
		    for r in requests:
		        f.write(r + b"\n")
		        f.flush()
		        yield f.readline().decode()
		    if requests[-1] == b'{"op":"follow"}':
		        for line in f:
		            yield line.decode()
		            if b'"waiting"' in line:
		                return

		with open(sys.argv[2] + "/answers", "w") as out:
		    out.writelines(ask(b'{"op":"status"}', b'{"op":"extend","seconds":300}'))
		    out.writelines(ask(b'{"op":"dance"}'))
		    followed = list(ask(b'{"op":"follow"}'))
		    out.write(followed[0])
		with open(sys.argv[2] + "/events", "w") as out:
		    out.writelines(followed[1:])
	PY
	[ "$(wc -l <"$LAB_DIR/answers")" -eq 4 ] && valid control_answer "$LAB_DIR/answers"
}

lab_new || exit 1
lab_fabric fattree2:leaves=8,spines=4,hosts=4 || give_up "the fabric"
lab_opensm "routing_engine minhop" "sweep_interval 0" || give_up "opensm"
state=(--state-dir "$LAB_DIR/state")
printf '1 n[0001-0006]\n2 n[0009-0016,0021]\n' >"$LAB_DIR/jobs"
lab_lfts >"$LAB_DIR/t0"
ok "a plan" does 0 plan -e sar:paper --fabric lab1 --jobs "$LAB_DIR/jobs" -o "$LAB_DIR/p.plan"

# --- decided from other shells ---
ok "apply --detach ends at once, the update waits" begin "$LAB_DIR/p.plan"
ok "its process and its guard live" is "$id" 't["live"] and t["guarded"]' True
does 1 status "$id" "${state[@]}"
ok "status tells the deadline" said 'rolls back in [0-9]* s unless'
ok "and what is watched" said 'watch *errors .*[0-9] ports of changed links'
ok "a second update is refused" does 4 apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}" --yes-fabric lab1
ok "more time" does 0 extend "${id%?}" 1000 "${state[@]}"
ok "which status tells" is "$id" 'p["deadline_s"] > 900' True
ok "what its process answers is valid" asked
ok "and what it tells" valid control_event "$LAB_DIR/events"
ok "the plan is in the journal" cmp -s "$LAB_DIR/p.plan" "$LAB_DIR/state/$id/plan"
ok "rolled back from another shell" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab1
ok "the old routes are back" same "$LAB_DIR/t0"
ok "and it is over" ends rolled-back 2
faultless() { rec=$(grep -l 'rolled back by the operator' "$LAB_DIR"/rec/*.jsonl) && ! grep '"type":"error"' $rec; }
ok "as wanted: its record has no error" lab_wait 10 faultless
ok "its socket is gone" test ! -e "$LAB_DIR/state/$id/control"
ok "begun again" begin "$LAB_DIR/p.plan"
ok "confirmed from another shell" does 0 confirm last "${dirs[@]}" --yes-fabric lab1
lab_lfts >"$LAB_DIR/t1"
ok "the new routes stay" bash -c "! cmp -s '$LAB_DIR/t0' '$LAB_DIR/t1' && [ -s '$LAB_DIR/t1' ]"
ok "the steps are listed" does 0 status last "${state[@]}" --events
ok "to the last" said 'confirmed'
ok "a plan back" does 0 plan -e minhop --fabric lab1 -o "$LAB_DIR/back.plan"

# --- a lost terminal ---
# shellcheck disable=SC2046
env $(lab_env n0002) "$IBROUTE_TOP" apply --accept-slower "$LAB_DIR/back.plan" "${dirs[@]}" --yes-fabric lab1 \
	--confirm-timeout 3 >"$LAB_DIR/out" 2>&1 &
client=$!
lab_wait 15 grep -q 'CONFIRM' "$LAB_DIR/out"
lab_wait 15 grep -q '[0-9]T[0-9]*Z-[0-9]' "$LAB_DIR/out"
id=$(grep -o '[0-9]*T[0-9]*Z-[0-9]*' "$LAB_DIR/out" | tail -n 1)
kill -HUP "$client"
wait "$client" 2>/dev/null
ok "SIGHUP to apply: the update goes on" is "$id" 't["live"]' True
ok "to its deadline, and rolls back" ends rolled-back 10
ok "as the switches say" same "$LAB_DIR/t1"

# --- lost processes ---
ok "an update that waits" begin "$LAB_DIR/back.plan"
kill -9 "$(pid_in lock)"
ok "SIGKILL to its process: the guard's new one rolls back" ends rolled-back
ok "as the switches say" same "$LAB_DIR/t1"
ok "an update that waits" begin "$LAB_DIR/back.plan"
old=$(pid_in guard)
kill -9 "$old"
new_guard() { [ -n "$(pid_in guard)" ] && [ "$(pid_in guard)" != "$old" ] && is "$id" 't["guarded"]' True; }
ok "SIGKILL to the guard: there is another" lab_wait 5 new_guard
kill -9 "$(pid_in lock)"
ok "and it does the same" ends rolled-back
ok "as the switches say" same "$LAB_DIR/t1"
ok "an update that waits" begin "$LAB_DIR/back.plan"
both="$(pid_in guard) $(pid_in lock)"
# shellcheck disable=SC2086
kill -STOP $both
# shellcheck disable=SC2086
kill -9 $both
ok "SIGKILL to both: status does not claim that it lives" lab_wait 5 is "$id" 't["live"]' False
ok "but that it waits for nobody" is "$id" 't["state"]' confirming
IBROUTE_STATE_DIR=$LAB_DIR/state top topo kary:k=2,n=2 >/dev/null 2>"$LAB_DIR/out"
ok "every command says so" said "$id of fabric lab1 was interrupted in state confirming"
does 1 status "$id" "${dirs[@]}" --read
ok "what is in the switches is read" said ' 0 blocks old, [1-9][0-9]* new'
ok "rolled back by hand" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab1
ok "as the switches say" same "$LAB_DIR/t1"

# --- what is watched ---
# a port that the plan moves routes to or from: of a leaf towards a spine
ok "an update that waits" begin "$LAB_DIR/back.plan"
for port in 1 2 3 4 5 6 7 8; do lab_counter leaf1 $port PortCounters.SymbolErrorCounter=200; done
ok "symbol errors on changed links: rolled back" ends rolled-back
ok "with the numbers" watch_says 'errors: leaf1/[0-9]+: [0-9]+ symbol errors more since the update, limit 50'
ok "the same without that condition" begin "$LAB_DIR/back.plan" --no-watch errors --confirm-timeout 60
for port in 1 2 3 4 5 6 7 8; do lab_counter leaf1 $port PortCounters.SymbolErrorCounter=20000; done
sleep 6
ok "goes on" is "$id" 's.get("waiting")' True
ok "until it is rolled back" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab1
ok "an update that waits" begin "$LAB_DIR/back.plan"
lab_con "Error \"$(lab_node n0017)\" 100"
ok "a host out of reach: rolled back" ends rolled-back
ok "with its name" watch_says 'reach: n0017.* responded before the update and has not 3 times since'
lab_con "Error \"$(lab_node n0017)\" 0"
ok "as the switches say" same "$LAB_DIR/t1"
if command -v slurmctld >/dev/null; then
	lab_slurm || give_up "SLURM starts"
	lab_job -J lost -w 'n[0005-0006]' >/dev/null || give_up "a job runs"
	ok "a plan for SLURM's jobs, as nothing else is said" does 0 plan -e minhop --fabric lab1 -o "$LAB_DIR/jobs.plan"
	lab_job -J more -w 'n[0009,0017]' >/dev/null || give_up "another job runs"
	ok "other jobs than it knows, and that matters: refused" does 4 apply --accept-slower "$LAB_DIR/jobs.plan" "${dirs[@]}" --jobs slurm --yes-fabric lab1
	ok "with the reason" said 'the jobs changed: 1 job started'
	ok "without a word of jobs it is applied, and waits" begin "$LAB_DIR/jobs.plan"
	lab_sl scontrol update nodename=n0006 state=down reason=test
	ok "a job loses a node: rolled back" ends rolled-back 40
	ok "with its number" watch_says 'jobs: job [0-9]+ has lost a node'
	ok "as the switches say" same "$LAB_DIR/t1"
	for d in slurmctld slurmd relay; do lab_kill $d; done
else
	skip "NODE_FAIL: SLURM is not installed"
fi
ok "an update that waits" begin "$LAB_DIR/back.plan" --no-watch reach
lab_opensm_stop
ok "the subnet manager is gone: rolled back" ends rolled-back 30
ok "as the log says" watch_says 'sm: no response for 1[0-9]'
ok "as the switches say" same "$LAB_DIR/t1"

# --- random kills ---
# From here on the routing that is there goes to the other and back, as often as is killed.
now() {
	if same "$LAB_DIR/t0"; then echo t0; elif same "$LAB_DIR/t1"; then echo t1; else echo mixture; fi
}

settled() {
	top status "${state[@]}" --json | python3 -c 'import json, sys
sys.exit(any(not t["finished"] and t["live"] for t in json.load(sys.stdin)["transactions"]))'
}

make_plans() {
	case "$(now)" in
	t0) does 0 plan -e sar:paper --fabric lab1 --jobs "$LAB_DIR/jobs" -o "$LAB_DIR/next.plan" ;;
	t1) does 0 plan -e minhop --fabric lab1 -o "$LAB_DIR/next.plan" ;;
	*) return 1 ;;
	esac
}

# The victims' numbers: as soon as there is a journal, after a random while.  An apply that ends
# without one is nobody to kill.
strike() { # what: client, worker, guard, both
	local end=$((SECONDS + 300)) pause gone=
	id=
	while [ -z "$id$gone" ] && [ "$SECONDS" -lt "$end" ]; do
		sleep 0.02
		kill -0 "$client" 2>/dev/null || gone=1
		id=$(comm -13 "$LAB_DIR/known" <(ls "$LAB_DIR/state" | grep -E '^[0-9]{8}T' | sort) | head -n 1)
	done
	[ -n "$id" ] || { [ -n "$gone" ] || kill "$client"; return; }
	pause=$(printf '0.%03d' $((RANDOM % 400)))
	sleep "$pause"
	case $1 in
	client) kill -9 "$client" 2>/dev/null ;;
	worker) kill -9 "$(pid_in lock)" 2>/dev/null ;;
	guard) kill -9 "$(pid_in guard)" 2>/dev/null ;;
	both)
		kill -STOP $(pid_in guard) $(pid_in lock) 2>/dev/null
		kill -9 $(pid_in guard) $(pid_in lock) 2>/dev/null
		;;
	esac
}

one_kill() { # what
	local was is told rc victim=$1 args=(--no-input)
	was=$(now)
	make_plans || return 1
	[ $((RANDOM % 2)) = 0 ] || args=(--confirm-timeout 1)
	ls "$LAB_DIR/state" | grep -E '^[0-9]{8}T' | sort >"$LAB_DIR/known"
	# shellcheck disable=SC2046
	env $(lab_env n0002) "$IBROUTE_TOP" apply --accept-slower "$LAB_DIR/next.plan" "${dirs[@]}" --yes-fabric lab1 \
		--watch sm "${args[@]}" >"$LAB_DIR/out" 2>&1 &
	client=$!
	strike "$victim"
	wait "$client" 2>/dev/null
	rc=$?
	if [ -z "$id" ]; then
		echo "# no journal: apply ended with $rc, was $was, is $(now)"
		sed 's/^/# /' "$LAB_DIR/out" | tail -n 8
		return 1
	fi
	lab_wait 30 settled || { echo "# $id does not end"; return 1; }
	if [ "$(field "$id" 't["finished"]')" = False ]; then
		[ "$victim" = both ] || { echo "# $id was left alone"; return 1; }
		does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab1 || return 1
		left=$((left + 1))
	fi
	is=$(now)
	told=$(field "$id" 't["state"]')
	counts[$told]=$((${counts[$told]:-0} + 1))
	case $told in
	confirmed) [ "$is" != mixture ] && [ "$is" != "$was" ] ;;
	rolled-back | abandoned) [ "$is" = "$was" ] ;;
	*) false ;;
	esac || { echo "# $victim killed: was $was, is $is, status says $told"; return 1; }
}

declare -A counts=()
left=0
victims=(client worker guard both)

# The simulator keeps a place for every client that was killed, and has ten.
new_fabric() {
	lab_opensm_stop
	lab_kill ibsim
	lab_ibsim && lab_opensm "routing_engine minhop" "sweep_interval 0" &&
		lab_wait 10 same "$LAB_DIR/t0"
}

for ((n = 1; n <= kills; n++)); do
	victim=${victims[n % 4]}
	[ $((n % 5)) != 1 ] || new_fabric || give_up "the fabric starts again"
	ok "kill $n ($victim): one routing, and status says which" one_kill "$victim" || break
done
echo "# $kills kills, ended: $(for k in "${!counts[@]}"; do printf '%s %s ' "$k" "${counts[$k]}"; done), $left of them by hand"
ok "every record of an update that was not killed is whole" bash -c '
	for f in "$1"/rec/*.jsonl; do
		tail -n 1 "$f" | grep -q session.end && ! "$2" audit verify "$f" >/dev/null && exit 1
	done; exit 0' _ "$LAB_DIR" "$IBROUTE_TOP"
finish
