#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# reroute.sh FABRIC [--min-gain PERCENT] [OPTION OF plan...]: unattended reroute for the running jobs, up to
# the report.  Leaves its files in a folder; exits like ibroute-top, 0: confirmed, or no change, or too little gain.
# As plan.txt says: ACCEPT_STRANGERS=1: hosts of no job may have to drain, ACCEPT_SLOWER=1: jobs may get slower.
set -eu
fabric=$1
shift
case " $*" in *" -e"* | *" --engine"* | *" --tables"*) ;; *) set -- -e sar "$@" ;; esac
records=${IBROUTE_RECORD_DIR:-/var/log/ibroute-top}
dir=reroute-$(date +%Y%m%dT%H%M%S)
mkdir "$dir" && cd "$dir"

watch() { # FILE: three polls as JSON lines; fails when a port has a problem or does not respond
	ibroute-top --jsonl -n 3 --check --view ports --filter 'problem!=none' >"$1"
}

watch before.jsonl || { echo "reroute: see the ports in $dir/before.jsonl" >&2; exit 4; }

rc=0
ibroute-top plan "$@" --fabric "$fabric" --jobs slurm -o new.plan --detailed-exitcode >plan.txt || rc=$?
[ "$rc" -eq 2 ] || exit "$rc" # 0: nothing to change, or --min-gain is not reached
rc=0
ibroute-top show new.plan --json >plan.json

# Jobs drain, everything is written and read back, jobs return; then it waits for the confirmation.
id=$(ibroute-top apply new.plan --jobs slurm ${ACCEPT_STRANGERS:+--accept-strangers} ${ACCEPT_SLOWER:+--accept-slower} \
	--yes-fabric "$fabric" --no-input --detach | tail -n 1)
ibroute-top status "$id" --wait 600 --json >status.json || [ $? -eq 1 ]

if watch after.jsonl; then
	ibroute-top confirm "$id" --yes-fabric "$fabric" >end.txt || rc=$?
else
	ibroute-top rollback "$id" --yes-fabric "$fabric" >end.txt || rc=$?
	case $rc in 0 | 4) rc=5 ;; esac # 4: the watchdog was first
fi
ibroute-top audit export --report "$id" -o report.md "$records"
ibroute-top audit verify "$records"
exit "$rc"
