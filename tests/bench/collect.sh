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
for _ in $(seq "$n"); do
	"$I" --collector "$work/c" --jsonl --view overview >/dev/null 2>&1 </dev/null &
done
sleep 5
share "$n viewers:"
kill $(jobs -p | grep -vx $pid) 2>/dev/null

python3 - "$work/s/collector/history.db" <<'EOF'
import sqlite3, sys
db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
n, size, packed = db.execute("SELECT count(*), avg(size), avg(length(body)) FROM frame WHERE kind = 4").fetchone()
# kept after 30 days: the last hour all, then every 10 s, minute, 5 minutes
rows = 1800 + 23 * 360 + 6 * 1440 + 23 * 288
print("a sample: %.0f kB, kept in %.0f kB; %d of them for 30 days: %.2f GB" % (size / 1e3, packed / 1e3, rows, rows * packed / 1e9))
EOF
make --no-print-directory -s "${B:-build}/tests/bench/history_read" && "${B:-build}/tests/bench/history_read" "$work/s/collector/history.db"
