#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""grafana.py SCHEMAS DASHBOARD: is the dashboard what Grafana's JSON schemas describe?

SCHEMAS is the folder "jsonschema" of grafana/grafana-foundation-sdk.  The dashboard, each query of
Prometheus, and the options and field settings of each panel are checked.  A line for each mistake;
exit code 1 with any.  Needs Debian's python3-jsonschema."""
import json
import os
import sys

import jsonschema

folder, path = sys.argv[1:3]


def mistakes(schema, definition, value, where):
    with open(os.path.join(folder, f"{schema}.jsonschema.json")) as f:
        whole = json.load(f)
    if definition not in whole["definitions"]:
        return 0
    whole["$ref"] = f"#/definitions/{definition}"
    found = list(jsonschema.Draft7Validator(whole).iter_errors(value))
    for e in found:
        print(f"{where}: {'/'.join(map(str, e.absolute_path))}: {e.message}")
    return len(found)


with open(path) as f:
    board = json.load(f)
n = mistakes("dashboard", "Dashboard", board, "dashboard")
for p in board["panels"]:
    for target in p["targets"]:
        n += mistakes("prometheus", "Dataquery", target, f"{p['title']}: query")
    n += mistakes(p["type"], "Options", p["options"], f"{p['title']}: options")
    custom = p.get("fieldConfig", {}).get("defaults", {}).get("custom")
    if custom is not None:
        n += mistakes(p["type"], "FieldConfig", custom, f"{p['title']}: fields")
print(f"{len(board['panels'])} panels, {n} mistakes")
sys.exit(1 if n else 0)
