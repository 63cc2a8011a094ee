/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/finder/finder_names.h"

#include "fabric/model/topology/end_find.h"
#include "views/finder/fuzzy.h"

#include <stdio.h>
#include <string.h>

#define NAME_MOST 200 /* bytes that are kept of a name */

static void finder_names_put(struct finder_names *m, const char *text)
{
	size_t n = strnlen(text, NAME_MOST);

	vec_reserve(&m->text, m->text.n + n + 1);
	memcpy(m->text.v + m->text.n, text, n);
	m->text.n += n;
}

static void finder_names_put_number(struct finder_names *m, unsigned v)
{
	char text[12], *at = text + sizeof(text) - 1;

	*at = '\0';
	do
		*--at = (char)('0' + v % 10);
	while (v /= 10);
	finder_names_put(m, at);
}

static void finder_names_begin(struct finder_names *m, enum finder_kind kind, uint32_t at)
{
	vec_push(&m->name, ((struct finder_name){ (uint32_t)m->text.n, at, (uint8_t)kind }));
}

static void finder_names_end(struct finder_names *m)
{
	vec_push(&m->text, '\0');
}

static void finder_names_add(struct finder_names *m, enum finder_kind kind, uint32_t at,
			     const char *text)
{
	finder_names_begin(m, kind, at);
	finder_names_put(m, text);
	finder_names_end(m);
}

/* By its number, by who runs it and by what it is called. */
static void finder_names_add_job(struct finder_names *m, uint32_t at, const struct job *job)
{
	const char *const more[] = { job->user, job->name };
	char id[JOB_ID_LEN];

	finder_names_begin(m, FINDER_JOB, at);
	finder_names_put(m, job_text(id, job));
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (!more[i] || !more[i][0])
			continue;
		finder_names_put(m, " ");
		finder_names_put(m, more[i]);
	}
	finder_names_end(m);
}

static void finder_names_add_link(struct finder_names *m, const struct fabric *f, uint32_t chan)
{
	finder_names_begin(m, FINDER_LINK, chan);
	finder_names_put(m, f->sw_short[f->chan_src[chan]]);
	finder_names_put(m, "/");
	finder_names_put_number(m, f->chan_port[chan]);
	finder_names_put(m, " -> ");
	finder_names_put(m, f->sw_short[f->chan_dst[chan]]);
	finder_names_put(m, "/");
	finder_names_put_number(m, f->chan_rport[chan]);
	finder_names_end(m);
}

static void finder_names_add_fabric(struct finder_names *m, const struct fabric *f)
{
	char name[NAME_MOST];

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		finder_names_add(m, FINDER_SWITCH, sw, f->sw_short[sw]);
	for (uint32_t t = 0; t < f->nterm; t++)
		finder_names_add(m, FINDER_HOST, t, end_name(name, sizeof(name), f, t));
	for (uint32_t c = 0; c < f->nchan; c++)
		finder_names_add_link(m, f, c);
}

static void finder_names_make_lower(struct finder_names *m)
{
	m->lower.n = 0;
	vec_reserve(&m->lower, m->text.n + 1);
	for (size_t i = 0; i < m->name.n; i++) {
		uint32_t from = m->name.v[i].from;

		fuzzy_lower(m->lower.v + from, m->text.v + from, m->text.n - from);
	}
	m->lower.n = m->text.n;
}

void finder_names_make(struct finder_names *m, const struct finder_word *words, uint32_t n,
		       const struct fabric *f, const struct jobset *jobs)
{
	const struct fabric *old = m->fabric;
	const struct jobset *before = m->jobs;

	m->fabric = f ? fabric_get(f) : NULL;
	m->jobs = jobs ? jobset_get(jobs) : NULL;
	fabric_put(old);
	jobset_put(before);
	m->name.n = m->text.n = 0;
	for (uint32_t i = 0; i < n; i++)
		finder_names_add(m, words[i].kind, i, words[i].name);
	for (uint32_t j = 0; jobs && j < jobs->njob; j++)
		finder_names_add_job(m, j, &jobs->jobs[j]);
	if (f)
		finder_names_add_fabric(m, f);
	finder_names_make_lower(m);
}

void finder_names_done(struct finder_names *m)
{
	fabric_put(m->fabric);
	jobset_put(m->jobs);
	vec_free(&m->name);
	vec_free(&m->text);
	vec_free(&m->lower);
	memset(m, 0, sizeof(*m));
}

const char *finder_names_text(const struct finder_names *m, uint32_t i)
{
	return m->text.v + m->name.v[i].from;
}

const char *finder_names_lower(const struct finder_names *m, uint32_t i)
{
	return m->lower.v + m->name.v[i].from;
}
