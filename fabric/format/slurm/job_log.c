/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/job_log.h"

#include "fabric/base/hostlist.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct job_log *job_log_new(void)
{
	struct job_log *log = xcalloc(1, sizeof(*log));

	log->arena = arena_new();
	return log;
}

void job_log_free(struct job_log *log)
{
	if (!log)
		return;
	free(log->jobs);
	arena_free(log->arena);
	free(log);
}

static char *job_log_keep(struct job_log *log, const char *s)
{
	return arena_strdup(log->arena, s ? s : "");
}

void job_log_add(struct job_log *log, const struct job_record *r)
{
	struct job_record *to;

	/* the array doubles: it is full when n is a power of two */
	if (!(log->n & (log->n - 1)))
		log->jobs = xrealloc(log->jobs, log->n ? log->n * 2u : 1u, sizeof(*log->jobs));
	to = &log->jobs[log->n++];
	*to = *r;
	to->name = job_log_keep(log, r->name);
	to->user = job_log_keep(log, r->user);
	to->nodes = job_log_keep(log, r->nodes);
}

static bool job_log_runs(const struct job_record *r, int64_t at_s)
{
	if (at_s == JOB_LOG_ALL)
		return true;
	return r->start_s <= at_s && (!r->end_s || at_s < r->end_s);
}

int job_log_hosts(struct hostlist **out, uint64_t *names, const struct job_record *r,
		  const char *source, struct err *err)
{
	uint32_t n;
	int rc = hostlist_measure(&n, r->nodes, err);

	if (!rc && *names + n > HOSTLISTS_MAX)
		rc = err_set(err, -E2BIG,
			     "%s: up to job %llu, the jobs that run at one time name more than "
			     "%d hosts",
			     source, (unsigned long long)r->id, HOSTLISTS_MAX);
	if (!rc)
		rc = hostlist_parse(out, r->nodes, err);
	*names += rc ? 0 : n;
	return rc;
}

int job_log_jobset(struct jobset **out, const struct job_log *log, const struct fabric *f,
		   int64_t at_s, const char *source, struct err *err)
{
	struct jobset_builder *b = jobset_builder_new(f, source);
	uint64_t names = 0;
	struct jobset *js;
	int rc = 0;

	for (uint32_t i = 0; i < log->n && !rc; i++) {
		const struct job_record *r = &log->jobs[i];
		struct job head = { .id = r->id,
				    .name = r->name,
				    .user = r->user,
				    .nodes = r->nodes,
				    .start_s = r->start_s };
		struct hostlist *h;

		if (!job_log_runs(r, at_s))
			continue;
		rc = job_log_hosts(&h, &names, r, source, err);
		if (rc)
			break;
		jobset_builder_add(b, &head, hostlist_names(h), hostlist_count(h));
		hostlist_free(h);
	}
	js = jobset_build(b);
	if (at_s != JOB_LOG_ALL)
		js->time_s = at_s;
	if (rc)
		jobset_put(js);
	else
		*out = js;
	return rc;
}

void job_log_span(const struct job_log *log, int64_t *first_s, int64_t *last_s)
{
	*first_s = *last_s = 0;
	for (uint32_t i = 0; i < log->n; i++) {
		const struct job_record *r = &log->jobs[i];
		int64_t last = r->end_s > r->start_s ? r->end_s : r->start_s;

		if (r->start_s && (!*first_s || r->start_s < *first_s))
			*first_s = r->start_s;
		if (last > *last_s)
			*last_s = last;
	}
}
