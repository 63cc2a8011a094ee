#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# agent.sh: agents on two nodes of a fabric with a stock opensm: one with commands, one with clients on
# its socket.  notice_tool asks and hears the answers.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

tool=$PWD/build/tests/lab/notice_tool
client=$PWD/build/examples/agent_client
make -s "${tool#"$PWD/"}" "${client#"$PWD/"}" >/dev/null || give_up "notice_tool and the example client build"
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
lab_fabric fattree2:leaves=3,spines=2,hosts=3 || give_up "the fabric starts"
LAB_SM=n0004 lab_opensm "routing_engine updn" "lmc 1" || give_up "opensm brings the subnet up"

# A command that waits as long as there is a file of its name, then writes what it was told.
cat >"$LAB_DIR/hook" <<'END'
while [ -e "$1/hold.$IBROUTE_PHASE" ]; do sleep 0.05; done
echo "$IBROUTE_PHASE $IBROUTE_JOB $IBROUTE_TXN $IBROUTE_SEQ $IBROUTE_ESCAPE_OFFSET $IBROUTE_SAME_ROUTES" >>"$1/trace"
END
hook="sh $LAB_DIR/hook $LAB_DIR"
txn=100

agent() { # node, arguments...
	lab_start_agent "$1" "$1" --poll 1 --ask 2 --limit 3 "${@:2}"
}
agent2() { agent n0002 --job 42 --drain-cmd "$hook" --migrate-cmd "$hook"; }
agent5() { agent n0005; }

listen() {
	: >"$LAB_DIR/listen.log"
	# shellcheck disable=SC2046
	lab_daemon listen env $(lab_env n0009) "$tool" listen 200 144
	lab_wait 10 grep -q '^listening' "$LAB_DIR/listen.log"
}

# phase, txn, seq, flags.  Three times, as the first report to a node whose listener was killed goes to
# the dead one on ibsim.
say() { lab_on n0007 "$tool" send "$1" "$2" "$3" 3 "${4:-0}"; }
answered() {                                       # node, phase 2 or 4, seq, flags
	grep -q "^report 144 from lid $(lid_of "$1") .* phase $2 txn $txn seq $3 .* flags $4\$" "$LAB_DIR/listen.log"
}
answers() { lab_wait "${WAIT:-8}" answered "$@"; }
lid_of() { sed -n 's/^ready lid \([0-9]*\) .*/\1/p' "$LAB_DIR/agent-$1.log"; }
status_of() { "$IBROUTE_TOP" agent --status --socket "$LAB_DIR/$1.sock"; }
says() { status_of "$1" | grep -x -- "$2"; }
in_mode() { lab_wait 8 says "$1" "mode $2"; }
logged() { lab_wait 5 grep -- "$2" "$LAB_DIR/agent-$1.log"; }
traced() { lab_wait 5 grep -x -- "$*" "$LAB_DIR/trace"; }
killed() { kill -9 "$(cat "$LAB_DIR/agent-$1.pid")" && lab_wait 5 lab_dead "agent-$1"; }
# What the SM knows: records of one subscriber, few enough for a single datagram.
gid_of() { sed -n 's/^port 0x\(....\)\(....\)\(....\)\(....\)$/fe80:0:0:0:\1:\2:\3:\4/p' "$LAB_DIR/$1.state"; }
records() { lab_on n0009 saquery IIR "$(gid_of "$1")" | grep -oE 'trap_num\.+(68|69)$' | grep -oE '[0-9]+$' | sort | tr '\n' ' '; }
subscribed() { [ "$(records "$1")" = "$2" ]; }
not_ok() { tail -n 6 "$LAB_DIR"/agent-*.log "$LAB_DIR/listen.log" | sed 's/ details .* phase/ phase/; s/^/  # /'; }

# --- an update, with commands here and clients there ---
ok "an agent with commands is ready once it is subscribed" agent2
ok "one without jobs, too" agent5
ok "the SM has its subscriptions" subscribed n0002 "68 69 "
for r in 0 1; do
	lab_daemon "client$r" "$client" -s "$LAB_DIR/n0005.sock" -j 7 -r $r
done
two_clients() { [ "$(status_of n0005 | grep -c '^client 7 .* at base told -$')" -eq 2 ]; }
ok "two processes say HELLO" lab_wait 5 two_clients
ok "answers are listened to" listen
sleep 1 # for opensm to know of the capabilities that ibsim told of
ok "UNPATH is sent" say 68 $txn 1
ok "the node with commands answers" answers n0002 2 1 0
ok "the node with clients answers" answers n0005 2 1 0
ok "the drain command is told what it needs" traced "drain 42 $txn 1 1 0"
ok "and so is the one that migrates" traced "migrate 42 $txn 1 1 0"
ok "the clients are on the escape LIDs" grep -x 'rank 1: 8 queue pairs at LID offset 1' "$LAB_DIR/client1.log"
ok "who comes now begins there" bash -c "printf 'HELLO 1 7 9 base\nBYE\n' | timeout 5 python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.send(sys.stdin.buffer.read().split(b\"BYE\")[0]); print(s.recv(99).decode())
s.send(b\"BYE\\n\")' '$LAB_DIR/n0005.sock' | grep -x 'WELCOME 1 escape 1'"
say 68 $txn 2 >/dev/null
ok "an answer that is asked for again comes again" answers n0002 2 2 0
say 69 $txn 3 >/dev/null
ok "REPATH brings both back" answers n0002 4 3 0
ok "the clients, too" answers n0005 4 3 0
ok "they are back" lab_wait 5 two_clients

# --- killed in every mode ---
hook_lives() { pgrep -f "^sh $LAB_DIR/hook $LAB_DIR" >/dev/null; }
no_hook() { ! hook_lives; }
restart_in() { # mode, phase of the hook, question that leads there
	touch "$LAB_DIR/hold.$2"
	say "$3" $txn "$4" >/dev/null
	in_mode n0002 "$1" && killed n0002 && lab_wait 2 no_hook || return
	rm -f "$LAB_DIR/hold.$2"
	agent2
}
txn=101
ok "SIGKILL while draining: the command dies with the agent" restart_in draining drain 68 1
ok "started again it goes back and says that it failed" answers n0002 2 1 2
ok "it is in mode base" in_mode n0002 base
ok "SIGKILL while migrating" restart_in migrating migrate 68 2
ok "goes back and says that it failed" answers n0002 2 2 2
say 68 $txn 3 >/dev/null
ok "asked again it drains" answers n0002 2 3 0
ok "and the clients" answers n0005 2 3 0
escape_again() { killed n0002 && killed n0005 && agent2 && agent5; }
ok "SIGKILL to both on the escape LIDs" escape_again
ok "one asks what now" answers n0002 2 3 4
ok "so does the other" answers n0005 2 3 4
ok "and stays there" says n0002 "mode escape"
at_escape() { [ "$(status_of n0005 | grep -c '^client 7 .* at escape told -$')" -eq 2 ]; }
ok "its clients have come back by themselves" lab_wait 5 at_escape
ok "SIGKILL while returning" restart_in returning return 69 4
ok "goes on returning" answers n0002 4 4 0
ok "clients of an agent that was killed return" answers n0005 4 4 0
rm -f "$LAB_DIR/trace"
killed n0002
ok "SIGKILL in mode base" agent2
ok "brings nothing about" test ! -e "$LAB_DIR/trace"

# --- called off ---
txn=102
touch "$LAB_DIR/hold.drain"
say 68 $txn 1 >/dev/null
in_mode n0002 draining
say 69 $txn 2 1 >/dev/null
ok "an update that is called off ends the drain command" lab_wait 5 no_hook
ok "and is answered from the base LIDs" answers n0002 4 2 0
ok "the command of the way back is told that routes are as they were" traced "return 42 $txn 2 1 1"
rm -f "$LAB_DIR/hold.drain"

# --- who cannot, and who does harm ---
txn=103
ok "rubbish is hung up on" bash -c "printf 'GET / HTTP/1.0\n' | timeout 5 python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.send(sys.stdin.buffer.read()); print(s.recv(99).decode()); sys.exit(s.recv(99) != b\"\")' '$LAB_DIR/n0005.sock' | grep '^ERROR an unknown word'"
ok "and named" logged n0005 'pid [0-9]* of user .*: disconnected'
lab_daemon stuck "$client" -s "$LAB_DIR/n0005.sock" -j 8 -r 5 -x
lab_wait 5 says n0005 "client 8 rank 5 pid $(cat "$LAB_DIR/stuck.pid") at base told -"
say 68 $txn 1 >/dev/null
# first the drain's limit, then that of the way back, which the process does not take, either
WAIT=12 ok "who does not drain in time makes it fail" answers n0005 2 1 2
ok "and is named" logged n0005 'rank 5 of job 8 (pid [0-9]*) and 0 more have not responded'
say 69 $txn 2 1 >/dev/null
lab_kill stuck
ok "once it is gone the others are back" answers n0005 4 2 0
ok "in mode base" in_mode n0005 base

# --- another SM ---
lab_opensm_stop
LAB_SM=n0004 lab_opensm "routing_engine updn" "lmc 1" || give_up "opensm starts again"
ok "after a restart of opensm an agent subscribes again" lab_wait 15 subscribed n0002 "68 69 "
ok "the other, too" lab_wait 15 subscribed n0005 "68 69 "
lab_kill listen
listen
txn=104
say 68 $txn 1 >/dev/null
ok "and answers" answers n0002 2 1 0
ok "as does the other" answers n0005 2 1 0
say 69 $txn 2 >/dev/null
ok "and comes back" answers n0002 4 2 0
answers n0005 4 2 0

# --- from a prolog, as integration.md has it ---
prolog() { # job
	# shellcheck disable=SC2046
	awk '/^    #!\/bin\/sh$/ {on = 1} on && /^$/ {exit} on {sub(/^    /, ""); print}' console/manual/integration.md |
		sed "s|/run/ibroute-top/agent.sock|$LAB_DIR/n0003.sock|
			s|--daemon|--daemon --state $LAB_DIR/n0003.state --log $LAB_DIR/agent-n0003.log|
			s|/etc/ibroute-top/hook|'$hook'|g" >"$LAB_DIR/prolog"
	(cd "$LAB_DIR/work" && SLURM_JOB_ID=$1 PATH=${IBROUTE_TOP%/*}:$PATH timeout 20 \
		env $(lab_env n0003) sh "$LAB_DIR/prolog")
}
ok "the prolog of a job starts an agent in the background" prolog 51
ok "which is subscribed when it returns" subscribed n0003 "68 69 "
ok "that of a second job finds it" prolog 52
jobs_of() { [ "$(status_of n0003 | sed -n 's/^job //p' | tr '\n' ' ')" = "$1" ]; }
ok "it has both" jobs_of "51 52 "
txn=105
say 68 $txn 1 >/dev/null
ok "the first is drained" traced "drain 51 $txn 1 1 0"
ok "the second, too" traced "migrate 52 $txn 1 1 0"
answers n0002 2 1 0
say 69 $txn 2 >/dev/null
answers n0002 4 2 0
end_job() { "$IBROUTE_TOP" agent --end-job "$1" --socket "$LAB_DIR/n0003.sock"; }
ok "the epilog of the first" end_job 51
ok "leaves the agent to the second" jobs_of "52 "
end_job 52 >/dev/null
ok "with the last it ends" lab_wait 5 subscribed n0003 ""

# --- one agent for a node, and its end ---
second() {
	# shellcheck disable=SC2046
	timeout 20 env $(lab_env n0002) "$IBROUTE_TOP" agent --job 43 --state "$LAB_DIR/n0002.state" \
		--socket "$LAB_DIR/n0002.sock"
	[ $? -eq 4 ]
}
told_what_to_do() { second 2>&1 | grep -e "--add-job 43 --socket"; }
ok "a second agent for the same node is refused" second
ok "with what to do instead" told_what_to_do
ok "a job can be added" "$IBROUTE_TOP" agent --add-job 43 --socket "$LAB_DIR/n0002.sock"
txn=106
say 68 $txn 1 >/dev/null
ok "and is drained, too" traced "drain 43 $txn 1 1 0"
answers n0002 2 1 0
say 69 $txn 2 >/dev/null
answers n0002 4 2 0
ok "jobs end" "$IBROUTE_TOP" agent --end-job 42 --socket "$LAB_DIR/n0002.sock"
ok "all of them" "$IBROUTE_TOP" agent --end-job 43 --socket "$LAB_DIR/n0002.sock"
ok "and the agent with the last" lab_wait 5 lab_dead agent-n0002
ok "it has unsubscribed" subscribed n0002 ""
lab_kill agent-n0005
ok "so does one that gets SIGTERM" subscribed n0005 ""
ok "its socket is gone" test ! -e "$LAB_DIR/n0005.sock"
for r in 0 1; do lab_kill "client$r"; done

# --- by srun, as integration.md has it; the lab's slurmd stands on n0001 ---
srun_block() {
	sed -n '/^    export IBROUTE_AGENT_DIR=.*mktemp/,/^$/s/^    //p' console/manual/integration.md |
		sed "s|ibroute-top agent|env $(lab_env n0001) $IBROUTE_TOP agent --poll 1|
			s|\./my_program|$client|" >"$LAB_DIR/batch"
	grep -q '^export IBROUTE_AGENT_DIR=' "$LAB_DIR/batch" || return 1
	(cd "$LAB_DIR/work" && SLURM_JOB_ID=$1 TMPDIR=$LAB_DIR exec setsid timeout 60 bash "$LAB_DIR/batch" \
		>"$LAB_DIR/agent-n0001.log" 2>&1) &
	lab_wait 20 grep -q '^ready lid ' "$LAB_DIR/agent-n0001.log" &&
		lab_wait 10 grep -q 'rank 0 of job .* connected' "$LAB_DIR/agent-n0001.log"
}
lab_slurm || give_up "SLURM starts"
id=$(lab_job -J wrf -w n0001) || give_up "a job starts"
ok "a job brings its own agent by srun, and its program finds it" srun_block "$id"
folder=$(echo "$LAB_DIR"/agent.????????????)
unseen() {
	local lines
	lines=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ') # before grep has the name, too
	[ -d "$folder" ] && [[ $lines = *"--job $id "* && $lines != *"${folder##*/}"* ]]
}
ok "whose folder the list of processes does not show" unseen
cp "$folder/state" "$LAB_DIR/n0001.state"
txn=107
say 68 $txn 1 >/dev/null
ok "it is drained" answers n0001 2 1 0
ok "the program is on the escape LIDs" logged n0001 '^rank 0: 8 queue pairs at LID offset 1$'
say 69 $txn 2 >/dev/null
ok "and back" answers n0001 4 2 0
ok "the job is cancelled" lab_job_end "$id"
ok "its agent has unsubscribed" lab_wait 8 subscribed n0001 ""
wait
in_order() { ! grep 'while it was in flight' "$LAB_DIR"/client[01].log && grep -q 'exits$' "$LAB_DIR/client0.log"; }
ok "no request of the clients ever changed its path on the way" in_order
# ibsim's own have transaction id 0
swept() { awk '{ t = match($0, /.*\[[0-9A-F]+\]/) ? substr($0, RLENGTH - 8, 8) : "" }
	/Received Generic Notice .*num:144 / { ours[t] = !/TID:0x0000000000000000/ }
	/Forcing heavy sweep. Received trap:144/ { n += ours[t] }
	END { exit n != 0 }' "$LAB_DIR/osm/opensm.log"; }
ok "no answer made opensm sweep the fabric" swept
finish
