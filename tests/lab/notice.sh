#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# notice.sh: subscriptions, traps and reports by way of a stock opensm on ibsim.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

tool=$PWD/build/tests/lab/notice_tool
make -s build/tests/lab/notice_tool >/dev/null || give_up "notice_tool builds"
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
lab_fabric fattree2:leaves=3,spines=2,hosts=3 || give_up "the fabric starts"
# its log tells why it sweeps with the verbose bit of -D
LAB_OPENSM_ARGS="-D 0x07" lab_opensm "routing_engine updn" || give_up "opensm brings the subnet up"

notices() { # host, arguments
	local host=$1

	shift
	lab_on "$host" "$tool" "$@"
}

# Heavy sweeps after notices 144 of our own; ibsim itself sends some, with transaction id 0, when a
# program begins or ends to take reports.
heavy_sweeps() {
	awk '{ thread = match($0, /.*\[[0-9A-F]+\]/) ? substr($0, RLENGTH - 8, 8) : "" }
		/Received Generic Notice .*num:144 / { ours[thread] = !/TID:0x0000000000000000/ }
		/Forcing heavy sweep. Received trap:144/ { n += ours[thread] }
		END { print n + 0 }' "$LAB_DIR/osm/opensm.log"
}

listen() { # host, seconds, traps
	local host=$1

	shift
	notices "$host" listen "$@" >"$LAB_DIR/$host.out" 2>&1 &
	listeners="$listeners $!"
	lab_wait 10 grep -q '^listening' "$LAB_DIR/$host.out"
}
listeners=

# --- one listener, one sender ---
ok "a node can subscribe" listen n0002 4 68 69
lid=$(lab_lid n0005)
ok "another sends UNPATH" notices n0005 send 68 305419896 4660
# version 1, phase 68, flags, repeat, hold, sequence 0x1234, transaction 0x12345678
details=$(printf '%068d' 0)014400000000000000001234$(printf '%08d' 0)12345678
ok "the report comes, its details as they were sent" \
	lab_wait 5 grep "^report 68 from lid $lid .* by sm $(lab_lid n0001) details $details " \
	"$LAB_DIR/n0002.out"
ok "and is read as what was said" \
	grep ' phase 2 txn 305419896 seq 4660 repeat 0 hold 0 flags 0$' "$LAB_DIR/n0002.out"
ok "REPATH likewise" notices n0005 send 69 305419896 4661
ok "is reported" lab_wait 5 grep '^report 69 .* phase 4 txn 305419896 seq 4661' \
	"$LAB_DIR/n0002.out"
ok "identical traps are sent" notices n0005 send 68 7 1 15
# shellcheck disable=SC2086
wait $listeners
ten_of_fifteen() { [ "$(grep -c ' phase 2 txn 7 seq 1 ' "$LAB_DIR/n0002.out")" -eq 10 ]; }
ok "and ten of fifteen get through, as in the simulator" ten_of_fifteen
ok "unsubscribing works" grep '^unsubscribed' "$LAB_DIR/n0002.out"
not_subscribed() { notices n0002 refused | grep 'refuses to unsubscribe .*invalid'; }
ok "unsubscribing from what was not subscribed is refused with a reason" not_subscribed

# --- both phases with three agents; not on the host of opensm, whom ibsim gives its reports ---
listeners=
listen n0003 8 68 69
listen n0006 8 68 69
listen n0009 8 68 69
# ibsim has told of their new capabilities: opensm has to have swept before it takes their acks
sleep 1
ok "68, three acks, 69, three acks" notices n0004 round 99 3
grep '^phase' "$JUDGE_LOG" | sed 's/^/  /'
swept() {
	echo "$(heavy_sweeps) sweeps"
	[ "$(heavy_sweeps)" -eq "$1" ]
}
ok "no ack made opensm sweep the fabric" swept 0
ok "an ack with other capabilities is sent" notices n0004 wrong 1
ok "and makes it sweep" lab_wait 5 swept 1
# shellcheck disable=SC2086
wait $listeners
all_unsubscribed() { ! grep -L '^unsubscribed' "$LAB_DIR"/n000[369].out | grep .; }
ok "all agents unsubscribed" all_unsubscribed
ok "opensm is alive and sweeps" lab_subnet_up
finish
