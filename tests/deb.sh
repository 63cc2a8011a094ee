#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# deb.sh: Debian's packages: built twice with the same bytes, lintian, and in a fresh chroot installed, tried (autopkgtest),
# upgraded from packages of an older commit (OLDER=), and purged.  Root, and minutes; MIRROR= as in chroot.sh.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
VERSION=${VERSION:-$(sed -n 's/.*IBROUTE_VERSION "\(.*\)"/\1/p' fabric/version.h)}
FLAGS=${DEBFLAGS:-}
work=$(mktemp -d)
. tests/chroot.sh
trap chroot_leave EXIT

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
# All that it says must be overridden, with a reason; but four bytes of machine code may be a misspelt word in its
# eyes, one that no source has.
clean() {
	local line word bad=0

	lintian --pedantic --display-info --allow-root --fail-on error,warning,info,pedantic "$work"/one/deb/*.changes >"$work/said" 2>&1
	[ $? -le 2 ] || { cat "$work/said"; return 1; }
	while read -r line; do
		word=$(sed -n 's/.*: spelling-error-in-binary \([^ ]*\) .*/\1/p' <<<"$line")
		[ -n "$word" ] && ! git grep -qF -e "$word" -- ':!tests' && continue
		echo "$line" && bad=1
	done < <(grep -v '^N:' "$work/said")
	return $bad
}
ok "lintian has nothing to say" clean
bound() { dpkg-deb -f "$work/one/deb/ibroute-top-opensm_"*.deb Depends | grep -qF "opensm (= $(dpkg-query -W -f '${Version}' libopensm-dev))"; }
ok "the plugin is bound to this version of OpenSM" bound

fresh() { chroot_fresh && mkdir "$root/debs" && cp $(packages "$work/one") "$root/debs/"; }
ok "a fresh chroot" fresh || { finish; exit; }
ok "all packages can be installed" get $(packages "$work/one" | sed "s,.*/,/debs/,")
there() {
	in_root ibroute-top --version && in_root sh -c 'getent group umad && test -d /var/lib/ibroute-top -a -d /var/log/ibroute-top -a -f /etc/ibroute-top/policy.conf' &&
		[ "$(stat -c %a "$root/var/lib/ibroute-top")" = 700 ]
}
ok "the program starts; group and directories are there" there
# debian/tests by the runner of Debian itself, which installs what they need
tried() {
	autopkgtest --no-built-binaries $(packages "$work/one") "$work/one/deb/ibroute-top-$VERSION/" -- chroot "$root" >"$work/tested" 2>&1 ||
		{ tail -n 20 "$work/tested"; return 1; }
	grep -E '^[a-z]+ +PASS' "$work/tested"
}
ok "autopkgtest passes" tried
# the packages of an older commit, under a version before this one: OLDER=, or the first with all of the binary packages
OLDER=${OLDER:-$(git log --reverse --format=%h --diff-filter=A -- console/debian/ibroute-top-collector.install 2>/dev/null | head -n 1)}
older() {
	local d=$work/older/ibroute-top-0.1.0

	mkdir -p "$d" && git archive "$OLDER" | tar -x -C "$d" && cp -r "$d/console/debian" "$d/debian" || return
	sed -i '1s/(.*)/(0.1.0-1)/' "$d/debian/changelog"
	tar -C "$work/older" --exclude=ibroute-top-0.1.0/debian -czf "$work/older/ibroute-top_0.1.0.orig.tar.gz" ibroute-top-0.1.0
	(cd "$d" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -us -uc) >"$work/log" 2>&1 || { tail -n 15 "$work/log"; return 1; }
	cp "$work"/older/*.deb "$root/debs/" && rm -f "$root"/debs/*dbgsym*
}
olders() {
	in_root sh -c 'dpkg -P $(dpkg-query -W -f "\${Package} " "ibroute-top*")' >"$work/log" 2>&1
	get $(cd "$root" && ls debs/*_0.1.0-1_*.deb | sed 's,^,/,') && [ "$(in_root dpkg-query -W -f '${Version}' ibroute-top)" = 0.1.0-1 ]
}
ok "packages of an older commit (${OLDER:-none})" older
ok "are installed instead" olders
# what that one has written
in_root sh -c 'cd /root && ibroute-top topo fattree2:leaves=4,spines=2,hosts=3 -o net && ibroute-top route --engine updn --topology net --out was &&
	ibroute-top plan --topology net --lfts was/opensm-lfts.dump -e dfsssp -o old.plan' >"$work/log" 2>&1 || tail -n 5 "$work/log"
echo "# of the site" >>"$root/etc/ibroute-top/policy.conf"
echo kept >"$root/var/lib/ibroute-top/journal"
upgraded() {
	get $(packages "$work/one" | sed 's,.*/,/debs/,') && [ "$(in_root dpkg-query -W -f '${Version}' ibroute-top)" = "$VERSION-1" ] &&
		tail -n 1 "$root/etc/ibroute-top/policy.conf" | grep -q 'of the site' && [ "$(cat "$root/var/lib/ibroute-top/journal")" = kept ]
}
ok "upgraded, what a site has written stays" upgraded
reads() {
	in_root ibroute-top check --topology /root/net --tables /root/was/tables.ibr && in_root ibroute-top show /root/old.plan | grep -q 'p-[0-9a-f]'
}
ok "plans and tables of the older version are read" reads
purged() {
	in_root sh -c 'dpkg -P $(dpkg-query -W -f "\${Package} " "ibroute-top*")' >"$work/log" 2>&1 || { tail -n 15 "$work/log"; return 1; }
	! in_root sh -c 'ls -d /usr/bin/ibroute-top /usr/libexec/ibroute-top /usr/lib/*/ibroute-top /etc/ibroute-top /var/lib/ibroute-top /var/log/ibroute-top /usr/share/ibroute-top /etc/default/ibroute-top' 2>/dev/null | grep .
}
ok "purged, nothing is left" purged
finish
