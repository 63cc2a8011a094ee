/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/weak/weak.h"

#include "engines/repair/repairer.h"
#include "engines/time/shift_time.h"
#include "engines/weak/shift_loads.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a thread needs for itself. */
struct weak_worker {
	struct repairer *repairer;
	struct shift_loads *loads;
	struct entry_changes changes;
	bool *down;
	uint32_t *queue;
	bool *seen;
	struct err err;
	int rc;
};

struct weak_search {
	const struct fabric *f;
	const struct engine_params *params;
	const struct weak_opts *opts;
	struct weak_report *report;
	struct weak_worker *workers;
	struct progress *progress;
};

/* --- one failure ------------------------------------------------------------------------------ */

static void weak_mark(struct weak_worker *w, const struct fabric *f, const struct weak_part *p,
		      bool down)
{
	uint32_t first = p->chan == FAB_NONE ? f->chan_off[p->sw] : p->chan;
	uint32_t end = p->chan == FAB_NONE ? f->chan_off[p->sw + 1] : p->chan + 1;

	for (uint32_t c = first; c < end; c++)
		w->down[c] = w->down[f->chan_rev[c]] = down;
}

static uint32_t weak_flood(struct weak_worker *w, const struct fabric *f, uint32_t from,
			   uint32_t *hosts)
{
	uint32_t n = 0;

	*hosts = 0;
	w->seen[from] = true;
	w->queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = w->queue[i];

		*hosts += f->sw_nterm[sw];
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			if (!w->down[c] && !w->seen[f->chan_dst[c]]) {
				w->seen[f->chan_dst[c]] = true;
				w->queue[n++] = f->chan_dst[c];
			}
	}
	return n;
}

/* Hosts that are not in the part with the most hosts. */
static uint32_t weak_hosts_cut_off(struct weak_worker *w, const struct fabric *f)
{
	uint32_t most = 0, all = 0, hosts;

	memset(w->seen, 0, f->nsw * sizeof(*w->seen));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		if (w->seen[sw])
			continue;
		weak_flood(w, f, sw, &hosts);
		all += hosts;
		most = hosts > most ? hosts : most;
	}
	return all - most;
}

static bool weak_alone(const struct weak_worker *w, const struct fabric *f, uint32_t sw)
{
	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (!w->down[c])
			return false;
	return true;
}

/* Does a switch with hosts lose its last cable, which for the repairer has failed itself then? */
static bool weak_strands(const struct weak_worker *w, const struct fabric *f,
			 const struct weak_part *p)
{
	if (p->chan != FAB_NONE)
		return (f->sw_nterm[f->chan_src[p->chan]] &&
			weak_alone(w, f, f->chan_src[p->chan])) ||
		       (f->sw_nterm[f->chan_dst[p->chan]] &&
			weak_alone(w, f, f->chan_dst[p->chan]));
	for (uint32_t c = f->chan_off[p->sw]; c < f->chan_off[p->sw + 1]; c++)
		if (f->sw_nterm[f->chan_dst[c]] && weak_alone(w, f, f->chan_dst[c]))
			return true;
	return false;
}

static void weak_measure(struct weak_worker *w, const struct fabric *f, struct weak_part *p)
{
	struct repair_report r;
	struct err err;
	int rc = -ENETUNREACH;

	w->changes.n = 0;
	weak_mark(w, f, p, true);
	if (!weak_strands(w, f, p))
		rc = repairer_try(w->repairer, w->down, &w->changes, &r, &err);
	p->end = !rc ? WEAK_REPAIRED : rc == -ENETUNREACH ? WEAK_CUT : WEAK_REROUTED;
	if (p->end == WEAK_CUT)
		p->hosts = weak_hosts_cut_off(w, f);
	weak_mark(w, f, p, false);
	if (rc)
		return;
	p->lids = r.lids;
	p->needed = r.needed;
	p->changed = r.changed;
	p->vls = r.vls;
	p->time = shift_loads_try(w->loads, repairer_tables(w->repairer), &w->changes, p->sw);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int weak_begin(struct weak_worker *w, const struct weak_search *x, struct progress *progress)
{
	const struct fabric *f = x->f;
	uint32_t shifts = x->opts->shifts ? x->opts->shifts : shift_time_default(f);
	int rc = repairer_new(&w->repairer, f, x->params, progress, &w->err);

	if (rc)
		return rc;
	w->down = xcalloc(f->nchan + 1u, sizeof(*w->down));
	w->queue = xcalloc(f->nsw, sizeof(*w->queue));
	w->seen = xcalloc(f->nsw, sizeof(*w->seen));
	rc = shift_loads_new(&w->loads, f, repairer_tables(w->repairer), shifts, progress);
	return rc ? err_set(&w->err, rc, "cancelled") : 0;
}

static void weak_end(struct weak_worker *w)
{
	repairer_free(w->repairer);
	shift_loads_free(w->loads);
	entry_changes_done(&w->changes);
	free(w->down);
	free(w->queue);
	free(w->seen);
}

static bool weak_turn(void *ctx, unsigned worker, uint32_t i)
{
	struct weak_search *x = ctx;
	struct weak_worker *w = &x->workers[worker];

	if (!w->repairer)
		w->rc = weak_begin(w, x, NULL);
	if (w->rc)
		return true;
	weak_measure(w, x->f, &x->report->part[i]);
	return !worker && progress_step(x->progress, "failures", i + 1, x->report->n);
}

static void weak_list(struct weak_report *r, const struct fabric *f, const struct weak_opts *opts)
{
	r->part = xcalloc(f->nchan + f->nsw + 1u, sizeof(*r->part));
	for (uint32_t c = 0; c < f->nchan && opts->cables; c++)
		if (c < f->chan_rev[c])
			r->part[r->n++] = (struct weak_part){ .chan = c, .sw = FAB_NONE };
	for (uint32_t sw = 0; sw < f->nsw && opts->switches; sw++)
		if (f->chan_off[sw] != f->chan_off[sw + 1])
			r->part[r->n++] = (struct weak_part){ .chan = FAB_NONE,
							      .sw = sw,
							      .hosts = f->sw_nterm[sw] };
}

static int weak_worst_first(const void *x, const void *y)
{
	const struct weak_part *a = x, *b = y;

	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (a->end == WEAK_CUT && a->hosts != b->hosts)
		return a->hosts > b->hosts ? -1 : 1;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return (a->chan > b->chan) - (a->chan < b->chan);
}

static int weak_run(struct weak_search *x, struct err *err)
{
	struct pool *pool = pool_new(x->params->threads);
	unsigned threads = pool_threads(pool);
	bool stopped = false;
	int rc;

	x->workers = xcalloc(threads, sizeof(*x->workers));
	rc = weak_begin(&x->workers[0], x, x->progress);
	if (!rc)
		stopped = pool_for(pool, x->report->n, weak_turn, x);
	if (rc)
		err_set(err, rc, "%s", x->workers[0].err.text);
	else if (stopped)
		rc = err_set(err, -ECANCELED, "cancelled");
	if (!rc) {
		x->report->time = shift_loads_time(x->workers[0].loads);
		x->report->vls = repairer_tables(x->workers[0].repairer)->vls;
	}
	for (unsigned i = 0; i < threads; i++)
		weak_end(&x->workers[i]);
	free(x->workers);
	pool_free(pool);
	return rc;
}

int weak_find(struct weak_report **out, const struct fabric *f, const struct engine_params *params,
	      const struct weak_opts *opts, struct progress *progress, struct err *err)
{
	struct weak_search x = { .f = f, .params = params, .opts = opts, .progress = progress };
	int rc;

	*out = NULL;
	x.report = xcalloc(1, sizeof(*x.report));
	weak_list(x.report, f, opts);
	rc = weak_run(&x, err);
	if (rc) {
		weak_report_free(x.report);
		return rc;
	}
	qsort(x.report->part, x.report->n, sizeof(*x.report->part), weak_worst_first);
	*out = x.report;
	return 0;
}

void weak_report_free(struct weak_report *w)
{
	if (!w)
		return;
	free(w->part);
	free(w);
}
