#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# unit.sh BINARY...: runs the cmocka programs and sums their counts.
set -u
. "$(dirname "$0")/judge.sh"
for t in "$@"; do
	out=$(CMOCKA_MESSAGE_OUTPUT=TAP timeout "${UNIT_TIMEOUT:-300}" "$t" 2>&1)
	rc=$?
	p=$(grep -cE '^ok [0-9]+' <<<"$out")
	# cmocka prints a skipped test as "not ok"
	s=$(grep -cE '^(not )?ok [0-9]+.*# SKIP' <<<"$out")
	p=$((p + $(grep -cE '^not ok [0-9]+.*# SKIP' <<<"$out")))
	f=$(($(grep -cE '^not ok [0-9]+' <<<"$out") - $(grep -cE '^not ok [0-9]+.*# SKIP' <<<"$out")))
	if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	printf '%-40s %4d passed %3d failed %3d skipped\n' "$(basename "$t")" $((p - s)) "$f" "$s"
	if [ "$f" -ne 0 ]; then
		echo "--- $t (exit $rc)"
		printf '%s\n' "$out" | grep -vE '^ok ' | tail -n 60
	fi
	passed=$((passed + p - s)) failed=$((failed + f)) skipped=$((skipped + s))
done
finish
