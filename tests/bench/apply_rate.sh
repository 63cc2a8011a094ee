#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# apply_rate.sh [SPEC [PERCENT [ROUNDS [WAVES]]]]: apply_bench on ibsim with a stock opensm, and what
# it takes to read all counters (goal: 0.3 s, the median, where the fabric is the usual one).
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh

spec=${1:-fattree2:leaves=200,spines=50,hosts=7}
tool=$PWD/${B:-build}/tests/bench/apply_bench
lab_new || exit 2
lab_fabric "$spec" || exit 2
LAB_OPENSM_WAIT=${LAB_OPENSM_WAIT:-300} lab_opensm "routing_engine updn" || exit 2
# a sweep in between would only disturb
lab_opensm_stop
host=$(lab_hosts | sed -n 2p)
disk=${DISK:-$LAB_DIR/disk}
mkdir -p "$disk"
wiretool=$PWD/${B:-build}/tests/lab/wiretool
LAB_TIMEOUT=300 lab_on "$host" env TMPDIR="$disk" "$tool" "${2:-10}" "${3:-41}" "${4:-8}"
rc=$?
LAB_TIMEOUT=300 lab_on "$host" "$wiretool" bench 7 >"$LAB_DIR/wire.out" || { cat "$LAB_DIR/wire.out"; exit 2; }
awk '/^counters, all/ { print $(NF - 3) }' "$LAB_DIR/wire.out" | sort -n | awk '
	{ ms[NR] = $1 }
	END {
		if (!NR)
			exit 1
		m = ms[int((NR + 1) / 2)]
		printf "counters of all ports: %.1f ms a sweep (median of %d), goal 300 ms: %s\n",
			m, NR, m <= 300 ? "holds" : "MISSED"
	}' || exit 2
exit "$rc"
