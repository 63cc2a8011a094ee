#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# path_sl.sh: the SLs of paths as opensm's path records tell them, by tables and one by one; saquery is the judge.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lab/lab.sh
. tests/judge.sh

tool=$PWD/build/tests/lab/wiretool
counter=$PWD/build/tests/lab/libumad_sends.so
make -s build/tests/lab/wiretool "${counter#"$PWD"/}" >/dev/null || give_up "wiretool builds"
LAB_RMPP=1
lab_new || give_up "the lab"
JUDGE_LOG=$LAB_DIR/out
lab_fabric "${LAB_NET:-torus:dims=5x5,hosts=2}" || give_up "the fabric starts"
lab_opensm "routing_engine lash" "qos TRUE" || give_up "opensm brings the subnet up"
wire() { lab_on n0002 "$tool" "$@"; }
singly() { LAB_PRELOAD=${LAB_PRELOAD#*:} "$@"; } # who does not get more than the first MAD of a table

# --- lash: an SL for each pair of switches ---
wire paths - >"$LAB_DIR/ours"
ok "all SLs are read, and random other paths have them, too" \
	grep 'SLs by switch, .* of 200 others 0 differ' "$LAB_DIR/ours"
sed -n 's/^SLs/  SLs/p' "$LAB_DIR/ours"
ok "a check of 300 random paths agrees" grep '^checked 300 paths, 0 differ' "$LAB_DIR/ours"
ok "more than one SL is used" test "$(awk '$1 == "path" { print $4 }' "$LAB_DIR/ours" |
	sort -u | wc -l)" -gt 1

# --- the same by tables and path by path ---
count() { # NAME WORD...: MADs that a program of ours sends
	local of=$1

	shift
	rm -f "$LAB_DIR/$of.sends"
	lab_on n0002 env UMAD_SENDS="$LAB_DIR/$of.sends" LD_PRELOAD="$counter:$LAB_PRELOAD" "$@" >"$LAB_DIR/$of" || return
	echo "# $(mads "$of") MADs: $of"
}
mads() { od -An -tu8 "$LAB_DIR/$1.sends" | tr -d ' '; }
tables() { sed -n 's/^SLs.* queries, \([0-9]*\) for tables.*/\1/p' "$LAB_DIR/$1"; }
saquery_has_all() { # a table of all nodes, of all paths
	lab_on n0003 saquery NR >"$LAB_DIR/nr" && lab_on n0003 saquery -t 20000 PR >"$LAB_DIR/pr" || return
	[ "$(grep -c '^NodeRecord' "$LAB_DIR/nr")" -eq "$(wc -l <"$LAB_DIR/nodes")" ] &&
		[ "$(grep -c '^PathRecord' "$LAB_DIR/pr")" -eq "$(wc -l <"$LAB_DIR/nodes" | awk '{ print $1 * $1 }')" ]
}
ok "tables come whole: saquery has all nodes and all paths" saquery_has_all
ok "one table a switch with hosts is asked for" test "$(tables ours)" -eq "$(grep -c ^switch "$LAB_DIR/nodes")"
ok "by tables" count by-tables "$tool" paths -
ok "path by path, where no more than the first MAD comes" singly count by-path "$tool" paths -
ok "after one try with a table" test "$(tables by-path)" -eq 1
ok "that has the same SLs" eval 'grep -c ^path "$LAB_DIR/by-path" | grep -q ... && diff <(grep ^path "$LAB_DIR/by-path") <(grep ^path "$LAB_DIR/ours")'
ok "with tables less than half of the MADs do" test $(($(mads by-tables) * 2)) -lt "$(mads by-path)"

# some paths of each SL
grep '^path' "$LAB_DIR/ours" | sort -k4n -k2n -k3n | awk '$4 != sl { n = 0; sl = $4 }
	n++ % 97 == 0 && n < 1000 { print $2, $3 }' >"$LAB_DIR/pairs"
while read -r slid dlid; do
	sl=$(lab_on n0003 saquery -p --slid "$slid" --dlid "$dlid" |
		sed -n 's/^[ \t]*sl\.*0x//p' | head -n 1)
	[ -z "$sl" ] || echo "$slid $dlid $((16#$sl))"
done <"$LAB_DIR/pairs" >"$LAB_DIR/theirs"
ok "saquery answers" test "$(wc -l <"$LAB_DIR/theirs")" -ge 10
echo "  $(wc -l <"$LAB_DIR/theirs") paths asked with saquery"
ok "and has the same SLs" wire paths "$LAB_DIR/theirs"
paths_agree() { # the command paths has them, too, and a VL for each hop
	local slid dlid sl n=0
	while read -r slid dlid sl && [ $n -lt 4 ]; do
		n=$((n + 1))
		lab_on n0002 "$IBROUTE_TOP" paths -L "$slid" "$dlid" --no-load --json >"$LAB_DIR/path" 2>"$LAB_DIR/err" || return
		python3 - "$LAB_DIR/path" "$sl" <<-'EOF' || return
		import json, sys
		now = json.load(open(sys.argv[1]))["now"]
		assert now["sl_known"] and now["sl"] == int(sys.argv[2]), (now["sl"], sys.argv[2])
		assert all(h["vl"] is not None for h in now["hops"][:-1])
		EOF
	done < <(sort -k3nr "$LAB_DIR/theirs")
	[ $n -eq 4 ] && [ ! -s "$LAB_DIR/err" ]
}
ok "paths has them, with the VLs of its hops" paths_agree
ok "without a word of what is assumed" eval 'lab_on n0002 "$IBROUTE_TOP" paths n0003 n0009 --no-load >"$LAB_DIR/path" && ! grep -q assumed "$LAB_DIR/path"'
planned() { # what is known of the SLs of the installed tables, and how many paths get another
	lab_on n0002 "$IBROUTE_TOP" plan -e "$1" --jobs none --json >"$LAB_DIR/plan" 2>"$LAB_DIR/err"
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print("assumed" if j["transition"]["sl_assumed"] else "told", j["sl_paths"])' "$LAB_DIR/plan"
}
overview_knows() { lab_on n0002 "$IBROUTE_TOP" --json -n 1 --jobs none --collector none 2>/dev/null >"$LAB_DIR/overview" && grep -q "\"service_levels_known\": $1" "$LAB_DIR/overview"; }
ok "and the console" overview_knows true
ok "plan has them, too: minhop changes many" eval 'planned minhop | tee -a "$LAB_DIR/out" | grep -qE "^told [1-9][0-9]+$"'
huge() { UMAD_RMPP_HUGE=80 planned minhop >"$LAB_DIR/huge" && grep -q 'an answer of 80 MB was dropped: at most 64 MB are read' "$LAB_DIR/err" && grep -qE '^told [1-9][0-9]+$' "$LAB_DIR/huge"; }
ok "an answer beyond all measure is dropped, told, and asked for again" huge
awk '{ print $1, $2, ($3 + 1) % 2 }' "$LAB_DIR/theirs" >"$LAB_DIR/wrong"
others_differ() { wire paths "$LAB_DIR/wrong" | grep '[1-9][0-9]* of [0-9]* paths differ'; }
ok "others are told apart" others_differ

# --- others ---
lab_opensm_stop
ok "without an SM the SL is assumed" eval 'lab_on n0002 "$IBROUTE_TOP" paths n0003 n0009 --no-load >"$LAB_DIR/path" 2>&1; grep -q "assumed" "$LAB_DIR/path"'
ok "and plan says that they are assumed" eval 'planned nue:4 | grep -qE "^assumed [1-9]"'
UMAD_RMPP=$LAB_DIR/segments UMAD_RMPP_LOSE=101 lab_opensm "routing_engine nue" "qos TRUE" "lmc 1" "nue_max_num_vls 2" ||
	give_up "opensm brings the subnet up with nue"
wire paths - >"$LAB_DIR/nue"
sed -n 's/^SLs/  nue: SLs/p' "$LAB_DIR/nue"
ok "nue's are read, with two LIDs a host" grep 'of 200 others 0 differ' "$LAB_DIR/nue"
ok "by tables, with segments of them lost" test "$(tables nue)" -eq 25 -a "$(od -An -j24 -N8 -tu8 "$LAB_DIR/segments")" -gt 0
lab_opensm_stop
lab_opensm "routing_engine dfsssp" "qos TRUE" || give_up "opensm brings the subnet up with dfsssp"
wire paths - >"$LAB_DIR/dfsssp"
sed -n 's/^SLs/  dfsssp: SLs/p' "$LAB_DIR/dfsssp"
ok "it shows that dfsssp answers each time with another SL" \
	grep 'SLs by terminal, .* of 200 others [1-9]' "$LAB_DIR/dfsssp"
ok "the console does not know them then" overview_knows false
ok "that there are none to be planned with is said" eval 'planned minhop >/dev/null; grep -q "different service levels each time it is asked: SL 0 is assumed" "$LAB_DIR/err"'
lab_opensm_stop
lab_opensm "routing_engine updn" || give_up "opensm brings the subnet up with updn"
ok "by updn they are known again" overview_knows true
ok "all paths are told to have SL 0" eval 'planned nue:4 | grep -qE "^told [1-9]"'

# --- may they talk? ---
one() { lab_on n0002 "$IBROUTE_TOP" paths "$@" --no-load >"$LAB_DIR/path" 2>&1; }
ok "hosts of the default partition may talk" eval 'one n0003 n0009 && grep -q "partition of P_Key 0x7fff" "$LAB_DIR/path"'
lab_opensm_stop
port_guid() { grep -A1 "^Ca.*\"$1[\" ]" "$LAB_DIR/net" | sed -n 's/^\[1\](\([0-9a-f]*\)).*/0x\1/p'; }
{
	echo "Default=0x7fff, ipoib: ALL=limited, SELF=full;"
	echo "some=0x0123: $(port_guid n0003), $(port_guid n0004)=full;"
} >"$LAB_DIR/partitions.conf"
lab_opensm "routing_engine updn" "partition_config_file $LAB_DIR/partitions.conf" || give_up "opensm brings the subnet up with partitions"
ok "of its limited members none may" eval '! one n0003 n0009 && grep -q "^they may not talk" "$LAB_DIR/path"'
ok "two of another partition may" eval 'one n0003 n0004 && grep -q "partition of P_Key 0x0123" "$LAB_DIR/path"'
ok "so says JSON" eval 'lab_on n0002 "$IBROUTE_TOP" paths n0003 n0009 --no-load --json >"$LAB_DIR/json"; python3 tests/schema.py paths "$LAB_DIR/json" && grep -q "\"may_talk\": false" "$LAB_DIR/json"'
finish
