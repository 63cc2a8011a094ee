#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# loss.sh: what the console shows, and refuses, while parts are gone: the subnet manager, the
# batch system, half of the fabric, all of it; and that it recovers by itself.
set -u
export LC_ALL=C.UTF-8
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/tty.sh"
. "$LAB_ROOT/tests/judge.sh"

tidy_up() {
	[ -s "$LAB_DIR/ibsim.pid" ] && kill -CONT "$(cat "$LAB_DIR/ibsim.pid")" 2>/dev/null
	tty_stop
	lab_stop
}

console() {
	cd "$LAB_DIR/work" || return
	# shellcheck disable=SC2046
	tty_start 100x30 env $(lab_env n0002) TERM=screen-256color LC_ALL=C.UTF-8 \
		SLURM_CONF="$SLURM_CONF" "$IBROUTE_TOP" --rw --name lab1 -d 0.5 --jobs-interval 1 \
		--record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state"
	cd "$LAB_ROOT" || return
}

without() { # seconds, regex: until the screen no longer has it
	local end=$((SECONDS + $1 * ${PATIENCE:-4}))
	while tty_screen | grep -qE -- "$2"; do
		[ $SECONDS -le "$end" ] || { echo "still there: $2" >&2; tty_screen >&2; return 1; }
		sleep 0.1
	done
}

ms() { echo $(($(date +%s%N) / 1000000)); }

# Keys are answered within a second: the slowest of several changes of the view.
prompt_keys() {
	local key name start worst=0 took

	for key in 2:Heat 3:Links 5:Jobs 6:Eng 8:Event 1:Over; do
		name=${key#*:}
		start=$(ms)
		tty_keys "${key%%:*}"
		until tty_screen | grep -q "\\[${key%%:*}$name\\]"; do
			[ $(($(ms) - start)) -lt 5000 ] || break
		done
		took=$(($(ms) - start))
		[ $took -gt $worst ] && worst=$took
	done
	echo "# slowest of 6 changes of the view: $worst ms"
	[ $worst -lt 1000 ] || { tty_screen >&2; return 1; }
}

links() { # Link|Unlink, leaves...: their cables to the spines
	local how=$1 leaf
	shift
	for leaf; do
		awk -v id="$(lab_node "$leaf")" -v how="$how" '
			/^Switch/ { split($0, q, "\""); on = q[2] == id }
			on && /^\[/ && /"S-/ {
				split($0, q, "\""); port = $0; sub(/^\[/, "", port); sub(/\].*/, "", port)
				peer = $0; sub(/.*"\[/, "", peer); sub(/\].*/, "", peer)
				if (how == "Unlink") print "Unlink \"" id "\"[" port "]"
				else print "ReLink \"" id "\"[" port "]"
			}' "$LAB_DIR/net" | while read -r line; do lab_con "$line"; done
	done
}

refused() { # regex of the sentence: A in view 6 gives no plan
	tty_keys 6
	tty_wait 5 '\[6Eng\]'
	tty_keys A
	tty_wait 10 "$1"
}

lab_new || exit 1
trap tidy_up EXIT
lab_fabric "fattree2:leaves=6,spines=3,hosts=6" || give_up "the fabric starts"
lab_opensm "routing_engine updn" "max_wire_smps 32" "sweep_interval 2" || give_up "opensm brings the subnet up"
lab_slurm || give_up "SLURM starts"
lab_job -J alpha -w 'n[0001-0018]' >/dev/null || give_up "a job runs"
console
tty_wait 20 'hosts 36' || give_up "the console is live"
ok "all is there" tty_wait 20 'jobs +1[ ,]'
tty_keys 8 1

# --- the subnet manager ---
sm=$(tty_screen | head -n 1)
lab_opensm_stop
ok "without opensm: the subnet manager does not respond" tty_wait 20 'subnet manager does not respond'
ok "SM LOST at the top" tty_wait 2 'SM LOST'
ok "keys are answered" prompt_keys
lab_opensm "routing_engine updn" "max_wire_smps 32" "sweep_interval 2" || give_up "opensm comes back"
ok "opensm is back: so says the screen" without 20 'SM LOST|does not respond'

# --- the batch system ---
tty_keys 5
lab_slurmctld_stop
ok "without slurmctld: the jobs are marked" tty_wait 30 'slurm unreachable|unreachable'
ok "with the age of the last list" tty_wait 5 'the list is [0-9.]+s old'
ok "the job is still listed" tty_wait 2 'alpha|[^0-9]1 (rows?|jobs?)'
ok "in all views" eval 'tty_keys 1; tty_wait 5 "unreachable: jobs are [0-9.]+s old"'
ok "keys are answered" prompt_keys
tty_keys 5
lab_slurmctld_start || give_up "slurmctld comes back"
ok "slurmctld is back: so says the screen" without 30 'unreachable'

# --- half of the fabric ---
tty_keys 6
tty_engine sar
tty_keys Space
ok "a preview" tty_wait 20 'blocks|none: this|none, already' || give_up "no preview"
tty_keys 1
links Unlink leaf4 leaf5 leaf6
# so many silent ports lead to a discovery, which may be there before the screen is read
ok "half of the leaves are cut off: counters are partial" tty_wait 20 'PARTIAL|no reply|missing.*3 switches'
tty_keys C-r
ok "half of the leaves are gone: missing by count" tty_wait 40 'missing.*3 switches, 18 hosts'
ok "the present and the known are told apart" tty_wait 5 'hosts +18|18 of 36'
ok "keys are answered" prompt_keys
ok "no plan from a preview of the fabric before" refused 'nothing to apply'
tty_keys 1
links ReLink leaf4 leaf5 leaf6
tty_keys C-r
ok "linked again: nothing is missing" without 60 'missing'
ok "all hosts" tty_wait 10 'hosts 36'

# --- a switch that is there and silent ---
lab_con "Error \"$(lab_node spine3)\" 100"
tty_keys C-r
ok "a silent switch is missing" tty_wait 40 'missing.*1 switch,'
tty_keys 6
tty_engine sar
tty_keys Space
ok "a preview without it" tty_wait 30 'blocks|none: this|none, already'
ok "but no plan" refused 'did not respond to the last sweep'
tty_keys x 1
lab_con "Error \"$(lab_node spine3)\" 0"
tty_keys C-r
ok "it answers again: nothing is missing" without 60 'missing'

# --- all of the fabric ---
tty_keys 6
tty_engine sar
tty_keys Space
tty_wait 30 'blocks|none: this|none, already' || give_up "no preview after the loss"
tty_keys 1
kill -STOP "$(cat "$LAB_DIR/ibsim.pid")"
ok "nothing answers: LOST" tty_wait 30 '[^M] LOST' # not SM LOST, which may come first
ok "keys are answered" prompt_keys
ok "no plan while nothing answers" refused 'the fabric is not responding'
tty_keys x 1
kill -CONT "$(cat "$LAB_DIR/ibsim.pid")"
ok "it answers again: LIVE" tty_wait 60 'LIVE'
ok "with new counters" without 30 'no reply|NO NEW|missing'
kill -STOP "$(cat "$LAB_DIR/ibsim.pid")"
tty_wait 30 'LOST|COUNTERS STALE'
tty_keys q
# the process lasts longer: the simulator's library says goodbye to the simulator
left() { [ "$(tmux -L "$TTY_SOCK" display-message -p '#{alternate_on}')" = 0 ] && record_closed; }
record_closed() { tail -n 1 "$LAB_DIR"/rec/*.jsonl | grep -q '"type": *"session.end"'; }
ok "q leaves the screen and closes the record although nothing answers" lab_wait 10 left
kill -CONT "$(cat "$LAB_DIR/ibsim.pid")"
lab_wait 20 tty_dead
ok "and ends with 0" test "$(tty_status)" = 0
finish
