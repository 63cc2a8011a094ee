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
mkdir -p screenshots

shot() {
	sleep 0.6
	tty_screen >"screenshots/$1.txt"
	tty_screen -e -N | /usr/bin/python3 tests/shot.py "screenshots/$1.png" "${SIZE%x*}"
	echo "screenshots/$1"
}
begin() {
	tty_start $SIZE env -u NO_COLOR TERM=screen-256color LC_ALL=C.UTF-8 "$BIN" "$@" --rw --name hpc1 -d 0.5 \
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
tty_keys 4 Enter
shot 4-switch
tty_keys Tab
shot 4-switch-lft
tty_keys 0 e
tty_type n0001
tty_keys Enter
tty_type n0200
tty_keys Enter
tty_keys t
shot t-topology
tty_keys 5
shot 5-jobs
tty_keys 6
tty_wait 5 '\( \) +sar'
tty_engine sar
tty_keys Space
tty_wait 20 '1 wave' # all of it: the order of writes is found last
shot 6-preview
for _ in 1 2 3 4 5; do # a job may start or end in between: then the preview is stale
	tty_keys A
	sleep 0.5
	tty_screen | grep -q 'ready to start' && break
	tty_keys Space
	sleep 1
done
tty_keys Enter
tty_wait 5 'to START'
tty_type hpc1
tty_keys Enter
tty_wait 20 'NOT YET CONFIRMED'
shot 7-apply
tty_keys Enter
tty_wait 5 'to CONFIRM'
tty_type hpc1
tty_keys Enter
tty_wait 10 'new routing is active'
tty_keys 0
shot 0-paths
tty_keys 2 m m m
sleep 0.5
shot 2-heatmap-job-efi
tty_keys 8
shot 8-events
tty_keys '?'
shot help
tty_stop
begin --demo=hyperx:dims=6x5,hosts=4
tty_keys 2
shot 2-heatmap-hyperx
tty_stop
begin --demo=dragonfly:p=4
tty_keys t
shot t-topology-dragonfly
tty_stop

# --- what replay and failures have written --------------------------------------------------------
cd "$work"
python3 - >jobs.csv <<'PY'
import random
rnd, free, end = random.Random(7), list(range(1, 343)), []
print("jobid,start,end,nodelist")
for k in range(120):
    t = 1795168800 + 300 * k
    for e in [e for e in end if e[0] <= t]:
        end.remove(e)
        free += e[1]
    n = min(len(free), rnd.choice([4, 8, 16, 32, 64]))
    nodes = sorted(rnd.sample(free, n)) if n else []
    free = [f for f in free if f not in nodes]
    if nodes:
        stop = t + rnd.randrange(1800, 14400)
        end.append((stop, nodes))
        print('%d,@%d,@%d,"%s"' % (k + 1, t, stop, ",".join("n%04d" % i for i in nodes)))
PY
"$BIN" campaign plan wear --topology dragonfly:p=3 --engines updn,dfsssp,nue:4 --rate 0..10%/1% --seeds 5 >/dev/null
"$BIN" campaign run wear >/dev/null
"$BIN" campaign merge wear >/dev/null
"$BIN" replay --topology dragonfly:p=3 --history jobs.csv --engines dfsssp,updn,sar@scratch,sar --every 10m -o jobs >/dev/null
folder() { # folder, keys
	local folder=$1 top=$OLDPWD
	shift
	tty_start $SIZE env -u NO_COLOR TERM=screen-256color LC_ALL=C.UTF-8 TZ=UTC0 "$BIN" --load "$folder" \
		--record-dir "$work/rec" --state-dir "$work/state"
	tty_wait 20 'rows|engine|routing +time'
	sleep 1
	[ $# -eq 0 ] || tty_keys "$@"
	sleep 0.5
	(cd "$top" && shot "K-$folder")
	tty_stop
}
folder wear -N 20 Down
folder jobs -N 30 ']'
