#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lab.sh: an InfiniBand fabric and a SLURM cluster on one machine, for tests.
#
# ibsim simulates the fabric, a stock opensm brings it up, one slurmctld and one slurmd stand
# for all nodes.  Everything is in a directory of its own, with a simulator socket and TCP
# ports of its own, so that labs can run side by side; nothing outlives lab_stop, which also
# runs when the script that sourced this file ends, in whatever way.
#
#   . tests/lab/lab.sh
#   lab_new                                      directory, trap; then LAB_DIR is set
#   lab_fabric fattree2:leaves=4,spines=2,hosts=4     topology (or a net file) and ibsim
#   lab_opensm "routing_engine updn" "lmc 1"     opensm, each argument a line of its configuration
#   lab_slurm                                    all hosts of the fabric as SLURM nodes
#   id=$(lab_job -J wrf -w 'n[0001-0006]')       a running job
#   lab_on n0001 ibtracert 1 9                   any client program on the HCA of n0001
#   lab_stop                                     ends it all now
#
# Functions.  All return 0 or print a sentence on stderr and return 1; all waits end.
#   lab_new [DIR]           makes LAB_DIR (kept after lab_stop when LAB_KEEP=1) and sets the traps
#                           EXIT, INT, TERM, HUP; a caller with an EXIT trap of its own calls
#                           lab_stop from it.  Also sets sock (of our plugin) and dirs (options
#                           with which all that our program keeps is in LAB_DIR)
#   lab_fabric SPEC|FILE    $LAB_DIR/net and the simulator.  SPEC is for `ibroute-top topo`
#   lab_con COMMAND...      a line for the simulator's console; its answers are in $LAB_DIR/ibsim.log
#   lab_evict               gives the simulator back the places of clients that were killed
#   lab_hosts               host names, one a line, in the order of the net
#   lab_node NAME           node id in the simulator of a host or switch name (or of an id)
#   lab_port LEAF           its first port to another switch
#   lab_lid NAME            its LID (port 1 of a host), 0 while it has none
#   lab_env NAME            words for env(1) that attach a program to the HCA of NAME.  With LAB_RMPP=1 before
#                           lab_new long tables of the SA come whole, as a kernel has them
#                           (umad_rmpp.c), not their first MAD alone
#   lab_sm_env NAME         the same for an OpenSM, whose MADs then time out as a kernel's do
#   lab_on NAME CMD...      runs CMD so, in $LAB_DIR/work (give absolute file names), at most
#                           LAB_TIMEOUT (30) seconds.  At most 10 clients at once, opensm included
#   lab_opensm [LINE...]    starts opensm on the HCA of LAB_SM (first host), waits for SUBNET UP.
#                           LAB_OPENSM_LIBS: directory of plugins; LAB_OPENSM_ARGS: more arguments
#   lab_opensm_stop         ends it; tables stay in the switches
#   lab_plugin LINE...      a new opensm with our plugin, which is in force once "routing_engine ibroute"
#                           is among the lines; its policy is $LAB_DIR/policy.conf.
#                           LAB_PLUGIN_OPTIONS: more options of the plugin
#   lab_needs_plugin        skips the script (judge.sh) where the plugin was not built
#   policy LINE...          writes that policy
#   lab_counter NAME PORT KEY=VALUE...   sets port counters: PortCounters.PortXmitWait=777,
#                           PortCountersExtended.PortXmitData=1000 (in words of 4 bytes)
#   lab_lfts [NAME], lab_plain_lfts <DUMP    all LFTs, a dump of them, as lines of "guid lid port"
#   lab_passing NAME SEEN   how many of their entries lead through a switch (SEEN: of ibnetdiscover)
#   lab_nothing_passes NAME SEEN   that there are none
#   lab_slurm               starts slurmctld, slurmd, waits until all nodes are idle; SLURM_CONF
#                           is exported
#   lab_slurmctld_stop, lab_slurmctld_start   the controller alone; jobs survive
#   lab_sl CMD...           a SLURM command with a time limit (squeue, scontrol, ...)
#   lab_job OPTION...       an allocation (options of salloc: -N, -w, -J, ...); prints the job id.
#                           Fails when it does not start within LAB_JOB_WAIT (10) seconds
#   lab_job_end ID          cancels it and waits until its nodes are free
#   lab_agent NAME JOB      an agent for that job on a node, ready when this returns; its state, socket
#                           and log are $LAB_DIR/NAME.state, NAME.sock, agent-NAME.log
#   lab_ranks NAME JOB      two processes of the job there, of examples/agent_client (built by the
#                           caller), with four queue pairs each; logs rank-NAME-0.log, rank-NAME-1.log
#   lab_start_agent NAME HOST OPTION...   an agent on HOST (also NODE ids) with files named NAME, ready when
#                           this returns; lab_agent is one with the usual options
#   top WORD...             our program on LAB_ON (n0002)
#   does CODE WORD...       the same, its words in $LAB_DIR/out; 1, and their end, when its exit code
#                           is another
#   said REGEX              they have that (extended regular expression)
#   plugin EXPR             a Python expression over p, what the plugin says of itself
#   state ID, is_state ID STATE   of an update
#   same FILE               all LFTs are as in that file (of lab_lfts)
#   lab_lfts_as_in DIR N, lab_sl2vl_as_in DIR EVERY PORTS N   the LFTs, or SL2VL tables of some switches,
#                           are those of opensm's dumps in that folder, more than N
#   others_stay BEFORE AFTER LIDS   no entry differs but those of LIDs ("0x0007 0x0012")
#   ours guard|worker       pids of the processes of this lab's update
#   stop_ours, kill_ours    SIGSTOP, SIGKILL to all of them at once
#   lab_wait SECONDS CMD... repeats CMD until it succeeds; 1 when it does not in PATIENCE (4)
#                           times SECONDS, which are those of a machine with nothing else to do
#   lab_kill NAME           ends the process of $LAB_DIR/NAME.pid: SIGTERM, after 5 s SIGKILL
#   lab_leftovers           pid and command of every process that belongs to this lab
#   lab_stop                ends everything, removes LAB_DIR
#
# As a command:
#   lab.sh start SPEC|FILE [slurm]   prints what to source to use the lab: . <(lab.sh start ...)
#   lab.sh stop DIR
#
# B: the folder of what was built (build).  IBROUTE_TOP: the program to test (build/ibroute-top).

LAB_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${B:=build}"
: "${IBROUTE_TOP:=$LAB_ROOT/build/ibroute-top}"
: "${LAB_TIMEOUT:=30}" "${LAB_ON:=n0002}"
PATH=$PATH:/usr/sbin:/sbin

lab_fail() {
	echo "lab: $*" >&2
	return 1
}

lab_wait() {
	local end=$((SECONDS + $1 * ${PATIENCE:-4} + 1)) nap=0.05 n=0

	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep "$nap"
		[ $((++n)) -lt 10 ] || nap=0.2 # what takes long need not be asked for often
	done
}

# --- life ---

lab_new() {
	local so

	so=$(ls /usr/lib/*/umad2sim/libumad2sim.so /usr/lib*/umad2sim/libumad2sim.so 2>/dev/null |
		head -n 1)
	[ -n "$so" ] || { lab_fail "libumad2sim.so is missing (package ibsim-utils)"; return; }
	LAB_DIR=${1:-$(mktemp -d "${TMPDIR:-/tmp}/lab.XXXXXX")} || return 1
	mkdir -p "$LAB_DIR/work" || return 1
	LAB_DIR=$(cd "$LAB_DIR" && pwd)
	LAB_PRELOAD=$so
	[ "${LAB_RMPP:-0}" = 0 ] || { lab_built umad_rmpp && LAB_PRELOAD=$LAB_ROOT/$B/tests/lab/libumad_rmpp.so:$so; } || return 1
	export LAB_DIR
	export IBSIM_SOCKNAME=${LAB_DIR##*/}
	sock=$LAB_DIR/run/opensm.sock
	dirs=(--record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state" --socket "$sock")
	trap lab_stop EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# lab_daemon NAME CMD...: in the background, in a session of its own, output in NAME.log
lab_daemon() {
	local name=$1

	shift
	(cd "$LAB_DIR/work" && exec setsid "$@" >>"$LAB_DIR/$name.log" 2>&1 </dev/null) &
	echo $! >"$LAB_DIR/$name.pid"
	disown
}

# A zombie is not alive: where process 1 does not reap, it stays for ever.
lab_alive() {
	[ -s "$LAB_DIR/$1.pid" ] && sed 's/.*) //' "/proc/$(cat "$LAB_DIR/$1.pid")/stat" 2>/dev/null |
		grep -q '^[^ZX]'
}

lab_dead() {
	! lab_alive "$1"
}

lab_kill() {
	lab_alive "$1" || { rm -f "$LAB_DIR/$1.pid"; return 0; }
	kill "$(cat "$LAB_DIR/$1.pid")" 2>/dev/null
	if ! lab_wait 5 lab_dead "$1"; then
		kill -9 "$(cat "$LAB_DIR/$1.pid")" 2>/dev/null
		lab_wait 5 lab_dead "$1" || lab_fail "$1 does not end"
	fi
	rm -f "$LAB_DIR/$1.pid"
}

# Processes know their lab by LAB_DIR in their environment; those of this script's own session
# (subshells, pipes) are not meant.
lab_leftovers() {
	local pid own sid

	own=$(lab_session $$)
	grep -lzxF "LAB_DIR=$LAB_DIR" /proc/[0-9]*/environ 2>/dev/null |
		while IFS=/ read -r _ _ pid _; do
			sid=$(lab_session "$pid")
			[ -n "$sid" ] && [ "$sid" != "$own" ] || continue
			echo "$pid $(cat "/proc/$pid/cmdline" 2>/dev/null | tr '\0' ' ')"
		done
}

# Fields after the command's name in parentheses: state, parent, group, session.
lab_session() {
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 4
}

# All are stopped before any is killed, since some start each other again (a watchdog and its guard);
# and until none is new, since one may have been between the two.
lab_end_leftovers() {
	local pid name left pids stopped=''

	for _ in 1 2 3 4 5; do
		left=$(lab_leftovers)
		pids=$(cut -d ' ' -f 1 <<<"$left" | tr '\n' ' ')
		[ "$pids" != "$stopped" ] || break
		stopped=$pids
		# shellcheck disable=SC2086
		kill -STOP $pids 2>/dev/null
	done
	[ -n "$left" ] || return 0
	while read -r pid name; do
		echo "lab: ending left over process $pid: $name" >&2
		kill -9 "$pid" 2>/dev/null
	done <<<"$left"
}

lab_stop() {
	local rc=$? name pid

	trap - EXIT
	[ -n "${LAB_DIR:-}" ] && [ -d "$LAB_DIR" ] || return "$rc"
	# programs of the caller first, the simulator last
	for name in $(cd "$LAB_DIR" && ls -- *.pid 2>/dev/null | sed 's/\.pid$//' |
		grep -vxE 'slurmctld|slurmd|relay|opensm|ibsim') slurmctld slurmd relay opensm ibsim; do
		lab_kill "$name"
	done
	lab_end_leftovers
	[ "${LAB_KEEP:-0}" = 1 ] || rm -rf "$LAB_DIR"
	return "$rc"
}

# --- the fabric ---

lab_fabric() {
	if [ -f "$1" ]; then
		cp "$1" "$LAB_DIR/net" || return 1
	else
		timeout 60 "$IBROUTE_TOP" topo "$1" >"$LAB_DIR/net" ||
			{ lab_fail "$IBROUTE_TOP topo $1 failed"; return; }
	fi
	# name and simulator id of every node, from: Ca 1 "H-0001..."  # "n0001 HCA-1"
	awk '/^(Ca|Hca|Switch)[ \t]/ {
		split($0, q, "\""); id = q[2]; name = q[4] == "" ? id : q[4]
		sub(/ .*/, "", name); print ($1 == "Switch" ? "switch" : "host"), name, id
	}' "$LAB_DIR/net" >"$LAB_DIR/nodes"
	grep -q '^host ' "$LAB_DIR/nodes" || { lab_fail "$1 has no hosts"; return; }
	lab_ibsim
}

lab_ibsim() {
	local nodes switches

	nodes=$(wc -l <"$LAB_DIR/nodes")
	switches=$(grep -c '^switch ' "$LAB_DIR/nodes")
	rm -f "$LAB_DIR/con"
	mkfifo "$LAB_DIR/con" || return 1
	: >"$LAB_DIR/ibsim.log"
	# the console is a FIFO that the simulator holds open itself: it never sees its end
	(cd "$LAB_DIR/work" && exec setsid ibsim ${LAB_IBSIM_ARGS:-} -s -N $((nodes + 64)) -S $((switches + 64)) \
		-P $((nodes * 4 + switches * 64 + 1024)) "$LAB_DIR/net" \
		0<>"$LAB_DIR/con" >"$LAB_DIR/ibsim.log" 2>&1) &
	echo $! >"$LAB_DIR/ibsim.pid"
	disown
	lab_wait 20 lab_ibsim_ready ||
		lab_fail "ibsim does not start: $(tail -n 3 "$LAB_DIR/ibsim.log" | tr '\n' ' ')"
}

lab_ibsim_ready() {
	lab_alive ibsim && grep -q 'simulator ready' "$LAB_DIR/ibsim.log"
}

lab_con() {
	lab_alive ibsim || { lab_fail "the simulator does not run"; return; }
	echo "$*" 1<>"$LAB_DIR/con"
}

# The simulator keeps the place of whoever was killed.
lab_evict() {
	local from n pid

	from=$(($(wc -c <"$LAB_DIR/ibsim.log") + 1))
	lab_con Attached && lab_con "Dump \"$(awk 'NR == 1 { print $3 }' "$LAB_DIR/nodes")\"" && lab_wait 5 lab_dumped "$from" || return 1
	tail -c "+$from" "$LAB_DIR/ibsim.log" | sed -n 's/.*Client \([0-9]*\): pid \([0-9]*\) connected.*/\1 \2/p' |
		while read -r n pid; do
			sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | grep -q '^[^ZX]' || lab_con "X $n"
		done
}

lab_hosts() {
	awk '$1 == "host" && !seen[$2]++ { print $2 }' "$LAB_DIR/nodes"
}

lab_node() {
	awk -v n="$1" '$2 == n || $3 == n { print $3; found = 1; exit } END { exit !found }' \
		"$LAB_DIR/nodes" || lab_fail "no node $1 in the net"
}

lab_env() {
	local id

	id=$(lab_node "$1") || return 1
	echo "SIM_HOST=$id IBSIM_SOCKNAME=$IBSIM_SOCKNAME LD_PRELOAD=$LAB_PRELOAD"
}

# ibsim drops every TrapRepress, and has nobody who gives up.  An OpenSM that stands by with a higher
# priority than the master's tells it so by trap 144, and counts that as under way until it is
# answered; when it then becomes master its first sweep waits for that for ever (on a busy machine
# in one of four tries; on an idle one the master mostly hands over before it).
lab_sm_env() {
	local attach so=$LAB_ROOT/$B/tests/lab/libumad_timeouts.so

	attach=$(lab_env "$1") && lab_built umad_timeouts || return 1
	echo "${attach/LD_PRELOAD=/LD_PRELOAD=$so:}"
}

# One of the libraries that are preloaded.
lab_built() {
	local so=$B/tests/lab/lib$1.so

	[ "$LAB_ROOT/$so" -nt "$LAB_ROOT/tests/lab/$1.c" ] &&
		[ "$LAB_ROOT/$so" -nt "$LAB_ROOT/tests/lab/umad_preload.h" ] || make -s -C "$LAB_ROOT" "$so" >&2 ||
		lab_fail "$so is not built"
}

lab_on() {
	local attach said filter rc

	attach=$(lab_env "$1") || return 1
	shift
	exec {said}> >(exec grep -v 'sim_connect: attached' >&2)
	filter=$!
	# env sets the preload, not timeout: every program that has it takes a client's place
	# shellcheck disable=SC2086
	(cd "$LAB_DIR/work" && exec timeout -k 2 "$LAB_TIMEOUT" env $attach "$@" 2>&$said {said}>&-)
	rc=$?
	exec {said}>&-
	# what it said last is there when this returns, unless somebody it left behind may say more
	for _ in $(seq 100); do
		kill -0 "$filter" 2>/dev/null || break
		sleep 0.02
	done
	return $rc
}

# The simulator knows best; a big SA table would need RMPP, which it does not do by itself.
lab_lid() {
	local id from

	id=$(lab_node "$1") || return 1
	from=$(($(wc -c <"$LAB_DIR/ibsim.log") + 1))
	lab_con "Dump \"$id\"" || return 1
	lab_wait 5 lab_dumped "$from" || { lab_fail "the simulator does not respond"; return; }
	tail -c "+$from" "$LAB_DIR/ibsim.log" |
		sed -n 's/.*[ \t]lid \([0-9][0-9]*\) lmc.*/\1/p' | head -n 1
}

lab_dumped() {
	tail -c "+$1" "$LAB_DIR/ibsim.log" | grep -q '# *dumped [0-9]* nodes'
}

lab_counter() {
	local id port=$2 set

	id=$(lab_node "$1") || return 1
	shift 2
	for set in "$@"; do
		lab_con "PerformanceSet \"$id\"[$port] $set" || return 1
	done
}

# --- the subnet manager ---

lab_opensm() {
	local sm

	sm=$(lab_sm_env "${LAB_SM:-$(lab_hosts | head -n 1)}") || return 1
	mkdir -p "$LAB_DIR/osm"
	{
		echo "force_log_flush TRUE"
		echo "log_max_size 64"
		echo "transaction_timeout 1000"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >"$LAB_DIR/opensm.conf"
	rm -f "$LAB_DIR/osm/opensm.log"
	# shellcheck disable=SC2086
	lab_daemon opensm env $sm OSM_TMP_DIR="$LAB_DIR/osm" OSM_CACHE_DIR="$LAB_DIR/osm" \
		${LAB_OPENSM_LIBS:+LD_LIBRARY_PATH="$LAB_OPENSM_LIBS"} \
		opensm -F "$LAB_DIR/opensm.conf" -f "$LAB_DIR/osm/opensm.log" ${LAB_OPENSM_ARGS:-}
	lab_wait 90 lab_subnet_up ||
		lab_fail "opensm does not bring the subnet up: $(tail -n 3 "$LAB_DIR/opensm.log" |
			tr '\n' ' ')"
}

# A dead opensm ends the wait as well; the caller then looks once more.
lab_subnet_up() {
	lab_alive opensm && grep -q 'SUBNET UP' "$LAB_DIR/osm/opensm.log"
}

lab_opensm_stop() {
	lab_kill opensm
}

lab_needs_plugin() {
	[ ! -f "$LAB_ROOT/$B/libibroute.so" ] || return 0
	skip "$(basename "$0" .sh): $B/libibroute.so was not built (package libopensm-dev)"
	finish
}

policy() {
	printf '%s\n' "$@" >"$LAB_DIR/policy.conf"
}

lab_plugin() {
	lab_opensm_stop
	LAB_OPENSM_LIBS=$LAB_ROOT/$B LAB_OPENSM_ARGS="-D 0x43" lab_opensm "event_plugin_name ibroute" \
		"event_plugin_options ibroute_policy=$LAB_DIR/policy.conf ibroute_socket=$sock ibroute_confirmed=$LAB_DIR/kept/confirmed.ibr ${LAB_PLUGIN_OPTIONS:-}" "$@"
}

# --- our program, and what it says ---

top() {
	lab_on "$LAB_ON" "$IBROUTE_TOP" "$@"
}

does() {
	local want=$1 rc

	shift
	lab_on "$LAB_ON" "$IBROUTE_TOP" "$@" >"$LAB_DIR/out" 2>&1
	rc=$?
	[ "$rc" -eq "$want" ] && return 0
	echo "# $1: exit $rc, not $want"
	lab_out_end
	return 1
}

lab_out_end() {
	sed 's/^/# /' "$LAB_DIR/out" | tail -n 8
}

said() {
	grep -qE -- "$1" "$LAB_DIR/out" || { lab_out_end; return 1; }
}

plugin() {
	top sm --json --socket "$sock" 2>/dev/null |
		python3 -c 'import json, sys; p = json.load(sys.stdin)["plugin"]; sys.exit(not eval(sys.argv[1]))' "$1"
}

state() {
	top status "$1" --state-dir "$LAB_DIR/state" --json 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])'
}

is_state() {
	[ "$(state "$1")" = "$2" ] || { echo "# $1: $(state "$1"), not $2"; return 1; }
}

ours() {
	local p

	for p in $(pgrep -f -- "--watchdog $1"); do
		grep -qz "IBSIM_SOCKNAME=$IBSIM_SOCKNAME" "/proc/$p/environ" 2>/dev/null && echo "$p"
	done
}

# Both are stopped first: the one that is left would start the other again.
stop_ours() {
	# shellcheck disable=SC2046 # numbers
	kill -STOP $(ours guard) $(ours worker)
}

kill_ours() {
	stop_ours
	# shellcheck disable=SC2046 # numbers
	kill -9 $(ours guard) $(ours worker)
}

# --- LFTs, as dump_fts, which is not ours, reads them ---

# A dump (of dump_fts, or of our program) as lines of "guid lid port"
lab_plain_lfts() {
	awk '/^Unicast lids/ { match($0, /guid 0x[0-9a-f]+/); g = substr($0, RSTART + 5, RLENGTH - 5); next }
		/^0x/ && $2 ~ /^[0-9]+$/ { print g, $1, $2 + 0 }' | sort
}

# All of them as they are now, read from the HCA of $1
lab_lfts() {
	lab_on "${1:-n0003}" dump_fts 2>/dev/null | lab_plain_lfts
}

# How many of their entries lead into switch $1, but those to itself and to the hosts on it; $2 is
# what ibnetdiscover said of the whole fabric
lab_passing() {
	lab_on n0003 dump_fts 2>/dev/null >"$LAB_DIR/fts"
	python3 - "$1" "$2" "$LAB_DIR/fts" <<-'PY'
		import re, sys
		name, seen, fts = sys.argv[1:]
		node, at, own, into, n, known = {}, None, set(), set(), 0, 0
		for line in open(seen):
		    m = re.match(r'Switch.*"S-(\w+)"\s+# "([^"]+)".* lid (\d+) ', line)
		    if m:
		        at = m[2]
		        node[int(m[1], 16)] = at
		        own |= {int(m[3])} if at == name else set()
		    elif re.match(r'Ca', line):
		        at = None
		    m = re.match(r'\[(\d+)\].*# "([^" ]+).* lid (\d+) ', line)
		    if m and at == name:
		        own |= {int(m[3])} if '"H-' in line else set()
		    elif m and at and m[2] == name:
		        into.add((at, int(m[1])))
		for line in open(fts):
		    m = re.search(r'^Unicast lids.*guid 0x(\w+)', line)
		    if m:
		        at = node[int(m[1], 16)]
		    m = re.match(r'0x(\w+) (\d+) ', line)
		    if m:
		        known += 1
		        n += (at, int(m[2])) in into and int(m[1], 16) not in own
		if known < 1000 or not into:
		    sys.exit('# %d entries, %d ports into %s' % (known, len(into), name))
		print(n)
	PY
}

same() {
	lab_lfts | cmp -s - "$1"
}

others_stay() {
	awk -v gone="$3" 'BEGIN { n = split(gone, g, " "); for (i = 1; i <= n; i++) no[g[i]] = 1 }
		FNR == NR { was[$1 " " $2] = $3; next }
		!($2 in no) && was[$1 " " $2] != $3 { bad++ }
		END { if (bad || !FNR) print "# " bad + 0 " entries of other LIDs differ, of " FNR; exit bad > 0 || !FNR }' "$1" "$2"
}

# opensm-lfts.dump in a folder of files for OpenSM, of more than so many entries
lab_lfts_as_in() {
	lab_lfts "$LAB_ON" >"$LAB_DIR/installed"
	lab_plain_lfts <"$1/opensm-lfts.dump" >"$LAB_DIR/wanted"
	[ "$(wc -l <"$LAB_DIR/wanted")" -gt "$2" ] && cmp "$LAB_DIR/installed" "$LAB_DIR/wanted"
}

# opensm-sl2vl.dump of the switch with a LID as lines of "in out vl ..."; OpenSM leaves VL 15 alone and
# keeps what the link's 8 VLs can hold of the others
lab_plain_sl2vl() {
	awk -v lid="$1" '/LID/ { on = $0 ~ "base LID " lid "," }
		on && $1 ~ /^[0-9]/ && $2 > 0 {
			printf "%d %d", $1, $2
			for (i = 4; i <= 19; i++) printf " %d", $i == 15 ? 15 : $i % 8
			print ""
		}' | sort
}

# opensm-sl2vl.dump in that folder at every n-th switch of $LAB_DIR/seen (of ibnetdiscover), up to an output
# port: more than so many tables
lab_sl2vl_as_in() {
	local lid out n=0

	for lid in $(sed -n 's/^Switch.* base port 0 lid \([0-9]*\) .*/\1/p' "$LAB_DIR/seen" | awk -v every="$2" 'NR % every == 1'); do
		for out in $(seq "$3"); do
			lab_on "$LAB_ON" smpquery sl2vl "$lid" "$out" | sed -n 's/^ports: in *\([0-9]*\), out *\([0-9]*\): /\1 \2 /p' |
				tr -s '| ' ' ' | sed 's/ *$//'
		done | sort >"$LAB_DIR/sl2vl"
		lab_plain_sl2vl "$lid" <"$1/opensm-sl2vl.dump" >"$LAB_DIR/sl2vl.wanted"
		diff "$LAB_DIR/sl2vl" "$LAB_DIR/sl2vl.wanted" >"$LAB_DIR/diff" || { head -n 6 "$LAB_DIR/diff"; return 1; }
		n=$((n + $(wc -l <"$LAB_DIR/sl2vl")))
	done
	[ "$n" -gt "$4" ]
}

lab_nothing_passes() {
	local n

	n=$(lab_passing "$1" "$2") && [ "$n" -eq 0 ] || { echo "# $n entries lead through $1"; return 1; }
}

lab_port() { # LEAF
	awk -v id="$(lab_node "$1")" '/^Switch/ { split($0, q, "\""); on = q[2] == id }
		on && /^\[/ && /"S-/ { sub(/^\[/, ""); sub(/\].*/, ""); print; exit }' "$LAB_DIR/net"
}

# --- SLURM ---

# Three ports in a row that nobody listens on, from a start that differs between labs.
lab_ports() {
	local p=$((20000 + $$ % 4000 * 3)) k

	for ((k = 0; k < 200; k++, p = 20000 + (p - 20000 + 3 * 37) % 12000)); do
		lab_port_free "$p" && lab_port_free $((p + 1)) && lab_port_free $((p + 2)) &&
			{ LAB_PORT=$p; return 0; }
	done
	lab_fail "no free TCP ports"
}

lab_port_free() {
	! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Names from stdin as SLURM's host list; runs of numbers of one width become ranges.
lab_hostlist() {
	awk '{
		match($0, /[0-9]*$/); pre = substr($0, 1, RSTART - 1); num = substr($0, RSTART)
		w = length(num)
		if (w && pre == ppre && w == pw && num + 0 == pn + 1) { pn++; last = num; next }
		flush_(); ppre = pre; pw = w; pn = num + 0; first = last = num
	}
	function flush_() {
		if (NR > 1 || ppre != "" || first != "")
			if (ppre first != "")
				out = out (out == "" ? "" : ",") \
					ppre (first == last ? first : "[" first "-" last "]")
	}
	END { flush_(); print out }'
}

lab_slurm_conf() {
	local nodes me

	nodes=$(lab_hosts | lab_hostlist)
	me=$(id -un)
	cat <<-CONF
		ClusterName=lab
		SlurmctldHost=localhost(127.0.0.1)
		SlurmUser=$me
		SlurmdUser=$me
		AuthType=auth/none
		CredType=cred/none
		SlurmctldPort=$LAB_PORT
		SlurmdPort=$((LAB_PORT + 1))
		StateSaveLocation=$LAB_DIR/slurm/state
		SlurmdSpoolDir=$LAB_DIR/slurm/spool
		SlurmctldPidFile=$LAB_DIR/slurm/slurmctld.pid
		SlurmdPidFile=$LAB_DIR/slurm/slurmd.pid
		SlurmctldLogFile=$LAB_DIR/slurm/slurmctld.log
		SlurmdLogFile=$LAB_DIR/slurm/slurmd.log
		PlugStackConfig=$LAB_DIR/slurm/plugstack.conf
		MailProg=/bin/true
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		JobCompType=jobcomp/filetxt
		JobCompLoc=$LAB_DIR/slurm/jobcomp.log
		SchedulerType=sched/backfill
		SchedulerParameters=sched_interval=2,bf_interval=5,max_rpc_cnt=0
		SelectType=select/linear
		SlurmdTimeout=0
		InactiveLimit=0
		ReturnToService=2
		TreeWidth=65533
		KillWait=2
		SlurmdParameters=config_overrides
		DebugFlags=NO_CONF_HASH
		NodeName=$nodes NodeAddr=127.0.0.1 NodeHostname=localhost Port=$1 CPUs=1 RealMemory=4096 State=UNKNOWN
		PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	CONF
}

lab_slurm() {
	lab_ports || return 1
	mkdir -p "$LAB_DIR/slurm/state" "$LAB_DIR/slurm/spool"
	: >"$LAB_DIR/slurm/plugstack.conf"
	# nothing uses it, but where /sys/fs/cgroup is not mounted slurmd finds none, and ends
	echo "CgroupPlugin=cgroup/v1" >"$LAB_DIR/slurm/cgroup.conf"
	export SLURM_CONF=$LAB_DIR/slurm/slurm.conf
	lab_slurm_conf $((LAB_PORT + 1)) >"$SLURM_CONF"
	# slurmd itself listens behind the relay
	lab_slurm_conf $((LAB_PORT + 2)) >"$LAB_DIR/slurm/slurmd.conf"
	lab_daemon relay python3 "$LAB_ROOT/tests/lab/relay.py" $((LAB_PORT + 1)) $((LAB_PORT + 2)) lo
	lab_daemon slurmd slurmd -D -f "$LAB_DIR/slurm/slurmd.conf" -N "$(lab_hosts | head -n 1)"
	lab_slurmctld_start -c || return 1
	lab_wait 60 lab_slurm_idle ||
		lab_fail "SLURM's nodes do not become idle: $(tail -n 3 "$LAB_DIR/slurmctld.log" |
			tr '\n' ' ')"
}

lab_slurm_idle() {
	local n

	n=$(lab_sl sinfo -h -t idle -o %D | awk '{ s += $1 } END { print s + 0 }')
	[ "$n" -eq "$(lab_hosts | wc -l)" ]
}

lab_slurmctld_start() {
	lab_daemon slurmctld slurmctld -D "$@"
	lab_wait 20 lab_sl scontrol ping || lab_fail "slurmctld does not start:" \
		"$(tail -n 3 "$LAB_DIR/slurmctld.log" | tr '\n' ' ')"
}

lab_slurmctld_stop() {
	lab_kill slurmctld
}

lab_sl() {
	timeout -k 2 "$LAB_TIMEOUT" "$@"
}

lab_job() {
	local out id

	out=$(cd "$LAB_DIR/work" && LC_ALL=C timeout -k 2 $((${LAB_JOB_WAIT:-10} + 10)) \
		salloc --no-shell --immediate=${LAB_JOB_WAIT:-10} "$@" 2>&1)
	id=$(sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p' <<<"$out")
	[ -n "$id" ] || { lab_fail "salloc $*: $out"; return; }
	echo "$id"
}

lab_job_gone() {
	[ -z "$(lab_sl squeue -h -j "$1" -t R,CG,PD -o %i 2>/dev/null)" ]
}

lab_job_end() {
	lab_sl scancel "$1" && lab_wait 20 lab_job_gone "$1" || lab_fail "job $1 does not end"
}

# --- agents of jobs ---

lab_start_agent() {
	local name=$1 host=$2

	shift 2
	: >"$LAB_DIR/agent-$name.log"
	# shellcheck disable=SC2046
	lab_daemon "agent-$name" env $(lab_env "$host") "$IBROUTE_TOP" agent \
		--state "$LAB_DIR/$name.state" --socket "$LAB_DIR/$name.sock" "$@"
	lab_wait 20 grep -q '^ready lid ' "$LAB_DIR/agent-$name.log"
}

lab_agent() {
	lab_start_agent "$1" "$1" --job "$2" --poll 2 --ask 2
}

lab_ranks() {
	local r

	for r in 0 1; do
		lab_daemon "rank-$1-$r" "$LAB_ROOT/$B/examples/agent_client" -s "$LAB_DIR/$1.sock" -j "$2" -r "$r" -q 4
	done
}

# --- as a command ---

lab_main() {
	case "${1:-}" in
	start)
		[ $# -ge 2 ] || { sed -n '3,/^LAB_ROOT/{/^#/p}' "$0" >&2; exit 64; }
		{
			lab_new && lab_fabric "$2" && lab_opensm &&
				{ [ "${3:-}" != slurm ] || lab_slurm; }
		} >&2 || exit 1
		trap - EXIT
		declare -p LAB_DIR LAB_PRELOAD IBSIM_SOCKNAME ${SLURM_CONF:+SLURM_CONF LAB_PORT} |
			sed 's/^declare -[-a-z]* /export /'
		echo ". $LAB_ROOT/tests/lab/lab.sh"
		;;
	stop)
		[ -d "${2:-}/work" ] || { echo "usage: lab.sh stop DIR" >&2; exit 64; }
		export LAB_DIR=$2
		lab_stop
		;;
	*)
		sed -n '3,/^LAB_ROOT/{s/^# \{0,1\}//p}' "$0" >&2
		exit 64
		;;
	esac
}

[ "${BASH_SOURCE[0]}" != "$0" ] || lab_main "$@"
