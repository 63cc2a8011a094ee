#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# idle.sh [SPEC [SECONDS]]: what an idle console costs over ibsim, 1,404 hosts by default: CPU of its
# own threads and of the one that ibsim's library starts in it, which a real port does not need; MADs
# and wake-ups an interval.  Nothing moves on the fabric but MADs.  Samples that come late, because the
# machine has other things to do, make all figures smaller: their age is on the last line.
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

calls() { # written: a MAD each, but for frames and the record; threads put to sleep
	echo "$(awk '/^syscw/ { print $2 }' "/proc/$1/io")" \
		"$(cat /proc/"$1"/task/*/status | awk '/^voluntary/ { n += $2 } END { print n }')"
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
calls=$(calls "$pid")
from=$(threads "$pid") start=$(date +%s%N)
sleep "$SECONDS_LONG"
to=$(threads "$pid") end=$(date +%s%N)
calls="$calls $(calls "$pid")"
echo "$from $to $((end - start))" | awk '{
	printf "idle over ibsim, own threads     %6.2f %% of a core  goal 2\n", 100 * ($3 - $1) / $5
	printf "  thread of the simulator        %6.2f %% of a core\n", 100 * ($4 - $2) / $5 }'
echo "$calls $((end - start))" | awk -v s=$INTERVAL '{
	n = $5 / 1e9 / s
	printf "MADs an interval of %d s          %7.0f\n", s, ($3 - $1) / n
	printf "wake-ups an interval             %7.0f\n", ($4 - $2) / n }'
tty_screen | grep -o 'age .*'
