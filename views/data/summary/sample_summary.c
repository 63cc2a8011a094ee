/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/sample_summary.h"

#include "fabric/base/memory/mem.h"
#include "views/data/summary/history.h"
#include "views/data/summary/slow_cables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void reference_rates_take(struct reference_rates *n, const struct fabric *f, const struct tiers *t)
{
	n->expect = slow_cables_expect(f, t);
	n->tiers = t;
}

void reference_rates_drop(struct reference_rates *n)
{
	free(n->expect);
	n->expect = NULL;
}

/* --- problems -------------------------------------------------------------------------------- */

static enum problem sample_summary_problem_of(const struct port *p, const struct port_counters *pc,
					      uint32_t expect)
{
	if (!port_cabled(p))
		return PROBLEM_NONE;
	if (p->state != PORT_UNKNOWN && p->state != PORT_ACTIVE)
		return PROBLEM_DOWN;
	if (pc && !pc->valid)
		return PROBLEM_NO_REPLY;
	if (slow_cables_is_slow(p, expect))
		return PROBLEM_REDUCED;
	return PROBLEM_NONE;
}

static void sample_summary_note_rising(struct sample_summary *t, uint32_t port, double per_min)
{
	uint8_t other = t->problem[port];

	if (other >= PROBLEM_NO_REPLY)
		return;
	if (!(t->nrising & (t->nrising + 1)))
		t->rising = xrealloc(t->rising, (t->nrising + 1) * 2ull, sizeof(*t->rising));
	t->rising[t->nrising++] = (struct rising){ port, other, per_min };
}

static void sample_summary_find_problems(struct sample_summary *t, const struct reference_rates *n)
{
	const struct fabric *f = t->fabric;

	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port *p = &f->port[i];

		t->problem[i] = (uint8_t)sample_summary_problem_of(
			p, t->sample ? &t->sample->port[i] : NULL, n->expect[i]);
		t->count[t->problem[i]]++;
		if (t->rates && t->rates->port[i].errors_per_min > 0 && port_cabled(p))
			sample_summary_note_rising(t, i, t->rates->port[i].errors_per_min);
	}
}

/* --- tiers ----------------------------------------------------------------------------------- */

static void sample_summary_tier_add(struct tier_sum *t, double util, double wait)
{
	t->links++;
	if (isfinite(wait))
		t->wait_max = isfinite(t->wait_max) ? fmax(t->wait_max, wait) : wait;
	if (!isfinite(util))
		return;
	t->util_avg = t->known ? t->util_avg + util : util; /* a sum until the end */
	t->util_min = t->known ? fmin(t->util_min, util) : util;
	t->util_max = t->known ? fmax(t->util_max, util) : util;
	t->known++;
}

static void sample_summary_sum_tiers(struct sample_summary *v, const struct reference_rates *n)
{
	const struct fabric *f = v->fabric;
	double sum = 0;
	uint32_t known = 0;

	for (uint32_t t = 0; t < TIERS; t++)
		v->tier[t] = (struct tier_sum){ 0, 0, NAN, NAN, NAN, NAN };
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port_rate *r = v->rates ? &v->rates->port[i] : NULL;

		if (n->tiers->of[i] == NO_TIER)
			continue;
		sample_summary_tier_add(&v->tier[n->tiers->of[i]], r ? r->util_pct : NAN,
					r ? r->wait_pct : NAN);
		if (f->port[i].chan != FAB_NONE && r && isfinite(r->util_pct)) {
			sum += r->util_pct;
			known++;
		}
		if (f->port[i].term != FAB_NONE) /* what the host sends comes in here */
			sample_summary_tier_add(&v->tier[0],
						r && f->port[i].rate_Mbps
							? r->rx_Bps * 8e-4 / f->port[i].rate_Mbps
							: NAN,
						NAN);
	}
	for (uint32_t t = 0; t < TIERS; t++)
		v->tier[t].util_avg /= v->tier[t].known ? v->tier[t].known : 1;
	v->load_pct = known ? sum / known : NAN;
}

/* --- channels -------------------------------------------------------------------------------- */

static void sample_summary_top_add(struct sample_top *t, double *figure, double v, uint32_t c)
{
	uint32_t k;

	if (!isfinite(v) || (t->n == HOT_LINKS && v <= figure[HOT_LINKS - 1]))
		return;
	k = t->n < HOT_LINKS ? t->n++ : HOT_LINKS - 1;
	for (; k && figure[k - 1] < v; k--) {
		figure[k] = figure[k - 1];
		t->chan[k] = t->chan[k - 1];
	}
	figure[k] = v;
	t->chan[k] = c;
}

static void sample_summary_find_tops(struct sample_summary *t)
{
	const struct fabric *f = t->fabric;
	double figure[HISTORY_METRICS][HOT_LINKS];

	for (uint32_t c = 0; t->rates && c < f->nchan; c++) {
		const struct port_rate *r =
			&t->rates->port[f->port_off[f->chan_src[c]] + f->chan_port[c]];

		t->util[c] = r->util_pct;
		t->congestion[c] = port_rate_congestion(r);
		sample_summary_top_add(&t->top[HISTORY_UTIL], figure[HISTORY_UTIL], r->util_pct, c);
		if (r->wait_pct > 0) {
			sample_summary_top_add(&t->top[HISTORY_WAIT], figure[HISTORY_WAIT],
					       r->wait_pct, c);
			t->waiting[t->nwaiting++] = c;
		}
		if (r->errors_per_min > 0)
			sample_summary_top_add(&t->top[HISTORY_ERRORS], figure[HISTORY_ERRORS],
					       r->errors_per_min, c);
	}
	for (uint32_t c = 0; !t->rates && c < f->nchan; c++)
		t->util[c] = t->congestion[c] = NAN;
}

/* Equals as they come. */
static void sample_summary_find_fullest(struct sample_summary *t)
{
	const struct fabric *f = t->fabric;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t *full = t->fullest[sw], off = f->port_off[sw];
		double util[2] = { 0, 0 };

		full[0] = full[1] = FAB_NONE;
		for (uint32_t p = off + 1; t->rates && p <= off + f->sw_nports[sw]; p++) {
			double v = t->rates->port[p].util_pct;
			int at = v > util[0] ? 0 : 1;

			if (!(v > util[1]))
				continue;
			if (!at) {
				full[1] = full[0];
				util[1] = util[0];
			}
			full[at] = p;
			util[at] = v;
		}
	}
}

struct sample_summary *sample_summary_new(const struct fabric *f, const struct reference_rates *n,
					  const struct sample *sample, const struct rates *rates)
{
	struct sample_summary *t = xcalloc(1, sizeof(*t));

	t->refs = 1;
	t->fabric = fabric_get(f);
	t->sample = sample && sample->nport == f->nport ? sample_get(sample) : NULL;
	t->rates = rates && rates->nport == f->nport ? rates_get(rates) : NULL;
	t->util = xcalloc(f->nchan + 1ull, sizeof(*t->util));
	t->congestion = xcalloc(f->nchan + 1ull, sizeof(*t->congestion));
	t->problem = xcalloc(f->nport + 1ull, 1);
	t->row = xcalloc(history_row_bytes(f->nchan) + 1, 1);
	t->waiting = xcalloc(f->nchan + 1ull, sizeof(*t->waiting));
	t->fullest = xcalloc(f->nsw + 1ull, sizeof(*t->fullest));
	sample_summary_find_tops(t);
	sample_summary_find_fullest(t);
	history_row(t->row, f, t->rates);
	sample_summary_find_problems(t, n);
	sample_summary_sum_tiers(t, n);
	return t;
}

void sample_summary_problems(uint32_t count[PROBLEM_KINDS], const struct sample_summary *t,
			     double errors_limit)
{
	memcpy(count, t->count, sizeof(t->count));
	for (uint32_t i = 0; i < t->nrising; i++)
		if (t->rising[i].per_min > errors_limit) {
			count[t->rising[i].other]--;
			count[PROBLEM_ERRORS]++;
		}
}

const struct sample_summary *sample_summary_get(const struct sample_summary *t)
{
	if (t)
		__atomic_add_fetch(&((struct sample_summary *)t)->refs, 1, __ATOMIC_RELAXED);
	return t;
}

void sample_summary_put(const struct sample_summary *p)
{
	struct sample_summary *t = (struct sample_summary *)p;

	if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		return;
	fabric_put(t->fabric);
	sample_put(t->sample);
	rates_put(t->rates);
	free(t->util);
	free(t->congestion);
	free(t->problem);
	free(t->row);
	free(t->rising);
	free(t->waiting);
	free(t->fullest);
	free(t);
}
