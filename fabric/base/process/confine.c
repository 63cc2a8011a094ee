/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/process/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- capabilities ---- */

static int confine_no_new_privs(struct err *err)
{
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	return err_set(err, -errno, "no_new_privs cannot be set: %s", strerror(errno));
}

static bool confine_keeps(unsigned keep, cap_value_t c)
{
	return ((keep & CONFINE_KEEP_FILES) && c == CAP_DAC_OVERRIDE) ||
	       ((keep & CONFINE_KEEP_GROUPS) && c == CAP_CHOWN);
}

/* Of those that this process has. */
static int confine_want(cap_t want, cap_t now, unsigned keep)
{
	cap_flag_value_t has = CAP_CLEAR;
	int rc = 0;

	for (cap_value_t c = 0; !rc && c < cap_max_bits(); c++) {
		if (!confine_keeps(keep, c) || cap_get_flag(now, c, CAP_PERMITTED, &has) ||
		    has != CAP_SET)
			continue;
		if (cap_set_flag(want, CAP_PERMITTED, 1, &c, CAP_SET) ||
		    cap_set_flag(want, CAP_EFFECTIVE, 1, &c, CAP_SET))
			rc = -errno;
	}
	return rc;
}

int confine_capabilities(unsigned keep, struct err *err)
{
	cap_t now = cap_get_proc(), want = cap_init();
	int rc = 0;

	if (!now || !want) {
		rc = err_set(err, -ENOMEM, "out of memory");
		goto out;
	}
	rc = confine_want(want, now, keep);
	/* who may not do this has none to lose by exec() */
	for (cap_value_t c = 0; c < cap_max_bits(); c++)
		if (!confine_keeps(keep, c))
			cap_drop_bound(c);
	cap_reset_ambient();
	if (!rc && cap_set_proc(want))
		rc = err_set(err, -errno, "capabilities cannot be dropped: %s", strerror(errno));
	if (!rc)
		rc = confine_no_new_privs(err);
out:
	cap_free(now);
	cap_free(want);
	return rc;
}

/* ---- system calls ---- */

bool confine_has_seccomp(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

static int confine_load(scmp_filter_ctx f, int rc, struct err *err)
{
	/* EACCES of libseccomp: not allowed by no_new_privs */
	if (!rc)
		rc = seccomp_load(f);
	seccomp_release(f);
	if (!rc)
		return 0;
	return err_set(err, rc == -EINVAL ? -ENOSYS : rc,
		       "the kernel takes no filter of system calls: %s", strerror(-rc));
}

static int confine_add(scmp_filter_ctx f, uint32_t action, const int *calls, size_t n)
{
	int rc = 0;

	/* one that this architecture does not have is none to allow, or to forbid */
	for (size_t i = 0; i < n && !rc; i++) {
		rc = seccomp_rule_add(f, action, calls[i], 0);
		if (rc == -EDOM || rc == -EFAULT)
			rc = 0;
	}
	return rc;
}

#define CALLS(list) list, sizeof(list) / sizeof(*(list))

int confine_to_computing(struct err *err)
{
	static const int may[] = {
		SCMP_SYS(read),		 SCMP_SYS(readv),
		SCMP_SYS(pread64),	 SCMP_SYS(write),
		SCMP_SYS(writev),	 SCMP_SYS(pwrite64),
		SCMP_SYS(lseek),	 SCMP_SYS(_llseek),
		SCMP_SYS(close),	 SCMP_SYS(fstat),
		SCMP_SYS(fstat64),	 SCMP_SYS(newfstatat),
		SCMP_SYS(ftruncate),	 SCMP_SYS(mmap),
		SCMP_SYS(mmap2),	 SCMP_SYS(munmap),
		SCMP_SYS(mremap),	 SCMP_SYS(mprotect),
		SCMP_SYS(madvise),	 SCMP_SYS(brk),
		SCMP_SYS(futex),	 SCMP_SYS(sched_yield),
		SCMP_SYS(exit),		 SCMP_SYS(exit_group),
		SCMP_SYS(rt_sigaction),	 SCMP_SYS(rt_sigprocmask),
		SCMP_SYS(rt_sigreturn),	 SCMP_SYS(sigaltstack),
		SCMP_SYS(getpid),	 SCMP_SYS(gettid),
		SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64),
		SCMP_SYS(gettimeofday),	 SCMP_SYS(time),
		SCMP_SYS(nanosleep),	 SCMP_SYS(clock_nanosleep),
		SCMP_SYS(getrandom),	 SCMP_SYS(restart_syscall),
		SCMP_SYS(sysinfo),	 SCMP_SYS(dup),
	};
	scmp_filter_ctx f;
	int rc = confine_no_new_privs(err);

	if (rc)
		return rc;
	f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!f)
		return err_set(err, -ENOMEM, "out of memory");
	rc = confine_add(f, SCMP_ACT_ALLOW, CALLS(may));
	/* abort() */
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				      SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)getpid(), 0));
	return confine_load(f, rc, err);
}

/* ---- files ---- */

int confine_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

#define WRITES                                                                                     \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                              \
	 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |                          \
	 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |                              \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                              \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |                            \
	 LANDLOCK_ACCESS_FS_MAKE_SYM)

/* What is not there is left out: it cannot be written either. */
static void confine_allow_writes(int rules, const char *path, uint64_t what)
{
	struct landlock_path_beneath_attr at = { .allowed_access = what };

	at.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (at.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &at, 0);
	close(at.parent_fd);
}

/* dir: but there; or NULL. */
static int confine_read_only(const char *dir, struct err *err)
{
	struct landlock_ruleset_attr all = { .handled_access_fs = WRITES };
	int abi = confine_landlock_abi(), rules, rc = 0;

	if (!abi)
		return err_set(err, -ENOSYS, "the kernel has no landlock");
	all.handled_access_fs |= abi > 1 ? LANDLOCK_ACCESS_FS_REFER : 0;
	all.handled_access_fs |= abi > 2 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0;
	rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (rules < 0)
		return err_set(err, -errno, "landlock: %s", strerror(errno));
	/* libraries open it to have a descriptor at all */
	confine_allow_writes(rules, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE);
	if (dir)
		confine_allow_writes(rules, dir,
				     (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
				      LANDLOCK_ACCESS_FS_REMOVE_FILE |
				      LANDLOCK_ACCESS_FS_TRUNCATE) &
					     all.handled_access_fs);
	if (syscall(SYS_landlock_restrict_self, rules, 0))
		rc = err_set(err, -errno, "landlock: %s", strerror(errno));
	close(rules);
	return rc;
}

enum speaks_to { NOBODY, THIS_MACHINE, ANYBODY };

/* Mode 0640 is what a record gets; more than that no file needs. */
static int confine_filter_few(scmp_filter_ctx f, enum speaks_to whom)
{
	int rc = whom == THIS_MACHINE
			 ? seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fchmod), 1,
					    SCMP_A1_32(SCMP_CMP_NE, 0640, 0))
			 : seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fchmod), 0);

	if (!rc && whom == THIS_MACHINE)
		rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
				      SCMP_A0_32(SCMP_CMP_NE, AF_UNIX, 0));
	return rc;
}

/* What asks a service has no use for; listening included. */
static int confine_filter_asking(enum speaks_to whom, struct err *err)
{
	static const int not [] = {
		SCMP_SYS(execve),
		SCMP_SYS(execveat),
		SCMP_SYS(ptrace),
		SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev),
		SCMP_SYS(mount),
		SCMP_SYS(umount2),
		SCMP_SYS(pivot_root),
		SCMP_SYS(chroot),
		SCMP_SYS(setns),
		SCMP_SYS(unshare),
		SCMP_SYS(bpf),
		SCMP_SYS(perf_event_open),
		SCMP_SYS(userfaultfd),
		SCMP_SYS(io_uring_setup),
		SCMP_SYS(init_module),
		SCMP_SYS(finit_module),
		SCMP_SYS(delete_module),
		SCMP_SYS(kexec_load),
		SCMP_SYS(keyctl),
		SCMP_SYS(add_key),
		SCMP_SYS(request_key),
		SCMP_SYS(listen),
		SCMP_SYS(chmod),
		SCMP_SYS(fchmodat),
		SCMP_SYS(chown),
		SCMP_SYS(fchown),
		SCMP_SYS(lchown),
		SCMP_SYS(fchownat),
		SCMP_SYS(setxattr),
		SCMP_SYS(lsetxattr),
		SCMP_SYS(fsetxattr),
		SCMP_SYS(reboot),
		SCMP_SYS(swapon),
		SCMP_SYS(settimeofday),
		SCMP_SYS(clock_settime),
		SCMP_SYS(sethostname),
	};
	static const int to_others[] = { SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(socketcall) };
	static const int connects[] = { SCMP_SYS(socket), SCMP_SYS(connect) };
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (!f)
		return err_set(err, -ENOMEM, "out of memory");
	rc = confine_add(f, SCMP_ACT_ERRNO(EPERM), CALLS(not ));
	if (!rc)
		rc = confine_filter_few(f, whom);
	if (!rc && whom != ANYBODY)
		rc = confine_add(f, SCMP_ACT_ERRNO(EPERM), CALLS(to_others));
	if (!rc && whom == NOBODY)
		rc = confine_add(f, SCMP_ACT_ERRNO(EPERM), CALLS(connects));
	return confine_load(f, rc, err);
}

static int confine_to(const char *dir, enum speaks_to whom, struct err *err)
{
	struct err why;
	int rc = confine_no_new_privs(err), more;

	if (!rc)
		rc = confine_read_only(dir, err);
	more = confine_filter_asking(whom, rc ? &why : err);
	return rc ? rc : more;
}

int confine_to_asking(struct err *err)
{
	return confine_to(NULL, ANYBODY, err);
}

int confine_to_reading(struct err *err)
{
	return confine_to(NULL, NOBODY, err);
}

int confine_to_writing(const char *dir, bool logs, struct err *err)
{
	return confine_to(dir, logs ? THIS_MACHINE : NOBODY, err);
}
