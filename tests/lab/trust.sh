#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# trust.sh: root of one node sends what it likes, straight and through OpenSM, in the name of others, and what
# it has recorded; without a key and with one.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

tool=$PWD/build/tests/lab/notice_tool forge=$PWD/build/tests/lab/trust_tool
make -s "${tool#"$PWD/"}" "${forge#"$PWD/"}" >/dev/null || give_up "the tools build"
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/judge
key=$LAB_DIR/agents.key
echo "42 n0003,n0018" >"$LAB_DIR/jobs"
dirs=(--record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state" --jobs "$LAB_DIR/jobs")

agent() { # node, drain command, option...
	lab_start_agent "$1" "$1" --job 42 --drain-cmd "$2" --migrate-cmd true "${@:3}"
}
lid_of() { sed -n 's/^ready lid \([0-9]*\).*/\1/p' "$LAB_DIR/agent-$1.log" | tail -n 1; }
guid_of() { sed -n 's/^port 0x//p' "$LAB_DIR/$1.state"; }
status_of() { "$IBROUTE_TOP" agent --status --socket "$LAB_DIR/$1.sock"; }
says() { status_of "$1" | grep -xE -- "$2"; }
logged() { lab_wait 5 grep -qE -- "$2" "$LAB_DIR/agent-$1.log"; }
never() { ! grep -E -- "$2" "$LAB_DIR/agent-$1.log"; }
stays() { # node, mode: also a moment later
	sleep 1
	says "$1" "mode $2"
}
by() { lab_on n0030 "$forge" "$@"; } # who means harm
not_ok() { tail -qn 3 "$LAB_DIR"/agent-*.log "$LAB_DIR/out" 2>/dev/null | cut -c1-200 | sed "s/^/  # /"; }

# --- an update, with what else is said while a slow agent keeps all waiting ---
plan() { lab_on n0001 "$IBROUTE_TOP" plan "$@" --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan"; }
apply() { # exit code, option...
	local want=$1 rc

	shift
	LAB_TIMEOUT=100 lab_on n0002 "$IBROUTE_TOP" apply --accept-slower "$LAB_DIR/plan" "${dirs[@]}" --accept-strangers --yes-fabric lab --no-input "$@" \
		>"$LAB_DIR/out" 2>&1
	rc=$?
	[ "$rc" -eq "$want" ] || { echo "exit $rc"; tail -n 6 "$LAB_DIR/out"; return 1; }
}
told() { grep -qE -- "$1" "$LAB_DIR/out" || { tail -n 6 "$LAB_DIR/out"; return 1; }; }
asked() { # node: transaction and question of the last UNPATH
	sed -n 's/.*says UNPATH: transaction \([0-9]*\), question \([0-9]*\).*/\1 \2/p' "$LAB_DIR/agent-$1.log" | tail -n 1
}
# n0003 takes its time, n0018 has drained; then that is done, with the transaction and the question.
meanwhile() { # command...
	local txn seq

	lab_wait 20 grep -q 'answers UNPATH' "$LAB_DIR/agent-n0018.log" || return 1
	lab_wait 5 grep -q 'says UNPATH' "$LAB_DIR/agent-n0003.log" || return 1
	read -r txn seq < <(asked n0003)
	"$@" "$txn" "$seq"
}
no_writes() { ! grep -hE '"type": ?"phase.begin".*"phase": ?"WRITE"' "$LAB_DIR"/rec/*.jsonl; }
drained_before_writing() {
	# the record's first write, and the log of the agent that was slow
	local wrote answered

	wrote=$(grep -hoE '"ts": ?"[^"]*".*"type": ?"phase.begin".*"phase": ?"WRITE"' "$LAB_DIR"/rec/*.jsonl | head -n 1 |
		sed 's/"ts": *"\([^"]*\)".*/\1/')
	answered=$(sed -n 's/^\([^ ]*\) .*answers UNPATH.*: done$/\1/p' "$LAB_DIR/agent-n0003.log" | head -n 1)
	echo "written $wrote, answered $answered"
	[ -n "$wrote" ] && [ -n "$answered" ] && ! [[ $wrote < $answered ]]
}
agents() { # drain command of n0003, option...
	local slow=$1

	shift
	for node in n0003 n0018; do
		lab_kill "agent-$node"
		rm -f "$LAB_DIR/$node.state"
	done
	rm -rf "$LAB_DIR/rec"
	agent n0003 "$slow" "$@" && agent n0018 true "$@"
}

now=$(date +%s)

# --- a stock OpenSM, without a key: what comes straight is not believed, what cannot be is refused ---
lab_fabric hyperx:dims=4x4,hosts=2 || give_up "the fabric starts"
lab_opensm "routing_engine updn" "lmc 3" || give_up "opensm brings the subnet up"
sm=$(lab_lid n0001)
ok "agents without a key" agents true
ok "say so" logged n0003 'has no key: root of any node of the fabric can forge'
ok "a report that a node sends straight" by report "$(lid_of n0003)" 68 $((now + 9)) 7 900
ok "is not the SM's" lab_wait 5 says n0003 "strangers 1"
ok "and not obeyed" stays n0003 base
ok "nor is one with a number near 2^64" by report "$(lid_of n0018)" 69 18446744073709551614 4294967290 0
ok "there, too" lab_wait 5 says n0018 "strangers 1"
ok "a notice through the SM near 2^64, with a hold of 65,535 s" by trap "$sm" 68 18446744073709551614 4294967294 65535
ok "is refused" lab_wait 5 says n0003 "refused 1"
ok "and told" logged n0003 'refused: a number of it is out of bounds'
ok "by the others as well" stays n0018 base
ok "so is one of next week" by trap "$sm" 69 $((now + 7 * 86400)) 1 0
ok "which blocks nothing" stays n0003 base
ok "nor what follows:" says n0003 "transaction 0"
ok "one that is a little ahead is obeyed without a key" by trap "$sm" 68 $((now + 3600)) 1 60
ok "as anybody's" lab_wait 5 says n0003 "mode escape"
ok "a true question is refused then" lab_on n0004 "$tool" send 68 "$now" 1
ok "and that is told, with what to do" logged n0003 'this node has seen a later one.*agent --forget-transaction'
forget() { "$IBROUTE_TOP" agent --forget-transaction --socket "$LAB_DIR/$1.sock"; }
ok "which does it" eval 'forget n0003 && forget n0018'
ok "it is on its base LIDs" lab_wait 5 says n0003 "mode base"
ok "and has forgotten" lab_wait 5 says n0003 "transaction 0"
ok "the true question again" lab_on n0004 "$tool" send 68 "$now" 70000 2
ok "is obeyed" lab_wait 5 says n0003 "mode escape"
ok "and called back" lab_on n0004 "$tool" send 69 "$now" 70003 2
ok "it returns" lab_wait 5 says n0003 "mode base"

# --- the same with a key ---
signed() { lab_on n0004 env NOTICE_KEY="$key" "$tool" send "$@"; }
ok "a key is made" "$IBROUTE_TOP" agent --new-key "$key"
readable() { (umask 022; cat "$key" >"$LAB_DIR/other") && ! agent n0009 true --agents-key "$LAB_DIR/other"; }
PATIENCE=0 ok "an agent refuses one that others can read" readable
ok "with the right words" logged n0009 'can be read or written by others'
rm -f "$LAB_DIR/agent-n0009.pid"
ok "agents with a key" agents true --agents-key "$key"
has_key() { says n0003 'key [0-9a-f]{4}'; }
ok "name it" has_key
# shellcheck disable=SC2046
lab_daemon record env $(lab_env n0029) "$forge" record 600 "$LAB_DIR/recorded" 68 69
ok "somebody records" lab_wait 10 grep -q listening "$LAB_DIR/record.log"
ok "any notice through the SM, in the SM's name" by trap "$sm" 68 "$now" 1 60
ok "is ignored" lab_wait 5 says n0003 "unsealed 1"
ok "and counted by others" stays n0018 base
ok "one with the key" signed 68 "$now" 2 1
ok "is obeyed" lab_wait 5 says n0003 "mode escape"
ok "the call back" signed 69 "$now" 3 1
ok "as well" lab_wait 5 says n0003 "mode base"
lab_wait 5 says n0018 "mode base"
lab_kill record
ok "what was recorded, sent again through the SM" by replay "$LAB_DIR/recorded"
ok "and straight" by replay "$LAB_DIR/recorded" "$(lid_of n0018)"
ok "leads nobody anywhere" stays n0003 base
ok "there either" stays n0018 base
ok "nothing of it was taken for new" eval '[ "$(grep -c "says UNPATH" "$LAB_DIR/agent-n0018.log")" -eq 1 ]'
# a new key behind the old one, then before it, then alone
cp "$key" "$LAB_DIR/old"
"$IBROUTE_TOP" agent --new-key "$LAB_DIR/new" >/dev/null
rotated() { # files in their order, question, phase, mode
	local phase=$1 seq=$2 mode=$3

	shift 3
	(umask 077; cat "$@" >"$key.tmp") && mv "$key.tmp" "$key" &&
		signed "$phase" "$now" "$seq" 1 && lab_wait 5 says n0003 "mode $mode" && lab_wait 5 says n0018 "mode $mode"
}
ok "a second key: the first one signs" rotated 68 4 escape "$LAB_DIR/old" "$LAB_DIR/new"
ok "the other way round: no interruption" rotated 69 5 base "$LAB_DIR/new" "$LAB_DIR/old"
ok "without the old one" rotated 68 6 escape "$LAB_DIR/new"
ok "and back" rotated 69 7 base "$LAB_DIR/new"
old_key() { ! NOTICE_KEY=$LAB_DIR/old lab_on n0004 env NOTICE_KEY="$LAB_DIR/old" "$tool" send 68 "$now" 8 1 || true; }
ok "who still has the old one" old_key
ok "is not believed" lab_wait 5 says n0003 "forged 3"
ok "nor obeyed" stays n0003 base

# somebody has the key, but is none of those who may ask
(umask 077; { cat "$LAB_DIR/new"; echo "issuer 0x$(guid_of n0018)"; } >"$key.tmp") && mv "$key.tmp" "$key"
forged=$(status_of n0003 | sed -n 's/^forged //p')
sleep 1
ok "one who has the key and may not ask" signed 68 "$now" 9 1
ok "is not believed" lab_wait 5 says n0003 "forged $((forged + 1))"
ok "nor obeyed" stays n0003 base

# --- who is asked through a stock OpenSM, and a third node that answers for the slow one ---
ok "agents without a key, one slow" agents 'sleep 3'
round() { # prints how long the drain took
	lab_on n0002 "$tool" round "$((now + 60))" 2
}
round >"$LAB_DIR/round" 2>&1 &
asking=$!
answers_for() { # transaction, question
	by answer "$(lab_lid n0002)" "$(guid_of n0003)" "$1" "$2"
}
ok "a third node answers straight to who asks" meanwhile answers_for
ok "both have answered themselves" wait "$asking"
slow() { [ "$(sed -n 's/^phase 68: 2 of 2 acks in \([0-9]*\).*/\1/p' "$LAB_DIR/round")" -gt 2500 ]; }
claimed() { sed 's/^/  # /' "$LAB_DIR/round"; slow; }
ok "and the slow one was waited for" claimed
lab_opensm_stop

# --- OpenSM with the plugin, no key: who calls an agent back ends the update before it writes ---
policy "engine updn" "escape yes" "vls 4" "threads 1"
dirs+=(--socket "$sock")
opensm() { # option of the plugin...
	LAB_PLUGIN_OPTIONS=$* lab_plugin "routing_engine ibroute,no_fallback" "qos TRUE" "lmc 3"
}
opensm ibroute_key=none || give_up "opensm with the plugin starts"
ok "a plan" plan -e nue --escape --vls 4 --agents-key none
agents 'sleep 3'
calls_back() { by trap "$sm" 69 "$1" "$(($2 + 1000))" 0; } # transaction, question
meanwhile calls_back >"$LAB_DIR/meanwhile" 2>&1 &
calling=$!
ok "an update, and somebody calls its agents back: it ends" apply 4 --agents-key none
wait "$calling"
ok "says that there is no key" told 'agents have no key: root of any node can forge'
ok "says who was called back" told 'n00(03|18) \(job 42\) was told to return while it should be drained: somebody else'
ok "and that nothing is written" told 'nothing is written'
ok "nothing was" no_writes
ok "all are back" lab_wait 8 says n0018 "mode base"
lab_wait 8 says n0003 "mode base"
lab_opensm_stop

# --- the same with a key, and all that can be sent ---
(umask 077; cat "$LAB_DIR/new" "$LAB_DIR/old" >"$key")
opensm "ibroute_key=$key" || give_up "opensm with the plugin and a key starts"
ok "the plugin says that it signs" grep -q 'ibroute: .*notices to agents are signed' "$LAB_DIR/osm/opensm.log"
dirs+=(--agents-key "$key")
ok "a plan" plan -e nue --escape --vls 4
ok "agents with the key, one slow" agents 'sleep 4' --agents-key "$key"
attacks() { # transaction, question
	by trap "$sm" 69 "$1" "$(($2 + 1000))" 0
	by report "$(lid_of n0018)" 69 "$1" "$(($2 + 1000))" 0
	by trap "$(lid_of n0018)" 68 1099511627775 1 3600
	by claim "$(lid_of n0003)" "$1" "$2"
	by replay "$LAB_DIR/recorded"
}
meanwhile attacks >"$LAB_DIR/meanwhile" 2>&1 &
attacking=$!
ok "an update meanwhile" apply 0
wait "$attacking"
ok "nothing of it was heard" eval '! told "somebody else"'
ok "nor that there is no key" eval '! told "agents have no key"'
ok "it was written after the true answer" drained_before_writing
ok "the agents have counted" says n0018 'unsealed [1-9][0-9]*'
ok "what was straight, too" says n0018 'strangers [1-9][0-9]*'
ok "they were led there and back once" eval '[ "$(grep -c ": drain$" "$LAB_DIR/agent-n0018.log")" -eq 1 ]'
counted() { lab_on n0001 "$IBROUTE_TOP" sm --json --socket "$sock" | grep -qE '"unsealed": ?[1-9]'; }
ok "so has the plugin" counted
finish
