#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# deb.sh: Debian's packages: built twice with the same bytes, lintian, and in a fresh chroot installed,
# tried (debian/tests), upgraded from the version before, and purged.  Root, and minutes.
#
# MIRROR= of debootstrap (default: the first of this machine's sources).
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
VERSION=${VERSION:-$(sed -n 's/.*IBROUTE_VERSION "\(.*\)"/\1/p' fabric/version.h)}
FLAGS=${DEBFLAGS:-}
work=$(mktemp -d)
root=$work/root
[ "$(id -u)" -eq 0 ] || { echo "deb.sh: a chroot needs root"; exit 1; }
leave() {
	umount "$root/proc" "$root/dev" 2>/dev/null
	# never into what is still mounted
	mountpoint -q "$root/proc" || mountpoint -q "$root/dev" || rm -rf --one-file-system "$work"
}
trap leave EXIT
MIRROR=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
	sed -nE 's/^(deb|URIs:) +([a-z]+:[^ ]*debian).*/\2/p' | head -n 1)}
SUITE=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}

built() { make -s --no-print-directory deb DEB="$1/deb" DEBFLAGS="$FLAGS" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; return 1; }; }
packages() { ls "$1"/deb/*.deb | grep -v dbgsym; }
same_bytes() {
	local f bad=0

	[ "$(packages "$work/one" | wc -l)" -eq "$(grep -c '^Package:' console/debian/control)" ] || return
	for f in $(packages "$work/one"); do
		cmp "$f" "$work/two/deb/${f##*/}" || bad=1
	done
	return $bad
}
ok "the packages are built" built "$work/one" || finish
later() { sleep 2; TZ=Asia/Tokyo LC_ALL=C built "$work/two"; }
ok "and once more, elsewhere and later" later
ok "with the same bytes" same_bytes
clean() { # all that it says must be overridden, with a reason
	lintian --pedantic --display-info --allow-root --fail-on error,warning,info,pedantic "$work"/one/deb/*.changes
}
ok "lintian has nothing to say" clean
bound() { dpkg-deb -f "$work/one/deb/ibroute-top-opensm_"*.deb Depends | grep -qF "opensm (= $(dpkg-query -W -f '${Version}' libopensm-dev))"; }
ok "the plugin is bound to this version of OpenSM" bound

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8 "$@"; }
fresh() {
	debootstrap --variant=minbase "$SUITE" "$root" "$MIRROR" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
	mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && cp /etc/resolv.conf "$root/etc/" 2>/dev/null
	mkdir "$root/debs" && cp $(packages "$work/one") "$root/debs/" && in_root apt-get update >"$work/log" 2>&1
}
get() { in_root apt-get install -y --no-install-recommends "$@" >"$work/log" 2>&1 || { tail -n 15 "$work/log"; return 1; }; }
ok "a fresh chroot" fresh || { finish; exit; }
ok "all packages can be installed" get $(packages "$work/one" | sed "s,.*/,/debs/,")
there() {
	in_root ibroute-top --version && in_root sh -c 'getent group umad && test -d /var/lib/ibroute-top -a -d /var/log/ibroute-top -a -f /etc/ibroute-top/policy.conf' &&
		[ "$(stat -c %a "$root/var/lib/ibroute-top")" = 700 ]
}
ok "the program starts; group and directories are there" there
# debian/tests/control: Depends, without the packages themselves
needs() { sed -n 's/^Depends: //p' console/debian/tests/control | tr ',' '\n' | tr -d ' ' | grep -v '^ibroute-top' | sort -u; }
ok "what its tests need" get $(needs)
mkdir -p "$root/tests"
cp console/debian/tests/ibsim console/debian/tests/header "$root/tests/" 2>/dev/null
for t in $(sed -n 's/^Tests: //p' console/debian/tests/control); do
	tried() { in_root timeout 900 sh "/tests/$t"; }
	ok "debian/tests/$t" tried
done
# a version before this one: the same files, with what an operator has changed since
older() {
	local d=$work/older f

	for f in $(packages "$work/one"); do
		rm -rf "$d" && dpkg-deb -R "$f" "$d" && sed -i -E "s/^Version: .*/Version: 0.0.1-1/; s/\(= [0-9.]+-1\)/(= 0.0.1-1)/; s/\(>= $VERSION\)/(>= 0.0.1)/" "$d/DEBIAN/control" &&
			dpkg-deb -b "$d" "$root/debs/older_${f##*/}" >/dev/null || return 1
	done
}
olders() { in_root sh -c 'dpkg -P $(dpkg-query -W -f "\${Package} " "ibroute-top*") && dpkg -i /debs/older_*.deb' >"$work/log" 2>&1 || { tail -n 15 "$work/log"; return 1; }; }
ok "packages of an earlier version" older
ok "are installed instead" olders
echo "# of the site" >>"$root/etc/ibroute-top/policy.conf"
echo kept >"$root/var/lib/ibroute-top/journal"
upgraded() {
	get $(packages "$work/one" | sed 's,.*/,/debs/,') && [ "$(in_root dpkg-query -W -f '${Version}' ibroute-top)" = "$VERSION-1" ] &&
		tail -n 1 "$root/etc/ibroute-top/policy.conf" | grep -q 'of the site' && [ "$(cat "$root/var/lib/ibroute-top/journal")" = kept ]
}
ok "upgraded, what a site has written stays" upgraded
purged() {
	in_root sh -c 'dpkg -P $(dpkg-query -W -f "\${Package} " "ibroute-top*")' >"$work/log" 2>&1 || { tail -n 15 "$work/log"; return 1; }
	! in_root sh -c 'ls -d /usr/bin/ibroute-top /usr/libexec/ibroute-top /usr/lib/*/ibroute-top /etc/ibroute-top /var/lib/ibroute-top /var/log/ibroute-top /usr/share/ibroute-top /etc/default/ibroute-top' 2>/dev/null | grep .
}
ok "purged, nothing is left" purged
finish
