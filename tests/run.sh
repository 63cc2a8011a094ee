#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh: everything that 'make check' runs, in two lanes for two cores, and the counts.
#
# Every suite is a script that prints its own findings and appends "NAME PASSED FAILED SKIPPED"
# to $COUNTS; one that dies without a line there counts as failed.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
start=$SECONDS

suite() { # name, time limit in s, command...
	local name=$1 limit=$2 t0=$SECONDS rc
	shift 2
	COUNTS=$work/$name.counts timeout -k 10 "$limit" "$@" >"$work/$name.log" 2>&1 </dev/null
	rc=$?
	if [ ! -s "$work/$name.counts" ]; then
		echo "$name 0 1 0" >"$work/$name.counts"
		echo "$name ended with $rc and without counts$([ $rc -eq 124 ] && echo " (limit ${limit} s)")" >>"$work/$name.log"
	elif [ "$rc" -ne 0 ] && ! awk '{f += $3} END {exit f == 0}' "$work/$name.counts"; then
		echo "$name 0 1 0" >>"$work/$name.counts"
	fi
	echo $((SECONDS - t0)) >"$work/$name.time"
}

simple() { # name, command...: one pass or fail
	local name=$1
	shift
	if "$@"; then echo "$name 1 0 0" >>"$COUNTS"; else echo "$name 0 1 0" >>"$COUNTS"; return 1; fi
}
export -f simple

lane_a() {
	suite structure 120 bash -c 'simple layers sh tests/layers.sh; simple headers make --no-print-directory headers; bash tests/minimal.sh'
	suite unit 400 make --no-print-directory unit
	suite sanitize 400 bash tests/sanitize.sh
	suite fuzz 300 bash tests/fuzz.sh
	suite repeat 300 bash tests/repeat.sh
}

lane_b() {
	suite cli 200 bash tests/cli.sh
	suite crosscheck 400 bash tests/crosscheck.sh
	suite terminal 200 bash tests/terminal.sh
	for t in tests/lab/*.sh; do
		[ "$t" = tests/lab/lab.sh ] || suite "lab-$(basename "$t" .sh)" 240 bash "$t"
	done
}

lane_a &
lane_b &
wait

passed=0 failed=0 skipped=0
for c in "$work"/*.counts; do
	name=$(basename "$c" .counts)
	read -r p f s < <(awk '{p += $2; f += $3; s += $4} END {print p + 0, f + 0, s + 0}' "$c")
	if [ "$f" -ne 0 ]; then
		echo "=== $name"
		grep -vE '^ok ' "$work/$name.log" | tail -n "${TAIL:-80}"
	fi
	printf '%-24s %5d passed %3d failed %3d skipped %5d s\n' "$name" "$p" "$f" "$s" \
		"$(cat "$work/$name.time")" >>"$work/summary"
	grep -h 'SKIP' "$work/$name.log" | sort -u | head -5 >>"$work/skips"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
[ -s "$work/skips" ] && { echo "skipped:"; cat "$work/skips"; }
cat "$work/summary"
echo "all of it took $((SECONDS - start)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
