#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fabrics.sh: several fabrics in one console: their tabs, who has the terminal, an update that is
# open in one of them, and consoles that end before the others.
set -u
cd "$(dirname "$0")/.." || exit 2
I=$PWD/${B:-build}/ibroute-top
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
. tests/tty.sh
. tests/judge.sh
work=$(mktemp -d)
cd "$work" || exit 2
export HOME=$work
RECORDS=$work/rec
small=fattree2:leaves=2,spines=2,hosts=2
worth=fattree2:leaves=6,spines=3,hosts=6 # another routing is
options=(--record-dir "$work/rec" --state-dir "$work/state" -d 0.5)

trap 'tty_stop; rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM

until_true() { # seconds, command...
	local end=$((SECONDS + $1 * ${PATIENCE:-4}))
	shift
	until "$@"; do
		[ $SECONDS -le "$end" ] || return 1
		sleep 0.1
	done
}

# shell OPTION...: the program, typed into a shell with job control
shell() {
	local line='"$I"'

	for word in "$@" "${options[@]}"; do line+=" $(printf %q "$word")"; done
	tty_start 80x24 env TERM=screen-256color PS1='ready> ' I="$I" bash --norc --noprofile -i
	tty_wait 10 '^ready>' || return 1
	tty_type "stty -g >before; $line; echo ended=\$?; stty -g >after"
	tty_keys Enter
}

first() { tty_screen | head -n 1; }
front() { tty_wait 5 "\\[$1[]:]"; }
go() { tty_type ":fabric $1" && tty_keys Enter && front "$1"; }
click() { tty_type $'\e['"<0;$1;1M"; tty_type $'\e['"<0;$1;1m"; }
consoles() { pgrep -P "$(pgrep -P "$(tty_pid)" -x ibroute-top)" -x ibroute-top; }
count_is() { [ "$(consoles | wc -l)" = "$1" ]; }
nth() { consoles | sort -n | sed -n "$1p"; }
same_tty() { until_true 5 test -s after && cmp before after; }
nobody_left() { ! pgrep -P "$(tty_pid)" -x ibroute-top >/dev/null; }
alternate() { [ "$(tmux -L "$TTY_SOCK" display-message -p '#{alternate_on}')" = "$1" ]; }

shell --rw --tab "one=demo:$small" --tab "two=demo:$worth file=load:$work/none"
ok "several fabrics have a line of tabs, with the verdict on each" \
	tty_wait 20 '^\[one: (well|routing|\?)\] two: .* file: ended'
ok "a console that cannot begin is told in the others" tty_wait 5 'fabric file: |file: its console'
tty_keys '`'
ok "a key goes to the next fabric" front two
click 3
ok "a click on a tab goes to its fabric" front one
ok "a command goes to the fabric it names" go two
tty_keys C-z
ok "Ctrl-Z stops the job, and the shell has the terminal" tty_wait 5 'Stopped'
tty_type fg
tty_keys Enter
ok "fg shows the fabric that was in front" front two
tty_keys 6 && tty_engine sar && tty_keys Space && tty_wait 20 'write order safe' && tty_keys A
ok "an update of one fabric asks for its name" tty_wait 10 'ready to start'
tty_keys Enter && tty_wait 5 'to START' && tty_type one && tty_keys Enter
ok "the name of another fabric does not start it" tty_wait 5 "not the name|is called|type 'two'|name of"
tty_wait 5 'ready to start' && tty_keys Enter && tty_wait 5 'to START' && tty_type two && tty_keys Enter
ok "its own name does" tty_wait 20 'NOT YET CONFIRMED'
go one
ok "the tab says that the update is open" tty_wait 5 '^\[one: [a-z?]+\] two: UPDATE'
tty_keys q
ok "quitting goes to the fabric whose update is open, and ends nothing" \
	tty_wait 5 'before you quit: confirm this update'
ok "all are still there" count_is 2
tty_keys Enter && tty_wait 5 'to CONFIRM' && tty_type two && tty_keys Enter
ok "it can be confirmed there" tty_wait 20 'confirmed: the new routing'
kill -9 "$(nth 2)"
ok "a console that is killed leaves the terminal to the next" front one
ok "and is told" tty_wait 5 'two: ended'
tty_keys q
ok "quitting ends all of them" until_true 10 nobody_left
ok "the terminal is as it was" same_tty
ok "what a console said is there after the end" tty_wait 5 'none'
ok "the screen of before is back" alternate 0
tty_stop

rm -f after
shell --tab "one=demo:$small two=demo:$small"
tty_wait 20 '^\[one'
go two >/dev/null
kill "$(pgrep -P "$(tty_pid)" -x ibroute-top)"
ok "SIGTERM ends all consoles in good order" until_true 10 nobody_left
ok "the terminal is as it was then, too" same_tty
tty_stop

# --- the bell, for what another fabric warns of
rings() { grep -q $'\a' raw; }
warns() { # options: what comes while links of the fabric that is away are over a limit
	tty_start 80x24 env TERM=screen-256color "$I" "$@" --set warn-seconds=0 --set warn-util=1 \
		--tab "one=load:$work/net two=demo:$worth" "${options[@]}"
	: >raw
	tmux -L "$TTY_SOCK" pipe-pane -o "cat >>$work/raw"
	tty_wait 20 '\[one'
}
"$I" topo $small >net
warns --bell
ok "the fabric in front has the bell rung for one that is away" until_true 10 rings
tty_stop
warns
sleep 3
ok "where that is wanted" eval '! rings'
tty_stop

not_so() { # what the sentence has, option...
	local want=$1
	shift
	"$I" "$@" 2>&1 </dev/null | grep -q -- "$want"
}
ok "a bad tab is refused" not_so "is not one of port:CA:PORT" --tab "a=disk:x"
ok "two fabrics cannot have one name" not_so "two fabrics are called a" --tab "a=demo a=demo"
ok "tabs and one fabric exclude each other" not_so "cannot be used with" --tab "a=demo" --demo
ok "two tabs of one port are refused" \
	tmux -L "$TTY_SOCK" -f /dev/null new-session -d -x 80 -y 24 \
	"'$I' --tab 'a=port:x:1 b=port:x:1' 2>'$work/same'; touch '$work/done'"
until_true 10 test -e "$work/done"
ok "by a sentence that names both" grep -q "a and b are the same port" "$work/same"
printf 'tab = one=demo:%s two=demo:%s\n' $small $small >config
tty_stop
tty_start 80x24 env TERM=screen-256color "$I" --config config "${options[@]}"
ok "the configuration file can name them" tty_wait 20 '^\[one: .*two:'
tty_stop
tty_start 80x24 env TERM=screen-256color "$I" --config config --demo=$small "${options[@]}"
ok "an option of one fabric shows that one alone" tty_wait 20 '^ demo '
finish
