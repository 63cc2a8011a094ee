/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SLs of paths: no switch holds them, only the SM's path records. */
#include "fabric/wire/wire_trace.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/wire/sa.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <string.h>

#define NO_SL 0xff
#define LOOK  64

struct path {
	uint32_t term;
	uint16_t dlid;
	uint8_t sl; /* NO_SL: no answer */
};

struct asker {
	struct wire *w;
	const struct fabric *f;
	VEC(struct path) paths;
	uint64_t at, total;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint16_t status; /* of the last answer with an error */
	struct path_sl_report *report;
};

static bool wire_paths_asker_next(void *ctx, struct queue_request *out)
{
	struct asker *x = ctx;
	struct path_record pr = { 0 };
	const struct path *p;

	if (x->at == x->paths.n)
		return false;
	p = &x->paths.v[x->at];
	pr.slid = x->f->term_lid[p->term];
	pr.dlid = p->dlid;
	memset(&out->mad, 0, sizeof(out->mad));
	out->mad.mgmt_class = MAD_SA;
	out->mad.method = MAD_GET;
	out->mad.attr = SA_PATH_RECORD;
	out->mad.lid = x->sm_lid;
	out->mad.sl = x->sm_sl;
	out->mad.comp_mask = PATH_BY_SLID | PATH_BY_DLID;
	path_record_encode(out->mad.data, &pr);
	out->tag = x->at++;
	out->node = QUEUE_NO_NODE;
	x->report->asked++;
	return true;
}

static void wire_paths_asker_done(void *ctx, const struct queue_request *req, int rc,
				  const struct mad_answer *a)
{
	struct asker *x = ctx;
	struct path *p = &x->paths.v[req->tag];
	struct path_record pr;

	if (rc == -EPROTO)
		x->status = a->status;
	if (rc || path_record_decode(&pr, a->data) || pr.dlid != p->dlid ||
	    pr.slid != x->f->term_lid[p->term])
		return;
	p->sl = pr.sl;
	x->report->answered++;
}

static void wire_paths_add(struct asker *x, uint32_t term, uint16_t dlid)
{
	vec_push(&x->paths, (struct path){ .term = term, .dlid = dlid, .sl = NO_SL });
}

static int wire_paths_run(struct asker *x, struct progress *progress, struct err *err)
{
	struct queue_source src = { .next = wire_paths_asker_next,
				    .done = wire_paths_asker_done,
				    .ctx = x,
				    .total = &x->total };
	uint64_t start = wire_now_ns(x->w);
	struct wire_sm sm;
	int rc = wire_sm_info(&sm, x->w, err);

	if (rc)
		return rc;
	x->sm_lid = sm.lid;
	x->sm_sl = sm.sl;
	x->total = x->paths.n;
	rc = queue_run(x->w->queue, &src, progress, "query path SLs", err);
	x->report->took_ns = wire_now_ns(x->w) - start;
	if (rc == -ECANCELED)
		err_set(err, rc, "cancelled: not all paths were queried");
	return rc;
}

static int wire_paths_unanswered(const struct asker *x, struct err *err)
{
	const struct path_sl_report *r = x->report;

	return err_set(err, -EIO,
		       "the subnet manager at LID %u reports no SL for %llu of %llu paths: %s",
		       x->sm_lid, (unsigned long long)(r->asked - r->answered),
		       (unsigned long long)r->asked,
		       x->status ? sa_status_text(x->status) : "no response");
}

static void wire_paths_compare(struct path_sl_report *r, const struct path *p, uint8_t claimed)
{
	if (p->sl == NO_SL || p->sl == claimed || r->differ++)
		return;
	r->term = p->term;
	r->dlid = p->dlid;
	r->actual = p->sl;
	r->claimed = claimed;
}

/* Random paths between counted terminals and LIDs in use, none to the source itself; a fabric may
 * have neither. */
static void wire_paths_add_random(struct asker *x, uint32_t n, uint64_t seed)
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
		wire_paths_add(x, term, dlid);
		n--;
	}
}

int wire_check_path_sls(struct wire *w, const struct fabric *f, const struct tables *t, uint32_t n,
			uint64_t seed, struct path_sl_report *report, struct progress *progress,
			struct err *err)
{
	struct asker x = { .w = w, .f = f, .report = report };
	int rc;

	memset(report, 0, sizeof(*report));
	wire_paths_add_random(&x, n, seed);
	rc = wire_paths_run(&x, progress, err);
	for (size_t i = 0; i < x.paths.n && !rc; i++)
		wire_paths_compare(report, &x.paths.v[i],
				   tables_path_sl(t, x.paths.v[i].term,
						  f->term_sw[x.paths.v[i].term],
						  x.paths.v[i].dlid));
	if (!rc && report->asked && !report->answered)
		rc = wire_paths_unanswered(&x, err);
	vec_free(&x.paths);
	return rc;
}

int wire_path_sl(uint8_t *sl, struct wire *w, const struct fabric *f, uint32_t term, uint16_t dlid,
		 struct err *err)
{
	struct path_sl_report report = { 0 };
	struct asker x = { .w = w, .f = f, .report = &report };
	int rc;

	wire_paths_add(&x, term, dlid);
	rc = wire_paths_run(&x, NULL, err);
	if (!rc && !report.answered)
		rc = wire_paths_unanswered(&x, err);
	if (!rc)
		*sl = x.paths.v[0].sl;
	vec_free(&x.paths);
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
static void wire_paths_add_row(struct asker *x, uint32_t term, uint32_t stand_in)
{
	for (uint32_t lid = 1; lid <= x->f->max_lid; lid++) {
		uint32_t end = fabric_lid_end(x->f, lid);
		uint32_t from = end == term ? stand_in : term;

		if (end != FAB_NONE && from != FAB_NONE)
			wire_paths_add(x, from, (uint16_t)lid);
	}
}

static uint64_t wire_paths_queries_max(const struct fabric *f, bool by_term)
{
	uint64_t sources = by_term ? f->nterm : 0, lids = 0;

	for (uint32_t sw = 0; sw < f->nsw && !by_term; sw++)
		sources += wire_paths_speaker(f, sw) != FAB_NONE;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		lids += fabric_lid_end(f, lid) != FAB_NONE;
	return sources * lids;
}

/* The cheapest form that holds what was actual. */
static enum sl_kind wire_paths_cheapest(const struct asker *x, size_t n, bool by_term)
{
	uint8_t *by_lid = xcalloc(x->f->max_lid + 1u, 1);
	bool same = true, one = true;

	memset(by_lid, NO_SL, x->f->max_lid + 1u);
	for (size_t i = 0; i < n; i++) {
		const struct path *p = &x->paths.v[i];

		if (by_lid[p->dlid] == NO_SL)
			by_lid[p->dlid] = p->sl;
		same &= by_lid[p->dlid] == p->sl;
		one &= p->sl == x->paths.v[0].sl;
	}
	free(by_lid);
	return one ? SL_CONST : same ? SL_BY_DLID : by_term ? SL_BY_TERM : SL_BY_SWITCH;
}

static void wire_paths_keep(struct tables *t, const struct asker *x, size_t n, bool by_term)
{
	tables_sl_form(t, wire_paths_cheapest(x, n, by_term), x->f);
	if (t->sl_kind == SL_CONST) {
		t->sl_const = n ? x->paths.v[0].sl : 0;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct path *p = &x->paths.v[i];
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

static int wire_paths_read_all(struct tables *t, struct asker *x, const struct sample_reading *how,
			       struct progress *progress, struct err *err)
{
	const struct fabric *f = x->f;
	uint64_t queries = wire_paths_queries_max(f, how->by_term) + how->extra;
	size_t all;
	int rc;

	if (queries > how->max)
		return err_set(err, -E2BIG,
			       "the SLs of all paths, %s, take %llu queries to the subnet "
			       "manager; the limit is %llu",
			       how->by_term ? "which differ between the hosts of a switch"
					    : "by source switch",
			       (unsigned long long)queries, (unsigned long long)how->max);
	for (uint32_t term = 0; term < f->nterm; term++)
		if (how->by_term)
			wire_paths_add_row(x, term, FAB_NONE);
		else if (term == wire_paths_speaker(f, f->term_sw[term]))
			wire_paths_add_row(x, term, wire_paths_second(f, term));
	all = x->paths.n;
	wire_paths_add_random(x, how->extra, how->seed);
	rc = wire_paths_run(x, progress, err);
	if (!rc && x->report->answered < x->report->asked)
		rc = wire_paths_unanswered(x, err);
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
		struct asker x = { .w = w, .f = f, .report = report };

		how.by_term = pass == 1;
		memset(report, 0, sizeof(*report));
		rc = wire_paths_read_all(t, &x, &how, progress, err);
		vec_free(&x.paths);
		if (!report->differ)
			break;
	}
	return rc;
}

int wire_learn_path_sls(struct tables *t, struct wire *w, const struct fabric *f, uint64_t max,
			struct progress *progress, struct err *err)
{
	struct path_sl_report r;
	int rc = wire_check_path_sls(w, f, t, LOOK, 1, &r, progress, err);

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
