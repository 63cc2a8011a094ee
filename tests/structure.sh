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
ok "the top level has its eleven names and no more" top_level
ok "layers include only to the left" sh tests/layers.sh
ok "headers compile alone" make --no-print-directory headers
ok "the object files are there" make --no-print-directory -s -j2 all
ok "no circle of files" python3 tests/structure.py files "$B"
ok "no circle of folders" python3 tests/structure.py folders "$B"
ok "no function name is defined in two files" python3 tests/structure.py names
finish
