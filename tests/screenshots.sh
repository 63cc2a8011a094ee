#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# screenshots.sh: drives the console on simulated fabrics in a real terminal and keeps a picture
# of each view, as text and as PNG, in screenshots/.
set -eu
cd "$(dirname "$0")/.."
. tests/tty.sh
BIN=$PWD/${B:-build}/ibroute-top
work=$(mktemp -d)
trap 'tty_stop; rm -rf "$work"' EXIT
SIZE=110x34

shot() {
	sleep 0.6
	tty_screen >"screenshots/$1.txt"
	tty_screen -e | /usr/bin/python3 tests/shot.py "screenshots/$1.png" "${SIZE%x*}"
	echo "screenshots/$1"
}
begin() {
	tty_start $SIZE env TERM=screen-256color LC_ALL=C.UTF-8 "$BIN" "$@" --rw --name hpc1 -d 0.5 \
		--record-dir "$work/rec" --state-dir "$work/state"
	tty_wait 20 'LIVE'
	tty_wait 20 'jobs +[0-9]+'
	sleep 4
}

begin --demo
shot 1-overview
tty_keys 2
shot 2-heatmap
tty_keys 3
shot 3-links
tty_keys 5
shot 5-jobs
tty_keys 6
sleep 0.3
for _ in 1 2 3 4 5 6 7 8 9; do
	tty_screen | grep -qE '\(\*\) *sar' && break
	tty_keys Down Space
	sleep 0.3
done
tty_keys r
tty_wait 20 'deadlock|credit loops'
shot 6-preview
tty_keys A
tty_wait 10 'hpc1'
tty_type hpc1
tty_keys Enter
tty_wait 20 'CONFIRM.*(WAIT|wait)|waits'
shot 7-apply
tty_type hpc1
tty_keys Enter
sleep 1
tty_keys 8
shot 8-events
tty_keys '?'
shot help
tty_stop
begin --demo=hyperx:dims=6x5,hosts=4
tty_keys 2
shot 2-heatmap-hyperx
