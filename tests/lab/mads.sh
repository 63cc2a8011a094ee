#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mads.sh [SPEC]: a command reads what its output needs: at most 1.2 times the MADs that the infiniband-diags send for
# the same question, and, on a fabric where that is more than the start of a program, no more time than they.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

B=${B:-build}
counter=$PWD/$B/tests/lab/libumad_sends.so
make -s "$B/tests/lab/libumad_sends.so" >/dev/null || give_up "libumad_sends.so builds"
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
lab_fabric "${1:-fattree2:leaves=18,spines=18,hosts=18}" || give_up "the fabric starts"
LAB_OPENSM_WAIT=${LAB_OPENSM_WAIT:-100} lab_opensm "routing_engine updn" "sweep_interval 0" || give_up "opensm brings the subnet up"

# $mads, $ms: of one run; its words are in $LAB_DIR/words.
count() {
	local t0 rc

	rm -f "$LAB_DIR/sends"
	t0=$(date +%s%N)
	LAB_TIMEOUT=120 lab_on n0002 env UMAD_SENDS="$LAB_DIR/sends" LD_PRELOAD="$counter:$LAB_PRELOAD" "$@" >"$LAB_DIR/words" 2>&1
	rc=$?
	ms=$((($(date +%s%N) - t0) / 1000000))
	mads=$(od -An -tu8 "$LAB_DIR/sends" | tr -d ' ')
	printf '# %8d MADs %6d ms: %s\n' "$mads" "$ms" "${*/#$PWD\//}"
	return $rc
}

# Ends with $code, sends at most 1.2 times that many, and where that takes a while it is no slower.
code=0
ours() { # MADs, ms, our words...
	local theirs=$1 theirs_ms=$2

	shift 2
	count "$IBROUTE_TOP" "$@"
	[ $? -eq "$code" ] || return 1
	[ "$mads" -gt 0 ] && [ $((mads * 10)) -le $((theirs * 12)) ] || return 1
	[ "$theirs_ms" -lt 500 ] || [ "$ms" -le "$theirs_ms" ]
}

a=$(lab_lid n0003) b=$(lab_lid "$(lab_hosts | tail -n 1)")
count ibtracert "$a" "$b" && trace=$mads trace_ms=$ms || give_up "ibtracert"
count dump_fts && fts=$mads fts_ms=$ms || give_up "dump_fts"
count ibnetdiscover && net=$mads net_ms=$ms || give_up "ibnetdiscover"
cp "$LAB_DIR/words" "$LAB_DIR/seen"
count ibqueryerrors && errors=$mads errors_ms=$ms || give_up "ibqueryerrors"
ok "paths of two LIDs, as ibtracert" ours "$trace" "$trace_ms" paths --no-load -L "$a" "$b"
same_hops() { # the switches and ports that ibtracert names
	lab_on n0002 ibtracert "$a" "$b" 2>/dev/null | sed -n 's/^\[\([0-9]*\)\] -> .*/\1/p' | sed 1d >"$LAB_DIR/theirs"
	lab_on n0002 "$IBROUTE_TOP" paths --no-load --json -L "$a" "$b" 2>/dev/null |
		python3 -c 'import json, sys
for h in json.load(sys.stdin)["now"]["hops"]: print(h["out_port"])' >"$LAB_DIR/ours"
	[ -s "$LAB_DIR/ours" ] && cmp "$LAB_DIR/theirs" "$LAB_DIR/ours"
}
ok "with the hops of ibtracert" same_hops
ok "paths of two names: a discovery besides" ours "$((net + trace))" "$((net_ms + trace_ms))" paths --no-load n0003 n0300
ok "dump-lfts, as dump_fts" ours "$fts" "$fts_ms" dump-lfts
counters=a,a_port,symbol_errors,link_recovered,link_downed,rx_errors,tx_discards
ok "error counters, as ibqueryerrors" ours "$errors" "$errors_ms" -b -n 1 --view ports --fields $counters --filter 'symbol_errors>0 or rx_errors>0'
ok "who is connected to whom, as ibnetdiscover" ours "$net" "$net_ms" -b -n 1 --view ports --fields a,a_port,b,b_port,state
ok "and what has changed" ours "$net" "$net_ms" --diff "$LAB_DIR/seen"
ok "EFI besides: with the LFTs" ours "$((fts + errors))" 0 -b -n 1 --view links --jobs none --fields link,efi,symbol_errors
ok "and it is there" eval 'awk "NF > 2 && NR > 2 && \$NF != \"-\" && \$(NF - 1) > 0 { n++ } END { exit n < 100 }" "$LAB_DIR/words"'
code=1 # our plugin is not in that OpenSM
ok "sm: a discovery and a few" ours "$net" "$net_ms" sm --socket "$sock"
finish
