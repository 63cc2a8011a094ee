#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# docs.sh: the manual page, the completion of shells and the pages that people wrote speak of the
# program as it is: each option, key, command and engine is there, and nothing that is not.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
top=$PWD
I=$top/${B:-build}/ibroute-top
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
JUDGE_LOG=$work/log
PAGES="README.md console/manual/*.md console/manual/ibroute-top.1.in"
export ARGP_HELP_FMT=rmargin=200

commands() { "$I" --help | sed -n 's/^  ibroute-top \([a-z-]*\) .*/\1/p'; }
long_options() { grep -oE -- '--[a-z][a-zA-Z0-9_-]+' | sort -u; }

page_is_clean() {
	"$I" manual >"$work/page" || return
	LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$work/page" 2>&1 >/dev/null | tee "$work/warn"
	[ ! -s "$work/warn" ]
}
# the plugin and the records take it from the same header: lab-plugin and audit.sh read theirs
one_version() {
	local v

	v=$("$I" --version | sed -n 's/^ibroute-top //p')
	echo "--version: $v"
	[ "$v" ] && grep -qF "ibroute\\-top $v\"" "$work/page" && grep -qE "^## ${v//./\\.}( |\$)" CHANGES.md &&
		[ "$(sed -n 's/^## //p' CHANGES.md | head -n 1 | cut -d ' ' -f 1)" = "$v" ]
}
page_text() { LC_ALL=C.UTF-8 MANWIDTH=1000 MAN_KEEP_FORMATTING= man -E UTF-8 -l "$work/page" | col -bx >"$work/text"; [ -s "$work/text" ]; }

# what each --help lists in its first columns
told_options() { "$I" $1 --help | sed -nE 's/^ {2,6}(-.*)/\1/p' | sed 's/   .*//' | grep -oE -- '--[a-zA-Z][a-zA-Z0-9_-]+'; }
page_has_options() { # command
	local o missing=0 from="^   $1: " to='^(   [a-z]|[A-Z])'

	[ "$1" ] || from='^OPTIONS OF THE CONSOLE'
	awk -v from="$from" -v to="$to" '$0 ~ from {on = 1; print; next} on && $0 ~ to {exit} on' "$work/text" >"$work/section"
	[ -s "$work/section" ] || { echo "no section"; return 1; }
	for o in $(told_options "$1"); do
		case $o in --help | --usage | --version) continue ;; esac
		grep -qE -- "^ *(-., |--[a-z-]+, )*$o(\[|=|,| |\$)" "$work/section" || { echo "$o is missing"; missing=1; }
	done
	return $missing
}
completes_options() { # command
	local o missing=0 empty="''"

	for o in $(told_options "$1"); do
		bash_words ibroute-top $1 "$o" | grep -qxE -- "$o=?" || { echo "bash: $o"; missing=1; }
		awk -v c="	${1:-$empty}) _arguments" 'index($0, c) == 1 {on = 1} on; on && /;;$/ {exit}' "$work/zsh" | grep -qF -- "$o" ||
			{ echo "zsh: $o"; missing=1; }
	done
	return $missing
}
# what bash would offer for the last word
bash_words() {
	bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ibroute_top 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$work/bash" "$@"
}
offers() { # wanted, words...
	local want=$1
	shift
	bash_words "$@" >"$work/offer"
	cat "$work/offer"
	grep -qx -- "$want" "$work/offer"
}
# those that the golden screen of the help view shows, with what it says of them
page_has_keys() {
	local missing=0 n=0 help

	while read -r help; do
		n=$((n + 1))
		tr -s ' ' <"$work/text" | grep -qF -- "$help" || { echo "$help"; missing=1; }
	done < <(head -n -3 tests/screens/help-200x60.txt | sed -n '/^-- Everywhere/,/^-- Mouse/p' | grep -v '^  Up k ' | sed -nE 's/^  ?[^ ].{9}(.*)/\1/p')
	[ $n -ge 20 ] && [ $missing -eq 0 ]
}
only_real_options() { # page: options it speaks of are in some --help, or another program's
	local o bad=0

	for o in $(long_options <"$1"); do
		grep -qxF -- "$o" "$work/known" || { echo "$1 speaks of $o"; bad=1; }
	done
	return $bad
}
only_real_commands() {
	local c bad=0

	for c in $(grep -ohE '(^|[^a-z/-])ibroute\\?-top [a-z]+(-[a-z]+)*' "$1" | sed 's/.*top //' | sort -u); do
		commands | grep -qx "$c" || case $c in
		show | is | in | and | on | for | to | as | does | can | from | has) ;;
		*) echo "$1 speaks of ibroute-top $c"; bad=1 ;;
		esac
	done
	return $bad
}
links_lead_somewhere() {
	local p bad=0

	for p in $(grep -oE '\]\([^)#]+' "$1" | sed 's/^](//' | grep -v '^https*:'); do
		[ -e "$(dirname "$1")/$p" ] || { echo "$1: $p does not exist"; bad=1; }
	done
	return $bad
}
every_engine_is_explained() { # page
	local e bad=0

	for e in $("$I" route --help | sed -n '/^Engines:/,$s/^  \([a-z]*\) .*/\1/p'); do
		grep -q "\`$e\`" "$1" || { echo "$1 says nothing of $e"; bad=1; }
	done
	return $bad
}

"$I" completion bash >"$work/bash" 2>/dev/null
"$I" completion zsh >"$work/zsh" 2>/dev/null
{
	told_options ""
	for c in $(commands); do told_options "$c"; done
	printf '%s\n' --help --usage --version --prefix --now --overlap --ntasks-per-node --json --cache
} | sort -u >"$work/known"

ok "the manual page has no warning of man" page_is_clean || finish
ok "it is text" page_text
ok "program, manual page, schema and CHANGES.md tell one version" one_version
ok "it has the keys of the keymap" page_has_keys
scripts_name_options() {
	local o bad=0

	for o in $("$I" manual | sed -n '/^\.SH KEYS IN SCRIPTS/,/^\.SH FILTERS/p' | sed 's/\\-/-/g' | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
		grep -qxF -- "$o" "$work/known" || { echo "$o is no option"; bad=1; }
	done
	return $bad
}
ok "what scripts say instead of keys are options that exist" scripts_name_options
# the kinds of lines of a record
kinds() { python3 -c 'import json; print(*json.load(open("console/schema.json"))["$defs"]["audit_line"]["properties"]["type"]["enum"], sep="\n")' | sort; }
page_has_kinds() {
	diff <(kinds) <(sed -n '/^\.SH THE RECORD/,/^\.SH EXIT/p' console/manual/ibroute-top.1.in |
		sed -n 's/^\.B \([a-z0-9]*\.[a-z].*\|.*note, error\|watch,.*\|confirm,.*\|auto,.*\)$/\1/p' | tr -d ' ' | tr , '\n' | sort)
}
ok "it has each kind of line of a record" page_has_kinds
ok "the completion for bash is good bash" bash -n "$work/bash"
ok "the completion for zsh is good zsh" zsh -n "$work/zsh"
ok "bash offers commands" offers rollback ibroute-top ro
ok "bash offers engines after --engine" offers dfdn ibroute-top route --engine ''
ok "bash offers engines after --engine=" offers dfdn ibroute-top route --engine = d
ok "bash offers the words of --installer" offers smp ibroute-top apply --installer = s
ok "bash offers views" offers tiers ibroute-top --view ''
ok "bash offers fields behind fields" offers 'a,util_pct' ibroute-top --view links --fields a,ut
ok "bash offers what audit does" offers export ibroute-top audit ''
ok "bash offers what config does" offers check ibroute-top config ''
# a name that ends in = must not get a backslash before it
plain_names() { ! grep -q '^complete .*filenames' "$work/bash"; }
ok "bash leaves = as it is" plain_names
# as the README has it, and as a file of fpath, where zsh makes the function of it
in_zsh() {
	zsh -fc 'autoload -U compinit; compinit -u -D; source $1 && [[ $_comps[ibroute-top] == _ibroute_top ]]' zsh "$work/zsh" &&
		mkdir -p "$work/fpath" && cp "$work/zsh" "$work/fpath/_ibroute-top" &&
		zsh -fc 'fpath=($1 $fpath); autoload -U compinit; compinit -u -D; [[ $_comps[ibroute-top] == _ibroute-top ]]' zsh "$work/fpath"
}
ok "zsh takes it from source and from fpath" in_zsh
ok "bash offers folders" offers tests ibroute-top route --out tes
for c in "" $(commands); do
	ok "the page has all options of '${c:-ibroute-top}'" page_has_options "$c"
	ok "shells complete all options of '${c:-ibroute-top}'" completes_options "$c"
done
for p in $PAGES; do
	ok "$p speaks of options that exist" only_real_options "$p"
	ok "$p speaks of commands that exist" only_real_commands "$p"
	case $p in *.md) ok "links of $p lead somewhere" links_lead_somewhere "$p" ;; esac
done
ok "no text uses a word that the glossary replaces" python3 tests/words.py
# files and sockets there have names that nobody can guess, in what people copy and in what is run
only_told='^tests/docs.sh|console.sh:[0-9]*:.theirs=|test_planfile.c.*(path-sl|opensm-lfts)|test_view_(apply|table).c' # nothing is there, or what somebody else has made
nothing_guessable_in_tmp() {
	! git grep -nE '(/tmp|/var/tmp|/dev/shm|TMPDIR[^ ]*)"?/"?[A-Za-z0-9$%{]' -- README.md console fabric engines views tests/bench tests/fuzz tests/lab \
		tests/unit tests/*.sh tests/*.py | grep -vE 'XXXXXX|debian/tmp/|TMPDIR="\$(LAB_DIR|work)|ibroute-never' | grep -vE "$only_told"
}
ok "no text and no program uses a name below /tmp that can be guessed" nothing_guessable_in_tmp
# what the pages show is run as it stands there: here what needs files alone, in tests/lab/examples.sh what needs a fabric
example_files() (
	mkdir "$work/bin" "$work/ex" && ln -s "$I" "$work/bin/ibroute-top" || return
	cd "$work/ex" && ibroute-top topo fattree2:leaves=4,spines=2,hosts=4 >FILE &&
		printf 'jobid,start,end,nodelist\n1,2026-11-20T06:00:00Z,2026-11-20T12:00:00Z,"n[0001-0006]"\n2,2026-11-20T07:00:00Z,2026-11-20T11:00:00Z,"n[0007-0016]"\n' >HISTORY &&
		cp HISTORY jobs.csv
)
PATH=$work/bin:$PATH
ok "every example of the pages is run, or listed with the reason why not" python3 tests/examples.py list
ok "files for them" example_files
while IFS= read -r line; do
	case $line in
	"ok - "*) passed=$((passed + 1)) ;;
	"not ok - "*) failed=$((failed + 1)) ;;
	esac
	echo "$line"
done < <(cd "$work/ex" && HOME=$work timeout 240 python3 "$top/tests/examples.py" run files)
ok "README explains every engine" every_engine_is_explained README.md
[ -e console/manual/theory.md ] && ok "theory.md explains every engine" every_engine_is_explained console/manual/theory.md
finish
