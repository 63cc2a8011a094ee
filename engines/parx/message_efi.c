/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/message_efi.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/chan_weight.h"

struct tally {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct tables *t;
	const struct jobset *jobs;
	predict_lids_fn lids;
	void *lids_ctx;
	double *all, *eff; /* by channel */
	double *own;	   /* of the job at hand, 0 between jobs */
	uint32_t *touched, ntouched;
	uint32_t *count; /* by switch: senders to the terminal at hand, 0 between terminals */
	uint32_t *from, nfrom;
	uint32_t *seen; /* by terminal: last destination that it was counted for, and 1 */
	double hops, pairs;
	uint32_t hops_max;
};

static void message_efi_init(struct tally *x)
{
	const struct fabric *f = x->f;

	x->mem = arena_new();
	x->all = arena_alloc(x->mem, f->nchan + 1u, sizeof(*x->all));
	x->eff = arena_alloc(x->mem, f->nchan + 1u, sizeof(*x->eff));
	x->own = arena_alloc(x->mem, f->nchan + 1u, sizeof(*x->own));
	x->touched = arena_alloc(x->mem, f->nchan + 1u, sizeof(*x->touched));
	x->count = arena_alloc(x->mem, f->nsw, sizeof(*x->count));
	x->from = arena_alloc(x->mem, f->nsw, sizeof(*x->from));
	x->seen = arena_alloc(x->mem, f->nterm, sizeof(*x->seen));
}

/* Hops from there to the switch of a LID; 0: it does not arrive. */
static uint32_t message_efi_hops(const struct tally *x, uint32_t at, uint32_t dst, uint32_t lid)
{
	uint32_t n = 0;

	while (at != dst) {
		uint32_t c = fabric_chan(x->f, at, tables_row(x->t, at)[lid]);

		if (c == FAB_NONE || n++ > x->f->nsw)
			return 0;
		at = x->f->chan_dst[c];
	}
	return n;
}

static void message_efi_add(struct tally *x, double *load, uint32_t at, uint32_t dst, uint32_t lid,
			    double weight)
{
	while (at != dst) {
		uint32_t c = fabric_chan(x->f, at, tables_row(x->t, at)[lid]);

		if (load == x->own && load[c] <= 0)
			x->touched[x->ntouched++] = c;
		load[c] += weight;
		at = x->f->chan_dst[c];
	}
}

/* What that many senders on a switch send to a terminal; all have the LIDs of any one of them. */
static void message_efi_send(struct tally *x, double *load, uint32_t from, uint32_t dst, double n)
{
	const struct fabric *f = x->f;
	uint16_t lids[PREDICT_MAX_LIDS] = { f->term_lid[dst] };
	uint32_t sw = f->term_sw[dst], first = f->term_list[f->term_off[from]];
	uint32_t k = x->lids ? x->lids(x->lids_ctx, first, dst, lids) : 1;

	for (uint32_t i = 0; i < k; i++) {
		uint32_t hops = message_efi_hops(x, from, sw, lids[i]);

		if (!hops)
			continue;
		message_efi_add(x, load, from, sw, lids[i], n / k);
		if (load != x->all)
			continue;
		x->hops += hops * n / k;
		x->hops_max = hops > x->hops_max ? hops : x->hops_max;
	}
}

static void message_efi_all_to(struct tally *x, uint32_t dst)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		if (f->sw_nterm[u] && u != f->term_sw[dst])
			message_efi_send(x, x->all, u, dst, f->sw_nterm[u]);
		x->pairs += f->sw_nterm[u] - (u == f->term_sw[dst]);
	}
}

static void message_efi_count(struct tally *x, uint32_t term)
{
	if (!x->count[x->f->term_sw[term]]++)
		x->from[x->nfrom++] = x->f->term_sw[term];
}

/* From those that were counted, whose count ends. */
static void message_efi_send_counted(struct tally *x, double *load, uint32_t dst)
{
	for (uint32_t i = 0; i < x->nfrom; i++) {
		uint32_t u = x->from[i];

		if (u != x->f->term_sw[dst])
			message_efi_send(x, load, u, dst, x->count[u]);
		x->count[u] = 0;
	}
	x->nfrom = 0;
}

/* Whoever shares a job with it, once. */
static void message_efi_jobs_to(struct tally *x, uint32_t dst)
{
	const struct jobset *js = x->jobs;

	for (uint32_t k = js->term_off[dst]; k < js->term_off[dst + 1]; k++) {
		const struct job *job = &js->jobs[js->term_job[k]];

		for (uint32_t i = 0; i < job->nterm; i++) {
			if (x->seen[job->terms[i]] == dst + 1)
				continue;
			x->seen[job->terms[i]] = dst + 1;
			message_efi_count(x, job->terms[i]);
		}
	}
	message_efi_send_counted(x, x->eff, dst);
}

/* The fullest channel of a job alone; 0: it sends over none. */
static double message_efi_of_job(struct tally *x, const struct job *job)
{
	double most = 0;

	for (uint32_t d = 0; d < job->nterm; d++) {
		for (uint32_t i = 0; i < job->nterm; i++)
			message_efi_count(x, job->terms[i]);
		message_efi_send_counted(x, x->own, job->terms[d]);
	}
	for (uint32_t i = 0; i < x->ntouched; i++) {
		double *load = &x->own[x->touched[i]];

		most = *load > most ? *load : most;
		*load = 0;
	}
	x->ntouched = 0;
	return most;
}

static void message_efi_take_jobs(struct message_efi *out, struct tally *x)
{
	uint32_t dark = 0, njob = 0;
	struct chan_weights w;

	for (uint32_t j = 0; j < x->jobs->njob; j++) {
		double most = message_efi_of_job(x, &x->jobs->jobs[j]);

		out->job_efi_max_mean += most;
		njob += most > 0;
	}
	out->job_efi_max_mean = njob ? out->job_efi_max_mean / njob : 0;
	chan_weights_init(&w, x->f, false);
	for (uint32_t c = 0; c < x->f->nchan; c++) {
		double v = x->eff[c] * chan_weight(&w, c) / w.unit;

		out->eff_efi_max = v > out->eff_efi_max ? v : out->eff_efi_max;
		dark += x->eff[c] <= 0;
	}
	chan_weights_done(&w);
	out->dark_fiber_pct = x->f->nchan ? 100.0 * dark / x->f->nchan : 100;
}

void message_efi_compute(struct message_efi *out, const struct fabric *f, const struct tables *t,
			 const struct jobset *jobs, predict_lids_fn lids, void *lids_ctx)
{
	struct tally x = { .f = f, .t = t, .jobs = jobs, .lids = lids, .lids_ctx = lids_ctx };

	message_efi_init(&x);
	for (uint32_t dst = 0; dst < f->nterm; dst++) {
		message_efi_all_to(&x, dst);
		if (jobs)
			message_efi_jobs_to(&x, dst);
	}
	*out = (struct message_efi){ .hops_mean = x.pairs > 0 ? x.hops / x.pairs : 0,
				     .hops_max = x.hops_max,
				     .dark_fiber_pct = 100 };
	for (uint32_t c = 0; c < f->nchan; c++)
		out->efi_max = x.all[c] > out->efi_max ? x.all[c] : out->efi_max;
	if (jobs)
		message_efi_take_jobs(out, &x);
	arena_free(x.mem);
}

const char *message_size_name(enum message_size size)
{
	static const char *const names[MESSAGE_SIZES] = { "base", "small", "large" };

	return names[size];
}
