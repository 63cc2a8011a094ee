#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# chain_packages.sh: the chain of chain.sh from the packages (make chain-packages): a fresh Debian, the packages by apt, set up
# as the README says, each part as its unit starts it.  Of this tree it has tests/ alone: no program that was built here.
# Root, and minutes.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
B=${B:-build}
work=$(mktemp -d)
. tests/chroot.sh
trap chroot_leave EXIT

built() { make -s --no-print-directory deb DEB="$work/deb" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; return 1; }; }
ok "the packages are built" built || { finish; exit; }
ok "a fresh chroot" chroot_fresh || { finish; exit; }
mkdir "$root/debs" && for f in "$work"/deb/*.deb; do case $f in *dbgsym*) ;; *) cp "$f" "$root/debs/" ;; esac; done
# the examples of a package stay on a machine of people, and out of a minimal one
rm -f "$root"/etc/dpkg/dpkg.cfg.d/*
ok "the packages, and what a monitored site has besides" get $(cd "$root" && ls debs/*.deb | sed 's,^,/,') opensm ibsim-utils \
	infiniband-diags slurmctld slurmd slurm-client prometheus tmux python3 procps || { finish; exit; }
# what the lab wants of a build: the package's program and plugin, under the names that it knows
mkdir -p "$root/src/build/tests/lab" "$root/src/console" && cp -r tests "$root/src/" &&
	make -s "$B/tests/lab/libumad_timeouts.so" && cp "$B/tests/lab/libumad_timeouts.so" "$root/src/build/tests/lab/"
touch "$root/src/build/tests/lab/libumad_timeouts.so"
in_root sh -c 'ln -s /usr/bin/ibroute-top /src/build/ && ln -s $(dpkg -L ibroute-top-opensm | grep "/libibroute.so$") /src/build/'
ok "none of the programs of the build is there" eval '! find "$root/src" -type f -name "ibroute*" -perm -100 | grep .'
in_root env PACKAGED=1 PATIENCE="${PATIENCE:-4}" IBROUTE_TOP=/usr/bin/ibroute-top COUNTS=/src/counts bash /src/tests/chain.sh 2>&1 | tee "$work/chain"
passed=$((passed + $(grep -c '^ok - ' "$work/chain")))
failed=$((failed + $(grep -c '^not ok - ' "$work/chain")))
skipped=$((skipped + $(grep -c '^SKIP' "$work/chain")))
ok "the chain came to its end" test -s "$root/src/counts"
finish
