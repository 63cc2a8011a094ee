#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz.sh: the fuzzers of tests/fuzz.
#
#   fuzz.sh        short and always the same, by our own driver, with clang's sanitizers (make check)
#   fuzz.sh long   by libFuzzer (make fuzz): FUZZ="notice plan" (all), FUZZ_RUNS=1000000 each,
#                  FUZZ_SEED=1; inputs that showed something new stay in build-.../corpus/NAME
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
# what was freed is remembered for some inputs, not for thousands, so that it stays in the CPU's cache;
# ASAN_OPTIONS=malloc_context_size=30 and the input tell more of where something was allocated
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:malloc_context_size=2:quarantine_size_mb=1:thread_local_quarantine_size_kb=64}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
names=${FUZZ:-$(cd tests/fuzz && ls fuzz_*.c | sed 's/^fuzz_//;s/\.c$//')}
runs=${FUZZ_RUNS:-}

short() {
	local folder=build-address-undefined-clang bins=()
	for n in $names; do bins+=("$folder/tests/fuzz/fuzz_$n"); done
	# as sanitize.sh builds, so that nothing is built twice
	make --no-print-directory -j2 CC=clang SAN=address,undefined CFLAGS="-O0 -g1" "${bins[@]}" \
		>"$folder.log" 2>&1 || { grep -v '^  CC' "$folder.log" | tail -n 20; give_up "the fuzzers build"; }
	rm -f "$folder.log"
	for n in $names; do
		ok "$n: ${runs:-2000} inputs" timeout 120 "$folder/tests/fuzz/fuzz_$n" "${runs:-2000}"
	done
}

long() {
	local san=fuzzer-no-link,address,undefined folder=build-fuzzer-no-link-address-undefined-clang
	local bins=() corpus log largest
	for n in $names; do bins+=("$folder/tests/fuzz/fuzz_$n"); done
	make --no-print-directory -j2 CC="${CLANG:-clang}" SAN=$san CFLAGS="-O2 -g1" "${bins[@]}" ||
		give_up "the fuzzers build"
	for n in $names; do
		# entropic=0: counting how rare each way is took a third of the time
		corpus=$folder/corpus/$n log=$folder/$n.log
		mkdir -p "$corpus"
		FUZZ_SEEDS=$corpus "$folder/tests/fuzz/fuzz_$n" >/dev/null
		largest=$(find "$corpus" -name 'seed-*' -printf '%s\n' | sort -n | tail -n 1)
		if "$folder/tests/fuzz/fuzz_$n" -runs="${runs:-1000000}" -seed="${FUZZ_SEED:-1}" \
			-max_len=$((largest + 256)) -entropic=0 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
			-artifact_prefix="$folder/$n-" "$corpus" >"$log" 2>&1; then
			passed=$((passed + 1))
			sed -nE "s/^Done ([0-9]+) runs in ([0-9]+) .*/ok - $n: \1 inputs in \2 s, nothing found/p" "$log"
			sed -nE 's/^stat::average_exec_per_sec: *//p' "$log" | sed 's/$/ inputs a second/;s/^/  # /'
		else
			failed=$((failed + 1))
			echo "not ok - $n: see $log; the input is beside it"
			grep -E 'ERROR|runtime error|not so|SUMMARY|Test unit' "$log" | head -n 8
		fi
	done
}

if [ "${1:-}" = long ]; then long; else short; fi
finish
