/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/demand_time.h"

#include "engines/time/phase/phase_load.h"

#include <errno.h>
#include <stdlib.h>

struct demand_work {
	struct arena *mem; /* owns the arrays */
	struct predict_paths paths;
	const struct demand *demand;
	struct phase_load d;  /* of one destination */
	double *load;	      /* per channel */
	uint64_t *sent, *got; /* per terminal */
};

static void demand_time_add(struct demand_time *out, struct demand_work *k, uint32_t dst)
{
	const struct demand *w = k->demand;
	const struct fabric *f = k->paths.f;

	phase_load_begin(&k->d);
	for (uint32_t i = w->off[dst]; i < w->off[dst + 1]; i++) {
		struct flow fl = { w->src[i], dst };

		k->sent[fl.src] += w->w[i];
		k->got[dst] += w->w[i];
		out->pairs += f->term_sw[fl.src] != f->term_sw[dst];
		vec_push(&k->d.list.flows, fl);
	}
	phase_load_trace(&k->d, &k->paths);
	for (const struct step *s = k->d.trace.steps; s && s < k->d.trace.steps + k->d.trace.n; s++)
		if (!k->d.trace.stranded[s->flow])
			k->load[s->link] += (double)s->part * w->w[w->off[dst] + s->flow];
	out->stranded += k->d.trace.nstranded;
}

static void demand_time_summarise(struct demand_time *out, const struct demand_work *k)
{
	double most = 0, busiest = 1;

	for (uint32_t t = 0; t < k->paths.f->nterm; t++) {
		busiest = (double)k->sent[t] > busiest ? (double)k->sent[t] : busiest;
		busiest = (double)k->got[t] > busiest ? (double)k->got[t] : busiest;
	}
	for (uint32_t c = 0; c < k->paths.f->nchan; c++) {
		double v = k->load[c] * (double)k->paths.slow[c];

		most = v > most ? v : most;
	}
	out->known = out->pairs > 0;
	out->time = most > busiest ? most / busiest : 1;
}

int demand_time_compute(struct demand_time *out, const struct fabric *f, const struct tables *t,
			const struct demand *demand, predict_lids_fn lids, void *lids_ctx,
			struct progress *progress, struct err *err)
{
	struct demand_work k = { .demand = demand };
	int rc = predict_paths_check(f, t, NULL, err);

	*out = (struct demand_time){ .time = 1 };
	if (!rc && demand->nterm != f->nterm)
		rc = err_set(err, -EINVAL, "the demand belongs to a fabric other than %s", f->name);
	if (rc)
		return rc;
	predict_paths_init(&k.paths, f, t, lids, lids_ctx);
	phase_load_init(&k.d, &k.paths);
	k.mem = arena_new();
	k.load = arena_alloc(k.mem, f->nchan + 1u, sizeof(*k.load));
	k.sent = arena_alloc(k.mem, f->nterm, sizeof(*k.sent));
	k.got = arena_alloc(k.mem, f->nterm, sizeof(*k.got));
	for (uint32_t dst = 0; !rc && dst < f->nterm; dst++) {
		demand_time_add(out, &k, dst);
		if (dst % 256 == 0 && progress_step(progress, "demand", dst, f->nterm))
			rc = err_set(err, -ECANCELED, "the prediction was cancelled");
	}
	if (!rc)
		demand_time_summarise(out, &k);
	phase_load_done(&k.d);
	predict_paths_done(&k.paths);
	arena_free(k.mem);
	return rc;
}
