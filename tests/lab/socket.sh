#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# socket.sh: updates through OpenSM: the console hands tables to our plugin over its socket, a
# stock opensm writes them. What dump_fts, smpquery and saquery find, which are not ours, is what
# was planned; and it is still there, or back, after a restart, a broken cable, a killed console.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

lab_needs_plugin

lab_new || exit 1

# SLs of path records of some pairs against path-sl.dump of files that were handed over
sls_as_in() { # path-sl.dump
	local slid dlid sl got n=0

	lab_on n0003 ibnetdiscover >"$LAB_DIR/seen"
	awk 'FNR == NR {
			if (/^Ca/) { split($0, q, "\""); sub(/.*H-/, "0x", q[2]); node = q[2] }
			else if (/^\[1\]/ && match($0, /# lid [0-9]+/)) {
				lid = substr($0, RSTART + 6, RLENGTH - 6) + 0; of[node] = lid; ca[lid] = 1 }
			next }
		$1 in of && $2 in ca && of[$1] != $2 && (NR * 7919) % 1009 < 9 { print of[$1], $2, $3 }' \
		"$LAB_DIR/seen" "$1" | sort -n | head -n 20 >"$LAB_DIR/pairs"
	while read -r slid dlid sl; do
		got=$(lab_on n0004 saquery -p --slid "$slid" --dlid "$dlid" </dev/null |
			sed -n 's/^[ \t]*sl\.\.*//p')
		[ "$((${got:-99}))" -eq "$sl" ] || { echo "# LID $slid to $dlid: SL ${got:-none}, not $sl"; return 1; }
		n=$((n + 1))
	done <"$LAB_DIR/pairs"
	echo "# SLs of $n pairs: $(cut -d ' ' -f 3 "$LAB_DIR/pairs" | sort | uniq -c | awk '{ printf "%s%d of SL %d", (NR > 1 ? ", " : ""), $1, $2 }')"
	[ "$n" -ge 10 ]
}

plan_for() { # engine, plan file: also its tables as files, to compare with
	does 0 plan -e "$1" --fabric lab "${dirs[@]}" -o "$2" &&
		rm -rf "$LAB_DIR/files" &&
		does 0 apply --accept-slower "$2" "${dirs[@]}" --without-agents --installer "file:$LAB_DIR/files" --state-dir "$LAB_DIR/state2" \
			--yes-fabric lab --no-input &&
		lab_plain_lfts <"$LAB_DIR/files/opensm-lfts.dump" >"$LAB_DIR/wanted"
}

lab_fabric dragonfly:p=2 || give_up "the fabric"
cable=$(sed -n '/"sw01"/,/^$/s/^\(\[[0-9]*\]\).*"S-.*/\1/p' "$LAB_DIR/net" | head -n 1)
policy "engine nue:2" "seed 5" "threads 1"
lab_plugin "routing_engine ibroute,nue" "qos TRUE" || give_up "opensm"
lab_lfts >"$LAB_DIR/t0"
ok "the socket is its owner's" bash -c "[ \$(stat -c %a '$sock') = 600 ] && [ \$(stat -c %a '$LAB_DIR/run') = 700 ]"
ok "sm: the master, its engine, nobody else" does 0 sm --socket "$sock"
ok "sm: names them" said "nue, computed as the policy says"
ok "sm: has read the switches" said "no other writer"

ok "a plan, and files of it" plan_for dfsssp:2 "$LAB_DIR/p1" # as many as the policy has, for what repairs it
ok "files: the switches stay as they are" same "$LAB_DIR/t0"
ok "apply through OpenSM" does 0 apply --accept-slower "$LAB_DIR/p1" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
ok "the switches hold the plan's tables" same "$LAB_DIR/wanted"
ok "path records have the plan's service levels" sls_as_in "$LAB_DIR/files/path-sl.dump"
ok "they are confirmed" plugin 'p["source"] == "confirmed" and p["confirmed_there"] and not p["base"]'
ok "nobody else has written" does 0 sm --socket "$sock"

lab_con "Unlink \"$(lab_node sw01)\"$cable"
ok "a cable gone: the confirmed tables, repaired" lab_wait 15 plugin 'p["source"] == "repaired" and p["engine"] == "repair" and p["links"] == 89 and p["away"]'
lab_con "ReLink \"$(lab_node sw01)\"$cable"
ok "the cable back: the confirmed tables" lab_wait 15 plugin 'p["source"] == "confirmed" and p["links"] == 90'
ok "and in the switches" lab_wait 5 same "$LAB_DIR/wanted"

lab_plugin "routing_engine ibroute,nue" "qos TRUE" || give_up "opensm again"
ok "opensm again: the confirmed tables from disk" plugin 'p["source"] == "confirmed" and p["engine"] == "dfsssp"'
ok "and in the switches" same "$LAB_DIR/wanted"

# an update that nobody has confirmed yet
cp "$LAB_DIR/wanted" "$LAB_DIR/t1"
ok "another plan" plan_for nue:3 "$LAB_DIR/p2"
ok "apply, detached" does 0 apply --accept-slower "$LAB_DIR/p2" "${dirs[@]}" --without-agents --yes-fabric lab --detach
id=$(grep -oE '[0-9]{8}T[0-9]{6}Z-[0-9]+' "$LAB_DIR/out" | head -n 1)
ok "its tables are in force, those of before kept" lab_wait 20 plugin 'p["source"] == "console" and p["engine"] == "nue" and p["base"] and not p["step"]'
ok "and in the switches" lab_wait 5 same "$LAB_DIR/wanted"
ok "rolled back by OpenSM" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab
ok "the previous tables are in the switches" lab_wait 5 same "$LAB_DIR/t1"
ok "and in force, as confirmed" plugin 'p["source"] == "confirmed" and p["engine"] == "dfsssp" and not p["base"]'

# the same, but console, watchdog and guard are all killed
ok "apply, detached again" does 0 apply --accept-slower "$LAB_DIR/p2" "${dirs[@]}" --without-agents --yes-fabric lab --detach
ok "in force" lab_wait 20 plugin 'p["source"] == "console" and not p["step"]'
ours=$(for p in $(pgrep -f -- "--watchdog guard"; pgrep -f -- "--watchdog worker"); do
	# of this lab only
	grep -qz "IBSIM_SOCKNAME=$IBSIM_SOCKNAME" "/proc/$p/environ" && echo "$p"
done)
# stopped first: the one that is left would start the other again
# shellcheck disable=SC2086
kill -STOP $ours && kill -9 $ours
ok "all killed: at first what they gave to OpenSM stays" plugin 'p["source"] == "console" and p["base"]'
ok "sm: says that it was left behind" lab_on n0002 bash -c "'$IBROUTE_TOP' sm --socket '$sock' | grep -q 'running, or unfinished'"
ok "then OpenSM goes back by itself" lab_wait 20 plugin 'p["source"] == "confirmed" and not p["base"] and not p["update"]'
ok "to the previous tables" lab_wait 5 same "$LAB_DIR/t1"
lab_plugin "routing_engine ibroute,nue" "qos TRUE" || give_up "opensm a third time"
ok "opensm again: the confirmed ones" plugin 'p["source"] == "confirmed" and p["engine"] == "dfsssp" and not p["base"]'
ok "and in the switches" lab_wait 5 same "$LAB_DIR/t1"
for t in $(top status --state-dir "$LAB_DIR/state" --json | python3 -c 'import json, sys
for t in json.load(sys.stdin)["transactions"]:
    if not t["finished"]: print(t["id"])'); do
	ok "the journal is finished afterwards" does 0 rollback "$t" "${dirs[@]}" --yes-fabric lab
done
ok "all as it was" same "$LAB_DIR/t1"

# somebody else writes
ok "direct writes cannot carry service levels" does 4 apply --accept-slower "$LAB_DIR/p2" "${dirs[@]}" --without-agents --installer smp --yes-fabric lab --no-input
ok "but when told so" does 0 apply --accept-slower "$LAB_DIR/p2" "${dirs[@]}" --without-agents --installer smp --accept-sl-change --yes-fabric lab --no-input
ok "with a warning" said "OpenSM is not informed"
ok "sm: finds what OpenSM has not written" does 1 sm --socket "$sock"
ok "and says so" said "differ from what OpenSM has written"
ok "sm --reroute: OpenSM writes all of it again" does 0 sm --socket "$sock" --reroute
ok "and its tables are back" same "$LAB_DIR/t1"

# policies
policy_file() {
	printf '%s\n' "$@" >"$LAB_DIR/other.conf"
}
policy_file "engine nosuch"
ok "a broken policy is refused" does 4 sm --socket "$sock" --policy "$LAB_DIR/other.conf"
ok "with the line" said "policy.conf:1: .*nosuch"
printf '1 n[0001-0009]\n2 n[0020-0040]\n' >"$LAB_DIR/jobs"
policy_file "engine sar" "jobs jobs" "threads 1"
ok "sar with jobs, forgetting the confirmed tables" does 0 sm --socket "$sock" --policy "$LAB_DIR/other.conf" --forget
ok "routes" plugin 'p["engine"] == "sar" and p["source"] == "engine" and p["policy_unsaved"] and not p["confirmed_there"]'
ok "the file's policy again" does 0 sm --socket "$sock" --policy ""
ok "routes" plugin 'p["engine"] == "nue" and not p["policy_unsaved"]'

# a plan through what the policy excludes, which counts from the next routing on
policy "engine nue:2" "seed 5" "threads 1" "exclude sw05"
lab_lfts >"$LAB_DIR/t1"
ok "a plan through what is excluded" does 0 plan -e dfsssp:4 --fabric lab "${dirs[@]}" -o "$LAB_DIR/p3"
ok "is refused before it begins" does 4 apply --accept-slower "$LAB_DIR/p3" "${dirs[@]}" --without-agents --yes-fabric lab --no-input
ok "naming it, and the way out" said "passes sw05.*Plan with --exclude"
ok "nothing was written" same "$LAB_DIR/t1"
ok "sm tells of it" does 0 sm --socket "$sock"
ok "by name" said "excluded: sw05"
policy "engine nue:2" "seed 5" "threads 1"

# agents by way of the plugin, in the hands of opensm itself
tool=$LAB_ROOT/$B/tests/lab/notice_tool
make -s -C "$LAB_ROOT" "$B/tests/lab/notice_tool" >/dev/null || give_up "notice_tool builds"
for h in n0005 n0009 n0012; do
	lab_on $h "$tool" listen 6 68 69 >"$LAB_DIR/$h.out" 2>&1 &
	lab_wait 10 grep -q '^listening' "$LAB_DIR/$h.out"
done
sleep 1
ok "68, three acks, 69, three acks over the socket" bash -c "'$tool' osm '$sock' 77 3 >'$LAB_DIR/out' 2>&1"
ok "it knows who listens" said '^listeners: [36]$'
sed 's/^/# /' "$LAB_DIR/out"
wait

# all five phases over the socket: escape LIDs, agents on the nodes of a job
policy "engine nue:4" "escape yes" "threads 1" "seed 3"
rm -rf "$LAB_DIR/kept"
lab_plugin "routing_engine ibroute,nue" "qos TRUE" "lmc 1" || give_up "opensm with LMC 1"
lab_wait 10 plugin 'p["ours"] and p["lmc"] == 1'
for h in n0005 n0009; do
	# shellcheck disable=SC2046 # several words
	lab_daemon "agent-$h" env $(lab_env "$h") "$IBROUTE_TOP" agent --job 7 --state "$LAB_DIR/$h.state" \
		--socket "$LAB_DIR/$h.sock" --drain-cmd true --migrate-cmd true
	ok "an agent on $h" lab_wait 20 grep -q '^ready lid ' "$LAB_DIR/agent-$h.log"
done
sleep 1
echo '7 n0005,n0009' >"$LAB_DIR/jobs"
dirs+=(--jobs "$LAB_DIR/jobs")
# no order of writes spares a LID of the job: the engine is chosen for that, on this net
ok "a plan whose job has agents" does 0 plan -e dfdn:4 --escape --fabric lab "${dirs[@]}" -o "$LAB_DIR/p5"
ok "applied in five phases" does 0 apply --accept-slower "$LAB_DIR/p5" "${dirs[@]}" --accept-strangers --yes-fabric lab --no-input
ok "all agents were on their escape LIDs" said "2 of 2 agents are on their escape LIDs"
ok "and have returned" said "2 of 2 agents have returned"
ok "by notices of OpenSM itself: no other port listens" plugin 'p["notices"] >= 2 and p["acks"] >= 4'
ok "in force, and confirmed" plugin 'p["engine"] == "dfdn" and p["source"] == "confirmed"'
ok "the exporter counts it" does 0 --prom -n 1 --prom-groups updates --name lab "${dirs[@]}"
ok "as confirmed" said '^ibroute_updates_total.fabric="lab",engine="dfdn",result="confirmed". 1$'
ok "with the job and the ports that it drained" eval 'said "^ibroute_update_drains_total.* 1$" && said "^ibroute_update_drained_jobs_total.* 1$" &&
	said "^ibroute_update_drained_ports_total.* 2$"'
ok "and sweeps and routings of OpenSM" eval 'said "^ibroute_sm_sweeps_total.* [1-9]" && said "^ibroute_sm_routings_total.*by=.plugin.. [1-9]"'
lab_kill agent-n0005
lab_kill agent-n0009

# without a plugin
lab_opensm_stop
lab_opensm "routing_engine updn" || give_up "opensm without the plugin"
ok "no plugin: sm says so" does 1 sm --socket "$sock"
ok "and why" said "cannot be reached at"
ok "nobody counts its sweeps then" eval 'does 0 --prom -n 1 --prom-groups updates --name lab "${dirs[@]}" && said ^ibroute_sm_activity_total && ! grep -q ^ibroute_sm_sweeps "$LAB_DIR/out"'
ok "no plugin: --installer opensm is refused" does 4 apply --accept-slower "$LAB_DIR/p1" "${dirs[@]}" --installer opensm --yes-fabric lab --no-input
finish
