/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/job_log.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/hostlist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The array doubles: it is full when n is a power of two. */
static uint32_t job_log_room(uint32_t n)
{
	uint32_t room = 1;

	while (room < n)
		room *= 2;
	return room;
}

void job_log_add(struct job_log *log, const struct job_record *r)
{
	struct job_record *to;

	if (!(log->n & (log->n - 1)))
		log->jobs = xrealloc(log->jobs, log->n ? log->n * 2u : 1u, sizeof(*log->jobs));
	to = &log->jobs[log->n++];
	*to = *r;
	to->name = job_log_keep(log, r->name);
	to->user = job_log_keep(log, r->user);
	to->nodes = job_log_keep(log, r->nodes);
	for (int i = 0; i < JOB_ATTRS; i++)
		to->attr[i] = r->attr[i] && r->attr[i][0] ? job_log_keep(log, r->attr[i]) : "";
}

/* Parts of one job behind each other, the whole of it first. */
static int job_log_by_part(const void *pa, const void *pb)
{
	const struct job_record *a = *(const struct job_record *const *)pa;
	const struct job_record *b = *(const struct job_record *const *)pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return (a > b) - (a < b);
}

static void job_log_take_part(struct job_record *to, const struct job_record *part)
{
	if (part->start_s < to->start_s)
		to->start_s = part->start_s;
	if (!part->end_s || (to->end_s && part->end_s > to->end_s))
		to->end_s = part->end_s;
	if (!*to->name)
		to->name = part->name;
	if (!*to->user)
		to->user = part->user;
	for (int i = 0; i < JOB_ATTRS; i++)
		if (!*to->attr[i])
			to->attr[i] = part->attr[i];
}

/* The first of n records takes the others. */
static int job_log_take_parts(struct job_log *log, struct job_record *const *part, uint32_t n,
			      struct err *err)
{
	size_t size = 1, at = 0;
	char *all, *nodes;

	for (uint32_t i = 0; i < n; i++)
		size += strlen(part[i]->nodes) + 1;
	all = xcalloc(size, 1);
	for (uint32_t i = 0; i < n; i++) {
		at += (size_t)snprintf(all + at, size - at, "%s%s", i ? "," : "", part[i]->nodes);
		job_log_take_part(part[0], part[i]);
	}
	nodes = hostlist_again(all, err);
	free(all);
	if (!nodes)
		return -E2BIG;
	part[0]->nodes = job_log_keep(log, nodes);
	free(nodes);
	return 0;
}

/* Without the records that were taken into others. */
static void job_log_leave_out(struct job_log *log, const bool *taken)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < log->n; i++)
		if (!taken[i])
			log->jobs[n++] = log->jobs[i];
	log->n = n;
	log->jobs = xrealloc(log->jobs, job_log_room(n), sizeof(*log->jobs));
}

/* How many behind the first are its parts, with it. */
static uint32_t job_log_run(struct job_record *const *order, uint32_t left)
{
	uint32_t n = 1;

	while (n < left && order[n]->id == order[0]->id && order[n]->task == order[0]->task &&
	       order[n]->part)
		n++;
	return n;
}

int job_log_join(struct job_log *log, struct err *err)
{
	struct job_record **order = xcalloc(log->n + 1u, sizeof(struct job_record *));
	bool *taken = xcalloc(log->n + 1u, sizeof(*taken)), any = false;
	int rc = 0;

	for (uint32_t i = 0; i < log->n; i++) {
		order[i] = &log->jobs[i];
		any = any || log->jobs[i].part;
	}
	if (any)
		qsort(order, log->n, sizeof(struct job_record *), job_log_by_part);
	for (uint32_t i = 0, n; any && !rc && i < log->n; i += n) {
		n = job_log_run(order + i, log->n - i);
		if (n > 1)
			rc = job_log_take_parts(log, order + i, n, err);
		for (uint32_t k = 1; k < n; k++)
			taken[order[i + k] - log->jobs] = true;
	}
	for (uint32_t i = 0; i < log->n; i++)
		log->jobs[i].part = 0;
	if (any)
		job_log_leave_out(log, taken);
	free(order);
	free(taken);
	return rc;
}

static bool job_log_same(const struct job_record *a, const struct job_record *b)
{
	return a->id == b->id && a->task == b->task && !a->part && !b->part &&
	       a->start_s == b->start_s && a->end_s == b->end_s && a->wants == b->wants &&
	       a->procs == b->procs && !strcmp(a->nodes, b->nodes);
}

/* By what they say, then in the order of the file. */
static int job_log_by_content(const void *pa, const void *pb)
{
	const struct job_record *a = *(const struct job_record *const *)pa;
	const struct job_record *b = *(const struct job_record *const *)pb;
	int by = 0;

	if (a->id != b->id || a->task != b->task || a->part != b->part)
		return job_log_by_part(pa, pb);
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	if (a->end_s != b->end_s)
		return a->end_s < b->end_s ? -1 : 1;
	if (a->wants != b->wants)
		return a->wants < b->wants ? -1 : 1;
	if (a->procs != b->procs)
		return a->procs < b->procs ? -1 : 1;
	by = strcmp(a->nodes, b->nodes);
	return by ? by : (a > b) - (a < b);
}

uint32_t job_log_drop_repeated(struct job_log *log)
{
	struct job_record **order = xcalloc(log->n + 1u, sizeof(struct job_record *));
	bool *taken = xcalloc(log->n + 1u, sizeof(*taken));
	uint32_t n = 0;

	for (uint32_t i = 0; i < log->n; i++)
		order[i] = &log->jobs[i];
	if (log->n)
		qsort(order, log->n, sizeof(struct job_record *), job_log_by_content);
	for (uint32_t i = 1; i < log->n; i++)
		if (job_log_same(order[i - 1], order[i])) {
			taken[order[i] - log->jobs] = true;
			n++;
		}
	if (n)
		job_log_leave_out(log, taken);
	free(order);
	free(taken);
	return n;
}

bool job_record_runs(const struct job_record *r, int64_t at_s)
{
	if (at_s == JOB_LOG_ALL)
		return true;
	return r->start_s <= at_s && (!r->end_s || at_s < r->end_s);
}

const char *job_record_name(char buf[40], const struct job_record *r)
{
	snprintf(buf, 40, "%llu", (unsigned long long)r->id);
	if (r->task)
		snprintf(buf, 40, "%llu_%u", (unsigned long long)r->id, r->task - 1);
	return buf;
}

void job_record_attr(const char *attr[JOB_ATTRS], char buf[40], const struct job_record *r)
{
	memcpy(attr, r->attr, sizeof(r->attr));
	if (!*attr[JOB_LABEL] && r->task)
		attr[JOB_LABEL] = job_record_name(buf, r);
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

int job_log_give(struct jobset_builder *b, uint64_t *names, const struct job_record *r,
		 const char *source, struct err *err)
{
	struct job head = { .id = r->id,
			    .name = r->name,
			    .user = r->user,
			    .nodes = r->nodes,
			    .start_s = r->start_s };
	struct hostlist *h;
	char label[40];
	int rc = job_log_hosts(&h, names, r, source, err);

	if (rc)
		return rc;
	job_record_attr(head.attr, label, r);
	jobset_builder_add(b, &head, hostlist_names(h), hostlist_count(h));
	hostlist_free(h);
	return 0;
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
		if (job_record_runs(r, at_s))
			rc = job_log_give(b, &names, r, source, err);
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
