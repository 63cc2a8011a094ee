#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# failover.sh: how long a stock opensm takes from the trap of a failure to the last LFT block that a
# switch says it holds, with our plugin and with its own engine of the same kind, on the same net; how
# many blocks each writes, and what becomes of who asks for path records meanwhile.  A cable, a switch
# that dies and comes back, a burst of 40 cables, hosts that come.  All is read by opensm's MAD library
# (umad_timeouts.c), dump_fts, ibnetdiscover and a walk of our own.
#
#   failover.sh [SPEC [ENGINE]]     (dragonfly:p=2, dfsssp)
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

lab_needs_plugin
make -s -C "$LAB_ROOT" "$B/tests/lab/records_tool" >/dev/null || give_up "the tool builds"
spec=${1:-dragonfly:p=2} engine=${2:-dfsssp} tool=$LAB_ROOT/tests/lab/failover.py

begin() { # what is asked of it from here on
	mark=$(($(wc -l <"$LAB_DIR/osm/opensm.log") + 1))
	from=$(wc -l <"$LAB_DIR/events")
	lab_lfts >"$LAB_DIR/before"
}

settled() { # a sweep has ended, and nothing has happened for a second or two
	tail -n "+$mark" "$LAB_DIR/osm/opensm.log" | grep -q 'SUBNET UP' || return 1
	[ $(($(date +%s) - $(stat -c %Y "$LAB_DIR/events"))) -ge 2 ]
}

# What happened since: from the first trap to the last block held, blocks, records answered meanwhile.
measure() { # who, what
	lab_wait 5 settled || return 1
	lab_lfts >"$LAB_DIR/after"
	python3 "$tool" figures "$LAB_DIR" "$from" "$1" "$2"
}

# Every host that ibnetdiscover finds reaches every other by the switches' LFTs.
reached() {
	lab_on n0003 ibnetdiscover >"$LAB_DIR/seen" || return 1
	python3 "$tool" reached "$LAB_DIR/seen" "$LAB_DIR/after"
}

cables_of() { # switch: "NODE[PORT]" of those to other switches
	local node

	node=$(lab_node "$1")
	sed -n "/\"$1\"/,/^\$/s/^\(\[[0-9]*\]\).*\"S-.*/\1/p" "$LAB_DIR/net" | sed "s/^/\"$node\"/"
}

all_do() { # command, what
	lab_con "$(sed "s/^/$1 /" <<<"$2")"
}

play() { # who, the lines of opensm's configuration
	local who=$1 cable burst some

	shift
	rm -f "$LAB_DIR/events" "$LAB_DIR/records"
	export UMAD_LOG=$LAB_DIR/events
	if [ "$who" = ours ]; then
		policy "engine $engine" "seed 1" "threads 1"
		lab_plugin "routing_engine ibroute,no_fallback" "qos TRUE" "sweep_interval 0" "$@" || return 1
	else
		lab_opensm_stop
		lab_opensm "routing_engine $engine" "qos TRUE" "sweep_interval 0" "$@" || return 1
	fi
	unset UMAD_LOG
	sleep 2
	# shellcheck disable=SC2046
	(cd "$LAB_DIR/work" && exec env $(lab_env n0005) "$LAB_ROOT/$B/tests/lab/records_tool" "$(lab_lid n0005)" \
		$(for n in $(lab_hosts | tail -n 20); do lab_lid "$n"; done) >"$LAB_DIR/records" 2>/dev/null) &
	asker=$!
	lab_wait 5 test -s "$LAB_DIR/records" || return 1
	cable=$(cables_of "${switch[1]}" | head -n 1)

	begin
	all_do Unlink "$cable"
	ok "$who: a cable goes" measure "$who" "a cable"
	ok "$who: all are reached" reached
	begin
	all_do ReLink "$cable"
	ok "$who: it returns" measure "$who" "it returns"

	begin
	all_do Unlink "$(cables_of "${switch[4]}")"
	ok "$who: a switch dies" measure "$who" "a switch"
	ok "$who: all that can be are reached" reached
	begin
	all_do ReLink "$(cables_of "${switch[4]}")"
	ok "$who: it comes back" measure "$who" "it comes back"
	ok "$who: all are reached" reached

	burst=$(for s in "${switch[@]:6:24}"; do cables_of "$s" | head -n 2; done | head -n 40)
	begin
	all_do Unlink "$burst"
	ok "$who: a burst of $(wc -l <<<"$burst") cables" measure "$who" "40 cables"
	ok "$who: all are reached" reached
	begin
	all_do ReLink "$burst"
	ok "$who: they return" measure "$who" "they return"

	some=$(for n in $(lab_hosts | sed -n '9,14p'); do echo "\"$(lab_node "$n")\"[1]"; done)
	begin
	all_do Unlink "$some"
	ok "$who: hosts go" measure "$who" "6 hosts go"
	begin
	all_do ReLink "$some"
	ok "$who: hosts come" measure "$who" "6 hosts come"
	ok "$who: all are reached" reached
	kill "$asker" 2>/dev/null
	wait "$asker" 2>/dev/null
	return 0
}

lab_new || exit 1
lab_fabric "$spec" || give_up "the fabric"
mapfile -t switch < <(awk '$1 == "switch" { print $2 }' "$LAB_DIR/nodes")
: >"$LAB_DIR/figures"
play opensm || give_up "opensm with $engine"
play ours || give_up "opensm with our plugin"

figure() { awk -F '\t' -v who="$1" -v what="$2" -v n="$3" '$1 == who && $2 == what { print $n }' "$LAB_DIR/figures"; }
fewer() { # what: no more blocks than opensm's own engine, and none that did not have to be
	[ "$(figure ours "$1" 4)" -le "$(figure opensm "$1" 4)" ] && [ "$(figure ours "$1" 4)" -le "$(figure ours "$1" 5)" ]
}
for what in "a cable" "a switch" "40 cables" "6 hosts go" "6 hosts come"; do
	ok "$what: only blocks that have to be written, and fewer" fewer "$what"
done
ok "somebody who asks for path records is answered" [ "$(awk -F '\t' '$1 == "ours" { n += $7 } END { print n + 0 }' "$LAB_DIR/figures")" -eq 0 ]
finish
