#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# campaign.sh: a campaign as an array of 20 tasks on a real slurmctld and slurmd: one task is killed, one
# requeued, one computed twice; what is merged are the bytes of one process.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
# SLURM needs names only, no fabric
# and one slurmd is one node to jobs that it runs
echo "host n0001 n0001" >"$LAB_DIR/nodes"
lab_slurm || give_up "SLURM starts"
cd "$LAB_DIR/work" || exit 2
export XDG_CONFIG_HOME=$LAB_DIR/none

says() {
	local want=$1 pattern=$2 rc
	shift 2
	"$@" >"$LAB_DIR/said" 2>&1 </dev/null
	rc=$?
	cat "$LAB_DIR/said"
	[ "$rc" -eq "$want" ] && grep -qE -- "$pattern" "$LAB_DIR/said"
}
campaign() { "$IBROUTE_TOP" campaign "$@"; }
none_left() {
	# SLURM would wait two minutes before it begins a requeued one
	[ -z "${requeued:-}" ] || lab_sl scontrol update "jobid=${array}_$requeued" StartTime=now
	[ -z "$(lab_sl squeue -h -t R,CG,PD -o %i)" ]
}
# the process of a task, not its shell
process_of() { pgrep -f "campaign run $PWD/big .*--shard $1/20\$" | head -n 1; }

"$IBROUTE_TOP" topo torus:dims=5x5x4,hosts=2 -o net
of=(--topology net --engines dfsssp,nue:2 --rate 0..6%/1% --seeds 10 --bisections 10)
ok "20 cells are planned" says 0 '^big: 20 cells' campaign plan big "${of[@]}"
ok "and submitted as an array, two of them measured here" says 0 '^[0-9]+' campaign run big --submit --yes --tasks 20
ok "SLURM has what is left of it" says 0 '^#SBATCH --array=2-19$' cat big/submit.sh
array=$(lab_sl squeue -h -r -o %F | head -n 1)
# a task that runs, from $1 on: the number of its shard
running() {
	lab_sl squeue -h -r -j "$array" -t R -o %K | awk -v from="$1" '$1 >= from { print; exit }'
}
kills() {
	killed=$(running 0) && [ -n "$killed" ] && victim=$(process_of "$killed") && [ -n "$victim" ] && kill -9 "$victim"
}
ok "a task is killed" lab_wait 30 kills
requeues() {
	requeued=$(running $((killed + 1))) && [ -n "$requeued" ] && lab_sl scontrol requeue "${array}_$requeued"
}
ok "one is requeued" lab_wait 30 requeues
ok "one is computed here as well" says 0 'computed' campaign run big --shard 3/20
ok "all tasks end" lab_wait 120 none_left
ok "the one that was killed is named" says 1 "1 of 20 cells are missing, 0 damaged; with 20 tasks: --array=$killed\$" campaign merge big
ok "and computed where it would be measured" says 0 "all cells are there: 'campaign merge' is next" campaign run big --submit --yes --tasks 20
ok "so nothing is submitted" none_left
ok "all are there" says 0 '^all 20 cells are there' campaign status big
ok "they are merged" says 0 'throughput retained' campaign merge big
ok "one process for all" says 0 'written to one' "$IBROUTE_TOP" failures "${of[@]}" -o one
same_bytes() {
	local f
	for f in cells.jsonl failures.json failures.txt failures.md failures.csv report.html; do
		cmp "one/$f" "big/$f" || return 1
	done
}
ok "has the same bytes" same_bytes
finish
