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
. tests/bench/opensm.sh

rm -rf "$OUT"
mkdir -p "$OUT" || exit 2
OUT=$(cd "$OUT" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2
trap 'stop_all; rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
[ "$json" = 1 ] && exec 3>&1 1>&2

report() {
	python3 tests/bench/report.py "$@"
}

# What osm_clock left is judged at once.
opensm_routed() {
	local spec=$1 prefix=$2

	PEER_THREADS=0 "$peer" judge "$spec" "$work/osm" >"$prefix.judged" 2>"$prefix.err"
	sed -n 's/.*Virtual Lanes needed: \([0-9]*\).*/{"vls_needed": \1}/p' "$work/osm.log" |
		tail -n 1 >"$prefix.vls"
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
	B=$B OUT=$OUT/month bash tests/bench/month.sh >/dev/null 2>"$OUT/month.err" || cat "$OUT/month.err"
	cp "$OUT/month/month.json" "$OUT/month.json"
	report month "$OUT"
fi
report end "$OUT" || exit 2
if [ "$json" = 1 ]; then
	cat "$OUT/bench.json" >&3
else
	echo "All of it as JSON: $OUT/bench.json"
fi
