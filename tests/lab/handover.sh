#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# handover.sh [SEED]
# handover.sh losses|restarts|kills N [SEED]     (make soak)
#
# Where OpenSM, the fabric and an update meet, on a random net of its own.  A cable or a host is lost while
# an update waits, OpenSM is dead when it is confirmed, worker and guard are stopped, two updates are
# begun: what the switches then hold, as dump_fts reads it, is what is said.
#
# The others do it N times at random moments of updates: cables and hosts are lost, OpenSM is restarted,
# OpenSM, worker and guard are killed.  Each ends in a routing that is wholly old, wholly new or
# OpenSM's own, without a loop, and is the one that status names.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
mode=once times=0
case ${1:-} in
losses | restarts | kills) mode=$1 times=${2:?N}; shift 2 ;;
esac
seed=${1:-${LAB_SEED:-$((RANDOM % 9000 + 1))}}

lab_needs_plugin

lab_new || exit 1
echo "# $mode, seed $seed"
RANDOM=$seed

sm() {
	lab_plugin "routing_engine ibroute,nue" "qos TRUE"
}

# An update that waits to be confirmed; $id is its name.
begin() { # plan, more options
	local plan=$1
	shift
	does 0 apply "$plan" "${dirs[@]}" --without-agents --yes-fabric lab --detach "$@" || return 1
	id=$(grep -oE '[0-9]{8}T[0-9]{6}Z-[0-9]+' "$LAB_DIR/out" | head -n 1)
	lab_wait 20 plugin 'p["source"] == "console" and not p["step"]'
}

not_confirmed() {
	! top confirm "$1" --state-dir "$LAB_DIR/state" --socket "$sock" --yes-fabric lab >"$LAB_DIR/out" 2>&1 &&
		! is_state "$1" confirmed >/dev/null
}

continue_ours() {
	# shellcheck disable=SC2046
	kill -CONT $(ours guard) $(ours worker)
}

finished() {
	case $(state "$1") in
	rolled-back | fabric-changed | superseded) ;;
	*) return 1 ;;
	esac
}

lab_fabric "random:switches=16,links=40,hosts=2,seed=$seed" || give_up "the fabric"
policy "engine nue:2" "seed 5" "threads 1" "on_change reroute"
sm || give_up "opensm"
# a cable that the rest does without: of the switch with the most of them, so in a redundant net
cable_sw=$(awk '/^Switch/ { split($0, q, "\""); s = q[4]; sub(/ .*/, "", s) } /^\[[0-9]+\].*"S-/ { n[s]++ }
	END { for (s in n) if (n[s] > most) { most = n[s]; best = s } print best }' "$LAB_DIR/net")
cable=$(sed -n "/^Switch.*\"$cable_sw\"/,/^\$/s/^\(\[[0-9]*\]\).*\"S-.*/\1/p" "$LAB_DIR/net" | head -n 1)
# Every host is reached from every switch: LFTs of dump_fts over cables of ibnetdiscover.
sound() { # what ibnetdiscover said, what dump_fts said as lines of "guid lid port"
	python3 - "$1" "$2" <<-'PY'
		import re, sys
		peer, at, host, at_sw = {}, None, {}, {}
		for line in open(sys.argv[1]):
		    m = re.match(r'Switch\s+\d+ "S-(\w+)".* lid (\d+) ', line)
		    if m:
		        at = int(m[1], 16)
		        continue
		    if re.match(r'Ca\b', line):
		        at = None
		    m = re.match(r'\[(\d+)\]\s+"([SH])-(\w+)"\[(\d+)\]', line)
		    if m and at:
		        if m[2] == 'S':
		            peer[at, int(m[1])] = int(m[3], 16)
		        else:
		            lid = int(re.search(r' lid (\d+) ', line)[1])
		            host[lid] = (at, int(m[1]))
		lft = {}
		for line in open(sys.argv[2]):
		    g, lid, port = line.split()
		    lft[int(g, 16), int(lid, 16)] = int(port)
		switches = {sw for sw, _ in peer} | {sw for sw, _ in host.values()}
		bad = 0
		for lid, (to, out) in host.items():
		    for sw in switches:
		        now, hops = sw, 0
		        while now is not None and (now != to) and hops <= len(switches):
		            now, hops = peer.get((now, lft.get((now, lid)))), hops + 1
		        bad += now != to or lft.get((to, lid)) != out
		if bad or not host:
		    print('# %d of %d paths do not arrive' % (bad, len(host) * len(switches)))
		    sys.exit(1)
	PY
}

# ibdmchk (package ibutils) on what dump_fts finds, in OpenSM's own dump of the net; with service levels
# and SL2VL tables of the plan, which OpenSM has written, also whether they could close a circle.
ibdm_finds() { # folder of the plan's files, or none: only whether all arrive
	local sls=()
	awk '{ if ($1 != g) { g = $1; printf "%sdump_ucast_routes: Switch %s\nLID    : Port : Hops : Optimal\n", (NR > 1 ? "\n" : ""), g }
		printf "0x%s : %03d  : 00   : yes\n", toupper(substr($2, 3)), $3 }' <(lab_lfts) >"$LAB_DIR/ibdm.fdbs"
	: >"$LAB_DIR/empty"
	[ -z "$1" ] || sls=(-c "$1/path-sl.dump" -d "$LAB_DIR/ibdm.sl2vl")
	[ -z "$1" ] || awk '/^Switch/ { guid = $2; sub(/,/, "", guid) }
		$1 ~ /^[0-9]+$/ {
			printf "%s %d %d", guid, $1, $2
			for (i = 4; i <= 18; i += 2) printf " 0x%x%x", $i, $(i + 1)
			print ""
		}' "$LAB_DIR/osm/opensm-sl2vl.dump" >"$LAB_DIR/ibdm.sl2vl"
	# it often crashes after it has said so
	(cd "$LAB_DIR/work" && timeout 60 ibdmchk -m "$LAB_DIR/empty" -l 0 -s "$LAB_DIR/osm/opensm-subnet.lst" \
		-f "$LAB_DIR/ibdm.fdbs" "${sls[@]}" >"$LAB_DIR/ibdm.out" 2>&1 </dev/null
		true) 2>/dev/null
	grep -qE "Scanned:$2 CA to CA paths" "$LAB_DIR/ibdm.out" && ! grep -qE '^-E-' "$LAB_DIR/ibdm.out" &&
		{ [ -z "$1" ] || grep -qi 'no credit loop' "$LAB_DIR/ibdm.out"; } ||
		{ grep -aE 'Scanned|^-E-|loop' "$LAB_DIR/ibdm.out" | sed 's/^/# /' | head -n 4; return 1; }
}

ends() { # of the update $id: nothing of it goes on
	state=$(state "$id") && case $state in
	confirmed | rolled-back | fabric-changed | superseded | abandoned) return 0 ;;
	*) return 1 ;;
	esac
}

ends_or_left() {
	ends || [ -z "$(ours worker)$(ours guard)" ]
}

# What status names is what the switches hold; without a cable, what OpenSM's policy has made.
holds_what_it_says() {
	lab_on n0003 ibnetdiscover >"$LAB_DIR/seen" 2>/dev/null
	lab_lfts >"$LAB_DIR/now"
	if [ -n "$lost" ] && [ -z "$gone" ]; then
		plugin 'p["links"] == 39 and p["source"] == "engine"'
	else
		case $state in
		confirmed) others_stay "$LAB_DIR/wanted" "$LAB_DIR/now" "$gone" ;;
		rolled-back | abandoned) others_stay "$LAB_DIR/before" "$LAB_DIR/now" "$gone" ;;
		esac
	fi && sound "$LAB_DIR/seen" "$LAB_DIR/now"
}

# What was lost is back: unconfirmed routes are not.
comes_back() {
	[ -n "$lost" ] || return 0
	lab_con "ReLink $lost"
	lab_wait 20 whole && lab_lfts >"$LAB_DIR/now" || return 1
	if plugin 'p["source"] == "confirmed"' && [ "$state" = confirmed ]; then
		cmp -s "$LAB_DIR/wanted" "$LAB_DIR/now"
	elif [ "$state" != confirmed ]; then
		! cmp -s "$LAB_DIR/wanted" "$LAB_DIR/now"
	fi
}

settled() { # OpenSM routes, and by nothing of an update
	plugin 'p["state"] == "master" and not p["busy"] and not p["update"] and p["source"] != "console"'
}

whole() { # and knows that everything is back
	settled && plugin 'p["links"] == 40 and p["hosts"] == 32'
}

# Of the cables between switches without which the rest hangs together.
random_cable() { # to $lost_sw, $lost_cable
	[ -s "$LAB_DIR/cables" ] || python3 - "$LAB_DIR/net" >"$LAB_DIR/cables" <<-'PY'
		import re, sys
		at, ends = None, {}
		for line in open(sys.argv[1]):
		    m = re.match(r'(\w+)\s+\d+ "([^"]+)"\s+# "([^" ]+)', line)
		    if m:
		        at = m[2] if m[1] == 'Switch' else None
		        continue
		    m = re.match(r'\[(\d+)\](?:\([^)]*\))?\s+"(S-[^"]+)"\[(\d+)\]', line)
		    if m and at:
		        ends[at, m[1]] = (m[2], m[3])
		switches = {sw for sw, _ in ends}
		for cable in sorted(ends):
		    seen, todo = set(), [cable[0]]
		    while todo:
		        sw = todo.pop()
		        if sw not in seen:
		            seen.add(sw)
		            todo += [to[0] for end, to in ends.items() if end[0] == sw and end != cable and to != cable]
		    if seen == switches:
		        print(cable[0], '[%s]' % cable[1])
	PY
	read -r lost_sw lost_cable < <(sed -n "$((RANDOM % $(wc -l <"$LAB_DIR/cables") + 1))p" "$LAB_DIR/cables")
}

random_rest() { # 0 to $1 tenths of a second
	sleep "$(awk -v n=$((RANDOM % $1)) 'BEGIN { print n / 10 }')"
}

disturb() { # as $mode says; sets $gone to LIDs that left, $lost to what
	local h victims
	gone='' lost=
	case $mode in
	losses)
		if [ $((RANDOM % 2)) -eq 0 ]; then
			h=$(lab_hosts | sed -n "$((RANDOM % 20 + 6))p")
			gone=$(printf '0x%04x' "$(lab_lid "$h")")
			lost="\"$(lab_node "$h")\""
		else
			random_cable
			lost="\"$lost_sw\"$lost_cable"
		fi
		lab_con "Unlink $lost"
		;;
	restarts)
		kill -9 "$(cat "$LAB_DIR/opensm.pid")"
		random_rest 20
		sm || return 1
		;;
	kills)
		victims=$(ours "$([ $((RANDOM % 2)) -eq 0 ] && echo worker || echo guard)")
		[ $((RANDOM % 3)) -ne 0 ] || victims="$victims $(ours worker) $(ours guard)"
		# shellcheck disable=SC2086
		kill -9 $victims 2>/dev/null
		if [ $((RANDOM % 3)) -eq 0 ]; then
			kill -9 "$(cat "$LAB_DIR/opensm.pid")"
			random_rest 30
			sm || return 1
		fi
		;;
	esac
}

once_more() { # number
	local engines=(dfsssp:4 nue:3 updn:2) confirm
	[ "$mode" = losses ] || lab_evict
	lab_wait 20 whole || { echo "# $1: OpenSM has not settled"; return 1; }
	lab_lfts >"$LAB_DIR/before"
	plan_for "${engines[$1 % 3]}" "$LAB_DIR/plan" || return 1
	if cmp -s "$LAB_DIR/before" "$LAB_DIR/wanted"; then # routed so already
		plan_for "${engines[($1 + 1) % 3]}" "$LAB_DIR/plan" || return 1
	fi
	does 0 apply "$LAB_DIR/plan" "${dirs[@]}" --without-agents --yes-fabric lab --detach \
		--confirm-timeout 8 "${accept[@]}" || { [ "$mode" = kills ] && return 0; return 1; }
	id=$(grep -oE '[0-9]{8}T[0-9]{6}Z-[0-9]+' "$LAB_DIR/out" | head -n 1)
	random_rest 40
	confirm=$((RANDOM % 2))
	[ "$confirm" -eq 0 ] || [ $((RANDOM % 2)) -eq 0 ] || top confirm "$id" --state-dir "$LAB_DIR/state" --socket "$sock" --yes-fabric lab >/dev/null 2>&1 &
	disturb || return 1
	wait
	lab_wait 30 ends_or_left
	if ! ends; then # nobody is left to end it: what status advises
		top rollback "$id" "${dirs[@]}" --yes-fabric lab >"$LAB_DIR/out" 2>&1
		ends || { echo "# $id: $state"; sed 's/^/# /' "$LAB_DIR/out" | tail -n 3; return 1; }
	fi
	lab_wait 30 settled || { echo "# $id: $state, and OpenSM goes on with it"; return 1; }
	lab_wait 10 holds_what_it_says || { echo "# $id: $state"; holds_what_it_says; return 1; }
	echo "$state" >>"$LAB_DIR/states"
}

plan_for() { # engine, plan file: also its tables as files, to compare with
	does 0 plan -e "$1" --fabric lab "${dirs[@]}" -o "$2" &&
		rm -rf "$LAB_DIR/files" &&
		{ top apply "$2" "${dirs[@]}" --without-agents --installer "file:$LAB_DIR/files" --state-dir "$LAB_DIR/state2" \
			"${accept[@]}" --yes-fabric lab --no-input >"$LAB_DIR/out" 2>&1 || [ $? -eq 4 ]; } &&
		lab_plain_lfts <"$LAB_DIR/files/opensm-lfts.dump" >"$LAB_DIR/wanted"
}

accept=()
! "$IBROUTE_TOP" apply --help | grep -q -- --accept-strangers || accept=(--accept-strangers)
if [ "$mode" != once ]; then
	failed=0
	for ((k = 1; k <= times; k++)); do
		lost=
		once_more "$k" || { failed=$((failed + 1)); echo "# in round $k, without ${lost:-anything lost}"; }
		comes_back || { failed=$((failed + 1)); echo "# after round $k, with $lost again"; }
	done
	echo "# $times rounds: $(sort "$LAB_DIR/states" | uniq -c | awk '{ printf "%s%d %s", (NR > 1 ? ", " : ""), $1, $2 }')"
	ok "$mode: each of $times updates ended as status says" [ "$failed" -eq 0 ]
	finish
fi

lab_lfts >"$LAB_DIR/before"
ok "a plan" does 0 plan -e dfsssp:4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/p1"

# 12: one update at a time, whatever the state directory
ok "an update waits" begin "$LAB_DIR/p1"
first=$id
dirs2=(--record-dir "$LAB_DIR/rec2" --state-dir "$LAB_DIR/state2" --socket "$sock")
ok "another one, of another admin node" does 0 plan -e nue:3 --fabric lab "${dirs2[@]}" -o "$LAB_DIR/p2"
ok "is refused" does 4 apply "$LAB_DIR/p2" "${dirs2[@]}" --without-agents --yes-fabric lab --no-input
ok "and named" said "update $first of .* is in progress"

# 2: confirmed means on the plugin's disk
kill -9 "$(cat "$LAB_DIR/opensm.pid")"
ok "OpenSM is dead: nothing is confirmed" not_confirmed "$first"
ok "the old tables are back, without it" lab_wait 40 is_state "$first" rolled-back
ok "in the switches" same "$LAB_DIR/before"
sm || give_up "opensm again"
ok "and for the next OpenSM" same "$LAB_DIR/before"

# 1 and 4: a cable breaks in the window
ok "a plan from what is there now" does 0 plan -e dfsssp:4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/p3"
lab_lfts >"$LAB_DIR/before"
ok "an update waits again" begin "$LAB_DIR/p3" --confirm-timeout 120
lab_lfts >"$LAB_DIR/unconfirmed"
lab_con "Unlink \"$(lab_node "$cable_sw")\"$cable"
ok "a cable lost: the update ends by itself" lab_wait 30 is_state "$id" fabric-changed
ok "the policy routes" lab_wait 10 plugin 'p["source"] == "engine" and not p["step"] and not p["update"] and p["links"] == 39'
ok "status says so" does 0 status "$id" --state-dir "$LAB_DIR/state"
ok "and by what" said "fabric has changed.*OpenSM now routes by"
lab_con "ReLink \"$(lab_node "$cable_sw")\"$cable"
ok "the cable is back" lab_wait 15 plugin 'p["links"] == 40 and p["source"] == "engine"'
ok "the unconfirmed routes are not" same "$LAB_DIR/before"
ok "nothing is unfinished" bash -c "! '$IBROUTE_TOP' status --state-dir '$LAB_DIR/state' | grep -q interrupted"

# 1: the same, but the process was killed, and what status advises is done
ok "an update waits once more" begin "$LAB_DIR/p3"
kill_ours
lab_con "Unlink \"$(lab_node "$cable_sw")\"$cable"
ok "a cable lost" lab_wait 15 plugin 'p["links"] == 39'
ok "rollback hands over nothing" does 11 rollback "$id" "${dirs[@]}" --yes-fabric lab
ok "the policy routes, verified" plugin 'p["source"] == "engine" and not p["step"] and not p["update"]'
lab_con "ReLink \"$(lab_node "$cable_sw")\"$cable"
lab_wait 15 plugin 'p["links"] == 40'

# 10: worker and guard are stopped
ok "an update that nobody will speak for" begin "$LAB_DIR/p3" --confirm-timeout 10
stop_ours
ok "goes back by itself" lab_wait 20 plugin 'p["ended"] and not p["update"]'
ok "in the switches" lab_wait 5 same "$LAB_DIR/before"
continue_ours
ok "and whoever wakes up says the same" lab_wait 30 finished "$id"
ok "as it was" same "$LAB_DIR/before"

# 3: confirmed tables outlive a host
top apply "$LAB_DIR/p3" "${dirs2[@]}" --without-agents --installer "file:$LAB_DIR/p3.files" --yes-fabric lab --no-input >/dev/null 2>&1
ok "an update is confirmed" does 0 apply "$LAB_DIR/p3" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
lab_lfts >"$LAB_DIR/confirmed"
host=$(lab_hosts | sed -n 9p)
lid=$(printf '0x%04x' "$(lab_lid "$host")")
for k in 1 2 3; do
	lab_con "Unlink \"$(lab_node "$host")\""
	lab_wait 15 plugin 'p["hosts"] == 31' || break
	lab_lfts >"$LAB_DIR/away"
	ok "$k: a host away: the confirmed tables stay" plugin 'p["source"] == "confirmed"'
	ok "$k: no other entry changes" others_stay "$LAB_DIR/confirmed" "$LAB_DIR/away" "$lid"
	lab_con "ReLink \"$(lab_node "$host")\""
	lab_wait 15 plugin 'p["hosts"] == 32' || break
	ok "$k: it is back, as it was" lab_wait 5 same "$LAB_DIR/confirmed"
done
ok "all three times" [ "$k" -eq 3 ]
if command -v ibdmchk >/dev/null; then
	kill -HUP "$(cat "$LAB_DIR/opensm.pid")" # dumps are written in sweeps
	sleep 1
	ok "ibdmchk finds every pair connected, and no credit loop" ibdm_finds "$LAB_DIR/p3.files" $((32 * 31))
else
	skip "handover: ibdmchk (package ibutils) is not installed"
fi
finish
