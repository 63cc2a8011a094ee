# SPDX-License-Identifier: GPL-2.0-or-later
# chroot.sh, to be sourced: a fresh Debian in $work/root, for those that try the packages.
#
#   chroot_fresh            debootstrap, /proc, /dev and a current list of packages; chroot_leave for the EXIT trap
#   in_root COMMAND...      there, with an environment of its own
#   get PACKAGE|FILE...     apt-get install there
#
# MIRROR= of debootstrap (default: the first of this machine's sources); SUITE=.  Needs root, and $work.
root=$work/root
MIRROR=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
	sed -nE 's/^(deb|URIs:) +([a-z]+:[^ ]*debian).*/\2/p' | head -n 1)}
SUITE=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
[ "$(id -u)" -eq 0 ] || { echo "a chroot needs root"; exit 1; }

chroot_leave() {
	umount "$root/proc" "$root/dev/pts" "$root/dev" 2>/dev/null
	# never into what is still mounted
	mountpoint -q "$root/proc" || mountpoint -q "$root/dev" || rm -rf --one-file-system "$work"
}
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8 "$@"; }
chroot_fresh() {
	debootstrap --variant=minbase "$SUITE" "$root" "$MIRROR" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
	mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && mount --bind /dev/pts "$root/dev/pts" && cp /etc/resolv.conf "$root/etc/" 2>/dev/null
	in_root apt-get update >"$work/log" 2>&1
}
get() { in_root apt-get install -y --no-install-recommends "$@" >"$work/log" 2>&1 || { tail -n 15 "$work/log"; return 1; }; }
