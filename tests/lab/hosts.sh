#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hosts.sh [N [SEED [SWITCHES]]]: hosts go and come back N times (10) on a random net of so many
# switches (16) whose tables were confirmed, and one comes that was not there before.  What dump_fts
# and saquery find says that nobody else's entries and service levels change; a plan that was computed
# before is carried out, and the confirmed tables outlive a restart of opensm while a host is away.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
times=${1:-10}
seed=${2:-${LAB_SEED:-$((RANDOM % 9000 + 1))}}
switches=${3:-16}
hosts=$((2 * switches))
LAB_TIMEOUT=300

lab_needs_plugin

lab_new || exit 1
echo "# seed $seed, $switches switches, $times times"

sm() {
	lab_plugin "routing_engine ibroute,nue" "qos TRUE"
}

apply() { # plan
	does "$1" apply "$2" "${dirs[@]}" --without-agents --accept-strangers --yes-fabric lab --no-input
}

# A plan of before is carried out with other hosts, and says so; where LIDs would have to be drained
# that had not to, it is refused, and computed again.
follows() { # plan, what it says, engine
	if apply 0 "$1" >"$LAB_DIR/said"; then
		said "$2"
	elif said "would have to be drained as well" >/dev/null; then
		echo "# refused: others would have to be drained"
		does 0 plan -e "$3" --fabric lab "${dirs[@]}" -o "$1.again" && apply 0 "$1.again"
	else
		cat "$LAB_DIR/said"
		return 1
	fi
}

confirmed_with() { # how many hosts
	lab_wait 40 plugin "p['hosts'] == $1 and p['source'] == 'confirmed' and not p['step']"
}

hex() {
	printf '0x%04x' "$1"
}

sl_of() { # two LIDs
	lab_on n0003 saquery -p --slid "$1" --dlid "$2" </dev/null | sed -n 's/^[ \t]*sl\.\.*//p'
}

# SLs of the sampled pairs, but those of LID $1, as lines of "from to sl"
sls() {
	local a b
	while read -r a b; do
		[ "$a" = "$1" ] || [ "$b" = "$1" ] || echo "$a $b $(sl_of "$a" "$b")"
	done <"$LAB_DIR/pairs"
}

sls_stay() { # but those of LID $1
	sls "$1" >"$LAB_DIR/sls.now"
	awk -v g="$1" '$1 != g && $2 != g' "$LAB_DIR/sls" | diff - "$LAB_DIR/sls.now" >"$LAB_DIR/sls.diff" &&
		[ -s "$LAB_DIR/sls.now" ] || { sed 's/^/# /' "$LAB_DIR/sls.diff" | head -n 5; return 1; }
}

sample_pairs() {
	lab_on n0002 ibnetdiscover 2>/dev/null >"$LAB_DIR/seen"
	awk -v seed="$seed" '/^Ca/ { ca = 1 } /^Switch/ { ca = 0 }
		ca && /^\[1\]/ && match($0, /# lid [0-9]+/) { lid[n++] = substr($0, RSTART + 6, RLENGTH - 6) }
		END { srand(seed); for (i = 0; i < 8; i++) { a = int(rand() * n); b = (a + 1 + int(rand() * (n - 1))) % n; print lid[a], lid[b] } }' \
		"$LAB_DIR/seen" >"$LAB_DIR/pairs"
	sls none >"$LAB_DIR/sls"
	[ "$(grep -cE ' (0x)?[0-9a-f]+$' "$LAB_DIR/sls")" -eq 8 ] || { sed 's/^/# /' "$LAB_DIR/sls"; return 1; }
}

unlink_host() {
	lab_con "Unlink \"$(lab_node "$1")\""
}

relink_host() {
	lab_con "ReLink \"$(lab_node "$1")\""
}

# A host that is nobody's client, by chance
any_host() {
	lab_hosts | sed -n "$((4 + RANDOM % (hosts - 5)))p"
}

reaches() { # LIDs: a packet from the first to the second
	lab_on n0003 ibtracert "$1" "$2" 2>/dev/null | grep -q "^To ca"
}

# host NAME away, and back
once() {
	local lid
	lid=$(lab_lid "$1")
	unlink_host "$1"
	confirmed_with $((present - 1)) || { echo "# $1 away: the confirmed tables do not stay"; return 1; }
	lab_lfts >"$LAB_DIR/away"
	others_stay "$LAB_DIR/confirmed" "$LAB_DIR/away" "$(hex "$lid")" || return 1
	sls_stay "$lid" || return 1
	relink_host "$1"
	confirmed_with "$present" || { echo "# $1 back: the confirmed tables do not stay"; return 1; }
	lab_wait 5 same "$LAB_DIR/confirmed" || { echo "# $1 back: other entries"; return 1; }
	sls_stay none
}

all_times() {
	for ((k = 1; k <= times; k++)); do
		once "$(any_host)" || { echo "# the ${k}th time of $times"; return 1; }
	done
}

RANDOM=$seed
lab_fabric "random:switches=$switches,links=$((5 * switches / 2)),hosts=2,seed=$seed" || give_up "the fabric"
new=$(lab_hosts | tail -n 1)
idle=$(lab_hosts | sed -n 7p)
unlink_host "$new"
present=$((hosts - 1))
policy "engine nue:2" "seed 5" "threads 1"
sm || give_up "opensm"

# a plan follows the hosts
ok "a plan" does 0 plan -e updn --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan"
unlink_host "$idle"
lab_wait 40 plugin "p['hosts'] == $((present - 1))"
ok "a host is away: it is carried out" follows "$LAB_DIR/plan" "1 port away" updn
ok "it is what OpenSM routes by" confirmed_with $((present - 1)) || give_up "the rest needs it"
lab_lfts >"$LAB_DIR/away"
relink_host "$idle"
ok "the host that was away comes: the confirmed tables stay" confirmed_with "$present"
lab_lfts >"$LAB_DIR/confirmed"
ok "no other entry changes" others_stay "$LAB_DIR/away" "$LAB_DIR/confirmed" "$(hex "$(lab_lid "$idle")")"
ok "it is reached" reaches "$(lab_lid n0002)" "$(lab_lid "$idle")"
ok "and reaches others" reaches "$(lab_lid "$idle")" "$(lab_lid n0002)"
ok "service levels of 8 pairs" sample_pairs

ok "$times times a host away and back: nobody else's entries and service levels change" all_times

# one that was never there
ok "a plan from these tables" does 0 plan -e nue:3 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan2"
relink_host "$new"
ok "a new host comes: the confirmed tables stay" confirmed_with "$hosts"
lid=$(lab_lid "$new")
lab_lfts >"$LAB_DIR/more"
ok "no other entry changes" others_stay "$LAB_DIR/confirmed" "$LAB_DIR/more" "$(hex "$lid")"
ok "no service level does" sls_stay none
ok "it is reached" reaches "$(lab_lid n0002)" "$lid"
ok "and reaches others" reaches "$lid" "$(lab_lid n0002)"
ok "the plan of before follows it" follows "$LAB_DIR/plan2" "1 port new" nue:3
ok "it is reached by these tables, too" reaches "$(lab_lid n0002)" "$lid"

# opensm starts again while a host is away
lab_lfts >"$LAB_DIR/confirmed"
sample_pairs
lid=$(lab_lid "$idle")
unlink_host "$idle"
confirmed_with $((hosts - 1))
sm || give_up "opensm again"
ok "opensm starts again with a host away: the confirmed tables stay" confirmed_with $((hosts - 1))
lab_lfts >"$LAB_DIR/away"
ok "no other entry changes" others_stay "$LAB_DIR/confirmed" "$LAB_DIR/away" "$(hex "$lid")"
ok "no service level does" sls_stay "$lid"
relink_host "$idle"
ok "it is back" confirmed_with "$hosts"
ok "as it was" lab_wait 5 same "$LAB_DIR/confirmed"
finish
