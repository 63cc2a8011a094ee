/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_memo.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 6 /* tables */

/* Of one LFT. */
struct remembered {
	uint64_t key;		  /* of its entries; 0: nothing */
	uint64_t asked;		  /* when last */
	struct time_sheet *sheet; /* NULL: not measured */
	uint64_t sheet_seed;
	bool shift_known;
	struct shift_time shift;
	uint64_t shift_seed;
	uint32_t shifts; /* as asked for */
};

struct time_memo {
	int refs;
	const struct fabric *f;
	const struct jobset *jobs;
	struct remembered of[KEPT];
	const struct tables *target;
	char target_name[160];
	uint64_t now; /* counts who asks */
};

struct time_memo *time_memo_new(void)
{
	struct time_memo *m = xcalloc(1, sizeof(*m));

	m->refs = 1;
	return m;
}

struct time_memo *time_memo_get(struct time_memo *m)
{
	if (m)
		m->refs++;
	return m;
}

static void time_memo_forget(struct time_memo *m)
{
	for (unsigned i = 0; i < KEPT; i++)
		time_sheet_put(m->of[i].sheet);
	memset(m->of, 0, sizeof(m->of));
	tables_put(m->target);
	m->target = NULL;
	fabric_put(m->f);
	jobset_put(m->jobs);
	m->f = NULL;
	m->jobs = NULL;
}

void time_memo_put(struct time_memo *m)
{
	if (!m || --m->refs)
		return;
	time_memo_forget(m);
	free(m);
}

static uint64_t time_memo_key(const struct tables *t)
{
	const uint64_t *v = (const uint64_t *)(const void *)t->lft;
	size_t n = (size_t)t->nsw * t->stride / sizeof(*v);
	uint64_t h[2] = { t->nsw, t->stride };

	for (size_t i = 0; i < n; i++) {
		h[0] = (h[0] ^ v[i]) * 0x9e3779b97f4a7c15ull;
		h[1] = (h[1] ^ v[i]) * 0xff51afd7ed558ccdull;
		h[1] ^= h[1] >> 29;
	}
	return (h[0] ^ h[1] * 3) | 1;
}

static void time_memo_turn_to(struct time_memo *m, const struct fabric *f,
			      const struct jobset *jobs)
{
	if (m->f == f && m->jobs == jobs)
		return;
	time_memo_forget(m);
	m->f = fabric_get(f);
	m->jobs = jobset_get(jobs);
}

/* What is known of those tables, perhaps nothing yet. */
static struct remembered *time_memo_find(struct time_memo *m, const struct fabric *f,
					 const struct tables *t, const struct jobset *jobs)
{
	uint64_t key = time_memo_key(t);
	struct remembered *r = m->of;

	time_memo_turn_to(m, f, jobs);
	for (unsigned i = 0; i < KEPT && r->key != key; i++)
		r = m->of[i].key == key || m->of[i].asked < r->asked ? &m->of[i] : r;
	if (r->key != key) {
		time_sheet_put(r->sheet);
		*r = (struct remembered){ .key = key };
	}
	r->asked = ++m->now;
	return r;
}

int time_memo_sheet(struct time_sheet **out, struct time_memo *m, const struct fabric *f,
		    const struct tables *t, const struct jobset *jobs,
		    const struct job_time_opts *opts, struct progress *progress, struct err *err)
{
	struct remembered *r;
	int rc = 0;

	if (!m || opts->lids || opts->phases)
		return time_sheet_compute(out, f, t, jobs, opts, progress, err);
	r = time_memo_find(m, f, t, jobs);
	if (!r->sheet || r->sheet_seed != opts->seed) {
		time_sheet_put(r->sheet);
		rc = time_sheet_compute(&r->sheet, f, t, jobs, opts, progress, err);
		r->sheet_seed = opts->seed;
	}
	*out = time_sheet_get(r->sheet);
	return rc;
}

int time_memo_shifts(struct shift_time *out, struct time_memo *m, const struct fabric *f,
		     const struct tables *t, const struct jobset *jobs,
		     const struct shift_time_opts *opts, struct progress *progress, struct err *err)
{
	struct remembered *r;
	int rc;

	if (!m || opts->lids)
		return shift_time_compute(out, f, t, opts, progress, err);
	r = time_memo_find(m, f, t, jobs);
	if (!r->shift_known || r->shifts != opts->shifts || r->shift_seed != opts->seed) {
		rc = shift_time_compute(&r->shift, f, t, opts, progress, err);
		r->shift_known = !rc;
		r->shifts = opts->shifts;
		r->shift_seed = opts->seed;
		if (rc)
			return rc;
	}
	*out = r->shift;
	return 0;
}

struct tables *time_memo_target(struct time_memo *m, const struct fabric *f,
				const struct jobset *jobs, const char *name)
{
	if (!m->target || m->f != f || m->jobs != jobs || strcmp(m->target_name, name))
		return NULL;
	return (struct tables *)tables_get(m->target);
}

void time_memo_keep_target(struct time_memo *m, const struct fabric *f, const struct jobset *jobs,
			   const char *name, const struct tables *t)
{
	time_memo_turn_to(m, f, jobs);
	tables_put(m->target);
	m->target = tables_get(t);
	snprintf(m->target_name, sizeof(m->target_name), "%s", name);
}
