/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/traffic/jobset.h"

#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"
#include "fabric/model/topology/host_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct jobset_builder {
	const struct fabric *f;
	struct arena *arena;
	VEC(struct job) list;
	VEC(uint32_t) terms; /* of the job being added */
	uint32_t *added;     /* by terminal: the last job that it was added to, plus 1 */
	char source[32];
	uint32_t pending;
};

struct jobset_builder *jobset_builder_new(const struct fabric *f, const char *source)
{
	struct jobset_builder *b = xcalloc(1, sizeof(*b));

	b->f = f;
	b->arena = arena_new();
	b->added = xcalloc(f->nterm, sizeof(*b->added));
	snprintf(b->source, sizeof(b->source), "%s", source);
	return b;
}

void jobset_builder_pending(struct jobset_builder *b, uint32_t pending)
{
	b->pending = pending;
}

static int jobset_by_u32(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static uint32_t jobset_count_switches(const struct fabric *f, const uint32_t *terms, uint32_t n)
{
	uint32_t *sw = xcalloc(n, sizeof(*sw)), count = 0;

	for (uint32_t i = 0; i < n; i++)
		sw[i] = f->term_sw[terms[i]];
	qsort(sw, n, sizeof(*sw), jobset_by_u32);
	for (uint32_t i = 0; i < n; i++)
		count += !i || sw[i] != sw[i - 1];
	free(sw);
	return count;
}

static char *jobset_keep(struct arena *a, const char *s)
{
	return plain_text(arena_strdup(a, s ? s : ""), "");
}

static void jobset_keep_attr(struct arena *a, const char *to[JOB_ATTRS],
			     const char *const from[JOB_ATTRS])
{
	for (int i = 0; i < JOB_ATTRS; i++)
		to[i] = from[i] && from[i][0] ? jobset_keep(a, from[i]) : "";
}

static struct job jobset_head(const struct jobset_builder *b, const struct job *head)
{
	struct job job = {
		.id = head->id,
		.name = jobset_keep(b->arena, head->name),
		.user = jobset_keep(b->arena, head->user),
		.nodes = jobset_keep(b->arena, head->nodes),
		.start_s = head->start_s,
		.given = (uint32_t)b->list.n,
	};

	jobset_keep_attr(b->arena, job.attr, head->attr);
	return job;
}

static void jobset_push(struct jobset_builder *b, uint32_t term)
{
	if (b->added[term] == b->list.n + 1)
		return;
	b->added[term] = (uint32_t)b->list.n + 1;
	vec_push(&b->terms, term);
}

/* All ports of the name that one has, unless they are there already. */
static void jobset_push_twins(struct jobset_builder *b, uint32_t term)
{
	uint32_t first, n = 0;

	if (b->added[term] != b->list.n + 1)
		n = host_names_twins(b->f, term, &first);
	for (uint32_t i = 0; i < n; i++)
		jobset_push(b, b->f->term_by_name[first + i]);
}

/* On the ports that were collected. */
static void jobset_builder_put(struct jobset_builder *b, struct job *job)
{
	uint32_t *terms = arena_array(b->arena, uint32_t, b->terms.n);

	job->nterm = (uint32_t)b->terms.n;
	if (job->nterm) {
		qsort(b->terms.v, b->terms.n, sizeof(uint32_t), jobset_by_u32);
		memcpy(terms, b->terms.v, b->terms.n * sizeof(*terms));
	}
	job->terms = terms;
	job->nsw = jobset_count_switches(b->f, terms, job->nterm);
	job->multi = job->nsw >= 2;
	vec_push(&b->list, *job);
}

void jobset_builder_add(struct jobset_builder *b, const struct job *head, const char *const *names,
			uint32_t n)
{
	struct job job = jobset_head(b, head);

	job.nnodes = n;
	b->terms.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first, found = fabric_terms_by_name(b->f, names[i], &first, 1);

		job.unknown += !found;
		if (found)
			jobset_push_twins(b, first);
	}
	jobset_builder_put(b, &job);
}

void jobset_builder_add_ports(struct jobset_builder *b, const struct job *head,
			      const uint32_t *terms, uint32_t n)
{
	struct job job = jobset_head(b, head);

	job.nnodes = head->nnodes;
	job.unknown = head->unknown;
	b->terms.n = 0;
	for (uint32_t i = 0; i < n; i++)
		jobset_push(b, terms[i]);
	jobset_builder_put(b, &job);
}

const char *job_text(char buf[JOB_ID_LEN], const struct job *job)
{
	return job_id_text(buf, job->id, job->attr);
}

const char *jobset_id_text(char buf[JOB_ID_LEN], const struct jobset *js, uint64_t id)
{
	static const char *const none[JOB_ATTRS];

	for (uint32_t i = 0; js && i < js->njob; i++)
		if (js->jobs[i].id == id)
			return job_text(buf, &js->jobs[i]);
	return job_id_text(buf, id, none);
}

bool jobset_id_find(uint64_t *id, const struct jobset *js, const char *text)
{
	char buf[JOB_ID_LEN], number[JOB_ID_LEN];

	if (*text < '0' || *text > '9')
		return false;
	for (uint32_t i = 0; js && i < js->njob; i++) {
		*id = js->jobs[i].id;
		snprintf(number, sizeof(number), "%llu", (unsigned long long)*id);
		if (!strcmp(job_text(buf, &js->jobs[i]), text) || !strcmp(number, text))
			return true;
	}
	return false;
}

uint32_t job_ambiguous(const struct job *job, const struct fabric *f)
{
	for (uint32_t i = 0; f->nambiguous && i < job->nterm; i++)
		if (f->term_ambiguous[job->terms[i]])
			return job->terms[i];
	return FAB_NONE;
}

static int jobset_canonical(const void *x, const void *y)
{
	const struct job *a = x, *b = y;

	if (a->nterm != b->nterm)
		return a->nterm > b->nterm ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void jobset_index_terms(struct jobset *js)
{
	uint32_t *at;

	js->term_off = arena_array(js->arena, uint32_t, js->nterm + 1);
	for (uint32_t j = 0; j < js->njob; j++)
		for (uint32_t i = 0; i < js->jobs[j].nterm; i++)
			js->term_off[js->jobs[j].terms[i] + 1]++;
	for (uint32_t t = 0; t < js->nterm; t++)
		js->term_off[t + 1] += js->term_off[t];
	js->term_job = arena_array(js->arena, uint32_t, js->term_off[js->nterm]);
	at = xcalloc(js->nterm, sizeof(*at));
	for (uint32_t j = 0; j < js->njob; j++)
		for (uint32_t i = 0; i < js->jobs[j].nterm; i++) {
			uint32_t t = js->jobs[j].terms[i];

			js->term_job[js->term_off[t] + at[t]++] = j;
		}
	free(at);
}

static int jobset_by_digest(const void *x, const void *y)
{
	return memcmp(x, y, DIGEST_BYTES);
}

/* Node sets as a multiset: the digests of the sets, sorted. */
static void jobset_make_key(struct jobset *js, const struct fabric *f)
{
	struct digest *sets = xcalloc(js->nmulti, sizeof(*sets));
	struct digest_stream *s;
	uint32_t n = 0;

	for (uint32_t j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];

		if (!job->multi)
			continue;
		s = digest_begin();
		for (uint32_t i = 0; i < job->nterm; i++)
			digest_add_u64(s, f->term_guid[job->terms[i]]);
		digest_end(&sets[n++], s);
	}
	qsort(sets, n, sizeof(*sets), jobset_by_digest);
	digest_of(&js->key, sets, n * sizeof(*sets));
	free(sets);
}

struct jobset *jobset_build(struct jobset_builder *b)
{
	struct jobset *js = arena_alloc(b->arena, 1, sizeof(*js));

	js->arena = b->arena;
	js->refs = 1;
	js->nterm = b->f->nterm;
	js->njob = (uint32_t)b->list.n;
	js->pending = b->pending;
	js->time_s = time(NULL);
	memcpy(js->source, b->source, sizeof(js->source));
	if (js->njob)
		qsort(b->list.v, js->njob, sizeof(*b->list.v), jobset_canonical);
	js->jobs = arena_array(js->arena, struct job, js->njob);
	for (uint32_t j = 0; j < js->njob; j++) {
		js->jobs[j] = b->list.v[j];
		js->nmulti += js->jobs[j].multi;
	}
	jobset_index_terms(js);
	jobset_make_key(js, b->f);
	vec_free(&b->list);
	vec_free(&b->terms);
	free(b->added);
	free(b);
	return js;
}

static struct job jobset_job_copy(struct arena *a, const struct job *job)
{
	struct job to = *job;
	uint32_t *terms = arena_array(a, uint32_t, job->nterm);

	to.name = jobset_keep(a, job->name);
	to.user = jobset_keep(a, job->user);
	to.nodes = jobset_keep(a, job->nodes);
	jobset_keep_attr(a, to.attr, job->attr);
	if (job->nterm)
		memcpy(terms, job->terms, job->nterm * sizeof(*terms));
	to.terms = terms;
	return to;
}

/* Terms are in the order of their GUIDs: they stay ascending. */
static void jobset_job_move(struct job *job, const struct fabric *was, const struct fabric *f)
{
	uint32_t *terms = (uint32_t *)job->terms, n = 0;

	for (uint32_t i = 0; i < job->nterm; i++) {
		uint32_t k = fabric_term_by_guid(f, was->term_guid[terms[i]]);

		if (k < f->nterm)
			terms[n++] = k;
	}
	job->nterm = n;
	job->nsw = jobset_count_switches(f, terms, n);
	job->multi = job->nsw >= 2;
}

/* Those of at least so many nodes; was NULL: of f, as they are. */
static struct jobset *jobset_copy(const struct jobset *js, uint32_t nodes, const struct fabric *was,
				  const struct fabric *f)
{
	struct jobset_builder *b = jobset_builder_new(f, js->source);
	struct jobset *out;

	for (uint32_t j = 0; j < js->njob; j++) {
		struct job job;

		if (js->jobs[j].nnodes < nodes)
			continue;
		job = jobset_job_copy(b->arena, &js->jobs[j]);
		if (was)
			jobset_job_move(&job, was, f);
		vec_push(&b->list, job);
	}
	jobset_builder_pending(b, js->pending);
	out = jobset_build(b);
	out->time_s = js->time_s;
	return out;
}

struct jobset *jobset_on(const struct jobset *js, const struct fabric *was, const struct fabric *f)
{
	return jobset_copy(js, 0, was, f);
}

struct jobset *jobset_at_least(const struct jobset *js, uint32_t nodes, const struct fabric *f)
{
	return jobset_copy(js, nodes, NULL, f);
}

int jobset_check_fabric(const struct jobset *jobs, const struct fabric *f, struct err *err)
{
	if (jobs && jobs->nterm != f->nterm)
		return err_set(err, -EINVAL, "the jobs (%s) belong to a fabric other than %s",
			       jobs->source, f->name);
	return 0;
}

const struct jobset *jobset_get(const struct jobset *js)
{
	if (js)
		__atomic_add_fetch(&((struct jobset *)js)->refs, 1, __ATOMIC_RELAXED);
	return js;
}

void jobset_put(const struct jobset *js)
{
	if (js && !__atomic_sub_fetch(&((struct jobset *)js)->refs, 1, __ATOMIC_ACQ_REL))
		arena_free(js->arena);
}

bool jobset_same(const struct jobset *a, const struct jobset *b)
{
	uint32_t na = a ? a->nmulti : 0, nb = b ? b->nmulti : 0;

	if (na != nb)
		return false;
	return !na || digest_equal(&a->key, &b->key);
}
