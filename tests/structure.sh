#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# structure.sh: layers, headers that compile alone, no circles, no name twice (structure.py).
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
B=${B:-build}
top_level() {
	! git ls-files | sed 's,/.*,,' | sort -u | grep -v '^\.' |
		grep -vxE 'Makefile|LICENSE|README.md|CONTRIBUTING.md|CHANGES.md|debian|console|views|engines|fabric|tests|screenshots'
}
# every folder that has files of its own
tree_is_told() {
	local bad=0

	git ls-files fabric engines views console | sed 's,/[^/]*$,,' | sort -u >"$work/is"
	sed -n '/^## The tree/,/^## The seams/p' CONTRIBUTING.md | sed -n 's/^| \(`.*`\) |.*/\1/p' | grep -oE '`[^`]+`' |
		tr -d '`' | grep -E '^(fabric|engines|views|console)' | sort -u >"$work/told"
	diff "$work/is" "$work/told" || bad=1
	grep -oE '`(fabric|engines|views|console|tests)/[a-z_/.-]+`' CONTRIBUTING.md | tr -d '`' | grep -v NAME | sort -u |
		while read -r f; do [ -e "$f" ] || { echo "$f does not exist"; exit 1; }; done || bad=1
	return $bad
}
# a dozen nouns, each with its header
handful() {
	! git ls-files fabric engines views console | grep '\.[ch]$' | sed 's,/[^/]*$,,' | uniq -c |
		awk '$1 > 24 {print $2 " has " $1 " files: cut it along its nouns"}' | grep .
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ok "the top level has its eleven names and no more" top_level
ok "the folders are those of CONTRIBUTING.md, and its files exist" tree_is_told
ok "no folder has more than 24 files" handful
ok "layers include only to the left" sh tests/layers.sh
ok "headers compile alone" make --no-print-directory headers
ok "the object files are there" make --no-print-directory -s -j2 all
ok "no circle of files" python3 tests/structure.py files "$B"
ok "no circle of folders" python3 tests/structure.py folders "$B"
ok "no function name is defined in two files" python3 tests/structure.py names
finish
