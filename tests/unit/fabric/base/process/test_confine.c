/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What confined processes can still do, and what not; each in a child of its own. */
#include "fabric/base/process/confine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* The line in which it failed, 0: none; 255: a signal. */
static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

#define NEED(what)                                                                                 \
	do {                                                                                       \
		errno = 0;                                                                         \
		if (!(what))                                                                       \
			return __LINE__ % 250 + 1;                                                 \
	} while (0)
#define DENIED(call) NEED((long)(call) < 0 && (errno == EPERM || errno == EACCES))

static int open_at(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

static int computing(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	char *argv[] = { (char *)"true", NULL }, buf[64];
	int null = open("/dev/null", O_RDWR), self = open("/proc/self/exe", O_RDONLY), fds[2];
	struct timespec ts;
	char *m;

	NEED(null >= 0 && self >= 0);
	NEED(!confine_to_computing(NULL));
	DENIED(open_at("/etc/passwd", O_RDONLY));
	DENIED(open_at("/dev/null", O_WRONLY));
	DENIED(open_at("/tmp/ibroute-never", O_CREAT | O_WRONLY));
	DENIED(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0));
	DENIED(socket(AF_INET, SOCK_STREAM, 0));
	DENIED(socket(AF_UNIX, SOCK_STREAM, 0));
	DENIED(connect(null, (struct sockaddr *)&to, sizeof(to)));
	DENIED(pipe(fds));
	DENIED(memfd_create("x", 0));
	DENIED(mkdir("/tmp/ibroute-never", 0700));
	DENIED(unlink("/tmp/ibroute-never"));
	DENIED(rename("/tmp/ibroute-never", "/tmp/ibroute-never2"));
	DENIED(syscall(SYS_fork));
	DENIED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	DENIED(execve("/bin/true", argv, NULL));
	DENIED(kill(getppid(), 0));
	DENIED(syscall(SYS_tgkill, getppid(), getppid(), 0));
	DENIED(syscall(SYS_ptrace, 16, getppid(), 0, 0));
	DENIED(syscall(SYS_io_uring_setup, 1, NULL));
	DENIED(syscall(SYS_bpf, 0, NULL, 0));
	DENIED(chmod("/tmp", 0777));
	/* what a reader does */
	NEED(read(self, buf, 16) == 16 && lseek(self, 0, SEEK_SET) == 0);
	NEED(write(null, buf, 16) == 16);
	m = mmap(NULL, 4u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(m != MAP_FAILED);
	m[4096] = 1;
	NEED(!munmap(m, 4u << 20));
	for (size_t n = 1; n < 8u << 20; n *= 3) {
		m = malloc(n);
		NEED(m);
		memset(m, 1, n);
		free(m);
	}
	NEED(!clock_gettime(CLOCK_REALTIME, &ts));
	return 0;
}

static int asking(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	char *argv[] = { (char *)"true", NULL };
	int s, fd;

	NEED(!confine_to_asking(NULL));
	DENIED(execve("/bin/true", argv, NULL));
	DENIED(open_at("/tmp/ibroute-never", O_CREAT | O_WRONLY));
	DENIED(open_at("/proc/self/comm", O_WRONLY));
	DENIED(mkdir("/tmp/ibroute-never", 0700));
	DENIED(rename("/etc/hostname", "/etc/hostname2"));
	DENIED(chmod("/tmp", 01777));
	DENIED(syscall(SYS_ptrace, 16, getppid(), 0, 0));
	NEED((fd = open("/etc/passwd", O_RDONLY)) >= 0);
	NEED((fd = open("/dev/null", O_RDWR)) >= 0);
	NEED((s = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
	DENIED(listen(s, 1));
	NEED(connect(s, (struct sockaddr *)&at, sizeof(at)) < 0 && errno != EPERM &&
	     errno != EACCES);
	return 0;
}

static int reading(void)
{
	char *argv[] = { (char *)"true", NULL };

	NEED(!confine_to_reading(NULL));
	DENIED(execve("/bin/true", argv, NULL));
	DENIED(open_at("/tmp/ibroute-never", O_CREAT | O_WRONLY));
	DENIED(socket(AF_UNIX, SOCK_STREAM, 0));
	DENIED(socket(AF_INET, SOCK_STREAM, 0));
	DENIED(kill(getppid(), 0));
	NEED(open("/etc/passwd", O_RDONLY) >= 0);
	NEED(write(STDOUT_FILENO, "", 0) == 0);
	return 0;
}

static char folder[] = "/tmp/ibroute-confine-XXXXXX";

static int writing(bool logs)
{
	char *argv[] = { (char *)"true", NULL }, path[64], other[64];
	int fd;

	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	NEED(!confine_to_writing(folder, logs, NULL));
	NEED((fd = open_at(path, O_CREAT | O_EXCL | O_RDWR)) >= 0);
	NEED(write(fd, "x", 1) == 1 && !ftruncate(fd, 0));
	NEED(!rename(path, other) && !unlink(other));
	DENIED(open_at("/tmp/ibroute-never", O_CREAT | O_WRONLY));
	DENIED(open_at("/proc/self/comm", O_WRONLY));
	DENIED(mkdir(path, 0700));
	DENIED(execve("/bin/true", argv, NULL));
	DENIED(fchmod(fd, 0666));
	DENIED(chmod(folder, 0777));
	DENIED(socket(AF_INET, SOCK_STREAM, 0));
	DENIED(kill(getppid(), 0));
	NEED(open("/etc/passwd", O_RDONLY) >= 0);
	if (logs) {
		NEED(!fchmod(fd, 0640));
		NEED(socket(AF_UNIX, SOCK_DGRAM, 0) >= 0);
	} else {
		DENIED(fchmod(fd, 0640));
		DENIED(socket(AF_UNIX, SOCK_DGRAM, 0));
	}
	return 0;
}

static int writing_alone(void)
{
	return writing(false);
}

static int writing_and_logging(void)
{
	return writing(true);
}

static bool has_none(const char *field)
{
	char line[256];
	bool none = false;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, strlen(field)))
			none = strtoull(line + strlen(field), NULL, 16) == 0;
	if (f)
		fclose(f);
	return none;
}

static int nothing_left(void)
{
	NEED(!confine_capabilities(0, NULL));
	NEED(has_none("CapPrm:") && has_none("CapEff:") && has_none("CapInh:") &&
	     has_none("CapAmb:"));
	NEED(geteuid() || has_none("CapBnd:"));
	NEED(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	return 0;
}

/* Root's files, which is all that a port needs, and nobody else's. */
static int roots_own(void)
{
	char path[] = "/tmp/ibroute-confine-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0 && !fchmod(fd, 0600));
	NEED(!confine_capabilities(0, NULL));
	NEED((fd = open_at(path, O_RDWR)) >= 0);
	NEED(!unlink(path));
	return 0;
}

static int others(bool keep)
{
	char path[] = "/tmp/ibroute-confine-XXXXXX";
	int fd = mkstemp(path), opened;

	NEED(fd >= 0 && !fchmod(fd, 0600) && !fchown(fd, 65534, 65534));
	NEED(!confine_capabilities(keep ? CONFINE_KEEP_FILES : 0, NULL));
	opened = open_at(path, O_RDWR);
	unlink(path); /* in a sticky folder only its owner may, or who has the capability */
	NEED(keep == (opened >= 0));
	return 0;
}

static int others_not(void)
{
	return others(false);
}

static int others_kept(void)
{
	return others(true);
}

/* A group that this process is not in. */
static int given_to_a_group(unsigned keep)
{
	char path[] = "/tmp/ibroute-confine-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0 && !setgroups(0, NULL));
	NEED(!confine_capabilities(keep, NULL));
	unlink(path);
	if (keep != CONFINE_KEEP_GROUPS)
		DENIED(fchown(fd, (uid_t)-1, 65533));
	else
		NEED(!fchown(fd, (uid_t)-1, 65533));
	return 0;
}

static int groups_kept(void)
{
	return given_to_a_group(CONFINE_KEEP_GROUPS);
}

static int groups_not(void)
{
	return given_to_a_group(CONFINE_KEEP_FILES);
}

static int through_exec(void)
{
	char *argv[] = { (char *)"grep", (char *)"-q", (char *)"^CapEff:.*0000000000000000$",
			 (char *)"/proc/self/status", NULL };

	NEED(!confine_capabilities(0, NULL));
	execv("/bin/grep", argv);
	return 1;
}

static void a_reader_can_open_make_send_and_start_nothing(void **state)
{
	(void)state;
	if (SANITIZED || !confine_has_seccomp())
		skip();
	assert_int_equal(in_child(computing), 0);
}

static void who_asks_slurm_or_reads_records_starts_and_writes_nothing(void **state)
{
	(void)state;
	if (SANITIZED || !confine_has_seccomp() || !confine_landlock_abi())
		skip();
	assert_int_equal(in_child(asking), 0);
	assert_int_equal(in_child(reading), 0);
}

static void who_writes_into_a_folder_writes_nowhere_else(void **state)
{
	(void)state;
	if (SANITIZED || !confine_has_seccomp() || !confine_landlock_abi())
		skip();
	assert_non_null(mkdtemp(folder));
	assert_int_equal(in_child(writing_alone), 0);
	assert_int_equal(in_child(writing_and_logging), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void no_capability_is_left(void **state)
{
	(void)state;
	assert_int_equal(in_child(nothing_left), 0);
	assert_int_equal(in_child(through_exec), 0);
}

static void root_has_its_own_files_and_others_only_where_kept(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(in_child(roots_own), 0);
	assert_int_equal(in_child(others_not), 0);
	assert_int_equal(in_child(others_kept), 0);
}

static void files_are_given_to_groups_only_where_that_is_kept(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(in_child(groups_kept), 0);
	assert_int_equal(in_child(groups_not), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_can_open_make_send_and_start_nothing),
		cmocka_unit_test(who_asks_slurm_or_reads_records_starts_and_writes_nothing),
		cmocka_unit_test(who_writes_into_a_folder_writes_nowhere_else),
		cmocka_unit_test(no_capability_is_left),
		cmocka_unit_test(root_has_its_own_files_and_others_only_where_kept),
		cmocka_unit_test(files_are_given_to_groups_only_where_that_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
