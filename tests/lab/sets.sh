#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sets.sh [SEED]: what an OpenSM that was just started sends for an update, on a random net of its own.
# A first sweep makes it send everything once more in each wave; before an update begins it has to get
# over that.  The Set() that it sends are counted by its MAD library (umad_timeouts.c).
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
seed=${1:-${LAB_SEED:-$((RANDOM % 9000 + 1))}}

lab_needs_plugin

lab_new || exit 1
echo "# seed $seed"

sets() { # attribute: how many so far
	od -An -t u8 -j $((8 * $1)) -N 8 "$LAB_DIR/sets" | tr -d ' '
}

reroutes() { # by OpenSM as a whole, so far
	grep -c 'ibroute tables configured on all switches' "$LAB_DIR/osm/opensm.log"
}

lab_fabric "random:switches=24,links=60,hosts=4,seed=$seed" || give_up "the fabric"
policy "engine updn" "seed 5" "threads 1"
UMAD_DIE=$LAB_DIR/die UMAD_COUNT=$LAB_DIR/sets lab_plugin "routing_engine ibroute,nue" "qos TRUE" "sweep_interval 0" || give_up "opensm"

lft=0x19
ok "a plan" does 0 plan -e dfsssp:4 --fabric lab "${dirs[@]}" --bisections 0 -o "$LAB_DIR/plan"
planned=$(sed -n 's/^order of writes: .* waves\{0,1\}, \([0-9]*\) block writes.*/\1/p' "$LAB_DIR/out")
ok "that changes LFTs only" grep -qE 'LFT blocks \([1-9][0-9]* entries\) and 0 SL2VL' "$LAB_DIR/out"
before=$(sets $lft)
ok "is applied" does 0 apply "$LAB_DIR/plan" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
ok "by a plugin that had OpenSM discover everything once more" grep -q 'an update begins: discovering' "$LAB_DIR/osm/opensm.log"
sent=$(($(sets $lft) - before))
echo "# first update: $planned blocks planned, $sent set"
ok "exactly the planned blocks" [ "$sent" -eq "$planned" ]

ok "a plan back" does 0 plan -e updn --fabric lab "${dirs[@]}" --bisections 0 -o "$LAB_DIR/back"
planned=$(sed -n 's/^order of writes: .* waves\{0,1\}, \([0-9]*\) block writes.*/\1/p' "$LAB_DIR/out")
before=$(od -An -v -t u8 "$LAB_DIR/sets")
lfts=$(sets $lft)
rerouted=$(reroutes)
ok "is applied" does 0 apply "$LAB_DIR/back" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
after=$(od -An -v -t u8 "$LAB_DIR/sets")
sent=$(($(sets $lft) - lfts))
all=$(($(tr -s ' \n' '\n' <<<"$after" | awk '{ s += $1 } END { print s }') - $(tr -s ' \n' '\n' <<<"$before" | awk '{ s += $1 } END { print s }')))
echo "# second update: $planned blocks planned, $sent set, $all of all attributes"
ok "exactly the planned blocks" [ "$sent" -eq "$planned" ]
ok "and nothing else" [ "$all" -eq "$planned" ]

ok "the waves were written beside OpenSM's sweeps" [ "$(reroutes)" -eq "$rerouted" ]

# A block that nobody answers: OpenSM writes it again, in a sweep, and only then the wave is over.
ok "a plan" does 0 plan -e dfsssp:4 --fabric lab "${dirs[@]}" --bisections 0 -o "$LAB_DIR/again"
rerouted=$(reroutes)
echo "3 lose" >"$LAB_DIR/die"
ok "is applied, though a block of it is lost" does 0 apply "$LAB_DIR/again" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
ok "it was" [ ! -e "$LAB_DIR/die" ]
ok "and a sweep wrote it again" [ "$(reroutes)" -gt "$rerouted" ]

# A cable fewer: no table of its port is set, neither then nor later.
lab_con "Unlink \"$(lab_node n0090)\""
fewer() { grep -q '24 switches, 95 hosts' "$LAB_DIR/osm/opensm.log"; }
ok "a host leaves" lab_wait 15 fewer
ok "what is installed" does 0 dump-lfts --fabric lab "${dirs[@]}" -o "$LAB_DIR/now"
awk '/^[0-9]/ && $2 > 0 { t = $4; $4 = $5; $5 = t } { print }' "$LAB_DIR/now/opensm-sl2vl.dump" >"$LAB_DIR/swapped"
ok "a plan with other VLs" does 0 plan --tables "$LAB_DIR/now/opensm-lfts.dump" --tables-sl2vl "$LAB_DIR/swapped" \
	--tables-path-sl "$LAB_DIR/now/path-sl.dump" --fabric lab "${dirs[@]}" --bisections 0 -o "$LAB_DIR/vls"
planned=$(sed -n 's/.* entries) and \([0-9]*\) SL2VL tables.*/\1/p' "$LAB_DIR/out")
before=$(sets 0x17)
ok "is applied" does 0 apply "$LAB_DIR/vls" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
sent=$(($(sets 0x17) - before))
echo "# third update: ${planned:-no} SL2VL tables planned, $sent set"
# a plan has those of packets between switches; OpenSM sets what leads to hosts and from switches, too
all=$(awk '/^Switch/ { sw = $2 } /^[0-9]/ && $2 > 0 { out[sw, $2]; row[sw, $1, $2] }
	END { for (r in row) { split(r, k, SUBSEP); n += k[2] == 0 || (k[1], k[2]) in out } print n }' "$LAB_DIR/swapped")
echo "# of $all between ports with a cable"
ok "all that change, towards hosts as well, and no other" [ "${planned:-0}" -gt 0 -a "$sent" -eq "$all" ]
finish
