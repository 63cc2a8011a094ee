#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# reroute.sh FABRIC [OPTION OF plan...]: new routes for the jobs that run, from watching to the report,
# with nobody there.  Leaves all it found in a folder; exits as ibroute-top does, 0: kept, or no change.
set -eu
fabric=$1
shift
[ $# -gt 0 ] || set -- -e sar
records=${IBROUTE_RECORD_DIR:-/var/log/ibroute-top}
dir=reroute-$(date +%Y%m%dT%H%M%S)
mkdir "$dir" && cd "$dir"

watch() { # FILE: three polls as JSON lines; fails when a port has a problem or does not answer
	ibroute-top --jsonl -n 3 --check --view ports --filter 'problem!=none' >"$1"
}

watch before.jsonl || { echo "reroute: see the ports in $dir/before.jsonl" >&2; exit 4; }

rc=0
ibroute-top plan "$@" --fabric "$fabric" --jobs slurm -o new.plan --detailed-exitcode >plan.txt || rc=$?
[ "$rc" -eq 2 ] || exit "$rc" # 0: there is nothing to change
rc=0
ibroute-top show new.plan --json >plan.json

# Agents of the jobs drain, all is written and read back, agents return; then it waits.
id=$(ibroute-top apply new.plan --jobs slurm --yes-fabric "$fabric" --no-input --detach | tail -n 1)
ibroute-top status "$id" --wait 600 --json >status.json || [ $? -eq 1 ]

if watch after.jsonl; then
	ibroute-top confirm "$id" --yes-fabric "$fabric" >end.txt || rc=$?
else
	ibroute-top rollback "$id" --yes-fabric "$fabric" >end.txt || rc=$?
	case $rc in 0 | 4) rc=5 ;; esac # 4: the watchdog saw it first
fi
ibroute-top audit export --report "$id" -o report.md "$records"
ibroute-top audit verify "$records"
exit "$rc"
