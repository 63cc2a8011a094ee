/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/job_list.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job_list *job_list_new(const char *source, int64_t time_s)
{
	struct job_list *l = xcalloc(1, sizeof(*l));

	l->arena = arena_new();
	l->refs = 1;
	l->time_s = time_s;
	snprintf(l->source, sizeof(l->source), "%s", source);
	return l;
}

/* Names come from users: nothing in them may steer a terminal. */
static const char *job_list_clean_copy(struct arena *a, const char *s)
{
	return plain_text(arena_strdup(a, s ? s : ""), "");
}

void job_list_add(struct job_list *l, const struct job_rec *rec)
{
	const char **hosts = arena_array(l->arena, const char *, rec->nhost);
	struct job_rec *to;

	if (l->njob == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->jobs = xrealloc(l->jobs, l->cap, sizeof(*l->jobs));
	}
	for (uint32_t i = 0; i < rec->nhost; i++)
		hosts[i] = job_list_clean_copy(l->arena, rec->hosts[i]);
	to = &l->jobs[l->njob++];
	*to = *rec;
	to->name = job_list_clean_copy(l->arena, rec->name);
	to->user = job_list_clean_copy(l->arena, rec->user);
	to->nodes = job_list_clean_copy(l->arena, rec->nodes);
	for (int i = 0; i < JOB_ATTRS; i++)
		to->attr[i] = rec->attr[i] && rec->attr[i][0]
				      ? job_list_clean_copy(l->arena, rec->attr[i])
				      : "";
	to->hosts = hosts;
}

void job_list_failed(struct job_list *l, uint64_t id)
{
	l->failed = xrealloc(l->failed, l->nfailed + 1, sizeof(*l->failed));
	l->failed[l->nfailed++] = id;
}

static int job_list_by_number(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static int job_list_by_id(const void *pa, const void *pb)
{
	const struct job_rec *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return strcmp(a->nodes, b->nodes);
}

/* On the nodes of both; components share none. */
static void job_list_take_part(struct job_list *l, struct job_rec *to, const struct job_rec *part)
{
	uint32_t n = to->nhost + part->nhost;
	const char **hosts = arena_array(l->arena, const char *, n);
	char *text;

	for (uint32_t i = 0; i < n; i++)
		hosts[i] = i < to->nhost ? to->hosts[i] : part->hosts[i - to->nhost];
	text = hostlist_compress(hosts, n);
	to->nodes = arena_strdup(l->arena, text);
	free(text);
	to->hosts = hosts;
	to->nhost = n;
	for (int i = 0; i < JOB_ATTRS; i++)
		if (!to->attr[i][0])
			to->attr[i] = part->attr[i];
	if (part->start_s && (!to->start_s || part->start_s < to->start_s))
		to->start_s = part->start_s;
}

static void job_list_join(struct job_list *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->njob; i++) {
		struct job_rec *r = &l->jobs[i];

		if (n && l->jobs[n - 1].id == r->id && r->part)
			job_list_take_part(l, &l->jobs[n - 1], r);
		else
			l->jobs[n++] = *r;
	}
	l->njob = n;
	for (uint32_t i = 0; i < n; i++)
		l->jobs[i].part = 0;
}

void job_list_sort(struct job_list *l)
{
	if (l->njob)
		qsort(l->jobs, l->njob, sizeof(*l->jobs), job_list_by_id);
	job_list_join(l);
	if (l->nfailed)
		qsort(l->failed, l->nfailed, sizeof(*l->failed), job_list_by_number);
}

const struct job_list *job_list_get(const struct job_list *l)
{
	__atomic_add_fetch(&((struct job_list *)l)->refs, 1, __ATOMIC_RELAXED);
	return l;
}

void job_list_put(const struct job_list *l)
{
	struct job_list *own = (struct job_list *)l;

	if (!own || __atomic_sub_fetch(&own->refs, 1, __ATOMIC_ACQ_REL))
		return;
	arena_free(own->arena);
	free(own->jobs);
	free(own->failed);
	free(own);
}

static bool job_list_same_hosts(const struct job_rec *a, const struct job_rec *b)
{
	if (a->nhost != b->nhost)
		return false;
	for (uint32_t i = 0; i < a->nhost; i++) {
		if (strcmp(a->hosts[i], b->hosts[i]))
			return false;
	}
	return true;
}

bool job_list_same(const struct job_list *a, const struct job_list *b)
{
	uint32_t na = a ? a->njob : 0, nb = b ? b->njob : 0;

	if (na != nb)
		return false;
	for (uint32_t i = 0; i < na; i++) {
		if (a->jobs[i].id != b->jobs[i].id ||
		    !job_list_same_hosts(&a->jobs[i], &b->jobs[i]))
			return false;
	}
	return true;
}

/* The first node name that some job uses, for the message; NULL when no job has nodes. */
static const char *job_list_first_host(const struct job_list *l)
{
	for (uint32_t i = 0; i < l->njob; i++) {
		if (l->jobs[i].nhost)
			return l->jobs[i].hosts[0];
	}
	return NULL;
}

int jobset_from_list(struct jobset **out, const struct job_list *l, const struct fabric *f,
		     struct err *err)
{
	struct jobset_builder *b = jobset_builder_new(f, l->source);
	const char *host = job_list_first_host(l);
	bool found = false;

	for (uint32_t i = 0; i < l->njob; i++) {
		const struct job_rec *r = &l->jobs[i];
		struct job head = {
			.id = r->id,
			.name = (char *)r->name,
			.user = (char *)r->user,
			.nodes = (char *)r->nodes,
			.start_s = r->start_s,
		};

		memcpy(head.attr, r->attr, sizeof(head.attr));
		jobset_builder_add(b, &head, r->hosts, r->nhost);
	}
	jobset_builder_pending(b, l->pending);
	*out = jobset_build(b);
	(*out)->time_s = l->time_s;
	for (uint32_t i = 0; i < (*out)->njob && !found; i++)
		found = (*out)->jobs[i].nterm > 0;
	if (found || !host || !f->nterm)
		return 0;
	return err_set(err, -ENOENT,
		       "No node of the jobs is in the fabric: %s has \"%s\", the fabric \"%s\". "
		       "Give a node-name-map, or set the NodeDescriptions to the host names.",
		       l->source, host, f->term_name[0]);
}
