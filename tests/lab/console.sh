#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# console.sh: the main job, end to end.  The real program in a real terminal on ibsim with a
# stock opensm and a real slurmctld: see hosts and jobs, choose SAR, preview, apply, confirm,
# quit; then programs that are not ours say what is in the switches.  A second run kills the
# console in the middle of its writes and rolls back from the journal it left.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/tty.sh"
. "$LAB_ROOT/tests/judge.sh"

# As lab_lfts, from a file in OpenSM's format.
tables_of() {
	awk '/^Unicast lids/ { match($0, /guid 0x[0-9a-f]+/); g = substr($0, RSTART + 5, RLENGTH - 5); next }
		/^0x/ && $2 ~ /^[0-9]+$/ && $2 != 255 { print g, $1, $2 + 0 }' "$1" | sort
}

differ() { ! cmp -s "$1" "$2"; }

console() {
	rm -f "$LAB_DIR/exit"
	# shellcheck disable=SC2046
	cd "$LAB_DIR/work" # the simulator's library leaves files where it runs
	tty_start 100x30 env $(lab_env n0001) TERM=screen-256color LC_ALL=C.UTF-8 TMPDIR="$LAB_DIR/none" \
		SLURM_CONF="$SLURM_CONF" sh -c '"$@"; echo $? >"$LAB_DIR/exit"' sh "$IBROUTE_TOP" --rw --name lab1 -d 0.5 --jobs-interval 1 \
		--record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state" "$@"
	cd "$LAB_ROOT"
}

preview_sar() {
	tty_keys 6
	tty_wait 10 '\( \) +sar|\(\*\) +sar' || return 1
	tty_engine sar
	tty_keys Space
	tty_wait 60 'max EFI' && tty_wait 20 'blocks'
}

# The plan went to the watchdog by a file of that name once: anybody can see the process and be first.
foreign_folder() {
	theirs=/tmp/ibroute-plan-$(pgrep -P "$(tty_pid)" -x ibroute-top) || return 1
	setpriv --reuid=nobody --regid=nogroup --clear-groups mkdir -m 777 "$theirs"
}
not_used() {
	[ "$(stat -c %U "$theirs")" = nobody ] && rmdir "$theirs"
}
apply_now() {
	tty_keys A
	tty_wait 10 'ready to start' || return 1
	tty_keys Enter
	tty_wait 5 'to START' || return 1
	tty_type lab1
	tty_keys Enter
}

# Kills the console and its watchdog (process and guard) in the middle of the writes: once the
# journal says that writing has begun, the simulator is stopped after so many more requests (it wakes
# up once for each, since there is one under way at a time), then all are killed, then it goes on.
kill_in_the_middle() {
	python3 - "$LAB_DIR/state" "$(cat "$LAB_DIR/ibsim.pid")" "$(pgrep -P "$(tty_pid)")" 60 <<-'PY'
		import glob, os, re, signal, sys, time
		base, ibsim, console, requests = sys.argv[1], *map(int, sys.argv[2:])

		def woken():
		    for line in open("/proc/%d/status" % ibsim):
		        if line.startswith("voluntary_ctxt_switches"):
		            return int(line.split()[1])

		def writing():
		    return [log for log in set(glob.glob(base + "/*/state.log")) - known
		            if "writing" in open(log, errors="replace").read()]

		def holder(log, lock):
		    text = open(log.replace("state.log", lock)).read()
		    return int(re.search(r"process (\d+)", text).group(1))

		try: # it must not wait for its turn while the console runs through
		    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
		    os.setpriority(os.PRIO_PROCESS, console, 19)
		except OSError:
		    pass
		known = set(glob.glob(base + "/*/state.log"))
		end = time.time() + 30
		while not writing():
		    if time.time() > end:
		        sys.exit(1)
		    time.sleep(0.0002) # who spins is held back by the scheduler, for 50 ms
		start = woken()
		while woken() - start < requests:
		    if time.time() > end:
		        sys.exit(1)
		os.kill(ibsim, signal.SIGSTOP)
		time.sleep(0.05)
		log = writing()[0]
		for pid in holder(log, "guard"), holder(log, "lock"), console:
		    os.kill(pid, signal.SIGKILL)
		time.sleep(0.05)
		os.kill(ibsim, signal.SIGCONT)
	PY
}

lab_new || exit 1
trap 'tty_stop; lab_stop' EXIT
lab_fabric "fattree2:leaves=18,spines=9,hosts=18" || give_up "the fabric starts"
lab_opensm "routing_engine updn" "max_wire_smps 32" || give_up "opensm brings the subnet up"
lab_slurm || give_up "SLURM starts"
# three interleaved jobs, so that the routes for the whole machine do not fit them
J1=$(lab_job -J alpha -w 'n[0001,0010,0019,0028,0037,0046,0055]') || give_up "a job runs"
J2=$(lab_job -J beta -w 'n[0061-0110,0141-0200]') || give_up "a job runs"
J3=$(lab_job -J gamma -w 'n[0111-0140,0201-0290]') || give_up "a job runs"
lab_lfts n0002 >"$LAB_DIR/before"
lab_on n0002 dump_fts >"$LAB_DIR/before.fts" 2>/dev/null
ok "dump_fts reads the tables of all 27 switches" \
	test "$(cut -d' ' -f1 "$LAB_DIR/before" | sort -u | wc -l)" -eq 27

# --- first run: the main job ---
console
ok "the console is live" tty_wait 20 'LIVE' || give_up "no console"
ok "it counts the hosts" tty_wait 15 "324"
ok "it sees the jobs of SLURM" tty_wait 20 'jobs +3'
lab_counter n0001 1 PortCountersExtended.PortXmitData=1000000 >/dev/null
tty_keys 5
for j in "$J1" "$J2" "$J3"; do ok "job $j is listed" tty_wait 10 "$j"; done
tty_keys 2
ok "the heatmap lays the tree out" tty_wait 10 'leaf|spine'
(
	for k in 1 2 3 4 5 6 7 8 9 10 11 12; do
		lab_counter "$(awk '$1 == "switch" {print $2; exit}' "$LAB_DIR/nodes")" 13 \
			PortCountersExtended.PortXmitData=$((k * 1500000000)) PortCounters.PortXmitWait=$((k * 1000))
		sleep 0.5
	done
) &
traffic=$!
tty_keys 3
ok "PerformanceSet traffic shows in the link table" tty_wait 12 '([3-9][0-9]|100)%'
wait "$traffic"
ok "a preview with SAR is computed" preview_sar || give_up "no preview"
tty_screen >"$LAB_DIR/preview"
ok "another user has a folder where the plan was handed over once" foreign_folder
ok "the plan is prepared and the name typed" apply_now
ok "all is written and waits for confirmation" tty_wait 30 'NOT YET CONFIRMED' || give_up "not applied"
tty_keys Enter
tty_wait 5 'to CONFIRM'
tty_type lab1
tty_keys Enter
ok "the new routing is kept" tty_wait 10 'new routing is active'
tty_keys q
# not by tmux, which sometimes loses the status
ended_well() {
	lab_wait 5 test -s "$LAB_DIR/exit" || { echo "it still runs" >&2; tty_screen >&2; return 1; }
	[ "$(cat "$LAB_DIR/exit")" = 0 ] || { echo "it ended with $(cat "$LAB_DIR/exit")" >&2; return 1; }
}
ok "the console ends with 0" ended_well
ok "that user's folder was not used" not_used
tty_stop

lab_lfts n0002 >"$LAB_DIR/after"
ok "dump_fts shows other tables than before" \
	differ "$LAB_DIR/before" "$LAB_DIR/after"
# the same routes computed by the command line, from what ibnetdiscover, dump_fts and squeue say
lab_on n0002 ibnetdiscover >"$LAB_DIR/net.ibnd" 2>/dev/null
lab_sl squeue -h -t R -o '%i %N' >"$LAB_DIR/jobs"
"$IBROUTE_TOP" route --engine sar --topology "$LAB_DIR/net.ibnd" --jobs "$LAB_DIR/jobs" \
	--lfts "$LAB_DIR/before.fts" --out "$LAB_DIR/out" --formats opensm,ibdm,path-sl >"$LAB_DIR/route.log" 2>&1
tables_of "$LAB_DIR/out/opensm-lfts.dump" >"$LAB_DIR/computed"
ok "they are what route computes from ibnetdiscover, dump_fts and squeue" \
	cmp -s "$LAB_DIR/after" "$LAB_DIR/computed"

# a host pair whose first hop changed, followed by ibtracert
sed -n 's/^\[1\](.*# lid \([0-9]*\) .*/\1/p' "$LAB_DIR/net.ibnd" >"$LAB_DIR/hosts"
host_lids() { # of changed entries, those of hosts
	while read -r guid lid port; do
		grep -qx "$((lid))" "$LAB_DIR/hosts" && echo "$guid $lid $port"
	done
}
read -r guid lid port < <(comm -13 "$LAB_DIR/before" "$LAB_DIR/after" | host_lids | head -1)
src=$(awk -v g="${guid#0x}" '
	$1 == "Switch" { on = index($0, g) > 0 }
	on && /"H-/ { split($0, q, "\""); sub(/ .*/, "", q[4]); print q[4]; exit }' "$LAB_DIR/net.ibnd")
if [ -z "$src" ]; then # a spine: its entry is passed by routes from any leaf
	src=n0001
fi
lab_on "$src" ibtracert "$(lab_lid "$src")" "$((lid))" >"$LAB_DIR/trace" 2>&1
ok "ibtracert follows the new tables from $src to LID $((lid))" \
	grep -qE '^To ca|^\[[0-9]+\] -> ca' "$LAB_DIR/trace"
hop=$(awk -v g="${guid#0x}" 'index($0, g) { on = 1; next } on && /->/ { match($0, /\[[0-9]+\]/); print substr($0, RSTART + 1, RLENGTH - 2); exit }' "$LAB_DIR/trace")
[ -n "$hop" ] && ok "and leaves the changed switch by port $port" test "$hop" -eq "$port"
sw=$(awk -v g="${guid#0x}" '$1 == "Switch" && index($0, g) { match($0, / lid [0-9]+/); print substr($0, RSTART + 5, RLENGTH - 5); exit }' "$LAB_DIR/net.ibnd")
entry_shown() { # switch LID, destination LID as 0x...., port
	lab_on n0002 ibroute "$1" 2>/dev/null |
		awk -v l="$2" -v p="$3" '$1 == l && $2 + 0 == p { f = 1 } END { exit !f }'
}
ok "ibroute shows the changed entry" entry_shown "$sw" "$lid" "$port"

# what is installed, for ibdmchk: the installed tables in the form it reads
awk '{ if ($1 != g) { g = $1; printf "%sdump_ucast_routes: Switch %s\nLID    : Port : Hops : Optimal\n", (NR > 1 ? "\n" : ""), g }
	printf "0x%s : %03d  : 00   : yes\n", toupper(substr($2, 3)), $3 }' "$LAB_DIR/after" >"$LAB_DIR/installed.fdbs"
: >"$LAB_DIR/empty"
(cd "$LAB_DIR/work" && timeout 60 ibdmchk -s "$LAB_DIR/out/opensm-subnet.lst" -f "$LAB_DIR/installed.fdbs" \
	-m "$LAB_DIR/empty" -c "$LAB_DIR/out/path-sl.dump" -d "$LAB_DIR/out/ibdm-sl2vl.dump" -l 0
	true) >"$LAB_DIR/ibdmchk" 2>/dev/null # it crashes at its very end, after the verdicts
ok "ibdmchk finds every pair connected" grep -qE "Scanned:$((324 * 323)) CA to CA paths" "$LAB_DIR/ibdmchk"
ok "and no credit loop" grep -qi 'no credit loop' "$LAB_DIR/ibdmchk"
no_errors() { ! grep -E '^-E-' "$LAB_DIR/ibdmchk"; }
ok "and no error" no_errors
ok "audit verify accepts the records" "$IBROUTE_TOP" audit verify "$LAB_DIR"/rec/*.jsonl
for t in session.start plan.create phase.begin lft.write verify confirm session.end; do
	ok "the records have $t" grep -q "\"type\": *\"$t\"" "$LAB_DIR"/rec/*.jsonl
done

# --- second run: killed in the middle ---
lab_job_end "$J1"
J4=$(lab_job -J delta -w 'n[0010-0050,0291-0310]') || give_up "a job runs"
lab_lfts n0002 >"$LAB_DIR/before2"
lab_sl squeue -h -t R -o '%i %N' >"$LAB_DIR/jobs2"
"$IBROUTE_TOP" route --engine sar --topology "$LAB_DIR/net.ibnd" --jobs "$LAB_DIR/jobs2" \
	--out "$LAB_DIR/out2" >/dev/null 2>&1
tables_of "$LAB_DIR/out2/opensm-lfts.dump" >"$LAB_DIR/computed2"

write_and_be_killed() {
	console -o 1
	tty_wait 20 'jobs +3' && sleep 2 && preview_sar || return 1
	kill_in_the_middle &
	killer=$!
	sleep 0.3
	apply_now
	wait "$killer" || return 1
	tty_stop
	lab_lfts n0002 >"$LAB_DIR/torn"
}

torn() {
	differ "$LAB_DIR/before2" "$LAB_DIR/torn" && differ "$LAB_DIR/computed2" "$LAB_DIR/torn"
}

recover() {
	console
	tty_wait 20 'UNFINISHED UPDATE FOUND' && tty_wait 20 'LIVE' || return 1
	tty_keys R
	tty_wait 5 'Roll back' || return 1
	tty_keys Y
	tty_wait 20 'rolled back'
}

# on a busy machine the writes may be through before the kill: then once more
for _ in 1 2 3 4; do
	write_and_be_killed || give_up "the console is killed while it writes"
	torn && break
	echo "# the kill came too late or too early; once more"
	recover || give_up "it rolls back"
	tty_keys x q
	lab_wait 5 test -s "$LAB_DIR/exit"
	tty_stop
done
ok "what the killed console left is neither the old routing nor the new one" torn
open_record() { "$IBROUTE_TOP" audit verify "$(ls -t "$LAB_DIR"/rec/*.jsonl | head -1)" | grep -qE 'session (is open|was killed)'; }
ok "the record of the killed session is unchanged, but open" open_record
ok "the next start finds the journal, says so and rolls back" recover || give_up "no journal"
tty_keys x
tty_keys q
sleep 1
tty_stop
lab_lfts n0002 >"$LAB_DIR/restored"
ok "dump_fts shows the routing from before the update again" cmp -s "$LAB_DIR/before2" "$LAB_DIR/restored"
finish
