/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/moments.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdlib.h>
#include <string.h>

struct moments {
	const struct job_log *log;
	const struct fabric *f;
	VEC(int64_t) time;
	uint32_t *order;       /* of the log, by start */
	uint32_t begun;	       /* so many of order have been looked at */
	VEC(uint32_t) running; /* indices of the log, ascending job ids, as SLURM lists them */
};

static int moments_by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct starting {
	int64_t start_s;
	uint32_t at;
};

static int moments_by_start(const void *pa, const void *pb)
{
	const struct starting *a = pa, *b = pb;

	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static void moments_sort_jobs(struct moments *m)
{
	struct starting *s = xcalloc(m->log->n, sizeof(*s));

	m->order = xcalloc(m->log->n, sizeof(*m->order));
	for (uint32_t i = 0; i < m->log->n; i++)
		s[i] = (struct starting){ m->log->jobs[i].start_s, i };
	qsort(s, m->log->n, sizeof(*s), moments_by_start);
	for (uint32_t i = 0; i < m->log->n; i++)
		m->order[i] = s[i].at;
	free(s);
}

static void moments_take_changes(struct moments *m, int64_t from_s, int64_t to_s)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->log->n; i++) {
		const struct job_record *r = &m->log->jobs[i];

		if (r->start_s && r->start_s >= from_s && r->start_s <= to_s)
			vec_push(&m->time, r->start_s);
		if (r->end_s >= from_s && r->end_s && r->end_s <= to_s)
			vec_push(&m->time, r->end_s);
	}
	if (m->time.n)
		qsort(m->time.v, m->time.n, sizeof(*m->time.v), moments_by_time);
	for (size_t i = 0; i < m->time.n; i++)
		if (!i || m->time.v[i] != m->time.v[i - 1])
			m->time.v[n++] = m->time.v[i];
	m->time.n = n;
}

struct moments *moments_new(const struct job_log *log, const struct fabric *f, uint32_t every_s,
			    int64_t from_s, int64_t to_s)
{
	struct moments *m = xcalloc(1, sizeof(*m));
	int64_t first, last;

	m->log = log;
	m->f = f;
	job_log_span(log, &first, &last);
	from_s = from_s == JOB_LOG_ALL ? first : from_s;
	to_s = to_s == JOB_LOG_ALL ? last : to_s;
	if (!every_s)
		moments_take_changes(m, from_s, to_s);
	for (int64_t t = from_s; every_s && t <= to_s; t += every_s)
		vec_push(&m->time, t);
	moments_sort_jobs(m);
	return m;
}

void moments_free(struct moments *m)
{
	if (!m)
		return;
	vec_free(&m->time);
	vec_free(&m->running);
	free(m->order);
	free(m);
}

uint32_t moments_count(const struct moments *m)
{
	return (uint32_t)m->time.n;
}

int64_t moments_time(const struct moments *m, uint32_t i)
{
	return m->time.v[i];
}

static int moments_by_id(const void *pa, const void *pb, void *ctx)
{
	const struct job_log *log = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct job_record *x = &log->jobs[a], *y = &log->jobs[b];

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (a > b) - (a < b);
}

/* Who has ended goes, who has started comes. */
static void moments_advance(struct moments *m, int64_t now_s)
{
	size_t n = 0;

	for (size_t i = 0; i < m->running.n; i++)
		if (job_record_runs(&m->log->jobs[m->running.v[i]], now_s))
			m->running.v[n++] = m->running.v[i];
	m->running.n = n;
	for (; m->begun < m->log->n; m->begun++) {
		const struct job_record *r = &m->log->jobs[m->order[m->begun]];

		if (r->start_s > now_s)
			break;
		if (job_record_runs(r, now_s))
			vec_push(&m->running, m->order[m->begun]);
	}
	if (m->running.n)
		qsort_r(m->running.v, m->running.n, sizeof(*m->running.v), moments_by_id,
			(void *)(uintptr_t)m->log);
}

int moments_jobs(struct jobset **out, struct moments *m, uint32_t i, const char *source,
		 struct err *err)
{
	struct jobset_builder *b = jobset_builder_new(m->f, source);
	uint64_t names = 0;
	struct jobset *js;
	int rc = 0;

	moments_advance(m, m->time.v[i]);
	for (size_t k = 0; k < m->running.n && !rc; k++)
		rc = job_log_give(b, &names, &m->log->jobs[m->running.v[k]], source, err);
	js = jobset_build(b);
	js->time_s = m->time.v[i];
	*out = rc ? NULL : js;
	if (rc)
		jobset_put(js);
	return rc;
}

uint32_t moments_record(const struct moments *m, uint32_t given)
{
	return m->running.v[given];
}
