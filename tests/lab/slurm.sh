#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm.sh: the job source against a real slurmctld; squeue is the judge.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

not_ok() {
	tail -n 5 "$seen" | sed 's/^/  # /'
}

tool=$PWD/build/tests/lab/jobs_tool
seen=/dev/null
make -s "${tool#"$PWD"/}" >/dev/null || give_up "jobs_tool builds"
export IBROUTE_SLURM=$PWD/build/ibroute-slurm
needs_no_libslurm() { ! readelf -d "$IBROUTE_TOP" build/libibroute.so | grep 'NEEDED.*slurm'; }
helper_needs_it() { readelf -d "$IBROUTE_SLURM" | grep 'NEEDED.*libslurm'; }
ok "the program itself is linked with no libslurm" needs_no_libslurm
ok "ibroute-slurm is" helper_needs_it
ok "and tells its version" eval '"$IBROUTE_SLURM" --version | grep -x "ibroute-slurm .*, protocol 2, for SLURM .*"'
lab_new || give_up "the lab"
# SLURM needs names only, no fabric
for n in $(seq -f 'n%04g' 40); do echo "host $n $n"; done >"$LAB_DIR/nodes"
lab_slurm || give_up "SLURM starts"
seen=$LAB_DIR/seen

start_tool() {
	: >"$seen"
	lab_daemon tool sh -c "exec $tool 300 >>$seen"
}

# The last whole list in the words of squeue.
our_list() {
	awk '/^job / { list = list $2 " " $3 " " $4 " " $5 " " $6 "\n" }
		/^end / { last = list; list = "" } END { printf "%s", last }' "$seen"
}

squeue_list() {
	lab_sl squeue -h -t R -S i -o '%i %j %u %N %D'
}

same_list() {
	[ "$(our_list)" = "$(squeue_list)" ]
}

state_is() { # name, part of the text
	grep '^state' "$seen" | tail -n 1 | grep -q "^state $1 .*${2:-}"
}

restarts() {
	awk '/^state/ { n = $3 } END { print n + 0 }' "$seen"
}

restarted() {
	[ "$(restarts)" -gt "$before" ] && state_is ok
}

tool_children() {
	# the brackets keep grep from finding itself
	grep -lxzE 'ibroute-slur[m]|squeue-polle[r]' /proc/[0-9]*/cmdline 2>/dev/null | while IFS=/ read -r _ _ pid _; do
		grep -qzxF "LAB_DIR=$LAB_DIR" "/proc/$pid/environ" 2>/dev/null && echo "$pid"
	done
}

no_children() {
	[ -z "$(tool_children)" ]
}

# --- jobs come and go ---
a=$(lab_job -J wrf -w 'n[0001-0006]')
start_tool
ok "the job that runs before the source starts is seen" lab_wait 10 same_list
b=$(lab_job -J namd -w 'n[0007,0009,0011-0020]')
c=$(lab_job -J 'odd-name.1' -w 'n0040')
ok "new jobs are seen with their nodes" lab_wait 10 same_list
lab_job_end "$a"
ok "an ended job is gone" lab_wait 10 same_list
lab_sl scontrol suspend "$b" 2>/dev/null
ok "a suspended job is as squeue -t R has it" lab_wait 10 same_list
lab_sl scontrol resume "$b" 2>/dev/null
ok "and so is a resumed one" lab_wait 10 same_list
ok "three jobs were started, two are left" test "$(our_list | wc -l)" -eq 2

# --- a heterogeneous job is one job: its components send to each other ---
het() { # nodes of each component...: the leader's id, once all run
	local id
	id=$(lab_sl sbatch --parsable -J het -o /dev/null -w "$1" : -w "$2" --wrap 'sleep 600') || return 1
	lab_wait 70 all_run "$id" && echo "$id"
}
all_run() {
	[ "$(lab_sl squeue -h -j "$1" -o %T | sort | uniq -c | tr -d ' ')" = 2RUNNING ]
}
one_job() { # id nodes number
	our_list | grep -qx "$1 het [^ ]* $2 $3" || { our_list; return 1; }
}
h=$(het 'n[0033-0034]' 'n[0037-0038]')
ok "squeue has two components" test "$(lab_sl squeue -h -t R -n het -o %i | sort | tr '\n' ' ')" = "$h+0 $h+1 "
ok "here it is one job on all their nodes" lab_wait 10 one_job "$h" 'n\[0033-0034,0037-0038\]' 4
lab_sl scancel "$h"
ok "which ends as a whole" lab_wait 20 same_list

# --- ids and what else SLURM says, as squeue shows it ---
our_ids() { awk '/^job / { list = list $7 "\n" } /^end / { last = list; list = "" } END { printf "%s", last }' "$seen" | sort; }
attrs_of() { # partition account reservation features, as squeue
	lab_sl squeue -h -t R -r -o '%i %P %a %v %f' | sed 's/(null)/-/g' | sort
}
our_attrs() { awk '/^job / { list = list $7 " " $8 " " $9 " " $10 " " $11 "\n" } /^end / { last = list; list = "" } END { printf "%s", last }' "$seen" | sort; }
same_attrs() { [ "$(our_attrs)" = "$(attrs_of)" ] || { diff <(our_attrs) <(attrs_of); return 1; }; }
lab_sl scontrol update nodename=n0039 availablefeatures=ib,gpu activefeatures=ib,gpu
lab_sl scontrol create reservation=maint starttime=now duration=120 users="$(id -un)" nodes=n0039 >/dev/null
with=$(lab_sl sbatch --parsable --reservation=maint -C 'ib&gpu' -J with -o /dev/null --wrap 'sleep 600')
array=$(lab_sl sbatch --parsable --array=1-2 -J arr -N 1 -o /dev/null --wrap 'sleep 600')
array_runs() { our_ids | grep -qx "${array}_1" && our_ids | grep -qx "${array}_2"; }
ok "tasks of an array have the ids that SLURM shows" lab_wait 30 array_runs
in_reservation() { our_attrs | grep -q "^$with .* maint ib&gpu$"; }
ok "a job has its reservation and features" lab_wait 30 in_reservation
ok "and all jobs their partition, account, reservation and features, as squeue shows them" lab_wait 20 same_attrs
lab_sl scancel "$array"
ok "an array that is cancelled is gone" lab_wait 30 same_list

# --- jobs that lose a node ---
failed() { # job
	awk '/^job / { list = "" } /^failed / { list = list " " $2 " " } /^end / { last = list; list = "" } END { print last }' "$seen" |
		grep -q " $1 "
}

batch() { # nodes: the id, once it runs
	local id
	id=$(lab_sl sbatch --parsable --requeue -o /dev/null -w "$1" --wrap 'sleep 600') || return 1
	lab_wait 10 running "$id" && echo "$id"
}

running() {
	[ "$(lab_sl squeue -h -j "$1" -o %T)" = RUNNING ]
}

requeued() {
	lab_sl scontrol show job "$1" | grep -q 'Restarts=1'
}

r=$(batch 'n[0031-0032]')
ok "a batch job is seen" lab_wait 10 same_list
lab_sl scontrol requeue "$r"
ok "one that somebody requeues" lab_wait 10 requeued "$r"
sleep 2
ok "has lost no node" test -z "$(sed -n "/^failed $r/p" "$seen")"
q=$(batch 'n[0035-0036]')
lab_wait 10 same_list
# the lab's slurmd answers for every node: what is only down would be up at once
lab_sl scontrol update nodename=n0036 state=down reason=test
lab_sl scontrol update nodename=n0036 state=fail reason=test
ok "one whose node goes down is requeued by SLURM" lab_wait 10 requeued "$q"
ok "and has lost a node" lab_wait 10 failed "$q"
lab_sl scancel "$r" "$q"
lab_sl scontrol update nodename=n0036 state=resume
ok "then all is as before" lab_wait 20 same_list

# --- the controller goes away ---
lab_slurmctld_stop
ok "without slurmctld the state is unreachable, with libslurm's reason" \
	lab_wait 30 state_is unreachable '[Uu]nable to contact slurm controller'
lab_slurmctld_start
ok "it recovers when slurmctld is back" lab_wait 30 state_is ok
d=$(lab_job -J later -w 'n[0001-0003]')
ok "and sees what started since" lab_wait 10 same_list

# --- slurm.conf breaks ---
cp "$SLURM_CONF" "$SLURM_CONF.good"
lab_slurmctld_stop
echo 'NoSuchOption=1' >"$SLURM_CONF"
ok "with a broken slurm.conf the poller is dead, the program is not" \
	lab_wait 30 state_is dead 'the SLURM poller'
ok "the program still runs" lab_alive tool
cp "$SLURM_CONF.good" "$SLURM_CONF"
lab_slurmctld_start
ok "it recovers when slurm.conf is whole again" lab_wait 30 state_is ok
ok "with the jobs of squeue" lab_wait 10 same_list

# --- ends ---
ok "one poller is at work" test "$(tool_children | wc -l)" -eq 1
before=$(restarts)
kill -9 "$(tool_children)"
ok "a killed poller is started again" lab_wait 10 restarted
kill -9 "$(cat "$LAB_DIR/tool.pid")"
ok "no poller outlives its killed parent" lab_wait 5 no_children
lab_kill tool

# --- without ibroute-slurm: squeue --json ---
IBROUTE_SLURM=/nonexistent start_tool
ok "without ibroute-slurm squeue is asked" lab_wait 20 same_list
array=$(lab_sl sbatch --parsable --array=1-2 -J arr -N 1 -o /dev/null --wrap 'sleep 600')
ok "it tells ids of arrays, too" lab_wait 40 array_runs
ok "and partition, account, reservation and features" lab_wait 40 same_attrs
ok "one with a reservation among them" in_reservation
lab_sl scancel "$array" "$with"
ok "until the array is gone" lab_wait 40 same_list
e=$(lab_job -J late -w 'n[0004-0005]')
ok "which sees new jobs" lab_wait 20 same_list
h=$(het 'n[0033-0034]' 'n[0037-0038]')
ok "and heterogeneous ones as one" lab_wait 20 one_job "$h" 'n\[0033-0034,0037-0038\]' 4
lab_sl scancel "$h"
lab_slurmctld_stop
ok "without slurmctld sacct is asked, too; without accounting SLURM is unreachable" lab_wait 60 state_is unreachable 'squeue.*sacct'
lab_slurmctld_start
ok "and recovers" lab_wait 60 state_is ok
lab_job_end "$e"
ok "an ended job is gone" lab_wait 20 same_list
kill -9 "$(cat "$LAB_DIR/tool.pid")"
ok "it does not outlive its parent either" lab_wait 5 no_children
lab_kill tool

# --- names of every byte value: jobs of users, who choose them ---
bytes() { python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(int(sys.argv[1]), int(sys.argv[2]))))' "$@"; }
evil=()
for from in 1 65 129 193; do
	evil+=("$(lab_job -J "$(bytes "$from" $((from + 64 > 256 ? 256 : from + 64)))" -w "n00$((21 + from / 64))")")
done
evil+=("$(lab_job -J $'a\xffb\xc2\x9b31mRED\xc2\x9d0;title\e[2J\xe2\x80\xae' -w n0026)")
all_began() { [ "${#evil[@]}" -eq 5 ] && [[ "${evil[*]}" =~ ^[0-9]+( [0-9]+){4}$ ]] || { printf "%q\n" "${evil[@]}"; return 1; }; }
ok "jobs with every byte value in their names begin" all_began
"$IBROUTE_TOP" topo fattree2:leaves=5,spines=2,hosts=8 -o "$LAB_DIR/net" >/dev/null
shown() { # OPTION...: with those jobs in it
	lab_sl "$IBROUTE_TOP" --load "$LAB_DIR/net" --jobs slurm -n 1 "$@" >"$LAB_DIR/shown" 2>"$LAB_DIR/shown.err"
	grep -q "${evil[4]}" "$LAB_DIR/shown" || { head -n 3 "$LAB_DIR/shown.err"; return 1; }
}
ok "metrics are UTF-8 without control characters" eval 'shown --prom && python3 tests/prom.py "$LAB_DIR/shown"'
! command -v promtool >/dev/null || ok "promtool takes them" eval 'promtool check metrics <"$LAB_DIR/shown"'
ok "-b is text" eval 'shown -b --view jobs && python3 tests/only_text.py "$LAB_DIR/shown" "$LAB_DIR/shown.err"'
ok "--json is, with escapes undone" eval 'shown --json --view jobs && python3 tests/only_text.py --json "$LAB_DIR/shown"'
ok "what the job source tells is" python3 tests/only_text.py "$seen"
for id in "${evil[@]}"; do lab_job_end "$id"; done

lab_job_end "$b" && lab_job_end "$c" && lab_job_end "$d"
ok "squeue is empty in the end" test -z "$(squeue_list)"

# --- the topology that SLURM is told, as it understands it ---
lab_slurmctld_stop
echo 'TopologyPlugin=topology/tree' >>"$SLURM_CONF"
topology() { lab_sl "$IBROUTE_TOP" topology --topology "$LAB_DIR/net" "$@"; }
ok "its topology.conf is written" topology --slurm -o "$(dirname "$SLURM_CONF")/topology.conf"
lab_slurmctld_start
as_written() { topology --compare slurm | grep -x 'scontrol show topology: 5 switches and 40 hosts compared, 0 differences'; }
ok "SLURM takes it, and shows the same tree" lab_wait 20 as_written
no_complaint() { ! grep -iE 'error:.*(topology|switch)|lack access' "$LAB_DIR/slurmctld.log" "$LAB_DIR/slurm/slurmctld.log"; }
ok "without a word against it" no_complaint
differs() { topology --compare slurm >"$LAB_DIR/shown"; [ $? -eq 1 ] && grep -q 'in the fabric it is on leaf' "$LAB_DIR/shown"; }
sed -i 's/"n0001"/"moved"/; s/"n0040"/"n0001"/; s/"moved"/"n0040"/' "$LAB_DIR/net"
ok "hosts that have changed places since are told" differs
finish
