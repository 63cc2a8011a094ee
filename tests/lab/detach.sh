#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# detach.sh: what one does while an update waits, in the console on ibsim: a plan saved and shown
# again, more time, a note, a condition taken off the watch, leaving it to its watchdog, coming back
# by a command, and keeping it.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/tty.sh"
. "$LAB_ROOT/tests/judge.sh"

console() {
	cd "$LAB_DIR/work" || return 1
	# shellcheck disable=SC2046
	tty_start 110x32 env $(lab_env n0001) TERM=screen-256color LC_ALL=C.UTF-8 \
		sh -c '"$@"; sleep 60' sh "$IBROUTE_TOP" --rw --name lab1 -d 0.5 --jobs none \
		--record-dir "$LAB_DIR/rec" --state-dir "$LAB_DIR/state" "$@"
	cd "$LAB_ROOT" || return 1
}
LAB_ON=n0001

lab_new || exit 1
trap 'tty_stop; lab_stop' EXIT
lab_fabric "fattree2:leaves=4,spines=2,hosts=4" || give_up "the fabric starts"
lab_opensm "routing_engine updn" || give_up "opensm brings the subnet up"
console
tty_wait 30 'hosts 16' || give_up "the console starts"
tty_keys 6
tty_wait 10 '\( \) +dfsssp' || give_up "the engines are listed"
tty_engine minhop
tty_keys Space
tty_wait 20 'order +[0-9]+ wave|none: this|none, already' || give_up "a preview"
tty_screen | grep -qE 'none: this|none, already' && { tty_engine dfsssp; tty_keys Space; tty_wait 20 'order +[0-9]+ wave'; }
tty_keys w
ok "w asks for a name" tty_wait 5 ':plan p-'
tty_keys C-u
tty_type "plan $LAB_DIR/saved.plan"
tty_keys Enter
ok "and saves the plan" tty_wait 5 'saved; apply it with'
ok "which is one that apply reads" eval 'top show "$LAB_DIR/saved.plan" 2>&1 | grep -q lab1 || head -c 400 "$LAB_DIR/saved.plan" | grep -q lab1'
tty_keys G Space # the engine "file"
ok "file asks which" tty_wait 5 '^:file _'
tty_type "$LAB_DIR/saved.p"
tty_keys Tab
ok "Tab completes its name" tty_wait 5 "^:file $LAB_DIR/saved.plan_"
tty_keys Enter
ok "and the plan stands beside the other" tty_wait 20 ' p-[0-9a-f]{4} +>p-[0-9a-f]{4}'
tty_wait 20 'order +[0-9]+ wave' || give_up "its order is found"
tty_keys A
tty_wait 10 'ready to start' || give_up "the plan is ready"
tty_keys Enter
tty_wait 5 'to START'
tty_type lab1
tty_keys Enter
ok "it is written, and the watchdog's deadline is shown" tty_wait 40 'rolls back in [45]:[0-9]+ unless confirmed'
ok "and how to come back" tty_wait 5 'ibroute-top attach '
ID=$(tty_screen | sed -nE 's/.*ibroute-top attach ([0-9TZ-]+).*/\1/p' | head -n 1)
tty_keys +
ok "+ gives five minutes more" tty_wait 10 'rolls back in (9|10):'
ok "which the watchdog knows" eval 'top status "$ID" --state-dir "$LAB_DIR/state" --json | grep -qE "\"deadline_s\": *(5[3-9]|6)[0-9][0-9]?"'
tty_keys O
tty_wait 5 'sm, errors, reach, jobs'
tty_type 'errors,reach'
tty_keys Enter
ok "O takes conditions off the watch" tty_wait 5 'overridden: errors,reach'
ok "and the watchdog looks at them no more" eval 'top status "$ID" --state-dir "$LAB_DIR/state" --json | tr -d " \n" | grep -q "\"errors\":{\"on\":false"'
ok "so does a command" eval 'top override "$ID" sm --state-dir "$LAB_DIR/state" && top status "$ID" --state-dir "$LAB_DIR/state" --json | tr -d " \n" | grep -q "\"sm\":{\"on\":false"'
ok "which refuses what is no condition" eval '! top override "$ID" weather --state-dir "$LAB_DIR/state"'
tty_keys N
tty_type 'left to the night shift'
tty_keys Enter
ok "N notes" tty_wait 5 'note added to the record'
tty_type ':note by command'
tty_keys Enter
ok ":note, too" eval 'for _ in $(seq 30); do grep -q "by command" "$LAB_DIR"/rec/*.jsonl && break; sleep 0.1; done; grep -q "by command" "$LAB_DIR"/rec/*.jsonl'
tty_keys q
ok "q is refused, and offers D" tty_wait 5 'leaves it to its watchdog'
tty_keys D
ok "D asks" tty_wait 5 'Y: yes; any other key: no'
tty_keys j
ok "and another key stays" tty_wait 5 'everything stays as it is'
tty_keys D Y
ok "D and Y leave" tty_wait 15 'continues without this console'
ok "and says how to keep it" tty_wait 5 "ibroute-top confirm $ID"
ok "it goes on" eval 'top status "$ID" --state-dir "$LAB_DIR/state" --json | grep -qE "\"deadline_s\": *[0-9]"'
ok "from a shell it is kept" eval 'top confirm "$ID" --state-dir "$LAB_DIR/state" --yes-fabric lab1 >"$LAB_DIR/confirm.out" 2>&1'
ok "the record has one name from the preview to the plan" eval \
	'id=$(grep -h "\"plan.create\"" "$LAB_DIR"/rec/*.jsonl | grep -oE "p-[0-9a-f]{4}\"" | head -n 1) && grep -h "\"computed\"" "$LAB_DIR"/rec/*.jsonl | grep -qF "${id%?} file $LAB_DIR/saved.plan"'
ok "the record names the file of the tables, with its SHA-256" eval \
	'grep -h "\"plan.create\"" "$LAB_DIR"/rec/*.jsonl | grep -F "$LAB_DIR/saved.plan" | grep -q "$(sha256sum <"$LAB_DIR/saved.plan" | cut -c1-64)"'
ok "the record has the note, the override and the leaving" eval \
	'cat "$LAB_DIR"/rec/*.jsonl | grep -q "left to the night shift" && cat "$LAB_DIR"/rec/*.jsonl | grep -q "override" && cat "$LAB_DIR"/rec/*.jsonl | grep -q "detach"'
finish
