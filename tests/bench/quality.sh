#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# quality.sh [--json]: the time of jobs on the routings of our engines and of OpenSM's.
#
# Seven nets, each filled with jobs in three ways: see quality.c, which also says what the columns
# are.  OpenSM's engines run over ibsim first, those that route the net; the same judge looks at
# their tables.
#
#   NETS=NAME,...        of the list below (default: all; none)
#   OPENSM=NAME,...      engines of OpenSM (minhop,ftree,dfsssp; none; also updn dor lash nue:8)
#   FABRICS=FILE,...     dumps of ibnetdiscover and the like besides, without OpenSM
#   LIMIT=SECONDS        for one run of opensm (100)
#   TIME=SECONDS         for all of them; runs that would begin later are left out (600)
#   --json               on stdout
set -u
PATH=$PATH:/usr/sbin:/sbin
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
B=${B:-build}
peer=$root/$B/tests/bench/peer
clock=$root/$B/tests/bench/libosm_clock.so
NETS=${NETS:-all}
OPENSM=${OPENSM:-minhop,ftree,dfsssp}
: "${LIMIT:=100}" "${TIME:=600}"

nets() {
	cat <<-'LIST'
	dragonfly-4     dragonfly:p=4
	hyperx-12x8     hyperx:dims=12x8,hosts=7
	slimfly-7       slimfly:q=7
	torus-6x5x5     torus:dims=6x5x5,hosts=4
	kary-1100-f1    kary:k=10,n=3,hosts=11,fail=1%
	random-125      random:switches=125,links=1000,hosts=8,seed=1
	tree2-224-f9    fattree2:leaves=14,spines=8,hosts=16,fail=9
	LIST
}

wanted_nets() {
	local name spec

	nets | while read -r name spec; do
		case ",$NETS," in *,all,* | *",$name,"*) echo "$name $spec" ;; esac
	done
}

for word in ${NETS//,/ }; do
	nets | awk -v w="$word" 'BEGIN { ok = w == "all" || w == "none" } $1 == w { ok = 1 } END { exit !ok }' || {
		echo "quality: there is no net \"$word\"; all, none, or: $(nets | awk '{ printf "%s ", $1 }')" >&2
		exit 64
	}
done

work=$(mktemp -d "${TMPDIR:-/tmp}/quality.XXXXXX") || exit 2
end=$((SECONDS + TIME))

# Its tables stay, for all nets are judged in one go.
opensm_routed() {
	local part

	for part in lids lft; do
		mv "$work/osm.$part" "$2.$part"
	done
}

run_all_of_opensm() {
	local name spec engine hosts sm

	while read -r name spec; do
		read -r _ hosts _ <<<"$("$peer" size "$spec")"
		"$B/ibroute-top" topo "$spec" >"$work/net" || exit 2
		"$peer" roots "$spec" >"$work/roots" || exit 2
		sm=$(awk -F '"' '/^Ca/ { print $2; exit }' "$work/net")
		for engine in ${OPENSM//,/ }; do
			run_opensm "$engine" "$spec" "$work/$name.$engine"
			grep -o '"reason": .*"' "$work/$name.$engine.json" | sed "s|^\"reason\"|OpenSM $engine, $name|" >&2
		done
	done < <(wanted_nets)
}

if [ "$OPENSM" != none ]; then
	. tests/bench/opensm.sh
	trap 'stop_all; rm -rf "$work"' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	run_all_of_opensm
else
	trap 'rm -rf "$work"' EXIT
fi
mapfile -t args < <(wanted_nets | tr ' ' '=')
for file in ${FABRICS:+${FABRICS//,/ }}; do
	name=${file##*/}
	args+=("${name%.ibnetdiscover}=$file")
done
"$B/tests/bench/quality" --opensm "$work" "$@" "${args[@]}"
