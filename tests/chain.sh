#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# chain.sh: the whole chain (make chain): a stock opensm with our plugin, SLURM, a collector, an exporter and a
# console of a user who may only look, a Prometheus with the rules that ship.  Then each part fails and is mended:
# the alert is there within 10 s of the sample that shows it and ends by itself, and the screen tells the same.
# None of these alerts has a "for": pending is firing.  At the end the times are printed.
#
# PACKAGED=1: what the packages of this machine have installed, where they put it and as their units start it, set up as
# the README says (make chain-packages, in a chroot).
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
. tests/lab/lab.sh
. tests/tty.sh
. tests/judge.sh

lab_needs_plugin
command -v prometheus >/dev/null || sh tests/packages.sh prometheus tmux || {
	skip "chain: no prometheus (package prometheus)"
	finish
}
lab_new || give_up "the lab"
mounted=
cleanup() {
	local rc=$?

	tty_stop
	[ -z "$mounted" ] || umount -l "$disk"
	(exit "$rc")
	lab_stop
}
trap cleanup EXIT
JUDGE_LOG=$LAB_DIR/log
C=$LAB_DIR/collector
disk=$LAB_DIR/disk rules=$LAB_ROOT/console/examples/prometheus/ibroute.rules.yml
as=()
if [ "${PACKAGED:-}" ]; then
	disk=/var/lib/ibroute-top rules=/usr/share/doc/ibroute-top/examples/ibroute.rules.yml
	as=(setpriv --reuid=alice --regid=alice --init-groups)
elif [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
else
	skip "an exporter and a console of another user: not root"
fi

# --- the parts ---
lab_fabric fattree2:leaves=4,spines=2,hosts=4 || give_up "the fabric starts"
unit() { sed -n "s/^$2=//p" /lib/systemd/system/"$1"; } # what the unit of a package says
if [ "${PACKAGED:-}" ]; then
	# the three steps: the package is installed, the engine is named, the lines are in opensm.conf
	cp /usr/share/ibroute-top/policy.conf.sample /etc/ibroute-top/policy.conf
	sed -i "s/^engine .*/engine dfsssp/" /etc/ibroute-top/policy.conf
	grep -v '^#' /usr/share/ibroute-top/opensm.conf.sample | grep . >"$LAB_DIR/lines"
	mkdir -p /run/ibroute-top
	start_sm() {
		local lines

		lab_opensm_stop
		mapfile -t lines <"$LAB_DIR/lines"
		LAB_OPENSM_LIBS=$(unit opensm@.service.d/ibroute-top.conf Environment | sed 's/.*LD_LIBRARY_PATH=//') lab_opensm "${lines[@]}"
	}
	printf 'interval = 1\njobs-interval = 1\n' >/etc/ibroute-top/config
	id alice >/dev/null 2>&1 || useradd alice
	usermod -a -G ibroute-look alice
	ok "the user who looks is in no other group, and has no umad" eval '[ "$(id -Gn alice)" = "alice ibroute-look" ]'
else
	policy "engine dfsssp"
	start_sm() { lab_plugin "routing_engine ibroute,updn" "qos TRUE"; }
fi
start_sm || give_up "opensm with the plugin brings the subnet up"
lab_slurm || give_up "SLURM starts"
lab_job -J wrf -w 'n[0003-0008]' >/dev/null || give_up "a job runs"
mkdir -p "$disk" "$LAB_DIR/look"
mount -t tmpfs -o size=16m none "$disk" 2>/dev/null && mounted=1
cp "$IBROUTE_TOP" "$LAB_DIR/ibroute-top" # where everybody may read it
chmod 755 "$LAB_DIR" "$LAB_DIR/ibroute-top"
[ ${#as[@]} -eq 0 ] || "${as[@]}" id -u | xargs -I {} chown {} "$LAB_DIR/look"
look=("${as[@]}" env HOME="$LAB_DIR/look" "$LAB_DIR/ibroute-top" --collector "$C" --state-dir "$LAB_DIR/look")
if [ "${PACKAGED:-}" ]; then
	C=/run/$(unit ibroute-top-collect.service RuntimeDirectory)
	look=("${as[@]}" env HOME="$LAB_DIR/look" /usr/bin/ibroute-top --state-dir "$LAB_DIR/look")
fi

sees() { timeout 60 "${look[@]}" --json -n 1 "$@" >"$LAB_DIR/seen" 2>"$LAB_DIR/seen.err" </dev/null; }
of() { python3 -c "import json; r = json.load(open('$LAB_DIR/seen'))['overview']; print($1)"; }
is_so() { sees "${@:2}"; [ "$(of "$1" 2>/dev/null)" = True ]; }
# what the group ibroute-look is for: a lab has none
opened() { [ -S "$C/look" ] && { [ ${#as[@]} -eq 0 ] || { chgrp 65534 "$C/look" && chmod 660 "$C/look"; }; }; }
up() {
	if [ "${PACKAGED:-}" ]; then # systemd's part
		mkdir -p -m "$(unit ibroute-top-collect.service RuntimeDirectoryMode)" "$C"
		chmod "$(unit ibroute-top-collect.service StateDirectoryMode)" "$disk"
		# shellcheck disable=SC2046
		lab_daemon collector env $(lab_env n0002) $(unit ibroute-top-collect.service ExecStart)
		lab_wait 20 sees
		return
	fi
	# shellcheck disable=SC2046
	lab_daemon collector env $(lab_env n0002) "$IBROUTE_TOP" collect -d 1 --dir "$C" --state-dir "$LAB_DIR/state" --socket "$sock" \
		--history "$disk/history.db" --jobs slurm --jobs-interval 1
	lab_wait 20 eval 'opened && sees'
}
up || give_up "a collector, and a user who may look"
free_port() {
	while ! lab_port_free "$port"; do port=$((port + 1)); done
}
port=$((33000 + $$ % 8000))
free_port
exporter=$port port=$((port + 1))
free_port
prometheus=$port
lab_daemon exporter "${look[@]}" --prom-listen "$exporter"
cat >"$LAB_DIR/prometheus.yml" <<EOC
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["$rules"]
scrape_configs:
  - job_name: ibroute
    static_configs: [{targets: ["127.0.0.1:$exporter"]}]
EOC
lab_daemon prometheus prometheus --config.file="$LAB_DIR/prometheus.yml" --storage.tsdb.path="$LAB_DIR/prometheus.data" \
	--web.listen-address="127.0.0.1:$prometheus" --log.level=warn

# watch WHAT METRIC ALERT...: until a line of the exporter matches METRIC and each alert is pending or firing in
# Prometheus, both asked five times a second; how long each took.  1: one came more than 10 s after that line.
# mended WHAT METRIC ALERT...: until the line and the alerts are gone.
watch() { chain there "$@"; }
mended() { chain gone "$@"; }
chain() {
	python3 - "$exporter" "$prometheus" "$LAB_DIR/times" "$since" "$((30 * ${PATIENCE:-4}))" "$@" <<'PY'
import json, re, sys, time, urllib.request
exporter, prometheus, times, since, limit, how, what, metric, *names = sys.argv[1:]
since, limit, want = float(since), float(limit), how == "there"
http = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def get(port, path):
    try:
        return http.open("http://127.0.0.1:%s%s" % (port, path), timeout=5).read().decode()
    except OSError:
        return ""
line, alert = None, {}
while time.time() - since < limit and (line is None or len(alert) < len(names)):
    text = get(exporter, "/metrics")
    if line is None and text and bool(re.search(metric, text, re.M)) == want:
        line = time.time()
    answer = get(prometheus, "/api/v1/alerts")
    if answer:
        states = {a["labels"]["alertname"]: a["state"] for a in json.loads(answer)["data"]["alerts"]}
        for n in names:
            if n not in alert and (n in states) == want and (want or line):
                alert[n] = (time.time(), states.get(n, "ended"))
    time.sleep(0.2)
if line is None or len(alert) < len(names):
    sys.exit("%s %s: line %s, alerts %s of %s" % (what, how, line, alert, names))
late = {n: max(0, t - line) for n, (t, _) in alert.items()}
told = "%-10s %-6s line of the exporter after %5.1f s; then %s" % (what, "fails" if want else "mended", line - since,
    ", ".join("%s %s after %.1f s" % (n, alert[n][1], late[n]) for n in names))
open(times, "a").write(told + "\n")
sys.exit(max(late.values()) > 10 and told)
PY
}
quiet() {
	python3 - "$prometheus" <<'PY'
import json, sys, urllib.request
http = urllib.request.build_opener(urllib.request.ProxyHandler({}))
api = "http://127.0.0.1:%s/api/v1/" % sys.argv[1]
up = json.load(http.open(api + "query?query=ibroute_up", timeout=5))["data"]["result"]
alerts = json.load(http.open(api + "alerts", timeout=5))["data"]["alerts"]
print(up, alerts)
sys.exit(not up or up[0]["value"][1] != "1" or bool(alerts))
PY
}
# the first line of the overview: what is the matter; and that it says so no more
line_one() { tty_screen | sed -n 3p; }
says() { line_one | grep -qE -- "$1"; }
tells() { lab_wait 15 says "$1" || { tty_screen | head -n 8; return 1; }; }
no_more() { lab_wait 30 eval "! says '$1'" || { tty_screen | head -n 8; return 1; }; }
# part NAME METRIC SCREEN "FAIL..." "MEND..." ALERT...
part() {
	local name=$1 metric=$2 screen=$3 fail=$4 mend=$5

	shift 5
	since=$(date +%s.%N)
	$fail || { ok "$name: it can be made to fail" false; return; }
	ok "$name fails: $* within 10 s of the sample that shows it" watch "$name" "$metric" "$@"
	ok "$name fails: the screen tells it" tells "$screen"
	since=$(date +%s.%N)
	$mend || { ok "$name: it can be mended" false; return; }
	ok "$name is mended: $* ends by itself" mended "$name" "$metric" "$@"
	ok "$name is mended: the screen is well again" no_more "$screen"
}

ok "the parts find each other" lab_wait 20 is_so \
	'r["hosts"] == 16 and r["cables"] == 8 and r["sm"]["state"] == "master" and r["jobs"]["running"] == 1'
ok "Prometheus has no alert while all is well" lab_wait 60 quiet
tty_start 140x40 "${as[@]}" env TERM=screen-256color LC_ALL=C.UTF-8 "${look[@]:${#as[@]}+1}" --record-dir "$LAB_DIR/look/rec"
ok "a console of somebody who may only look" tty_wait 20 'LIVE'

# --- they fail ---
leaf=$(lab_node leaf2) spine=$(lab_node spine2) host=$(lab_node n0012) cable=$(lab_port leaf2)
down='^ibroute_port_up\{.*\} 0$'
gone='^ibroute_findings\{.*kind="gone"\} [1-9]'
part cable "$down" 'cable down.*leaf2' "lab_con Unlink \"$leaf\"[$cable]" "lab_con ReLink \"$leaf\"[$cable]" PortDown FabricPartGone
part host "$gone" 'switches and 1 host gone' "lab_con Unlink \"$host\"[1]" "lab_con ReLink \"$host\"[1]" PortDown FabricPartGone
all_ports() { # COMMAND NODE
	local p

	for p in $(awk -v id="$2" '/^(Switch|Ca|Hca)/ { split($0, q, "\""); on = q[2] == id }
		on && /^\[/ { sub(/^\[/, ""); sub(/\].*/, ""); print }' "$LAB_DIR/net"); do
		lab_con "$1 \"$2\"[$p]"
	done
}
part switch "$gone" '1 switch and 0 hosts gone' "all_ports Unlink $spine" "all_ports ReLink $spine" PortDown FabricPartGone
part SM '^ibroute_sm_up\{.*\} 0$' 'subnet manager .*gone' lab_opensm_stop start_sm SubnetManagerDown
part SLURM '^ibroute_job_source_up\{.*\} 0$' 'does not answer' lab_slurmctld_stop lab_slurmctld_start JobSourceDown
kill_collector() {
	kill -9 "$(cat "$LAB_DIR/collector.pid")" && lab_wait 5 lab_dead collector && lab_evict
}
part collector '^ibroute_collector_up\{.*\} 0$' 'the collector has ended' kill_collector up CollectorDown
if [ -n "$mounted" ]; then
	fill() {
		dd if=/dev/zero of="$disk/fill" bs=4k 2>/dev/null
		[ -s "$disk/fill" ]
	}
	empty() { # with a cable that was cut while nothing could be written
		lab_con "Unlink \"$leaf\"[$cable]"
		lab_wait 10 is_so 'r["cables"] == 7' || return
		since=$(date +%s.%N)
		rm "$disk/fill"
	}
	# SQLite writes into the room of its log first, up to 1.6 MB; begun again it has none
	lab_kill collector
	up || give_up "the collector begins again"
	ok "and nobody minds a restart" lab_wait 30 quiet
	part disk '^ibroute_history_up\{.*\} 0$' 'no history is kept' fill empty HistoryNotWritten
	ok "what failed meanwhile is in the history" lab_wait 10 is_so 'r["cables"] == 7' --at -1s
	lab_con "ReLink \"$leaf\"[$cable]"
else
	skip "the disk: no mount here"
fi
ok "in the end nothing is left" lab_wait 60 quiet
tty_keys 8
for event in 'samples are kept again' 'collector is responding again' 'subnet manager is responding again'; do
	ok "view 8 has an event: $event" tty_wait 10 "$event"
done
sed 's/^/# /' "$LAB_DIR/times"
finish
