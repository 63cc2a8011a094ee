#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""schema.py DEFINITION FILE...: validates JSON, or lines of JSON, by console/schema.json.

A list of row fields and the schema must not drift apart: schema.py --fields KIND FILE also asks
that every property of a row is in the first row of FILE."""
import json
import os
import sys

import jsonschema

schema = json.load(open(os.path.join(os.path.dirname(__file__), "../console/schema.json")))
all_rows = sys.argv[1] == "--fields"
name = "record" if all_rows else sys.argv[1]
kind = sys.argv[2] if all_rows else None
jsonschema.Draft202012Validator.check_schema(schema)
if name not in schema["$defs"]:
    sys.exit("schema.py: no definition %s" % name)
validator = jsonschema.Draft202012Validator({**schema, "$ref": "#/$defs/" + name})


def documents(path):
    """One document, or one a line; NaN is no JSON."""

    def refuse(word):
        raise ValueError("%s is no JSON" % word)

    text = open(path, encoding="utf-8").read()
    try:
        return [json.loads(text, parse_constant=refuse)]
    except json.JSONDecodeError:
        return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


bad = count = 0
for path in sys.argv[3 if all_rows else 2 :]:
    found = documents(path)
    if not found:
        bad += 1
        print("%s: nothing in it" % path)
    for doc in found:
        count += 1
        for e in list(validator.iter_errors(doc))[:5]:
            bad += 1
            print("%s: %s: %s" % (path, "/".join(map(str, e.absolute_path)), e.message[:300]))
    if all_rows:
        missing = set(schema["$defs"][kind + "_row"]["properties"]) - set(found[0][kind][0])
        if missing:
            bad += 1
            print("%s: not in a row: %s" % (path, " ".join(sorted(missing))))
print("%d documents, %d faults" % (count, bad))
sys.exit(bad != 0)
