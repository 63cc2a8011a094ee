#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# apply_rate.sh [SPEC [PERCENT [ROUNDS [WAVES]]]]: apply_bench on ibsim with a stock opensm, then the same
# through an opensm with our plugin (OSM_ROUNDS of 11, OSM_PERCENT of 100), whose Set() are counted, with the
# window that this program has (max_wire_smps 32) and with that which opensm has by itself (4), the bare
# loop's the same; and what it takes to read
# all counters (goal: 0.3 s, the median, where the fabric is the usual one): each port
# asked, and as the console does, which asks no port for errors whose switch's sum of them stands still.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh

PERCENT=${2:-10}
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
# The road of an update: the plugin judges, OpenSM writes what differs.
# With "qos TRUE" OpenSM compares the SL2VL tables of all pairs of ports of each switch in each routing,
# whatever it writes: 2.7 million here, as the spines have 200 ports.
by_opensm() { # window, qos, ms of a wave of one block at most
	local sock=$LAB_DIR/run/opensm.sock

	[ -f "$LAB_ROOT/${B:-build}/libibroute.so" ] || { echo "through OpenSM: not measured, no plugin was built"; return 0; }
	printf '%s\n' "engine updn" "threads 1" >"$LAB_DIR/policy.conf"
	UMAD_COUNT=$LAB_DIR/sets LAB_OPENSM_LIBS=$LAB_ROOT/${B:-build} lab_opensm "event_plugin_name ibroute" \
		"event_plugin_options ibroute_policy=$LAB_DIR/policy.conf ibroute_socket=$sock ibroute_confirmed=$LAB_DIR/kept.ibr" \
		"routing_engine ibroute,updn" "qos $2" "sweep_interval 0" "max_wire_smps $1" || return 2
	echo "through OpenSM, max_wire_smps $1, qos $2:"
	LAB_TIMEOUT=600 lab_on "$host" env TMPDIR="$disk" BENCH_SOCKET="$sock" BENCH_SETS="$LAB_DIR/sets" BENCH_WINDOW="$1" BENCH_FIXED="$3" \
		"$tool" "${OSM_PERCENT:-100}" "${OSM_ROUNDS:-11}"
	local rc=$?
	lab_opensm_stop
	return $rc
}
wiretool=$PWD/${B:-build}/tests/lab/wiretool
LAB_TIMEOUT=300 lab_on "$host" env TMPDIR="$disk" "$tool" "$PERCENT" "${3:-101}" "${4:-8}"
rc=$?
by_opensm 32 FALSE 20 || rc=$?
by_opensm 4 FALSE 20 || rc=$?
by_opensm 32 TRUE 250 || rc=$?
LAB_TIMEOUT=300 lab_on "$host" "$wiretool" bench 7 >"$LAB_DIR/wire.out" || { cat "$LAB_DIR/wire.out"; exit 2; }
# median_ms LINE TEXT: of the lines of wiretool that begin so
median_ms() {
	awk -v line="$1" 'index($0, line) == 1 { print $(NF - 5), $(NF - 3) }' "$LAB_DIR/wire.out" |
		sort -n -k 2 | awk -v text="$2" '
		{ ms[NR] = $2; mads[NR] = $1 }
		END {
			if (!NR)
				exit 1
			m = int((NR + 1) / 2)
			printf "counters of all ports, %s: %.1f ms a sweep, %d MADs (median of %d), goal 300 ms: %s\n",
				text, ms[m], mads[m], NR, ms[m] <= 300 ? "holds" : "MISSED"
		}'
}
median_ms "counters, all" "each asked for all it counts" || exit 2
median_ms "counters, with sums" "as the console reads them" || exit 2
exit "$rc"
