# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh, to be sourced: the checks of a script, counted.
#
#   ok WHAT COMMAND...   one check; returns 1 when it failed.  With JUDGE_LOG set, what the command
#                        prints goes there and is shown only when it fails; else the command
#                        itself says why.  A function not_ok() of the caller is called, too.
#   skip WHAT            a check that cannot be made here
#   give_up WHAT         one that failed, and without which the rest means nothing
#   records_whole DIR    audit verify accepts every record of a session beneath it, the screens too
#   finish               checks the records beneath RECORDS or LAB_DIR, when there are any (not what
#                        is beneath a folder called tampered), prints the counts, adds "NAME PASSED FAILED SKIPPED" to $COUNTS (run.sh)
#                        and ends the script; cleaning up is the business of its EXIT trap
passed=0 failed=0 skipped=0
JUDGE_LOG=

judge_run() {
	if [ -n "$JUDGE_LOG" ]; then "$@" >"$JUDGE_LOG" 2>&1; else "$@"; fi
}

ok() {
	local what=$1
	shift
	if judge_run "$@"; then
		passed=$((passed + 1))
		echo "ok - $what"
		return 0
	fi
	failed=$((failed + 1))
	echo "not ok - $what"
	[ -z "$JUDGE_LOG" ] || tail -n 8 "$JUDGE_LOG" | sed 's/^/  # /'
	! declare -F not_ok >/dev/null || not_ok
	return 1
}

skip() {
	skipped=$((skipped + 1))
	echo "SKIP $*"
}

give_up() {
	failed=$((failed + 1))
	echo "not ok - $*"
	finish
}

records_of() {
	find "$1" -name tampered -prune -o -name '*.jsonl' -type f -print 2>/dev/null | sort |
		xargs -r -d '\n' grep -lE -m 1 '"type": ?"(session.start|record.part)"' 2>/dev/null
}

records_whole() {
	local list said rc=0

	said=$(mktemp) || return 1
	mapfile -t list < <(records_of "$1")
	"${IBROUTE_TOP:-${I:-build/ibroute-top}}" audit verify "${list[@]}" >"$said" 2>&1 || rc=1
	[ "$rc" = 0 ] || grep -v '^  ' "$said" | grep -v 'all intact' >&2
	rm -f "$said"
	return $rc
}

finish() {
	local name records=${RECORDS:-${LAB_DIR:-}}

	if [ -d "${records:-/nowhere}" ] && [ -n "$(records_of "$records" | head -n 1)" ]; then
		ok "every record of its sessions is as it was written" records_whole "$records"
	fi
	name=$(basename "$0" .sh)
	echo "$name: $passed passed, $failed failed, $skipped skipped"
	[ -z "${COUNTS:-}" ] || echo "$name $passed $failed $skipped" >>"$COUNTS"
	exit $((failed > 0))
}
