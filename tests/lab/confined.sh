#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# confined.sh: what the console's processes still hold, over a fabric and SLURM: no capability, no way to new ones;
# libslurm's process starts no program and writes no file; a user without any right but to the port does with it.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

[ "$(id -u)" -eq 0 ] || { skip "confined: only root has something to give up"; finish; }
lab_new || exit 1
chmod 755 "$LAB_DIR"
JUDGE_LOG=$LAB_DIR/judge
lab_fabric fattree2:leaves=3,spines=2,hosts=3 || give_up "the fabric"
lab_opensm "routing_engine updn" || give_up "opensm"
lab_slurm || give_up "SLURM"
unset SUDO_UID

field() { sed -n "s/^$2:[ \t]*//p" "/proc/$1/status"; }
holds_nothing() { # pid
	local f

	# the bound of what an update was begun by is CAP_DAC_OVERRIDE: who may get no new privileges gets none of it
	[[ $(field "$1" CapBnd) =~ ^0+[02]$ ]] || { echo "CapBnd $(field "$1" CapBnd)"; return 1; }
	for f in CapInh CapPrm CapEff CapAmb; do
		[ "$(field "$1" $f)" = 0000000000000000 ] || { echo "$f $(field "$1" $f)"; return 1; }
	done
	[ "$(field "$1" NoNewPrivs)" = 1 ] || { echo "new privileges are possible"; return 1; }
}
of_each_thread() { # pid
	local t

	for t in "/proc/$1/task"/*; do holds_nothing "$1/task/${t##*/}" || return 1; done
}
child_of() { pgrep -P "$1" -f "$2" | head -n 1; }

# shellcheck disable=SC2046
lab_daemon watch env $(lab_env n0002) "$IBROUTE_TOP" -b -d 1 --jobs slurm --record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state"
poller_there() { pid=$(cat "$LAB_DIR/watch.pid") && poller=$(child_of "$pid" ibroute-slurm) && [ "$poller" ]; }
ok "the console watches, and asks SLURM" lab_wait 20 poller_there
ok "it shows the fabric" lab_wait 20 grep -qiE 'switch|leaf' "$LAB_DIR/watch.log"
ok "the console holds nothing" holds_nothing "$pid"
ok "nor does any of its threads" of_each_thread "$pid"
ok "nor libslurm's process" holds_nothing "$poller"
filtered() { [ "$(field "$poller" Seccomp)" = 2 ]; }
ok "whose system calls are filtered" filtered
says_if_not() { ! grep 'not confined' "$LAB_DIR/watch.log"; }
ok "and it is not said that they were not" says_if_not
lab_kill watch

# --- what they do, call by call ---
printf '0x%016x "a"\n' 1 >"$LAB_DIR/named.map"
printf 'SwitchName=r1 Nodes=n[0001-0009]\n' >"$LAB_DIR/named.racks"
printf '77 n[0001-0006]\n' >"$LAB_DIR/named.jobs"
calls=open,openat,openat2,creat,socket,connect,bind,listen,sendto,sendmsg,execve,execveat,fork,vfork,clone,clone3
calls+=,kill,ptrace,memfd_create,pipe2,unlink,rename,mkdir,seccomp,landlock_restrict_self,capset
traced() { # jobs, readers, first...
	local e env=()

	for e in $(lab_env n0002); do env+=(-E "$e"); done
	(cd "$LAB_DIR/work" && timeout -k 2 60 strace -f -qq -o "$LAB_DIR/calls" -e "trace=$calls" "${env[@]}" "$IBROUTE_TOP" -b -n 2 -d 1 \
		--jobs "$1" --node-name-map "$LAB_DIR/named.map" --racks "$LAB_DIR/named.racks" --record-dir "$LAB_DIR/rec" \
		--state-dir "$LAB_DIR/state") || return 1
	python3 "$LAB_ROOT/tests/traced.py" "$LAB_DIR/calls" "${@:2}"
}
if (strace -f -qq -o /dev/null true) 2>"$LAB_DIR/why"; then
	ok "traced: the console's capabilities go before it reads, readers of files open and send nothing" traced "$LAB_DIR/named.jobs" 3 "$LAB_DIR/named"
	ok "traced: nor does libslurm's process start or write anything" traced slurm 2 "$LAB_DIR/named"
else
	skip "traced: strace cannot trace here ($(tail -n 1 "$LAB_DIR/why")): /proc has to do"
fi
# a file that does not end, so that its reader is there to be looked at
mkfifo "$LAB_DIR/endless"
exec 8<>"$LAB_DIR/endless"
printf '77 n[0001-0006]\n' >&8
# shellcheck disable=SC2046
lab_daemon reads env $(lab_env n0003) "$IBROUTE_TOP" -b -d 1 --jobs "$LAB_DIR/endless" --record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state"
reader_there() { reader=$(pgrep -P "$(cat "$LAB_DIR/reads.pid")" | head -n 1) && [ "$(field "$reader" Seccomp)" = 2 ]; }
ok "the reader of a jobs file is a process with a filter" lab_wait 20 reader_there
ok "it holds nothing" holds_nothing "$reader"
open_files() {
	local fd n=0

	for fd in "/proc/$reader/fd"/*; do
		[ "${fd##*/}" -gt 2 ] || continue
		n=$((n + 1))
		case $(readlink "$fd") in "$LAB_DIR/endless" | pipe:*) ;; *) echo "$fd: $(readlink "$fd")"; return 1 ;; esac
	done
	[ $n -eq 2 ]
}
ok "and has its file open, and a pipe" open_files
lab_kill reads
exec 8>&-

# --- an update: the watchdog that goes on alone ---
dirs=(--record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state")
ok "a plan" top plan -e minhop --fabric lab "${dirs[@]}" -o "$LAB_DIR/p"
ok "an update, detached" top apply --accept-slower "$LAB_DIR/p" "${dirs[@]}" --installer smp --without-agents --yes-fabric lab --detach --confirm-timeout 120
waits() { top status --state-dir "$LAB_DIR/state" | grep -i 'waits\|confirm'; }
ok "it waits to be confirmed" lab_wait 20 waits
all_hold_nothing() {
	local p n=0

	for p in $(pgrep -f -- '--watchdog (guard|worker)'); do
		grep -qz "IBSIM_SOCKNAME=$IBSIM_SOCKNAME" "/proc/$p/environ" 2>/dev/null || continue
		of_each_thread "$p" || return 1
		n=$((n + 1))
	done
	echo "$n processes"
	[ $n -ge 1 ]
}
ok "its watchdog holds nothing" lab_wait 10 all_hold_nothing
id=$(ls "$LAB_DIR/state" | grep -oE '[0-9]{8}T[0-9]{6}Z-[0-9]+' | head -n 1)
ok "and leads it back" top rollback "$id" "${dirs[@]}" --yes-fabric lab

confined_first() { # audit...: what reads records of others has given the rest up before it opens any
	strace -f -qq -o "$LAB_DIR/calls" -e trace=open,openat,landlock_restrict_self,seccomp "$IBROUTE_TOP" audit "$@" >"$LAB_DIR/said" ||
		{ cat "$LAB_DIR/said"; return 1; }
	awk '/landlock_restrict_self.* = 0/ {l = 1} /SET_MODE_FILTER, 0, .* = 0/ {s = 1} /jsonl/ && !(l && s) {print; bad = 1}
		END {exit bad || !l || !s}' "$LAB_DIR/calls"
}
if (strace -qq -o /dev/null true) 2>/dev/null && "$IBROUTE_TOP" --version | grep -q "landlock (ABI"; then
	mkdir "$LAB_DIR/out"
	ok "traced: audit verify can write, send and start nothing when it opens a record" confined_first verify "$LAB_DIR/rec"
	ok "traced: audit export can write into the folder of its file only" confined_first export --report "$id" -o "$LAB_DIR/out/report" "$LAB_DIR/rec"
	ok "and has written it" test -s "$LAB_DIR/out/report"
	ok "traced: audit seal into that of the records" confined_first seal "$LAB_DIR/rec"
	ok "traced: and audit prune" confined_first prune --keep-sessions 0 --state-dir "$LAB_DIR/state" "$LAB_DIR/rec"
	ok "which has removed some" grep -q "^[1-9][0-9]* file" "$LAB_DIR/said"
fi

# --- a user ---
mkdir "$LAB_DIR/home" && chown daemon "$LAB_DIR/home"
as_user() {
	cd "$LAB_DIR/home" || return 1
	# shellcheck disable=SC2046
	env $(lab_env n0003) HOME="$LAB_DIR/home" timeout 30 setpriv --reuid=daemon --regid=nogroup --clear-groups \
		"$IBROUTE_TOP" -b -n 1 --jobs none --record-dir "$LAB_DIR/home/rec" --state-dir "$LAB_DIR/home/state" >"$LAB_DIR/u" 2>&1 </dev/null
	local rc=$?
	cat "$LAB_DIR/u"
	[ $rc -eq 0 ] && grep -qiE 'switch|leaf' "$LAB_DIR/u"
}
ok "a user who may use the port needs nothing else" as_user
finish
