#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# agents_home.sh [SEED]
# agents_home.sh kills N [SEED]     (make soak)
#
# Agents of a job on three hosts of a random net, and OpenSM with our plugin.  Worker, guard and OpenSM
# are killed at random moments after UNPATH, one or all; within 60 s all agents are on their base LIDs,
# as they and their state files say, and meanwhile status names them.  kills: N times, by chance.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
kills=0
if [ "${1:-}" = kills ]; then
	kills=${2:-60}
	shift "$(($# < 2 ? $# : 2))"
fi
seed=${1:-${LAB_SEED:-$((RANDOM % 9000 + 1))}}
RANDOM=$seed
nodes="n0005 n0009" # and a third one: see drained_host

lab_needs_plugin

lab_new || exit 1
dirs+=(--jobs "$LAB_DIR/jobs")
echo "# seed $seed"

sm() {
	lab_plugin "routing_engine ibroute,nue" "qos TRUE" "lmc 1"
}

kill_sm() {
	kill -9 "$(cat "$LAB_DIR/opensm.pid")"
	lab_wait 5 lab_dead opensm
	lab_evict
}

# As long as there is a file of its name, the last node's command waits.
cat >"$LAB_DIR/hook" <<'END'
while [ -e "$1/hold.$2" ] && [ "$IBROUTE_PHASE" != return ]; do sleep 0.05; done
END

agent() { # node
	lab_start_agent "$1" "$1" --job 7 --drain-cmd "sh $LAB_DIR/hook $LAB_DIR $1" --migrate-cmd true
}

mode() { # node, mode
	timeout 5 "$IBROUTE_TOP" agent --status --socket "$LAB_DIR/$1.sock" 2>/dev/null | grep -qx "mode $2"
}

all_home() {
	local node
	for node in $nodes; do
		# the fifth word: enum agent_mode
		mode "$node" base && [ "$(awk '/^state / { print $6 }' "$LAB_DIR/$node.state")" = 0 ] || return 1
	done
}

home_in_60() { # since when
	local node
	lab_wait 60 all_home
	took=$((SECONDS - $1))
	all_home && [ "$took" -le 60 ] && return 0
	echo "# after $took s:"
	for node in $nodes; do
		timeout 5 "$IBROUTE_TOP" agent --status --socket "$LAB_DIR/$node.sock" | sed "s/^/# $node: /" | head -n 5
		tail -n 5 "$LAB_DIR/agent-$node.log" | sed "s/^/# $node: /"
	done
	grep 'ibroute' "$LAB_DIR/osm/opensm.log" | tail -n 5 | sed 's/^/# /'
	return 1
}

away() { # the nodes that status names
	"$IBROUTE_TOP" status --json --state-dir "$LAB_DIR/state" --socket "$sock" 2>/dev/null |
		python3 -c 'import json, sys; print(*[a["node"] for a in json.load(sys.stdin)["agents_away"]])'
}

names() { # nodes
	local node now
	now=$(away)
	for node in "$@"; do
		[[ " $now " = *" $node "* ]] && continue
		echo "# away: $now"
		"$IBROUTE_TOP" status --state-dir "$LAB_DIR/state" --socket "$sock" 2>&1 | tail -n 12 | sed 's/^/# /'
		for node in $nodes; do
			timeout 5 "$IBROUTE_TOP" agent --status --socket "$LAB_DIR/$node.sock" | sed "s/^/# $node: /" | head -n 5
		done
		return 1
	done
}

nobody_away() {
	[ -z "$(away)" ]
}

strike() { # worker, guard, both, sm, all
	local pids=''
	case $1 in
	worker | guard) pids=$(ours "$1") ;;
	both | all) pids="$(ours guard) $(ours worker)" ;;
	esac
	# shellcheck disable=SC2086
	[ -z "$pids" ] || { kill -STOP $pids; kill -9 $pids; } 2>/dev/null
	case $1 in
	sm | all) kill_sm ;;
	esac
	lab_evict
}

subscribed() { # node
	local gid
	gid=$(sed -n 's/^port 0x\(....\)\(....\)\(....\)\(....\)$/fe80:0:0:0:\1:\2:\3:\4/p' "$LAB_DIR/$1.state")
	[ "$(lab_on n0002 saquery IIR "$gid" | grep -cE 'trap_num\.+(68|69)$')" -eq 2 ]
}

all_subscribed() {
	local node
	for node in $nodes; do
		subscribed "$node" || return 1
	done
}

over() {
	! "$IBROUTE_TOP" status --state-dir "$LAB_DIR/state" --socket "$sock" 2>/dev/null | grep -qE ' (running|prepared) '
}

# Whatever was left behind by all processes is recovered as status says, else the next one is refused.
tidy() {
	local id
	lab_wait 60 over
	for id in $("$IBROUTE_TOP" status --json --state-dir "$LAB_DIR/state" --socket "$sock" 2>/dev/null |
		python3 -c 'import json, sys
for t in json.load(sys.stdin)["transactions"]: t["finished"] or print(t["id"])'); do
		top rollback "$id" "${dirs[@]}" --yes-fabric lab >"$LAB_DIR/out" 2>&1 || tail -n 3 "$LAB_DIR/out" | sed 's/^/# /'
	done
}

# A plan by which the job has to drain, on all of its nodes, if there is one from what is installed by now
# (the LIDs that need a drain may belong to others only); one that changes nothing, as of the engine that
# was used last, is none.
drains=''
draining() {
	local engine
	drains=''
	rm -f "$LAB_DIR/p"
	for engine in nue:2 nue:3 updn dfsssp:4; do
		does 0 plan -e "$engine" --escape --fabric lab "${dirs[@]}" -o "$LAB_DIR/p.new" || return 1
		grep -q '^order of writes' "$LAB_DIR/out" || continue
		mv "$LAB_DIR/p.new" "$LAB_DIR/p"
		grep -q 'must be drained, by 1 job on 3 ports' "$LAB_DIR/out" && { drains=yes; return 0; }
	done
	echo "# no plan drains the job"
	[ -f "$LAB_DIR/p" ]
}

# A host whose LID needs a drain in one of the plans, so that a job that it is part of has to.
drained_host() {
	local engine name
	third=n0012
	for engine in nue:2 nue:3 updn dfsssp:4; do
		does 0 plan -e "$engine" --escape --fabric lab "${dirs[@]}" -o "$LAB_DIR/p" || return 1
		for name in $(grep '^drain: ' "$LAB_DIR/out" | grep -oE 'n[0-9]{4} ' | grep -vE "n000[12]|${nodes// /|}"); do
			third=$name
			return 0
		done
	done
}

one() { # whom, after how many ms, does an agent hold up the drain?
	local whom=$1 since down=0

	rm -f "$LAB_DIR"/hold.*
	ok "$whom: a plan" draining || return
	ok "$whom: all agents are subscribed" lab_wait 20 all_subscribed
	[ -z "$3" ] || touch "$LAB_DIR/hold.$third"
	ok "$whom: an update begins" does 0 apply --accept-slower --accept-strangers "$LAB_DIR/p" "${dirs[@]}" --yes-fabric lab --detach --agent-timeout 20 \
		--confirm-timeout 5
	lab_wait 10 mode n0005 escape
	sleep "$(printf '%d.%03d' $(($2 / 1000)) $(($2 % 1000)))"
	strike "$whom"
	since=$SECONDS
	case $whom in
	both | all)
		[ -z "$3" ] || [ -z "$drains" ] || ok "$whom after $2 ms: status names who is away" names n0005 n0009 ;;
	esac
	rm -f "$LAB_DIR"/hold.*
	case $whom in
	sm | all)
		down=$((RANDOM % 2 * 4))
		sleep "$down"
		sm || give_up "opensm again"
		[ "$whom" = sm ] || since=$SECONDS ;;
	esac
	# an update that goes on ends first
	[ "$whom" = both ] || [ "$whom" = all ] || { lab_wait 60 over; since=$SECONDS; }
	ok "$whom after $2 ms${3:+, in UNPATH}: all agents are at home" home_in_60 "$since" &&
		echo "# $took s, opensm away for $down s"
	tidy
	ok "$whom: and stay there" all_home
	ok "$whom: status names none" lab_wait 5 nobody_away
}

lab_fabric "random:switches=12,links=30,hosts=2,seed=$seed" || give_up "the fabric"
policy "engine nue:4" "escape yes" "threads 1" "seed 3"
sm || give_up "opensm"
echo "7 ${nodes// /,}" >"$LAB_DIR/jobs"
ok "a host that has to drain" drained_host
nodes="$nodes $third"
echo "7 ${nodes// /,}" >"$LAB_DIR/jobs"
for node in $nodes; do
	ok "an agent on $node" agent "$node"
done

# a restart that is quicker than any poll
ok "subscribed" lab_wait 5 all_subscribed
kill_sm
sm || give_up "opensm again"
since=$SECONDS
ok "opensm restarted: all subscribe again" lab_wait 20 all_subscribed
echo "# after $((SECONDS - since)) s"

victims=(worker guard both both all all sm)
for ((k = 1; k <= kills; k++)); do
	echo "# $k of $kills"
	one "${victims[RANDOM % 7]}" $((RANDOM % 3000)) "$([ $((RANDOM % 2)) = 0 ] || echo held)"
done
[ "$kills" -eq 0 ] || finish

# the two that tell most; the others come by chance in make soak
one all $((RANDOM % 1500)) held
one both $((RANDOM % 800)) ""

# one that was left behind comes home while another update waits, which has no agents of its own
ok "another plan" does 0 plan -e dfsssp:4 --escape --fabric lab "${dirs[@]}" -o "$LAB_DIR/p"
touch "$LAB_DIR/hold.n0009"
ok "an update" does 0 apply --accept-slower --accept-strangers "$LAB_DIR/p" "${dirs[@]}" --yes-fabric lab --detach --confirm-timeout 60 --agent-timeout 10 \
	--on-silent continue # it has drained, and does not answer the question right before the first write
lab_wait 10 mode $third escape
kill -9 "$(cat "$LAB_DIR/agent-$third.pid")"
lab_wait 5 lab_dead agent-$third
lab_evict
rm -f "$LAB_DIR/hold.n0009"
waits() { "$IBROUTE_TOP" status last --state-dir "$LAB_DIR/state" --socket "$sock" 2>/dev/null | grep -q 'rolls back in'; }
ok "waits without the agent that was killed" lab_wait 30 waits
ok "and is confirmed" does 0 confirm last "${dirs[@]}" --yes-fabric lab
ok "status names the agent" names $third
ok "a plan of another engine" does 0 plan -e nue:4 --escape --fabric lab "${dirs[@]}" -o "$LAB_DIR/p2"
ok "an update without agents waits" does 0 apply --accept-slower --accept-strangers "$LAB_DIR/p2" "${dirs[@]}" --without-agents --yes-fabric lab --detach \
	--confirm-timeout 120
ok "for its confirmation" lab_wait 20 waits
ok "the agent is started again" agent $third
since=$SECONDS
ok "and called back" home_in_60 "$since"
echo "# $took s"
ok "the update still waits" waits
does 0 rollback last "${dirs[@]}" --yes-fabric lab
finish
