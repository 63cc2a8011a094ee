#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# strangers.sh [SEED]: LIDs that need the drain and that no job has, on a random net.  Their hosts are
# named before anybody confirms, and the plan is applied only when that was accepted.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
seed=${1:-${LAB_SEED:-$((RANDOM % 9000 + 1))}}

lab_new || exit 1
dirs+=(--jobs "$LAB_DIR/jobs")
echo "# seed $seed"

# Each host of the plan's LIDs, as smpquery names the owner of the LID.
all_named() {
	local name lid
	sed -n 's/^pause what sends to LIDs of no job: \(.*\) (apply.*/\1/p' "$LAB_DIR/out" | sed 's/), /)\n/g' |
		sed -n 's/^\([^ ]*\) (LIDs\{0,1\} \([0-9]*\).*/\1 \2/p' >"$LAB_DIR/named"
	[ -s "$LAB_DIR/named" ] || return 1
	while read -r name lid; do
		lab_on n0002 smpquery nodedesc "$lid" 2>/dev/null </dev/null | grep -q "[.]$name\( \|\$\)" ||
			{ echo "# LID $lid is not of $name"; return 1; }
	done <"$LAB_DIR/named"
}

named() { # the first of them is in the words of the program
	said "$(sed -n '1s/ .*//p' "$LAB_DIR/named") \\(LID"
}

lab_fabric "random:switches=16,links=40,hosts=2,seed=$seed" || give_up "the fabric"
lab_opensm "routing_engine minhop" || give_up "opensm"
echo '7 n0001' >"$LAB_DIR/jobs"
lab_lfts >"$LAB_DIR/before"
ok "a plan" does 0 plan -e nue:2 --fabric lab "${dirs[@]}" -o "$LAB_DIR/p"
ok "names the hosts of LIDs of no job, as smpquery does" all_named
ok "so does show" does 0 show "$LAB_DIR/p"
ok "by name" named
ok "apply is refused" does 4 apply --accept-slower "$LAB_DIR/p" "${dirs[@]}" --accept-sl-change --yes-fabric lab --no-input
ok "they are named" named
ok "and what accepts it" said "--accept-strangers"
ok "nothing was written" eval 'lab_lfts | cmp -s - "$LAB_DIR/before"'
ok "no update was begun" eval '[ -z "$(ls "$LAB_DIR/state" 2>/dev/null | grep -E "^2")" ]'
ok "accepted, it is applied" does 0 apply --accept-slower "$LAB_DIR/p" "${dirs[@]}" --accept-sl-change --accept-strangers \
	--yes-fabric lab --no-input
ok "they are named all the same" named
lab_lfts >"$LAB_DIR/now"
ok "the tables are others" eval '! cmp -s "$LAB_DIR/before" "$LAB_DIR/now"'
ok "the same plan once more is refused" does 4 apply --accept-slower "$LAB_DIR/p" "${dirs[@]}" --accept-sl-change \
	--accept-strangers --yes-fabric lab --no-input
ok "for what it is" said "already installed"
finish
