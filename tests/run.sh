#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh: everything that 'make check' runs, six suites at a time for two cores, and the counts.
#
# One worker begins with what computes, five with the labs, which mostly wait; who is through with its
# own takes from the others'.  The longest goes first.  CPU times are of what was waited for:
# without the daemons of a lab.
#
# Every suite is a script that prints its own findings and appends "NAME PASSED FAILED SKIPPED"
# to $COUNTS; one that dies without a line there counts as failed.
#
# A suite of real daemons and terminals that failed is run again when all others are through: what
# goes wrong only on a crowded machine is told as unsteady.  What fails alone, too, has failed.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# the Python that the packages of the README are for: a version manager's script before it takes five
# times as long to begin, some thousand times
if [ -x /usr/bin/python3 ]; then
	mkdir "$work/bin" && ln -s /usr/bin/python3 "$work/bin" && PATH=$work/bin:$PATH
fi
start=$SECONDS
# what is random in a lab: its second run is on the same net as the first
export LAB_SEED=${LAB_SEED:-$((RANDOM % 9000 + 1))}

suite() { # name, time limit in s, command...
	local name=$1 limit=$2 t0=$SECONDS rc TIMEFORMAT='%U %S'
	shift 2
	{ time COUNTS=$work/$name.counts timeout -k 10 "$limit" "$@" >"$work/$name.log" 2>&1 </dev/null; } 2>"$work/$name.cpu"
	rc=$?
	if [ ! -s "$work/$name.counts" ]; then
		echo "$name 0 1 0" >"$work/$name.counts"
		echo "$name ended with $rc and without counts$([ $rc -eq 124 ] && echo " (limit ${limit} s)")" >>"$work/$name.log"
	elif [ "$rc" -ne 0 ] && ! awk '{f += $3} END {exit f == 0}' "$work/$name.counts"; then
		echo "$name 0 1 0" >>"$work/$name.counts"
	fi
	echo $((SECONDS - t0)) >"$work/$name.time"
	printf '%-24s %5d s\n' "$name" "$((SECONDS - t0))"
}

# Lane, expected seconds (of two cores with nothing else to do), limit in s, name, command.  The
# limit is a net for what hangs: a loaded machine takes several times as long.
compute() { printf 'compute\t%s\n' "$*"; }
suites() {
	compute 300 1800 sanitize flock $work/sanitized bash tests/sanitize.sh # these two build in one folder
	compute 40 300 fuzz flock $work/sanitized bash tests/fuzz.sh
	compute 60 300 repeat bash tests/repeat.sh
	compute 80 900 crosscheck bash tests/crosscheck.sh
	compute 40 300 cli bash tests/cli.sh
	compute 5 200 inputs bash tests/inputs.sh
	compute 12 200 campaign bash tests/campaign.sh
	compute 2 60 alerts bash tests/alerts.sh
	compute 25 300 hostile bash tests/hostile.sh
	compute 10 120 docs bash tests/docs.sh
	compute 10 300 structure bash tests/structure.sh
	compute 3 60 hardening bash tests/hardening.sh
	compute 20 300 minimal bash tests/minimal.sh
	printf 'lab\t%s\n' "250 900 unit make --no-print-directory unit" # one program at a time: as long as sanitize
	printf 'lab\t%s\n' "100 400 terminal bash tests/terminal.sh"
	printf 'lab\t%s\n' "15 200 fabrics bash tests/fabrics.sh"
	printf 'lab\t%s\n' "60 240 newcomer bash tests/newcomer.sh"
	printf 'lab\t%s\n' "65 400 story bash tests/story.sh" # it waits: two windows of 30 samples
	printf 'lab\t%s\n' "55 300 batch bash tests/batch.sh"
	printf 'lab\t%s\n' "50 400 audit bash tests/audit.sh"
	printf 'lab\t%s\n' "35 300 collect bash tests/collect.sh"
	for t in tests/lab/*.sh; do
		t=$(basename "$t" .sh)
		[ "$t" = lab ] || printf 'lab\t%s\n' "${lab_s[$t]:-30} 600 lab-$t bash tests/lab/$t.sh"
	done
}

declare -A lab_s=([script]=70 [plugin]=100 [watchdog]=60 [agent]=55 [sequence]=60 [auto]=40 [console]=27 [socket]=50 [collect]=65 [handover]=70 [agents_home]=110 [hosts]=50 [journal]=130 [foreign]=60 [sets]=15 [agents_home]=150 [detach]=6 [judged]=15 [repair]=28)
lab_s[answers]=25 lab_s[confined]=25 lab_s[trust]=55 lab_s[names]=50
lab_s[slurm]=75 lab_s[failover]=45 lab_s[campaign]=40 lab_s[install]=50 lab_s[alert]=40 lab_s[loss]=40
lab_s[agent_socket]=120 lab_s[examples]=50 lab_s[hook]=60 lab_s[auto_part]=10

# Prints and removes the first suite of that lane, or else of the other one.
take() { # lane
	(
		flock 9
		for lane in "$1" compute lab; do
			read -r line <"$work/$lane" || continue
			sed -i 1d "$work/$lane"
			echo "$line"
			break
		done
	) 9>"$work/lock"
}

worker() { # lane
	local s limit name command
	while read -r s limit name command < <(take "$1"); do
		# shellcheck disable=SC2086
		suite "$name" "$limit" $command
	done
}

# Labs share these: built by one, before any.  What cannot be built is the business of its lab.
tools=$(printf "$B/%s\n" tests/lab/*.c | sed 's/\.c$//')
# shellcheck disable=SC2086
make --no-print-directory -s -k -j2 $tools >/dev/null 2>&1

for lane in compute lab; do
	suites | sed -n "s/^$lane\t//p" | sort -srn >"$work/$lane"
done
# unit tests have been run again one by one
suites | grep -v "[[:space:]]unit make " | sed -n "s/^lab\t//p" >"$work/again"
# labs wait more than they compute
worker compute &
worker lab &
worker lab &
worker lab &
worker lab &
worker lab &
wait

has_failed() { ! awk '{f += $3} END {exit f > 0}' "$work/$1.counts"; }
while read -r s limit name command; do
	has_failed "$name" || continue
	for f in counts log; do mv "$work/$name.$f" "$work/$name.first.$f.txt"; done
	# shellcheck disable=SC2086
	suite "$name" "$limit" $command
	{
		echo "--- the first time:"
		cat "$work/$name.first.log.txt"
		echo "--- alone:"
	} | cat - "$work/$name.log" >"$work/$name.both" && mv "$work/$name.both" "$work/$name.log"
	has_failed "$name" || {
		grep -E '^not ok' "$work/$name.first.log.txt" | sed "s/^/$name: /" >>"$work/unsteady"
		echo "=== $name, the first time"
		grep -vE '^ok ' "$work/$name.first.log.txt" | tail -n "${TAIL:-80}"
	}
done <"$work/again"
grep -h '^unsteady: ' "$work"/*.log >>"$work/unsteady"

passed=0 failed=0 skipped=0
for c in "$work"/*.counts; do
	name=$(basename "$c" .counts)
	read -r p f s < <(awk '{p += $2; f += $3; s += $4} END {print p + 0, f + 0, s + 0}' "$c")
	if [ "$f" -ne 0 ]; then
		echo "=== $name"
		grep -E '^(not ok|--- )|: error: |[ =]=ERROR|runtime error' "$work/$name.log" | grep -v '# SKIP' |
			head -n 8 | sed "s/^/$name: /" >>"$work/failures"
		grep -vE '^ok ' "$work/$name.log" | tail -n "${TAIL:-80}"
	fi
	cpu=$(awk '{ c = $1 + $2 } END { print int(c + 0.5) }' "$work/$name.cpu")
	printf '%-24s %5d passed %3d failed %3d skipped %5d s %5d s of CPU\n' "$name" "$p" "$f" "$s" \
		"$(cat "$work/$name.time")" "$cpu" >>"$work/summary"
	grep -h 'SKIP' "$work/$name.log" | sort -u | head -5 >>"$work/skips"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
[ -s "$work/skips" ] && { echo "skipped:"; cat "$work/skips"; }
sort -k8,8rn "$work/summary"
# last of all, for those who see only the end
touch "$work/unsteady"
sort -u "$work/unsteady"
echo "unsteady (failed once, passed alone): $(sort -u "$work/unsteady" | wc -l)"
[ -s "$work/failures" ] && { echo "failed:"; cat "$work/failures"; }
echo "all of it took $((SECONDS - start)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
