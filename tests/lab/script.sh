#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# script.sh: console/examples/reroute.sh, which is in the README, against a stock opensm with our plugin,
# SLURM and two jobs with agents: from updn to parx without a terminal, kept; with a port that
# makes errors, rolled back.  All that the commands print as JSON is held against the schema.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

for need in "$LAB_ROOT/$B/libibroute.so" "$(command -v slurmctld)"; do
	[ -f "$need" ] || { skip "script: the plugin was not built or SLURM is missing"; finish; }
done
make -s -C "$LAB_ROOT" "$B/examples/agent_client" >/dev/null || give_up "the example client builds"

lab_new || exit 1
export IBROUTE_SOCKET=$sock IBROUTE_RECORD_DIR=$LAB_DIR/rec IBROUTE_STATE_DIR=$LAB_DIR/state
pairs=("n0003 n0018" "n0005 n0024")

# The program as the script finds it: what looks at the fabric is on the HCA of n0002, of what
# only asks an update's process nothing, but that process.
wrap() {
	local attach

	attach=$(lab_env n0002) || return 1
	mkdir -p "$LAB_DIR/bin"
	cat >"$LAB_DIR/bin/ibroute-top" <<-END
	#!/bin/sh
	case \$1 in
	plan | sm | paths | dump-lfts | compare | -*) exec env $attach "$IBROUTE_TOP" "\$@" ;;
	*) exec env ${attach/LD_PRELOAD=/IBROUTE_WATCHDOG_PRELOAD=} "$IBROUTE_TOP" "\$@" ;;
	esac
	END
	chmod +x "$LAB_DIR/bin/ibroute-top"
}

start_jobs() {
	local pair id node

	for pair in "${pairs[@]}"; do
		id=$(lab_job -J "job" -w "${pair/ /,}") || return 1
		for node in $pair; do
			lab_agent "$node" "$id" && lab_ranks "$node" "$id" || return 1
		done
	done
}

top() {
	(cd "$LAB_DIR/work" && PATH=$LAB_DIR/bin:$PATH exec timeout 60 ibroute-top "$@" </dev/null)
}

# As cron would: no terminal anywhere.
reroute() { # wanted exit code, options of plan...
	local want=$1 rc
	shift
	rm -rf "$LAB_DIR/run.new" && mkdir "$LAB_DIR/run.new"
	(cd "$LAB_DIR/run.new" && env -u TERM PATH="$LAB_DIR/bin:$PATH" setsid -w timeout 100 \
		sh "$LAB_ROOT/console/examples/reroute.sh" lab "$@" >../out 2>../err </dev/null)
	rc=$?
	found=$(echo "$LAB_DIR"/run.new/reroute-*)
	[ "$rc" -eq "$want" ] && return 0
	echo "# exit $rc, not $want"
	tail -n 5 "$LAB_DIR/out" "$LAB_DIR/err" "$found"/*.txt | sed 's/^/# /'
	return 1
}

valid() { # definition, file
	python3 "$LAB_ROOT/tests/schema.py" "$1" "$2" >"$LAB_DIR/valid" 2>&1 || { tail -n 5 "$LAB_DIR/valid"; return 1; }
}
prints() { # definition, exit code, words of the program
	local def=$1 want=$2 rc
	shift 2
	top "$@" >"$LAB_DIR/json" 2>"$LAB_DIR/err"
	rc=$?
	[ "$rc" -eq "$want" ] && valid "$def" "$LAB_DIR/json" && return 0
	echo "# exit $rc, not $want"
	tail -n 5 "$LAB_DIR/err" "$LAB_DIR/json"
	return 1
}

installed() { # engine
	top sm --json 2>/dev/null | python3 -c 'import json, sys
p = json.load(sys.stdin)["plugin"]
sys.exit(not (p["engine"].startswith(sys.argv[1]) and p["source"] in ("confirmed", "engine")))' "$1"
}

all_acked() {
	[ "$(grep -c 'at LID offset 4' "$LAB_DIR"/rank-*.log | awk -F: '{ n += $2 } END { print n }')" -ge 8 ] &&
		[ "$(grep -c 'at LID offset 0' "$LAB_DIR"/rank-*.log | awk -F: '{ n += $2 } END { print n }')" -ge 8 ]
}

reported() {
	grep -q "$1" "$found/report.md" || { head -n 20 "$found/report.md"; return 1; }
}

before_and_after() { # of a path that the plan changes
	top paths --plan "$found/new.plan" n0003 n0018 --json >"$LAB_DIR/json" || return 1
	valid paths "$LAB_DIR/json" && grep -q '"plan": {' "$LAB_DIR/json"
}

lfts_as_planned() { # what is in the switches now
	top dump-lfts >"$LAB_DIR/installed" && top dump-lfts --plan "$found/new.plan" >"$LAB_DIR/wanted" || return 1
	[ "$(wc -l <"$LAB_DIR/wanted")" -gt 4000 ] && cmp "$LAB_DIR/installed" "$LAB_DIR/wanted"
}

errors_rise() { # in the background, on a port of sw01: as a bad cable would
	local i

	for i in $(seq 400); do
		lab_counter sw01 1 PortCounters.PortRcvErrors=$((i * 3)) PortCountersExtended.PortRcvErrors=$((i * 3))
		sleep 0.3
	done
}

waits() { # the script's update, for its decision
	[ -s "$(echo "$LAB_DIR"/run.new/reroute-*/status.json)" ]
}

plan_file_is_valid() {
	head -n 1 "$found/new.plan" >"$LAB_DIR/head.json" && valid plan_file "$LAB_DIR/head.json"
}

per_job() { # of a plan, as JSON: a row for each job with figures before and after
	python3 - "$LAB_DIR/json" <<-'EOF'
	import json, sys
	d = json.load(open(sys.argv[1]))
	rows = d["per_job"]
	assert len(rows) == 2, rows
	for r in rows:
	    assert r["terminals"] == 2 and r["slowdown_before"] >= 1 and r["slowdown_after"] >= 1, r
	    assert r["stands_still"] is not None and (r["paths_change"] or not r["stands_still"]), r
	EOF
}

# --- the script of the README ---
in_readme() {
	awk '/^```/ { on = !on; next } on' "$LAB_ROOT/README.md" >"$LAB_DIR/readme"
	awk 'NR == FNR { want[n++] = $0; next } { have[m++] = $0 }
		END { for (i = 0; i + n <= m; i++) { for (j = 0; j < n && have[i + j] == want[j]; j++); if (j == n) exit 0 } exit 1 }' \
		"$LAB_ROOT/console/examples/reroute.sh" "$LAB_DIR/readme"
}
short() { [ "$(wc -l <"$LAB_ROOT/console/examples/reroute.sh")" -lt 40 ]; }
ok "the script is in the README as it is here" in_readme
ok "it has fewer than 40 lines" short

lab_fabric hyperx:dims=4x4,hosts=2 || give_up "the fabric"
wrap || give_up "a wrapper"
policy "engine updn" "escape yes" "vls 4" "threads 1"
lab_plugin "routing_engine ibroute,no_fallback" "qos TRUE" "lmc 3" || give_up "opensm"
lab_slurm || give_up "SLURM"
start_jobs || give_up "the jobs"
ok "OpenSM routes by updn" lab_wait 10 installed updn

export ACCEPT_STRANGERS=1 ACCEPT_SLOWER=1
ok "a gain that no plan has: nothing is begun" reroute 0 --min-gain 99
ok "and plan.txt says so" grep -q 'less than 99 %: no plan' "$found/plan.txt"
no_update() { [ ! -e "$found/new.plan" ] && [ -z "$(find "$LAB_DIR/state" -maxdepth 1 -name '2*Z-*' 2>/dev/null)" ]; }
ok "there is no plan, and no update" no_update
ok "to parx: kept" reroute 0 -e parx --escape --vls 4 || finish
ok "all agents drained and returned" all_acked
ok "OpenSM routes by parx, confirmed" installed parx
ok "the switches hold what the plan said" lfts_as_planned
ok "the records verify" grep -q 'all intact' "$LAB_DIR/out"
ok "the report names the plan" reported "$(sed -n 's/.*"plan": "\(p-[0-9a-f]*\)".*/\1/p' "$found/plan.json")"
ok "what was watched is valid" valid record "$found/before.jsonl"
ok "also afterwards" valid record "$found/after.jsonl"
ok "the plan is valid" valid shown_plan "$found/plan.json"
ok "so is what is in its file" plan_file_is_valid
ok "the status is valid" valid status_one "$found/status.json"
ok "that of an agent, with its clients" prints agent_status 0 agent --status --socket "$LAB_DIR/n0003.sock" --json
ok "two of them" grep -c '"at": "base"' "$LAB_DIR/json"
ok "a path before and after" before_and_after
ok "paths with loads" prints paths 0 paths n0003 n0018 -d 0.2 --json
ok "plan --json" prints plan 0 plan -e updn --escape --vls 4 --fabric lab --jobs slurm --json
ok "plan --per-job" prints plan 0 plan -e updn --escape --vls 4 --fabric lab --jobs slurm --per-job --json
ok "has each job before and after" per_job
ok "show --per-job as text" grep -q 'pauses\|reordering\| no$' <(top show "$found/new.plan" --per-job)
links_of_the_plan() { # in all, and worst after first
	prints shown_plan 0 show "$found/new.plan" --links --json || return
	python3 - "$LAB_DIR/json" <<-'EOF'
	import json, sys
	links = json.load(open(sys.argv[1]))["links"]
	after = [l["eff_efi_after"] for l in links]
	assert len(links) == 96 and after == sorted(after, reverse=True), (len(links), after)
	assert any(l["efi_before"] != l["efi_after"] for l in links)
	EOF
}
ok "show --links" links_of_the_plan
ok "show --diff" prints shown_plan 0 show "$found/new.plan" --diff --json
ok "compare on the fabric" prints comparison 0 compare --engines updn,sar --vls 4 --bisections 0 --pattern none --json
ok "beside what is installed" grep -q '"engine": "installed"' "$LAB_DIR/json"
ok "a note" top note last 'agreed with ana, ticket 4711'
ok "is recorded" grep -q '"type":"note".*ticket 4711' -r "$IBROUTE_RECORD_DIR"
ok "sm --json" prints sm 0 sm --json
ok "status --json" prints status 0 status --json
ok "audit list --json" prints audit 0 audit list --json "$IBROUTE_RECORD_DIR"
ok "nothing to do: no change, no update" reroute 0 -e parx --escape --vls 4
ok "which leaves no update" test ! -e "$found/end.txt"
ok "apply without a terminal and a name is refused" test "$(top apply "$LAB_DIR/run.new/none.plan" >/dev/null 2>&1; echo $?)" -eq 64
errors_rise &
rising=$!
ok "a port with errors: nothing is begun" reroute 4 -e updn --escape --vls 4
kill $rising
(lab_wait 60 waits && errors_rise) &
rising=$!
ok "errors after the update: rolled back" reroute 5 -e updn --escape --vls 4
kill $rising
ok "OpenSM routes by parx again" installed parx
ok "status tells of both updates" prints status 0 status --json
finish
