#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# collect.sh (KILLS=8): one collector and those who look on: batch output, a real terminal, other users, the
# past; kills, a full disk, a damaged history, strangers at the socket.
set -u
cd "$(dirname "$0")/.." || exit 2
top=$PWD
I=$top/${B:-build}/ibroute-top
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
. tests/tty.sh
. tests/judge.sh
work=$(mktemp -d)
chmod 755 "$work"
cd "$work" || exit 2
JUDGE_LOG=$work/log
pid=
cleanup() {
	[ "$BASHPID" = "$$" ] || return
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	tty_stop
	umount "$work/small" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 143' HUP INT TERM
demo=--demo=fattree2:leaves=6,spines=3,hosts=6
look=("$I" --collector "$work/c")

until_true() { # seconds, command...
	local end=$((SECONDS + $1 * ${PATIENCE:-4}))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -le "$end" ] || { echo "never: $*"; return 1; }
		sleep 0.1
	done
}
is() { # wanted exit code, command...; stdout and stderr into out and err
	local want=$1 rc
	shift
	timeout 120 "$@" >out 2>err </dev/null
	rc=$?
	cat err
	[ "$rc" -eq "$want" ] || { echo "exit $rc, wanted $want"; return 1; }
}
says() { # wanted exit code, pattern in stderr, command...
	local want=$1 pattern=$2
	shift 2
	is "$want" "$@" && grep -qE -- "$pattern" err
}
record=("$I" --collector "$work/c" --json -n 1)
answers() { "${record[@]}" >out 2>err </dev/null; }
# up [OPTION...]: a collector, which answers; its stderr goes to said
up() {
	"$I" collect "$demo" -d 0.5 --dir "$work/c" --state-dir "$work/state" --record-dir "$work/rec" "$@" 2>>"$work/said" &
	pid=$!
	until_true 20 answers
}
down() { # SIGNAL: and its exit code
	local rc
	kill "-$1" "$pid"
	wait "$pid" 2>/dev/null
	rc=$?
	pid=
	return $rc
}
field() { python3 -c "import json; r = json.load(open('out')); print(r$1)"; }
# the times of samples that are kept, in ms, by its own reader of SQLite
kept_ms() { python3 - "$work/state/collector/history.db" <<'EOF'
import sqlite3, sys
for (t,) in sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True).execute(
        "SELECT time_ms FROM frame WHERE kind = 4 ORDER BY time_ms"):
    print(t)
EOF
}
kept_for() { [ "$(kept_ms | wc -l)" -ge "$1" ]; }

# a record that its owner alone may read
mkdir -m 700 "$work/rec" && echo '{"type":"session.start"}' >"$work/rec/20261120T010203Z-7.jsonl"

# --- looking on ---
ok "a collector starts, and answers" up
first_pid=$pid
valid_views() {
	local v
	for v in overview links ports switches jobs events heatmap; do
		is 0 "${look[@]}" --json -n 1 --view $v && python3 "$top/tests/schema.py" record out || return
	done
}
ok "batch output in all views, by way of it, is what the schema says" valid_views
sees_it_all() {
	is 0 "${record[@]}" || return
	[ "$(field '["source"]')" = "collector demo ${demo#*=}" ] || { field '["source"]'; return 1; }
	[ "$(field '["overview"]["hosts"]')" = 36 ] && [ "$(field '["overview"]["jobs"]["state"]')" = ok ] &&
		[ "$(field '["overview"]["jobs"]["running"]')" -gt 0 ] &&
		[ "$(field '["overview"]["sm"]["state"]')" = master ] &&
		[ "$(field '["overview"]["routes"]["deadlock_free"]')" = True ]
}
ok "the fabric, jobs, the SM and the routing are known" sees_it_all
same_samples() {
	local a b
	for _ in 1 2 3 4 5 6 7 8; do
		"${look[@]}" --jsonl -n 2 --view ports --fields port,tx_Bps >one 2>/dev/null &
		"${look[@]}" --jsonl -n 2 --view ports --fields port,tx_Bps >two 2>/dev/null
		wait $!
		a=$(tail -n 1 one | python3 -c 'import json,sys; print(json.load(sys.stdin)["ports"])')
		b=$(tail -n 1 two | python3 -c 'import json,sys; print(json.load(sys.stdin)["ports"])')
		[ -n "$a" ] && [ "$a" = "$b" ] && return 0
	done
	return 1
}
ok "two who look at once see the same sample" same_samples
ok "--check has its exit code" is 0 "${look[@]}" --check -n 1 --view links --filter 'tx_Bps<0'
prom() {
	timeout 60 "${look[@]}" --prom -n 1 >out 2>err || return
	grep -q '^ibroute_up.* 1$' out && grep -q '^ibroute_collector_up.* 1$' out && grep -q '^ibroute_history_up.* 1$' out
}
ok "Prometheus's text comes by way of it, too" prom
simulated() {
	tty_start 100x30 env TERM=screen-256color LC_ALL=C.UTF-8 sh -c '"$@" 2>'"$work/rw.err"'; echo $? >'"$work/rw.rc" sh "${look[@]}" --rw
	until_true 20 [ -s "$work/rw.rc" ]
	tty_stop
	[ "$(cat "$work/rw.rc")" = 255 ] && grep -q 'is simulated' "$work/rw.err"
}
ok "nothing can be written to a fabric that is simulated elsewhere, and that is said" simulated
ok "nobody there is said" says 255 'no collector' "$I" --collector "$work/none" -b -n 1
ok "a second one for the folder is refused" says 255 'running there already' \
	"$I" collect "$demo" --dir "$work/c" --history none

# --- whose folder, whose sockets ---
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cp "$I" "$work/ibroute-top" && chmod 755 "$work/ibroute-top"
if [ "$(id -u)" = 0 ] && "${as_nobody[@]}" true 2>/dev/null; then
	ok "who is in no group may not look" says 255 'group ibroute-look' \
		"${as_nobody[@]}" env HOME="$work" "$work/ibroute-top" --collector "$work/c" -b -n 1
	chmod 666 "$work/c/look"
	ok "who may look needs no other right" is 0 \
		"${as_nobody[@]}" env HOME="$work" "$work/ibroute-top" --collector "$work/c" -b -n 1
	records_told() {
		tty_start 100x30 "${as_nobody[@]}" env HOME="$work" TERM=screen-256color LC_ALL=C.UTF-8 IBROUTE_RECORD_DIR="$work/rec" \
			"$work/ibroute-top" --collector "$work/c"
		tty_wait 30 'hosts 36' && tty_keys 9 && tty_keys V && tty_wait 20 '2026-11-20 01:02:03.*not verified' &&
			tty_wait 5 'index of the collector'
	}
	ok "nor who wants to know which sessions there are records of" records_told
	tty_stop
	mkdir -p "$work/theirs" && chown 65534 "$work/theirs"
	ok "a folder of another user is not believed" says 255 "must be root's" \
		"$I" --collector "$work/theirs" -b -n 1
else
	skip "other users: not root"
fi

# --- strangers at the socket ---
garbage() {
	python3 - "$work/c/ask" <<'EOF'
import os, socket, struct, sys
def say(data, wait=True):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(30)
    s.connect(sys.argv[1])
    try:
        s.sendall(data)
        while wait and s.recv(1 << 20):
            pass
    except (ConnectionResetError, BrokenPipeError):
        pass
    return s
say(b"GET / HTTP/1.1\r\n\r\n" * 100)
say(struct.pack("<IIIIq", 0x32726269, 1 << 30, 64, 0, 0))
say(struct.pack("<IIIIq", 0x32726269, 1, 65, 0, 0) + b"\xff")
say(struct.pack("<IIIIq", 0x32726269, 24, 64, 0, 0)[:10] , False)
idle = [say(b"", False) for _ in range(400)]
EOF
	is 0 "${record[@]}"
}
ok "garbage, half questions and 400 who say nothing change nothing" garbage
ok "it is the same collector" kill -0 "$first_pid"

# --- commands read from it, too ---
commands() {
	local c
	for c in "paths n0001 n0030" "plan -e minhop --jobs none" "compare --engine minhop,updn --jobs none" "topology --slurm" "dump-lfts" "baseline --state-dir $work/state"; do
		# shellcheck disable=SC2086
		is 0 "$I" $c --collector "$work/c" && grep -q "the collector's" err || return
	done
}
ok "paths, plan, compare, topology and dump-lfts read from it" commands
path_loads() { is 0 "$I" paths n0001 n0030 --json --collector "$work/c" && [ "$(field '["now"]["hops"][0]["util_pct"] is not None')" = True ]; }
ok "with the load of the links" path_loads
ok "a collector that was named and is not there is said" says 255 'no collector' "$I" dump-lfts --collector "$work/none"

# --- the past ---
ok "samples are kept" until_true 20 kept_for 12
earlier() {
	local now was
	is 0 "${record[@]}" && now=$(field '["ts"]') && is 0 "${record[@]}" --at -3s || return
	python3 "$top/tests/schema.py" record out || return
	was=$(field '["at"]["ts"]')
	echo "$was $now"
	[[ $was < $now ]] && [ "$(field '["overview"]["hosts"]')" = 36 ] &&
		[ "$(field '["overview"]["routes"]["deadlock_free"]')" = True ]
}
ok "--at -3s is the fabric of then, with its routing" earlier
log_of_then() { is 0 "${record[@]}" --at -3s --view events && grep -q '"area": *"sweep"' out; }
ok "and its log" log_of_then
screen_of_then() { is 0 "${look[@]}" -n 1 --screen "$1" --ascii --do "$2" && grep -q "$3" out; }
ok "a screen of that moment, by a command that is typed" screen_of_then overview "at -3s" "HIST "
ok "and one that holds it against now" screen_of_then links "against -3s" " then change "
ok "and why there is none" screen_of_then overview "at 2020-01-01" 'nothing is kept from before'
activity() {
	is 0 "${look[@]}" --json -n 1 --view activity && python3 "$top/tests/schema.py" record out || return
	[ "$(field '["activity"][0]["kind"]')" = baseline ] && [ "$(field '["activity"][0]["state"]')" = learnt ] &&
		is 0 "${look[@]}" -b -n 1 --view activity && grep -q '^20.*Z  baseline  learnt' out
}
ok "it keeps who has changed what: the baseline that it has learnt" until_true 20 activity
ok "of which nobody knows without it" says 1 'none is read from' "$I" $demo --collector none --json -n 1 --view activity
against() {
	is 0 "${look[@]}" --json -n 1 --view links --against -3s --fields link,util_pct,util_then_pct,util_change_pct || return
	python3 - <<-'EOF'
	import json
	rows = json.load(open("out"))["links"]
	known = [r for r in rows if r["util_change_pct"] is not None]
	assert len(known) == len(rows) > 10, (len(known), len(rows))
	assert all(abs(r["util_pct"] - r["util_then_pct"] - r["util_change_pct"]) < .02 for r in rows), rows[:3]
	EOF
}
ok "--against holds rates against those of another moment" against
ok "what is from before it began is said" says 1 'nothing is kept from before' "${record[@]}" --at 2020-01-01
ok "a time that is none, too" says 1 'not a time that has been' "${record[@]}" --at soon

tty_start 100x30 env TERM=screen-256color LC_ALL=C.UTF-8 "${look[@]}"
ok "a console opens on it" tty_wait 30 'hosts 36'
ok "it says whose fabric it shows" tty_wait 10 'source: coll'
back() { # until the title has HIST with the day's time and no count: from before this session
	local i
	for i in $(seq 40); do
		tty_keys '['
		sleep 0.2
		tty_screen | grep -qE 'HIST ([0-9]+ [A-Z][a-z]+ )?[0-9:]+ \(L: live\)' && return 0
	done
	tty_screen | head -n 8
	return 1
}
ok "[ goes back beyond its own start" back
at1=$(tty_screen | grep -oE 'HIST [0-9:]+')
farther() { local b; tty_keys '['; sleep 0.3; b=$(tty_screen | grep -oE 'HIST [0-9:]+ \(L'); [ -n "$b" ] && [[ "${b% (L}" < "$at1" ]]; }
ok "and farther" until_true 10 farther
forth() {
	local i
	for i in $(seq 60); do
		tty_keys ']'
		sleep 0.1
		tty_screen | grep -qE 'HIST [0-9:]+ -[0-9]+/|LIVE' && return 0
	done
	tty_screen | head -n 8
	return 1
}
ok "] comes back into this session" forth
tty_keys L
ok "L is now" tty_wait 10 'LIVE'
tty_type ':at -6s'
tty_keys Enter
ok ":at goes to a time" tty_wait 10 'HIST'
tty_keys L
tty_type ':against -6s'
tty_keys Enter
ok ":against holds the present against a time" tty_wait 10 'LIVE [0-9.]+s vs [0-9:]+'
tty_type ':against'
tty_keys Enter
ok "and no longer" tty_wait 10 'against no other moment'
tty_type ':at 2020-01-01'
tty_keys Enter
ok ":at says what is not kept" tty_wait 10 'nothing is kept from before'

# --- kills ---
down KILL
ok "a console says that its collector has gone" tty_wait 10 'LOST'
ok "after a kill another one takes its place" up
ok "and the console goes on" tty_wait 20 'LIVE'
tty_keys q
tty_stop
kills() {
	local i t last
	for i in $(seq "${KILLS:-8}"); do
		sleep "0.$((RANDOM % 10))"
		t=$(date +%s%3N)
		down KILL
		last=$(kept_ms | tail -n 1)
		echo "killed at $t, last sample $last"
		# its samples are half a second apart, and a machine may be slow; but not lost
		[ $((t - last)) -lt 4000 ] || return
		up || return
	done
}
ok "${KILLS:-8} kills lose at most the last sample" kills
ok "no message of a damaged history among them" eval '! grep -q damaged "$work/said"'
ok "SIGTERM ends it with 0" down TERM
ok "and its sockets go" eval '! [ -e "$work/c/look" ] && ! [ -e "$work/c/ask" ]'

# --- the disk, and the file ---
full_disk() {
	up --history "$work/small/h.db" || return
	until_true 30 grep -q 'history: nothing is kept until this is mended' "$work/said" || return
	is 0 "${record[@]}" && until_true 10 history_is 0
}
history_is() { timeout 60 "${look[@]}" --prom -n 1 2>/dev/null | grep -q "^ibroute_history_up.* $1$"; }
# with the fabric, which may have been found while it was full
room() {
	mount -o remount,size=50m "$work/small" && until_true 30 grep -q 'history: samples are kept again' "$work/said" &&
		until_true 10 history_is 1 && until_true 10 "${record[@]}" --at -1s && down TERM
}
mkdir "$work/small"
if mount -t tmpfs -o size=300k none "$work/small" 2>/dev/null; then
	ok "a full disk is told, also to Prometheus, and the rest goes on" full_disk
	ok "with room again it is kept again, and told" room
	umount "$work/small"
else
	skip "a full disk: no mount here"
fi
damage() {
	printf 'this was a database' | dd of="$work/state/collector/history.db" conv=notrunc 2>/dev/null
	up && grep -q 'history.db was damaged' "$work/said" &&
		ls "$work"/state/collector/history.db.damaged-* && until_true 20 kept_for 2
}
ok "a damaged history is set aside, and a new one begins" damage
down TERM
ok "--history none keeps nothing" up --history none
ok "and says so" says 1 'keeps no history' "${record[@]}" --at -3s
down TERM

# --- alerts ---
alerted() {
	up --history none --on-event 'echo "$IBROUTE_ALERT_WHAT: $IBROUTE_ALERT_TEXT" >>alerts' --event-level info || return
	until_true 20 grep -q 'sweep: .*9 switches' alerts && down TERM
}
ok "--on-event tells what happens" alerted

# --- systemd ---
activated() {
	python3 - "$I" "$demo" "$work" <<'EOF' &
import os, socket, sys
top, demo, work = sys.argv[1:]
os.makedirs(work + "/given", exist_ok=True)
os.chmod(work + "/given", 0o755)
kept = []
for name, fd in (("look", 3), ("ask", 4)):
    s = socket.socket(socket.AF_UNIX)
    s.bind(work + "/given/" + name)
    s.listen(8)
    t = os.dup2(s.fileno(), 10 + fd)
    kept.append((t, fd))
for t, fd in kept:
    os.dup2(t, fd)
    os.set_inheritable(fd, True)
os.environ["LISTEN_PID"], os.environ["LISTEN_FDS"] = str(os.getpid()), "2"
os.execv(top, [top, "collect", demo, "-d", "0.5", "--dir", work + "/given", "--history", "none"])
EOF
	pid=$!
	until_true 20 "$I" --collector "$work/given" --json -n 1 || return
	kill -TERM $pid && wait $pid
	[ -e "$work/given/look" ] # it is systemd's
}
ok "it takes sockets that systemd has opened" activated
pid=
begun_by_a_viewer() { # sockets of these names, in turn
	rm -rf "$work/given" && mkdir -m 755 "$work/given" || return
	systemd-socket-activate -l "$work/given/${1%:*}" -l "$work/given/${1#*:}" --fdname="$1" \
		"$I" collect "$demo" -d 0.5 --dir "$work/given" --history none >activate.log 2>&1 &
	pid=$!
	until_true 10 [ -S "$work/given/${1#*:}" ] && ! [ -e "$work/given/lock" ] || return
	until_true 20 "$I" --collector "$work/given" --json -n 1 || { cat activate.log; return 1; }
	[ -e "$work/given/lock" ] && kill -TERM $pid && wait $pid
}
if command -v systemd-socket-activate >/dev/null; then
	ok "its first viewer starts it" begun_by_a_viewer look:ask
	ok "whatever the order of the sockets" begun_by_a_viewer ask:look
	pid=
else
	skip "a viewer that starts it: no systemd-socket-activate"
fi

if command -v systemd-analyze >/dev/null; then
	sed "s,/usr/local/bin/ibroute-top,$I," "$top/console/ibroute-top-collect.service" >ibroute-top-collect.service
	cp "$top"/console/ibroute-top-collect-{look,ask}.socket .
	ok "systemd finds nothing wrong with the unit files" systemd-analyze verify --man=no "$work/ibroute-top-collect.service" \
		"$work/ibroute-top-collect-look.socket" "$work/ibroute-top-collect-ask.socket"
	sockets() { # where the collector has its own, for the same groups, and those that it knows by name
		local k

		for k in look:ibroute-look ask:ibroute; do
			grep -qx "ListenStream=/run/ibroute-collector/${k%:*}" ibroute-top-collect-${k%:*}.socket &&
				grep -qx "FileDescriptorName=${k%:*}" ibroute-top-collect-${k%:*}.socket &&
				grep -qx "SocketGroup=${k#*:}" ibroute-top-collect-${k%:*}.socket || return
		done
		grep -q '"/run/ibroute-collector"' "$top/console/collector/collector_dir.h" &&
			grep -q '"ibroute-look"' "$top/console/collector/collector_dir.h"
	}
	ok "its sockets are where viewers look" sockets
else
	skip "the unit files: no systemd-analyze"
fi

# --- where nothing is said ---
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	cat >usual.sh <<EOF
mount -t tmpfs -o mode=755 none /run || exit 3
umask 077
mkdir /run/ibroute-top # as the plugin makes it: nobody else's
"$I" collect "$demo" -d 0.5 --state-dir "$work/state2" --history none 2>/dev/null &
for i in \$(seq 200); do
	[ -e /run/ibroute-collector/look ] && break
	sleep 0.1
done
timeout 60 "$I" --json -n 1 >usual.out 2>usual.err
rc=\$?
chmod 666 /run/ibroute-collector/look
timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work" "$work/ibroute-top" --json -n 1 >nobody.out 2>nobody.err || rc=4
kill \$!
wait
exit \$rc
EOF
	ok "where there is one, it is read from without a word" unshare -m bash usual.sh
	ok "and that is what was read" grep -q '"source": *"collector demo' usual.out
	ok "by another user, too, beside the private folder of the plugin" grep -q '"source": *"collector demo' nobody.out
else
	skip "the usual folder: no namespaces here"
fi
finish
