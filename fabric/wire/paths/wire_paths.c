/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SLs of paths: no switch holds them, only the SM's path records. */
#include "fabric/wire/wire_trace.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/wire/paths/path_asker.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <string.h>

#define LOOK	   64
#define FEW	   4096	       /* are read one and all */
#define PATHS_MOST (16u << 20) /* in memory: 8 bytes each */

static void wire_paths_compare(struct path_sl_report *r, const struct asked_path *p,
			       uint8_t claimed)
{
	if (p->sl == PATH_NO_SL || p->sl == claimed || r->differ++)
		return;
	r->term = p->term;
	r->dlid = p->dlid;
	r->actual = p->sl;
	r->claimed = claimed;
}

/* Random paths between counted terminals and LIDs in use, none to the source itself; a fabric may
 * have neither. */
static void wire_paths_add_random(struct path_asker *x, uint32_t n, uint64_t seed)
{
	const struct fabric *f = x->f;
	uint64_t tries = 64ull * n;
	struct rng r;

	rng_seed(&r, seed);
	while (f->nterm && f->max_lid && n && tries--) {
		uint32_t term = (uint32_t)rng_below(&r, f->nterm);
		uint16_t dlid = (uint16_t)(1 + rng_below(&r, f->max_lid));
		uint32_t end = fabric_lid_end(f, dlid);

		if (end == FAB_NONE || end == term)
			continue;
		path_asker_add(x, term, dlid);
		n--;
	}
}

int wire_check_path_sls(struct wire *w, const struct fabric *f, const struct tables *t, uint32_t n,
			uint64_t seed, struct path_sl_report *report, struct progress *progress,
			struct err *err)
{
	struct path_asker x = { .w = w, .f = f, .report = report };
	int rc;

	memset(report, 0, sizeof(*report));
	wire_paths_add_random(&x, n, seed);
	rc = path_asker_run(&x, progress, err);
	for (size_t i = 0; i < x.paths.n && !rc; i++)
		wire_paths_compare(report, &x.paths.v[i],
				   tables_path_sl(t, x.paths.v[i].term,
						  f->term_sw[x.paths.v[i].term],
						  x.paths.v[i].dlid));
	if (!rc && report->asked && !report->answered)
		rc = path_asker_unanswered(&x, err);
	path_asker_free(&x);
	return rc;
}

int wire_path_sl(uint8_t *sl, struct wire *w, const struct fabric *f, uint32_t term, uint16_t dlid,
		 struct err *err)
{
	struct path_sl_report report = { 0 };
	struct path_asker x = { .w = w, .f = f, .report = &report };
	int rc;

	path_asker_add(&x, term, dlid);
	rc = path_asker_run(&x, NULL, err);
	if (!rc && !report.answered)
		rc = path_asker_unanswered(&x, err);
	if (!rc)
		*sl = x.paths.v[0].sl;
	path_asker_free(&x);
	return rc;
}

/* The counted terminal that speaks for a switch; FAB_NONE: it has none. */
static uint32_t wire_paths_speaker(const struct fabric *f, uint32_t sw)
{
	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++)
		if (f->term_list[i] < f->nterm)
			return f->term_list[i];
	return FAB_NONE;
}

/* Another counted terminal of the same switch. */
static uint32_t wire_paths_second(const struct fabric *f, uint32_t term)
{
	uint32_t sw = f->term_sw[term];

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++)
		if (f->term_list[i] < f->nterm && f->term_list[i] != term)
			return f->term_list[i];
	return FAB_NONE;
}

/* A terminal's LIDs are not asked from itself, but from its stand-in, if any. */
static void wire_paths_add_row(struct path_asker *x, uint32_t term, uint32_t stand_in)
{
	struct path_row row = { .term = term, .begin = x->paths.n };

	for (uint32_t lid = 1; lid <= x->f->max_lid; lid++) {
		uint32_t end = fabric_lid_end(x->f, lid);
		uint32_t from = end == term ? stand_in : term;

		if (end != FAB_NONE && from != FAB_NONE)
			path_asker_add(x, from, (uint16_t)lid);
	}
	row.end = x->paths.n;
	vec_push(&x->rows, row);
}

static uint64_t wire_paths_count(const struct fabric *f, bool by_term)
{
	uint64_t sources = by_term ? f->nterm : 0, lids = 0;

	for (uint32_t sw = 0; sw < f->nsw && !by_term; sw++)
		sources += wire_paths_speaker(f, sw) != FAB_NONE;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		lids += fabric_lid_end(f, lid) != FAB_NONE;
	return sources * lids;
}

/* The cheapest form that holds what was actual. */
static enum sl_kind wire_paths_cheapest(const struct path_asker *x, size_t n, bool by_term)
{
	uint8_t *by_lid = xcalloc(x->f->max_lid + 1u, 1);
	bool same = true, one = true;

	memset(by_lid, PATH_NO_SL, x->f->max_lid + 1u);
	for (size_t i = 0; i < n; i++) {
		const struct asked_path *p = &x->paths.v[i];

		if (by_lid[p->dlid] == PATH_NO_SL)
			by_lid[p->dlid] = p->sl;
		same &= by_lid[p->dlid] == p->sl;
		one &= p->sl == x->paths.v[0].sl;
	}
	free(by_lid);
	return one ? SL_CONST : same ? SL_BY_DLID : by_term ? SL_BY_TERM : SL_BY_SWITCH;
}

static void wire_paths_keep(struct tables *t, const struct path_asker *x, size_t n, bool by_term)
{
	tables_sl_form(t, wire_paths_cheapest(x, n, by_term), x->f);
	if (t->sl_kind == SL_CONST) {
		t->sl_const = n ? x->paths.v[0].sl : 0;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct asked_path *p = &x->paths.v[i];
		size_t row = t->sl_kind == SL_BY_TERM	  ? p->term
			     : t->sl_kind == SL_BY_SWITCH ? x->f->term_sw[p->term]
							  : 0;

		t->sl[row * t->stride + p->dlid] = p->sl;
	}
}

/* How to read them: for each switch, or for each terminal. */
struct sample_reading {
	bool by_term;
	uint64_t max;
	uint32_t extra;
	uint64_t seed;
};

static int wire_paths_read_all(struct tables *t, struct path_asker *x,
			       const struct sample_reading *how, struct progress *progress,
			       struct err *err)
{
	const struct fabric *f = x->f;
	uint64_t paths = wire_paths_count(f, how->by_term) + how->extra;
	size_t all;
	int rc;

	x->max = how->max;
	x->which = how->by_term ? "which differ between the hosts of a switch" : "by source switch";
	if (paths > PATHS_MOST)
		return err_set(err, -E2BIG, "the SLs of all paths, %s, are %llu; the limit is %u",
			       x->which, (unsigned long long)paths, PATHS_MOST);
	for (uint32_t term = 0; term < f->nterm; term++)
		if (how->by_term)
			wire_paths_add_row(x, term, FAB_NONE);
		else if (term == wire_paths_speaker(f, f->term_sw[term]))
			wire_paths_add_row(x, term, wire_paths_second(f, term));
	all = x->paths.n;
	wire_paths_add_random(x, how->extra, how->seed);
	rc = path_asker_run(x, progress, err);
	if (!rc && x->report->answered < x->report->asked)
		rc = path_asker_unanswered(x, err);
	if (rc)
		return rc;
	wire_paths_keep(t, x, all, how->by_term);
	for (size_t i = all; i < x->paths.n; i++)
		wire_paths_compare(x->report, &x->paths.v[i],
				   tables_path_sl(t, x->paths.v[i].term,
						  f->term_sw[x->paths.v[i].term],
						  x->paths.v[i].dlid));
	return 0;
}

int wire_read_path_sls(struct tables *t, struct wire *w, const struct fabric *f, uint64_t max,
		       uint32_t extra, uint64_t seed, struct path_sl_report *report,
		       struct progress *progress, struct err *err)
{
	struct sample_reading how = { .max = max, .extra = extra, .seed = seed };
	int rc = 0;

	for (int pass = 0; pass < 2 && !rc; pass++) {
		struct path_asker x = { .w = w, .f = f, .report = report };

		how.by_term = pass == 1;
		memset(report, 0, sizeof(*report));
		rc = wire_paths_read_all(t, &x, &how, progress, err);
		path_asker_free(&x);
		if (!report->differ)
			break;
	}
	return rc;
}

int wire_learn_path_sls(struct tables *t, struct wire *w, const struct fabric *f, uint64_t max,
			struct progress *progress, struct err *err)
{
	bool few = wire_paths_count(f, false) <= FEW && wire_paths_count(f, false) + LOOK <= max;
	struct path_sl_report r = { .differ = few };
	int rc = few ? 0 : wire_check_path_sls(w, f, t, LOOK, 1, &r, progress, err);

	if (!rc && r.answered < r.asked)
		rc = err_set(err, -EIO,
			     "the subnet manager reports no service level for %llu of %llu paths",
			     (unsigned long long)(r.asked - r.answered),
			     (unsigned long long)r.asked);
	if (!rc && r.differ) {
		rc = wire_read_path_sls(t, w, f, max, LOOK, 1, &r, progress, err);
		if (!rc && r.differ)
			rc = err_set(err, -EAGAIN,
				     "the subnet manager gives different service levels each time "
				     "it is asked");
		if (rc)
			tables_sl_form(t, SL_CONST, f);
	}
	t->sls_told = !rc;
	return rc;
}
