/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A jobs file that somebody else keeps up to date.  Looked at by name once a second, which sees
 * files replaced by rename and files on network file systems, where inotify does not; by a thread,
 * because such a disk may be slow.
 */
#include "fabric/base/message/plural.h"
#include "fabric/jobs/source.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/format/slurm/jobs_apart.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 1000u

struct file_source {
	struct job_source base;
	char *path;
	uint32_t look_ms;
	int64_t at_s; /* 0: now */
	pthread_t thread;
	bool started;	      /* thread is to be joined */
	int stop;	      /* readable: it is to end */
	pthread_mutex_t lock; /* of the next one */
	struct job_source told;

	/* of the thread, once it is there */
	struct job_source found;
	struct stat seen;      /* of the file that was read last */
	struct job_log *log;   /* what was in it */
	int64_t next_change_s; /* when a job of it starts or ends; INT64_MAX: never */
};

static bool source_file_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool source_file_runs_at(const struct job_record *r, int64_t now_s)
{
	return (!r->start_s || r->start_s <= now_s) && (!r->end_s || now_s < r->end_s);
}

static int source_file_add_record(struct job_list *l, uint64_t *names, const struct job_record *r,
				  struct err *err)
{
	struct job_rec rec = {
		.id = r->id,
		.name = r->name,
		.user = r->user,
		.nodes = r->nodes,
		.start_s = r->start_s,
	};
	struct hostlist *h;
	char label[40];
	int rc = job_log_hosts(&h, names, r, l->source, err);

	if (rc)
		return rc;
	job_record_attr(rec.attr, label, r);
	rec.hosts = hostlist_names(h);
	rec.nhost = hostlist_count(h);
	job_list_add(l, &rec);
	hostlist_free(h);
	return 0;
}

/* Of the jobs in the file, those that run now; a history also has waiting and ended ones. */
static void source_file_hand_out(struct file_source *s, int64_t now_s)
{
	const char *slash = strrchr(s->path, '/');
	struct job_list *l;
	struct err first = { "" }, err;
	uint32_t ignored = 0;
	uint64_t names = 0;
	char name[64];

	snprintf(name, sizeof(name), "file %s", slash ? slash + 1 : s->path);
	l = job_list_new(name, now_s);
	s->next_change_s = INT64_MAX;
	for (uint32_t i = 0; i < s->log->n; i++) {
		const struct job_record *r = &s->log->jobs[i];
		int64_t change = r->start_s > now_s ? r->start_s : r->end_s;

		if (change > now_s && change < s->next_change_s)
			s->next_change_s = change;
		if (source_file_runs_at(r, now_s))
			ignored +=
				source_file_add_record(l, &names, r, ignored ? &err : &first) != 0;
		else if (r->start_s > now_s)
			l->pending++;
		else
			l->other++;
	}
	if (ignored)
		log_add(LOG_WARN, "jobs", "%u job%s ignored: %s", ignored, plural(ignored),
			first.text);
	job_list_sort(l);
	job_list_put(s->found.newest);
	s->found.newest = l;
}

/* Reads the whole file; the old jobs stay when it cannot be read. */
static int source_file_load(struct file_source *s, struct err *err)
{
	FILE *file = fopen(s->path, "re");
	struct read_report report;
	struct job_log *log;
	int rc;

	memset(&s->seen, 0, sizeof(s->seen));
	if (!file || fstat(fileno(file), &s->seen)) {
		rc = -errno;
		err_set(err, rc, "Cannot read the jobs file %s: %s", s->path, strerror(-rc));
		if (file)
			fclose(file);
		return rc;
	}
	rc = jobs_apart_read(&log, file, s->path, &report, err);
	fclose(file);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < report.nnotes; i++) {
		char line[300];

		log_add(LOG_WARN, "jobs", "%s", read_report_line(line, sizeof(line), &report, i));
	}
	if (log->n && log->jobs[0].wants) {
		job_log_free(log);
		return err_set(err, -EINVAL,
			       "%s does not say which nodes jobs had, and so is of use to route, "
			       "compare, plan and check only (--placement)",
			       s->path);
	}
	job_log_free(s->log);
	s->log = log;
	return 0;
}

static int64_t source_file_now(const struct file_source *s)
{
	return s->at_s ? s->at_s : time(NULL);
}

static void source_file_reload(struct file_source *s, int64_t now_s)
{
	struct source_status *st = &s->found.status;
	struct err err;

	if (!source_file_load(s, &err)) {
		st->state = SOURCE_OK;
		st->text[0] = '\0';
		source_file_hand_out(s, now_s);
		return;
	}
	if (st->state == SOURCE_OK || strncmp(st->text, err.text, sizeof(st->text) - 1))
		log_add(LOG_WARN, "jobs", "%s; the jobs read before are kept", err.text);
	st->state = SOURCE_UNREACHABLE;
	snprintf(st->text, sizeof(st->text), "%.*s", (int)sizeof(st->text) - 1, err.text);
}

/* What was found goes on; a list that nobody has taken yet is out of date. */
static void source_file_hand_over(struct job_source *to, struct job_source *from)
{
	to->status = from->status;
	if (!from->newest)
		return;
	job_list_put(to->newest);
	to->newest = from->newest;
	from->newest = NULL;
}

static void source_file_look(struct file_source *s)
{
	int64_t now_s = source_file_now(s);
	struct stat now;

	if (stat(s->path, &now) || !source_file_same_file(&now, &s->seen))
		source_file_reload(s, now_s);
	else if (now_s >= s->next_change_s)
		source_file_hand_out(s, now_s);
	if (s->found.status.state == SOURCE_OK)
		s->found.status.last_good_s = time(NULL);
	pthread_mutex_lock(&s->lock);
	source_file_hand_over(&s->told, &s->found);
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->base.fd, 1);
}

static void *source_file_run(void *arg)
{
	struct file_source *s = arg;
	struct pollfd stop = { .fd = s->stop, .events = POLLIN };
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL); /* they wake who polls */
	while (poll(&stop, 1, (int)s->look_ms) <= 0)
		source_file_look(s);
	return NULL;
}

static void source_file_poll(struct job_source *base)
{
	struct file_source *s = (struct file_source *)base;
	eventfd_t looks;

	if (eventfd_read(base->fd, &looks))
		return;
	pthread_mutex_lock(&s->lock);
	source_file_hand_over(base, &s->told);
	pthread_mutex_unlock(&s->lock);
}

static void source_file_close(struct job_source *base)
{
	struct file_source *s = (struct file_source *)base;

	if (s->started) {
		eventfd_write(s->stop, 1);
		pthread_join(s->thread, NULL);
	}
	if (base->fd >= 0)
		close(base->fd);
	if (s->stop >= 0)
		close(s->stop);
	pthread_mutex_destroy(&s->lock);
	job_list_put(s->told.newest);
	job_list_put(s->found.newest);
	job_log_free(s->log);
	free(s->path);
	free(s);
}

static int source_file_open(struct job_source **out, const struct source_opts *o, struct err *err)
{
	struct file_source *s;
	int rc;

	if (!o->path)
		return err_set(err, -EINVAL, "The job source \"file\" needs the name of a file.");
	s = xcalloc(1, sizeof(*s));
	s->base.type = &job_source_file;
	s->path = xstrdup(o->path);
	s->at_s = o->at_s;
	s->look_ms = o->interval_ms ? o->interval_ms : LOOK_MS;
	pthread_mutex_init(&s->lock, NULL);
	s->base.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->stop = eventfd(0, EFD_CLOEXEC);
	rc = s->base.fd < 0 || s->stop < 0 ? -errno : 0;
	if (rc)
		err_set(err, rc, "Cannot watch the jobs file %s: %s", o->path, strerror(-rc));
	else
		rc = source_file_load(s, err);
	if (!rc) {
		source_file_hand_out(s, source_file_now(s));
		s->found.status.state = SOURCE_OK;
		s->found.status.last_good_s = time(NULL);
		source_file_hand_over(&s->base, &s->found);
		rc = thread_start(&s->thread, "jobs", source_file_run, s, err);
		s->started = !rc;
	}
	if (rc)
		source_close(&s->base);
	else
		*out = &s->base;
	return rc;
}

const struct job_source_type job_source_file = {
	.name = "file",
	.summary = "jobs from a file (host lists, sacct -P or CSV), read again when the file "
		   "changes",
	.open = source_file_open,
	.poll = source_file_poll,
	.close = source_file_close,
};
