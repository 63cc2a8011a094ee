#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# auto.sh: the automatic mode without a terminal, over ibsim and opensm.  dump_fts, which is not
# ours, says what is in the switches.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

# The service, in the background on n0002; its pid in $LAB_DIR/auto.pid
service() { # options...
	local attach
	attach=$(lab_env n0002)
	: >"$LAB_DIR/log"
	# shellcheck disable=SC2086
	env $attach "$IBROUTE_TOP" --auto=0.05 --auto-min-age 0 --jobs "$LAB_DIR/jobs" \
		--name lab1 "${dirs[@]}" "$@" </dev/null >"$LAB_DIR/log" 2>&1 &
	echo $! >"$LAB_DIR/auto.pid"
}

stop() { # expected exit code
	local rc
	kill -TERM "$(cat "$LAB_DIR/auto.pid")"
	wait "$(cat "$LAB_DIR/auto.pid")"
	rc=$?
	[ "$rc" -eq "$1" ] && return 0
	echo "# it ended with $rc, not $1"
	return 1
}

says() { # regex: within 20 s
	lab_wait 20 grep -qE -- "$1" "$LAB_DIR/log" || { sed 's/^/# /' "$LAB_DIR/log" | tail -n 8; return 1; }
}

never_said() { # regex
	! grep -E -- "$1" "$LAB_DIR/log"
}

jobs_are() { # lines; in place at once
	printf '%s\n' "$@" >"$LAB_DIR/jobs.new" && mv "$LAB_DIR/jobs.new" "$LAB_DIR/jobs"
}

updates() { # how many there were
	find "$LAB_DIR/state" -maxdepth 1 -name '2*Z-*' 2>/dev/null | wc -l
}

lab_new || exit 1
lab_fabric fattree2:leaves=8,spines=4,hosts=4 || give_up "the fabric"
lab_opensm "routing_engine minhop" "sweep_interval 0" || give_up "opensm"
# minhop sends what the last four hosts of each job send over one spine
jobs_are '1 n[0001,0005,0009,0013,0029-0032]' '2 n[0002,0006,0010,0014,0025-0028]'
lab_lfts >"$LAB_DIR/t0"

# --- what makes no sense ---
ok "without jobs there is no automatic mode" does 64 --auto --jobs none
ok "nor where nothing could be confirmed in time" does 64 --auto --auto-confirm 60 --confirm-timeout 60

# --- not armed ---
service
ok "not armed: it proposes" says 'PROPOSED PLAN: .* blocks: gain .*mean time of jobs .*not armed'
ok "one line has engine, CPU time, times, bounds, jobs and drain" says \
	'sar, [0-9.]+ s of CPU: [0-9]+ blocks: gain .*mean time of jobs [0-9.]+ -> [0-9.]+, bound [0-9.]+.*max job EFI [0-9]+ -> [0-9]+, bound [0-9]+; 2 jobs faster, 0 slower\); no drain'
ok "with a plan for an operator" says 'apply it with: ibroute-top apply .*auto.plan'
ok "the same jobs: nothing more" says 'the jobs have not changed'
ok "SIGTERM ends it" stop 0
ok "with totals" says 'totals of 20[0-9-]+: [0-9]+ looks, 1 plan computed .*0 written .*1 proposed'
ok "nothing was written" same "$LAB_DIR/t0"
ok "not even begun" test "$(updates)" -eq 0

# --- gains too little ---
service --rw --auto-gain 99
ok "gain below the threshold: nothing" says 'not more than 99.0 %: the installed routing stays'
stop 0
ok "nothing was written" test "$(updates)" -eq 0

# --- armed, and it goes wrong ---
cp "$LAB_DIR/state/auto.plan" "$LAB_DIR/other.plan"
service --rw --auto-confirm 20 --confirm-timeout 30
ok "it writes and waits for a quiet time" says 'CONFIRM +confirms after 20 s without a failed watch condition'
for port in 1 2 3 4 5 6 7 8; do lab_counter leaf1 $port PortCounters.SymbolErrorCounter=200; done
ok "symbol errors: the old routes are back, and it backs off" says 'rolled back to the previous routing .*symbol errors.* next try in 6 s'
stop 0
ok "as the switches say" same "$LAB_DIR/t0"
service --rw --auto-confirm 4 --confirm-timeout 5
ok "it writes" says 'CONFIRM +confirms after'
ok "SIGTERM ends it at once" stop 0
ok "the update goes on without it" says 'left to its watchdog'
ok "and rolls back" lab_wait 20 same "$LAB_DIR/t0"
ok "all updates are over" lab_wait 10 bash -c "'$IBROUTE_TOP' status --state-dir '$LAB_DIR/state' >/dev/null"
begun=$(updates)

# --- armed; first somebody else is at it ---
ok "the plan of before is applied by hand" does 0 apply --accept-slower "$LAB_DIR/other.plan" "${dirs[@]}" --yes-fabric lab1 --detach
other=$(tail -n 1 "$LAB_DIR/out")
service --rw --auto-confirm 2 --confirm-timeout 30
ok "another update is under way: it waits" says 'another update is in progress'
sleep 4
ok "and begins none" test "$(updates)" -eq $((begun + 1))
does 0 rollback "$other" "${dirs[@]}" --yes-fabric lab1
ok "when that is over: it computes" says 'computing a plan for 2 jobs'
ok "and writes" says 'writing [0-9]+ blocks: gain'
ok "is quiet for 2 s" says 'no watch condition failed for 2 s'
ok "and confirms" says 'the new routing is confirmed'
lab_lfts >"$LAB_DIR/t1"
ok "the switches have other routes" bash -c "! cmp -s '$LAB_DIR/t0' '$LAB_DIR/t1' && [ -s '$LAB_DIR/t1' ]"
ok "a confirmed update" bash -c "'$IBROUTE_TOP' status last --state-dir '$LAB_DIR/state' | grep -q confirmed"
ok "the same jobs under other numbers" jobs_are '11 n[0001,0005,0009,0013,0029-0032]' '12 n[0002,0006,0010,0014,0025-0028]'
sleep 4
ok "count as the same" never_said 'jobs? started'
jobs_are '21 n[0001-0008]' '22 n[0009-0020]' '23 n[0021-0031]'
ok "other jobs are computed for" says '3 jobs started, 2 ended: computing a plan for 3'
# a stock opensm routes by its own engine when a cable goes, over what was confirmed
settled() { grep '^auto: ' "$LAB_DIR/log" | tail -n 1 | grep -qE 'is confirmed|installed routing stays|have not changed'; }
ok "that ends, too" lab_wait 30 settled
lab_con "Unlink \"$(lab_node leaf2)\"[$(lab_port leaf2)]"
jobs_are '31 n[0001-0010]' '32 n[0011-0020]' '33 n[0021-0030]'
ok "OpenSM has overwritten it: it writes nothing any more" says \
	'subnet manager has overwritten [0-9]+ of [0-9]+ LFT entries .*without our plugin.*writes nothing any more'
written=$(grep -c ' writing [0-9]* block' "$LAB_DIR/log")
jobs_are '41 n[0001-0012]' '42 n[0013-0020]'
ok "also for other jobs" says 'computing a plan for 2'
sleep 4
ok "as the log says" test "$(grep -c ' writing [0-9]* block' "$LAB_DIR/log")" -eq "$written"
mv "$LAB_DIR/jobs" "$LAB_DIR/jobs.away"
ok "without the source of jobs all stays" says 'jobs are unknown at present: the installed routing stays'
ok "SIGTERM ends it" stop 0
ok "no update is open" bash -c "'$IBROUTE_TOP' status --state-dir '$LAB_DIR/state' >/dev/null"
ok "its decisions are recorded" grep -q '"act":"apply"' "$LAB_DIR"/rec/*.jsonl
# --- by OpenSM with our plugin, jobs of SLURM ---
policy "engine minhop"
if [ ! -f "$LAB_ROOT/$B/libibroute.so" ]; then
	skip "plugin: $B/libibroute.so was not built (package libopensm-dev)"
elif ok "opensm with our plugin" lab_plugin "routing_engine ibroute" && ok "SLURM" lab_slurm; then
	job=$(lab_job -J a -w 'n[0001,0005,0009,0013,0029-0032]')
	lab_job -J b -w 'n[0002,0006,0010,0014,0025-0028]' >/dev/null
	service --rw --jobs slurm --jobs-interval 1 --auto-confirm 2
	ok "jobs of SLURM: it writes and confirms" says 'the new routing is confirmed'
	ok "through the plugin" never_said 'the subnet manager is not informed'
	lab_on n0003 "$IBROUTE_TOP" sm --socket "$sock" >"$LAB_DIR/out" 2>&1
	ok "which routes by them from now on" grep -q 'routing *sar, confirmed tables' "$LAB_DIR/out"
	lab_slurmctld_stop
	ok "SLURM is down: all stays" says 'jobs are unknown at present: the installed routing stays'
	lab_slurmctld_start
	lab_job_end "$job"
	ok "SLURM is back: it goes on" says '0 jobs started, 1 ended: computing a plan for 1'
	ok "SIGTERM ends it" stop 0
fi

if command -v systemd-analyze >/dev/null; then
	sed "s,/usr/local/bin/ibroute-top,$IBROUTE_TOP," "$LAB_ROOT/console/ibroute-top.service" >"$LAB_DIR/ibroute-top.service"
	ok "systemd finds nothing wrong with the unit file" systemd-analyze verify --man=no "$LAB_DIR/ibroute-top.service"
else
	skip "unit file: there is no systemd-analyze"
fi
finish
