#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# answers.sh: what comes in as an answer counts when it has come from the node that was asked: while a node sends
# responses in the names of others, all that is read is what dump_fts, ibnetdiscover and the simulator say.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh
tool=$PWD/$B/tests/lab/wiretool forge=$PWD/$B/tests/lab/forge_tool

make -s "$B/tests/lab/wiretool" "$B/tests/lab/forge_tool" >/dev/null || give_up "the tools build"
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
lab_fabric fattree2:leaves=4,spines=2,hosts=4 || give_up "the fabric"
LAB_OPENSM_ARGS="-D 0x43" lab_opensm "routing_engine updn" "lmc 1" || give_up "opensm"
victim=n0002
lid=$(lab_lid $victim)
leaf=$(awk '$1 == "switch" { print $2; exit }' "$LAB_DIR/nodes")
wire() { lab_on $victim "$tool" "$@"; }
lab_on n0004 dump_fts >"$LAB_DIR/fts" 2>/dev/null
lab_on n0004 ibnetdiscover >"$LAB_DIR/ibnd" 2>/dev/null

ok "the sweep and all tables, with nobody else there" wire lfts "$LAB_DIR/fts"
lab_counter "$leaf" 1 PortCounters.PortXmitWait=777

lies() { # [attribute]
	lab_kill forge
	: >"$LAB_DIR/forge.log"
	# shellcheck disable=SC2046
	lab_daemon forge env $(lab_env n0003) "$forge" answers "$lid" 60 "$@"
	lab_wait 5 grep -q sending "$LAB_DIR/forge.log" || give_up "the forger sends"
}
lies
# several times: each try has other ids in flight
reads() { for _ in 1 2 3 4; do "$@" || return 1; done; }
ok "all tables, while somebody answers for the switches" reads wire lfts "$LAB_DIR/fts"
ok "the sweep finds what ibnetdiscover finds" reads wire same "$LAB_DIR/ibnd"
waits() { wire counters "$leaf" 1 | tee "$LAB_DIR/counters" | grep -q '^tx_wait 777'; }
ok "the counters are the switch's own" reads waits
# a switch that does not answer itself: its requests are under way for as long as they may be
silence() { lab_con "Error \"$(lab_node "$leaf")\" $1 18"; }
no_counters() { wire counters "$leaf" 1 >"$LAB_DIR/counters"; cat "$LAB_DIR/counters"; grep -q '^ports ' "$LAB_DIR/counters" && ! grep -q '^tx_wait' "$LAB_DIR/counters"; }
lies 18
silence 100
ok "of a switch that is silent there are none" reads no_counters
silence 0
ok "and of the same one again" reads waits
master() { wire sm | grep "lid $(lab_lid n0001) .*state master"; }
ok "the SM is the one that is there" reads master
finish
