#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# sweep.sh: every engine on random irregular fabrics; not part of 'make check', but 'make sweep'.
#
# FABRICS (200) fabrics from seeds FIRST (1) on: 8 to 200 switches, 0 to 20 % of the cables failed,
# up to 3 parallel cables, 1 to 30 hosts a switch, LMC 0 to 3, aligned or random LIDs, in two of
# three of them cables of different rates.  Every engine
# either gives routes which its own verdict and that of check on the written tables find clean, or
# refuses with a reason; nue never refuses.  Fabrics with at most 120 host LIDs (SMALL) also go
# through crosscheck.sh, where ibdmchk judges the same routes and spoilt ones.
# ENGINES: some of them only.  JOBS: fabrics at a time (2).
set -u
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
export B R=$PWD/$B/ibroute-top
FABRICS=${FABRICS:-200} FIRST=${FIRST:-1} JOBS=${JOBS:-2}
export SMALL=${SMALL:-120}
export ENGINES=${ENGINES:-$("$R" route --help | sed -n '/^Engines:/,/^$/s/^  \([a-z]*\) .*/\1/p' | xargs)}

# prints "spec lmc host-LIDs" for a seed
draw() {
	awk -v seed="$1" 'function below(n) {return int(rand() * n)}
	BEGIN {
		srand(seed); rand(); rand()
		lmc = seed % 4
		sw = 8 + below(seed % 5 ? 193 : 9)
		h = 1 + below(seed % 5 ? 30 : 3); most = h + below(3) * below(31 - h)
		if (most > 30) most = 30
		while (sw * most * 2^lmc + sw > 40000) {h = 1; most = int(most / 2)}
		par = 1 + below(3)
		pairs = sw * (sw - 1) / 2 * par
		links = sw - 1 + below(sw * (1 + below(8)))
		if (links > pairs) links = pairs
		spare = links - (sw - 1)
		fail = int(links * below(21) / 100); if (fail > spare) fail = spare
		split("4xHDR+4xEDR 4xEDR+1xEDR+4xQDR 4xNDR+4xHDR+4xFDR+1xSDR", mixed, " ")
		rates = int(seed / 3) % 3 ? ",rates=" mixed[1 + below(3)] : ""
		printf "random:switches=%d,links=%d,hosts=%d,hosts_max=%d,parallel=%d,fail=%d,seed=%d,lids=%s%s %d %d\n",
			sw, links, h, most, par, fail, seed, seed % 3 ? "aligned" : "random", rates, lmc, sw * most * 2^lmc
	}'
}

one() { # spec, lmc, host LIDs
	local d e rc
	d=$(mktemp -d)
	for e in $ENGINES; do
		rm -rf "$d/o" "$d/o2"
		if timeout 600 "$R" route --engine "$e" --topology "$1" --lmc "$2" --vls 15 --out "$d/o" \
			--formats ibr --threads 1 >"$d/out" 2>"$d/err"; then
			timeout 600 "$R" route --engine "$e" --topology "$1" --lmc "$2" --vls 15 --out "$d/o2" \
				--formats ibr --threads 3 >"$d/out" 2>"$d/err"
			cmp -s "$d/o/tables.ibr" "$d/o2/tables.ibr" || echo "not ok $e $1 lmc $2: other tables with 3 threads"
			timeout 600 "$R" check --topology "$1" --lmc "$2" --tables "$d/o/tables.ibr" >"$d/out" 2>"$d/err"
			rc=$?
			[ $rc -eq 0 ] && echo "ok $e" || echo "not ok $e $1 lmc $2: check exits with $rc: $(tail -n 1 "$d/err")"
		else
			rc=$?
			if [ -s "$d/o/tables.ibr" ] || [ $rc -ne 1 ] || ! [ -s "$d/err" ] || [ "$e" = nue ]; then
				echo "not ok $e $1 lmc $2: exit $rc: $(tail -n 1 "$d/err")"
			else
				echo "refused $e: $(sed -n '$s/^[^:]*: //p' "$d/err")"
			fi
		fi
	done
	if [ "$3" -le "$SMALL" ] && command -v ibdmchk >/dev/null; then
		bash tests/crosscheck.sh --case spec "$1" "$2" | sed 's/^ok/ibdmchk ok/; s/^SKIP/ibdmchk refused/'
	fi
	rm -rf "$d"
}

if [ "${1:-}" = --one ]; then
	shift
	one "$@"
	exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for ((i = FIRST; i < FIRST + FABRICS; i++)); do draw "$i"; done >"$work/specs"
# what is wrong is told at once: the whole takes an hour or more
xargs -P "$JOBS" -L 1 bash tests/sweep.sh --one <"$work/specs" | tee "$work/all" | grep --line-buffered '^not ok'
echo "refused, by engine and reason:"
sed -n 's/^refused //p' "$work/all" | sed 's/[0-9][0-9]*/N/g; s/switch [^ ;,]*/switch S/g' | sort | uniq -c | sort -rn
p=$(grep -c '^ok ' "$work/all") f=$(grep -c '^not ok ' "$work/all") r=$(grep -c '^refused ' "$work/all")
s=$(grep -c '^ibdmchk ok' "$work/all")
n=$(echo "$ENGINES" | wc -w)
[ $((p + f + r)) -ge $((n * FABRICS)) ] || { echo "not ok: $((p + f + r)) results for $((n * FABRICS)) runs"; f=$((f + 1)); }
echo "sweep: $FABRICS fabrics, $n engines: $p routed and clean, $r refused, $f wrong; ibdmchk agreed $s times"
[ "$f" -eq 0 ]
