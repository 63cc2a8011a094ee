#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# audit.sh: the record of a real session on the demo's fabric: what it says, every change to any of
# its lines found by us and by six lines of sh, the screen played by asciinema and by us, places in
# it, a full disk, secrets, and what is kept.
set -u
cd "$(dirname "$0")/.." || exit 2
top=$PWD
I=$top/${B:-build}/ibroute-top
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
. tests/tty.sh
. tests/judge.sh
work=$(mktemp -d)
cd "$work" || exit 2
export HOME=$work
RECORDS=$work
dirs=(--record-dir "$work/rec" --state-dir "$work/state")
trap 'tty_stop; rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM

not() { ! "$@" >/dev/null 2>&1; }
newest() { ls -t "$work"/rec/*.jsonl | head -n 1; }
# of the watchdog that carried the update out: it has the phases, the console's has what was asked for
update_record() { grep -l '"type":"apply.begin"' "$work"/rec/*.jsonl | head -n 1; }
start() { # SIZE [OPTION...]
	local size=$1
	shift
	tty_start "$size" env TERM=screen-256color "$I" --demo="fattree2:leaves=6,spines=3,hosts=6" \
		"${dirs[@]}" -d 0.5 "$@"
	tty_wait 20 'hosts 36'
}
quit() {
	local end=$((SECONDS + 8 * ${PATIENCE:-4}))

	tty_keys q
	until tty_dead || [ $SECONDS -gt $end ]; do sleep 0.1; done
	tty_stop
}
update() {
	tty_keys 6
	tty_wait 10 'Choose an engine'
	tty_engine sar
	tty_keys Space
	tty_wait 20 blocks || return 1
	tty_keys A
	tty_update demo
}

# --- a session --------------------------------------------------------------------------------
secret=0xfeedc0dedeadbe11
start 100x30 --rw --m_key $secret
ok "an update is made and kept" update
tty_keys N
tty_type 'café, ticket 4711'
tty_keys Enter
ok "a note is added" tty_wait 5 'note added to the record'
tty_resize 80x24
tty_keys 3
ok "the screen has another size then" tty_wait 5 '\[3 ?Links\]'
tty_keys Z
tty_wait 5 FROZEN
sleep 0.5
tty_keys 8
ok "the last of it is the list of events" tty_wait 5 '\[8 ?Events?\]'
quit
rec=$(newest)
cast=${rec%.jsonl}.cast
ok "lines and screen were recorded" test -s "$rec" -a -s "$cast"
ok "they are what was written" "$I" audit verify "$rec"
ok "and the screen too" eval '"$I" audit verify "$rec" | grep -q "recorded screen intact"'
ok "no line of the cast is a comment" not grep -q '^#' "$cast"
ok "it has marks of the phases" eval 'grep -q "\"m\",\"phase WRITE wave 1\"" "$cast" && grep -q "\"m\",\"apply.start" "$cast"'
ok "the note is in it" eval 'grep "\"type\":\"note\"" "$rec" | grep -q "ticket 4711"'
ok "no secret is in it" not grep -rqiE 'feedc0dedeadbe11|18369614221190020625|c0dedead' "$work/rec" "$work/state"
ok "the list has it, with one update" eval '"$I" audit list "$work/rec" | grep -qE " demo +[0-9]+ +1 .* ok$"'

# --- as a script reads it ------------------------------------------------------------------------
valid() { python3 "$top/tests/schema.py" "$@"; }
ok "every line is as the schema says" valid audit_line "$rec"
ok "so is what verify tells of it" eval '"$I" audit verify --json "$rec" >out.json && valid audit out.json'
script() { "$I" --json --record-dir "$work/rec" "$@" >out.json; }
ok "--view sessions is valid and has every field" eval 'script --view sessions --fields all && valid --fields sessions out.json'
ok "--view actions, too" eval 'script --view actions --fields all && valid --fields actions out.json'
listed() {
	script --view sessions --filter 'updates>0 ok=yes' --fields sid,updates --top 1 || return
	grep -q "\"sid\": \"$(basename "$(update_record)" .jsonl)\"" out.json || { cat out.json; return 1; }
	script --view sessions --check --filter ok=no && not script --view sessions --check --filter ok=yes
}
ok "sessions are chosen by a filter" listed
done_in() {
	script --view actions --session "$(basename "$(update_record)" .jsonl)" --filter 'type=phase.begin' --sort -seq --fields text || return
	python3 -c 'import json; print(*[a["text"].split()[0] for a in json.load(open("out.json"))["actions"]])' | tee err |
		grep -qE '^PREPARE .*WRITE .*CONFIRM$' || { cat err; return 1; }
}
ok "and what was done in one, in its order" done_in
ok "a session that is not there is named" eval 'not script --view actions --session 1999; "$I" -b --record-dir "$work/rec" --view actions --session 1999 2>&1 | grep -q "no session 1999"'

# --- every change of every line -----------------------------------------------------------------
"$I" audit verify --shell >check.sh
ok "the check in sh is six lines" test "$(wc -l <check.sh)" = 6
in_readme() { while IFS= read -r l; do grep -qxF -- "    $l" "$top/README.md" || return 1; done <check.sh; }
ok "they are those of the README" in_readme
mkdir -p tampered
head=$(sh check.sh "$rec" | sed 's/.*head //')
ok "its head is ours" eval '"$I" audit verify "$rec" | grep -q "head $head"'
lines=$(wc -l <"$rec")
# the log as it would be, with the head of the last line
echo "Nov 20 admin ibroute-top[1]: ibroute-top IBROUTE_HEAD=$head sid=$(basename "$rec" .jsonl) seq=$lines" >heads.txt
t=tampered/$(basename "$rec")
found() { # by us with the heads of a log, by sh with the head; and both say the same without
	local ours shell

	not "$I" audit verify --heads heads.txt "$t" || { echo "not found: $1"; return 1; }
	not sh check.sh "$t" "$head" || { echo "not found by sh: $1"; return 1; }
	"$I" audit verify "$t" >/dev/null 2>&1; ours=$?
	sh check.sh "$t" >/dev/null 2>&1; shell=$?
	[ $((ours > 0)) = $((shell > 0)) ] || { echo "$1: we say $ours, sh says $shell"; return 1; }
}
each_line() { # WHAT, a sed script that has N for the line
	local n

	for ((n = 1; n <= lines; n++)); do
		sed "${2//N/$n}" "$rec" >"$t"
		cmp -s "$rec" "$t" || found "$1 line $n" || return 1
	done
}
ok "untouched, all accept it" eval '"$I" audit verify --heads heads.txt "$rec" | grep -q "including the last line" && sh check.sh "$rec" "$head" >/dev/null'
ok "each edited line is found ($lines lines)" each_line edited 'Ns/"ts":"20/"ts":"19/'
ok "each removed line" each_line removed 'Nd'
ok "each doubled line" each_line doubled 'Np'
ok "each line moved one on" each_line moved 'N{h;d};$!{x;/./{x;G;s/$//;x;s/.*//;x};}'
ok "each tail cut off" each_line 'cut before' 'N,$d'
cut_short() { head -c -20 "$rec" >"$t" && found "cut in a line"; }
ok "a line cut in the middle" cut_short
as_the_shell() { python3 "$top/tests/diff_shell.py" "$I" 40 "${LAB_SEED:-$RANDOM}"; }
ok "of damaged records we say what the six lines say" as_the_shell
rm -rf tampered/*
cp "$rec" "$cast" tampered
sed -i '0,/LIVE/s//LOVE/' "tampered/$(basename "$cast")" # in the head, drawn first
ok "a changed screen is found" eval '"$I" audit verify "$t" | grep -q "recorded screen was changed"'

# --- played ---------------------------------------------------------------------------------------
if command -v asciinema >/dev/null; then
	tty_start 100x30 sh -c "asciinema cat '$cast' >cat.out; echo ended=\$?; sleep 30"
	ok "asciinema cat plays it" tty_wait 15 'ended=0'
	tty_stop
	ok "with what was on the screen" grep -q 'NOT YET CONFIRMED' cat.out
	tty_start 100x30 sh -c "asciinema play -s 1000 -i 0.01 '$cast'; echo ended=\$?; sleep 30"
	ok "asciinema play plays it" tty_wait 30 'ended=0'
	ok "and ends with the last screen" eval 'tty_screen | grep -qE "\[8 ?Events?\]"'
	tty_stop
else
	skip "asciinema is not installed"
fi
dump() { "$I" audit replay "$rec" --dump "$1"; }
seq_of() { grep -n "\"action\":\"$1\"" "$rec" | tail -n 1 | sed 's/.*"seq":\([0-9]*\),.*/\1/'; }
ok "--dump of a phase shows the apply view" eval 'dump "phase CONFIRM" | grep -qE "\[7 ?Apply\]"'
ok "of a line's seq, too" eval 'dump "$(seq_of apply.keep)" | grep -qE "to KEEP|NOT YET CONFIRMED"'
# just behind a mark; what is there at a fixed time depends on the machine
confirm_at() { sed -n 's/^\[\([0-9.]*\), *"m", *"phase CONFIRM.*/\1/p' "$cast" | awk '{ printf "%.4f", $1 + 0.001 }'; }
ok "of a time" eval 'dump "0:$(confirm_at)" | grep -qE "\[7 ?Apply\]" && dump "$(confirm_at)s" | grep -qE "\[7 ?Apply\]"'
ok "of a date" eval 'dump 2099-01-01T00:00:00Z | grep -qE "\[8 ?Events?\]"'
ok "a place that is not there is said" eval 'dump nowhere 2>&1 | grep -q "no place"'
ok "without a terminal it says so" eval '"$I" audit replay "$rec" </dev/null 2>&1 | grep -q -- --dump'
tty_start 100x31 "$I" audit replay "$rec" --at "phase WRITE" --speed 0.02
ok "replay begins at a phase" tty_wait 5 'REPLAY .*phase (WRITE|CONFIRM)'
tty_keys Space
ok "Space pauses it" tty_wait 5 'PAUSED'
ok "with the screen of then" eval 'tty_screen | grep -qE "\[7 ?Apply\]"'
tty_keys '['
tty_keys '['
ok "[ goes to marks before" tty_wait 5 'PAUSED +(apply.start|phase|preview)'
tty_keys G
ok "G goes to the end" tty_wait 5 '\[8 ?Events?\]'
tty_keys g
tty_keys ']'
ok "] to the next mark" tty_wait 5 'PAUSED +preview'
tty_keys q
sleep 0.3
ok "q ends it with 0" eval 'until tty_dead; do sleep 0.1; done; test "$(tty_status)" = 0'
tty_stop
ok "asciicast v3 has the same events" eval \
	'"$I" audit export --v3 "$rec" | tail -n +2 | cut -d, -f3- | cmp - <(tail -n +2 "$cast" | cut -d, -f3-)'
# (tlog-play is in no package list: by hand it plays such a file)
tlog_has_all() {
	"$I" audit export --tlog "$rec" >tlog && python3 - "$cast" <<-'PY'
	import json, sys
	cast = [json.loads(l) for l in open(sys.argv[1])][1:]
	tlog = [json.loads(l) for l in open("tlog")]
	assert [m["id"] for m in tlog] == list(range(1, len(tlog) + 1))
	assert "".join(m["out_txt"] for m in tlog) == "".join(e[2] for e in cast if e[1] == "o")
	assert all(m["timing"] == ">%d" % len(m["out_txt"]) for m in tlog if m["out_txt"])
	assert [m["timing"][1:] for m in tlog if not m["out_txt"]][1:] == [e[2] for e in cast if e[1] == "r"]
	assert all(a["pos"] <= b["pos"] for a, b in zip(tlog, tlog[1:]))
	PY
}
ok "tlog's messages have the same" tlog_has_all
"$I" audit export --script -o typescript "$rec"
ok "scriptreplay's files fit each other" eval \
	'[ "$(awk "{s += \$2} END {print s}" typescript.timing)" = "$(($(wc -c <typescript) - 15))" ]'

# --- in view 9 --------------------------------------------------------------------------------------
start 100x30
tty_keys 9
ok "view 9 lists and verifies the sessions" tty_wait 10 ' demo +1 +[0-9]+ intact'
for _ in 1 2; do tty_keys Down; done # this one, that of the update, that of the console before
tty_keys Enter
ok "Enter shows what was done" tty_wait 10 'key.action +apply.start'
for _ in 1 2 3 4; do tty_keys Down; done
tty_keys Enter
ok "and replays it from there" tty_wait 10 'REPLAY 0:00'
tty_keys q
ok "q comes back to the console" tty_wait 10 'Actions in'
tty_keys Escape
ok "Esc to the list" tty_wait 10 'records, 0 tampered with'
quit

# --- a report ------------------------------------------------------------------------------------------
txn=$(grep -o '"txn":"2[^"]*' "$rec" | head -n 1 | cut -d'"' -f4)
ok "a report as Markdown" "$I" audit export --report "$txn" -o report.md "$work/rec"
for what in "^# Update $txn of demo: confirmed" '^. time of jobs, mean . [0-9.]+ . [0-9.]+ .$' '^. time of jobs, s per MiB . 0.000[0-9]+ . 0.000[0-9]+ .$' '^. job EFI, maximum . [0-9]+ . [0-9]+ .$' '^. WRITE . 1 . 20.* s . done .$' \
	'^. 1 . leaf[0-9] . block 0 . [0-9a-f]{12} . [0-9a-f]{12} . ok' 'note . café, ticket 4711' 'intact, ended'; do
	ok "it has $what" grep -qE "$what" report.md
done
ok "its pictures are beside it" eval 'grep -q "](report.md-1.svg)" report.md && python3 -c "
import xml.dom.minidom
n = [len(xml.dom.minidom.parse(\"report.md-%d.svg\" % i).getElementsByTagName(\"title\")) for i in (1, 2)]
assert n == [18, 18], n"'
ok "as HTML it is one file" eval '"$I" audit export --html --report "$txn" "$work/rec" >report.html && [ "$(grep -c "<svg" report.html)" = 2 ]'
ok "of an update that nobody knows there is none" eval '! "$I" audit export --report 1999 rec >/dev/null 2>err && grep -q "no record of an update" err'

# --- a record that cannot be written ------------------------------------------------------------------
# The update has a record of its own, beside that of the console: its folder is gone when it begins.
full() {
	tty_start 100x30 env TERM=screen-256color "$I" \
		--demo="fattree2:leaves=6,spines=3,hosts=6" --record-dir "$work/full" --state-dir "$work/state2" -d 0.5 --rw
	tty_wait 20 'hosts 36'
	mv "$work/full" "$work/full.moved"
	touch "$work/full"
	tty_keys 6
	tty_wait 10 'Choose an engine'
	tty_engine sar
	tty_keys Space
	tty_wait 20 blocks || return 1
	tty_keys A
	tty_wait 10 'ready to start' || return 1
	tty_keys Enter
	tty_wait 5 'to START' || return 1
	tty_type demo
	tty_keys Enter
	tty_wait 20 'cannot be recorded|[Nn]ot a directory'
}
ok "what cannot be recorded is not done" full
tty_stop
ok "no write was begun" not grep -q '"type":"lft.write"' full.moved/*.jsonl
ok "and the console's record is whole" records_whole "$work/full.moved"

# --- what is kept ------------------------------------------------------------------------------------
for _ in 1 2; do start 80x24; quit; done
ok "a seal as JSON" eval '"$I" audit seal --json "$work/other" >out.json 2>/dev/null && valid audit_seal out.json'
ok "what has no JSON says so" eval '"$I" audit export --json --v3 "$rec" 2>&1 | grep -q "export has no JSON"'
ok "sealed from now on" eval '"$I" audit seal "$work/rec" >key 2>/dev/null && [ "$(wc -c <key)" = 65 ]'
start 80x24; quit
start 80x24; quit
ok "a sealed session verifies with its key" eval '"$I" audit verify --key key "$(newest)" | grep -q "every line verified with its key"'
ok "and not with another" not "$I" audit verify --key <(tr 0-9 1-90 <key) "$(newest)"
ok "a dry run removes nothing" eval '"$I" audit prune --keep-sessions 3 --dry-run "$work/rec" >/dev/null; [ $(ls rec/*.jsonl | wc -l) = 7 ]'
ok "prune keeps the last three" eval '"$I" audit prune --keep-sessions 3 "$work/rec" >/dev/null; [ ! -e "$rec" ] && [ ! -e "$cast" ]'
ok "and tells what it removed" eval 'grep -h "\"type\":\"record.prune\"" rec/*.jsonl | grep -q "$head"'
ok "nothing is younger than a day" eval '"$I" audit prune --keep-days 1 "$work/rec" | grep -q "^0 files"'
ok "as JSON, too" eval '"$I" audit prune --keep-sessions 1 --dry-run --json "$work/rec" >out.json && valid audit_prune out.json && grep -q "jsonl" out.json'
ok "what is left verifies" "$I" audit verify rec
ok "every line of every session, sealed, pruned or cut short, is as the schema says" valid audit_line rec/*.jsonl full.moved/*.jsonl
mkdir gone
mv "$(newest)" gone # the session of prune
mv "$(newest)" gone
ok "a session that is gone as a whole is missed by its epoch" eval '"$I" audit verify --key key "$work/rec" | grep -qE "no sessions? of epoch"'
# a damaged count of two thousand million sessions is one finding, not as many lines
many_epochs() {
	cp rec/seal.state state.before
	sed -i 's/^epoch .*/epoch 00000000002147483647/' rec/seal.state
	timeout 5 "$I" audit verify --key key "$work/rec" >many.out
	[ $? = 1 ] && grep -q 'no sessions of epochs [0-9]* to 2147483646 of the seal' many.out && [ "$(wc -l <many.out)" -lt 100 ]
	local rc=$?
	cp state.before rec/seal.state
	return $rc
}
ok "a count that is far too high is told in a line" many_epochs
mv gone/* rec
# the log of this machine knows of a session here that is gone, and of one of another directory
gone_too() {
	local sid=20990101T000000Z-1 zeros=$(printf '%064d' 0)

	echo "x IBROUTE_HEAD=$zeros sid=$sid seq=1 host=$(hostname) dir=$PWD/elsewhere" >log
	"$I" audit verify --heads log rec >out || { cat out; return 1; }
	echo "x IBROUTE_HEAD=$zeros sid=$sid seq=1 host=$(hostname) dir=$(realpath rec)" >>log
	not "$I" audit verify --heads log rec && "$I" audit verify --heads log rec | grep "no session $sid, although the log has its start"
}
ok "or by the heads of a log" gone_too
finish
