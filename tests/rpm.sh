#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rpm.sh: the spec file (make rpm-check): rpmlint has no error, the packages are built from the sources of the last commit
# with the libraries of this machine (--nodeps: names of packages are those of other distributions), have all that make
# install installs, each file once, and install into an empty root.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/judge.sh
VERSION=$(sed -n 's/.*IBROUTE_VERSION "\(.*\)"/\1/p' fabric/version.h)
spec=$PWD/console/rpm/ibroute-top.spec
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
JUDGE_LOG=$work/log
top=$work/rpmbuild

lints() { rpmlint -c console/rpm/rpmlint.toml "$@" 2>&1 | tee "$work/lint"; grep -q ' 0 errors' "$work/lint"; }
ok "rpmlint has no error in the spec file" lints "$spec"
ok "its version is the program's" grep -q "^Version: *$VERSION\$" "$spec"
sources() { git archive --prefix="ibroute-top-$VERSION/" HEAD | gzip -9n >"$work/ibroute-top-$VERSION.tar.gz"; }
ok "the sources" sources
built() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL rpmbuild --define "_topdir $top" --define "debug_package %{nil}" --nodeps -bb --define "_sourcedir $work" "$spec"; }
ok "the packages are built" built || { finish; exit; }
rpms() { ls "$top"/RPMS/*/*.rpm; }
ok "all that the spec file has" test "$(rpms | wc -l)" -eq "$(($(grep -c '^%package' "$spec") + 1))"
files() { for f in $(rpms); do rpm -qlp "$f" 2>/dev/null; done | sort; }
once() { files | grep -v '^(' | uniq -d >"$work/twice"; ! grep -vE '/(share|libexec|etc|doc|licenses)/ibroute-top[^/]*(/LICENSE|/examples)?$|\.build-id' "$work/twice"; }
ok "no file is in two of them" once
for f in bin/ibroute-top ibroute-slurm libibroute.so ibroute-top-collect.service ibroute-top.service ibroute-top-prune.timer sysconfig/ibroute-top slurm-hook.sh ibroute-agent.h \
	ibroute.rules.yml ibroute.dashboard.json policy.conf man1/ibroute-top.1 schema.json reroute.sh; do
	has() { files | grep -q "/$f\(\.gz\)\?\$"; }
	ok "they have $f" has
done
lint_all() { lints $(rpms); }
ok "rpmlint has no error in them" lint_all
unpacked() {
	mkdir "$work/root" && for f in $(rpms); do rpm2cpio "$f" | (cd "$work/root" && cpio -idm --quiet) || return; done
	"$work/root/usr/bin/ibroute-top" --version | grep -q "$VERSION" && grep -q 'ExecStart=/usr/bin/ibroute-top collect' "$work"/root/usr/lib/systemd/system/*.service &&
		grep -q "LD_LIBRARY_PATH=$(dirname "$(files | grep '/libibroute.so$')")\$" "$work"/root/usr/lib/systemd/system/opensm.service.d/*.conf
}
ok "what is in them starts, and units name what is there" unpacked
finish
