#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.sh [--json]: our engines beside OpenSM's, on the same nets in the same run.
#
# For each net: ibsim and opensm with each of its engines, whose tables are taken out and judged
# by our verifier and metrics, and our engine of the same kind in a process of its own.  Then the
# budgets that single runs of our engines can show, then a month of jobs.
#
#   NETS=small|all|NAME,...   from the list below (small: what ends in 10 minutes on 2 cores)
#   ENGINES=NAME,...          that both have: minhop updn ftree dor sssp dfsssp nue:8 nue:1
#   OURS=NAME,...             that OpenSM does not have (dfdn)
#   LIMIT=SECONDS             for one run of opensm, discovery included (150; all: 1800)
#   TIME=SECONDS              for all of them; runs that would begin later are left out
#                             (400; all: no limit)
#   NETS=none                 none of them: make bench-budgets
#   BUDGETS=0, MONTH=0        leave that part out; BUDGETS=all: with those that take longer
#   OUT=DIR                   all that is kept: bench.json, and results and logs of every run
#   --json                    bench.json on stdout, the table on stderr
#
# CPU seconds of OpenSM: of the thread that routes, from the engine's hop matrices to the last
# entry of its forwarding tables (osm_clock.c).  Ours: the whole engine, one thread.  Where
# either of both did not route the net there is no ratio.
set -u
PATH=$PATH:/usr/sbin:/sbin
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 2
B=${B:-build}
peer=$root/$B/tests/bench/peer
clock=$root/$B/tests/bench/libosm_clock.so
NETS=${NETS:-small}
ENGINES=${ENGINES:-minhop,updn,ftree,dor,sssp,dfsssp,nue:8,nue:1}
OURS=${OURS-dfdn}
OUT=${OUT:-$root/$B/bench}
[ "$NETS" = all ] && { : "${LIMIT:=1800}"; : "${TIME:=1000000}"; }
: "${LIMIT:=150}" "${TIME:=400}"
json=0
[ "${1:-}" = --json ] && json=1

nets() {
	cat <<-'LIST'
	small tree2-324       fattree2:leaves=18,spines=18,hosts=18
	small chain-lmc7      mesh:dims=8,hosts=20,lmc=7
	small slimfly-5       slimfly:q=5
	small torus-4x4x4     torus:dims=4x4x4,hosts=4
	small dragonfly-3     dragonfly:p=3
	small hyperx-12x8     hyperx:dims=12x8,hosts=7
	small hyperx-f15      hyperx:dims=12x8,hosts=7,fail=15
	small slimfly-7       slimfly:q=7
	small random-125      random:switches=125,links=1000,hosts=8,seed=1
	small kary-1100       kary:k=10,n=3,hosts=11
	small dragonfly-4     dragonfly:p=4
	small tree3-1350      fattree3:pods=5,leaves=18,aggs=18,cores=3,parallel=6,hosts=15
	small dragonfly-g15   dragonfly:a=12,p=6,h=6,g=15
	small torus-7x7x7     torus:dims=7x7x7,hosts=6        updn,dor,sssp,nue:8
	small kautz-150       kautz:b=5,n=3,hosts=7,links=2
	small dragonfly-8     dragonfly:p=8                   sssp
	small torus-6x5x5     torus:dims=6x5x5,hosts=7,links=4
	large torus-7x7x7     torus:dims=7x7x7,hosts=6
	large torus-7x7x7-f1  torus:dims=7x7x7,hosts=6,fail=1%
	large slimfly-11      slimfly:q=11
	large dragonfly-5     dragonfly:p=5
	large slimfly-13      slimfly:q=13
	large dragonfly-6     dragonfly:p=6
	large tree3-11664     fattree3:k=36
	large dragonfly-8     dragonfly:p=8
	LIST
}

# NAME SPEC ENGINES; those of the list only where the net was not asked for by name
wanted_nets() {
	local group name spec only

	nets | while read -r group name spec only; do
		case ",$NETS," in
		*,all,* | *",$name,"*) [ -z "$only" ] && echo "$name $spec $ENGINES" ;;
		*",$group,"*) echo "$name $spec ${only:-$ENGINES}" ;;
		esac
	done
}

[ "$NETS" = none ] && NETS=
for word in ${NETS//,/ }; do
	nets | awk -v w="$word" 'BEGIN { ok = w == "all" } $1 == w || $2 == w { ok = 1 }
		END { exit !ok }' || {
		echo "bench: there is no net \"$word\"; small, all, or: $(nets | awk '{ printf "%s ", $2 }')" >&2
		exit 64
	}
done
for file in "$peer" "$clock" "$B/ibroute-top"; do
	[ -x "$file" ] || { echo "bench: $file is missing; run it by: make bench" >&2; exit 2; }
done
umad=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
[ -n "$umad" ] || { echo "bench: libumad2sim.so is missing (package ibsim-utils)" >&2; exit 2; }

rm -rf "$OUT"
mkdir -p "$OUT" || exit 2
OUT=$(cd "$OUT" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2
sim=
osm=
# opensm runs below timeout, which passes signals on
stop_all() {
	[ -n "$osm" ] && kill "$osm" 2>/dev/null
	[ -n "$sim" ] && kill "$sim" 2>/dev/null
	rm -rf "$work"
}
trap stop_all EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
[ "$json" = 1 ] && exec 3>&1 1>&2

report() {
	python3 tests/bench/report.py "$@"
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
	guid 0x0001000000000001
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

# run_opensm ENGINE SPEC PREFIX: PREFIX.json and, when it routed, PREFIX.judged
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
		PEER_THREADS=0 "$peer" judge "$spec" "$work/osm" >"$prefix.judged" 2>"$prefix.err"
		sed -n 's/.*Virtual Lanes needed: \([0-9]*\).*/{"vls_needed": \1}/p' "$work/osm.log" |
			tail -n 1 >"$prefix.vls"
	else
		sed "s|}\$|, \"reason\": \"$(why_not gave-up "$limit")\"}|" "$work/osm.json" >"$prefix.json"
	fi
}

# run_ours ENGINE SPEC PREFIX
run_ours() {
	local engine=$1 spec=$2 prefix=$3 roots=

	[ -s "$prefix.json" ] && return
	[ "$engine" = updn ] && roots=$work/roots
	timeout -s KILL "$LIMIT" "$peer" route "$spec" "$engine" $roots >"$prefix.json" 2>"$prefix.err" ||
		echo "{\"rc\": -1, \"reason\": \"$(tr -d '"\\' <"$prefix.err" | cut -c 1-200 | tail -n 1)\"}" \
			>"$prefix.json"
}

end=$((SECONDS + TIME))
[ -n "$NETS" ] && report head
while read -r name spec engines; do
	read -r switches hosts _ <<<"$("$peer" size "$spec")"
	"$B/ibroute-top" topo "$spec" >"$work/net" || exit 2
	"$peer" roots "$spec" >"$work/roots" || exit 2
	sm=$(awk -F '"' '/^Ca/ { print $2; exit }' "$work/net")
	for engine in ${engines//,/ }; do
		run_ours "$engine" "$spec" "$OUT/$name.$engine.ours"
		run_opensm "$engine" "$spec" "$OUT/$name.$engine.opensm"
		report line "$OUT" "$name" "$spec" "$switches" "$hosts" "$engine"
	done
	for engine in ${OURS//,/ }; do
		run_ours "$engine" "$spec" "$OUT/$name.$engine.ours"
		report line "$OUT" "$name" "$spec" "$switches" "$hosts" "$engine"
	done
done < <(wanted_nets)
[ -n "$NETS" ] && report summary "$OUT"
if [ "${BUDGETS:-1}" != 0 ]; then
	report budgets "${BUDGETS:-1}" | while read -r spec engine jobs; do
		"$peer" roots "$spec" >"$work/roots" || exit 2
		LIMIT=600 PEER_JOBS=$jobs PEER_EBB=0 run_ours "$engine" "$spec" "$OUT/budget.${spec//[:,=]/_}.$engine"
	done
	report judge-budgets "$OUT"
fi
if [ "${MONTH:-1}" = 1 ]; then
	echo
	"$B/tests/bench/month" --json >"$OUT/month.json" 2>"$OUT/month.err" || cat "$OUT/month.err"
	report month "$OUT"
fi
report end "$OUT" || exit 2
if [ "$json" = 1 ]; then
	cat "$OUT/bench.json" >&3
else
	echo "All of it as JSON: $OUT/bench.json"
fi
