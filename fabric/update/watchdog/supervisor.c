/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/supervisor.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/stamp.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/watchdog/wall_notify.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PRELOAD	     "LD_PRELOAD="
#define PRELOAD_KEPT "IBROUTE_WATCHDOG_PRELOAD="
#define STARTED	     "IBROUTE_WATCHDOG_STARTED=" /* in what was started, and nowhere else */
#define LOG_NAME     "watchdog.log"
#define LOG_BYTES    (1 << 20)
#define TRIES	     200
#define PAUSE_MS     100 /* before the next try, doubled up to ... */
#define PAUSE_MAX_MS 20000
#define STOPPED_MS   500 /* between two looks whether the worker was stopped */

/* ---- starting processes ---- */

static int supervisor_open_pid(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool supervisor_begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* What is preloaded is for the wire: ibsim's library takes a client's place in every program that
 * it is in.  The supervisor only hands it on.  The caller frees the array and its first string. */
static char **supervisor_environment(bool wire)
{
	const char *kept = getenv("IBROUTE_WATCHDOG_PRELOAD"), *now = getenv("LD_PRELOAD");
	const char *lib = kept ? kept : now ? now : "";
	size_t n = 0, have = 1;
	char **env;

	while (environ && environ[n])
		n++;
	env = xcalloc(n + 3, sizeof(*env));
	env[0] = xasprintf("%s%s", wire ? PRELOAD : PRELOAD_KEPT, lib);
	env[have++] = (char *)STARTED "1";
	for (size_t i = 0; i < n; i++)
		if (!supervisor_begins(environ[i], PRELOAD) &&
		    !supervisor_begins(environ[i], STARTED) &&
		    !supervisor_begins(environ[i], PRELOAD_KEPT))
			env[have++] = environ[i];
	return env;
}

static void supervisor_free_environment(char **env)
{
	free(env[0]);
	free(env);
}

/* In the child: only what may be called between fork and exec of a program with threads. */
static void supervisor_become(const int fds[SUPERVISOR_FDS], char *const argv[], char *const env[],
			      bool detach)
{
	int high[SUPERVISOR_FDS];
	sigset_t none;

	setsid();
	if (detach && fork()) /* the child of a child is nobody's to wait for */
		_exit(0);
	for (int i = SUPERVISOR_CONFIG; i < SUPERVISOR_FDS; i++)
		high[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD, 64);
	for (int i = SUPERVISOR_CONFIG; i < SUPERVISOR_FDS; i++)
		if (high[i] < 0 ? (close(i), false) : dup2(high[i], i) < 0)
			_exit(127);
	syscall(SYS_close_range, SUPERVISOR_FDS, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve("/proc/self/exe", argv, env);
	_exit(127);
}

static pid_t supervisor_do_start(const int fds[SUPERVISOR_FDS], const char *role, const char *id,
				 const char *pid, bool detach)
{
	const char *argv[] = { "ibroute-top", GUARD_ARG, role, id, id ? pid : NULL, NULL };
	char **env = supervisor_environment(!strcmp(role, "worker"));
	pid_t child = fork();

	if (!child)
		supervisor_become(fds, (char *const *)argv, env, detach);
	supervisor_free_environment(env);
	return child < 0 ? -errno : child;
}

int supervisor_start(int config, int plan, int client, const char *id, struct err *err)
{
	int fds[SUPERVISOR_FDS] = { 0, 0, 0, config, plan, client, -1, -1 };
	pid_t pid;

	/* a program that does not know its part would begin an update of its own, and so on */
	if (getenv("IBROUTE_WATCHDOG_STARTED"))
		return err_set(err, -ELOOP, "a watchdog does not begin updates");
	pid = supervisor_do_start(fds, "guard", id, NULL, true);
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	return pid > 0 ? 0
		       : err_set(err, (int)pid, "the watchdog cannot be started: %s",
				 strerror(-(int)pid));
}

int supervisor_memory(const char *name, const void *data, size_t len)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

	if (fd < 0)
		return -errno;
	if (!store_append(fd, name, data, len, NULL) && !fcntl(fd, F_ADD_SEALS, seals))
		return fd;
	close(fd);
	return -EIO;
}

/* ---- the log ---- */

static char log_who[40];

static void supervisor_to_log(void *ctx, const struct log_line *line)
{
	char when[STAMP_LEN];

	(void)ctx;
	if (line->level == LOG_DEBUG)
		return;
	stamp_utc(when, sizeof(when), "%FT%TZ", (int64_t)(line->time_ns / 1000000000));
	fprintf(stderr, "%s %s[%ld] %s %s: %s\n", when, log_who, (long)getpid(),
		log_level_name(line->level), line->area, line->text);
}

static int supervisor_open_log(const char *base)
{
	char *path = xasprintf("%s/%s", base, LOG_NAME), *old = xasprintf("%s.1", path);
	struct stat st;
	int fd;

	if (!stat(path, &st) && st.st_size > LOG_BYTES)
		rename(path, old);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	free(old);
	free(path);
	return fd >= 0 ? fd : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

void supervisor_log(const char *base, const char *who)
{
	int fd = supervisor_open_log(base), null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	snprintf(log_who, sizeof(log_who), "%s", who);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		close(null);
	}
	if (fd >= 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		close(fd);
	}
	setlinebuf(stdout);
	setlinebuf(stderr);
	log_set_sink(supervisor_to_log, NULL);
}

/* ---- the supervisor ---- */

struct supervisor {
	char *base;
	char id[48];  /* "" while there is no journal */
	pid_t worker; /* 0: none */
	bool child;
	int peer;   /* its pidfd */
	int pipe;   /* its messages; -1: closed */
	int lock;   /* on the journal */
	int status; /* of the last child */
	unsigned tries;
	bool client; /* SUPERVISOR_CLIENT is still what it was */
};

static char *supervisor_read_base(void)
{
	json_error_t je;
	json_t *j;
	char *data, *base;
	size_t len;

	if (store_read(&data, &len, "/proc/self/fd/3", NULL))
		return xstrdup(journal_base(NULL));
	j = json_loadb(data, len, 0, &je);
	base = xstrdup(journal_base(json_string_value(json_object_get(j, "state_dir"))));
	json_decref(j);
	explicit_bzero(data, len);
	free(data);
	return base;
}

static void supervisor_take_lock(struct supervisor *g)
{
	char *path, me[40];
	struct err err = { "" };

	if (!g->id[0] || g->lock >= 0)
		return;
	path = xasprintf("%s/%s/%s", g->base, g->id, JOURNAL_SUPERVISOR);
	snprintf(me, sizeof(me), "process %ld", (long)getpid());
	if (store_lock(&g->lock, path, me, false, &err))
		log_add(LOG_WARN, "guard", "%s", err.text);
	free(path);
}

static void supervisor_start_worker(struct supervisor *g)
{
	int fds[SUPERVISOR_FDS] = { 0,	0, 0, SUPERVISOR_CONFIG, SUPERVISOR_PLAN, SUPERVISOR_CLIENT,
				    -1, -1 };
	int pipes[2] = { -1, -1 };

	fds[SUPERVISOR_PEER] = supervisor_open_pid(getpid());
	if (pipe2(pipes, O_CLOEXEC))
		log_add(LOG_ERROR, "guard", "pipe: %s", strerror(errno));
	fds[SUPERVISOR_PIPE] = pipes[1];
	if (!g->client)
		fds[SUPERVISOR_CLIENT] = -1;
	g->worker = supervisor_do_start(fds, "worker", g->id[0] ? g->id : NULL, NULL, false);
	g->child = true;
	g->pipe = pipes[0];
	g->peer = g->worker > 0 ? supervisor_open_pid(g->worker) : -1;
	close(fds[SUPERVISOR_PEER]);
	if (pipes[1] >= 0)
		close(pipes[1]);
	if (g->client)
		close(SUPERVISOR_CLIENT); /* the worker has it: its end is to be the end */
	g->client = false;
	if (g->worker < 0) {
		log_add(LOG_ERROR, "guard", "the worker cannot be started: %s",
			strerror(-(int)g->worker));
		g->worker = 0;
	}
}

static void supervisor_hear(struct supervisor *g)
{
	char id[sizeof(g->id)] = "";
	ssize_t n = read(g->pipe, id, sizeof(id) - 1);

	if (n > 0 && !g->id[0]) {
		memcpy(g->id, id, sizeof(id));
		supervisor_take_lock(g);
	}
	if (n <= 0) {
		close(g->pipe);
		g->pipe = -1;
	}
}

/* "PID (NAME) STATE ...": the state letter of a process; 0: it cannot be read. */
static char supervisor_state_of(pid_t pid)
{
	char path[40], line[200], *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return at && at[1] == ' ' ? at[2] : 0;
}

/* Drained jobs wait for it, and its deadline does not. */
static void supervisor_continue_worker(const struct supervisor *g)
{
	if (supervisor_state_of(g->worker) != 'T')
		return;
	log_add(LOG_WARN, "guard", "the worker, process %d, was stopped by a signal: continuing it",
		(int)g->worker);
	kill(g->worker, SIGCONT);
}

/* Until the worker has ended; all of its messages are read. */
static void supervisor_watch_worker(struct supervisor *g)
{
	for (bool dead = false; !dead;) {
		struct pollfd p[] = { { .fd = g->peer, .events = POLLIN },
				      { .fd = g->pipe, .events = POLLIN } };

		int n = poll(p, 2, STOPPED_MS);

		if (!n)
			supervisor_continue_worker(g);
		if (n <= 0)
			continue;
		if (g->pipe >= 0 && p[1].revents)
			supervisor_hear(g);
		else
			dead = p[0].revents != 0;
	}
	close(g->peer);
	g->peer = -1;
	g->status = 0;
	if (g->child)
		while (waitpid(g->worker, &g->status, 0) < 0 && errno == EINTR)
			;
}

/* For a worker that died before it reported its journal: found by its process ID. */
static bool supervisor_find(struct supervisor *g, struct txn_info *out)
{
	bool found = journal_newest(out, g->base, g->id, g->worker, true);

	if (found && !g->id[0]) {
		snprintf(g->id, sizeof(g->id), "%s", out->head.id);
		supervisor_take_lock(g);
	}
	return found;
}

/* How it died, for people. */
static void supervisor_how(char *buf, size_t size, const struct supervisor *g)
{
	if (!g->child)
		snprintf(buf, size, "is gone");
	else if (WIFSIGNALED(g->status))
		snprintf(buf, size, "was killed by signal %d", WTERMSIG(g->status));
	else
		snprintf(buf, size, "exited with %d", WEXITSTATUS(g->status));
}

static void supervisor_rest(unsigned tries)
{
	unsigned ms = PAUSE_MS << (tries < 8 ? tries : 8);
	struct timespec t;

	ms = ms > PAUSE_MAX_MS ? PAUSE_MAX_MS : ms;
	t = (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Is there something left to do, and is it ours?  A worker that says "incomplete" has done
 * what can be done. */
static bool supervisor_go_on(struct supervisor *g)
{
	struct txn_info t;
	char died[60], text[200];
	bool killed = !g->child || WIFSIGNALED(g->status);

	supervisor_how(died, sizeof(died), g);
	if (!supervisor_find(g, &t)) {
		log_add(LOG_INFO, "guard", "the worker %s; no update was started", died);
		return false;
	}
	if (txn_state_final(t.state) || t.state == TXN_INCOMPLETE) {
		snprintf(text, sizeof(text), "update %s: %s", g->id, txn_state_name(t.state));
		if (killed && g->child)
			wall_notify(t.head.user, text);
		log_add(LOG_INFO, "guard", "%s; the worker %s", text, died);
		return false;
	}
	if (++g->tries > TRIES) {
		snprintf(text, sizeof(text),
			 "update %s: left %s; its watchdog ended %u times; roll it back by hand "
			 "(ibroute-top rollback %s)",
			 g->id, txn_state_name(t.state), TRIES, g->id);
		wall_notify(t.head.user, text);
		log_add(LOG_ERROR, "guard", "%s", text);
		return false;
	}
	log_add(LOG_WARN, "guard", "the worker %s while %s was %s: starting it again to roll back",
		died, g->id, txn_state_name(t.state));
	return true;
}

int supervisor_main(int argc, char **argv)
{
	struct supervisor g = { .lock = -1, .peer = -1, .pipe = -1 };

	g.client = fcntl(SUPERVISOR_CLIENT, F_GETFD) >= 0;
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN); /* the worker takes it as a wish to roll back, and ends */
	signal(SIGCHLD, SIG_DFL);
	for (int i = SUPERVISOR_CONFIG; i < SUPERVISOR_FDS; i++)
		fcntl(i, F_SETFD, FD_CLOEXEC);
	g.base = supervisor_read_base();
	supervisor_log(g.base, "guard");
	if (argc > 1)
		snprintf(g.id, sizeof(g.id), "%s", argv[1]);
	supervisor_take_lock(&g);
	if (argc > 2) { /* of a worker that is there */
		g.worker = (pid_t)strtol(argv[2], NULL, 10);
		g.peer = fcntl(SUPERVISOR_PEER, F_DUPFD_CLOEXEC, 10);
		g.pipe = fcntl(SUPERVISOR_PIPE, F_DUPFD_CLOEXEC, 10);
		supervisor_watch_worker(&g);
		if (!supervisor_go_on(&g))
			return 0;
	}
	for (;;) {
		supervisor_start_worker(&g);
		if (g.worker)
			supervisor_watch_worker(&g);
		else if (!g.id[0])
			return 1;
		if (!supervisor_go_on(&g))
			return 0;
		supervisor_rest(g.tries);
	}
}

/* ---- the worker's side ---- */

struct supervisor_link {
	char *base;
	char id[48];
	int fd, pipe;
	pid_t pid;
	bool child;
	pthread_mutex_t lock; /* one thread renews, the other sends */
};

struct supervisor_link *supervisor_link_new(const char *base)
{
	struct supervisor_link *g = xcalloc(1, sizeof(*g));

	g->base = xstrdup(base);
	pthread_mutex_init(&g->lock, NULL);
	for (int i = SUPERVISOR_CONFIG; i < SUPERVISOR_FDS; i++)
		fcntl(i, F_SETFD, FD_CLOEXEC);
	g->fd = fcntl(SUPERVISOR_PEER, F_GETFD) < 0 ? -1 : SUPERVISOR_PEER;
	g->pipe = fcntl(SUPERVISOR_PIPE, F_GETFD) < 0 ? -1 : SUPERVISOR_PIPE;
	g->pid = getppid();
	return g;
}

int supervisor_fd(const struct supervisor_link *g)
{
	return g->fd;
}

pid_t supervisor_pid(const struct supervisor_link *g)
{
	return g ? g->pid : 0;
}

void supervisor_send_id(struct supervisor_link *g, const char *id)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	snprintf(g->id, sizeof(g->id), "%s", id);
	if (g->pipe >= 0 && write(g->pipe, g->id, strlen(g->id)) < 0)
		log_add(LOG_WARN, "watchdog", "the supervisor does not listen: %s",
			strerror(errno));
	pthread_mutex_unlock(&g->lock);
}

static void supervisor_do_renew(struct supervisor_link *g)
{
	int fds[SUPERVISOR_FDS] = { 0, 0, 0, SUPERVISOR_CONFIG, SUPERVISOR_PLAN, -1, -1, -1 };
	int pipes[2] = { -1, -1 };
	char me[24];

	if (g->child)
		waitpid(g->pid, NULL, WNOHANG);
	close(g->fd);
	if (g->pipe >= 0)
		close(g->pipe);
	snprintf(me, sizeof(me), "%ld", (long)getpid());
	fds[SUPERVISOR_PEER] = supervisor_open_pid(getpid());
	if (pipe2(pipes, O_CLOEXEC))
		pipes[0] = pipes[1] = -1;
	fds[SUPERVISOR_PIPE] = pipes[0];
	g->pid = supervisor_do_start(fds, "guard", g->id, me, false);
	g->child = true;
	g->pipe = pipes[1];
	close(fds[SUPERVISOR_PEER]);
	if (pipes[0] >= 0)
		close(pipes[0]);
	g->fd = g->pid > 0 ? supervisor_open_pid(g->pid) : -1;
}

int supervisor_renew(struct supervisor_link *g)
{
	pthread_mutex_lock(&g->lock);
	supervisor_do_renew(g);
	pthread_mutex_unlock(&g->lock);
	return g->fd;
}
