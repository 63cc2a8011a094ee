#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# qos.sh [SEED]: a site's own QoS on ibsim: VLs without a weight in its VL arbitration, a map of SLs,
# service levels of partitions and QoS policy.  smpquery and saquery tell what is in the fabric.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
seed=${1:-7}
LAB_ON=n0003

lab_needs_plugin


logged() { # regex
	grep -qE -- "ibroute: .*$1" "$LAB_DIR/osm/opensm.log"
}

hup() { # regex of what it says then
	kill -HUP "$(cat "$LAB_DIR/opensm.pid")"
	lab_wait 15 logged "$1" || { grep ibroute: "$LAB_DIR/osm/opensm.log" | tail -n 3; return 1; }
}

# In how many entries of the tables of a port VL v (hexadecimal) has a weight
weight() { # LID, port, v
	lab_on n0004 smpquery vlarb "$1" "$2" 2>/dev/null | awk -v v="0x$3" '
		{ sub(/^[^|]*\|/, ""); gsub(/ /, "") }
		/^0x/ && !n { n = split($0, vl, "|"); next }
		/^0x/ { split($0, w, "|"); for (i = 1; i < n; i++) s += vl[i] == v && w[i] != "0x0"; n = 0 }
		END { print s + 0 }'
}

lab_new || exit 2
lab_fabric "random:switches=16,hosts=2,links=32,seed=$seed" || exit 2

# --- VLs 2 and 3 have no weight ---

policy "engine nue:2"
ok "opensm, with weights for VLs 0 and 1 only" lab_plugin "routing_engine ibroute,updn" "qos TRUE" "qos_swe_vlarb_low 0:4,1:4"
lid=$(lab_on n0004 ibnetdiscover | sed -n 's/^Switch.* lid \([0-9]*\) .*/\1/p' | head -n 1)
ok "smpquery finds VL 1 to have one" test "$(weight "$lid" 1 1)" -gt 0
ok "and VL 2 none" test "$(weight "$lid" 1 2)" -eq 0
ok "two VLs are routed" logged 'routed by engine nue.* 2 VLs'
ok "a plan for two is made" does 0 plan -e nue:2 --seed 3 -o "$LAB_DIR/two.plan" "${dirs[@]}"
ok "one for four is refused" does 4 plan -e nue:4 -o "$LAB_DIR/four.plan" "${dirs[@]}"
ok "with the VLs, a port and the line for opensm.conf" \
	said 'VLs? [23,]+, which ha.* no weight in the VL arbitration of sw[0-9]+ port [0-9]+.*"qos_swe_vlarb_low 0:4,1:4,2:4,3:4"'
ok "and not written" test ! -e "$LAB_DIR/four.plan"
ok "without the plugin, too" eval 'lab_on n0003 "$IBROUTE_TOP" plan -e nue:4 --socket none >"$LAB_DIR/out" 2>&1; test $? -eq 4 && said "no weight"'
lab_lfts >"$LAB_DIR/before"
policy "engine nue:4"
ok "the plugin refuses what its engine makes" hup 'no routes of ours.*VLs? [23,]+ of switch .*gives no weight'
ok "sm says why, exit code 1" does 1 sm "${dirs[@]}"
ok "with the line" said '"qos_swe_vlarb_low 0:4,1:4,2:4,3:4"'

# --- a plan from before the weights were taken away ---

policy "engine nue:2"
ok "opensm with its own weights" lab_plugin "routing_engine ibroute,updn" "qos TRUE"
ok "makes a plan for four VLs" does 0 plan -e nue:4 -o "$LAB_DIR/four.plan" "${dirs[@]}"
ok "opensm, with fewer weights" lab_plugin "routing_engine ibroute,updn" "qos TRUE" "qos_vlarb_low 0:4,1:4" "qos_vlarb_high 0:1"
lab_lfts >"$LAB_DIR/before"
fabric=$(lab_on n0003 "$IBROUTE_TOP" plan -e nue:2 --json --socket "$sock" 2>/dev/null |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["fabric"])')
ok "that plan is refused" does 4 apply "$LAB_DIR/four.plan" --yes "$fabric" "${dirs[@]}"
ok "as its VLs have no weight now" said 'no weight in the VL arbitration'
lab_lfts >"$LAB_DIR/after"
ok "and nothing was written" cmp "$LAB_DIR/before" "$LAB_DIR/after"

# --- weights of hosts, and their map ---

policy "engine nue:4"
ok "opensm, with weights for few VLs of hosts" lab_plugin "routing_engine ibroute,updn" "qos TRUE" "qos_ca_vlarb_low 0:4" "qos_ca_vlarb_high 0:4"
ok "the plugin refuses" logged 'no routes of ours.*host .*qos_ca_vlarb_low'
ok "opensm, with a map for hosts that leads to the one VL" \
	lab_plugin "routing_engine ibroute,updn" "qos TRUE" "qos_ca_vlarb_low 0:4" "qos_ca_vlarb_high 0:4" "qos_ca_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
ok "is routed" logged 'routed by engine nue.* 4 VLs'
host=$(lab_lid n0005)
ok "hosts have that map" eval 'lab_on n0004 smpquery sl2vl "$host" 0 2>/dev/null | grep -qE "(\| 0 ?){15}"'
ok "opensm, with a map for hosts that drops" lab_plugin "routing_engine ibroute,updn" "qos TRUE" "qos_ca_sl2vl 0,15,15,15,0,0,0,0,0,0,0,0,0,0,0,0"
ok "the plugin refuses that" logged 'no routes of ours.*hosts would drop packets with SL'

# --- what gives way ---

printf 'qos-ulps\n default : 0\n sdp : 3\nend-qos-ulps\n' >"$LAB_DIR/qos.conf"
echo 'Default=0x7fff, ipoib, sl=2 : ALL=full;' >"$LAB_DIR/partitions.conf"
policy "engine updn"
ok "opensm, with a map, a QoS policy and a partition with an SL" lab_plugin "routing_engine ibroute,updn" "qos TRUE" "qos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3" \
	"qos_policy_file $LAB_DIR/qos.conf" "partition_config_file $LAB_DIR/partitions.conf"
named='not qos_sl2vl 0,1,2.*1 rule of .*qos.conf, partition Default \(SL 2\)'
ok "opensm.log names them" lab_wait 10 logged "of the site's QoS: .*$named"
ok "once" test "$(grep -c "of the site's QoS" "$LAB_DIR/osm/opensm.log")" -eq 1
ok "sm names them" does 0 sm "${dirs[@]}"
ok "so" said "^site's QoS .*$named"
ok "a plan names them" does 0 plan -e minhop "${dirs[@]}"
ok "so" said "^note: .*$named"
sl=$(lab_on n0004 saquery -p --slid "$(lab_lid n0004)" --dlid "$(lab_lid n0006)" 2>/dev/null | sed -n 's/^[ \t]*sl\.\.*//p')
ok "and it is so: the path record has SL ${sl:-?}" test "$((${sl:-9}))" -eq 0
lab_stop
finish
