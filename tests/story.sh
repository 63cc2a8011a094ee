#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# story.sh: what the demo is to show, in numbers.  Before, a job is slow and line one of the Overview
# names it; the preview of sar says by how much it gains; after the update the bandwidth measured
# of that job has risen by that, within 20 %, and the last page and the record say so.
#
# Each seed is of a demo whose slowest job gains half and more by sar, so that one that gains nothing
# is far out, and in which no job starts or ends for seven minutes: one of 32 hosts, and one of three,
# which gains far more than its time falls.  They are played side by side, and a third beside them:
# two cables fail, line one tells whom that hurts, and the routing is repaired.
set -u
cd "$(dirname "$0")/.." || exit 2
I=$PWD/${B:-build}/ibroute-top
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
. tests/tty.sh
. tests/judge.sh
work=$(mktemp -d)
RECORDS=$work
trap 'rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM

story() { # seed, fabric: in a process of its own
	local seed=$1 fabric=$2 dir=$work/$1 job was is gain before after told rise

	mkdir "$dir"
	TTY_SOCK=ibroute-$$-$seed
	trap tty_stop EXIT
	tty_start 200x60 env TERM=screen-256color LC_ALL=C.UTF-8 "$I" --rw -d 1 --seed "$seed" \
		--demo="$fabric" --record-dir "$dir/rec" --state-dir "$dir/state"
	echo "# $fabric, seed $seed"

	# --- before
	ok "line one of the Overview names a job that the routing slows" \
		tty_wait 60 'routing costs jobs up to [0-9.]+x: [0-9]+, [0-9]+ share .*; 6 computes better'
	job=$(tty_screen | sed -nE 's/.*up to [0-9.]+x: ([0-9]+), .*/\1/p')
	echo "# job $job"
	tty_keys 5
	ok "the jobs begin with it" tty_wait 10 "^>? +$job "

	# --- the preview
	tty_keys 6
	ok "sar is there" tty_engine sar
	tty_keys Space
	ok "and is computed" tty_wait 60 '\[ok\] up to date'
	tty_keys J
	ok "the preview tells the rate of that job, now and then" \
		tty_wait 10 "[ >]$job +[0-9]+ +[0-9.]+ > [0-9.]+ +[0-9]+ > [0-9]+ "
	read -r was is < <(tty_screen |
		sed -nE "s/.*[ >]$job +[0-9]+ +[0-9.]+ > [0-9.]+ +([0-9]+) > ([0-9]+) .*/\1 \2/p")
	gain=$(awk "BEGIN { print $is / $was }")
	echo "# rate $was -> $is %: $gain times the bandwidth"
	ok "it gains half and more" awk "BEGIN { exit !($gain >= 1.5) }"

	# --- the update
	tty_keys A
	ok "as much is measured before as counts" tty_wait 60 'by the 30 samples before the update'
	ok "it is applied and confirmed" tty_update demo
	ok "the last page tells the bandwidth of that job, before and after" \
		tty_wait 60 "Effect: slowest job $job: [0-9.]+ -> [0-9.]+ GB/s"
	tty_screen | grep -A3 'Effect:' | sed 's/^/# /'
	read -r before after told < <(tty_screen | tr '\n' ' ' | tr -s ' ' |
		sed -nE "s/.*Effect: slowest job $job: ([0-9.]+) -> ([0-9.]+) GB\/s \(.[0-9]+%; predicted (.[0-9]+)%.*/\1 \2 \3/p")
	rise=$(awk "BEGIN { print ${after:-0} / ${before:-1} }")
	echo "# measured $before -> $after GB/s: $rise times"
	ok "it has risen by what the preview said, within 20 %" \
		awk "BEGIN { exit !($rise > $gain / 1.2 && $rise < $gain * 1.2) }"
	ok "the page says what had been foretold, but for what is rounded" \
		awk "BEGIN { d = (1 + ${told:-0} / 100) / $gain; exit !(d > 0.96 && d < 1.04) }"
	recorded() { grep -h '"apply.effect"' "$dir"/rec/*.jsonl | grep -q "slowest job $job: $before -> $after GB/s"; }
	ok "the record has it" eval 'for _ in $(seq 100); do recorded && break; sleep 0.1; done; recorded'
	names_another() { # in line one
		tty_screen | sed -n 3p | grep -q '[a-z]' && ! tty_screen | sed -n 3p | grep -q "x: $job,"
	}
	tty_keys 1
	tty_wait 10 '\[1 Overview\]'
	ok "line one names it no more" names_another
	tty_stop
	echo "$passed $failed $skipped" >"$dir.counts"
}

failure() { # seed: in a process of its own
	local seed=$1 dir=$work/failure

	mkdir "$dir"
	TTY_SOCK=ibroute-$$-failure
	trap tty_stop EXIT
	tty_start 100x30 env TERM=screen-256color LC_ALL=C.UTF-8 "$I" --rw -d 1 --seed "$seed" --demo \
		--record-dir "$dir/rec" --state-dir "$dir/state"
	echo "# two cables fail"
	ok "all paths are there" tty_wait 60 'routing complete'
	tty_type ':unplug leaf03/25,leaf05/20'
	tty_keys Enter
	ok "line one says what has gone, what is lost, for whom, and what to do" \
		tty_wait 20 '^ leaf03/25-spine[0-9/]+ and 1 more gone: [0-9]+ paths lost, [0-9]+ jobs touched; 6: repair'
	tty_keys 5
	ok "the jobs begin with the one that loses most" tty_wait 10 'Jobs by lost%'
	first_loses() { tty_screen | grep -E '^> ' | grep -qE ' [0-9]+\.[0-9] +[0-9.]+x '; }
	ok "whose share of lost messages is told" first_loses
	tty_keys 6
	ok "the cursor is on repair" tty_wait 10 '^>\( \) repair +for lost paths'
	tty_keys Space
	ok "which finds all paths again" tty_wait 30 'unreachable pairs +[0-9,]+ +0 +-100% better'
	ok "and is no worse than what loses messages" eval 'tty_wait 30 "\[ok\] up to date" && ! tty_screen | grep -E "worse|Slower"'
	tty_keys A
	ok "it is applied and confirmed" tty_update demo
	tty_keys 1
	ok "all paths are there again" tty_wait 30 'routing complete'
	tty_type ':plug'
	tty_keys Enter
	ok "the cables come back" tty_wait 20 'ISLs 324'
	tty_stop
	echo "$passed $failed $skipped" >"$dir.counts"
}

failure 2403 >"$work/failure.log" 2>&1 &
story 4251 fattree2:leaves=18,spines=18,hosts=18 >"$work/4251.log" 2>&1 &
story 5957 fattree2:leaves=18,spines=18,hosts=18,lids=random >"$work/5957.log" 2>&1 &
wait
for log in "$work"/*.log; do
	cat "$log"
	read -r p f s <"${log%.log}.counts" || { p=0 f=1 s=0; echo "not ok - a story without an end"; }
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
finish
