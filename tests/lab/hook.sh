#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hook.sh: console/examples/slurm-hook.sh against a real slurmctld and slurmd, with a job of three nodes whose process
# writes a line ten times a second: what stands still writes none.  Then all of it in an update with agents.
# hook.sh full: hooks, slurmctld and slurmd die on their way, too; not part of 'make check'.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

[ -n "$(command -v slurmctld)" ] || { skip "hook: SLURM is missing"; finish; }
lab_needs_plugin
lab_new || exit 1
export LAB_SM=n0031
lab_fabric hyperx:dims=4x4,hosts=2 || give_up "the fabric"
lab_slurm || give_up "SLURM"
JUDGE_LOG=$LAB_DIR/log
HOOK=$LAB_ROOT/console/examples/slurm-hook.sh
export IBROUTE_MIGRATE=$LAB_DIR/no-such-command

batch() { # NODES [OPTION...]: its id; beats are in $LAB_DIR/beats.ID
	local nodes=$1
	shift
	(cd "$LAB_DIR/work" && lab_sl sbatch --parsable -o /dev/null -w "$nodes" "$@" \
		--wrap "while :; do echo >>$LAB_DIR/beats.\$SLURM_JOB_ID; sleep 0.1; done")
}
hook() { # PHASE SEQ [JOB [LIMIT]]
	IBROUTE_PHASE=$1 IBROUTE_SEQ=$2 IBROUTE_JOB=${3:-$job} IBROUTE_LIMIT_S=${4:-20} IBROUTE_TXN=${TXN:-77} sh "$HOOK"
}
state_is() { [ "$(lab_sl squeue -h -t all -j "${2:-$job}" -o %T)" = "$1" ]; }
comment_is() {
	local is

	is=$(lab_sl squeue -h -t all -j "$job" -O admin_comment:200 | sed "s, *\$,,; s,^(null)\$,,")
	[ "$is" = "$1" ] || { echo "# it is: $is"; return 1; }
}
beats() { wc -l <"$LAB_DIR/beats.${1:-$job}"; }
goes_on() { local n; n=$(beats "$@") && lab_wait 5 beyond "$n" "$@"; }
beyond() { [ "$(beats "${2:-$job}")" -gt "$1" ]; }
stands() { local n; n=$(beats "$@") && sleep 0.5 && [ "$(beats "$@")" -eq "$n" ]; }
at_once() { # COMMAND...: three times
	local p pids=()

	for _ in 1 2 3; do
		"$@" &
		pids+=($!)
	done
	for p in "${pids[@]}"; do wait "$p" || return; done
}

job=$(batch 'n[0001-0003]') || give_up "a job"
lab_wait 10 test -s "$LAB_DIR/beats.$job" || give_up "it runs"
lab_sl scontrol update JobId="$job" AdminComment="of the site"

# --- one update ---
ok "three nodes drain at once: each succeeds" at_once hook drain 5
ok "the job stands still" stands
ok "and has the mark beside what the site has written" comment_is "of the site ibroute:77:5"
ok "drained again: the same" hook drain 6
ok "with the newer request" comment_is "of the site ibroute:77:6"
ok "migrate changes nothing" hook migrate 6
ok "still" stands
ok "three nodes return at once" at_once hook return 7
ok "the job goes on" goes_on
ok "without the mark" comment_is "of the site"
ok "returned once more: nothing" hook return 7
ok "it goes on" goes_on

# --- what is late ---
ok "drained, called back, and drained again" eval 'hook drain 10 && hook return 11 && hook drain 12'
ok "a return that is late does not undo it" hook return 11
ok "it stands still" stands
ok "the one that was meant does" eval 'hook return 13 && goes_on'

# --- what an operator does ---
# SLURM may have a resume from before on its way, which overtakes
operator_suspends() {
	stands && state_is SUSPENDED && return
	lab_sl scontrol resume "$job" 2>/dev/null
	sleep 1
	lab_sl scontrol suspend "$job"
	stands && state_is SUSPENDED
}
ok "a job that an operator has suspended is drained" eval 'lab_wait 20 operator_suspends && hook drain 20'
ok "and stays suspended when the update is over" eval 'hook return 21 && state_is SUSPENDED && stands'
lab_sl scontrol resume "$job"
ok "resumed by him it goes on" goes_on
# what SLURM refuses while it is still busy with the job it does later
operator_resumes() { lab_sl scontrol resume "$job" 2>/dev/null; goes_on; }
ok "one that he resumes during the update" eval 'hook drain 22 && lab_wait 20 operator_resumes'
ok "is drained by the next request" eval 'hook drain 23 && stands'
ok "and returns" eval 'hook return 24 && goes_on && comment_is "of the site"'

# --- arrays, jobs that have ended ---
lab_sl scancel "$job" # the nodes that are only names keep it completing for a minute: nobody waits for it
lab_wait 10 eval '! lab_sl squeue -h -t R,S -j "$job" 2>/dev/null | grep -q .'
array=$(batch n0001 --array=0-1) || array=
ok "a job that has ended is drained, and returns" eval 'hook drain 60 && hook return 61'
ok "so is one that there never was" eval 'hook drain 60 99999 && hook return 61 99999'
# slurmd is that of n0001, so one of the two waits
one=$(lab_wait 10 eval 'lab_sl squeue -h -t R -r -j "$array" -o %A | grep -q .' && lab_sl squeue -h -t R -r -j "$array" -o %A | head -n 1)
ok "of an array one task stands still" eval '[ "$one" ] && lab_wait 5 test -s "$LAB_DIR/beats.$one" && hook drain 70 "$one" && stands "$one"'
ok "under the name of this task" eval 'lab_sl scontrol -o show job "$one" | grep "^JobId=$one " | grep -q ibroute:77:70'
ok "and returns" eval 'hook return 71 "$one" && goes_on "$one"'
lab_sl scancel "$array"

# --- in an update ---
policy "engine updn" "escape yes" "vls 4" "threads 1"
ok "opensm with our plugin" lab_plugin "routing_engine ibroute,no_fallback" "qos TRUE" "lmc 3" || finish
job=$(batch 'n[0001,0018]') && lab_wait 10 test -s "$LAB_DIR/beats.$job" || give_up "a job on two nodes"
for node in n0001 n0018; do
	lab_start_agent "$node" "$node" --job "$job" --poll 2 --ask 2 --drain-cmd "sh $HOOK" --migrate-cmd "sh $HOOK" || give_up "an agent"
done
# shellcheck disable=SC2046
plan() { env $(lab_env n0002) "$IBROUTE_TOP" plan -e parx --escape --vls 4 --name lab1 --jobs slurm -o "$LAB_DIR/p.plan" --socket "$sock"; }
ok "a plan that needs the drain" eval 'plan | grep -q "need a drain"'
# shellcheck disable=SC2046
update() {
	env $(lab_env n0002) "$IBROUTE_TOP" apply "$LAB_DIR/p.plan" "${dirs[@]}" --jobs slurm --socket "$sock" --accept-strangers --accept-slower \
		--yes-fabric lab1 --no-input --detach
}
ok "is applied" update
id() { ls "$LAB_DIR/state" | grep '^2' | tail -n 1; }
ok "and waits for the confirmation" lab_wait 30 eval '"$IBROUTE_TOP" status "$(id)" --state-dir "$LAB_DIR/state" --events | grep -q CONFIRM'
suspended_once() { lab_sl scontrol -o show job "$job" | grep -qE 'SuspendTime=20'; }
ok "the job was suspended meanwhile" suspended_once
ok "and goes on afterwards" goes_on
ok "running, without a mark" eval 'state_is RUNNING && ! lab_sl scontrol -o show job "$job" | grep -q ibroute:'
# shellcheck disable=SC2046
ok "confirmed" env $(lab_env n0002) "$IBROUTE_TOP" confirm "$(id)" "${dirs[@]}" --yes-fabric lab1
# --- what dies ---
[ "${1:-}" = full ] || finish
for node in n0001 n0018; do lab_kill agent-$node; done
# a hook that is killed between mark and suspend
mkdir "$LAB_DIR/slow"
cat >"$LAB_DIR/slow/scontrol" <<-END
	#!/bin/sh
	[ "\$1" != suspend ] || { : >"$LAB_DIR/slow/there"; exec sleep 60; }
	exec $(command -v scontrol) "\$@"
END
chmod +x "$LAB_DIR/slow/scontrol"
PATH=$LAB_DIR/slow:$PATH IBROUTE_PHASE=drain IBROUTE_SEQ=30 IBROUTE_JOB=$job IBROUTE_TXN=77 setsid sh "$HOOK" &
dying=$!
lab_wait 10 test -e "$LAB_DIR/slow/there"
kill -9 -- -"$dying" 2>/dev/null || kill -9 "$dying"
wait "$dying" 2>/dev/null
ok "a drain that was killed on its way has left the mark and a job that runs" eval 'comment_is "ibroute:77:30" && goes_on'
ok "return takes the mark away" eval 'hook return 31 && comment_is "" && goes_on'
ok "an update that was never called back" eval 'TXN=70 hook drain 1 && stands'
ok "is taken over by the next one" eval 'TXN=71 hook drain 1 && TXN=71 hook return 2 && goes_on'
lab_slurmctld_stop
ok "without slurmctld drain fails before its limit" eval 's=$SECONDS; ! hook drain 40 "$job" 8 && [ $((SECONDS - s)) -le 8 ]'
ok "and the job goes on" goes_on
hook drain 41 "$job" 60 >"$LAB_DIR/late" 2>&1 &
waiting=$!
sleep 1
lab_slurmctld_start
ok "one that waits succeeds when slurmctld is back" eval 'wait $waiting && stands'
lab_slurmctld_stop
lab_slurmctld_start
ok "slurmctld was started again: the mark is still there" eval 'lab_wait 10 state_is SUSPENDED && hook return 42 && goes_on'
lab_kill slurmd
ok "a slurmd that is dead: the hook stops the processes of its node itself" eval 'hook drain 50 && stands'
ok "and wakes them" eval 'hook return 51 && goes_on'
lab_daemon slurmd slurmd -D -f "$LAB_DIR/slurm/slurmd.conf" -N n0001
ok "slurmd is back: the job drains and returns" eval 'hook drain 52 && stands && hook return 53 && state_is RUNNING && goes_on'

finish
