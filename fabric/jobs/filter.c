/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/filter.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

static bool filter_passes(const struct job_filter *flt, const struct job *j, int64_t now_s)
{
	if (!j->multi || j->nnodes < flt->min_nodes)
		return false;
	return !flt->min_age_s || !j->start_s || now_s - j->start_s >= (int64_t)flt->min_age_s;
}

/* The names of a job's nodes, each once however many rails it has. */
static uint32_t filter_names_of(const char **names, const struct job *j, const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->nterm; i++) {
		const char *name = f->term_name[j->terms[i]];
		uint32_t first = FAB_NONE;

		fabric_terms_by_name(f, name, &first, 1);
		if (first == j->terms[i])
			names[n++] = name;
	}
	return n;
}

struct jobset *job_filter_apply(const struct job_filter *flt, const struct jobset *js,
				const struct fabric *f, int64_t now_s)
{
	struct jobset_builder *b = jobset_builder_new(f, js->source);
	const char **names = xcalloc(f->nterm, sizeof(*names));
	struct jobset *out;

	for (uint32_t i = 0; i < js->njob; i++) {
		const struct job *j = &js->jobs[i];

		if (filter_passes(flt, j, now_s))
			jobset_builder_add(b, j, names, filter_names_of(names, j, f));
	}
	free(names);
	jobset_builder_pending(b, js->pending);
	out = jobset_build(b);
	out->time_s = js->time_s;
	return out;
}

static int filter_by_terms(const void *pa, const void *pb)
{
	const struct job *a = *(const struct job *const *)pa, *b = *(const struct job *const *)pb;

	if (a->nterm != b->nterm)
		return a->nterm < b->nterm ? -1 : 1;
	return memcmp(a->terms, b->terms, a->nterm * sizeof(*a->terms));
}

/* The multi-switch jobs, sorted by node set. */
static const struct job **filter_sorted(const struct jobset *js, uint32_t *n)
{
	const struct job **v = xcalloc(js ? js->njob : 0, sizeof(struct job *));

	*n = 0;
	for (uint32_t i = 0; js && i < js->njob; i++) {
		if (js->jobs[i].multi)
			v[(*n)++] = &js->jobs[i];
	}
	qsort(v, *n, sizeof(struct job *), filter_by_terms);
	return v;
}

void job_change(struct job_change *out, const struct jobset *routed_for, const struct jobset *now)
{
	uint32_t no, nn, o = 0, n = 0;
	const struct job **old = filter_sorted(routed_for, &no), **new = filter_sorted(now, &nn);

	memset(out, 0, sizeof(*out));
	while (o < no && n < nn) {
		int c = filter_by_terms(&old[o], &new[n]);

		out->kept += c == 0;
		out->ended += c < 0;
		out->started += c > 0;
		o += c <= 0;
		n += c >= 0;
	}
	out->ended += no - o;
	out->started += nn - n;
	out->changed = out->started || out->ended;
	free(old);
	free(new);
}
