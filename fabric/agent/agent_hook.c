/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_hook.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES_MAX 200 /* of one hook in the log */
#define LIFE_FD	  3

#define HANGS_MS 5000 /* after the shell was to be killed: then the process in between goes, too   \
		       */

/* ---- the process in between: only what a threaded process may do after fork() ---- */

/* Not by the C library: what is preloaded for a simulated wire puts functions of its own in the
 * place of these, with a lock that another thread may have held at the fork. */
static int agent_hook_raw_open(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR);
}

static void agent_hook_raw_close(int fd)
{
	syscall(SYS_close, fd);
}

static ssize_t agent_hook_raw_read(int fd, void *buf, size_t n)
{
	return syscall(SYS_read, fd, buf, n);
}

static void agent_hook_raw_poll(struct pollfd *fds, unsigned n)
{
	syscall(SYS_ppoll, fds, n, NULL, NULL, 0);
}

static void agent_hook_default_signals(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static pid_t agent_hook_start_shell(const char *command, char *const env[])
{
	char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)command, NULL };
	pid_t between = getpid(), pid = fork();

	if (pid) {
		setpgid(pid, pid);
		return pid;
	}
	setpgid(0, 0);
	agent_hook_default_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != between)
		_exit(127);
	agent_hook_raw_close(LIFE_FD);
	execve("/bin/sh", argv, env);
	_exit(127);
}

/* Returns its exit code, 128 and more after a signal. */
static int agent_hook_watch(pid_t shell, int signals)
{
	struct pollfd fds[2] = { { .fd = LIFE_FD, .events = POLLIN },
				 { .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo si;
	bool ordered = false;
	char c;
	int w;

	for (;;) {
		if (waitpid(shell, &w, WNOHANG) == shell)
			break;
		agent_hook_raw_poll(fds, 2);
		if (fds[1].revents && agent_hook_raw_read(signals, &si, sizeof(si)) < 0)
			continue;
		if (!fds[0].revents)
			continue;
		ordered = true;
		if (agent_hook_raw_read(LIFE_FD, &c, 1) == 1) {
			kill(-shell, SIGTERM);
			continue;
		}
		kill(-shell, SIGKILL);
		waitpid(shell, &w, 0);
		break;
	}
	/* who was ordered to end and only left children behind is not rid of them otherwise */
	if (ordered)
		kill(-shell, SIGKILL);
	return WIFEXITED(w) ? WEXITSTATUS(w) : 128 + WTERMSIG(w);
}

static void agent_hook_between(const char *command, char *const env[], int life, int out)
{
	int null = agent_hook_raw_open("/dev/null"), signals;
	sigset_t child;
	pid_t shell;

	setsid();
	agent_hook_default_signals();
	/* above the numbers that they get */
	life = fcntl(life, F_DUPFD, 10);
	out = fcntl(out, F_DUPFD, 10);
	if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || dup2(life, LIFE_FD) < 0)
		_exit(127);
	closefrom(LIFE_FD + 1);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signals = signalfd(-1, &child, SFD_CLOEXEC);
	shell = agent_hook_start_shell(command, env);
	if (shell < 0 || signals < 0)
		_exit(127);
	agent_hook_raw_close(1);
	agent_hook_raw_close(2);
	_exit(agent_hook_watch(shell, signals));
}

/* ---- ours ---- */

static bool agent_hook_named(const char *entry, const char *const *more)
{
	size_t n = strcspn(entry, "=") + 1;

	for (; *more; more++) {
		if (!strncmp(entry, *more, n))
			return true;
	}
	return false;
}

/* The environment with more in it, without what is preloaded for the wire: that is none of a hook's
 * business.  The caller frees the array, not the strings. */
static char **agent_hook_environment(const char *const *more)
{
	size_t n = 0, have = 0;
	char **env;

	while (environ && environ[n])
		n++;
	for (size_t i = 0; more[i]; i++)
		n++;
	env = xcalloc(n + 1, sizeof(*env));
	for (char **e = environ; e && *e; e++) {
		if (strncmp(*e, "LD_PRELOAD=", 11) && !agent_hook_named(*e, more))
			env[have++] = *e;
	}
	for (; *more; more++)
		env[have++] = (char *)(uintptr_t)*more;
	return env;
}

static void agent_hook_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int agent_hook_start(struct agent_hook *h, const char *command, const char *const *env,
		     const char *what, uint64_t now_ms, uint32_t limit_ms, struct err *err)
{
	int life[2] = { -1, -1 }, out[2] = { -1, -1 }, rc = 0;
	char **all;

	*h = (struct agent_hook){
		.life = -1, .out = -1, .area = "agent", .end_ms = now_ms + limit_ms
	};
	snprintf(h->what, sizeof(h->what), "%s", what);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life) || pipe2(out, O_CLOEXEC))
		rc = -errno;
	all = agent_hook_environment(env);
	if (!rc) {
		h->pid = fork();
		if (!h->pid)
			agent_hook_between(command, all, life[0], out[1]);
		rc = h->pid < 0 ? -errno : 0;
	}
	free(all);
	agent_hook_close_fd(&life[0]);
	agent_hook_close_fd(&out[1]);
	if (!rc) {
		h->life = life[1];
		h->out = out[0];
		fcntl(h->out, F_SETFL, O_NONBLOCK);
		return 0;
	}
	agent_hook_close_fd(&life[1]);
	agent_hook_close_fd(&out[0]);
	h->pid = 0;
	return err_set(err, rc, "the %s cannot be started: %s", what, strerror(-rc));
}

static void agent_hook_log_line(struct agent_hook *h)
{
	h->line[h->nline] = 0;
	if (h->nline && h->lines < LINES_MAX)
		log_add(LOG_INFO, h->area, "%s: %s", h->what, h->line);
	if (h->nline && ++h->lines == LINES_MAX)
		log_add(LOG_WARN, h->area, "%s: prints more than %d lines; the rest is not shown",
			h->what, LINES_MAX);
	h->nline = 0;
}

static void agent_hook_read_output(struct agent_hook *h)
{
	char buf[4096];
	ssize_t n;

	/* no more than this at once: a flood must not keep us from the rest */
	for (int k = 0; k < 16 && h->out >= 0; k++) {
		n = read(h->out, buf, sizeof(buf));
		if (!n)
			agent_hook_close_fd(&h->out);
		if (n <= 0)
			return;
		for (ssize_t i = 0; i < n; i++) {
			bool end = buf[i] == '\n';

			if (!end)
				h->line[h->nline++] = buf[i] >= ' ' && buf[i] <= '~' ? buf[i] : '?';
			if (end || h->nline == sizeof(h->line) - 1)
				agent_hook_log_line(h);
		}
	}
}

static int agent_hook_verdict(const struct agent_hook *h, int w, struct err *err)
{
	int code = WIFEXITED(w) ? WEXITSTATUS(w) : 128 + WTERMSIG(w);

	if (h->late)
		return err_set(err, -ETIMEDOUT, "the %s took too long and was killed", h->what);
	if (h->kill_ms)
		return err_set(err, -ECANCELED, "the %s was stopped: it is no longer needed",
			       h->what);
	if (!code)
		return 0;
	if (code > 128)
		return err_set(err, -EIO, "the %s was killed by signal %d (%s)", h->what,
			       code - 128, strsignal(code - 128));
	return err_set(err, -EIO, "the %s failed with exit code %d%s", h->what, code,
		       code == 127 ? ": is the command there?" : "");
}

bool agent_hook_turn(struct agent_hook *h, uint64_t now_ms, int *rc, struct err *err)
{
	pid_t got;
	int w = 0;

	if (!h->kill_ms && now_ms >= h->end_ms) {
		h->late = true;
		agent_hook_stop(h, now_ms);
	}
	if (h->kill_ms && now_ms >= h->kill_ms)
		agent_hook_close_fd(&h->life);
	if (h->kill_ms && now_ms >= h->kill_ms + HANGS_MS)
		kill(h->pid, SIGKILL);
	got = waitpid(h->pid, &w, WNOHANG);
	agent_hook_read_output(h);
	if (!got)
		return false;
	*rc = got < 0 ? err_set(err, -ECHILD, "the %s disappeared", h->what)
		      : agent_hook_verdict(h, w, err);
	agent_hook_log_line(h);
	agent_hook_close_fd(&h->life);
	agent_hook_close_fd(&h->out);
	h->pid = 0;
	return true;
}

void agent_hook_stop(struct agent_hook *h, uint64_t now_ms)
{
	if (h->kill_ms || !h->pid)
		return;
	h->kill_ms = now_ms + AGENT_HOOK_GRACE_MS;
	/* what cannot be sent finds the other end gone: then it is over anyway */
	if (h->life >= 0 && send(h->life, "t", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		agent_hook_close_fd(&h->life);
}

void agent_hook_kill(struct agent_hook *h)
{
	uint64_t hangs_ms = clock_ms() + HANGS_MS;
	int w;

	if (!h->pid)
		return;
	agent_hook_close_fd(&h->life);
	while (!waitpid(h->pid, &w, WNOHANG)) {
		if (clock_ms() >= hangs_ms)
			kill(h->pid, SIGKILL);
		clock_rest_us(2000);
	}
	agent_hook_read_output(h);
	agent_hook_log_line(h);
	agent_hook_close_fd(&h->out);
	h->pid = 0;
}
