#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# collect.sh: what a collector costs at 1,400 hosts with 0 and 50 viewers, what it keeps a sample in, and how
# long its past takes to be read.  The simulated fabric is answered by the thread "poller", so that its CPU is
# told apart: it is the simulator's, too.  SPEC= VIEWERS= SECONDS_EACH=
set -u
cd "$(dirname "$0")/../.." || exit 2
I=$PWD/${B:-build}/ibroute-top
spec=${SPEC:-fattree2:leaves=78,spines=36,hosts=18}
n=${VIEWERS:-50} each=${SECONDS_EACH:-30}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT

"$I" collect --demo="$spec" --dir "$work/c" --state-dir "$work/s" 2>"$work/log" &
pid=$!
until "$I" --collector "$work/c" --json -n 1 >"$work/one" 2>/dev/null; do sleep 0.5; done
python3 - "$work/one" <<'EOF'
import json, sys
o = json.load(open(sys.argv[1]))["overview"]
print("%d switches, %d hosts" % (o["switches"], o["hosts"]))
EOF

# ticks of its threads but the poller, and of that one
ticks() {
	local t name a b
	own=0 poller=0
	for t in /proc/$pid/task/*; do
		name=$(cat "$t/comm")
		read -r a b < <(sed 's/.*) //' "$t/stat" | awk '{print $12, $13}')
		case $name in poller) poller=$((poller + a + b)) ;; *) own=$((own + a + b)) ;; esac
	done
}
share() { # what
	local o p hz
	hz=$(getconf CLK_TCK)
	ticks; o=$own p=$poller
	sleep "$each"
	ticks
	awk -v o=$((own - o)) -v p=$((poller - p)) -v hz="$hz" -v s="$each" -v what="$1" \
		-v kb="$(awk '/VmRSS/ {print $2}' /proc/$pid/status)" 'BEGIN {
		printf "%-12s %5.2f %% of a core (and %.2f %% where the fabric is simulated), %.0f MB\n", what, o * 100 / hz / s, p * 100 / hz / s, kb / 1024 }'
}
share "no viewers:"
# consoles, each on a terminal of its own; a key in each of ten of them, until its screen changes
python3 - "$I" "$work" "$n" "$each" <<'EOF' &
import fcntl, os, pty, select, struct, sys, termios, threading, time
top, work, n, each = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
ttys = []
for i in range(n):
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_STATE_HOME=work + "/home")
        os.execv(top, [top, "--collector", work + "/c"])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    ttys.append((pid, fd))
wanted = {}
def drain():
    while True:
        for fd in select.select([f for _, f in ttys], [], [], 1)[0]:
            try:
                data = os.read(fd, 1 << 16)
            except OSError:
                return
            if fd in wanted and wanted[fd][1] is None and data:
                wanted[fd][1] = time.monotonic()
threading.Thread(target=drain, daemon=True).start()
time.sleep(5 + each)
took = []
for i in range(100):
    fd = ttys[i % min(10, n)][1]
    time.sleep(.1)
    wanted[fd] = [time.monotonic(), None]
    os.write(fd, b"341245"[i % 6:i % 6 + 1]) # never to the view that a console is in: that draws nothing
    for _ in range(2000):
        if wanted[fd][1] is not None:
            break
        time.sleep(.001)
    took.append(((wanted[fd][1] or wanted[fd][0] + 2) - wanted[fd][0]) * 1000)
took.sort()
print("key to screen, %d consoles: median %.0f ms, 95 %% below %.0f ms, most %.0f ms" % (n, took[50], took[95], took[-1]))
for pid, fd in ttys:
    os.kill(pid, 15)
EOF
keys=$!
sleep 5
share "$n viewers:"
wait $keys

python3 - "$work/s/collector/history.db" <<'EOF'
import sqlite3, sys
db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
n, size = db.execute("SELECT count(*), avg(size) FROM frame WHERE kind = 4").fetchone()
whole, = db.execute("SELECT avg(length(body)) FROM frame WHERE kind = 4 AND base IS NULL").fetchone()
less, = db.execute("SELECT avg(length(body)) FROM frame WHERE kind = 4 AND base IS NOT NULL").fetchone()
# kept after 30 days: the last hour all, then every 10 s and minute as differences, then every 5 minutes a whole one
rows, wholes = 1800 + 23 * 360 + 6 * 1440, 23 * 288
print("a sample: %.0f kB, kept in %.0f kB, a whole one in %.0f; %d and %d of them for 30 days: %.2f GB" %
      (size / 1e3, less / 1e3, whole / 1e3, rows, wholes, (rows * less + wholes * whole) / 1e9))
EOF
make --no-print-directory -s "${B:-build}/tests/bench/history_read" && "${B:-build}/tests/bench/history_read" "$work/s/collector/history.db"
