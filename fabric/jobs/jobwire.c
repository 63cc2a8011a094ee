/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/jobwire.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "ibroute-slurm"

typedef VEC(char) bytes;

/* ---- writing ---- */

static void jobwire_put_line(bytes *b, json_t *j)
{
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;

	json_decref(j);
	vec_reserve(b, b->n + len + 1);
	if (len)
		memcpy(b->v + b->n, text, len);
	b->v[b->n + len] = '\n';
	b->n += len + 1;
	free(text);
}

static json_t *jobwire_job(const struct job_rec *r)
{
	json_t *j = json_pack("{s:I, s:o, s:o, s:o}", "job", (json_int_t)r->id, "name",
			      json_text(r->name), "user", json_text(r->user), "nodes",
			      json_text(r->nodes));

	for (int i = 0; j && i < JOB_ATTRS; i++)
		if (r->attr[i][0])
			json_object_set_new(j, job_attr_key((enum job_attr)i),
					    json_text(r->attr[i]));
	if (j && r->start_s)
		json_object_set_new(j, "start", json_integer(r->start_s));
	if (j && r->part)
		json_object_set_new(j, "het", json_integer(r->part - 1));
	return j;
}

char *jobwire_list(size_t *len, const struct job_list *l)
{
	json_t *failed = json_array();
	bytes b = { 0 };

	for (uint32_t i = 0; i < l->njob; i++)
		jobwire_put_line(&b, jobwire_job(&l->jobs[i]));
	for (uint32_t i = 0; i < l->nfailed; i++)
		json_array_append_new(failed, json_integer((json_int_t)l->failed[i]));
	jobwire_put_line(&b,
			 json_pack("{s:I, s:I, s:I, s:I, s:o}", "end", (json_int_t)l->time_s,
				   "jobs", (json_int_t)l->njob, "pending", (json_int_t)l->pending,
				   "other", (json_int_t)l->other, "failed", failed));
	*len = b.n;
	return b.v;
}

char *jobwire_text(size_t *len, enum jobwire_type type, int64_t time_s, const char *text)
{
	bytes b = { 0 };
	json_t *j;

	if (type == JOBWIRE_HELLO)
		j = json_pack("{s:i, s:o}", MAGIC, JOBWIRE_VERSION, "slurm", json_text(text));
	else if (type == JOBWIRE_SAME)
		j = json_pack("{s:I}", "same", (json_int_t)time_s);
	else
		j = json_pack("{s:I, s:o}", "fail", (json_int_t)time_s, "text", json_text(text));
	jobwire_put_line(&b, j);
	*len = b.n;
	return b.v;
}

/* ---- reading ---- */

struct jobwire_reader {
	bytes in;
	size_t done; /* bytes of in that were consumed ... */
	size_t seen; /* ... and that have no line feed */
	bool greeted;
	int broken;	       /* 0, or what jobwire_next() returns from now on */
	struct job_list *list; /* whose end has not come; NULL: none */
	uint64_t names;	       /* of nodes in it */
};

struct jobwire_reader *jobwire_reader_new(void)
{
	return xcalloc(1, sizeof(struct jobwire_reader));
}

void jobwire_reader_free(struct jobwire_reader *r)
{
	if (!r)
		return;
	vec_free(&r->in);
	job_list_put(r->list);
	free(r);
}

void jobwire_feed(struct jobwire_reader *r, const void *data, size_t len)
{
	if (r->broken || !len)
		return;
	if (r->done) {
		memmove(r->in.v, r->in.v + r->done, r->in.n - r->done);
		r->in.n -= r->done;
		r->seen -= r->done;
		r->done = 0;
	}
	vec_reserve(&r->in, r->in.n + len);
	memcpy(r->in.v + r->in.n, data, len);
	r->in.n += len;
}

static int jobwire_break(struct jobwire_reader *r, int rc, struct err *err, const char *what)
{
	r->broken = rc;
	r->in.n = r->done = r->seen = 0;
	job_list_put(r->list);
	r->list = NULL;
	return err_set(err, rc, "the SLURM poller violated its protocol: %s", what);
}

/* A whole number in an object; false: another type, or out of range.  Missing is 0. */
static bool jobwire_number(uint64_t *out, const json_t *j, const char *key, uint64_t max)
{
	const json_t *v = json_object_get(j, key);

	*out = 0;
	if (!v)
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) > max)
		return false;
	*out = (uint64_t)json_integer_value(v);
	return true;
}

static int jobwire_hello(struct jobwire_msg *m, struct jobwire_reader *r, const json_t *j,
			 struct err *err)
{
	const json_t *version = json_object_get(j, MAGIC);
	char text[200];

	if (!json_is_integer(version))
		return jobwire_break(r, -EPROTO, err, "its first line has no version");
	if (json_integer_value(version) < JOBWIRE_OLDEST ||
	    json_integer_value(version) > JOBWIRE_VERSION) {
		snprintf(text, sizeof(text),
			 "it speaks version %" JSON_INTEGER_FORMAT
			 ", this program versions %d to %d: two releases are mixed",
			 json_integer_value(version), JOBWIRE_OLDEST, JOBWIRE_VERSION);
		return jobwire_break(r, -EPROTONOSUPPORT, err, text);
	}
	r->greeted = true;
	m->type = JOBWIRE_HELLO;
	snprintf(m->text, sizeof(m->text), "%s", json_string_at(j, "slurm"));
	return 1;
}

static int jobwire_take_job(struct jobwire_reader *r, const json_t *j, struct err *err)
{
	struct job_rec rec = { .name = json_string_at(j, "name"),
			       .user = json_string_at(j, "user"),
			       .nodes = json_string_at(j, "nodes") };
	struct hostlist *hl = NULL;
	uint64_t start, het = 0;
	struct err why = { "" };
	char text[300];

	if (!jobwire_number(&rec.id, j, "job", INT64_MAX) ||
	    !jobwire_number(&start, j, "start", INT64_MAX) ||
	    !jobwire_number(&het, j, "het", UINT32_MAX - 2))
		return jobwire_break(r, -EPROTO, err,
				     "a job has a number of another type, or out of range");
	rec.start_s = (int64_t)start;
	for (int i = 0; i < JOB_ATTRS; i++)
		rec.attr[i] = json_string_at(j, job_attr_key((enum job_attr)i));
	if (json_object_get(j, "het"))
		rec.part = 1 + (uint32_t)het;
	if (!r->list)
		r->list = job_list_new("slurm", 0);
	if (r->list->njob == JOBWIRE_MAX_JOBS)
		return jobwire_break(r, -EPROTO, err, "more jobs than allowed");
	if (hostlist_measure(&rec.nhost, rec.nodes, &why) ||
	    (r->names += rec.nhost) > HOSTLISTS_MAX || hostlist_parse(&hl, rec.nodes, &why)) {
		snprintf(text, sizeof(text), "nodes of job %" PRIu64 ": %.200s", rec.id,
			 why.text[0] ? why.text : "more names than allowed");
		return jobwire_break(r, -EPROTO, err, text);
	}
	rec.hosts = hostlist_names(hl);
	rec.nhost = hostlist_count(hl);
	job_list_add(r->list, &rec);
	hostlist_free(hl);
	return 0;
}

static bool jobwire_failed(struct job_list *l, const json_t *failed)
{
	const json_t *v;
	size_t i;

	json_array_foreach(failed, i, v)
	{
		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return false;
		job_list_failed(l, (uint64_t)json_integer_value(v));
	}
	return true;
}

static int jobwire_end(struct jobwire_msg *m, struct jobwire_reader *r, const json_t *j,
		       struct err *err)
{
	struct job_list *l = r->list ? r->list : job_list_new("slurm", 0);
	uint64_t njob, pending, other;

	r->list = l;
	r->names = 0;
	if (!jobwire_number(&njob, j, "jobs", UINT32_MAX) ||
	    !jobwire_number(&pending, j, "pending", UINT32_MAX) ||
	    !jobwire_number(&other, j, "other", UINT32_MAX) ||
	    !jobwire_failed(l, json_object_get(j, "failed")))
		return jobwire_break(
			r, -EPROTO, err,
			"the end of a list has a number of another type, or out of range");
	if (njob != l->njob)
		return jobwire_break(r, -EPROTO, err,
				     "a list does not have as many jobs as it says");
	l->pending = (uint32_t)pending;
	l->other = (uint32_t)other;
	l->time_s = m->time_s;
	job_list_sort(l);
	m->type = JOBWIRE_LIST;
	m->list = l;
	r->list = NULL;
	return 1;
}

/* 1 or 0, as jobwire_next(): a job is only a part of a message. */
static int jobwire_take(struct jobwire_msg *m, struct jobwire_reader *r, const json_t *j,
			struct err *err)
{
	const char *const kinds[] = { "end", "same", "fail" };
	uint64_t time_s = 0;
	size_t k = 0;

	if (!r->greeted)
		return jobwire_hello(m, r, j, err);
	if (json_object_get(j, "job"))
		return jobwire_take_job(r, j, err);
	while (k < 3 && !json_object_get(j, kinds[k]))
		k++;
	if (k == 3)
		return 0;
	if (!jobwire_number(&time_s, j, kinds[k], INT64_MAX))
		return jobwire_break(r, -EPROTO, err, "a time is no number, or out of range");
	m->time_s = (int64_t)time_s;
	if (k == 0)
		return jobwire_end(m, r, j, err);
	if (r->list)
		return jobwire_break(r, -EPROTO, err, "a list has no end");
	m->type = k == 1 ? JOBWIRE_SAME : JOBWIRE_FAIL;
	snprintf(m->text, sizeof(m->text), "%s", json_string_at(j, "text"));
	return 1;
}

static int jobwire_take_line(struct jobwire_msg *m, struct jobwire_reader *r, const char *line,
			     size_t len, struct err *err)
{
	json_error_t where;
	json_t *j = json_loadb(line, len, JSON_REJECT_DUPLICATES, &where);
	int rc;

	if (!json_is_object(j)) {
		json_decref(j);
		return jobwire_break(r, -EPROTO, err, "a line is no JSON object");
	}
	rc = jobwire_take(m, r, json_text_clean(j), err);
	json_decref(j);
	return rc;
}

int jobwire_next(struct jobwire_msg *out, struct jobwire_reader *r, struct err *err)
{
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (r->broken)
		return jobwire_break(r, r->broken, err, "closed after an earlier fault");
	while (!rc) {
		char *line = r->in.v + r->done, *end;

		end = r->in.n > r->seen ? memchr(r->in.v + r->seen, '\n', r->in.n - r->seen) : NULL;
		if (!end) {
			r->seen = r->in.n;
			if (r->in.n - r->done <= JOBWIRE_MAX_LINE)
				return 0;
			return jobwire_break(r, -EPROTO, err, "a line longer than allowed");
		}
		r->done = r->seen = (size_t)(end - r->in.v) + 1;
		rc = jobwire_take_line(out, r, line, (size_t)(end - line), err);
	}
	return rc;
}
