#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# commands.sh: plan, apply, rollback, confirm, status and audit on ibsim with a stock opensm;
# dump_fts, which is not ours, says what is in the switches.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

# The same with somebody at the terminal, who answers each question for the fabric's name
# with the next of the words, and the ones that are missing with silence.
typed() { # expected exit code, words, words of the program
	local want=$1 words=$2 rc
	shift 2
	lab_on n0002 python3 - "$words" "$IBROUTE_TOP" "$@" >"$LAB_DIR/out" 2>&1 <<-'PY'
		import os, pty, sys
		words, text = sys.argv[1].split(), b''
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[2], sys.argv[2:])
		asked = 0
		while True:
		    try:
		        data = os.read(fd, 4096)
		    except OSError:
		        break
		    if not data:
		        break
		    sys.stdout.buffer.write(data)
		    text += data
		    # what is told meanwhile may come right behind the question
		    if text.count(b'Type the name') > asked and b': ' in text[text.rfind(b'Type the name'):]:
		        asked += 1
		        if asked <= len(words):
		            os.write(fd, words[asked - 1].encode() + b'\n')
		sys.stdout.flush()
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
	PY
	rc=$?
	[ "$rc" -eq "$want" ] && return 0
	echo "# $1: exit $rc, not $want"
	sed 's/^/# /' "$LAB_DIR/out" | tail -n 5
	return 1
}

# Kills the watchdog, guard and worker at once, when its journal says that writing has begun and so
# many datagrams more have left it: one to each switch to ask who it is, then one for each block.
kill_in_the_middle() { # datagrams
	local rc waiting
	typed 6 lab1 apply --accept-slower "$LAB_DIR/back.plan" "${dirs[@]}" --outstanding_smps 1 &
	waiting=$!
	python3 - "$LAB_DIR/state" "$1" <<-'PY'
		import os, re, signal, sys, time
		base, more = sys.argv[1], int(sys.argv[2])
		known, end = set(os.listdir(base)), time.time() + 15

		def sent(pid):
		    return int(re.search(r'syscw: (\d+)', open('/proc/%d/io' % pid).read()).group(1))

		def txn():
		    while time.time() < end:
		        for t in set(os.listdir(base)) - known:
		            if not t.startswith('.') and ' writing ' in open(base + '/' + t + '/state.log').read():
		                return t
		        time.sleep(0.0002)
		    sys.exit(1)

		try: # it must not wait for its turn while all is written
		    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
		except OSError:
		    pass

		id = txn()
		pid, guard = [int(re.search(r'process (\d+)', open(base + '/' + id + '/' + f).read()).group(1))
		              for f in ('lock', 'guard')]
		first = sent(pid)
		while sent(pid) < first + more and time.time() < end:
		    pass
		for p in (pid, guard):
		    os.kill(p, signal.SIGSTOP)
		for p in (guard, pid):
		    os.kill(p, signal.SIGKILL)
	PY
	rc=$?
	wait "$waiting"
	told=$?
	return "$rc"
}

# Some entries differ, and some that the plan would have changed do not.
mixture() {
	local changed all
	changed=$(diff "$1" "$2" | grep -c '^>')
	all=$(sed -n 's/.*LFT blocks (\([0-9]*\) entries.*/\1/p' "$LAB_DIR/plan.out")
	echo "# $changed of $all entries were written"
	[ "$changed" -gt 0 ] && [ "$changed" -lt "$all" ]
}

unchanged() { # two files of tables: they differ, but not in the lines of a regex, of 3 LIDs at 40 switches
	grep -E "$3" "$1" >"$LAB_DIR/was"
	[ "$(wc -l <"$LAB_DIR/was")" -eq 120 ] && grep -E "$3" "$2" | cmp -s - "$LAB_DIR/was" && ! cmp -s "$1" "$2"
}

unfinished() {
	top status --state-dir "$LAB_DIR/state" --json |
		python3 -c 'import json, sys
for t in json.load(sys.stdin)["transactions"]:
    if not t["finished"]: print(t["id"])'
}

lab_new || exit 1
lab_fabric fattree2:leaves=30,spines=10,hosts=12,lids=random || give_up "the fabric"
lab_opensm "routing_engine minhop" || give_up "opensm"
printf '1 n[0001-0006,0037-0042]\n2 n[0007-0024]\n3 n[0061-0072,0109-0120]\n' >"$LAB_DIR/jobs"
lab_lfts >"$LAB_DIR/t0"

ok "plan from an engine" does 0 plan -e sar:paper --fabric lab1 --jobs "$LAB_DIR/jobs" -o "$LAB_DIR/p.plan"
ok "plan tells changes by its exit code" does 2 plan -e sar:paper --jobs "$LAB_DIR/jobs" --detailed-exitcode --json
ok "and as JSON" python3 -c 'import json, sys; json.JSONDecoder().raw_decode(open(sys.argv[1]).read())[0]["after"]["efi_max"]' "$LAB_DIR/out"
ok "and in how many waves" python3 -c 'import json, sys; assert json.JSONDecoder().raw_decode(open(sys.argv[1]).read())[0]["transition"]["waves"] > 0' "$LAB_DIR/out"
ok "plan leaves alone what is pinned" does 0 plan -e sar:paper --jobs "$LAB_DIR/jobs" --pin job:1 --json
ok "and who runs there" python3 -c 'import json, sys
p, _ = json.JSONDecoder().raw_decode(open(sys.argv[1]).read()) # notes follow, from stderr
assert p["after"]["pinned"] == {"hosts": 12, "changed": 0} and p["lft_entries"] > 0
assert {j["id"] for j in p["transition"]["drain_jobs"]} == {2, 3}, p["transition"]' "$LAB_DIR/out"
ok "plan has written nothing" same "$LAB_DIR/t0"
ok "nobody to ask: apply is refused" does 64 apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}"
ok "another fabric's name is refused" does 64 apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}" --yes-fabric lab2
: >"$LAB_DIR/file"
ok "no record, no update" does 8 apply --accept-slower "$LAB_DIR/p.plan" --record-dir "$LAB_DIR/file" --state-dir "$LAB_DIR/state" --yes-fabric lab1
ok "nothing of that has written" same "$LAB_DIR/t0"

ok "not confirmed by name: rolled back" typed 5 'lab1 yes' apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}"
ok "and the old tables are back" same "$LAB_DIR/t0"
ok "nobody confirms in time: rolled back" typed 7 lab1 apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}" --confirm-timeout 1
ok "and the old tables are back" same "$LAB_DIR/t0"
ok "begun and confirmed by name" typed 0 'lab1 lab1' apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}"
lab_lfts >"$LAB_DIR/t1"
ok "new tables are in the switches" bash -c "! cmp -s '$LAB_DIR/t0' '$LAB_DIR/t1' && [ -s '$LAB_DIR/t1' ]"
ok "the same plan is refused now" does 4 apply --accept-slower "$LAB_DIR/p.plan" "${dirs[@]}" --yes-fabric lab1
ok "and says why" said "plan .* is already installed"
ok "all finished" does 0 status --state-dir "$LAB_DIR/state"

ok "plan back to minhop" does 0 plan -e minhop --fabric lab1 -o "$LAB_DIR/back.plan"
cp "$LAB_DIR/out" "$LAB_DIR/plan.out"
# on a busy machine the blow may come too late: then once more
for n in 70 90 60 110 80; do
	kill_in_the_middle "$n"
	lab_lfts >"$LAB_DIR/t2"
	mixture "$LAB_DIR/t1" "$LAB_DIR/t2" && break
	does 0 rollback "$(unfinished)" "${dirs[@]}" --yes-fabric lab1
done
ok "killed in the middle of its writes" mixture "$LAB_DIR/t1" "$LAB_DIR/t2"
ok "who waits for it is told: rollback incomplete, exit code 6" [ "$told" -eq 0 ]
ok "an unfinished update is found" does 1 status --state-dir "$LAB_DIR/state"
ok "it keeps the next one out" does 4 apply --accept-slower "$LAB_DIR/back.plan" "${dirs[@]}" --yes-fabric lab1
id=$(unfinished)
ok "it cannot be confirmed" does 4 confirm "$id" "${dirs[@]}" --yes-fabric lab1
ok "it is rolled back from its journal" does 0 rollback "$id" "${dirs[@]}" --yes-fabric lab1
ok "the tables are those of before" same "$LAB_DIR/t1"
ok "all finished" does 0 status --state-dir "$LAB_DIR/state"

# maintenance of a spine; then its routes again, but for three hosts, whose stay
lab_on n0003 ibnetdiscover >"$LAB_DIR/seen"
ok "ways pass spine01" [ "$(lab_passing spine01 "$LAB_DIR/seen")" -gt 0 ]
ok "a plan around spine01" does 0 plan -e sar:paper --jobs "$LAB_DIR/jobs" --exclude spine01 --fabric lab1 -o "$LAB_DIR/around.plan"
ok "applied and confirmed" does 0 apply --accept-slower "$LAB_DIR/around.plan" "${dirs[@]}" --yes-fabric lab1 --no-input
ok "nothing passes spine01" lab_nothing_passes spine01 "$LAB_DIR/seen"
lab_lfts >"$LAB_DIR/t3"
ok "a plan for all of the fabric, but for three hosts" does 0 plan -e minhop --pin 'n[0001-0002,0200]' --fabric lab1 -o "$LAB_DIR/pin.plan"
ok "applied and confirmed" does 0 apply --accept-slower "$LAB_DIR/pin.plan" "${dirs[@]}" --yes-fabric lab1 --no-input
lab_lfts >"$LAB_DIR/t4"
ok "ways pass spine01 again" [ "$(lab_passing spine01 "$LAB_DIR/seen")" -gt 0 ]
lids=$(for h in n0001 n0002 n0200; do printf '|0x%04x' "$(lab_lid $h)"; done)
ok "and none to the three has changed" unchanged "$LAB_DIR/t3" "$LAB_DIR/t4" " (${lids#|}) "

ok "every record is as it was written" does 0 audit verify "$LAB_DIR"/rec/*.jsonl
mkdir "$LAB_DIR/tampered"
cp "$(grep -l '"type":"lft.write"' "$LAB_DIR"/rec/*.jsonl | head -n 1)" "$LAB_DIR/tampered"
one=$(ls "$LAB_DIR"/tampered/*.jsonl)
sed -i '0,/"type":"lft.write"/s//"type":"lft.wrote"/' "$one"
ok "an edited line is found" does 1 audit verify "$one"
ok "and named" said ":[0-9]*: changed after it was written"
finish
