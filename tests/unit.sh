#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# unit.sh BINARY...: runs the cmocka programs and sums their counts.  One that fails is run a second
# time: what fails once only is told as unsteady, and does not count, unless a sanitizer found it.
set -u
. "$(dirname "$0")/judge.sh"
run() {
	out=$(CMOCKA_MESSAGE_OUTPUT=TAP timeout "${UNIT_TIMEOUT:-300}" "$1" 2>&1)
	rc=$?
	p=$(grep -cE '^ok [0-9]+' <<<"$out")
	# cmocka prints a skipped test as "not ok"
	s=$(grep -cE '^(not )?ok [0-9]+.*# SKIP' <<<"$out")
	p=$((p + $(grep -cE '^not ok [0-9]+.*# SKIP' <<<"$out")))
	f=$(($(grep -cE '^not ok [0-9]+' <<<"$out") - $(grep -cE '^not ok [0-9]+.*# SKIP' <<<"$out")))
	if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
}
findings() {
	echo "--- $1 (exit $rc)$2"
	printf '%s\n' "$out" | grep -vE '^ok ' | tail -n 60
}
found=0
for t in "$@"; do
	run "$t"
	if [ "$f" -ne 0 ]; then
		findings "$t" ", the first time"
		! grep -qE 'ERROR: [A-Z][A-Za-z]*Sanitizer|runtime error:' <<<"$out" || found=$((found + 1))
		first=$(grep -E '^not ok' <<<"$out" | grep -v '# SKIP' | head -n 1)
		run "$t"
		[ "$f" -ne 0 ] || echo "unsteady: $(basename "$t"): ${first:-ended otherwise}"
	fi
	printf '%-40s %4d passed %3d failed %3d skipped\n' "$(basename "$t")" $((p - s)) "$f" "$s"
	[ "$f" -eq 0 ] || findings "$t" ", again"
	passed=$((passed + p - s)) failed=$((failed + f)) skipped=$((skipped + s))
done
failed=$((failed > found ? failed : found))
finish
