#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# hardening.sh [full]: programs and the plugin are built as distributions build theirs, and what a packager
# says in CPPFLAGS, CFLAGS and LDFLAGS is what they are built with.
#
# What hardening-check (devscripts) looks at is read here by readelf, so that make check needs no package for it;
# with full, and wherever it is installed, it is asked itself.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
B=${B:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
JUDGE_LOG=$work/log

# one line of what readelf says of $1
elf() { LC_ALL=C readelf -W "$2" "$1" | grep -E -- "$3"; }
is_pie() { elf "$1" -h 'Type: +DYN' && elf "$1" -d 'FLAGS_1.* PIE'; }
is_library() { elf "$1" -h 'Type: +DYN' && ! elf "$1" -d 'FLAGS_1.* PIE'; }
guards_its_stack() { elf "$1" --dyn-syms '__stack_chk_fail'; }
fortified() { elf "$1" --dyn-syms '__(snprintf|fprintf|printf|memcpy|vsnprintf|strcpy|strncpy|read|recv)_chk'; }
relocations_read_only() { elf "$1" -l 'GNU_RELRO'; }
binds_now() { elf "$1" -d 'BIND_NOW|FLAGS.* NOW'; }
stack_not_executable() { elf "$1" -l 'GNU_STACK.* RW ' ; }
# On x86 the linker marks a program for IBT and SHSTK when all that goes into it is marked.  So all of ours has to be,
# and where the program still is not, the linker says whose that is: Debian 12's start files and its libc_nonshared.a are
# not marked (nor is libc.so itself, so that the loader would turn it off for any program there).
not_marked_by_us() {
	local f

	for f in "$B/console/cli/main.o" "$B/libibroute.a" "$B"/engines/opensm/plugin/*.o; do
		[ -e "$f" ] || continue # no plugin is built
		LC_ALL=C readelf -nW "$f" | awk -v of="$f" '/^File: / { if (file && !marked) print file; file = $2; marked = 0 }
			/IBT, SHSTK/ { marked = 1 } END { if (!file) file = of; if (!marked) print file }'
	done
}
all_of_ours_is_marked() { [ -z "$(not_marked_by_us | tee /dev/stderr)" ]; }
# the program linked again, elsewhere
not_marked() {
	make --no-print-directory -n V=1 -W "$B/libibroute.a" "$B/ibroute-top" LDFLAGS=-Wl,-z,cet-report=warning |
		grep -F -- "-o $B/ibroute-top " | sed "s,-o $B/ibroute-top ,-o $work/linked ," >"$work/link"
	LC_ALL=C sh "$work/link" 2>&1 | sed -n 's/.*ld: \(.*\): warning: missing IBT.*/\1/p'
}
branches_marked() { elf "$1" -n 'IBT, SHSTK'; }
libc_dir() { dirname "$(readlink -f "$(${CC:-gcc} -print-file-name=libc_nonshared.a)")"; }
only_libc() {
	local f dir

	dir=$(libc_dir)
	while read -r f; do
		f=$(readlink -f "${f%%(*}")
		case ${f##*/} in *crt[1in].o | libc_nonshared.a) ;; *) echo "$f is none of the C library's"; return 1 ;; esac
		[ "${f%/*}" = "$dir" ] || { echo "$f is not in $dir"; return 1; }
	done <"$work/not"
}
hardening_check() {
	if [ ! -s "$work/not" ]; then hardening-check "$1"; else hardening-check --nocfprotection "$1"; fi
}

programs() {
	printf '%s\n' "$B/ibroute-top" "$B"/examples/*
	[ ! -e "$B/libibroute.so" ] || echo "$B/libibroute.so"
}

: >"$work/not"
if echo 'int x;' | ${CC:-gcc} -fcf-protection -x c -S -o "$work/x.s" - 2>/dev/null; then
	ok "all that is ours marks where branches may lead" all_of_ours_is_marked
	not_marked >"$work/not"
	[ ! -s "$work/not" ] || ok "what does not, and keeps the program from being marked, is the C library's: $(sed 's,.*/,,' "$work/not" |
		tr '\n' ' ')" only_libc
fi
for f in $(programs); do
	name=${f#"$B/"}
	case $f in
	*.so) ok "$name is a library" is_library "$f" ;;
	*) ok "$name may be loaded anywhere" is_pie "$f" ;;
	esac
	ok "$name guards its stack" guards_its_stack "$f"
	ok "$name asks the C library for checked calls" fortified "$f"
	ok "relocations of $name are read-only" relocations_read_only "$f"
	ok "$name binds at its start" binds_now "$f"
	ok "the stack of $name is not executable" stack_not_executable "$f"
	if grep -q 'IBT' <<<"$(LC_ALL=C readelf -nW "$B/console/cli/main.o")" && [ ! -s "$work/not" ]; then
		ok "$name marks where branches may lead" branches_marked "$f"
	fi
	if command -v hardening-check >/dev/null; then
		ok "hardening-check says so of $name" hardening_check "$f"
	elif [ "${1:-}" = full ]; then
		ok "hardening-check is there" false
	fi
done

# what would be run for a file and for the program, with a packager's flags
commands_with() { make --no-print-directory -n -B V=1 B="$work/b" WITH_OPENSM=1 "$@" 2>/dev/null; }
takes_all() { # target, words that must be in its command
	local target=$1 w

	shift
	commands_with "$target" CPPFLAGS=-DOF_THE_PACKAGER CFLAGS='-O1 -DMORE' LDFLAGS=-Wl,--build-id=sha1 |
		sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -F -- " -o $target" >"$work/command"
	cat "$work/command"
	for w; do grep -qF -- "$w" "$work/command" || { echo "$w is not in it"; return 1; }; done
}
ok "CPPFLAGS and CFLAGS of a packager are used" takes_all "$work/b/fabric/base/text/natural.o" -DOF_THE_PACKAGER '-O1 -DMORE' -fstack-protector-strong
ok "LDFLAGS for the program" takes_all "$work/b/ibroute-top" -Wl,--build-id=sha1 -Wl,-z,relro,-z,now
ok "LDFLAGS for the plugin" takes_all "$work/b/libibroute.so" -Wl,--build-id=sha1 -Wl,-z,relro,-z,now
ok "all of them for the client's example" takes_all "$work/b/examples/agent_client" -DOF_THE_PACKAGER '-O1 -DMORE' -Wl,--build-id=sha1
builds_with() { rm -rf "$work/b"; make --no-print-directory B="$work/b" WERROR=1 "$work/b/fabric/base/text/natural.o" "$@"; }
ok "a packager's own level of FORTIFY is no redefinition" builds_with CPPFLAGS=-D_FORTIFY_SOURCE=2
ok "without optimisation it is left out" builds_with CFLAGS='-O0 -g'
plain() { ! commands_with "$@" "$work/b/fabric/base/text/natural.o" | grep -E 'FORTIFY|stack-protector'; }
ok "a sanitizer's build has none of it" plain SAN=address
ok "nor has HARDEN=0" plain HARDEN=0
finish
