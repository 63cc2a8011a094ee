#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# month.sh [FLAGS of month]: what scheduling-aware routing gains over routing that knows no jobs, in
# the figures of SC16 Table 1, while a month of synthetic jobs comes and goes (ibroute-top replay).
#
#   OUT=DIR ENGINES=A,B,...   where to, what (default: a folder that goes; seven ways)
#
# Fails when a step of sar:leafwise@always changes more than 5 % of the blocks, or its maximum is more
# than 6 % above the bound on average.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
ENGINES=${ENGINES:-dfsssp,updn,ftree,sar:paper@scratch,sar:patch@scratch,sar:leafwise@scratch,sar:leafwise@always}
spec=xgft:h=3,m=16x8x11,w=1x9x8
for a; do case $a in --fabric=*) spec=${a#*=} ;; esac; done
if [ -z "${OUT:-}" ]; then
	OUT=$(mktemp -d)
	trap 'rm -rf "$OUT"' EXIT
fi
mkdir -p "$OUT"
"$B/tests/bench/month" "$@" >"$OUT/month.csv"
"$B/ibroute-top" replay --topology "$spec" --history "$OUT/month.csv" --engines "$ENGINES" --vls 15 --every 10m \
	-o "$OUT/replay"
cp "$OUT/replay/summary.json" "$OUT/month.json"
python3 - "$OUT/month.json" <<'END'
import json, sys
for w in json.load(open(sys.argv[1]))["methods"]:
    if w["method"] != "sar:leafwise@always":
        continue
    if w["blocks_pct_max"] > 5:
        sys.exit(f"month: FAILED: a step of leafwise changes {w['blocks_pct_max']:.2f} % of the blocks")
    if w["bound_ratio_mean"] > 1.06:
        sys.exit(f"month: FAILED: the maximum of leafwise is {w['bound_ratio_mean']:.3f} of the bound")
END
