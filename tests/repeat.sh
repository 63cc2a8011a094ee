#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# repeat.sh: the same input and seed give the same bytes, with one thread or two, 20 times over;
# and valgrind finds nothing in any engine, verdict or figure.
# TIMES (20), NETS (below), ENGINES (all).
set -u
cd "$(dirname "$0")/.." || exit 2
R=$PWD/${B:-build}/ibroute-top
TIMES=${TIMES:-20}
ENGINES=${ENGINES:-$("$R" route --help | sed -n '/^Engines:/,/^$/s/^  \([a-z]*\) .*/\1/p' | xargs)}
NETS=${NETS:-fattree2:leaves=6,spines=4,hosts=5,lmc=2 hyperx:dims=5x4,hosts=3,lmc=2,lids=random
	torus:dims=4x3x3,hosts=2,lmc=1 random:switches=24,links=60,hosts=1,hosts_max=6,parallel=2,lmc=1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
printf '%s\n' '1 n[0001-0009]' '2 n[0010-0017,0025-0030]' '3 n[0018-0024]' >"$work/jobs"

# engine, net, threads, folder, command before: exit code of route; a refusal leaves no tables
run() {
	local e=$1 net=$2 threads=$3 out=$4
	shift 4
	"$@" "$R" route --engine "$e" --topology "$net" --jobs "$work/jobs" --vls 15 --seed 7 \
		--threads "$threads" --formats ibr --out "$out" >"$work/out" 2>"$work/err"
}

good() { passed=$((passed + 1)); }
bad() {
	failed=$((failed + 1))
	echo "FAILED: $1"
	tail -n 15 "$work/err" | sed 's/^/  /'
}

for e in $ENGINES; do
	routed=0
	for net in $NETS; do
		want=
		for ((i = 0; i < TIMES; i++)); do
			rm -rf "$work/o"
			run "$e" "$net" $((i % 2 + 1)) "$work/o" 2>/dev/null
			[ $? -le 1 ] || break
			got=$(cat "$work/o/tables.ibr" "$work/err" 2>/dev/null | sha256sum)
			[ -n "$want" ] || want=$got
			[ "$got" = "$want" ] || break
		done
		if [ "$i" -eq "$TIMES" ]; then good; else bad "$e on $net differs, or died, at repetition $i"; fi
		[ -s "$work/o/tables.ibr" ] || continue
		routed=$((routed + 1))
		[ $routed -eq 1 ] || continue # one net each is enough for valgrind
		if ! command -v valgrind >/dev/null; then
			echo "SKIP valgrind is not installed"
			skipped=$((skipped + 1))
		elif run "$e" "$net" 2 "$work/v" valgrind -q --error-exitcode=99 --leak-check=full \
			--errors-for-leak-kinds=definite,indirect,possible; then
			good
		else
			bad "valgrind: $e on $net"
		fi
	done
	if [ "$routed" -gt 0 ]; then good; else bad "$e refuses all of these nets"; fi
done
# a step from installed tables aims at tables of its own
if ! command -v valgrind >/dev/null; then
	skipped=$((skipped + 1))
elif "$R" route --engine dfsssp --topology torus:dims=4x3x3,hosts=1 --formats ibr --out "$work/old" >"$work/out" 2>"$work/err" &&
	valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
		"$R" route --engine sar --topology torus:dims=4x3x3,hosts=1 --tables "$work/old/tables.ibr" --sar-change 5 \
		--jobs "$work/jobs" --formats ibr --out "$work/step" >"$work/out" 2>"$work/err"; then
	good
else
	bad "valgrind: a step of sar"
fi
echo "repeat: $passed passed, $failed failed, $skipped skipped"
[ -n "${COUNTS:-}" ] && echo "repeat $passed $failed $skipped" >>"$COUNTS"
[ "$failed" -eq 0 ]
