/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * served: the program, begun once and forked for each command line, for mutate.py: to begin it
 *takes longer than most commands do.
 *
 *	served --serve SECONDS	requests on stdin: "LEN LEAKS", a line, then LEN bytes of words that
 *end with NUL; LEAKS 0: nobody looks for leaks.  Answers on stdout, a line each: the process that
 *runs it, then its status, ms of CPU and maximum of kB.  stderr goes to a file of that name;
 *SECONDS of CPU at most. served ...		the program itself, as its own processes start it
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEN_MAX	  (1u << 22)
#define WORDS_MAX 256

int served_main(int argc, char **argv); /* console/cli/main.c */
/* asked by LeakSanitizer, a library, at the end */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
struct err;
int __real_confine_to_reading(struct err *err);
int __wrap_confine_to_reading(struct err *err);
int __real_confine_to_asking(struct err *err);
int __wrap_confine_to_asking(struct err *err);
int __real_confine_to_writing(const char *dir, bool logs, struct err *err);
int __wrap_confine_to_writing(const char *dir, bool logs, struct err *err);

static int no_leaks;

int __lsan_is_turned_off(void)
{
	return no_leaks;
}

/* LeakSanitizer starts a process that traces this one, which it could not any more. */
int __wrap_confine_to_reading(struct err *err)
{
	return no_leaks ? __real_confine_to_reading(err) : 0;
}

int __wrap_confine_to_asking(struct err *err)
{
	return no_leaks ? __real_confine_to_asking(err) : 0;
}

int __wrap_confine_to_writing(const char *dir, bool logs, struct err *err)
{
	return no_leaks ? __real_confine_to_writing(dir, logs, err) : 0;
}

static void give_up(const char *what)
{
	fprintf(stderr, "served: %s: %s\n", what, strerror(errno));
	_exit(2);
}

/* Not by stdio: what it has read ahead would be the child's, too. */
static int take(int fd, char *to, size_t n)
{
	while (n) {
		ssize_t got = read(fd, to, n);

		if (got <= 0)
			return -1;
		to += got;
		n -= (size_t)got;
	}
	return 0;
}

static int take_head(int fd, unsigned *len)
{
	char line[32] = "";

	for (size_t i = 0; i + 1 < sizeof(line); i++) {
		if (take(fd, line + i, 1))
			return -1;
		if (line[i] == '\n')
			return sscanf(line, "%u %d", len, &no_leaks) == 2 && *len < LEN_MAX ? 0
											    : -1;
	}
	return -1;
}

static void put_in_place(const char *path, int flags, int fd)
{
	int file = open(path, flags | O_CLOEXEC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		give_up(path);
	if (file != fd)
		close(file);
}

__attribute__((noreturn)) static void run(char *words, unsigned len, rlim_t cpu_s)
{
	const struct rlimit cpu = { cpu_s + 1, cpu_s + 2 };
	static char name[] = "ibroute-top", *argv[WORDS_MAX + 2] = { name };
	int argc = 1;

	setpgid(0, 0);
	put_in_place("/dev/null", O_RDONLY, STDIN_FILENO);
	put_in_place("/dev/null", O_WRONLY, STDOUT_FILENO);
	put_in_place("stderr", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
	setrlimit(RLIMIT_CPU, &cpu);
	for (char *at = words; at < words + len && argc <= WORDS_MAX; at += strlen(at) + 1)
		argv[argc++] = at;
	exit(served_main(argc, argv));
}

static void answer(int fd, pid_t pid)
{
	struct rusage use;
	int status;

	dprintf(fd, "%d\n", (int)pid);
	while (wait4(pid, &status, 0, &use) < 0)
		if (errno != EINTR)
			give_up("wait");
	dprintf(fd, "%d %ld %ld\n", status,
		(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
			(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000,
		use.ru_maxrss);
}

static int serve(rlim_t cpu_s)
{
	int from = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
	int to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
	char *words = malloc(LEN_MAX);
	unsigned len;
	pid_t pid;

	if (from < 0 || to < 0 || !words)
		give_up("start");
	for (;;) {
		if (take_head(from, &len) || take(from, words, len))
			break;
		no_leaks = !no_leaks;
		words[len] = '\0';
		pid = fork();
		if (pid < 0)
			give_up("fork");
		if (!pid) {
			close(from);
			close(to);
			run(words, len, cpu_s);
		}
		answer(to, pid);
	}
	free(words);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--serve"))
		return serve(strtoul(argv[2], NULL, 10));
	return served_main(argc, argv);
}
