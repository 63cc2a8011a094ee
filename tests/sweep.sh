#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# sweep.sh: every engine on drawn fabrics; not part of 'make check', but 'make sweep'.
#
# FABRICS (200) irregular ones from seeds FIRST (1) on: 8 to 200 switches, 0 to 20 % of the cables
# failed, up to 3 parallel cables, 1 to 30 hosts a switch, LMC 0 to 3, aligned or random LIDs, in two
# of three of them cables of different rates.  From the same seeds SHAPES (200) trees, HyperX, tori,
# meshes, dragonflies, Slim Flies and OFTs of any size up to some hundred switches, half of them with
# cables failed.  Every engine
# either gives routes which its own verdict and that of check on the written tables find clean, or
# refuses with a reason; nue never refuses.  Fabrics with at most 120 host LIDs (SMALL) also go
# through crosscheck.sh, where ibdmchk judges the same routes and spoilt ones.
# ENGINES: some of them only.  JOBS: fabrics at a time (2).
set -u
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
export B R=$PWD/$B/ibroute-top
FABRICS=${FABRICS:-200} SHAPES=${SHAPES:-200} FIRST=${FIRST:-1} JOBS=${JOBS:-2}
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

# the same of a fabric with a shape; nothing where so many cables cannot fail
draw_shape() {
	local spec lmc

	read -r spec lmc < <(shape "$1")
	"$R" topo "$spec" >"$work/net" 2>/dev/null &&
		echo "$spec $lmc $(($(grep -c '^Ca' "$work/net") << lmc))"
}

shape() {
	awk -v seed="$1" 'function in_range(a, b) {return a + int(rand() * (b - a + 1))}
	function dims(n, most,   text, i) {
		for (i = 0; i < n; i++) text = text (i ? "x" : "") in_range(2, most)
		return text
	}
	BEGIN {
		srand(seed + 1000000); rand(); rand()
		split("16 9 5 3", most, " ")
		n = in_range(1, 4); p = in_range(1, 3); a = in_range(2, 6); h = in_range(1, 3)
		split("2,4 3,3 4,3 5,2 2,5", ary, " "); split("3 4 5 7 8", q, " ")
		split(ary[in_range(1, 5)], kn, ",")
		kind[0] = sprintf("fattree2:leaves=%d,spines=%d,hosts=%d,parallel=%d",
			in_range(2, 20), in_range(1, 12), in_range(1, 18), in_range(1, 3))
		kind[1] = sprintf("fattree3:pods=%d,leaves=%d,aggs=%d,cores=%d,hosts=%d,parallel=%d",
			in_range(2, 6), in_range(1, 8), in_range(1, 6), in_range(1, 6), in_range(1, 10), in_range(1, 2))
		kind[2] = "fattree3:k=" 2 * in_range(2, 5)
		kind[3] = sprintf("kary:k=%d,n=%d,hosts=%d", kn[1], kn[2], in_range(1, 6))
		kind[4] = sprintf("xgft:h=3,m=%dx%dx%d,w=1x%dx%d",
			in_range(1, 5), in_range(2, 5), in_range(2, 6), in_range(1, 5), in_range(1, 5))
		kind[5] = sprintf("hyperx:dims=%s,hosts=%d,links=%d", dims(n, most[n]), in_range(1, 20), in_range(1, 2))
		kind[6] = sprintf("torus:dims=%s,hosts=%d,links=%d", dims(n, most[n]), in_range(1, 10), in_range(1, 2))
		kind[7] = sprintf("mesh:dims=%s,hosts=%d,links=%d", dims(n, most[n]), in_range(1, 10), in_range(1, 2))
		kind[8] = sprintf("dragonfly:p=%d,a=%d,h=%d,g=%d", p, a, h, in_range(2, a * h + 1))
		kind[9] = sprintf("slimfly:q=%d,hosts=%d", q[in_range(1, 5)], in_range(1, 5))
		kind[10] = sprintf("oft:k=%d,hosts=%d", in_range(3, 6), in_range(1, 6))
		split("1 3 6 1% 3% 5% 10% 20%", fails, " ")
		split("4xHDR+4xEDR 4xEDR+1xEDR+4xQDR", mixed, " ")
		printf "%s,seed=%d%s%s%s %d\n", kind[seed % 11], seed, rand() < .5 ? ",fail=" fails[in_range(1, 8)] : "",
			rand() < .3 ? ",lids=random" : "", rand() < .3 ? ",rates=" mixed[in_range(1, 2)] : "",
			rand() < .5 ? 0 : in_range(1, 3)
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
for ((i = FIRST; i < FIRST + SHAPES; i++)); do draw_shape "$i"; done >>"$work/specs"
fabrics=$(wc -l <"$work/specs")
# what is wrong is told at once: the whole takes an hour or more
xargs -P "$JOBS" -L 1 bash tests/sweep.sh --one <"$work/specs" | tee "$work/all" | grep --line-buffered '^not ok'
echo "refused, by engine and reason:"
sed -n 's/^refused //p' "$work/all" | sed 's/[0-9][0-9]*/N/g; s/ ([^()]*)$//' | sort | uniq -c | sort -rn
p=$(grep -c '^ok ' "$work/all") f=$(grep -c '^not ok ' "$work/all") r=$(grep -c '^refused ' "$work/all")
s=$(grep -c '^ibdmchk ok' "$work/all")
n=$(echo "$ENGINES" | wc -w)
[ $((p + f + r)) -ge $((n * fabrics)) ] || { echo "not ok: $((p + f + r)) results for $((n * fabrics)) runs"; f=$((f + 1)); }
echo "sweep: $fabrics fabrics, $n engines: $p routed and clean, $r refused, $f wrong; ibdmchk agreed $s times"
[ "$f" -eq 0 ]
