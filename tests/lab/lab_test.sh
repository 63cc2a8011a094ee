#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab_test.sh: the lab itself: a small fabric and three jobs, and nothing left behind.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

seconds() {
	date +%s.%N
}

took() { # since
	awk -v a="$1" -v b="$(seconds)" 'BEGIN { printf "%.1f s", b - a }'
}

described() { # host: the simulator tells its NodeDescription
	lab_on "$1" smpquery -D nodedesc 0 | grep -q "\.$1\( \|\$\)"
}

traced() { # from, to, links on the way
	[ "$(lab_on "$1" ibtracert "$(lab_lid "$1")" "$(lab_lid "$2")" | grep -c '^\[')" -eq "$3" ]
}

shows_traffic() { # switch, port, words
	lab_on n0002 perfquery -x "$(lab_lid "$1")" "$2" | grep -q "^PortXmitData:\.*$3\$"
}

running() { # jobs
	[ "$(lab_sl squeue -h -t R | wc -l)" -eq "$1" ]
}

idle() { # nodes
	[ "$(lab_sl sinfo -h -t idle -o %D)" = "$1" ]
}

refused() { # options of salloc
	! LAB_JOB_WAIT=1 lab_job "$@" 2>/dev/null
}

none_left() {
	[ -z "$(lab_leftovers)" ]
}

t0=$(seconds)
lab_new
ok "the simulator takes the net" lab_fabric "${LAB_NET:-fattree2:leaves=4,spines=2,hosts=4}"
ok "opensm brings the subnet up" lab_opensm "routing_engine updn"
[ "$failed" -eq 0 ] || finish
echo "  fabric in $(took "$t0")"
t1=$(seconds)
ok "SLURM knows all nodes" lab_slurm
[ "$failed" -eq 0 ] || finish
echo "  SLURM in $(took "$t1")"
ok "16 hosts with SLURM's names" test "$(lab_hosts | lab_hostlist)" = 'n[0001-0016]'
ok "the first host bears its name in the fabric" described n0001
ok "and so does the last" described n0016
ok "ibtracert goes over three switches" traced n0001 n0016 4
ok "and over one inside a leaf" traced n0001 n0002 2
leaf=$(awk '$1 == "switch" { print $2; exit }' "$LAB_DIR/nodes")
lab_counter "$leaf" 5 PortCountersExtended.PortXmitData=123456789012
ok "the console sets traffic" lab_wait 5 shows_traffic "$leaf" 5 123456789012
a=$(lab_job -J wrf -N 6)
b=$(lab_job -J namd -w 'n[0007-0012]')
c=$(lab_job -J hpl -N 2)
ok "three jobs run" running 3
ok "two nodes are left" idle 2
ok "a job that does not fit fails at once" refused -N 9
ok "the first job ends" lab_job_end "$a"
ok "its nodes are free again" lab_wait 10 idle 8
lab_job_end "$b" && lab_job_end "$c"
ok "opensm ends" lab_opensm_stop
ok "the routes stay" traced n0001 n0016 4
ok "opensm starts again" lab_opensm "routing_engine minhop"

# what is not told to stop is stopped all the same
(
	LAB_DIR=$LAB_DIR setsid sleep 1000 &
)
t2=$(seconds)
dir=$LAB_DIR
lab_stop 2>/dev/null
echo "  stopped in $(took "$t2")"
ok "no process is left" none_left
ok "no file is left" test ! -e "$dir"
ok "nobody listens on its ports any more" lab_port_free "$LAB_PORT"

# a lab in a script that is killed
bash -c '. tests/lab/lab.sh; lab_new; cp "$1" "$LAB_DIR/nodes"; echo "$LAB_DIR" >"$2"
	lab_daemon ibsim sleep 1000; while :; do sleep 0.1; done' - /dev/null "$dir.other" &
other=$!
lab_wait 10 test -s "$dir.other"
sleep 0.3
kill -TERM "$other"
wait "$other"
ok "a script that gets SIGTERM ends with that" test $? -eq 143
LAB_DIR=$(cat "$dir.other")
rm -f "$dir.other"
ok "and leaves no process" none_left
ok "and no file" test ! -e "$LAB_DIR"
finish
