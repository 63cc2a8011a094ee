#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# wire.sh: sweep, tables, writes, counters and faults over libumad, on ibsim with a stock opensm;
# ibnetdiscover, dump_fts, smpquery, perfquery and OpenSM's own dumps are the judges.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

tool=$PWD/build/tests/lab/wiretool
make -s build/tests/lab/wiretool >/dev/null || give_up "wiretool builds"
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
"$tool" topo fattree2:leaves=6,spines=3,hosts=12 >"$LAB_DIR/in.net" || give_up "the net"
lab_fabric "$LAB_DIR/in.net" || give_up "the fabric starts"
# opensm writes its own dumps with the routing bit of -D
LAB_OPENSM_ARGS="-D 0x43" lab_opensm "routing_engine updn" "qos TRUE" || give_up "opensm brings the subnet up"

host=$(lab_hosts | sed -n 2p)
last=$(lab_hosts | tail -n 1)
leaf=$(awk '$1 == "switch" { print $2; exit }' "$LAB_DIR/nodes")
lid=$(lab_lid "$leaf")
guid=$(lab_on "$host" smpquery nodeinfo "$lid" | sed -n 's/^Guid:\.*//p')
wire() { lab_on "$host" "$tool" "$@"; }
first() { wire "$@" | head -n 1; }

# --- what is there ---
lab_on "$host" ibnetdiscover >"$LAB_DIR/ibnd" 2>/dev/null
ok "the sweep finds what ibnetdiscover finds, LIDs included" wire same "$LAB_DIR/ibnd"
lab_on "$host" dump_fts >"$LAB_DIR/fts" 2>/dev/null
ok "dump_fts printed tables" grep -q '^Unicast lids' "$LAB_DIR/fts"
ok "the LFTs read are those of dump_fts" wire lfts "$LAB_DIR/fts"
ok "the LFTs read are those that OpenSM says it wrote" wire lfts "$LAB_DIR/osm/opensm-lfts.dump"
sm_is_opensm() { first sm | grep "lid $(lab_lid "$(lab_hosts | head -n 1)") .*state master"; }
ok "the master SM is found at its LID" sm_is_opensm

# --- an LFT entry ---
leaf_fts() {
	lab_on "$host" dump_fts 2>/dev/null | awk -v g="$guid" '/^Unicast/ { ours = index($0, g) }
		ours'
}
lft_entry() { leaf_fts | awk -v l="$(printf '0x%04x' "$1")" '$1 == l { print $2 + 0; exit }'; }
target=$(lab_lid "$last")
old=$(lft_entry "$target")
ok "an entry is the one of dump_fts" test "$old" = "$(first entry "$leaf" "$target")"
new=$(leaf_fts | awk -v o="$old" '/^0x/ && $2 + 0 > 12 && $2 + 0 != o { print $2 + 0; exit }')
ok "another spine is there" test -n "$new"
wrote() { [ "$(first entry "$leaf" "$target" "$new")" = "$new" ]; }
ok "an entry can be written" wrote
entry_is() { [ "$(lft_entry "$target")" = "$1" ]; }
ok "dump_fts sees it" entry_is "$new"
one_differs() { wire lfts "$LAB_DIR/fts" | grep '^1 of '; }
ok "and it is the only one that differs" one_differs
way_is() { lab_on "$host" ibtracert "$(lab_lid "$host")" "$target" | grep "\[$1\]"; }
ok "ibtracert takes the new way" way_is "$new"
first entry "$leaf" "$target" "$old" >/dev/null
ok "after writing it back the tables are the old ones" wire lfts "$LAB_DIR/fts"

# --- SL2VL ---
vls=$(first vls "$leaf" 1 13)
smp_vls() { lab_on "$host" smpquery sl2vl "$lid" 13 2>/dev/null | grep -E "in +$1,"; }
ok "smpquery prints SL2VL tables" smp_vls 1
first vls "$leaf" 1 13 1 0 3 2 1 0 3 2 1 0 3 2 1 0 3 2 >/dev/null
written='\| *1\| *0\| *3\| *2\| *1\| *0\|'
changed() { smp_vls 1 | grep -E "$written"; }
ok "smpquery sees a written SL2VL table" changed
others_kept() { ! smp_vls 2 | grep -E "$written"; }
ok "other inputs keep theirs" others_kept
# shellcheck disable=SC2086
ok "it can be put back" test "$(first vls "$leaf" 1 13 $vls)" = "$vls"

# --- counters ---
lab_counter "$leaf" 13 PortCountersExtended.PortXmitData=123456789012 \
	PortCounters.PortXmitWait=777 PortCounters.SymbolErrorCounter=9
sleep 0.3
wire counters "$leaf" 13 >"$LAB_DIR/counters"
between() {
	awk -v k="$1" -v lo="$2" -v hi="$3" '$1 == k { print; ok = $2 >= lo && $2 <= hi }
		END { exit !ok }' "$LAB_DIR/counters"
}
ok "all ports answer" grep -E '^ports ([0-9]+) of \1$' "$LAB_DIR/counters"
# each simulated hop of a MAD adds 72 words by itself
ok "64-bit data of a set counter" between tx_bytes 493827156048 493829156048
ok "wide counters say so" grep '^tx_bytes [0-9]* wide$' "$LAB_DIR/counters"
ok "PortXmitWait" between tx_wait 777 777
ok "symbol errors" between symbol_err 9 9
perfquery_agrees() {
	local ours theirs

	theirs=$(lab_on "$host" perfquery -x "$lid" 13 | sed -n 's/^PortXmitData:\.*//p')
	ours=$(wire counters "$leaf" 13 | awk '$1 == "tx_bytes" { printf "%.0f", $2 / 4 }')
	echo "ours $ours theirs $theirs"
	[ "$ours" -ge "$theirs" ] && [ $((ours - theirs)) -lt 1000000 ]
}
ok "perfquery agrees" perfquery_agrees

# --- faults ---
lab_opensm_stop
lab_con "Unlink \"$(lab_node "$last")\""
sleep 0.3
lab_on "$host" ibnetdiscover >"$LAB_DIR/ibnd2" 2>/dev/null
ok "a host whose cable is pulled is gone, as for ibnetdiscover" wire same "$LAB_DIR/ibnd2"
other_fabric() { ! wire same "$LAB_DIR/ibnd"; }
ok "and the fabric is not the one of before" other_fabric
no_adapter() { ! "$tool" sm && "$tool" sm | grep -E 'adapter|ib_umad|InfiniBand'; }
if [ -d /sys/class/infiniband_mad ]; then
	skip "wire: this machine has an adapter of its own"
else
	ok "without an adapter there is a sentence that says so" no_adapter
fi
finish
