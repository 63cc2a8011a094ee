#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# apply_rate.sh [SPEC [PERCENT [ROUNDS [WAVES]]]]: apply_bench on ibsim with a stock opensm, then the same
# through an opensm with our plugin (OSM_ROUNDS of 11, OSM_PERCENT of 100), whose Set() are counted, with the
# window that this program has (max_wire_smps 32) and with that which opensm has by itself (4), the bare
# loop's the same.  Just before each, how fast that opensm without our plugin writes LFT blocks: STOCK_ROUNDS
# of 5 first sweeps, in which it writes all.  Then what it takes to read
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
# Blocks a second that opensm writes by itself, by max_wire_smps; $stock is the median.
by_itself() { # window
	local k rates

	: >"$LAB_DIR/rates"
	for ((k = 0; k < ${STOCK_ROUNDS:-5}; k++)); do
		rm -f "$LAB_DIR/sets"
		"$PWD/${B:-build}/tests/bench/set_rate" "$LAB_DIR/sets" 120 >>"$LAB_DIR/rates" &
		UMAD_COUNT=$LAB_DIR/sets lab_opensm "routing_engine updn" "sweep_interval 0" "max_wire_smps $1" || return 2
		wait $! || { echo "OpenSM alone: no LFT block was seen to be written" >&2; return 2; }
		lab_opensm_stop
	done
	rates=$(sort -n -k 3 "$LAB_DIR/rates")
	stock=$(awk '{ v[NR] = $3 } END { print v[int((NR + 1) / 2)] }' <<<"$rates")
	echo "OpenSM without our plugin, max_wire_smps $1, writes $(awk 'NR == 1 { print $1 }' <<<"$rates") LFT blocks at" \
		"$stock a second (median of $k first sweeps, from $(awk 'NR == 1 { print $3 }' <<<"$rates") to $(awk 'END { print $3 }' <<<"$rates"))"
}
# The road of an update: the plugin judges, OpenSM writes what differs.
by_opensm() { # window, qos, ms of a wave of one block at most
	local sock=$LAB_DIR/run/opensm.sock

	[ -f "$LAB_ROOT/${B:-build}/libibroute.so" ] || { echo "through OpenSM: not measured, no plugin was built"; return 0; }
	printf '%s\n' "engine updn" "threads 1" >"$LAB_DIR/policy.conf"
	UMAD_COUNT=$LAB_DIR/sets LAB_OPENSM_LIBS=$LAB_ROOT/${B:-build} lab_opensm "event_plugin_name ibroute" \
		"event_plugin_options ibroute_policy=$LAB_DIR/policy.conf ibroute_socket=$sock ibroute_confirmed=$LAB_DIR/kept.ibr" \
		"routing_engine ibroute,updn" "qos $2" "sweep_interval 0" "max_wire_smps $1" || return 2
	echo "through OpenSM, max_wire_smps $1, qos $2:"
	LAB_TIMEOUT=600 lab_on "$host" env TMPDIR="$disk" BENCH_SOCKET="$sock" BENCH_SETS="$LAB_DIR/sets" BENCH_WINDOW="$1" BENCH_FIXED="$3" \
		BENCH_STOCK="$stock" "$tool" "${OSM_PERCENT:-100}" "${OSM_ROUNDS:-11}"
	local rc=$?
	lab_opensm_stop
	return $rc
}
wiretool=$PWD/${B:-build}/tests/lab/wiretool
LAB_TIMEOUT=300 lab_on "$host" env TMPDIR="$disk" "$tool" "$PERCENT" "${3:-101}" "${4:-8}"
rc=$?
by_itself 32 || exit 2
by_opensm 32 FALSE 10 || rc=$?
by_opensm 32 TRUE 10 || rc=$?
by_itself 4 || exit 2
by_opensm 4 FALSE 10 || rc=$?
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
