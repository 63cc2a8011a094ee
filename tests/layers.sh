#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# layers.sh: fabric <- engines <- views <- console; a file includes only its own layer and
# those to the left.  engines/verify includes nothing of the engines it judges, and curses is
# known to one file.
set -u
cd "$(dirname "$0")/.." || exit 2
bad=0
deny() { # folder, forbidden include pattern, why, folder in it that may
	hits=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]$2" "$1" --include='*.[ch]' \
		${4:+--exclude-dir="$4"} || true)
	if [ -n "$hits" ]; then
		printf '%s\n' "$hits"
		echo "  ^ $3"
		bad=1
	fi
}
deny fabric '(engines|views|console|tests)/' "fabric must not include from the layers to its right"
deny engines '(views|console|tests)/' "engines must not include from the layers to their right"
deny engines 'fabric/(ib|wire|sim|jobs|plan|update|agent|format)/' "engines are pure: only fabric/base and fabric/model" opensm
deny engines/opensm 'fabric/(sim|jobs)/' "the plugin needs no simulator and no batch system"
deny engines "(opensm|complib|iba)/" "only the plugin knows OpenSM" plugin
deny views '(console|tests)/' "views must not include from the console"
deny console 'tests/' "the program must not include tests"
for d in fabric engines views; do
	deny "$d" '(n?curses[.]h|term[.]h|ncursesw/)' "only console/app/terminal/terminal*.c know curses"
done
hits=$(grep -rlE '#[[:space:]]*include[[:space:]]*<(n?curses[.]h|term[.]h|ncursesw/)' console --include='*.[ch]' |
	grep -v '^console/app/terminal/terminal\(_keys\|_code\)\?\.c$' || true)
[ -n "$hits" ] && { echo "$hits: only console/app/terminal/terminal*.c may include curses"; bad=1; }
hits=$(grep -rnE '#include "engines/' engines/verify engines/metrics --include='*.[ch]' |
	grep -vE '"engines/(verify|metrics)/([a-z_]+/)?[a-z_]*\.h"' || true)
[ -n "$hits" ] && { echo "$hits"; echo "  ^ verify and metrics share no code with the engines"; bad=1; }
hits=$(grep -lE '<(slurm|infiniband)/' -r fabric engines views console --include='*.h' || true)
[ -n "$hits" ] && { echo "$hits: headers must not carry slurm or umad types"; bad=1; }
[ "$bad" -eq 0 ] && echo "layers: ok"
exit "$bad"
