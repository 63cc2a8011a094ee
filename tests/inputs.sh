#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# inputs.sh: each file that a command reads, as it should not be: missing, empty, cut off, bytes of
# something else, a folder, not readable.  All commands end with the code that the manual has for
# that, name the file and where in it, and none takes a part for the whole; of a fabric what is left is
# loaded and marked.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
chmod 755 "$work"
cp "${B:-build}/ibroute-top" "$work/ibroute-top"
cd "$work" || exit 2
I=$work/ibroute-top
JUDGE_LOG=$work/log
export XDG_CONFIG_HOME=$work/none XDG_STATE_HOME=$work/state

"$I" topo hyperx:dims=3x3,hosts=2,lmc=2 -o net
printf '1 n[0001-0006]\n2 n[0007-0010,0012-0014]\n' >jobs
"$I" route --engine parx --topology net --vls 8 --out d --formats opensm,ibdm,path-sl,ibr >/dev/null
"$I" topo hyperx:dims=3x3,hosts=2 -o one
"$I" route --engine dfsssp --topology one --vls 4 --out e --formats opensm,ibdm,path-sl,ibr >/dev/null
grep -o 'switchguid=0x[0-9a-f]*' net | head -n 2 | cut -d= -f2 >roots
printf '0x1 "a"\n0x2 "b"\n' >names
printf 'n0001: n0002=1000000,n0007=5\n' >demand
printf '0-1: n[0001-0002]\n' >ranks
printf '0: 1=1000\n1: 0=5\n' >rankdemand
printf 'interval = 5\n[fabric x]\nca = foo\n' >conf
printf 'SwitchName=r1 Nodes=n[0001-0009]\nSwitchName=r2 Nodes=n[0010-0018]\nSwitchName=top Switches=r[1-2]\n' >racks
"$I" --load one --lfts e/opensm-lfts.dump --jobs jobs -b -n 1 --save snap >/dev/null
head -c 3000 "$I" >garbage

# Who may not read a file without the right to: anybody but root.
if [ "$(id -u)" -ne 0 ]; then
	as=()
elif setpriv --reuid=65534 --regid=65534 --clear-groups "$I" --version >/dev/null 2>&1; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
else
	as=(none)
fi

spoilt() { # kind, good file: into bad
	chmod -R u+rwx bad 2>/dev/null
	rm -rf bad
	case $1 in
	missing) ;;
	empty) : >bad ;;
	cut) head -c $(($(stat -c %s "$2") * 6 / 10)) "$2" >bad ;;
	garbage) cp garbage bad ;;
	folder) mkdir bad ;;
	unreadable) cp "$2" bad && chmod 000 bad ;;
	esac
}

tried() { # wanted code, words
	local want=$1 rc
	shift
	timeout 60 "$@" >out 2>err </dev/null
	rc=$?
	head -n 3 err
	[ "$rc" -eq "$want" ] || { echo "exit $rc, wanted $want"; return 1; }
	[ "$rc" -eq 0 ] || grep -q 'bad' err || { echo "the file is not named"; return 1; }
}

# Codes by kind that differ from 255 (any: not tried), the file as it should be, words of the command: @ is the file.
each() {
	local codes=$1 good=$2 kind want
	shift 2
	for kind in missing empty cut garbage folder unreadable; do
		want=255
		[[ " $codes " =~ \ all=([0-9]+)\  ]] && want=${BASH_REMATCH[1]}
		[[ " $codes " =~ \ $kind=([0-9a-z]+)\  ]] && want=${BASH_REMATCH[1]}
		[ "$want" = any ] && continue
		spoilt $kind "$good"
		if [ $kind != unreadable ]; then
			tried "$want" "$I" "${@//@/bad}" || { echo "$* ($kind)"; return 1; }
		elif [ "${as[0]-}" != none ]; then
			tried "$want" "${as[@]}" "$I" "${@//@/bad}" || { echo "$* ($kind)"; return 1; }
		fi
	done
}
fabrics() { # every command that takes a fabric, and both forms of it
	local f

	for f in one e/opensm-subnet.lst; do
		each "" $f route --engine updn --topology @ --strict && each "" $f deadlock --engine updn --topology @ --strict &&
			each "" $f compare --engines updn --topology @ --strict &&
			each "" $f check --topology @ --lfts e/opensm-lfts.dump --strict &&
			each "" $f paths --topology @ --lfts e/opensm-lfts.dump n0001 n0002 --strict &&
			each cut=3 $f --load @ -b -n 1 && each "" $f --load @ --strict -b -n 1 || return
	done
}
gaps() { # what is left of a fabric is loaded, its gaps are named with their lines, and it is marked
	local f

	for f in one e/opensm-subnet.lst; do
		spoilt cut $f
		tried 3 "$I" --load bad --json -n 1 && grep -q '"complete": false' out || { echo "$f: not marked"; return 1; }
		grep -q ' bad:[0-9]*: ' err && grep -q 'bad is incomplete ([0-9]* gaps)' err || { cat err; return 1; }
		tried 3 "$I" --load bad -b -n 1 && grep -q INCOMPLETE out || return
		tried 3 "$I" --load bad --screen overview && grep -q "the file is INCOMPLETE" out || { cat out; return 1; }
		tried 0 "$I" --load $f --json -n 1 && grep -q '"complete": true' out || return
		tried 0 "$I" route --engine updn --topology bad --json && grep -q ' bad:[0-9]*: ' err || return
		tried 1 "$I" --load $f --diff bad --json && grep -q '"complete": false' out || return
		tried 255 "$I" --load bad --strict --json -n 1 && grep -q 'bad:[0-9]*: .*; the file is incomplete ([0-9]* gaps)' err || return
	done
	"$I" --strict -b -n 1 2>err
	[ $? -eq 64 ] && grep -q -- '--strict needs --load' err
}
tables() {
	each "" e/opensm-lfts.dump check --topology one --lfts @ &&
		each "" e/opensm.fdbs check --topology one --fdbs @ &&
		each "" e/tables.ibr check --topology one --tables @ &&
		each "" e/opensm-lfts.dump dump-lfts --topology one --lfts @ &&
		each "" e/opensm.fdbs paths --topology one --fdbs @ n0001 n0002 &&
		each "" e/tables.ibr compare --engines updn --topology one --tables @ &&
		each "" e/tables.ibr deadlock --topology one --tables @ &&
		each "" e/opensm-lfts.dump --load one --lfts @ -b -n 1
}
levels() {
	each "" e/path-sl.dump check --topology one --lfts e/opensm-lfts.dump --path-sl @ &&
		each "" e/opensm-sl2vl.dump check --topology one --lfts e/opensm-lfts.dump --sl2vl @ &&
		each "" d/lid-choice.txt check --topology net --tables d/tables.ibr --lid-choice @
}
jobs_of_all() { # an empty list is one
	local c

	for c in "route --engine updn --topology one" "compare --engines updn --topology one" "--load one -b -n 1"; do
		# shellcheck disable=SC2086
		each "empty=0" jobs $c --jobs @ || return
	done
}
names_and_lists() {
	each "empty=0" names route --engine updn --topology one --node-name-map @ &&
		each "empty=0" names --load one --node-name-map @ -b -n 1 &&
		each "" roots route --engine updn --topology net --roots @ &&
		each "cut=0" demand route --engine parx --topology net --demand @ &&
		each "" ranks route --engine parx --topology net --demand rankdemand --ranks @ &&
		each "" racks --load one --racks @ -b -n 1
}
plans() {
	local c

	for c in "show @" "apply @ --yes-fabric x" "paths --plan @ a b" "dump-lfts --plan @"; do
		# shellcheck disable=SC2086
		each "" d/tables.ibr $c || return
	done
}
journals() { # one rule for an id that is none, and one for journals that cannot be read
	local c

	mkdir -p none && : >bad
	for c in status "attach" "confirm --yes-fabric x" "rollback --yes-fabric x" "extend" "override sm" "note text"; do
		# shellcheck disable=SC2086
		set -- ${c%% *} badid ${c#"${c%% *}"}
		tried 4 "$I" "$@" --state-dir none && tried 255 "$I" "$@" --state-dir bad || return
	done
}
settings() { # they stand for options; empty ones are fine
	local c

	for c in "--load one -b -n 1" sm status "plan -e updn" "config show"; do
		# shellcheck disable=SC2086
		each "all=64 empty=any" conf $c --config @ || return
	done
	each "all=1 empty=0" conf config check --config @
}
snapshots() { # no part of one is left out in silence
	local part kind

	for part in state.json jobs.json history.ibr tables.ibr fabric.ibnetdiscover; do
		for kind in empty cut garbage; do
			spoilt $kind snap/$part
			rm -rf bad.snap && cp -r snap bad.snap && mv bad bad.snap/$part
			tried 255 "$I" --load bad.snap -b -n 1 || { echo "$part $kind"; return 1; }
		done
	done
}
ok "fabrics" fabrics
ok "what is left of a fabric is loaded, and its gaps are told" gaps
ok "tables" tables
ok "service levels, SL2VL tables, choices of LIDs" levels
ok "jobs" jobs_of_all
ok "names, roots, demands, ranks, racks" names_and_lists
ok "plans" plans
ok "journals" journals
ok "configuration files" settings
ok "snapshots" snapshots
[ "${as[0]-}" != none ] || skip "nobody but root is here: files that cannot be read"
finish
