#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# sanitize.sh: the unit tests under ASan and UBSan, and all sources under clang's warnings.  Not
# optimised, because building takes longest here.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
# an allocation that is too large fails, as without the sanitizer: tests look at what follows
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:allocator_may_return_null=1}
# freed memory is kept back by 16 MB, not 256: half of the time of what forks went to its pages
[ -n "${FULL:-}" ] || ASAN_OPTIONS+=:quarantine_size_mb=16
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}

# What takes longest is left out here: the engines (they run under valgrind in repeat.sh), screens
# of 2,064 switches, whole updates and crashes at each of their writes.  FULL=1 (make sanitize) has it.
long="parx dfdn dfsssp demo_traffic lid_choice judges metrics nue phases_explore packets balanced_sssp"
long+=" help_keys screens view_large view_bytes job_rate view_paths view_switches view_topology views app"
long+=" executor agent_set power_loss"
long+=" sar escape engines dor transition verify txn_packets packets_installer"
long+=" sl2vl_files view_apply view_preview sar_time ftree judged planfile length_bound time_bound"
long+=" pin exclusion escape_lids repair repairer refill fresh_gap improver minhop packets_shared"

round() { # title, build folder, make variables...
	local title=$1 folder=$2 log sums bins=() t
	shift 2
	log=$(mktemp)
	for t in $(find tests/unit -name 'test_*.c' | sort); do
		t=${t%.c}
		[[ -z ${FULL:-} && " $long " == *" ${t##*/test_} "* ]] && continue
		bins+=("$folder/$t")
	done
	if ! make --no-print-directory -j2 "$@" "${bins[@]}" >"$log" 2>&1; then
		echo "--- $title does not build"
		grep -vE '^  CC' "$log" | tail -n 40
		failed=$((failed + 1))
		rm -f "$log"
		return
	fi
	echo "--- $title"
	env -u COUNTS bash tests/unit.sh "${bins[@]}" >"$log" 2>&1
	cat "$log"
	sums=$(sed -nE 's/^unit: ([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
	rm -f "$log"
	read -r p f s <<<"${sums:-0 1 0}"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# Which compiler: what one does not see, the other may, and clang takes half of the time.
if [ -n "${FULL:-}" ]; then
	round "gcc, ASan and UBSan" build-address-undefined SAN=address,undefined CFLAGS="-O1 -g1"
else
	round "clang, ASan and UBSan" build-address-undefined-clang CC=clang WERROR=1 \
		SAN=address,undefined CFLAGS="-O0 -g1"
fi
# in one seed of two the console may change the fabric
for seed in 1 2; do
	ok "4,000 random keys and resizes, seed $seed" bash -c "make --no-print-directory -s -j2 \
		CC=clang SAN=address,undefined CFLAGS='-O0 -g1' build-address-undefined-clang/tests/fuzz/keys &&
		build-address-undefined-clang/tests/fuzz/keys 4000 $seed"
done
rest=(console/cli/main.c engines/opensm/plugin/*.c tests/{bench,fuzz,lab}/*.c)
for t in $long; do rest+=("$(find tests/unit -name "test_$t.c")"); done
ok "clang has no warnings about the rest, either" make --no-print-directory -s syntax CC=clang \
	WERROR=1 SYNTAX_SRCS="${rest[*]}"

finish
