#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# packages.sh PACKAGE...: installs what is missing, after saying so; without the rights
# it prints the command and stops.
set -u
missing=
for p in "$@"; do
	dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
cmd="apt-get install -y --no-install-recommends$missing"
sudo=
if [ "$(id -u)" -ne 0 ]; then
	if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		sudo=sudo
	else
		echo "Packages are missing and this user may not install them. Run as root:" >&2
		echo "  $cmd" >&2
		exit 1
	fi
fi
echo "Installing missing Debian packages:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { $sudo apt-get update && $sudo $cmd; } >"$log" 2>&1 </dev/null; then
	tail -n 15 "$log" >&2
	echo "Installing failed; the command was: $cmd" >&2
	exit 1
fi
rm -f "$log"
