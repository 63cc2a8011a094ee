#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks that page somebody: what a run of --check, and an exporter, tell that begin after a cable and
# a host were cut, after errors were counted between two runs, after a cable was moved and a host was
# renamed; and that it resolves by itself.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
LAB_TIMEOUT=60

lab_new || exit 1
state=$LAB_DIR/state

# As in a line of cron: a process of its own each time.
check() { does "$1" --check --jobs none -d 0.3 --state-dir "$state" "${@:2}"; }
readme() { check "$1" --view ports --filter 'errors>0 or problem=down' "${@:2}"; }
metric() { # regex: a line of the exporter has it
	top --prom --jobs none -d 0.3 --state-dir "$state" >"$LAB_DIR/prom" 2>/dev/null
	grep -qE -- "$1" "$LAB_DIR/prom" || { grep -E "finding|_sm_" "$LAB_DIR/prom"; return 1; }
}

lab_fabric "fattree2:leaves=4,spines=2,hosts=3" || give_up "the fabric"
lab_opensm "routing_engine updn" "sweep_interval 1" || give_up "opensm"
leaf=$(lab_node leaf2)
port=$(lab_port leaf2)
host=$(lab_node n0011)

ok "a first run learns the fabric" check 0
ok "into the state directory" eval 'grep -q "^# ibroute-top baseline 1: learnt" "$state"/baseline/fab-*.topology'
ok "so does the one of the README" readme 0
ok "the next has nothing to tell" check 0

lab_counter leaf2 "$port" PortCounters.SymbolErrorCounter=5000
lab_counter n0003 1 PortCounters.VL15Dropped=300
ok "5,000 symbol errors between two runs: 1" check 1
ok "with port and number" said "^leaf2/$port: SymbolErrorCounter rose by 5000 to 5000"
ok "of a port of a host, too" said '^n0003/1: VL15Dropped rose by 300 to 300'
ok "the run after that has nothing new to tell" check 0

lab_con "Unlink \"$leaf\"[$port]"
lab_con "Unlink \"$host\"[1]"
ok "a run that begins after a cable and a host were cut: 1" check 1
ok "the cable" said "^cable gone: leaf2/$port - spine[12]/"
ok "the host" said '^host gone: n0011'
ok "the line of the README" readme 1
ok "rows of down ports" readme 1 --json --fields a,a_port,b,problem
ok "have what was there" said '"b": "n0011"'
ok "the schema has it" eval 'top --json --check --jobs none -d 0.3 --state-dir "$state" >"$LAB_DIR/record" 2>/dev/null
	python3 "$LAB_ROOT/tests/schema.py" record "$LAB_DIR/record"'
ok "an exporter that begins now" metric '^ibroute_findings\{.*kind="gone"\} 2$'
ok "names them" grep -q 'ibroute_finding{.*what="host",subject="n0011"' "$LAB_DIR/prom"
ok "in a form that Prometheus takes" python3 "$LAB_ROOT/tests/prom.py" "$LAB_DIR/prom"
ok "with the port that is down" grep -qE "^ibroute_port_up\{.*switch=\"leaf2\",port=\"$port\",.*\} 0" "$LAB_DIR/prom"
ok "with the name that the fabric had" eval 'grep -q "fabric=\"$(basename "$state"/baseline/*.topology .topology)\"" "$LAB_DIR/prom"'

lab_con "ReLink \"$leaf\"[$port]"
lab_con "ReLink \"$host\"[1]"
ok "linked again: resolved" lab_wait 20 check 0

ok "accepted, it stays" does 0 baseline accept --state-dir "$state"
ok "so says the file" eval 'grep -q "^# ibroute-top baseline 1: accepted" "$state"/baseline/fab-*.topology'
sed -i 's/"n0005"/"n0500"/' "$state"/baseline/fab-*.topology
ok "edited by hand: another name than expected" check 1
ok "from and to" said 'renamed: n0500 -> n0005'
ok "shown" does 1 baseline show --state-dir "$state"
ok "with its state" said '12 host ports, 8 cables between switches, accepted 20'
ok "and its file" said '^file .*/baseline/fab-.*topology$'
ok "learnt again" does 0 baseline learn --state-dir "$state"
ok "nothing to tell" check 0

unset SLURM_CONF
if [ -e /etc/slurm/slurm.conf ]; then
	skip "this machine has a slurm.conf: plans without jobs"
else
	ok "sar without jobs, and nobody to ask: refused" does 64 plan -e sar --state-dir "$state"
	ok "with what to say" said 'there is no SLURM here to ask: --jobs FILE names them, --jobs none does without'
	ok "said so, it plans" does 0 plan -e sar --jobs none --state-dir "$state"
	ok "others need none" does 0 plan -e minhop --state-dir "$state"
	ok "--check does not wait for one" does 0 --check -d 0.3 --state-dir "$state"
fi

lab_opensm_stop
ok "without opensm the exporter says so" metric '^ibroute_sm_up\{.*\} 0'
finish
