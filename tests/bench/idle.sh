#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# idle.sh [SPEC [SECONDS]]: what an idle console costs over ibsim, 1,404 hosts by default: CPU of its
# own threads and of the one that ibsim's library starts in it, which a real port does not need; MADs
# and system calls an interval (the latter with strace).  Nothing moves on the fabric but MADs.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/lab.sh
. tests/tty.sh
SPEC=${1:-fattree2:leaves=78,spines=18,hosts=18}
SECONDS_LONG=${2:-60}
INTERVAL=2

threads() { # of $1: nanoseconds on a CPU, "sim" or its name
	local t
	for t in /proc/"$1"/task/*; do
		if [ "${t##*/}" != "$1" ] && [ "$(cat "$t/comm")" = "$(cat /proc/"$1"/comm)" ]; then
			echo "$(cut -d' ' -f1 "$t/schedstat") sim"
		else
			echo "$(cut -d' ' -f1 "$t/schedstat") own"
		fi
	done | awk '{ s[$2] += $1 } END { printf "%d %d\n", s["own"], s["sim"] }'
}

lab_new || exit 1
trap 'tty_stop; lab_stop' EXIT
lab_fabric "$SPEC" && lab_opensm "routing_engine updn" || exit 1
cd "$LAB_DIR/work" || exit 1
# shellcheck disable=SC2046
tty_start 100x30 env $(lab_env "$(lab_hosts | sed -n 2p)") TERM=screen-256color LC_ALL=C.UTF-8 "$IBROUTE_TOP" \
	-d $INTERVAL --jobs none --record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state"
tty_wait 60 'EFI [0-9]' || exit 1
sleep 25 # routes, tables, and what stands still is known to
pid=$(tty_pid)
from=$(threads "$pid") start=$(date +%s%N)
sleep "$SECONDS_LONG"
to=$(threads "$pid") end=$(date +%s%N)
echo "$from $to $((end - start))" | awk '{
	printf "idle over ibsim, own threads     %6.2f %% of a core  goal 2\n", 100 * ($3 - $1) / $5
	printf "  thread of the simulator        %6.2f %% of a core\n", 100 * ($4 - $2) / $5 }'
if command -v strace >/dev/null; then
	timeout -s INT 20 strace -qq -f -c -p "$pid" -o "$LAB_DIR/calls" 2>/dev/null
	awk -v n=$((20 / INTERVAL)) '
		$NF == "write" { mads = $4 }
		$NF != "total" && $4 ~ /^[0-9]+$/ { all += $4 }
		END { printf "MADs an interval of %d s           %6.0f\n", '$INTERVAL', mads / n
		      printf "system calls an interval         %6.0f\n", all / n }' "$LAB_DIR/calls"
fi
