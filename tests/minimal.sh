#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# minimal.sh: the program without libibumad, libslurm, libmicrohttpd, libpng and FreeType: it builds, works on files, and says
# what it cannot do.  Objects are taken over from the usual build, but for those of files that
# look at these.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
B=${B:-build}
M=build-min
I=$M/ibroute-top
work=$(mktemp -d)
trap 'rm -rf "$work" "$M"' EXIT
JUDGE_LOG=$work/log

build() {
	local f

	rm -rf "$M" && mkdir "$M" && cp -a "$B/fabric" "$B/engines" "$B/views" "$B/console" "$M/" || return
	grep -rqE 'WITH_(UMAD|SLURM|MICROHTTPD|PNG)' --include='*.h' fabric engines views console && find "$M" -name '*.o' -delete
	for f in $(grep -rlE 'WITH_(UMAD|SLURM|MICROHTTPD|PNG)' --include='*.c' fabric engines views console); do
		rm "$M/${f%.c}.o" || return
	done
	make --no-print-directory -j2 B="$M" WITH_UMAD=0 WITH_SLURM=0 WITH_MICROHTTPD=0 WITH_PNG=0 WITH_OPENSM=0 WERROR=1 all
}

needs_neither() { ! ldd "$I" | grep -E 'libibumad|libibmad|libslurm|libmicrohttpd|libpng|libfreetype'; }
makes_a_net() { "$I" topo fattree2:leaves=4,spines=2,hosts=4 >"$work/net" && grep -c '^Switch' "$work/net"; }
routes() { "$I" route --engine sar --topology "$work/net" --out "$work/out"; }
judges() { "$I" check --topology "$work/net" --tables "$work/out/tables.ibr"; }
refuses() { # exit code, command...: with the reason
	local want=$1 rc
	shift
	"$@" >"$work/out.txt" 2>&1 </dev/null
	rc=$?
	cat "$work/out.txt"
	[ "$rc" -eq "$want" ] && grep -q 'built without libibumad' "$work/out.txt"
}

no_picture() { # and no file
	"$I" --demo=fattree2:leaves=2,spines=2,hosts=2 --screen heatmap --do "export $work/x.png" >/dev/null 2>"$work/out.txt"
	[ $? -eq 1 ] && [ ! -e "$work/x.png" ] && grep -q 'built without libpng and FreeType' "$work/out.txt"
}

ok "it builds" build || finish
ok "it needs none of the libraries" needs_neither
ok "help" "$I" --help
ok "topo" makes_a_net
ok "route" routes
ok "check" judges
ok "plan says what it lacks" refuses 255 "$I" plan -e sar
ok "a PNG says what it lacks" no_picture
ok "so does the console" refuses 255 env TERM=xterm script -qec "$I" /dev/null
finish
