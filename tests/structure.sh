#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# structure.sh: layers and headers that compile alone.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
top_level() {
	! git ls-files | sed 's,/.*,,' | sort -u | grep -v '^\.' |
		grep -vxE 'Makefile|LICENSE|README.md|console|views|engines|fabric|tests|screenshots'
}
ok "the top level has its nine names and no more" top_level
ok "layers include only to the left" sh tests/layers.sh
ok "headers compile alone" make --no-print-directory headers
finish
