#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# agent_socket.sh: users of a node against its agent: nobody speaks for a job of somebody else, no number of
# connections keeps root's questions or the job's own processes out, and what was put where the agent keeps its state
# is not believed.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
tool=$LAB_ROOT/$B/tests/lab/notice_tool

[ "$(id -u)" -eq 0 ] || { skip "agent_socket: only root can be other users"; finish; }
make -s -C "$LAB_ROOT" "$B/tests/lab/notice_tool" "$B/examples/agent_client" >/dev/null || give_up "the tools build"
lab_new || exit 1
chmod 755 "$LAB_DIR"
JUDGE_LOG=$LAB_DIR/judge
ulimit -n 4096
lab_fabric fattree2:leaves=3,spines=2,hosts=3 || give_up "the fabric"
LAB_SM=n0004 lab_opensm "routing_engine updn" "lmc 1" || give_up "opensm"

sock=$LAB_DIR/n0002.sock
# what these users may run: not what is in root's folders
python=$(PATH=/usr/bin:/bin command -v python3) || give_up "python3"
cp "$LAB_ROOT/tests/lab/socket_abuse.py" "$LAB_ROOT/$B/examples/agent_client" "$LAB_DIR/" && chmod a+rx "$LAB_DIR"/socket_abuse.py "$LAB_DIR/agent_client"
as() { (cd / && exec setpriv --reuid="$1" --regid=nogroup --clear-groups "${@:2}"); }
abuse() { as "$1" "$python" "$LAB_DIR/socket_abuse.py" "$sock" "${@:2}"; }
asks() { timeout 30 "$IBROUTE_TOP" agent "$@" --socket "$sock"; }
clients_of() { asks --status | grep -c "^client $1 "; }
has_clients() { [ "$(clients_of "$1")" -eq "$2" ] || { asks --status; return 1; }; }

: >"$LAB_DIR/agent-n0002.log"
# shellcheck disable=SC2046
lab_daemon agent-n0002 env $(lab_env n0002) "$IBROUTE_TOP" agent --job 42 --user daemon --state "$LAB_DIR/n0002.state" \
	--socket "$sock" --socket-mode 666 --drain-cmd true --migrate-cmd true --limit 5
ok "the agent is ready" lab_wait 20 grep -q '^ready lid ' "$LAB_DIR/agent-n0002.log"

# --- who speaks for a job ---
says() { # user, job, expected word
	abuse "$1" hello 0.5 "$2" >"$LAB_DIR/h"
	cat "$LAB_DIR/h"
	grep -q "^answers {'$3'" "$LAB_DIR/h"
}
ok "a user's HELLO for somebody else's job is refused" says nobody 42 ERROR
ok "so it is for a job that nobody has announced" says nobody 43 ERROR
ok "the job's user is welcome" says daemon 42 WELCOME
ok "root is" says root 42 WELCOME
verbs() {
	local v

	for v in STATUS 'END 42' 'ADD 99' 'ADD 42 65534' FORGET; do
		as nobody "$python" -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]); s.send(sys.argv[2].encode() + b"\n")
got = s.recv(300); print(sys.argv[2], got); sys.exit(not got.startswith(b"ERROR"))' "$sock" "$v" || return 1
	done
}
ok "a user asks the agent for nothing" verbs
ok "a job is added with its user" asks --add-job 77 --user nobody
ok "who then speaks for it" says nobody 77 WELCOME
ok "and for no other" says nobody 42 ERROR
in_prolog() { SLURM_JOB_UID=$(id -u nobody) asks --add-job 78 && says nobody 78 WELCOME && says daemon 78 ERROR; }
ok "a prolog's SLURM_JOB_UID says whose job it is" in_prolog
ok "the user of a job is known again after a restart" grep -qx "job 77 user $(id -u nobody)" "$LAB_DIR/n0002.state"

# --- places ---
for u in nobody daemon; do
	for k in 1 2; do abuse $u hello 12 "$([ $u = nobody ] && echo 77 || echo 42)" >"$LAB_DIR/h.$u.$k" 2>&1 & done
done
full() { [ "$(ls "/proc/$(cat "$LAB_DIR/agent-n0002.pid")/fd" | wc -l)" -gt 880 ]; }
ok "two users take all places that are not kept" lab_wait 10 full
ok "root asks for the status" asks --status
ok "root adds a job" asks --add-job 79
ok "root ends one" asks --end-job 79
ok "root's own process gets in" says root 42 WELCOME
wait
none_has_more() { cat "$LAB_DIR"/h.*; awk '/^held/ { n += $2 } END { exit !(n > 500 && n <= 896) }' "$LAB_DIR"/h.*; }
ok "they had no more than 896" none_has_more
ok "the job's user gets in again when they are gone" lab_wait 10 says daemon 42 WELCOME
for mode in idle half garbage flood; do
	abuse nobody $mode 3 >"$LAB_DIR/o" 2>&1 &
	sleep 1
	ok "$mode: root is answered" asks --status
	ok "$mode: the job's user gets in" says daemon 42 WELCOME
	wait
done
ok "the agent runs, its log is short" bash -c "kill -0 \$(cat '$LAB_DIR/agent-n0002.pid') && [ \$(wc -l <'$LAB_DIR/agent-n0002.log') -lt 300 ]"
said_in_log() { # names of jobs and clients that are more than text
	"$python" - "$sock" <<-'PY'
		import socket, sys
		# eight at once: what adds or ends a job is on disk before it is answered
		eights = [bytes(v for v in range(i, i + 8) if v not in (0, 10)) for i in range(0, 256, 8)]
		for c in [b"\x1b[2J", b"\xc2\x9b31m", b"\xff\xfe", b"\xe2\x80\xae", b"\x07", b"\r", b" "] + eights:
		    for line in (b"ADD 9" + c + b"9", b"END 9" + c, b"HELLO 1 42" + c + b" 7 base", b"HELLO 1 42 7 " + c, c + b"STATUS"):
		        s = socket.socket(socket.AF_UNIX)
		        s.settimeout(2)
		        s.connect(sys.argv[1])
		        s.send(line + b"\n")
		        try:
		            s.recv(200)
		        except OSError:
		            pass
		        s.close()
	PY
	"$IBROUTE_TOP" agent --status --socket "$sock" >"$LAB_DIR/status" || return 1
	python3 "$LAB_ROOT/tests/only_text.py" "$LAB_DIR/agent-n0002.log" "$LAB_DIR/status" "$LAB_DIR/n0002.state"
}
ok "every byte value in what clients say: log, status and state are text" said_in_log

# --- an update: nobody who is not of a job holds it up ---
abuse nobody hello 20 42 >"$LAB_DIR/h" 2>&1 &
veto=$!
# shellcheck disable=SC2046
lab_daemon listen env $(lab_env n0009) "$tool" listen 30 144
lab_wait 10 grep -q '^listening' "$LAB_DIR/listen.log"
ok "the agent is asked to drain" lab_on n0007 "$tool" send 68 100 1 1 0
ok "and says that it has, in spite of a user's HELLO for its job" lab_wait 8 grep -qE 'phase .* txn 100 seq 1' "$LAB_DIR/listen.log"
no_client() { ! asks --status | grep -E '^client 42 rank 1[0-9]{3}'; }
ok "that user's is none of its clients" no_client
kill $veto 2>/dev/null
wait

# --- the other way round: who listens ---
imposter=$LAB_DIR/work/imposter.sock
chmod 777 "$LAB_DIR/work"
as nobody "$python" -c 'import os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen(); time.sleep(30)' "$imposter" &
lab_wait 5 test -S "$imposter"
client() { as daemon timeout 5 "$LAB_DIR/agent_client" -s "$imposter" -j 42 -r 0 -q 1 2>&1 | tee "$LAB_DIR/c" | head -n 5; ! grep -qi 'connected\|WELCOME' "$LAB_DIR/c"; }
ok "a client does not believe another user's agent" client
not_asked() { ! "$IBROUTE_TOP" agent --status --socket "$imposter" >"$LAB_DIR/c" 2>&1 && grep 'neither root nor this user' "$LAB_DIR/c"; }
ok "nor does root ask it" not_asked

# --- state and socket in a folder of everybody's ---
lab_kill agent-n0002
D=$LAB_DIR/tmp
mkdir -m 1777 "$D"
agent() { # seconds, what is put there before: as the user daemon
	local rc

	# shellcheck disable=SC2046
	env HOME=/nonexistent $(lab_env n0002) timeout "$1" setpriv --reuid=daemon --regid=nogroup --clear-groups "$IBROUTE_TOP" agent \
		--job 5 --state "$D/agent.5" --socket "$D/agent.5.sock" --drain-cmd true --migrate-cmd true >"$LAB_DIR/a" 2>&1 </dev/null
	rc=$?
	cat "$LAB_DIR/a"
	rm -f "$D"/agent.5*
	return $rc
}
refuses() { # sentence
	agent 10
	[ $? -eq 4 ] && grep -q -- "$1" "$LAB_DIR/a"
}
cd "$LAB_DIR/work" || exit 1
as nobody touch "$D/agent.5.lock"
ok "another user's lock file: refused" refuses 'agent.5.lock'
as nobody "$python" -c 'import os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen(); time.sleep(6)' "$D/agent.5.sock" &
lab_wait 5 test -S "$D/agent.5.sock"
ok "another user listens there: named, and refused" refuses "user $(id -u nobody) listens"
wait $!
poison() {
	printf 'ibroute-agent 1\nboot %s\nport 0x%016x\nstate 18446744073709551614 4294967294 1 4 0 65535 1\njob 5\nend\n' \
		"$(cat /proc/sys/kernel/random/boot_id)" "$1" >"$D/agent.5"
}
guid=$((16#$(lab_on n0002 smpquery -D nodeinfo 0 | sed -n 's/^PortGuid:\.*0x//p')))
poison "$guid" && chown nobody "$D/agent.5" && chmod 644 "$D/agent.5"
ok "another user's state is not believed" refuses 'another user may have made it'
poison "$guid" && mv "$D/agent.5" "$D/x" && as nobody ln -s "$D/x" "$D/agent.5"
ok "nor one behind a link" refuses 'another user may have made it'
mkdir -m 777 "$D/all"
in_all() { D=$D/all refuses 'everybody may replace'; }
ok "a folder in which everybody may replace files is refused" in_all
mkdir -m 777 "$D/theirs" && chown nobody "$D/theirs"
in_theirs() { D=$D/theirs refuses 'could replace what is in it'; }
ok "and one of another user" in_theirs
own() {
	# shellcheck disable=SC2046
	env HOME=/nonexistent $(lab_env n0002) timeout 3 setpriv --reuid=daemon --regid=nogroup --clear-groups "$IBROUTE_TOP" agent \
		--job 5 --state "$D/agent.Xq3/state" --socket "$D/agent.Xq3/sock" --drain-cmd true --migrate-cmd true >"$LAB_DIR/a" 2>&1 </dev/null
	cat "$LAB_DIR/a"
	grep -q '^ready' "$LAB_DIR/a" && [ "$(stat -c %U:%a "$D/agent.Xq3")" = daemon:700 ]
}
ok "a folder of its own is made for it" own
finish
