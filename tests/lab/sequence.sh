#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sequence.sh [full | kills [N [SEED]] | handover | midwave | late | auto]: four SLURM jobs of two nodes with an agent and two
# processes on each, a stock opensm with our plugin, LMC 3 (four LIDs for traffic and four to escape
# to).  Reroutes them from engine to engine, each through all five phases; then a cable goes and
# comes back, and opensm starts again.  What saquery, smpquery, dump_fts and ibdmchk find, which are
# not ours, is what was planned.  In full: updn, sar, dfdn, nue, parx and back, from parx to sar by
# changing as little as possible (make lab; ENGINES="..." others); else updn, parx, updn.
# kills: instead N updates (preset 200) in which the console, the watchdog, which is the plugin's
# client, its guard, both, or an agent gets SIGKILL at a random moment; then all of the old or of the
# new routing is there, everybody is at the base LIDs, and status has told which.  Two in the short one.
# handover: instead, with two of the jobs, a second opensm of higher priority takes over while an update
# waits for agents, and ends while another one waits for its confirmation; both are undone.
# midwave: likewise, opensm dies in the middle of the blocks that it writes for an update, with another one
# standing by, which routes as before or otherwise, and with none; the update's processes die with it; and
# one of higher priority takes over there while the old one lives on.
# late: likewise, a third job begins while an update waits for the agents of two, and its agents join.
# auto: instead two jobs of three nodes, which --auto finds better routes for and leads through the phases.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
full='' handover='' midwave='' late='' auto=''
case "${1:-}" in
full) full=1 engines=${ENGINES:-sar:paper dfdn nue parx sar:leafwise nue dfdn sar:paper updn} kills=0 ;;
kills) engines="" kills=${2:-200} RANDOM=${3:-1} ;;
handover) engines="" kills=0 handover=1 ;;
midwave) engines="" kills=0 midwave=1 ;;
late) engines="" kills=0 late=1 ;;
auto) engines="" kills=0 auto=1 ;;
*) engines="parx updn" kills=2 ;;
esac
client=$LAB_ROOT/$B/examples/agent_client

for need in "$LAB_ROOT/$B/libibroute.so" "$(command -v slurmctld)"; do
	[ -f "$need" ] || { skip "sequence: the plugin was not built or SLURM is missing"; finish; }
done
make -s -C "$LAB_ROOT" "$B/examples/agent_client" >/dev/null || give_up "the example client builds"

lab_new || exit 1
export UMAD_DIE=$LAB_DIR/die
dirs+=(--jobs slurm)
# first of each pair: the switch of the first hosts; second: somewhere else in the fabric
pairs=("n0003 n0018" "n0005 n0024" "n0007 n0027" "n0009 n0032")
# the simulator has ten places
[ -z "$handover$midwave$late" ] || pairs=("${pairs[@]:0:2}")
# updn leads two routes of a job over one link, which costs it time
[ -z "$auto" ] || pairs=("n0018 n0027 n0015" "n0010 n0024 n0026")

# --- the lab ---

sm() {
	lab_plugin "routing_engine ibroute,no_fallback" "qos TRUE" "lmc 3" "$@"
}

first_sm() {
	sm "sm_priority 3" "sminfo_polling_timeout 1000" "polling_retry_number 2"
}

start_jobs() {
	local pair id node

	for pair in "${pairs[@]}"; do
		id=$(lab_job -J "job" -w "${pair// /,}") || return 1
		for node in $pair; do
			job_of[$node]=$id
			lab_agent "$node" "$id" && lab_ranks "$node" "$id" || return 1
			nodes="$nodes $node"
		done
	done
}

# --- what there is ---

# On the wire, from a node without an agent: beside opensm and 8 agents the simulator has one place.
# Only the update's own process is to have a place, not who waits for it.
aside() { # words of the program
	# shellcheck disable=SC2046
	cd "$LAB_DIR/work" && exec env $(lab_env n0002 | sed 's/LD_PRELOAD=/IBROUTE_WATCHDOG_PRELOAD=/') \
		"$IBROUTE_TOP" "$@" >"$LAB_DIR/out" 2>&1
}

applies() { # words of apply
	local rc
	(aside apply --accept-slower "$@" "${dirs[@]}" --accept-strangers --yes-fabric lab --no-input)
	rc=$?
	[ "$rc" -eq 0 ] && return 0
	echo "# apply: exit $rc"
	sed 's/^/# /' "$LAB_DIR/out" | tail -n 12
	return 1
}

# --- judges that are not ours ---

same_lfts() {
	lab_lfts_as_in "$files" 4000
}

# all pairs of ports of some switches
same_sl2vl() {
	lab_sl2vl_as_in "$files" "$([ -n "$full" ] && echo 4 || echo 8)" 8 100
}

# path records to any of the 8 LIDs of a host, escape LIDs among them
same_sls() {
	local slid dlid sl got n=0 escape=0

	awk 'FNR == NR {
			if (/^Ca/) { split($0, q, "\""); sub(/.*H-/, "0x", q[2]); node = q[2] }
			else if (/^\[1\]/ && match($0, /# lid [0-9]+/)) {
				lid = substr($0, RSTART + 6, RLENGTH - 6) + 0; of[node] = lid
				for (k = 0; k < 8; k++) ca[lid + k] = lid }
			next }
		$1 in of && $2 in ca && of[$1] != ca[$2] && (NR * 7919) % 1009 < 9 { print of[$1], $2, $3, $2 - ca[$2] }' \
		"$LAB_DIR/seen" "$files/path-sl.dump" | shuf --random-source="$LAB_DIR/net" -n "${1:-12}" >"$LAB_DIR/pairs"
	while read -r slid dlid sl k; do
		got=$(lab_on n0002 saquery -p --slid "$slid" --dlid "$dlid" </dev/null |
			sed -n 's/^[ \t]*sl\.\.*//p')
		[ "$((${got:-99}))" -eq "$sl" ] ||
			{ echo "# LID $slid to $dlid: SL ${got:-none}, not $sl"; return 1; }
		n=$((n + 1)) escape=$((escape + (k > 3)))
	done <"$LAB_DIR/pairs"
	echo "# SLs of $n pairs, $escape to escape LIDs: $(cut -d ' ' -f 3 "$LAB_DIR/pairs" | sort | uniq -c | awk '{ printf "%s%d of SL %d", (NR > 1 ? ", " : ""), $1, $2 }')"
	[ "$n" -ge "${1:-10}" ] && [ "$escape" -gt 0 ]
}

# opensm-sl2vl.dump of OpenSM itself in the words of ibdmchk
ibdm_sl2vl() {
	awk '/^Switch/ { guid = $2; sub(/,/, "", guid) }
		$1 ~ /^[0-9]+$/ {
			printf "%s %d %d", guid, $1, $2
			for (i = 4; i <= 18; i += 2) printf " 0x%x%x", $i, $(i + 1)
			print ""
		}' "$LAB_DIR/osm/opensm-sl2vl.dump"
}

# With an LMC, ibdmchk takes every port, switches' too, to own 2^lmc LIDs, the first of all 1 (see
# crosscheck.sh): in its copies of the files hosts have LIDs lowered by 7, switches some behind those.
for_ibdm() {
	perl -e '
		my ($dir, $out, $sls) = @ARGV;
		my (%to, $max);
		open my $in, "<", "$dir/opensm-subnet.lst" or die;
		my @net = <$in>;
		for (@net) { while (/\{ (SW|CA)\S* .*? LID:([0-9A-F]+)/g) { $to{hex $2} = $1 } }
		$max = (sort { $b <=> $a } keys %to)[0];
		for my $lid (sort { $a <=> $b } keys %to) {
			if ($to{$lid} eq "SW") { $new{$lid} = ($max += 8) - 7 }
			else { $new{$lid + $_} = $lid + $_ - 7 for 0 .. 7 }
		}
		open my $o, ">", "$out/ibdm.lst" or die;
		for (@net) { s/ LID:([0-9A-F]+)/sprintf " LID:%04X", $new{hex $1}/ge; print $o $_ }
		open $in, "<", "$dir/opensm.fdbs" or die;
		open $o, ">", "$out/ibdm.fdbs" or die;
		while (<$in>) {
			if (/^0x([0-9A-Fa-f]+) (.*)/s) { next if !$new{hex $1}; $_ = sprintf "0x%04X %s", $new{hex $1}, $2 }
			print $o $_;
		}
		open $in, "<", $sls or die;
		open $o, ">", "$out/ibdm.sl" or die;
		while (<$in>) { s/^(0x\w+) (\d+)/"$1 $new{$2}"/e; print $o $_ }' "$LAB_DIR/osm" "$LAB_DIR" "$files/path-sl.dump"
}

# OpenSM writes its dumps in sweeps only, not when it routes again for an update.
dumped() {
	awk '/Switch/ { g = $3 } /^0x/ && $3 ~ /^[0-9]+$/ { print g, tolower($1), $3 + 0 }' "$LAB_DIR/osm/opensm.fdbs" |
		sort | cmp -s - "$LAB_DIR/wanted" && return
	kill -HUP "$(cat "$LAB_DIR/opensm.pid")"
	sleep 0.3
	return 1
}

# OpenSM's own LFTs and SL2VL.  It often crashes after it has said so.
ibdm_says() { # words, what sed makes of the SL2VL tables
	: >"$LAB_DIR/empty"
	lab_wait 10 dumped || { echo "# opensm's dumps are not what is in the switches"; return 1; }
	ibdm_sl2vl | sed "${2:-}" >"$LAB_DIR/ibdm.sl2vl"
	for_ibdm || return 1
	(cd "$LAB_DIR/work" && timeout 60 ibdmchk -m "$LAB_DIR/empty" -l 3 -s "$LAB_DIR/ibdm.lst" -f "$LAB_DIR/ibdm.fdbs" \
		-c "$LAB_DIR/ibdm.sl" -d "$LAB_DIR/ibdm.sl2vl" >"$LAB_DIR/ibdm.out" 2>&1 </dev/null)
	grep -aq "$1" "$LAB_DIR/ibdm.out" || { tail -n 3 "$LAB_DIR/ibdm.out"; return 1; }
} 2>/dev/null

no_credit_loop() {
	ibdm_says 'no credit loops found'
}

# The same routes with one VL only: what would be found.
loop_on_one_vl() {
	ibdm_says 'credit loops in routing' 's/0x[0-9a-f][0-9a-f]\>/0x00/g'
}

judged() { # name
	ok "$1: LFTs in the switches" same_lfts
	ok "$1: SL2VL in the switches" same_sl2vl
	ok "$1: SLs in path records" same_sls
	ok "$1: ibdmchk finds no credit loop" no_credit_loop
}

# --- the phases ---

count() { # pattern: lines in the logs of the processes
	cat "$LAB_DIR"/rank-*.log | grep -c -- "$1"
}

five_phases() {
	local p last=0 at

	for p in PREPARE UNPATH WRITE REPATH CONFIRM; do
		at=$(grep -nE "^$p" "$LAB_DIR/out" | head -n 1 | cut -d : -f 1)
		[ "${at:-0}" -gt "$last" ] || { echo "# no $p in its place"; sed 's/^/# /' "$LAB_DIR/out"; return 1; }
		last=$at
	done
}

all_acked() { # engine
	local n=8

	# which changes so little that not all jobs have to drain
	[ "$1" != sar:leafwise ] || n=$(sed -n 's/^UNPATH *\([0-9]*\) agents$/\1/p' "$LAB_DIR/out")
	said "^ *$n of $n agents are on their escape LIDs" && said "^ *$n of $n agents have returned"
}

all_processes() { # how many there are
	echo "$nodes" | awk '{ print 2 * NF }'
}

all_moved() { # times that all processes have moved so far
	local drained back

	drained=$(count 'at LID offset 4') back=$(count 'at LID offset 0')
	[ "$drained" -eq $(($(all_processes) * $1)) ] && [ "$back" -eq "$drained" ] ||
		{ echo "# $drained went, $back came back"; return 1; }
}

reroute() { # engine
	local name="$previous to $1"

	files=$LAB_DIR/files.$times.$1
	ok "$name: a plan" does 0 plan -e "$1" --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan" || finish
	said '^drain:' && grep '^drain:\|^order of' "$LAB_DIR/out" | sed 's/^/# /'
	ok "$name: as files" applies "$LAB_DIR/plan" --without-agents --installer "file:$files" --state-dir "$LAB_DIR/state2"
	ok "$name: applied" applies "$LAB_DIR/plan" || finish
	times=$((times + 1))
	ok "$name: five phases" five_phases
	ok "$name: acks of all agents" all_acked "$1"
	ok "$name: all processes went and came back" all_moved "$times"
	ok "$name: confirmed by OpenSM" plugin "p['source'] == 'confirmed' and p['engine'].startswith('${1%:*}')"
	judged "$name"
	previous=$1
}

# --- what nobody asked for ---

# What the policy's engine routes for the fabric as it is now
by_policy() {
	files=$LAB_DIR/ours
	rm -rf "$files"
	lab_on n0002 ibnetdiscover >"$LAB_DIR/seen" &&
		"$IBROUTE_TOP" route --topology "$LAB_DIR/seen" --lmc 3 --bisections 0 --formats opensm \
			--engine updn --vls 4 --escape --out "$files" >"$LAB_DIR/route.out" 2>&1 ||
		{ tail -n 3 "$LAB_DIR/route.out"; return 1; }
}

failures() {
	local kept=$files

	lab_con "Unlink \"$(lab_node sw01)\"$cable"
	ok "a cable gone: the policy's engine" lab_wait 15 plugin 'p["source"] == "engine" and p["links"] == 47 and p["away"]'
	ok "a cable gone: our program routes this fabric" by_policy
	lab_wait 5 same_lfts
	judged "a cable gone"
	lab_con "ReLink \"$(lab_node sw01)\"$cable"
	ok "the cable back: the confirmed tables" lab_wait 15 plugin "p['source'] == 'confirmed' and p['engine'].startswith('$previous')"
	files=$kept
	lab_on n0002 ibnetdiscover >"$LAB_DIR/seen"
	lab_wait 5 same_lfts
	judged "the cable back"
	sm || give_up "opensm again"
	ok "opensm again: the confirmed tables" lab_wait 10 plugin "p['source'] == 'confirmed' and p['engine'].startswith('$previous')"
	lab_wait 5 same_lfts
	judged "opensm again"
	ok "opensm again: all agents are subscribed again" lab_wait 20 subscribed 2
}

subscribed() { # times, each of the agents
	local node

	for node in $nodes; do
		[ "$(grep -c 'subscribed at the subnet' "$LAB_DIR/agent-$node.log")" -ge "$1" ] || return 1
	done
}

# --- SIGKILL in the middle ---

field() { # update, Python expression on t
	timeout 20 "$IBROUTE_TOP" status "$1" --state-dir "$LAB_DIR/state" --json 2>/dev/null |
		python3 -c 'import json, sys
t = json.load(sys.stdin); print(eval(sys.argv[1]))' "$2" 2>/dev/null
}

is() { # expression on t, value
	[ "$(field "$id" "$1")" = "$2" ]
}

pid_in() { # lock|guard: who holds that
	sed -n 's/.*process \([0-9]*\).*/\1/p' "$LAB_DIR/state/$id/$1" 2>/dev/null
}

updates() {
	find "$LAB_DIR/state" -maxdepth 1 -name '[0-9]*T*Z-*[0-9]' -printf '%f\n' 2>/dev/null | sort
}

at_base() {
	local node

	for node in $nodes; do
		timeout 5 "$IBROUTE_TOP" agent --status --socket "$LAB_DIR/$node.sock" >"$LAB_DIR/at" 2>&1
		grep -qx 'mode base' "$LAB_DIR/at" && [ "$(grep -c '^client .* at base told -$' "$LAB_DIR/at")" -eq 2 ] ||
			{ sed "s/^/# $node: /" "$LAB_DIR/at"; return 1; }
	done
}

# All of one routing, path records too?
holds() { # engine
	files=$LAB_DIR/by.$1
	same_lfts >/dev/null && same_sl2vl && same_sls 6 >/dev/null
}

now() {
	local e
	for e in updn nue parx dfdn; do
		if holds "$e"; then echo "$e"; return; fi
	done
	echo mixture
}

# The victims' numbers: as soon as they are known, after a random while.
strike() { # client, worker, guard, both, agent
	local end=$((SECONDS + 10)) node

	id=
	while [ -z "$id" ] && [ "$SECONDS" -lt "$end" ]; do
		id=$(comm -13 "$LAB_DIR/known" <(updates) | head -n 1)
	done
	[ -n "$id" ] || { echo "# no update begins"; return 1; }
	sleep "$(printf '0.%03d' $((RANDOM % 300)))"
	case $1 in
	client) kill -9 "$waiting" 2>/dev/null ;;
	worker) kill -9 "$(pid_in lock)" 2>/dev/null ;;
	guard) kill -9 "$(pid_in guard)" 2>/dev/null ;;
	both)
		# shellcheck disable=SC2046
		kill -STOP $(pid_in guard) $(pid_in lock) 2>/dev/null
		# shellcheck disable=SC2046
		kill -9 $(pid_in guard) $(pid_in lock) 2>/dev/null
		;;
	agent)
		node=$(shuf -e -n 1 --random-source=<(yes "$RANDOM") -- $nodes)
		kill -9 "$(cat "$LAB_DIR/agent-$node.pid")"
		lab_wait 5 lab_dead "agent-$node"
		;;
	esac
	hit=$(awk '{ s = $4 } END { print s }' "$LAB_DIR/state/$id/state.log")
	hit=${hit:-unknown}
	hits[$hit]=$((${hits[$hit]:-0} + 1))
	lab_evict
	# as what has started it would
	[ "$1" != agent ] || lab_agent "$node" "${job_of[$node]}"
}

one_kill() { # whom
	local told was=$there words=(--no-input --confirm-timeout 3)

	[ $((RANDOM % 3)) != 0 ] || words=(--confirm-timeout 1)
	next=$(printf '%s\n' updn nue parx dfdn | grep -vx "$was" | shuf -n 1 --random-source=<(yes "$RANDOM"))
	does 0 plan -e "$next" --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan" || return 1
	updates >"$LAB_DIR/known"
	(aside apply --accept-slower "$LAB_DIR/plan" "${dirs[@]}" --accept-strangers --yes-fabric lab --agent-timeout 8 "${words[@]}") &
	waiting=$!
	strike "$1" || return 1
	wait "$waiting" 2>/dev/null
	lab_wait 60 is 't["live"] or t["guarded"]' False || { echo "# $id does not end: $(field "$id" 't')"; return 1; }
	lab_evict
	if is 't["finished"]' False; then
		[ "$1" = both ] || { echo "# $id was left alone as $(field "$id" 't["state"]')"; return 1; }
		left=$((left + 1))
		does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab || return 1
	fi
	told=$(field "$id" 't["state"]')
	counts[$told]=$((${counts[$told]:-0} + 1))
	case $told in
	confirmed) there=$next ;;
	rolled-back | abandoned) there=$was ;;
	*) echo "# $id ended $told"; return 1 ;;
	esac
	lab_wait 5 holds "$there" ||
		{ echo "# $1 killed while $hit: $was to $next, $told, but there is $(now)"; return 1; }
	lab_wait 40 at_base || { at_base; echo "# $1 killed while $hit: $was to $next, $told"; return 1; }
	plugin 'p["source"] in ("confirmed", "engine") and not p["base"] and not p["step"]' ||
		{ echo "# the plugin is not done"; top sm --json --socket "$sock"; return 1; }
}

all_kills() { # how many
	local n e victims=(worker agent client guard both agent)

	files=
	for e in updn nue parx dfdn; do
		"$IBROUTE_TOP" route --topology "$LAB_DIR/seen" --lmc 3 --bisections 0 --formats opensm --engine "$e" \
			--vls 4 --escape --out "$LAB_DIR/by.$e" >"$LAB_DIR/route.out" 2>&1 || return 1
	done
	there=updn
	ok "our program's tables are there" holds updn || return
	for ((n = 0; n < $1; n++)); do
		ok "kill $((n + 1)) (${victims[n % 6]}): one routing, all at their base LIDs, and status says which" \
			one_kill "${victims[n % 6]}" 2>>"$LAB_DIR/err" || return
		echo "#   was $hit, then $(field "$id" 't["state"]')"
	done
	echo "# $1 kills, while: $(for e in "${!hits[@]}"; do printf '%s %s ' "$e" "${hits[$e]}"; done); ended: $(
		for e in "${!counts[@]}"; do printf '%s %s ' "$e" "${counts[$e]}"; done), $left of them by hand"
}

# --- another subnet manager ---

# opensm again, on n0012, with everything of its own but the policy
second_sm() { # priority, the engine of its policy
	mkdir -p "$LAB_DIR/osm2"
	rm -f "$LAB_DIR/osm2/opensm.log"
	sed "s/^engine .*/engine ${2:-updn}/" "$LAB_DIR/policy.conf" >"$LAB_DIR/policy2.conf"
	sed "s,/policy.conf,/policy2.conf,; s,ibroute_socket=[^ ]*,ibroute_socket=$LAB_DIR/run/second.sock,; s,$LAB_DIR/kept/,$LAB_DIR/kept2/," \
		"$LAB_DIR/opensm.conf" >"$LAB_DIR/opensm2.conf"
	# shellcheck disable=SC2046
	lab_daemon opensm2 env $(lab_sm_env n0012) OSM_TMP_DIR="$LAB_DIR/osm2" OSM_CACHE_DIR="$LAB_DIR/osm2" \
		LD_LIBRARY_PATH="$LAB_ROOT/$B" opensm -D 0x43 -p "$1" -F "$LAB_DIR/opensm2.conf" \
		-f "$LAB_DIR/osm2/opensm.log"
}

# the update in state $1 that was not known, its id in id
in_state() {
	id=$(comm -13 "$LAB_DIR/known" <(updates) | head -n 1)
	[ -n "$id" ] && is 't["state"]' "$1"
}

begins() { # state that it is to get to, words of apply
	local want=$1
	shift
	updates >"$LAB_DIR/known"
	(aside apply --accept-slower "$LAB_DIR/plan" "${dirs[@]}" --accept-strangers --yes-fabric lab "$@") &
	waiting=$!
	lab_wait 30 in_state "$want"
}

ended() { # state
	lab_wait 90 is 't["live"] or t["guarded"]' False && is 't["state"]' "$1" && return
	echo "# $id: $(field "$id" 't')"
	return 1
}

master_is() { # node
	lab_on n0002 sminfo 2>/dev/null | grep -q "sm lid $(lab_lid "$1") .* SMINFO_MASTER"
}

hand_over() {
	local rank

	"$IBROUTE_TOP" route --topology "$LAB_DIR/seen" --lmc 3 --bisections 0 --formats opensm --engine updn \
		--vls 4 --escape --out "$LAB_DIR/by.updn" >"$LAB_DIR/route.out" 2>&1
	ok "our program's tables are there" holds updn || return
	ok "a plan" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan" || return
	rank=$(cat "$LAB_DIR/rank-n0003-0.pid")
	kill -STOP "$rank"
	ok "a process that does not drain: the update waits in UNPATH" begins unpath --no-input --agent-timeout 40
	second_sm 14
	ok "a second opensm of higher priority takes over" lab_wait 40 master_is n0012
	ok "the update calls the agents back" lab_wait 20 grep -q '^REPATH' "$LAB_DIR/out"
	kill -CONT "$rank"
	ok "it is given up, nothing was written" ended abandoned
	wait "$waiting"
	ok "all agents answer through the new one" said '^ *4 of 4 agents have returned'
	grep 'have returned' "$LAB_DIR/out" | sed 's/^ */# /'
	ok "since the SM is not the master any more" said 'no longer the master|another subnet manager'
	ok "all are at their base LIDs" lab_wait 60 at_base
	ok "the old routes are there" lab_wait 20 holds updn
	ok "a plan under the new one" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" \
		--socket "$LAB_DIR/run/second.sock" -o "$LAB_DIR/plan" || return
	ok "an update by it waits for its confirmation" begins confirming --socket "$LAB_DIR/run/second.sock" \
		--confirm-timeout 120
	lab_kill opensm2
	ok "it ends: the first one takes over again" lab_wait 60 master_is n0001
	ok "and the update is rolled back" ended rolled-back
	wait "$waiting"
	ok "with all agents asked once more" said '^ *4 of 4 agents have returned'
	grep 'have returned' "$LAB_DIR/out" | sed 's/^ */# /'
	ok "the old routes are there" lab_wait 20 holds updn
	ok "all are at their base LIDs" lab_wait 60 at_base
}

# --- the subnet manager dies while it writes ---

all_of() { # engine
	lab_wait 30 holds "$1" || { echo "# there is $(now)"; return 1; }
}

# An update whose opensm dies with the block after so many
dies_after() { # blocks
	updates >"$LAB_DIR/known"
	echo "$1" >"$UMAD_DIE"
	(aside apply --accept-slower "$LAB_DIR/plan" "${dirs[@]}" --accept-strangers --yes-fabric lab --no-input --agent-timeout 60) &
	waiting=$!
	lab_wait 60 lab_dead opensm || { echo "# opensm does not die"; return 1; }
	id=$(comm -13 "$LAB_DIR/known" <(updates) | head -n 1)
	[ -n "$id" ]
	lab_evict
}

tables_of() { # engine; without asking an SM
	files=$LAB_DIR/by.$1
	same_lfts && same_sl2vl
} >/dev/null

mixed() {
	! tables_of updn && ! tables_of nue
}

subscribed_at() { # node
	local node lid

	lid=$(lab_lid "$1")
	for node in $nodes; do
		grep 'subscribed at the subnet' "$LAB_DIR/agent-$node.log" | tail -n 1 | grep -q "at LID $lid\$" || return 1
	done
}

over() { # state, exit code
	local rc

	lab_wait 150 is 't["live"] or t["guarded"]' False || { echo "# $(field "$id" 't')"; return 1; }
	wait "$waiting"
	rc=$?
	sed 's/^/# /' "$LAB_DIR/out" | tail -n 15
	is 't["state"]' "$1" || { echo "# $(field "$id" 't["state"]')"; return 1; }
	[ "$rc" -eq "$2" ] || { echo "# exit code $rc, not $2"; return 1; }
}

# how many blocks are not the old ones, and what was made of them
tells_of_others() {
	local told='another subnet manager has changed the routing: [1-9][0-9]* of [1-9][0-9]* LFT blocks and [0-9]* SL2VL tables'

	is 't["finished"]' True && said "$told differ from the old ones; connected, free of loops and deadlocks" || return 1
	timeout 20 "$IBROUTE_TOP" status "$id" --state-dir "$LAB_DIR/state" >"$LAB_DIR/status" || return 1
	sed 's/^/# /' "$LAB_DIR/status"
	grep -q "^$id *superseded " "$LAB_DIR/status" && grep -qE "ended +$told" "$LAB_DIR/status" || return 1
	[ "$(field "$id" '"another subnet manager has changed the routing" in t["text"]')" = True ] || return 1
	"$IBROUTE_TOP" audit export --report "$id" "$LAB_DIR/rec" >"$LAB_DIR/report" || return 1
	grep -q "superseded: another SM or writer changed the routing" "$LAB_DIR/report" && grep -qE "$told" "$LAB_DIR/report" ||
		{ head -n 5 "$LAB_DIR/report"; return 1; }
}

dies_beside() { # engine of the policy of the one that stands by
	second_sm 1 "$1"
	ok "another opensm stands by, whose policy is $1" lab_wait 40 grep -q 'Entering STANDBY' "$LAB_DIR/osm2/opensm.log"
	ok "a plan" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan" || return
	ok "opensm dies in the middle of a wave" dies_after 9
}

back_at_the_first() {
	ok "all are at their base LIDs" lab_wait 60 at_base
	lab_kill opensm2
	lab_evict
	first_sm || return
	ok "the first one is back" lab_wait 40 master_is n0001
	ok "all agents are subscribed there" lab_wait 60 subscribed_at n0001
}

# The other one's policy says by what it routes when it takes over.
with_a_successor() { # its engine, the end, its exit code
	dies_beside "$1" || return
	ok "the other one is the master" lab_wait 40 master_is n0012
	ok "the update ends $2, exit code $3" over "$2" "$3" || return
	[ "$2" != superseded ] || ok "status, the record and who waits tell whose routes are there" tells_of_others
	ok "all that is there is of $1" all_of "$1"
	back_at_the_first
}

# Nobody of before is left: who comes next has the journal and the switches.
killed_with_a_successor() { # its engine
	local was

	dies_beside "$1" || return
	was="$(pid_in guard) $(pid_in lock)"
	# shellcheck disable=SC2086
	kill -STOP $was && kill -9 $was
	wait "$waiting"
	ok "the update's processes die with it" is 't["live"] or t["guarded"] or t["finished"]' False
	lab_evict
	ok "the other one is the master" lab_wait 40 master_is n0012
	ok "all that is there is of $1" all_of "$1"
	ok "a rollback by hand comes to that end" does 9 rollback "$id" "${dirs[@]}" --socket "$LAB_DIR/run/second.sock" \
		--yes-fabric lab
	sed 's/^/# /' "$LAB_DIR/out" | tail -n 6
	ok "with all agents asked" said '^ *4 of 4 agents have returned'
	ok "which is told in the same words" is 't["state"], "another subnet manager has changed the routing" in t["text"]' "('superseded', True)"
	ok "all that is there is of $1" all_of "$1"
	back_at_the_first
}

stopped() { # daemon
	sed 's/.*) //' "/proc/$(cat "$LAB_DIR/$1.pid")/stat" 2>/dev/null | grep -q '^T'
}

# The old one lives on and stands by, and within its wave the update does not see what happens.
taken_over_within() { # engine of the new one's policy, the end, its exit code
	local worker

	ok "a plan" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan" || return
	updates >"$LAB_DIR/known"
	echo "9 stop" >"$UMAD_DIE"
	(aside apply --accept-slower "$LAB_DIR/plan" "${dirs[@]}" --accept-strangers --yes-fabric lab --no-input --agent-timeout 20) &
	waiting=$!
	ok "opensm stops in the middle of a wave" lab_wait 60 stopped opensm || return
	id=$(comm -13 "$LAB_DIR/known" <(updates) | head -n 1)
	worker=$(pid_in lock)
	kill -STOP "$worker" && kill -CONT "$(cat "$LAB_DIR/opensm.pid")"
	second_sm 14 "$1"
	ok "one of higher priority takes over, whose policy is $1" lab_wait 60 master_is n0012
	ok "the old one lives on" lab_alive opensm
	ok "all that is there is of $1" all_of "$1"
	kill -CONT "$worker"
	ok "the update ends $2, exit code $3" over "$2" "$3" || return
	[ "$2" != superseded ] || ok "status, the record and who waits tell whose routes are there" tells_of_others
	ok "all that is there is of $1" all_of "$1"
	ok "all are at their base LIDs" lab_wait 60 at_base
	lab_kill opensm2
	lab_evict
	ok "the old one takes over again" lab_wait 60 master_is n0001
	ok "all agents are subscribed there" lab_wait 60 subscribed_at n0001
	ok "the old routes are there" all_of updn
}

mid_wave() {
	local e worker

	for e in updn nue dfdn; do
		"$IBROUTE_TOP" route --topology "$LAB_DIR/seen" --lmc 3 --bisections 0 --formats opensm --engine "$e" \
			--vls 4 --escape --out "$LAB_DIR/by.$e" >"$LAB_DIR/route.out" 2>&1 || return
	done
	ok "our program's tables are there" holds updn || return
	with_a_successor updn rolled-back 5 || return
	with_a_successor dfdn superseded 9 || return
	killed_with_a_successor dfdn || return
	taken_over_within updn rolled-back 5 || return
	taken_over_within dfdn superseded 9 || return
	ok "a plan" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan" || return
	ok "opensm dies in the middle of a wave, nobody stands by" dies_after 9
	worker=$(pid_in lock) # it waits for an SM no longer than a quarter of a minute
	kill -STOP "$worker"
	ok "some of the new routing is there" mixed
	kill -CONT "$worker"
	ok "all of the old one goes into the switches without an SM" lab_wait 90 tables_of updn
	ok "the agents are waited for" is 't["state"], t["live"]' "('rollback', True)"
	first_sm || return
	ok "with an SM again the update is rolled back" over rolled-back 5
	ok "with all agents asked" said '^ *4 of 4 agents have returned'
	ok "all of the old routing is there" all_of updn
	ok "all are at their base LIDs" lab_wait 60 at_base
}

# --- a job that begins meanwhile ---

asked_slurm() { # times, for its jobs
	[ "$(lab_sl sdiag | sed -n 's/.*REQUEST_JOB_INFO .*count:\([0-9]*\) .*/\1/p')" -ge "$1" ]
}

late_job() {
	local rank was

	ok "a plan" does 0 plan -e nue --escape --vls 4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/plan" || return
	rank=$(cat "$LAB_DIR/rank-n0003-0.pid")
	kill -STOP "$rank"
	ok "a process that does not drain: the update waits in UNPATH" begins unpath --no-input --agent-timeout 120
	pairs=("n0007 n0027")
	ok "a job begins, with agents" start_jobs
	was=$(lab_sl sdiag | sed -n 's/.*REQUEST_JOB_INFO .*count:\([0-9]*\) .*/\1/p')
	# the second one has sent its list before it asks again
	ok "the update asks for the jobs" lab_wait 60 asked_slurm $((${was:-0} + 2))
	kill -CONT "$rank"
	ok "it is confirmed" ended confirmed
	wait "$waiting"
	ok "two jobs were asked" said '^ *4 of 4 agents are on their escape LIDs'
	ok "the agents of the third one joined" said '2 agents join, all are asked again'
	ok "and are counted" said '^ *6 of 6 agents are on their escape LIDs'
	ok "all were called back" said '^ *6 of 6 agents have returned'
	sed 's/^/# /' "$LAB_DIR/out"
	ok "all are at their base LIDs" lab_wait 60 at_base
	ok "the new routes are there" plugin "p['source'] == 'confirmed' and p['engine'].startswith('nue')"
}

# --- without an operator ---

automatic() {
	# shellcheck disable=SC2046
	env $(lab_env n0002) "$IBROUTE_TOP" --auto=0.05 --auto-min-age 0 --accept-strangers --auto-confirm 3 --rw \
		--name lab --jobs-interval 1 "${dirs[@]}" </dev/null >"$LAB_DIR/out" 2>&1 &
	waiting=$!
	ok "--auto computes for the jobs" lab_wait 30 grep -q 'computing a plan for 2 jobs' "$LAB_DIR/out"
	ok "finds routes that gain" lab_wait 30 grep -q 'writing [0-9]* blocks: gain' "$LAB_DIR/out"
	ok "and confirms them" lab_wait 120 grep -q 'the new routing is confirmed' "$LAB_DIR/out"
	sed 's/^/# /' "$LAB_DIR/out"
	ok "with the agents of the job whose paths change" said '3 of 3 agents are on their escape LIDs'
	ok "all processes went and came back" all_moved 1
	ok "confirmed by OpenSM" plugin "p['source'] == 'confirmed' and p['engine'].startswith('sar')"
	kill -TERM "$waiting"
	wait "$waiting"
	ok "SIGTERM ends it" test $? -eq 0
	times=1
}

lab_fabric hyperx:dims=4x4,hosts=2 || give_up "the fabric"
cable=$(sed -n '/"sw01"/,/^$/s/^\(\[[0-9]*\]\).*"S-.*/\1/p' "$LAB_DIR/net" | head -n 1)
policy "engine updn" "escape yes" "vls 4" "threads 1" "on_change reroute"
if [ -n "$handover$midwave" ]; then
	first_sm
else
	sm
fi || give_up "opensm"
lab_slurm || give_up "SLURM"
nodes=
declare -A job_of=() counts=() hits=()
left=0
start_jobs || give_up "the jobs"
lab_on n0002 ibnetdiscover >"$LAB_DIR/seen"
ok "OpenSM is routed by updn" plugin 'p["engine"].startswith("updn") and p["source"] == "engine"'
previous=updn times=0
for e in $engines; do
	reroute "$e"
	[ "$e" = parx ] || continue
	ok "parx: on one VL ibdmchk would find one" loop_on_one_vl
	failures
done
[ "$kills" -eq 0 ] || all_kills "$kills"
[ -z "$handover" ] || hand_over
[ -z "$midwave" ] || mid_wave
[ -z "$late" ] || late_job
[ -z "$auto" ] || automatic
ok "no request of the processes ever changed its path on the way" bash -c "! grep 'while it was in flight' $LAB_DIR/rank-*.log"
ok "all processes still run" test "$(pgrep -fc "^$client -s $LAB_DIR/")" -eq "$(all_processes)"
echo "# $times reroutes, $(($(all_processes) / 2)) agents and $(all_processes) processes each"
finish
