#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# terminal.sh: the console as a good citizen of a real terminal: sizes, resizing, Ctrl-Z,
# signals, a terminal that dies, one that cannot show it, no colours, no UTF-8; and what the
# keys that write do without --rw and with it.
set -u
cd "$(dirname "$0")/.." || exit 2
I=$PWD/${B:-build}/ibroute-top
TESTS=$PWD/tests
export LC_ALL=C.UTF-8 # tmux and grep see the screen as it is
unset NO_COLOR TMUX
. tests/tty.sh
. tests/judge.sh
work=$(mktemp -d)
cd "$work" || exit 2
RECORDS=$work
demo=(--demo="fattree2:leaves=6,spines=3,hosts=6" --record-dir "$work/rec" --state-dir "$work/state" -d 0.5)

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

not() { ! "$@"; }

# start SIZE [ENV=... ...] -- [OPTION...]: the demo, as the terminal's own program
start() {
	local size=$1 vars=()
	shift
	while [ "$1" != -- ]; do vars+=("$1"); shift; done
	shift
	tty_start "$size" env TERM=screen-256color LC_ALL=C.UTF-8 "${vars[@]}" "$I" "${demo[@]}" "$@"
	tty_wait 20 'hosts 36'
}

# shell SIZE: an interactive shell with job control; the program is typed into it
shell() {
	tty_start "$1" env TERM=screen-256color LC_ALL=C.UTF-8 PS1='ready> ' I="$I" \
		bash --norc --noprofile -i
	tty_wait 10 '^ready>'
}

in_shell() {
	local word line='"$I"'
	for word in "${demo[@]}"; do line+=" $(printf %q "$word")"; done
	tty_type "stty -g >before; $line; echo ended=\$?; stty -g >after"
	tty_keys Enter
	tty_wait 20 'hosts 36'
}

alternate() { [ "$(tmux -L "$TTY_SOCK" display-message -p '#{alternate_on}')" = "$1" ]; }
program() { pgrep -P "$(tty_pid)" -x ibroute-top; }
state_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1; }
stopped() { [ "$(state_of "$1")" = T ]; }
gone() { case $(state_of "$1") in '' | Z | X) return 0 ;; *) return 1 ;; esac; }
newest_record() { ls -t "$work"/rec/*.jsonl | head -n 1; }
record_closed() { tail -n 1 "$(newest_record)" | grep -q '"type": *"session.end"'; }

# The screen without what changes by itself: times and ages.
still() { tty_screen | sed -E 's/[0-9:.]+/N/g; s/(─|-| )+/ /g'; }
settled() { # the same twice
	local a b

	a=$(still)
	for _ in $(seq 40); do
		sleep 0.15
		b=$(still)
		[ "$a" = "$b" ] && return 0
		a=$b
	done
	echo "the screen does not come to rest" >&2
	return 1
}

# What is on the screen is what drawing all of it again gives, and no escape sequence is spelled out.
clean() {
	local before after

	settled || return 1
	before=$(still)
	tty_keys C-l
	settled || return 1
	after=$(still)
	if [ "$before" != "$after" ]; then
		diff <(echo "$before") <(echo "$after") >&2
		return 1
	fi
	not grep -qE $'\xef\xbf\xbd|\\[[0-9;]+[mH]([^e]|$)|\\^\\[' <<<"$after"
}

# the beginnings of their names: the bar has short ones where it is narrow
views='1:Over 2:Heat 3:Links 4:Switch 5:Jobs 6:Eng 7:Apply 8:Event 0:Paths t:Topo ?:Help'

names_keys() { tty_screen | tail -n 3 | grep -q 'quit'; } # a note stands there until the next key
shown() { tty_wait 5 "\\[. ?$1"; }

# Every view at this size: named in the bar of views, keys at the bottom, nothing over the edge.
all_views() {
	local v

	for v in $views; do
		tty_keys "${v%%:*}"
		shown "${v#*:}" || return 1
		until_true 5 names_keys || { tty_screen >&2; return 1; }
		clean || { echo "view ${v#*:}" >&2; return 1; }
		[ "${v#*:}" != Help ] || tty_keys '?'
	done
}

# --- sizes ---------------------------------------------------------------------------------
for size in 80x24 100x30 200x60; do
	ok "the demo starts at $size" start "$size" --
	tty_keys Z
	ok "and freezes" tty_wait 5 FROZEN
	ok "all views are clean at $size" all_views
	[ "$size" = 200x60 ] || tty_stop
done

# --- live resize ---------------------------------------------------------------------------
# The status and the age at their places for this size: tmux tells a new size when it likes.
fits() {
	tty_screen | awk -v w="${1%x*}" -v h="${1#*x}" '
		NR == 1 { top = /FROZEN/ } NR == h + 0 { end = length($0) == w - 1 && /age/ }
		END { exit !(top && end && NR == h + 0) }'
}
resized() { until_true 10 fits "$1" && clean; }
says_small() { tty_screen | grep -q "$1 is too small"; }
small() { until_true 10 says_small "$1" && clean; }
tty_keys 1
for size in 80x24 40x10 20x5 1x1 40x10 200x60 100x30; do
	tty_resize "$size"
	case $size in
	20x5 | 1x1) sleep 0.4 ;; # longer than tmux waits
	40x10) ok "resized to $size it says what it needs" small "$size" ;;
	*) ok "resized to $size it is clean" resized "$size" ;;
	esac
done
ok "it lives" not tty_dead
tty_keys 2
tty_resize 40x10
ok "the heatmap at 40x10 says so, too" small 40x10
tty_resize 100x30
until_true 10 fits 100x30
ok "and all views after growing" all_views
tty_keys q
until_true 5 tty_dead
ok "q ends it with 0" test "$(tty_status)" = 0
ok "and closes the record" record_closed
tty_stop

# --- a shell with job control ----------------------------------------------------------------
shell 80x24 || exit 1
ok "it starts from a shell" in_shell
ok "on the alternate screen" alternate 1
pid=$(program)
tty_keys C-z
ok "Ctrl-Z stops it" until_true 10 stopped "$pid"
ok "and shows the shell" tty_wait 10 'Stopped'
ok "on its own screen" until_true 5 alternate 0
tty_type 'fg'
tty_keys Enter
ok "fg brings the screen back" tty_wait 10 'LIVE'
ok "on the alternate screen again" until_true 5 alternate 1
tty_keys Z
tty_wait 5 FROZEN
tty_keys F5 # takes the note away
ok "and clean" clean
tty_keys C-z
until_true 10 stopped "$pid"
tty_resize 100x30
tty_type fg
tty_keys Enter
tty_wait 10 FROZEN
ok "resized while stopped it is clean at the new size" resized 100x30
kill -TSTP "$pid"
ok "SIGTSTP from outside stops it" until_true 10 stopped "$pid"
tty_wait 10 '^ready>'
tty_type fg
tty_keys Enter
ok "and fg brings it back" tty_wait 10 'FROZEN'
kill -STOP "$pid"
until_true 10 stopped "$pid"
tty_wait 10 '^ready>'
rm -f after
tty_type 'fg; echo ended=$?; stty -g >after'
tty_keys Enter
tty_wait 10 FROZEN
tty_keys 3
ok "after SIGSTOP it goes on" tty_wait 10 '\[3 ?Links\]'
tty_keys q
ok "it ends with 0" tty_wait 10 'ended=0'
until_true 5 test -s after
ok "the modes of the terminal are as before" cmp before after

for sig in TERM:15 HUP:1 INT:2; do
	rm -f before after
	tty_keys C-l
	in_shell
	pid=$(program)
	kill -"${sig%:*}" "$pid"
	ok "SIG${sig%:*} ends it with 128+${sig#*:}" tty_wait 10 "ended=$((128 + ${sig#*:}))"
	ok "back on the shell's screen" until_true 5 alternate 0
	until_true 5 test -s after
	ok "with the modes as before" cmp before after
	ok "and the record closed" record_closed
done
rm -f before after
tty_keys C-l
in_shell
kill -SEGV "$(program)"
tty_wait 10 'ended=139'
until_true 5 test -s after
ok "even a crash restores the modes" cmp before after
ok "and the screen" until_true 5 alternate 0
tty_stop

# --- terminals that die ----------------------------------------------------------------------
start 80x24 --
pid=$(tty_pid)
tty_stop
ok "a terminal that closes ends it" until_true 8 gone "$pid"
ok "and the record is closed" until_true 3 record_closed
start 80x24 --
pid=$(tty_pid)
kill -9 "$(tmux -L "$TTY_SOCK" display-message -p '#{pid}')"
ok "a terminal that is killed ends it" until_true 8 gone "$pid"
ok "and the record is closed" until_true 3 record_closed
cat >nohup.py <<-'PY'
	import os, signal, sys
	signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
	os.execvp(sys.argv[1], sys.argv[1:])
PY
tty_start 80x24 env TERM=screen-256color LC_ALL=C.UTF-8 python3 nohup.py "$I" "${demo[@]}"
tty_wait 20 "hosts 36"
pid=$(tty_pid)
tty_stop
ok "also when no signal tells so" until_true 8 gone "$pid"
gone "$pid" || kill -9 "$pid"
ok "and the record is closed" until_true 3 record_closed

# --- the mouse -------------------------------------------------------------------------------
click() { tty_type $'\e['"<0;$1;$2M"; tty_type $'\e['"<0;$1;$2m"; }
start 80x24 TERM=xterm-256color --
click 15 2
ok "a click on a tab goes to that view" tty_wait 5 '\[3 ?Links'
click 66 23 # ? help
ok "a click on a hint at the bottom presses its key" tty_wait 5 '\[\? ?Help'
click 60 23 # between the hints
click 66 23
ok "and again" tty_wait 5 '\[3 ?Links'
tty_stop

# --- pasted text -----------------------------------------------------------------------------
paste() {
	tmux -L "$TTY_SOCK" set-buffer -b clip "$1"
	tmux -L "$TTY_SOCK" paste-buffer -p -b clip
}
start 80x24 --
paste $'q3\nq'
ok "a pasted text is no row of commands" tty_wait 5 'paste ignored'
ok "it lives, in the view of before" eval 'not tty_dead && tty_screen | grep -qE "\[1 ?Over"'
tty_keys 3 /
tty_wait 5 '\[3 ?Links.*'
tty_wait 5 'Esc: cancel'
paste $'util>4\n0'
ok "where something is typed it is typed, without ends of lines" tty_wait 5 '^/util>40_'
tty_keys Escape
tty_keys 4
ok "and keys are keys again" tty_wait 5 '\[4 ?Switch'
tty_type $'\e[200~'
ok "also when the end of a pasted text gets lost" until_true 30 eval 'sleep 2.5; tty_keys 2; tty_screen | grep -qE "\[2 ?Heat"'
tty_stop

# --- keys that were chosen ---------------------------------------------------------------------
printf 'key.freeze = F7\nkey.sort = Z\n' >keys.conf
start 80x24 -- --config "$work/keys.conf"
tty_keys F7
ok "a key of the configuration file does what it was chosen for, and is shown" tty_wait 5 'FROZEN \(F7: resume\)'
tty_stop
printf '\nkey.sort = Z\n' >keys.conf
ok "one that is taken is told with file, line and both actions" \
	eval 'not "$I" "${demo[@]}" --config keys.conf 2>err && grep -q "keys.conf:2: key.sort: Z is the key of freeze" err'

# --- themes ------------------------------------------------------------------------------------
printf 'base = light\nstatus = 17 on 231\n' >own.theme
start 80x24 -- --theme "$work/own.theme"
first_line_has() { tmux -L "$TTY_SOCK" capture-pane -p -e | head -n 1 | grep -q "$1"; }
ok "the first line has the colours of a theme's file" first_line_has '38;5;17m.*48;5;231m\|38;5;17;48;5;231m\|48;5;231m.*38;5;17m'
tty_type ':set theme=light'
tty_keys Enter
ok "and others at once" until_true 5 first_line_has '48;5;153m'
tty_stop
printf 'good = 28\nnothing = 3\n' >own.theme
rm -f err
tty_start 80x24 bash -c "TERM=screen-256color '$I' ${demo[*]} --theme own.theme 2>err"
ok "a mistake in it ends with file and line" until_true 10 grep -q "own.theme:2: no role has the name 'nothing'" err
tty_stop

# --- what descriptions of terminals have ---------------------------------------------------------
shot() { # TERM, file: views that stand still
	start 120x40 TERM="$1" --
	tty_keys '?'
	tty_wait 5 'recorded sessions: list'
	tty_screen | sed 1d | head -n 36 >"$2"
	tty_keys 7
	tty_wait 5 'read-only: previews'
	tty_screen | sed 1d | head -n 36 >>"$2"
	tty_stop
}
shot screen-256color plain
shot xterm-256color repeated
ok "what is repeated by a sequence of its own is the same screen" cmp plain repeated

# --- the bell ----------------------------------------------------------------------------------
rings() { grep -q $'\a' raw; }
heard() { # options: what is sent while links are over a limit
	start 80x24 -- "$@"
	: >raw
	tmux -L "$TTY_SOCK" pipe-pane -o "cat >>$work/raw"
	tty_type ':set warn-seconds=0'
	tty_keys Enter
	tty_type ':set warn-util=1'
	tty_keys Enter 8
	tty_wait 15 'util .*limits 1%'
}
heard --bell
ok "a warning rings the bell where it is wanted" until_true 5 rings
tty_stop
heard
sleep 1
ok "and nowhere else" not rings
tty_stop

# --- keys that cannot hurt ---------------------------------------------------------------------
# on every terminal of ncurses-base, whatever the terminals send that people have
mkdir sent
ok "what has no key in the help does nothing, and what has does it, with every TERM" \
	timeout 300 python3 "$TESTS/keys_sent.py" "$I" sent

# --- terminals that cannot --------------------------------------------------------------------
refused() { # what the sentence has, command...
	local pattern=$1 rc
	shift
	"$@" >out 2>err </dev/null
	rc=$?
	[ "$rc" -eq 64 ] && grep -qE -- "$pattern" err && [ ! -s out ] && return 0
	echo "exit $rc" >&2
	cat out err >&2
	return 1
}
ok "without a terminal it refuses" refused 'not a terminal.*subcommands' "$I" "${demo[@]}"
in_terminal() { # pattern, TERM, redirection
	rm -f rc
	tty_start 80x24 sh -c "TERM=$2 $(printf '%q ' "$I" "${demo[@]}") $3 2>err; echo \$? >rc"
	until_true 10 test -s rc
	tty_stop
	[ "$(cat rc)" = 64 ] && grep -qE "$1" err && return 0
	cat rc err >&2
	return 1
}
ok "TERM=dumb is refused" in_terminal 'TERM is dumb' dumb ''
ok "an empty TERM is refused" in_terminal 'TERM is not set' '' ''
ok "an unknown TERM is refused" in_terminal 'no terminal description for TERM=vt-none' vt-none ''
ok "output to a file is refused" in_terminal 'not a terminal' screen '>out'

# --- looks -------------------------------------------------------------------------------------
only_ascii() {
	local v

	for v in $views; do
		tty_keys "${v%%:*}"
		shown "${v#*:}" || return 1
		settled
		if tty_screen | LC_ALL=C grep -n '[^ -~]' >&2; then return 1; fi
		[ "${v#*:}" != Help ] || tty_keys '?'
	done
}
coloured() { tty_screen -e | grep -qE $'\e\\[([0-9;]*;)?(3[0-7]|38|4[0-7]|48|9[0-7])(;|m)'; }
start 80x24 --
ok "a terminal with colours gets them" coloured
ok "and lines" eval 'tty_screen | grep -q ─'
tty_stop
start 80x24 NO_COLOR=1 --
ok "NO_COLOR: none" not coloured
tty_stop
# an entry with true colours, which ncurses-base does not have
sequence() { echo "seta$1=\\E[%?%p1%{8}%<%t$2%p1%d%e${2}8;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,"; }
direct_entry() {
	mkdir -p terminfo
	{
		echo 'tmux-direct|tmux with direct colours,'
		printf '\tRGB, colors#0x1000000, pairs#0x7FFF, initc@, ccc@,\n\t%s\n\t%s\n\tuse=tmux-256color,\n' \
			"$(sequence f 3)" "$(sequence b 4)"
	} >direct.src
	tic -x -o terminfo direct.src
}
viridis() { # the heatmap has the very colours of viridis, which no palette of 256 has
	tty_keys 2
	tty_wait 5 'leaf x spine' && until_true 5 eval "tty_screen -e | grep -qE '48;2;(71;45;123|59;82;139|44;114;142|33;145;140)m'"
}
palette() { tty_keys 2; tty_wait 5 'leaf x spine' && tty_screen -e | grep -q '48;5;' && not grep -q '[34]8;2;' <<<"$(tty_screen -e)"; }
ok "an entry with true colours for the terminal" direct_entry
start 80x24 TERMINFO="$PWD/terminfo" COLORTERM=truecolor --
ok "COLORTERM=truecolor: 24 bits, where the terminal database knows how" viridis
tty_stop
start 80x24 TERMINFO="$PWD/terminfo" COLORTERM=truecolor -- --color=256
ok "--color=256: those of the palette all the same" palette
tty_stop
start 80x24 COLORTERM=24bit --
ok "and where it does not know, 256 colours" palette
tty_stop
start 80x24 -- --ascii
tty_keys Z
tty_wait 5 FROZEN
ok "--ascii: nothing else" only_ascii
tty_stop
start 80x24 LC_ALL=C --
tty_keys Z
tty_wait 5 FROZEN
ok "LC_ALL=C: nothing else" only_ascii
tty_stop

# --- reading only --------------------------------------------------------------------------------
rm -rf state rec
start 80x24 --
tty_keys 6
tty_engine sar
tty_keys Space
ok "a preview is computed without --rw" tty_wait 20 'blocks'
refused_ro() { # view, key
	tty_keys "$1"
	tty_keys F5 # clears what was said before
	until_true 5 eval '! tty_screen | grep -q "read-only: nothing"' || return 1
	tty_keys "$2"
	tty_wait 5 'read-only: nothing .*--rw'
}
ok "A says --rw" refused_ro 6 A
ok "R says --rw" refused_ro 7 R
ok "Y says --rw" refused_ro 7 Y
ok "Enter says --rw" refused_ro 7 Enter
ok "no journal was made" eval '[ -z "$(find state -type f 2>/dev/null)" ]'
ok "and nothing recorded but reading" eval 'not grep -qE "\"type\": *\"(plan|phase|lft|confirm)" "$(newest_record)"'

# --- frozen ----------------------------------------------------------------------------------------
tty_keys 3
tty_wait 5 '\[3 ?Links\]'
body() { tty_screen | sed -n '3,20p'; }
tty_keys Z
ok "Z says that the screen is frozen" tty_wait 5 FROZEN
frozen=$(body)
sleep 2
ok "and nothing changes" test "$frozen" = "$(body)"
tty_keys Z
ok "Z again is live" tty_wait 5 'LIVE'
ok "and changes go on" until_true 10 eval '[ "$frozen" != "$(body)" ]'
tty_keys q
until_true 5 tty_dead
tty_stop

# Each update has a record of its own, of the process that carries it out.
kept_updates() { cat rec/*.jsonl | grep -cE '"type": *"confirm"'; }

# --- writing -------------------------------------------------------------------------------------------
: >notdir
no_record() {
	rm -f rc
	tty_start 80x24 env TERM=screen-256color sh -c \
		"$(printf '%q ' "$I" "${demo[@]}" --record-dir "$work/notdir/rec" --rw) 2>err; echo \$? >rc; sleep 5"
	until_true 10 test -s rc
	[ "$(cat rc)" = 8 ] && grep -q notdir err && alternate 0 && { tty_stop; return 0; }
	cat rc err >&2
	tty_stop
	return 1
}
ok "--rw without a record is refused with 8" no_record
start 100x30 -- --record-dir "$work/notdir/rec"
ok "reading without a record goes on and says so" eval 'tty_keys 8; tty_wait 5 "not recorded"'
tty_stop

start 100x30 -- --rw
tty_keys 6
tty_engine sar
tty_keys Space
ok "a plan with --rw" tty_wait 20 'LFT blocks'
tty_keys A
ok "an update in the demo is kept" tty_update demo
tty_keys R
ok "R asks" tty_wait 5 'Y'
tty_keys Y
ok "the rollback is a plan" tty_wait 10 'ready to start'
tty_keys Enter
tty_wait 5 'to START'
tty_type wrong
tty_keys Enter
ok "a wrong name does nothing" tty_wait 5 'not the name of this fabric'
ok "the rollback is applied and confirmed" tty_update demo
ok "the records tell of two kept updates" eval '[ "$(kept_updates)" -eq 2 ]'
tty_keys q
until_true 5 tty_dead
ok "it ends with 0" test "$(tty_status)" = 0
ok "audit verify accepts the record" eval '"$I" audit verify "$(newest_record)" >/dev/null'
tty_stop

# --- the watchdog of an update: a process of its own over the simulated fabric, too ---
states=(--state-dir "$work/state")
field() { # python expression on t: of the newest update
	"$I" status last "${states[@]}" --json | python3 -c 'import json, sys
t = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}
is() { [ "$(field "$1" 2>/dev/null)" = "$2" ]; }
applies() { # from view 7 with a plan to an update that waits
	tty_wait 10 'ready to start' || return 1
	tty_keys Enter
	tty_wait 5 'to START' || return 1
	tty_type demo
	tty_keys Enter
	tty_wait 30 'NOT YET CONFIRMED'
}
goes_back() { tty_keys R; tty_wait 5 'Y' && tty_keys Y && applies; }
start 110x32 -- --rw
tty_keys 6
tty_engine sar
tty_keys Space
tty_wait 20 'LFT blocks'
tty_keys A
ok "an update waits" applies
ok "another shell sees it, with its watchdog and what that watches" is \
	't["live"], t["guarded"], t["process"]["status"]["waiting"], t["process"]["watch"]["reach"]["on"]' '(True, True, True, True)'
ok "the screen says how to look on" tty_wait 5 "attach last --state-dir $work/state"
timeout 60 "$I" attach last "${states[@]}" >attached 2>&1 </dev/null &
attached=$!
ok "which shows what it has done and that it waits" until_true 10 grep -q '^CONFIRM  waiting' attached
ok "it is given more time" eval '"$I" extend last 900 "${states[@]}" && tty_wait 5 "rolls back in 1[45]:"'
ok "kept from another shell" "$I" confirm last --yes-fabric demo "${states[@]}" --record-dir rec
ok "the console sees it" tty_wait 10 'new routing is active'
ok "so does who looks on" wait "$attached"
ok "the rollback waits" goes_back
worker=$(field 't["process"]["pid"]')
kill -KILL "$worker"
ok "its process is killed: another rolls back" tty_wait 20 'rolled back'
ok "in the journal, too" until_true 10 is 't["state"], t["live"]' "('rolled-back', False)"
tty_keys q
until_true 5 tty_dead
tty_stop
start 110x32 -- --rw
tty_keys 6
tty_engine sar
tty_keys Space
tty_wait 20 'LFT blocks'
tty_keys A
ok "the next waits" applies
timeout 60 "$I" attach last "${states[@]}" >attached 2>&1 </dev/null &
attached=$!
until_true 10 grep -q '^CONFIRM  waiting' attached
worker=$(field 't["process"]["pid"]') guard=$(field 't["process"]["guard"]')
kill -KILL "$(program || tty_pid)"
ok "the console is killed: the watchdog ends with the simulated fabric" until_true 10 is 't["state"], t["live"]' "('given-up', False)"
ok "and says so" eval 'field "t[\"text\"]" | grep -q "the simulated fabric is gone"'
ok "to who looks on" eval '! wait "$attached" && grep -q "the simulated fabric is gone" attached'
ok "nothing of it is left" until_true 10 eval '! kill -0 "$worker" 2>/dev/null && ! kill -0 "$guard" 2>/dev/null'
tty_stop

# --- routes that follow the jobs ---
start 110x32 -- --auto=0.1 --auto-min-age 0
ok "--auto without --rw proposes" tty_wait 15 'AUTO: .* gain [0-9]'
ok "and says when it looks again" tty_wait 10 'Auto: next check in'
sleep 7
ok "the plan stands, and nothing was written" eval \
	'tty_screen | grep -q "AUTO: .* gain [0-9]" && ! grep -q "\"type\": *\"confirm\"" "$(newest_record)"'
tty_keys q
until_true 5 tty_dead
tty_stop
before=$(kept_updates)
start 110x32 -- --auto=0.1 --auto-min-age 0 --rw --auto-confirm 2
ok "--auto --rw writes, and keeps it by itself" tty_wait 20 'the new routing is confirmed'
ok "a record tells of it" eval '[ "$(kept_updates)" -gt "$before" ]'
tty_keys q
until_true 5 tty_dead
ok "it ends with 0" test "$(tty_status)" = 0
tty_stop
finish
