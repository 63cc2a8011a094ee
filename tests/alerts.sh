#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# alerts.sh [promtool]: the rules and the dashboard that ship name metrics and labels that there are; promtool, where it is
# (make soak insists), says what each alert does in a story of its own.
#
# GRAFANA_SCHEMAS=DIR: the dashboard is held against Grafana's JSON schemas, too (grafana.py).
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
I=$PWD/${B:-build}/ibroute-top
here=console/examples/prometheus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
JUDGE_LOG=$work/log

# of the demo, and of a fabric that was behind a port once
"$I" --demo --prom -n 1 >"$work/prom" 2>/dev/null
names_are_there() {
	python3 - "$work/prom" $here/ibroute.rules.yml $here/ibroute.dashboard.json <<-'PY'
	import json, re, sys
	there = set(re.findall(r"^# TYPE (\w+)", open(sys.argv[1]).read(), re.M))
	# only of a fabric behind a port, where error counters of all ports are read, and of a collector
	there |= {"ibroute_collector_up", "ibroute_history_up", "ibroute_port_errors_total", "ibroute_finding", "ibroute_port_error_counter_total"}
	# only of an OpenSM with our plugin
	there |= {"ibroute_sm_sweeps_total", "ibroute_sm_reroutes_total", "ibroute_sm_routings_total", "ibroute_sm_link_events_total"}
	assert len(there) > 30, there
	texts = [re.sub(r"#.*", "", open(sys.argv[2]).read())]
	board = json.load(open(sys.argv[3]))
	texts += [t["expr"] for p in board["panels"] for t in p["targets"]]
	assert len(board["panels"]) > 10 and len({p["id"] for p in board["panels"]}) == len(board["panels"])
	for t in texts:
	    for name in re.findall(r"\bibroute_\w+", t):
	        assert name in there, name
	grid = [(p["gridPos"]["x"], p["gridPos"]["y"], p["gridPos"]["w"], p["gridPos"]["h"]) for p in board["panels"]]
	for i, (x, y, w, h) in enumerate(grid):
	    assert x + w <= 24
	    for X, Y, W, H in grid[:i]:
	        assert x >= X + W or X >= x + w or y >= Y + H or Y >= y + h, (x, y)
	PY
}
ok "rules and dashboard name metrics that there are, and panels do not overlap" names_are_there
# a checkout's: not packaged
[ -z "${GRAFANA_SCHEMAS:-}" ] || ok "Grafana's schemas take the dashboard" /usr/bin/python3 tests/grafana.py "$GRAFANA_SCHEMAS" $here/ibroute.dashboard.json
if command -v promtool >/dev/null; then
	cp $here/ibroute.rules.yml tests/alerts.yml "$work"
	ok "promtool takes the rules" promtool check rules "$work/ibroute.rules.yml"
	ok "each alert comes and ends as it says" promtool test rules "$work/alerts.yml"
elif [ "${1:-}" = promtool ]; then
	ok "promtool can be had" command -v promtool
else
	skip "alerts: promtool (package prometheus) is not installed"
fi
finish
