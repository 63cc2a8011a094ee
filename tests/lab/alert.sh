#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who is told while a program watches: a command, a web server and a syslog daemon, of a cable that is
# cut and linked again; and what becomes of a command that hangs.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"
LAB_TIMEOUT=120

lab_new || exit 1
state=$LAB_DIR/state
seen=$LAB_DIR/seen
mkdir "$seen"

# Answers the first POST with 503, as a server that has just been started.
cat >"$LAB_DIR/receiver.py" <<-'PY'
	import http.server, sys

	class Hook(http.server.BaseHTTPRequestHandler):
	    refused = False

	    def do_POST(self):
	        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
	        assert self.headers["Content-Type"] == "application/json" and self.path == "/hook?key=secret"
	        code = 200 if Hook.refused else 503
	        Hook.refused = True
	        if code == 200:
	            with open(sys.argv[1] + "/posted", "a") as f:
	                f.write(body + "\n")
	        self.send_response(code)
	        self.end_headers()

	    def log_message(self, *args):
	        pass

	server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
	with open(sys.argv[1] + "/port.new", "w") as f:
	    f.write(str(server.server_port))
	import os
	os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
	server.serve_forever()
PY
cat >"$LAB_DIR/logger.py" <<-'PY'
	import os, socket, sys

	s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	s.bind(sys.argv[1] + "/log")
	while True:
	    with open(sys.argv[1] + "/logged", "ab") as f:
	        f.write(s.recv(65536) + b"\n")
PY
lab_daemon http python3 "$LAB_DIR/receiver.py" "$seen"
lab_daemon syslog python3 "$LAB_DIR/logger.py" "$seen"
lab_wait 20 test -s "$seen/port" || give_up "the web server"
lab_wait 20 test -S "$seen/log" || give_up "the syslog daemon"
echo "http://127.0.0.1:$(cat "$seen/port")/hook?key=secret" >"$LAB_DIR/url"
# what it says is in the environment, whole
cat >"$LAB_DIR/told.sh" <<-'SH'
	printf '%s %s %s: %s\n' "$IBROUTE_ALERT_STATE" "$IBROUTE_ALERT_KIND" "$IBROUTE_ALERT_WHAT" "$IBROUTE_ALERT_SUBJECT" >>"$1/told"
	printf '%s\n' "$IBROUTE_ALERT" >>"$1/json"
	[ ! -e "$1/hang" ] || exec sleep 600
SH

lab_fabric "fattree2:leaves=4,spines=2,hosts=3" || give_up "the fabric"
lab_opensm "routing_engine updn" "sweep_interval 1" || give_up "opensm"
lab_port() { # leaf, its port to a spine
	awk -v id="$(lab_node "$1")" '/^Switch/ { split($0, q, "\""); on = q[2] == id }
		on && /^\[/ && /"S-/ { sub(/^\[/, ""); sub(/\].*/, ""); print; exit }' "$LAB_DIR/net"
}
leaf=$(lab_node leaf2)
port=$(lab_port leaf2)
ok "a baseline is accepted" does 0 baseline accept --state-dir "$state"

watch() { # name, options...
	# shellcheck disable=SC2046
	lab_daemon "$1" env $(lab_env n0002) "$IBROUTE_TOP" --prom-listen 127.0.0.1:0 --jobs none -d 1 --sweep-interval 1 --state-dir "$state" \
		--on-event "sh $LAB_DIR/told.sh $seen" "${@:2}"
}
up() { grep -q 'http://' "$LAB_DIR/$1.log"; }
told() { grep -qE -- "$1" "$seen/told"; }
watch watch --webhook "@$LAB_DIR/url" --syslog="$seen/log"
ok "a program that watches" lab_wait 60 up watch
no_url() { ! tr '\0' ' ' <"/proc/$(cat "$LAB_DIR/watch.pid")/cmdline" | grep -q secret; }
ok "whose command line does not show the URL" no_url
lab_con "Unlink \"$leaf\"[$port]"
ok "a cable is cut: the command runs" lab_wait 60 told "^raised gone cable: leaf2/$port - spine[12]/"
ok "the web server has it" lab_wait 60 grep -q '"state":"raised","kind":"gone","what":"cable","subject":"leaf2/' "$seen/posted"
ok "and so has syslog" lab_wait 60 grep -q 'gone \[ibroute@32473 level="error" state="raised" kind="gone" what="cable" subject="leaf2/' "$seen/logged"
lab_con "ReLink \"$leaf\"[$port]"
ok "linked again: the command is told" lab_wait 60 told "^cleared gone cable: leaf2/$port - "
ok "the web server" lab_wait 60 grep -q '"state":"cleared"' "$seen/posted"
ok "and syslog" lab_wait 60 grep -q 'state="cleared"' "$seen/logged"
ok "each once" eval '[ "$(grep -c "^raised gone cable: leaf2/$port - " "$seen/told")" -eq 1 ] && [ "$(grep -c "^cleared gone cable: leaf2/$port - " "$seen/told")" -eq 1 ]'
valid() { # each line is one
	python3 "$LAB_ROOT/tests/schema.py" alert "$seen/json" && python3 "$LAB_ROOT/tests/schema.py" alert "$seen/posted"
}
ok "the schema has them" valid

touch "$seen/hang"
lab_con "Unlink \"$leaf\"[$port]"
twice() { [ "$(grep -c "^raised gone cable: leaf2/$port - " "$seen/told")" -ge 2 ]; }
ok "a command that hangs" lab_wait 60 twice
ok "keeps nobody else waiting" lab_wait 60 eval '[ "$(grep -c "\"state\":\"raised\",\"kind\":\"gone\"" "$seen/posted")" -ge 2 ]'
kill "$(cat "$LAB_DIR/watch.pid")"
ok "nor the end of the program" lab_wait 60 lab_dead watch
hangs() { pgrep -f "sh $LAB_DIR/told.sh" >/dev/null; }
ok "which leaves no command behind" lab_wait 20 eval '! hangs'
rm "$seen/hang"

: >"$seen/told"
ok "a line of cron waits until all are told" does 1 --check --jobs none -d 0.3 --state-dir "$state" --on-event "sh $LAB_DIR/told.sh $seen"
ok "as it was" told "^raised gone cable: leaf2/$port - "
ok "a URL that is none is refused" does 64 --check --webhook "-o/etc/passwd"
finish
