#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# quality.sh [--json]: the time of jobs on the routings of our engines and of OpenSM's.
#
# Nets, each filled with jobs in four ways: see quality.c, which also says what the columns are.
# OpenSM's engines run over ibsim first, those that route the net; the same judge looks at their
# tables.  Sections with engines of their own: jobs (seven nets for sar); trees and tori, whole and
# damaged, for the others; lanes, nue off trees by VLs; rates, cables of different rates, weighed and
# counted; real, the dumps of ibnetdiscover in REAL.
#
#   NETS=NAME,...        nets or sections of the list below (default: all; none)
#   ENGINES=NAME,...     ours instead of the section's (not in the section of jobs)
#   OPENSM=NAME,...      engines of OpenSM instead of the section's; none
#   FABRICS=FILE,...     dumps of ibnetdiscover and the like besides, without OpenSM
#   REAL=DIR             the folder of the section real (../shared/data/fabrics)
#   LIMIT=SECONDS        for one run of opensm (100)
#   TIME=SECONDS         for all of them; runs that would begin later are left out (600)
#   KEEP=DIR             where OpenSM's tables stay; what is there is not routed again
#   GATE=UPDATES         instead of all that: is a pattern slower after so many updates of sar from
#                        dfsssp's tables? (quality_gate.c; the nets of the section of jobs, and gate)
#   --json               on stdout
#   --shifts             without the times of jobs, in a tenth of the time
set -u
PATH=$PATH:/usr/sbin:/sbin
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
B=${B:-build}
peer=$root/$B/tests/bench/peer
clock=$root/$B/tests/bench/libosm_clock.so
NETS=${NETS:-all}
: "${LIMIT:=100}" "${TIME:=600}" "${REAL:=../shared/data/fabrics}"

nets() {
	cat <<-'LIST'
	jobs  dragonfly-4     dragonfly:p=4
	jobs  hyperx-12x8     hyperx:dims=12x8,hosts=7
	jobs  slimfly-7       slimfly:q=7
	jobs  torus-6x5x5     torus:dims=6x5x5,hosts=4
	jobs  kary-1100-f1    kary:k=10,n=3,hosts=11,fail=1%
	jobs  random-125      random:switches=125,links=1000,hosts=8,seed=1
	jobs  tree2-224-f9    fattree2:leaves=14,spines=8,hosts=16,fail=9
	gate  tree2-324-f3    fattree2:leaves=18,spines=18,hosts=18,fail=3
	trees tree3-1350      fattree3:pods=5,leaves=18,aggs=18,cores=3,parallel=6,hosts=15
	trees tree3-1350-f1   fattree3:pods=5,leaves=18,aggs=18,cores=3,parallel=6,hosts=15,fail=1%
	trees kary-1100       kary:k=10,n=3,hosts=11
	trees kary-1100-f1    kary:k=10,n=3,hosts=11,fail=1%
	trees kary-900-f1     kary:k=10,n=3,hosts=9,fail=1%
	trees tree3-1024-f1   fattree3:k=16,fail=1%
	trees tree2-224-f9    fattree2:leaves=14,spines=8,hosts=16,fail=9
	trees tree2-324-f3    fattree2:leaves=18,spines=18,hosts=18,fail=3
	trees oft-5-f4        oft:k=5,fail=4
	trees oft-4           oft:k=4
	tori  torus-5x5x5-f1  torus:dims=5x5x5,hosts=2,fail=1
	tori  torus-5x5x5-f5  torus:dims=5x5x5,hosts=2,fail=5
	tori  torus-9x9-f2    torus:dims=9x9,hosts=4,fail=2
	tori  torus-9x9-f5    torus:dims=9x9,hosts=4,fail=5
	tori  torus-5x5x5-s1  torus:dims=5x5x5,hosts=2 sw063
	tori  torus-9x9-s1    torus:dims=9x9,hosts=4 sw41
	lanes dragonfly-4-vls dragonfly:p=4
	lanes hyperx-12x8-vls hyperx:dims=12x8,hosts=7
	lanes hyperx-f15-vls  hyperx:dims=12x8,hosts=7,fail=15
	lanes slimfly-7-vls   slimfly:q=7
	lanes torus-6x5x5-vls torus:dims=6x5x5,hosts=4
	lanes random-125-vls  random:switches=125,links=1000,hosts=8,seed=1
	rates tree2-224-hdr   fattree2:leaves=14,spines=8,hosts=16,speed=4xHDR,rates=4xHDR+4xEDR
	rates hyperx-6x6-1x   hyperx:dims=6x6,hosts=6,links=2,rates=4xEDR+4xEDR+4xEDR+1xEDR
	rates random-60-mixed random:switches=60,links=300,hosts=6,rates=4xHDR+4xEDR+4xQDR,speed=4xEDR
	LIST
	for file in "$REAL"/*.ibnetdiscover; do
		name=${file##*/}
		[ -r "$file" ] && echo "real  ${name%.ibnetdiscover} $file"
	done
}

# our engines and OpenSM's, by section
engines_of() {
	case $1 in
	trees) echo "${ENGINES:-ftree,updn,nue:8,nue:1,dfsssp,minhop} ${OPENSM:-ftree,updn,nue:8,nue:1,dfsssp,minhop}" ;;
	real) echo "${ENGINES:-ftree,updn,nue:8,nue:1,dfsssp,minhop} ${OPENSM:-ftree,updn,nue:8,nue:1,dfsssp,minhop}" ;;
	rates) echo "${ENGINES:-dfsssp,dfsssp:ignore-rates,minhop,minhop:ignore-rates,nue:8,nue:8:ignore-rates} ${OPENSM:-dfsssp,minhop}" ;;
	lanes) echo "${ENGINES:-nue:1,nue:2,nue:3,nue:4,nue:5,nue:6,nue:7,nue:8} ${OPENSM:-nue:1,nue:2,nue:4,nue:8,dfsssp}" ;;
	tori) echo "${ENGINES:-dor,dfsssp,nue:8,minhop} ${OPENSM:-torus-2QoS,lash,dfsssp,nue:8}" ;;
	*) echo "- ${OPENSM:-minhop,ftree,dfsssp}" ;;
	esac
}

# what is left of a net without the switch of that name and its hosts
without_switch() {
	local id

	id=$(sed -n "s/^Switch[^\"]*\"\(S-[0-9a-f]*\)\".*# \"$1\".*/\1/p" "$2")
	awk -v id="\"$id\"" 'BEGIN { RS = ""; ORS = "\n\n" }
		/\nSwitch/ && index($0, "Switch") && $0 ~ "\nSwitch[^\n]*" id { next }
		/\nCa/ && index($0, id) { next }
		{ n = split($0, line, "\n"); text = ""
		  for (i = 1; i <= n; i++) if (!index(line[i], id)) text = text (text == "" ? "" : "\n") line[i]
		  print text }' "$2"
}

# torus-2QoS has to be told its first switches: three seeds, of which one will be whole
torus_conf() {
	local dims x y z at n=0

	dims=$(sed -n 's/.*dims=\([0-9x]*\).*/\1/p' <<<"$1")
	IFS=x read -r x y z <<<"$dims"
	echo "torus $x $y ${z:-1}"
	echo "portgroup_max_ports 32"
	for at in 0 $((1 + x + (${z:-0} > 0) * x * y)) $((2 + 2 * x)); do
		[ $((n++)) = 0 ] || echo next_seed
		printf 'xp_link 0x%x 0x%x\n' $((0x2000000000000 + 16 * at)) $((0x2000000000000 + 16 * (at + 1)))
		printf 'yp_link 0x%x 0x%x\n' $((0x2000000000000 + 16 * at)) $((0x2000000000000 + 16 * (at + x)))
		[ -z "$z" ] ||
			printf 'zp_link 0x%x 0x%x\n' $((0x2000000000000 + 16 * at)) $((0x2000000000000 + 16 * (at + x * y)))
	done
}

# those of a section: "NAME SPEC-OR-FILE SPEC"
wanted_nets() {
	local section name spec gone

	nets | while read -r section name spec gone; do
		[ "$section" = "$1" ] || continue
		case ",$NETS," in *,all,* | *",$section,"* | *",$name,"*) ;; *) continue ;; esac
		if [ -n "$gone" ]; then
			"$B/ibroute-top" topo "$spec" >"$work/whole" || exit 2
			without_switch "$gone" "$work/whole" >"$work/$name.net"
			echo "$name $work/$name.net $spec"
		else
			echo "$name $spec $spec"
		fi
	done
}

for word in ${NETS//,/ }; do
	nets | awk -v w="$word" 'BEGIN { ok = w == "all" || w == "none" } $1 == w || $2 == w || w == "real" { ok = 1 } END { exit !ok }' || {
		echo "quality: there is no net \"$word\"; all, none, jobs, trees, tori, lanes, rates, real, or: $(nets | awk '{ printf "%s ", $2 }')" >&2
		exit 64
	}
done

work=$(mktemp -d "${TMPDIR:-/tmp}/quality.XXXXXX") || exit 2
end=$((SECONDS + TIME))

osm_dir=${KEEP:-$work/kept}

# Its tables stay, for all nets are judged in one go.
opensm_routed() {
	local part

	for part in lids lft; do
		mv "$work/osm.$part" "$2.$part"
	done
}

# of a section
run_all_of_opensm() {
	local name net spec engine hosts sm sm_port at

	mkdir -p "$osm_dir/$1"
	while read -r name net spec; do
		read -r _ hosts _ <<<"$("$peer" size "$net")"
		if [ -r "$net" ]; then
			cp "$net" "$work/net"
		else
			"$B/ibroute-top" topo "$net" >"$work/net" || exit 2
		fi
		"$peer" roots "$net" >"$work/roots" || exit 2
		torus_conf "$spec" >"$work/torus"
		# ibsim numbers the ports' GUIDs on from the node's
		sm=$(awk -F '"' '/^Ca/ && !/Aggregation/ { print $2; exit }' "$work/net")
		sm_port=$(printf '0x%x' $((16#${sm#H-} + 1)))
		for engine in ${2//,/ }; do
			at=$osm_dir/$1/$name.$engine
			[ -e "$at.lft" ] || run_opensm "$engine" "$net" "$at"
			grep -o '"reason": .*"' "$at.json" | sed "s|^\"reason\"|OpenSM $engine, $name|" >&2
		done
	done < <(wanted_nets "$1")
}

trap 'rm -rf "$work"' EXIT
if [ "${OPENSM:-}" != none ]; then
	. tests/bench/opensm.sh
	trap 'stop_all; rm -rf "$work"' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
fi
if [ -n "${GATE:-}" ]; then
	mapfile -t args < <({ wanted_nets jobs; wanted_nets gate; } | awk '{ print $1 "=" $2 }')
	"$B/tests/bench/quality_gate" "$GATE" "${args[@]}"
	exit
fi
for section in jobs trees tori lanes rates real; do
	read -r ours theirs <<<"$(engines_of "$section")"
	mapfile -t args < <(wanted_nets "$section" | awk '{ print $1 "=" $2 }')
	[ "$section" = jobs ] && for file in ${FABRICS:+${FABRICS//,/ }}; do
		name=${file##*/}
		args+=("${name%.ibnetdiscover}=$file")
	done
	[ "${#args[@]}" -gt 0 ] || continue
	[ "$theirs" = none ] || run_all_of_opensm "$section" "$theirs"
	[ "$ours" = - ] || args=(--engines "$ours" "${args[@]}")
	"$B/tests/bench/quality" --opensm "$osm_dir/$section" "$@" "${args[@]}" || exit
done
