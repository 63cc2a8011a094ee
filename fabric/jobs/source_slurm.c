/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parent's side of the SLURM poller: starts it, listens with a deadline, starts it again
 * after a growing pause when it ends.
 */
#include "fabric/jobs/source.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/jobs/child.h"
#include "fabric/jobs/jobwire.h"
#include "fabric/jobs/slurm_helper.h"
#include "fabric/jobs/squeue_poller.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define INTERVAL_MS    10000u
#define QUIET_MS       5000u  /* on top of the interval */
#define DEADLINE_MS    75000u /* likewise: libslurm takes up to 59 s to give up by itself */
#define BACKOFF_MS     1000u
#define BACKOFF_MAX_MS 60000u
#define GRACE_MS       500u /* between the end of the pipe and SIGKILL */
#define REAP_MS	       20u
#define READ_BYTES     65536u
#define LOGGED	       16
#define MAX_ARGS       7
#define READS_A_POLL   64 /* bounds the time that one poll takes */

enum phase {
	PHASE_PAUSED,  /* no process; starts at wake_ms */
	PHASE_RUNNING, /* the poller talks, or should */
	PHASE_ENDING,  /* waiting for its exit status; killed at wake_ms */
};

struct slurm_source {
	struct job_source base;
	enum phase phase;
	struct child child;
	int timer;
	char path[PATH_MAX];	    /* of its program */
	char interval[16];	    /* between its questions, in ms */
	bool own;		    /* ibroute-slurm, in whose place squeue can be asked */
	bool other_release;	    /* what talks speaks another version */
	char *poller[MAX_ARGS + 1]; /* its argv */
	uint32_t quiet_ms, deadline_ms, backoff_ms, pause_ms;
	uint64_t heard_ms, wake_ms;
	struct jobwire_reader *reader;
	char fault[400];		/* why we gave the poller up, "" while we did not */
	char line[300], last_line[300]; /* of this process's stderr */
	uint32_t logged[LOGGED]; /* checksums of the lines logged last, until the next list */
	uint32_t nlogged;
	size_t line_len;
};

/* Makes the descriptor readable in ms milliseconds; 0 is at once. */
static void source_slurm_arm(const struct slurm_source *s, uint64_t ms)
{
	struct itimerspec it = {
		.it_value = { .tv_sec = (time_t)(ms / 1000),
			      .tv_nsec = (long)(ms % 1000) * 1000000 + 1 },
	};

	timerfd_settime(s->timer, 0, &it, NULL);
}

static void source_slurm_set_state(struct slurm_source *s, enum source_state state,
				   const char *text)
{
	struct source_status *st = &s->base.status;

	if (st->state != state || strcmp(st->text, text))
		log_add(state == SOURCE_OK ? LOG_INFO : LOG_WARN, "slurm", "%s%s%s",
			source_state_name(state), *text ? ": " : "", text);
	st->state = state;
	snprintf(st->text, sizeof(st->text), "%s", text);
}

static int source_slurm_watch(const struct slurm_source *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(s->base.fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static void source_slurm_pause_poller(struct slurm_source *s)
{
	s->phase = PHASE_PAUSED;
	s->wake_ms = clock_ms() + s->pause_ms;
	s->pause_ms = s->pause_ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : s->pause_ms * 2;
}

static void source_slurm_start(struct slurm_source *s)
{
	char text[300];
	int rc;

	s->fault[0] = s->last_line[0] = '\0';
	s->other_release = false;
	s->line_len = 0;
	s->heard_ms = clock_ms();
	jobwire_reader_free(s->reader);
	s->reader = jobwire_reader_new();
	rc = child_start(&s->child, s->path, s->poller);
	if (!rc && (source_slurm_watch(s, s->child.out) || source_slurm_watch(s, s->child.log)))
		rc = -ENOMEM;
	if (!rc) {
		s->phase = PHASE_RUNNING;
		return;
	}
	child_end(&s->child);
	snprintf(text, sizeof(text), "cannot start the SLURM poller %.200s: %s", s->path,
		 strerror(-rc));
	source_slurm_set_state(s, SOURCE_DEAD, text);
	source_slurm_pause_poller(s);
}

/* libslurm repeats itself with every question, and every new poller says what the last said. */
static bool source_slurm_is_news(struct slurm_source *s)
{
	uint32_t sum = (uint32_t)crc32(0, (const Bytef *)s->line, (uInt)s->line_len);

	for (uint32_t i = 0; i < s->nlogged && i < LOGGED; i++) {
		if (s->logged[i] == sum)
			return false;
	}
	s->logged[s->nlogged++ % LOGGED] = sum;
	return true;
}

/* One line of the poller's stderr. */
static void source_slurm_take_line(struct slurm_source *s)
{
	s->line[s->line_len] = '\0';
	if (s->line_len) {
		memcpy(s->last_line, s->line, s->line_len + 1);
		if (source_slurm_is_news(s))
			log_add(LOG_WARN, "slurm", "%s", s->line);
	}
	s->line_len = 0;
}

static void source_slurm_read_log(struct slurm_source *s)
{
	char buf[4096];

	for (int k = 0; s->child.log >= 0 && k < READS_A_POLL; k++) {
		ssize_t n = read(s->child.log, buf, sizeof(buf));

		if (n == 0)
			child_close_fd(&s->child.log);
		if (n <= 0)
			return;
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] == '\n' || s->line_len + 1 == sizeof(s->line))
				source_slurm_take_line(s);
			else if ((unsigned char)buf[i] >= 0x20)
				s->line[s->line_len++] = buf[i];
		}
	}
}

static void source_slurm_take_msg(struct slurm_source *s, struct jobwire_msg *m)
{
	struct source_status *st = &s->base.status;

	if (m->type == JOBWIRE_HELLO)
		return;
	if (m->type == JOBWIRE_FAIL) {
		source_slurm_set_state(s, SOURCE_UNREACHABLE, m->text);
		return;
	}
	if (m->type == JOBWIRE_LIST) {
		job_list_put(s->base.newest);
		s->base.newest = m->list;
	}
	st->last_good_s = m->time_s;
	s->pause_ms = s->backoff_ms;
	s->nlogged = 0;
	source_slurm_set_state(s, SOURCE_OK, "");
}

/* Takes the whole frames that are there. */
static void source_slurm_take_msgs(struct slurm_source *s)
{
	struct jobwire_msg m;
	struct err err;
	int rc;

	while ((rc = jobwire_next(&m, s->reader, &err)) > 0) {
		s->heard_ms = clock_ms();
		source_slurm_take_msg(s, &m);
	}
	s->other_release = rc == -EPROTONOSUPPORT;
	if (rc < 0)
		snprintf(s->fault, sizeof(s->fault), "%.*s", (int)sizeof(s->fault) - 1, err.text);
}

static void source_slurm_read_msgs(struct slurm_source *s)
{
	static const size_t size = READ_BYTES;
	uint8_t *buf = xcalloc(size, 1);
	ssize_t n = 1;

	for (int k = 0; s->child.out >= 0 && !s->fault[0] && k < READS_A_POLL; k++) {
		n = read(s->child.out, buf, size);
		if (n <= 0)
			break;
		jobwire_feed(s->reader, buf, (size_t)n);
		source_slurm_take_msgs(s);
	}
	if (n == 0)
		child_close_fd(&s->child.out);
	free(buf);
}

/* Stops the process: end of file on its stdin, SIGKILL at wake_ms. */
static void source_slurm_end_poller(struct slurm_source *s, uint32_t grace_ms)
{
	s->phase = PHASE_ENDING;
	s->wake_ms = clock_ms() + grace_ms;
	child_close_fd(&s->child.in);
	child_close_fd(&s->child.out);
}

static void source_slurm_poll_running(struct slurm_source *s)
{
	uint64_t silent;
	char text[120];

	source_slurm_read_msgs(s);
	silent = clock_ms() - s->heard_ms;
	if (!s->fault[0] && silent >= s->deadline_ms)
		snprintf(s->fault, sizeof(s->fault),
			 "no response for %u s; the SLURM poller was killed",
			 (unsigned)(silent / 1000));
	if (s->fault[0] || s->child.out < 0) {
		source_slurm_end_poller(s, s->fault[0] ? 0 : GRACE_MS);
		return;
	}
	/* a new poller that is silent does not make a dead one better */
	if (silent < s->quiet_ms || s->base.status.state > SOURCE_OK)
		return;
	snprintf(text, sizeof(text), "no response from SLURM for %.1f s",
		 (double)s->quiet_ms / 1000);
	source_slurm_set_state(s, SOURCE_UNREACHABLE, text);
}

/* ---- squeue or sacct in the place of ibroute-slurm ---- */

static void source_slurm_set_poller(struct slurm_source *s, const char *const *argv)
{
	for (int i = 0; i < MAX_ARGS; i++) {
		free(s->poller[i]);
		s->poller[i] = argv[i] ? xstrdup(argv[i]) : NULL;
		if (!argv[i])
			break;
	}
}

static void source_slurm_ask_other(struct slurm_source *s, const char *other, const char *why)
{
	const char *const argv[] = { "ibroute-top", SQUEUE_POLLER_ARG, "--interval-ms", s->interval,
				     NULL };

	log_add(LOG_WARN, "slurm", "%s; %s is asked instead", why, other);
	s->own = false;
	snprintf(s->path, sizeof(s->path), "/proc/self/exe");
	source_slurm_set_poller(s, argv);
}

/* ibroute-slurm that does not fit: 127 is the exit code of a program without its libraries. */
static bool source_slurm_unfit(struct slurm_source *s, int wstatus, char *text, size_t size)
{
	if (!s->own)
		return false;
	if (s->other_release)
		snprintf(text, size,
			 "%.150s is of another release than this program (%.120s): "
			 "install both from one",
			 s->path, s->fault);
	else if (WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 127)
		snprintf(text, size,
			 "%.150s does not run with the libslurm here%s%.120s: build it for this "
			 "SLURM (make ibroute-slurm)",
			 s->path, s->last_line[0] ? ": " : "", s->last_line);
	else
		return false;
	return true;
}

/* What to report about a poller that has ended: our reason, its last words, or how it ended. */
static void source_slurm_report_end(struct slurm_source *s, int wstatus)
{
	char text[sizeof(s->fault)];

	if (source_slurm_unfit(s, wstatus, text, sizeof(text))) {
		if (slurm_helper_other())
			source_slurm_ask_other(s, slurm_helper_other(), text);
	} else if (s->fault[0])
		snprintf(text, sizeof(text), "%s", s->fault);
	else if (s->last_line[0])
		snprintf(text, sizeof(text), "the SLURM poller exited: %s", s->last_line);
	else if (WIFSIGNALED(wstatus))
		snprintf(text, sizeof(text), "the SLURM poller was killed by signal %d",
			 WTERMSIG(wstatus));
	else
		snprintf(text, sizeof(text), "the SLURM poller exited with code %d",
			 WEXITSTATUS(wstatus));
	source_slurm_set_state(s, SOURCE_DEAD, text);
}

static void source_slurm_poll_ending(struct slurm_source *s)
{
	int wstatus;

	if (!child_reap(&s->child, &wstatus)) {
		if (clock_ms() >= s->wake_ms)
			kill(s->child.pid, SIGKILL);
		return;
	}
	source_slurm_take_line(s);
	child_close_fd(&s->child.log);
	source_slurm_report_end(s, wstatus);
	s->base.status.restarts++;
	source_slurm_pause_poller(s);
}

static uint64_t source_slurm_until(uint64_t when, uint64_t now)
{
	return when > now ? when - now : 0;
}

/* The next moment at which something is to be done without any input. */
static void source_slurm_arm_next(const struct slurm_source *s)
{
	uint64_t now = clock_ms(), quiet = s->heard_ms + s->quiet_ms;

	if (s->phase == PHASE_ENDING)
		source_slurm_arm(s, REAP_MS);
	else if (s->phase == PHASE_PAUSED)
		source_slurm_arm(s, source_slurm_until(s->wake_ms, now));
	else if (quiet > now)
		source_slurm_arm(s, quiet - now);
	else
		source_slurm_arm(s, source_slurm_until(s->heard_ms + s->deadline_ms, now));
}

static void source_slurm_poll(struct job_source *base)
{
	struct slurm_source *s = (struct slurm_source *)base;
	uint64_t ticks;

	if (read(s->timer, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		log_add(LOG_ERROR, "slurm", "timer: %s", strerror(errno));
	if (s->phase == PHASE_PAUSED && clock_ms() >= s->wake_ms)
		source_slurm_start(s);
	if (s->phase == PHASE_RUNNING)
		source_slurm_poll_running(s);
	source_slurm_read_log(s);
	if (s->phase == PHASE_ENDING)
		source_slurm_poll_ending(s);
	source_slurm_arm_next(s);
}

static void source_slurm_close(struct job_source *base)
{
	struct slurm_source *s = (struct slurm_source *)base;

	child_end(&s->child);
	child_close_fd(&s->timer);
	child_close_fd(&s->base.fd);
	jobwire_reader_free(s->reader);
	for (int i = 0; i < MAX_ARGS; i++)
		free(s->poller[i]);
	free(s);
}

static int source_slurm_choose(struct slurm_source *s, const struct source_opts *o, struct err *err)
{
	const char *const own[] = { "ibroute-slurm", "--interval-ms", s->interval, NULL };
	char text[400];

	if (o->poller) {
		snprintf(s->path, sizeof(s->path), "%s", o->poller[0]);
		source_slurm_set_poller(s, o->poller);
		return 0;
	}
	if (slurm_helper_find(s->path, sizeof(s->path))) {
		s->own = true;
		source_slurm_set_poller(s, own);
		return 0;
	}
	snprintf(text, sizeof(text),
		 "the program ibroute-slurm is missing, or anybody could have put it there (looked "
		 "for: %.280s)",
		 s->path);
	if (!slurm_helper_other())
		return err_set(
			err, -ENOENT,
			"SLURM cannot be asked for jobs: %s, and there is neither squeue nor sacct. "
			"Install it, name it in $IBROUTE_SLURM, or give the jobs in a file.",
			text);
	source_slurm_ask_other(s, slurm_helper_other(), text);
	return 0;
}

static int source_slurm_set_options(struct slurm_source *s, const struct source_opts *o,
				    struct err *err)
{
	uint32_t interval = o->interval_ms ? o->interval_ms : INTERVAL_MS;

	snprintf(s->interval, sizeof(s->interval), "%u", interval);
	s->quiet_ms = o->quiet_ms ? o->quiet_ms : interval + QUIET_MS;
	s->deadline_ms = o->deadline_ms ? o->deadline_ms : interval + DEADLINE_MS;
	s->backoff_ms = o->backoff_ms ? o->backoff_ms : BACKOFF_MS;
	s->pause_ms = s->backoff_ms;
	return source_slurm_choose(s, o, err);
}

static int source_slurm_open(struct job_source **out, const struct source_opts *o, struct err *err)
{
	struct slurm_source *s = xcalloc(1, sizeof(*s));
	int rc;

	child_init(&s->child);
	s->base.type = &job_source_slurm;
	s->base.fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->base.fd < 0 || s->timer < 0 || source_slurm_watch(s, s->timer)) {
		rc = -errno;
		err_set(err, rc, "Cannot watch the SLURM poller: %s", strerror(-rc));
	} else {
		rc = source_slurm_set_options(s, o, err);
	}
	if (rc) {
		source_slurm_close(&s->base);
		return rc;
	}
	source_slurm_start(s);
	source_slurm_arm_next(s);
	*out = &s->base;
	return 0;
}

const struct job_source_type job_source_slurm = {
	.name = "slurm",
	.summary = "running jobs from slurmctld, through ibroute-slurm, squeue or sacct",
	.open = source_slurm_open,
	.poll = source_slurm_poll,
	.close = source_slurm_close,
};
