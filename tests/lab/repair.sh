#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# repair.sh: what a stock opensm with our plugin writes when cables, a switch and hosts go and come
# back: repaired tables, of which no path moves that still stands.  The switches are read with dump_fts,
# the LFT blocks that are set counted by opensm's MAD library (umad_timeouts.c).  Then what a console
# says of it, and of a cable that is lost when nobody routes any more.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

lab_needs_plugin

log() { # what opensm has said since mark()
	tail -n "+$mark" "$LAB_DIR/osm/opensm.log"
}

lft=0x19
sets() {
	od -An -t u8 -j $((8 * lft)) -N 8 "$LAB_DIR/sets" | tr -d ' '
}

mark() {
	mark=$(($(wc -l <"$LAB_DIR/osm/opensm.log") + 1))
	sent=$(sets)
	lab_lfts >"$LAB_DIR/before"
}

# The plugin says so, and OpenSM has distributed what it said.
done_after() {
	log | awk -v re="$1" '$0 ~ re { said = 1 } said && /SUBNET UP/ { up = 1 } END { exit !up }'
}

comes() { # regex
	lab_wait 15 done_after "$1" || { log | grep -E 'ibroute|ERR' | sed 's/^/# /' | tail -n 8; return 1; }
	sent=$(($(sets) - sent))
	lab_lfts >"$LAB_DIR/after"
}

# Who did not answer in time is looked for again: there is no sweep by the clock.
comes_back() { # regex
	local i

	for i in 1 2 3 4 5; do
		PATIENCE=1 lab_wait 5 done_after "$1" && return 0
		kill -HUP "$(cat "$LAB_DIR/opensm.pid")"
	done
	comes "$1"
}

not_said() {
	! log | grep -qE -- "$1"
}

told() { # what: the last number before those words in what the plugin has said of its repairs
	log | sed -n "s/.*ibroute: repaired .* \([0-9]*\) $1.*/\1/p" | tail -n 1
}

told_gap() {
	log | grep -q 'ibroute: the repaired routing against a fresh one by nue:4: time of shifts [0-9.]* and [0-9.]* (.* %), maximum EFI'
}

# Of switches that are in both: entries that differ, and blocks of 64 with such.
differ() {
	python3 - "$LAB_DIR/before" "$LAB_DIR/after" <<-'PY'
		import sys
		a, b = ({tuple(l.split()[:2]): l.split()[2] for l in open(f)} for f in sys.argv[1:])
		num = lambda k: int(k[1], 0)
		both = {k[0] for k in a} & {k[0] for k in b}
		d = [k for k in set(a) | set(b) if k[0] in both and a.get(k) != b.get(k)]
		print(len(d), len({(k[0], num(k) // 64) for k in d}))
	PY
}

# As much as the plugin has said changes, and is set once.
only_what_has_to() { # at most that many blocks more than differ
	local entries blocks

	read -r entries blocks <<<"$(differ)"
	echo "# $entries entries in $blocks blocks differ; told: $(told 'LFT entries change'), needed: $(told 'have to'); $sent blocks set"
	[ "$entries" -eq "$(told 'LFT entries change')" ] && [ "$sent" -ge "$blocks" ] && [ "$sent" -le $((blocks + ${1:-0})) ]
}

as_before_all() { # LFTs of the first routing
	lab_wait 5 same "$LAB_DIR/first"
}

judged() {
	rm -rf "$LAB_DIR/now"
	does 0 dump-lfts --fabric lab "${dirs[@]}" -o "$LAB_DIR/now" &&
		lab_on n0003 ibnetdiscover >"$LAB_DIR/seen" &&
		"$IBROUTE_TOP" check --topology "$LAB_DIR/seen" --bisections 0 --lfts "$LAB_DIR/now/opensm-lfts.dump" \
			--path-sl "$LAB_DIR/now/path-sl.dump" --sl2vl "$LAB_DIR/now/opensm-sl2vl.dump" \
			>"$LAB_DIR/check.out" 2>&1 || { tail -n 4 "$LAB_DIR/check.out" "$LAB_DIR/out"; return 1; }
}

ports_of() { # switch: those with cables to other switches
	sed -n "/\"$1\"/,/^\$/s/^\(\[[0-9]*\]\).*\"S-.*/\1/p" "$LAB_DIR/net"
}

all_of() { # switch, command
	local node port

	node=$(lab_node "$1")
	# in one write: a burst, which OpenSM's sweeps put together as they can
	lab_con "$(for port in $(ports_of "$1"); do echo "$2 \"$node\"$port"; done)"
}

lab_new || exit 1
lab_fabric dragonfly:p=2 || give_up "the fabric"
policy "engine nue:4" "seed 7" "threads 1"
UMAD_COUNT=$LAB_DIR/sets lab_plugin "routing_engine ibroute,no_fallback" "qos TRUE" "sweep_interval 0" || give_up "opensm"
lab_wait 15 plugin 'p["source"] == "engine" and p["links"] == 90' || give_up "the first routing"
sleep 1 # a second sweep, where VLs came only with the first
cables=($(ports_of sw01))
lab_lfts >"$LAB_DIR/first"

mark
lab_con "Unlink \"$(lab_node sw01)\"${cables[0]}"
ok "a cable goes: repaired" comes "ibroute: repaired the engine's tables: 1 cable gone since; gone: sw.*-sw.* LFT entries change"
ok "only what has to be is written" only_what_has_to
ok "how far it is from a fresh routing is told" lab_wait 15 told_gap
ok "the switches' tables pass our judge" judged
ok "sm says so" plugin 'p["source"] == "repaired" and p["engine"] == "repair"'

mark
lab_con "Unlink \"$(lab_node sw01)\"${cables[1]}"
ok "another one: repaired beside the first" comes "ibroute: repaired the tables of the last repair: 1 cable gone since"
ok "only what has to be is written" only_what_has_to
ok "the switches' tables pass our judge" judged

mark
lab_con "ReLink \"$(lab_node sw01)\"${cables[0]}"
ok "one returns: with the paths that it had" comes "ibroute: repaired the engine's tables: 1 cable gone since"
mark
lab_con "ReLink \"$(lab_node sw01)\"${cables[1]}"
ok "the other, too" comes_back "ibroute: routed by engine nue.* 90 links"
ok "all is as it was" as_before_all

mark
all_of sw05 Unlink
ok "all cables of a switch at once" comes "ibroute: repaired .*: 1 switch gone"
ok "by few repairs" [ "$(log | grep -c 'ibroute: repaired')" -le 3 ]
ok "without the engine" not_said "routed by engine"
ok "the switches' tables pass our judge" judged
mark
all_of sw05 ReLink
ok "it returns" comes_back "ibroute: routed by engine nue.* 36 switches.* 90 links"
ok "all is as it was" as_before_all

mark
lab_con "Unlink \"$(lab_node n0009)\"[1]"
ok "a host goes" comes "ibroute: repaired the engine's tables: 1 host port gone since"
ok "nobody's path moves" [ "$(told 'LFT entries change')" = 0 ]
mark
lab_con "ReLink \"$(lab_node n0009)\"[1]"
ok "and returns" comes_back "ibroute: routed by engine nue"
ok "all is as it was" as_before_all

policy "engine nue:4" "seed 7" "threads 1" "improve 3"
mark
lab_con "Unlink \"$(lab_node sw01)\"${cables[0]}"
ok "a cable goes, and repairs may be improved" comes "ibroute: repaired "
mark
# Of a reroute no SUBNET UP is told; the next step is three seconds away.
stepped() {
	log | awk '/ibroute: a step towards even loads: .* nobody has to drain/ { said = 1 } said && /ibroute tables configured/ { up = 1 } END { exit !up }'
}
ok "a step follows, for which nobody has to drain" lab_wait 15 stepped
sleep 0.3
sent=$(($(sets) - sent))
lab_lfts >"$LAB_DIR/after"
read -r entries blocks <<<"$(differ)"
echo "# $entries entries in $blocks blocks differ; $(log | sed -n 's/.*a step towards even loads: //p' | head -n 1); $sent blocks set"
ok "it writes what it says, and nothing else" [ "$blocks" -gt 0 -a "$sent" -eq "$blocks" ]
ok "the switches' tables pass our judge" judged
ok "sm still calls it repaired" plugin 'p["source"] == "repaired"'
mark
lab_con "ReLink \"$(lab_node sw01)\"${cables[0]}"
ok "the cable returns" comes_back "ibroute: routed by engine nue.* 90 links"
ok "all is as it was" as_before_all

policy "engine nue:4" "seed 7" "threads 1" "on_change reroute"
mark
kill -HUP "$(cat "$LAB_DIR/opensm.pid")"
ok "another policy routes" comes "ibroute: routed by engine nue"
mark
lab_con "Unlink \"$(lab_node sw01)\"${cables[0]}"
ok "on_change reroute: the engine routes all again" comes "ibroute: routed by engine nue.* 89 links"
echo "# $(differ) entries and blocks differ; $sent blocks set"

# --- the console, whose next discovery by the clock is ten minutes away ---
. "$LAB_ROOT/tests/tty.sh"
cd "$LAB_DIR/work"
# shellcheck disable=SC2046
tty_start 160x40 env $(lab_env n0003) TERM=screen-256color LC_ALL=C.UTF-8 "$IBROUTE_TOP" --sweep-interval 600 -d 0.5 \
	--jobs none --rw "${dirs[@]}"
cd "$LAB_ROOT"
tty_wait 15 'LIVE' && tty_keys 8 && tty_wait 15 '36 switches, 72 hosts, 89 ISLs' || tty_screen | sed 's/^/# /'
sleep 3 # it has asked the plugin how many changes there were
lab_con "ReLink \"$(lab_node sw01)\"${cables[0]}"
ok "the console hears from the plugin which switches report a link, and discovers these" \
	tty_wait 20 'notices? of link changes of .* discovering [12] switch(es)? again'
ok "and finds the cable" tty_wait 5 '36 switches, 72 hosts, 90 ISLs'
ok "which is an event" tty_wait 5 '1 cable came up \(sw'

# on one VL: without OpenSM nobody tells SLs
policy "engine updn" "seed 7" "threads 1"
mark
kill -HUP "$(cat "$LAB_DIR/opensm.pid")"
comes "ibroute: routed by engine updn" >/dev/null
sleep 1
tty_keys 1
lab_con "Unlink \"$(lab_node sw01)\"${cables[0]}"
ok "line one tells of a cable that OpenSM has repaired" tty_wait 10 'cable down for .*: [0-9]+ paths lost, repaired'
ok "and an event, with what that took" tty_wait 5 'repaired by the subnet manager, [0-9]+ LFT entries: time of shifts'

# --- nobody routes any more: no notice comes, and no other path ---
lab_opensm_stop
ok "no subnet manager" tty_wait 10 'subnet manager .*is gone: nobody repairs'
lab_con "Unlink \"$(lab_node sw09)\"$(ports_of sw09 | head -n 1)"
ok "line one tells of paths that are lost, which nobody repairs" \
	tty_wait 15 'subnet manager .*gone.*[0-9]+ paths lost.*6: repair'
tty_keys 6
ok "the cursor is on repair" tty_wait 5 '^>\(.\) repair +for lost paths'
tty_keys Space
ok "which finds all of them" tty_wait 20 'unreachable pairs +[0-9,]+ +0 +-100% better'
tty_stop
finish
