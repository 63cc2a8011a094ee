#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# install.sh: what "make install" leaves, used as README.md says: the sample's lines appended to a file
# that "opensm -c" has written, in a stock opensm on ibsim.  And what sm says when that was not done.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

lab_needs_plugin

lab_new || exit 2
lab_fabric "random:switches=12,hosts=2,links=24,seed=3" || exit 2
root=$LAB_DIR/root
etc=$root/etc/ibroute-top
share=$root/usr/local/share/ibroute-top
LAB_ON=n0003

install_it() {
	make -s -C "$LAB_ROOT" install DESTDIR="$root" PREFIX=/usr/local >"$LAB_DIR/out" 2>&1 ||
		{ tail -n 3 "$LAB_DIR/out"; return 1; }
}

# The file that opensm -c writes, and more lines.  Files of the system are those below root.
configured() { # file of the lines
	OSM_TMP_DIR=$LAB_DIR/osm OSM_CACHE_DIR=$LAB_DIR/osm opensm -c "$LAB_DIR/made.conf" >/dev/null 2>&1
	sed "s|/etc/ibroute-top|$etc|; s|^event_plugin_options .*|& ibroute_socket=$sock ibroute_confirmed=$LAB_DIR/kept.ibr|" \
		"$1" | cat "$LAB_DIR/made.conf" -
}

starts() {
	lab_opensm_stop
	LAB_OPENSM_LIBS=$root/usr/local/lib lab_opensm "$@"
}

logged() {
	grep -qE -- "$1" "$LAB_DIR/osm/opensm.log"
}

mkdir -p "$LAB_DIR/osm"
echo "force_log_flush TRUE" >"$LAB_DIR/flush" # or the lab would not see that the subnet is up

ok "make install" install_it
ok "programs of others find the header" eval 'PKG_CONFIG_PATH=$(dirname "$(find "$LAB_DIR" -name ibroute-agent.pc | head -n 1)") pkg-config --exists ibroute-agent'
IBROUTE_TOP=$root/usr/local/bin/ibroute-top
ok "makes the folder of the policy, and one" test -s "$etc/policy.conf"
elsewhere() { # where packages have it; and nothing of it stays but the policy
	local where=(DESTDIR="$LAB_DIR/pkg" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu)
	make -s -C "$LAB_ROOT" install "${where[@]}" >"$LAB_DIR/out" 2>&1 || { tail -n 3 "$LAB_DIR/out"; return 1; }
	[ -s "$LAB_DIR/pkg/usr/lib/x86_64-linux-gnu/libibroute.so" ] && [ -x "$LAB_DIR/pkg/usr/bin/ibroute-top" ] &&
		[ ! -e "$LAB_DIR/pkg/usr/local" ] && grep -q '^ExecStart=/usr/bin/' "$LAB_DIR/pkg/usr/lib/systemd/system/ibroute-top.service" ||
		{ find "$LAB_DIR/pkg" -type f; return 1; }
	make -s -C "$LAB_ROOT" uninstall "${where[@]}" >"$LAB_DIR/out" 2>&1
	[ "$(find "$LAB_DIR/pkg" -type f)" = "$LAB_DIR/pkg/etc/ibroute-top/policy.conf" ] || { find "$LAB_DIR/pkg" -type f; return 1; }
}
was=$(stat -c %Y "$LAB_ROOT/$B/ibroute-top")
ok "LIBDIR, and uninstall" elsewhere
ok "for which nothing is built again" test "$(stat -c %Y "$LAB_ROOT/$B/ibroute-top")" = "$was"
looks_in() { # folder: of what a build for another SYSCONFDIR has compiled
	make -s -C "$LAB_ROOT" B="$LAB_DIR/b" SYSCONFDIR=/opt/etc "$LAB_DIR/b/console/config/config.o" >/dev/null 2>&1
	grep -qa "$1/config" "$LAB_DIR/b/console/config/config.o"
}
ok "SYSCONFDIR is where the program looks" looks_in /opt/etc/ibroute-top
ok "the samples are there" test -s "$etc/opensm.conf.sample" -a -s "$share/policy.conf.sample" -a -s "$etc/config.sample"

ok "opensm with the file that opensm -c writes" starts "$(configured "$LAB_DIR/flush")"
ok "sm exits with 1, as the plugin is not loaded" does 1 sm "${dirs[@]}"
ok "and says so" grep -q '^plugin .*cannot be reached' "$LAB_DIR/out"
ok "with --json, too" does 1 sm --json "${dirs[@]}"

# What this machine's opensm.conf and its log tell, where the SM is on one of its ports; without them, what is declared.
told() { # declared, text of opensm.conf
	mkdir -p "$LAB_DIR/etc-opensm"
	printf '%s\n' "$2" >"$LAB_DIR/etc-opensm/opensm.conf"
	: >"$LAB_DIR/empty.log"
	lab_on n0001 unshare -m sh -c 'mount --bind "$1" /etc/opensm && { [ ! -e /var/log/opensm.log ] ||
		mount --bind "$2" /var/log/opensm.log; } && shift 2 && exec "$@"' sh "$LAB_DIR/etc-opensm" \
		"$LAB_DIR/empty.log" "$IBROUTE_TOP" sm --adaptive-routing "$1" "${dirs[@]}" >"$LAB_DIR/out" 2>&1
	grep '^adaptive ' "$LAB_DIR/out"
}
if [ -d /etc/opensm ] && unshare -m true 2>/dev/null; then
	ok "sm tells adaptive routing that opensm.conf names" eval \
		'told auto "routing_engine ar_updn" | grep -q "yes: adaptive routing (opensm.conf has routing_engine ar_updn): metrics and checks"'
	ok "and the manager of a plugin" eval 'told auto "event_plugin_name armgr" | grep -q "yes: .*loads the plugin armgr"'
	ok "what OpenSM says wins over what is declared" eval 'told no "routing_engine ar_updn" | grep -q "yes: .*ar_updn"'
	ok "where nothing tells, it is said how to declare it" eval \
		'told auto "lmc 0" | grep -Eq "adaptive +(unknown: .*--adaptive-routing|no sign of adaptive)"'
	ok "declared, it is told" eval 'told yes "lmc 0" | grep -q "yes: adaptive routing (declared): metrics and checks"'
	ok "plan tells it with its metrics" eval 'does 0 plan -e updn --adaptive-routing yes --json "${dirs[@]}" &&
		grep -q "\"state\": \"yes\"" "$LAB_DIR/out"'
else
	skip "no mount namespace, or no /etc/opensm: what opensm.conf tells of adaptive routing"
fi

ok "opensm -c has written the keys of the sample" \
	grep -qE '^event_plugin_name \(null\)' "$LAB_DIR/made.conf"
ok "and that logs are buffered" grep -q '^force_log_flush FALSE' "$LAB_DIR/made.conf"
lab_on n0001 "$IBROUTE_TOP" paths --no-load --json n0001 n0002 "${dirs[@]}" 2>/dev/null | # names their ports
	grep -o '"guid": "0x[0-9a-f]*"' | grep -o '0x[0-9a-f]*' | head -n 1 >"$LAB_DIR/io"
echo "io_guid_file $LAB_DIR/io" | cat "$etc/opensm.conf.sample" - >"$LAB_DIR/sample-io"
ok "opensm with the sample's lines at its end" starts "$(configured "$LAB_DIR/sample-io")"
ok "hosts of OpenSM's io_guid_file are for I/O" lab_wait 10 logged 'ibroute: 1 port of hosts for I/O'
ok "the plugin routes by the installed policy" lab_wait 10 logged 'ibroute: routed by engine nue'
ok "as the log says while opensm runs" logged "ibroute: routes by the policy of $etc/policy.conf"
ok "sm exits with 0" does 0 sm "${dirs[@]}"
ok "QoS is on" grep -q 'QoS on' "$LAB_DIR/out"
kill -HUP "$(cat "$LAB_DIR/opensm.pid")"
sleep 1
ok "and still, when opensm has read its file again" does 0 sm "${dirs[@]}"
ok "so" grep -q 'QoS on' "$LAB_DIR/out"

echo "engine updn" >"$etc/policy.conf"
asks_helper() { # the one in ../libexec of the program, wherever that is
	local helper=$root/usr/local/libexec/ibroute-top/ibroute-slurm
	printf '#!/bin/sh\n: >%s/asked\nexit 127\n' "$LAB_DIR" >"$LAB_DIR/helper"
	cmp -s "$helper" "$LAB_ROOT/$B/ibroute-slurm" && install -m 755 "$LAB_DIR/helper" "$helper" || return 1
	does 255 plan -e updn --jobs slurm "${dirs[@]}" && # neither this helper nor squeue has jobs
		[ -e "$LAB_DIR/asked" ]
}
[ ! -x "$LAB_ROOT/$B/ibroute-slurm" ] || ok "SLURM is asked by the helper that was installed" asks_helper
leaves_strangers() { # what others can write is no helper
	rm -f "$LAB_DIR/asked" && chmod o+w "$root/usr/local/libexec/ibroute-top/ibroute-slurm" &&
		does 255 plan -e updn --jobs slurm "${dirs[@]}" && [ ! -e "$LAB_DIR/asked" ] &&
		grep -q 'anybody could have put it there' "$LAB_DIR/out"
}
[ ! -x "$LAB_ROOT/$B/ibroute-slurm" ] || ok "but not one that anybody can write" leaves_strangers
ok "installed once more" install_it
ok "the policy stays" grep -qx 'engine updn' "$etc/policy.conf"
lab_stop
finish
