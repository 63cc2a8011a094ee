#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# auto_part.sh: a plan that somebody has to drain for, and nobody has agents: the part that needs no drain, by plan
# --no-drain and by the automatic mode.  dump_fts, which is not ours, says what is in the switches.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

service() { # options...
	: >"$LAB_DIR/log"
	# shellcheck disable=SC2046
	env $(lab_env n0002) "$IBROUTE_TOP" --auto=0.05 --auto-min-age 0 --jobs "$LAB_DIR/jobs" --name lab1 "${dirs[@]}" "$@" </dev/null >"$LAB_DIR/log" 2>&1 &
	pid=$!
}
stop() { kill -TERM "$pid" && wait "$pid"; }
says() { lab_wait 20 grep -qE -- "$1" "$LAB_DIR/log" || { sed 's/^/# /' "$LAB_DIR/log" | tail -n 8; return 1; }; }
figure() { python3 -c "import json; r = json.load(open('$LAB_DIR/$1.json')); print($2)"; }
# shellcheck disable=SC2046
plan() { # NAME, options...
	local name=$1
	shift
	env $(lab_env n0002) "$IBROUTE_TOP" plan -e sar --jobs "$LAB_DIR/jobs" --name lab1 --json "$@" </dev/null >"$LAB_DIR/$name.json" 2>"$LAB_DIR/err" || { cat "$LAB_DIR/err"; return 1; }
}

lab_new || exit 1
lab_fabric torus:dims=4x4,hosts=2 || give_up "the fabric"
lab_opensm "routing_engine lash" "sweep_interval 0" || give_up "opensm"
printf '1 n[0001-0008]\n2 n[0010-0020]\n' >"$LAB_DIR/jobs"
lab_lfts >"$LAB_DIR/t0"

ok "a plan for the jobs" plan whole
ok "needs a drain" test "$(figure whole 'len(r["transition"]["drain"])')" -gt 0
ok "its part without one" plan part --no-drain -o "$LAB_DIR/part.plan"
ok "needs none" test "$(figure part 'len(r["transition"]["drain"])')" -eq 0
ok "leaves some LIDs as they are" test "$(figure part 'r["rest_lids"]')" -gt 0
ok "gains, and less than the whole" test "$(figure part "0 < r['gain'] < $(figure whole 'r["gain"]')")" = True
ok "is what the schema says" python3 "$LAB_ROOT/tests/schema.py" plan "$LAB_DIR/part.json"
ok "with --min-gain above that there is none" eval 'plan part --no-drain --min-gain 99 -o "$LAB_DIR/none.plan" && [ ! -e "$LAB_DIR/none.plan" ]'

service --auto-drain all
ok "not armed: the part is proposed" says 'PROPOSED PLAN: sar, .*no drain: [0-9]+ LIDs? that would need one stays? as installed \(gain with them: .*not armed'
stop
service --rw --auto-drain all --auto-confirm 2
ok "armed, where packets must keep their order: nobody has agents" says 'PROPOSED PLAN: .*--auto-drain all.*could overtake each other'
stop
ok "nothing was written" same "$LAB_DIR/t0"
service --rw --auto-drain none --auto-confirm 2
ok "where nobody is to drain: the part is written" says 'writing [0-9]+ blocks: gain .*; no drain: [0-9]+ LIDs? that would need one'
ok "and confirmed" says 'the new routing is confirmed'
ok "nothing more comes of the rest" says 'the jobs have not changed'
stop
ok "without a drain, as the day's totals say" says '1 written \([0-9]+ blocks, 0 with a drain\).*1 confirmed'
lab_lfts >"$LAB_DIR/t1"
changed() { diff "$LAB_DIR/t0" "$LAB_DIR/t1" | grep '^>' | awk '{ print $3 }' | sort -u | wc -l; }
ok "as many LIDs have changed in the switches as the part has" test "$(changed)" -gt 0
judged() { python3 - "$LAB_DIR"/rec <<'PY'
import glob, json, sys
rows = [r for f in glob.glob(sys.argv[1] + "/*.jsonl") for r in map(json.loads, open(f)) if r["type"] == "auto"]
apply = [d for d in (r.get("data", r) for r in rows) if d.get("act") == "apply"]
assert len(apply) == 1 and apply[0]["rest_lids"] > 0 and apply[0]["drain_lids"] == 0 and apply[0]["engine"] == "sar", apply
PY
}
ok "the record has the figures of the decision" judged
finish
