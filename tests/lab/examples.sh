#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# examples.sh: the examples of README, manual and manual page that need a fabric (tests/examples.py), run as they stand
# there: over ibsim, OpenSM with our plugin and SLURM, as root with an /etc, a /run and folders for state and records that
# nobody else sees.
set -u
. "$(dirname "$0")/lab.sh"
. "$LAB_ROOT/tests/judge.sh"

lab_needs_plugin
unshare -m true 2>/dev/null || { skip "examples: no mount namespace (not root)"; finish; }
lab_new || exit 1
lab_fabric fattree2:leaves=4,spines=2,hosts=4 || give_up "the fabric"
policy "engine minhop"
lab_plugin "routing_engine ibroute,updn" "qos TRUE" || give_up "opensm"
lab_slurm || give_up "SLURM"
SLURM_JOB_ID=$(lab_job -J wrf -w 'n[0001,0003,0005,0007,0009,0011]') || give_up "a job"
export SLURM_JOB_ID IBROUTE_SOCKET=$sock LAB_DIR

mkdir "$LAB_DIR/bin" "$LAB_DIR/ex" "$LAB_DIR/home" "$LAB_DIR/home/.config" "$LAB_DIR/home/.config/ibroute-top"
echo 'name = hpc1' >"$LAB_DIR/home/.config/ibroute-top/config"
cat >"$LAB_DIR/bin/ibroute-top" <<-END
	#!/bin/sh
	exec env $(lab_env n0002) "$IBROUTE_TOP" "\$@"
END
printf '#!/bin/sh\ncat >/dev/null\n' >"$LAB_DIR/bin/mail"
chmod +x "$LAB_DIR"/bin/*

# names as the examples have them
cd "$LAB_DIR/ex" || exit 1
"$IBROUTE_TOP" topo fattree2:leaves=4,spines=2,hosts=4 >FILE
cp FILE net.txt
printf '1 n[0001-0006]\n2 n[0007-0016]\n' >JOBS
cp JOBS jobs.txt
printf 'jobid,start,end,nodelist\n1,2026-11-20T06:00:00Z,2026-11-20T12:00:00Z,"n[0001-0006]"\n2,2026-11-20T07:00:00Z,2026-11-20T11:00:00Z,"n[0007-0016]"\n' >HISTORY
"$IBROUTE_TOP" route --engine updn --topology FILE --out t >/dev/null || give_up "tables"
cp t/opensm-lfts.dump LFTS
cp LFTS opensm-lfts.dump
lab_on n0002 ibnetdiscover >yesterday.txt && lab_on n0002 ibnetdiscover --cache "$PWD/yesterday.cache" >/dev/null || give_up "a dump of the fabric"

in_a_world_of_its_own() {
	unshare -m bash -c '
		cp -a /etc "$LAB_DIR/etc" && mount --bind "$LAB_DIR/etc" /etc || exit
		mkdir -p "$LAB_DIR/run" "$LAB_DIR/sbin" /etc/ibroute-top
		mkdir -p "$LAB_DIR/share/ibroute-top/examples" && cp "$0"/console/examples/*.sh "$LAB_DIR/share/ibroute-top/examples"
		mount --bind "$LAB_DIR/share" /usr/local/share || exit
		mount --bind "$LAB_DIR/run" /run && mount --bind "$LAB_DIR/sbin" /usr/local/sbin || exit
		mount -t tmpfs none /var/lib && mount -t tmpfs none /var/log || exit
		mkdir -p /run/ibroute-top
		printf "#!/bin/sh\n" | tee /usr/local/sbin/page >/etc/ibroute-top/hook
		chmod +x /usr/local/sbin/page /etc/ibroute-top/hook
		echo https://127.0.0.1:9/ >/etc/ibroute-top/webhook && chmod 600 /etc/ibroute-top/webhook
		echo "n0001 UCX_IB_SL=0" >/etc/ibroute-top/mpi-env.txt
		export HOME=$LAB_DIR/home PATH=$LAB_DIR/bin:$PATH RECORDS=/var/log/ibroute-top SLURMD_NODENAME=n0001
		exec python3 "$0/tests/examples.py" run fabric' "$LAB_ROOT" 2>&1 | tee "$LAB_DIR/said"
}
in_a_world_of_its_own
passed=$((passed + $(grep -c '^ok - ' "$LAB_DIR/said")))
failed=$((failed + $(grep -c '^not ok - ' "$LAB_DIR/said")))
ok "there were examples" test "$passed" -ge 60
finish
