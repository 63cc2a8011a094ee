#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# wear.sh [FLAGS of failures]: six nets of the kind that the Nue thesis has, as their cables fail.
#
#   OUT=DIR ENGINES=A,B,... RATE=0..8%/2% SEEDS=20   where to, what (default: a folder that goes)
#
# Per net: how many lives there are, what they cost, and the throughput that each engine retains at the
# last step.  A second program recomputes that from the lines (tests/campaign_check.py), and what
# "compare" says of the whole net has to be what the lines of rate 0 say.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
top=$PWD
I=$top/$B/ibroute-top
ENGINES=${ENGINES:-updn,ftree,dor,dfsssp,dfdn,nue:8} RATE=${RATE:-0..8%/2%} SEEDS=${SEEDS:-20}
if [ -z "${OUT:-}" ]; then
	OUT=$(mktemp -d)
	trap 'rm -rf "$OUT"' EXIT
fi
nets=(
	"tree kary:k=10,n=3,hosts=10"
	"torus torus:dims=6x5x5,hosts=7,links=4"
	"hyperx hyperx:dims=12x8,hosts=7"
	"dragonfly dragonfly:p=3"
	"slimfly slimfly:q=5"
	"random random:switches=125,links=1000,hosts=8,seed=1"
)
# Figures of rate 0 that compare has, too.
as_compare() { # folder, spec
	"$I" compare --topology "$2" --engines "$ENGINES" --json >"$1/compare.json" 2>/dev/null || true
	python3 - "$1" <<'END'
import json, sys
rows = {r["engine"]: r for r in json.load(open(sys.argv[1] + "/compare.json"))}
n = 0
for line in map(json.loads, open(sys.argv[1] + "/cells.jsonl")):
    row = rows.get(line["engine"])
    if line["step"] or not line["usable"] or not row or row.get("efi_max") is None:
        continue
    for key in ("efi_max", "hops_mean", "vls_used", "sync", "rate_mean"):
        if abs(line[key] - row[key]) > 1e-5 * abs(row[key]):
            sys.exit(f"FAILED: {line['engine']} {key}: {line[key]} at rate 0, {row[key]} by compare")
    n += 1
print(f"  rate 0 is what compare says: {n} lines")
if not n:
    sys.exit("FAILED: nothing to compare")
END
}
mkdir -p "$OUT"
begin=$(date +%s)
for net in "${nets[@]}"; do
	read -r name spec <<<"$net"
	out=$OUT/$name
	echo "=== $spec"
	"$I" failures --topology "$spec" --engines "$ENGINES" --rate "$RATE" --seeds "$SEEDS" "$@" -o "$out" >"$OUT/$name.log" 2>&1 ||
		{ tail -n 5 "$OUT/$name.log"; exit 1; }
	python3 tests/campaign_check.py failures "$out"
	as_compare "$out" "$spec"
	awk -F, 'NR > 1 { row[$1] = $0 } END { for (e in row) { split(row[e], f, ","); printf "  %-8s %s of %s usable at %s %%, retains %s %%\n", f[1], f[6], f[4], f[3], f[8] == "" ? "-" : f[8] } }' "$out/failures.csv" | sort
	python3 - "$out" <<'END'
import json, sys
s = [json.loads(l)["cpu_s"] for l in open(sys.argv[1] + "/seconds.jsonl")]
print(f"  {len(s)} lines, {sum(s):.1f} CPU s")
END
done
echo "all of it: $(($(date +%s) - begin)) s"
