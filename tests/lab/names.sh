#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who is who: another host calls itself n0003, as a host of a job is called; n0019 has two ports.  Nobody
# is drained by a name that several hosts have until somebody says that it is meant so, and then each port
# has to drain: the answer of one does not count for another.  Updates are not confirmed, so that each
# case begins with the same tables.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
LAB_TIMEOUT=80

lab_needs_plugin

lab_new || exit 1
dirs+=(--jobs "$LAB_DIR/jobs")

id_of() { # node id of the host that had that name at first
	awk -v n="\"$1\"" '/^Ca/ && index($0, n) { split($0, q, "\""); print q[2]; exit }' "$LAB_DIR/net0"
}

agent() { # name of its files, host as it was called at first, command that drains
	lab_start_agent "$1" "$(id_of "$2")" --job 42 --job 43 --poll 2 --ask 2 --drain-cmd "$3" --migrate-cmd true
}

tables_stay() {
	lab_lfts >"$LAB_DIR/now" && cmp -s "$LAB_DIR/before" "$LAB_DIR/now"
}

apply() { # exit code; more words.  Not confirmed in time: 7
	local want=$1
	shift
	does "$want" apply --accept-slower "${dirs[@]}" --accept-strangers --yes-fabric lab --confirm-timeout 1 "$@"
}

"$IBROUTE_TOP" topo torus:dims=6x4,hosts=2 >"$LAB_DIR/net0"
sed 's/# "n0030"/# "n0003"/; s/# "n0019"/# "n0019 HCA-1"/; s/# "n0020"/# "n0019 HCA-2"/' "$LAB_DIR/net0" |
	LC_ALL=C sed $'s/"\\(sw[0-9]*\\)"/"\\1\e[2J\a\xff\xc2\x9b31m\xe2\x80\xae"/; s/"n0031"/"n0031\e]0;x\a \x80"/' >"$LAB_DIR/net1"
lab_fabric "$LAB_DIR/net1" || give_up "the fabric"
policy "engine updn" "escape yes" "vls 4" "threads 1"
lab_plugin "routing_engine ibroute,no_fallback" "qos TRUE" "lmc 3" || give_up "opensm"
lab_lfts >"$LAB_DIR/before"
victim=$(awk '/^caguid/ { g = $0 } /^Ca/ && /"n0003"/ { sub(/.*=/, "", g); print g; exit }' "$LAB_DIR/net0")

echo "# two hosts are called n0003"
echo "42 n0003,n0018" >"$LAB_DIR/jobs"
ok "an agent that is slow" agent victim n0003 'sleep 3; date +%s%N >'"$LAB_DIR/drained"
ok "one of the other n0003, which answers at once" agent impostor n0030 true
ok "one on the job's other host" agent n0018 n0018 true
ok "a plan" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan"
ok "names who is not certain" said '^names that several hosts may have: n0003 \(2 ports\): say which'
ok "so does show" does 0 show "$LAB_DIR/plan" --json
ok "with the ports" said '"ambiguous_names": *\[ *\{ *"name": *"n0003"|"name": "n0003"'
ok "as the schema has it" eval 'lab_on n0002 "$IBROUTE_TOP" show "$LAB_DIR/plan" --json 2>/dev/null >"$LAB_DIR/show.json" &&
	python3 "$LAB_ROOT/tests/schema.py" shown_plan "$LAB_DIR/show.json" >/dev/null'
ok "nobody is drained" apply 4 "$LAB_DIR/plan"
ok "both ports are named" said "n0003: ports 0x[0-9a-f]{16} at sw[^ ]* and 0x"
ok "with both ways out" said 'node-name-map.*--accept-names'
ok "nothing was written" tables_stay
ok "no agent was asked" eval '! grep -q drain "$LAB_DIR/agent-impostor.log"'
ok "accepted, each port has to drain" apply 7 "$LAB_DIR/plan" --accept-names
ok "all three did" said '3 of 3 agents are on their escape LIDs'
ok "the slow one before the first write" eval '[ -s "$LAB_DIR/drained" ] &&
	sed -n "/3 of 3 agents are on/,\$p" "$LAB_DIR/out" | grep -q "WRITE\|wave"'
ok "the old tables are back" tables_stay

echo "# the other n0003 cannot answer for it"
lab_kill agent-victim
: >"$LAB_DIR/agent-victim.log"
ok "an agent that does not drain" agent victim n0003 'sleep 60'
ok "stops the update" apply 4 "$LAB_DIR/plan" --accept-names --agent-timeout 3
ok "who is silent is named by port" said 'did not drain in time.*n0003/[0-9a-f]{6}'
ok "nothing was written" tables_stay
lab_kill agent-victim
ok "one without an agent" apply 4 "$LAB_DIR/plan" --accept-names
ok "is named, too" said '1 of its 3 ports have no agent \(n0003/[0-9a-f]{6}'

echo "# a node-name-map says who is who"
: >"$LAB_DIR/agent-victim.log"
ok "an agent of the right one" agent victim n0003 true
printf '%s "n0003"\n' "$victim" >"$LAB_DIR/map"
ok "a plan with the map" does 0 plan -e nue --escape --vls 4 --fabric lab --node-name-map "$LAB_DIR/map" \
	"${dirs[@]}" -o "$LAB_DIR/mapped"
ok "nobody is uncertain" eval '! grep -q "several hosts" "$LAB_DIR/out"'
ok "which the plan keeps" apply 7 "$LAB_DIR/mapped"
ok "two agents are asked" said '2 of 2 agents are on their escape LIDs'
lab_kill agent-impostor

echo "# a host with two ports has drained when both have"
echo "43 n0018,n0019" >"$LAB_DIR/jobs"
ok "an agent on one of its ports" agent n0019 n0019 true
ok "a plan" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/rails"
ok "two ports of one host are nothing special" eval '! grep -q "several hosts" "$LAB_DIR/out"'
ok "the other has none" apply 4 "$LAB_DIR/rails"
ok "and is named" said '1 of its 3 ports have no agent \(n0019/HCA-2/1\)'
ok "an agent on the other, which is stuck" agent n0020 n0020 'sleep 60'
ok "stops the update" apply 4 "$LAB_DIR/rails" --agent-timeout 3
ok "and is named" said 'did not drain in time.*n0019/HCA-2/1'
lab_kill agent-n0020
: >"$LAB_DIR/agent-n0020.log"
ok "one that drains" agent n0020 n0020 true
ok "both do" apply 7 "$LAB_DIR/rails"
ok "three of three ports" said '3 of 3 agents are on their escape LIDs'

echo "# names that have changed since a plan was made"
guid() { awk -v n="\"$1\"" '/^caguid/ { g = $0 } /^Ca/ && index($0, n) { sub(/.*=/, "", g); print g; exit }' "$LAB_DIR/net0"; }
printf '%s "%s"\n' "$(guid n0017)" n0018 "$(guid n0018)" n0017 >"$LAB_DIR/then"
printf '%s "%s"\n' "$(guid n0017)" n0017 "$(guid n0018)" n0018 >"$LAB_DIR/now.map"
echo "43 n0017,n0019" >"$LAB_DIR/jobs"
ok "a plan of the time when n0018 was n0017" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" \
	--node-name-map "$LAB_DIR/then" -o "$LAB_DIR/then.plan"
ok "is not carried out" apply 4 "$LAB_DIR/then.plan" --node-name-map "$LAB_DIR/now.map" --jobs none
ok "for the name of a port that drains" said '1 port that would have to drain changed its name.*was n0017 and is n0018'
ok "nothing was written" tables_stay
ok "accepted, it is" apply 7 "$LAB_DIR/then.plan" --node-name-map "$LAB_DIR/now.map" --jobs none --accept-names
ok "by the ports of the plan" said '3 of 3 agents are on their escape LIDs'
ok "that is in the record" eval 'grep -hq "\"plan.names\"" "$LAB_DIR"/rec/*.jsonl'
logs() { # of switches and hosts whose names are more than text
	grep -a 'ibroute: ' "$LAB_DIR/osm/opensm.log" >"$LAB_DIR/osm.ours" && [ -s "$LAB_DIR/state/watchdog.log" ] &&
		python3 "$LAB_ROOT/tests/only_text.py" "$LAB_DIR/osm.ours" "$LAB_DIR/state/watchdog.log" "$LAB_DIR"/agent-*.log "$LAB_DIR/out" &&
		python3 "$LAB_ROOT/tests/only_text.py" --json "$LAB_DIR"/rec/*.jsonl
}
ok "OpenSM's, the watchdog's and the agents' logs are text, and so is the record" logs
ok "the record is valid" eval 'lab_on n0002 "$IBROUTE_TOP" audit verify "$LAB_DIR"/rec/*.jsonl >"$LAB_DIR/out" 2>&1'
finish
