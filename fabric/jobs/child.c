/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/child.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void child_init(struct child *c)
{
	*c = (struct child){ .in = -1, .out = -1, .log = -1 };
}

void child_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A pipe whose end `ours` does not block. */
static int child_pipe_pair(int fds[2], int ours)
{
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fcntl(fds[ours], F_SETFL, O_NONBLOCK);
	return 0;
}

/* What is preloaded for the wire has no business in a child: ibsim's library takes a client's
 * place in every program it is in.  The caller frees the array, not the strings. */
static char **child_clean_environ(void)
{
	size_t n = 0, have = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = xcalloc(n + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], "LD_PRELOAD=", 11))
			env[have++] = environ[i];
	}
	return env;
}

static int child_spawn(pid_t *pid, const char *path, char *const argv[], const int fds[3])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	char **env = child_clean_environ();
	sigset_t all, none;
	int rc;

	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_adddup2(&files, fds[fd], fd);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	posix_spawnattr_init(&attr);
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	/* a session of its own: keys typed at the console are not for the child */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSID);
	rc = posix_spawn(pid, path, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	free(env);
	return -rc;
}

int child_start(struct child *c, const char *path, char *const argv[])
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, log[2] = { -1, -1 };
	int rc = child_pipe_pair(in, 1);

	child_init(c);
	if (!rc)
		rc = child_pipe_pair(out, 0);
	if (!rc)
		rc = child_pipe_pair(log, 0);
	if (!rc)
		rc = child_spawn(&c->pid, path, argv, (int[3]){ in[0], out[1], log[1] });
	child_close_fd(&in[0]);
	child_close_fd(&out[1]);
	child_close_fd(&log[1]);
	c->in = in[1];
	c->out = out[0];
	c->log = log[0];
	if (rc) {
		c->pid = 0;
		child_end(c);
	}
	return rc;
}

bool child_reap(struct child *c, int *wstatus)
{
	*wstatus = 0;
	/* an error means that somebody else has reaped it */
	if (c->pid && !waitpid(c->pid, wstatus, WNOHANG))
		return false;
	c->pid = 0;
	return true;
}

/* SIGKILL takes no time in practice; after 100 ms init may have the rest. */
void child_end(struct child *c)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	int wstatus;

	if (c->pid)
		kill(c->pid, SIGKILL);
	for (int k = 0; k < 100 && !child_reap(c, &wstatus); k++)
		nanosleep(&ms, NULL);
	child_close_fd(&c->in);
	child_close_fd(&c->out);
	child_close_fd(&c->log);
	c->pid = 0;
}
