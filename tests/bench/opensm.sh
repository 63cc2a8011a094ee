# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# opensm.sh: runs of opensm with one of its engines over ibsim, which osm_clock ends once it has
# routed.  To be sourced.  Needs $peer, $clock, and $work, a folder with the net as "net" and the
# GUIDs of its roots as "roots", and for torus-2QoS its configuration as "torus"; $sm, the node on
# which opensm runs, and $sm_port, its port's GUID (that of generated nets); $hosts; $end and $LIMIT,
# seconds.
# opensm_routed SPEC PREFIX is called while its tables are in $work/osm.*

umad=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
[ -n "$umad" ] || { echo "bench: libumad2sim.so is missing (package ibsim-utils)" >&2; exit 2; }

sim=
osm=
# opensm runs below timeout, which passes signals on
stop_all() {
	[ -n "$osm" ] && kill "$osm" 2>/dev/null
	[ -n "$sim" ] && kill "$sim" 2>/dev/null
}

start_sim() {
	local sw hosts ports i

	read -r sw hosts ports <<<"$("$peer" size "$1")"
	export IBSIM_SOCKNAME=${work##*/}
	ibsim -s -n -N $((sw + hosts + 64)) -S $((sw + 64)) -P $((2 * ports + 2 * hosts + 4096)) \
		-L 49152 "$work/net" >"$work/ibsim.log" 2>&1 </dev/null &
	sim=$!
	for i in $(seq 600); do
		grep -aq 'simulator ready' "$work/ibsim.log" && return 0
		kill -0 "$sim" 2>/dev/null || break
		sleep 0.1
	done
	echo "bench: ibsim does not start: $(tail -n 2 "$work/ibsim.log" | tr '\n' ' ')" >&2
	return 1
}

stop_sim() {
	kill "$sim" 2>/dev/null
	wait "$sim" 2>/dev/null
	sim=
}

opensm_conf() {
	local engine=${1%%:*} spec=$2 lmc

	lmc=$(sed -n 's/.*[:,]lmc=\([0-7]\).*/\1/p' <<<"$spec")
	cat <<-CONF
	routing_engine $engine,no_fallback
	event_plugin_name osm_clock
	guid ${sm_port:-0x0001000000000001}
	lmc ${lmc:-0}
	qos TRUE
	max_op_vls 4
	max_wire_smps 64
	max_wire_smps2 64
	transaction_timeout 5000
	long_transaction_timeout 5000
	max_smps_timeout 60000000
	sweep_interval 0
	subnet_timeout 18
	use_ucast_cache FALSE
	log_flags 0x03
	CONF
	case $engine in
	updn | ftree) echo "root_guid_file $work/roots" ;;
	nue) echo "nue_max_num_vls ${1#*:}" ;;
	torus-2QoS) echo "torus_config $work/torus" ;;
	esac
}

# What OpenSM said and how it ended, for people.
why_not() {
	local rc=$1 limit=$2 said

	said=$(grep -a ERR "$work/osm.log" 2>/dev/null | grep -av 'umad_receiver\|vendor' | tail -n 1 |
		sed 's/.*\(ERR [0-9A-F]*:\)/\1/' | tr -d '"\\' | cut -c 1-200)
	case $rc in
	137 | 124) echo "not done in $limit s${said:+; $said}" ;;
	gave-up) echo "gave up${said:+: $said}" ;;
	139) echo "crashed (SIGSEGV)" ;;
	134) echo "crashed (SIGABRT)" ;;
	*) echo "failed (exit $rc)${said:+: $said}" ;;
	esac
}

# run_opensm ENGINE SPEC PREFIX: PREFIX.json and, when it routed, what opensm_routed makes of it
run_opensm() {
	local engine=$1 spec=$2 prefix=$3 rc left=$((end - SECONDS)) limit=$LIMIT

	[ "$left" -lt "$limit" ] && limit=$left
	if [ "$limit" -lt 5 ]; then
		echo '{"rc": -1, "skipped": true, "reason": "left out: no time"}' >"$prefix.json"
		return
	fi
	start_sim "$spec" || {
		echo '{"rc": -1, "reason": "ibsim does not start"}' >"$prefix.json"
		return
	}
	rm -rf "$work/osm"*
	mkdir -p "$work/cache" "$work/run"
	rm -f "$work/cache"/*
	opensm_conf "$engine" "$spec" >"$work/osm.conf"
	(cd "$work/run" && exec env SIM_HOST="$sm" OSM_TMP_DIR="$work" OSM_CACHE_DIR="$work/cache" \
		LD_LIBRARY_PATH="${clock%/*}" LD_PRELOAD="$umad:$clock" OSM_CLOCK_OUT="$work/osm" \
		OSM_CLOCK_SL="$((hosts <= 5000))" timeout -k 3 "$limit" \
		opensm -F "$work/osm.conf" -f "$work/osm.log" >"$work/osm.out" 2>&1 </dev/null) &
	osm=$!
	wait "$osm" 2>/dev/null
	rc=$?
	osm=
	stop_sim
	cp "$work/osm.log" "$prefix.log" 2>/dev/null
	if [ ! -s "$work/osm.json" ]; then
		echo "{\"rc\": -1, \"reason\": \"$(why_not "$rc" "$limit")\"}" >"$prefix.json"
	elif grep -q '"rc": 0' "$work/osm.json"; then
		cp "$work/osm.json" "$prefix.json"
		opensm_routed "$spec" "$prefix"
	else
		sed "s|}\$|, \"reason\": \"$(why_not gave-up "$limit")\"}|" "$work/osm.json" >"$prefix.json"
	fi
}
