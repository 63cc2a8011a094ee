#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# newcomer.sh: a first reroute by somebody who has read nothing but the screen.  Every key pressed
# here is one that the screen before it names; where it does not, this fails.  From the start of
# the console (as make demo starts it) to routes that are kept and back, at 80x24.  Then the tour,
# where all is done that its lines say, with the keys as they are and with others.
set -u
cd "$(dirname "$0")/.." || exit 2
I=$PWD/${B:-build}/ibroute-top
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
. tests/tty.sh
. tests/judge.sh
work=$(mktemp -d)
trap 'tty_stop; rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM

# told PATTERN KEY: the screen says so, then the key is pressed
told() {
	tty_wait 20 "$1" || return 1
	tty_keys "$2"
}

# The name that the screen asks for, typed as it stands there.
type_the_name() { # what for
	tty_wait 10 "Type the fabric's name \\(.*\\) to $1" || return 1
	tty_type "$(tty_screen | sed -nE "s/.*Type the fabric's name \\((.*)\\) to .*/\\1/p")"
	tty_wait 5 'Enter done' || return 1
	tty_keys Enter
}

start=$(date +%s)
tty_start 80x24 env TERM=screen-256color LC_ALL=C.UTF-8 "$I" --demo --rw \
	--record-dir "$work/rec" --state-dir "$work/state"
ok "whoever is here for the first time is told where all keys are" tty_wait 20 'first time here\?  \?: all keys;  :tour'
ok "the first screen says where to reroute" told '6, choose an engine, Space computes a preview' 6
ok "view 6 knows the routes in use" tty_wait 60 'in use'
ok "and says how to compute" told 'Space or Enter: compute' Space
ok "and what the plan would change" tty_wait 20 '[0-9]+ blocks on [0-9]+ switches'
ok "that it was checked" tty_wait 20 '\[ok\] up to date'
ok "and how to go on" told 'A: apply p-[0-9a-f]{4}' A
ok "view 7 says that a name is needed" told "Enter, then type the fabric's name" Enter
ok "which" type_the_name START
ok "it is written, and the deadline is on the screen" tty_wait 30 'rolls back in [0-9]:[0-9]+ unless confirmed'
ok "in the first line, too" eval 'tty_screen | head -n 1 | grep -qE "CONFIRM [0-9]:[0-9]+"'
ok "all tables were read again and judged" tty_wait 20 'reach [0-9]+x[0-9]+ ok, CDG acyclic'
tty_keys Tab
ok "its log has each block" tty_wait 5 'LFT block [0-9]+ read-back ok'
ok "and that all switches match" tty_wait 5 'all [0-9]+ switches match the plan'
tty_keys Tab
ok "the phases are back" tty_wait 5 'CONFIRM +RUNNING'
ok "and how to keep it" told "Enter, then type" Enter
ok "again by its name" type_the_name CONFIRM
ok "it is kept" tty_wait 20 'the new routing is active'
took=$(($(date +%s) - start))
echo "# from the start to the end: $took s"
ok "in less than two minutes" test "$took" -lt 120
ok "it says how to go back" told 'R, then Y' R
ok "R asks" told 'Roll back\?  Y: yes' Y
ok "the way back is a plan of its own" told "Enter, then type the fabric's name" Enter
ok "started" type_the_name START
ok "it waits again" tty_wait 30 'rolls back in [0-9]:[0-9]+ unless confirmed'
ok "more time is one key" told '\+ extend' +
ok "and said" tty_wait 10 'rolls back in [5-9]:|rolls back in 1[0-9]:'
ok "a note, too" told 'N: note' N
tty_type 'tried and went back'
tty_keys Enter
ok "is taken" tty_wait 5 'note added to the record'
ok "kept again" told "Enter, then type" Enter
ok "by its name" type_the_name CONFIRM
ok "and over" tty_wait 20 'the new routing is active'
ok "the record has the note" grep -q '"note".*tried and went back' "$work"/rec/*.jsonl
tty_keys q
ok "and is whole" eval 'for _ in $(seq 50); do "$I" audit verify "$work"/rec/*.jsonl >/dev/null 2>&1 && break; sleep 0.1; done; "$I" audit verify "$work"/rec/*.jsonl >/dev/null'
tty_stop

# The same with other habits: each from the first screen to routes that are kept, and to which job
# gained by how much.
kept() { # what presses what the screen asks for; what types a name ends with
	local start=$SECONDS did=$1

	ok "$did: from the first screen to the engines" eval 'tty_wait 20 "6, choose an engine" && "$did" engines && tty_wait 60 "in use"'
	sleep 4 # rates, which the effect is told by
	ok "$did: a plan" eval '"$did" compute && tty_wait 20 "A: apply p-"'
	ok "$did: to the update" eval '"$did" apply && tty_wait 20 "Enter, then type the fabric.s name"'
	ok "$did: it is started" eval '"$did" start && name START && tty_wait 30 "unless confirmed"'
	ok "$did: it is confirmed" eval '"$did" confirm && name CONFIRM && tty_wait 20 "the new routing is active"'
	ok "$did: in less than two minutes" test $((SECONDS - start)) -lt 120
	ok "$did: the screen says which job gained most, and by how much" \
		eval 'tty_wait 30 "most gained" && tty_screen | tr -s "\n " " " | grep -qE "most gained job [0-9]+: [0-9.]+ -> [0-9.]+ GB/s \(\+[0-9]+%\)"'
}
name() { # what for
	tty_wait 10 "Type the fabric's name \\(.*\\) to $1" || return 1
	tty_type demo
	"$did" typed
}
habit() { # which
	rm -rf "$work/habit"
	tty_start 80x24 env TERM=screen-256color LC_ALL=C.UTF-8 "$I" --demo --rw --interval 1 \
		--record-dir "$work/habit" --state-dir "$work/habit-state"
	kept "$1"
	"$1" quit
	ok "$1: it ends" eval 'for _ in $(seq 50); do tty_dead && break; sleep 0.1; done; tty_dead'
	tty_stop
}

arrows() { # and F keys
	case $1 in
	engines) tty_keys F1 && tty_wait 5 '\[\?Help' && tty_keys F10 && tty_wait 5 '\[1Over' && tty_keys 6 ;;
	compute) tty_keys Down Up Enter ;;
	apply) tty_keys A ;;
	start | confirm | typed) tty_keys Enter ;;
	quit) tty_keys F10 ;;
	esac
}

commands() {
	case $1 in
	engines) tty_type ':reroute' ;;
	apply) tty_type ':prepare' ;;
	typed) ;;
	*) tty_type ":$1" ;;
	esac
	tty_keys Enter
}

# A click on what the screen shows.
click_on() { # text
	local at=$(tty_screen | grep -nF -- "$1" | tail -n 1) before
	[ -n "$at" ] || { echo "not there: $1"; return 1; }
	before=${at#*:} before=${before%%"$1"*}
	tty_type $'\e['"<0;$((${#before} + 1));${at%%:*}M"
	tty_type $'\e['"<0;$((${#before} + 1));${at%%:*}m"
}
mouse() {
	case $1 in
	engines) click_on 6Eng ;;
	compute) click_on 'Space compute' ;;
	apply) click_on 'A apply...' ;;
	start | confirm) click_on 'Enter type name' ;;
	typed) tty_wait 5 'Enter done' && click_on 'Enter done' ;;
	quit) click_on 'q quit' ;;
	esac
}

for h in arrows commands mouse; do habit $h; done

# In the tour: at that step, what its lines say, joined.
tour_says() { # step
	tty_wait "${2:-10}" "Tour $1 of 14" && words=$(tty_screen | grep -A2 "Tour $1 of 14" | tail -n 2 | tr -s '\n ' ' ')
}
# At that step it says to press a key (then what follows it), which is pressed.
tour_key() { # step, what is said behind the key
	tour_says "$1" || return 1
	local key=$(sed -nE "s/.*Press ([^ :.]+)$2.*/\1/p" <<<"$words")
	[ -n "$key" ] || { echo "no key in: $words"; return 1; }
	tty_keys "$key"
}

tour() { # what is other, KEY=VALUE...
	local how=$1 set=()
	shift
	for k in "$@"; do set+=(--set "key.$k"); done
	rm -rf "$work/tour"
	tty_start 80x24 env TERM=screen-256color LC_ALL=C.UTF-8 "$I" tour "${set[@]}" \
		--record-dir "$work/tour" --state-dir "$work/tour-state"
	ok "tour$how: the verdict is there" tty_wait 60 'routing costs jobs'
	ok "1: a key leads to the jobs" tour_key 1 ': the jobs'
	ok "2: Enter marks one" eval 'tour_says 2 && grep -q "Enter marks" <<<"$words" && tty_keys Enter'
	ok "3: the heatmap" tour_key 3 ': the heatmap'
	ok "4: the links" tour_key 4 ': the links'
	sleep 4 # as long as somebody reads it: rates of jobs are there by then
	ok "5: the engines" tour_key 5 ': engines'
	ok "6: sar" eval 'tour_says 6 && grep -q "Go to sar" <<<"$words" && tty_engine sar && tty_keys Enter'
	ok "7: a plan, and its jobs" tour_key 7 ': what each job'
	ok "8: to the update" tour_key 8 ': it takes the plan'
	ok "9: it is started by the name" eval 'tour_says 9 && tty_keys Enter && type_the_name START'
	ok "11: and confirmed by it" eval 'tour_says 11 30 && tty_keys Enter && type_the_name CONFIRM'
}

tour ''
ok "12: it waits for what is measured" tour_says 12
ok "13: the effect is told" eval 'tour_says 13 30 && tty_screen | grep -q "Effect: slowest job [0-9]*: "'
ok "the record" tour_key 13 ': the record'
ok "14: that was the tour" eval 'tour_says 14 && grep -q "That was the tour" <<<"$words"'
ok "the record has the update and its effect" grep -q '"apply.effect"' "$work"/tour/*.jsonl
tty_keys Escape
ok "Esc ends it" tty_wait 5 'the tour has ended; :tour begins it again'
tty_stop

tour ', other keys' impact=F8 prepare=H sort=none help=F9
ok "12 again" tour_says 12
tty_keys Escape
ok "left before its end" tty_wait 5 'the tour has ended'
tty_type ':tour'
tty_keys Enter
ok "and begun again" tty_wait 5 'Tour 1 of 14'
tty_stop

# Nobody decides: what is simulated has the same deadline as a real fabric.
tty_start 100x30 env TERM=screen-256color LC_ALL=C.UTF-8 "$I" --demo="fattree2:leaves=6,spines=3,hosts=6" \
	--rw --confirm-timeout 4 --record-dir "$work/rec2" --state-dir "$work/state2"
told '6, choose an engine' 6
tty_wait 60 'in use'
told 'Space or Enter: compute' Space
told 'A: apply p-[0-9a-f]{4}' A
told "Enter, then type the fabric's name" Enter
type_the_name START
tty_wait 30 'rolls back in 0:0[0-4] unless confirmed'
tty_keys q
ok "q is refused while an update is open" tty_wait 5 'an update is in progress'
tty_keys D
ok "it cannot be left, and that is said" tty_wait 5 'simulated switches end with this console'
ok "nobody keeps it: it is rolled back" tty_wait 15 'rolled back'
tty_stop
finish
