#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-hook.sh: the drain, migrate and return command of "ibroute-top agent" where nothing better than SLURM's suspend
# is there: the job stands still during the update.  /etc/ibroute-top/migrate, if there, is run for migrate and return.
#
# Every node of the job runs it, at about the same time, more than once, and may be killed in between.  So the job itself
# has the mark who suspended it: ibroute:UPDATE:REQUEST in its AdminComment (what is there stays).
#   drain   suspends the job unless it is; the mark gets the newest request.  A job that an operator has suspended gets none.
#           Ends when no process of the job runs on this node, and no port has sent for a moment.
#   return  resumes the job if the mark is of this update and of an earlier request: a later drain is not undone.
# Jobs that have ended are drained.  Without slurmctld it tries again until the limit, and fails; the agent goes on from there.
set -u
id=${IBROUTE_JOB:?} limit=$(($(date +%s) + ${IBROUTE_LIMIT_S:-60} - 5)) n=${IBROUTE_SEQ:-0}
mine=ibroute:${IBROUTE_TXN:-0}: site=${IBROUTE_MIGRATE:-/etc/ibroute-top/migrate}
name=$id state= mark= ours= again=

slurm() { timeout -k 1 4 "$@"; }
late() { [ "$(date +%s)" -ge "$limit" ]; }
fail() { echo "job $id: $*" >&2 && exit 1; }
try() { # COMMAND...: until it succeeds
	until "$@"; do
		! late || fail "${IBROUTE_PHASE:-?}: no success in ${IBROUTE_LIMIT_S:-60} s: $*"
		sleep 1
	done
}

look() { # state, mark, and for a task of an array the name that means this task alone
	row=$(slurm scontrol -o show job "$id" 2>&1) || case $row in *"Invalid job id"*) state=GONE && return ;; *) return 1 ;; esac
	row=$(printf '%s\n' "$row" | grep "^JobId=$id ") || return
	state=$(printf '%s\n' "$row" | sed 's/.* JobState=\([A-Z_]*\).*/\1/')
	mark=$(printf '%s\n' "$row" | grep -o 'ibroute:[^ :]*:[0-9]*' | head -n 1)
	name=$(printf '%s\n' "$row" | sed -n 's/.* ArrayJobId=\([0-9]*\) ArrayTaskId=\([0-9]*\) .*/\1_\2/p')
	name=${name:-$id}
}
set_mark() { # MARK: in place of the one that is there
	old=$(slurm squeue -h -t all -j "$name" -O admin_comment:2000) || return
	new=$(printf '%s\n' "$old" | sed "s/^(null)//; s/ibroute:[^ :]*:[0-9]*//; s/^ *//; s/ *\$//")
	slurm scontrol update JobId="$name" AdminComment="${new:+$new${1:+ }}$1" 2>/dev/null || ended
}
ended() { look && case $state in RUNNING | SUSPENDED) false ;; esac; }
suspended() { look && case $state in RUNNING) false ;; esac; }
running() { look && case $state in SUSPENDED) false ;; esac; }
suspend() { slurm scontrol suspend "$name" 2>/dev/null || suspended; } # somebody else was first
resume() { slurm scontrol resume "$name" 2>/dev/null || running; }
processes() { # of the job on this node, those that run (R) or stand still (T)
	for p in $(slurm scontrol listpids "$id" 2>/dev/null | awk 'NR > 1 && $1 > 0 { print $1 }'); do
		case $(sed 's/.*) \(.\).*/\1/' "/proc/$p/stat" 2>/dev/null) in
		'' | Z | X) ;;
		T | t) [ "$1" = R ] || echo "$p" ;;
		*) [ "$1" = T ] || echo "$p" ;;
		esac
	done
}
stopped() { # a resume that comes to a node late is undone there, and so is a slurmd that has ended
	look && [ "$state" = SUSPENDED ] || return 0
	still=$(processes R)
	[ -n "$still" ] || return 0
	[ -z "$again" ] || kill -STOP $still 2>/dev/null
	again=1
	return 1
}
woken() { # a suspend that comes to a node late is undone there
	sleep 1
	look && [ "$state" = RUNNING ] || return 0
	still=$(processes T)
	[ -z "$still" ] || { kill -CONT $still 2>/dev/null && return 1; }
}
sent() { cat /sys/class/infiniband/*/ports/*/counters/port_xmit_packets 2>/dev/null; }
kept() { # the mark: a return that is late may have taken it away
	look && case $state:$mark in SUSPENDED:"$mine"* | GONE:* | COMPL*:*) ;; SUSPENDED:*) set_mark "$mine$n" ;; esac
}
quiet() { before=$(sent) && sleep 0.2 && [ "$before" = "$(sent)" ] || [ -z "$before" ]; }

try look
case ${IBROUTE_PHASE:?} in
drain)
	case $state:$mark in
	RUNNING:*) ours=1 && try set_mark "$mine$n" && try suspend ;;
	SUSPENDED:"$mine"*) ours=1 && { [ "${mark##*:}" -ge "$n" ] || try set_mark "$mine$n"; } ;;
	SUSPENDED:ibroute:*) ours=1 && try set_mark "$mine$n" ;; # of an update that is over
	esac
	try stopped
	try quiet
	try stopped
	[ -z "$ours" ] || try kept
	;;
migrate)
	[ ! -x "$site" ] || "$site"
	;;
return)
	[ ! -x "$site" ] || "$site" || exit
	case $mark in
	"$mine"*)
		[ "${mark##*:}" -lt "$n" ] || exit 0
		[ "$state" != SUSPENDED ] || try resume
		try woken
		was=$mark
		try look
		[ "$mark" != "$was" ] || try set_mark ""
		;;
	esac
	;;
*) fail "phase $IBROUTE_PHASE is none" ;;
esac
