/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_contention.h"

#include "engines/predict/predict_paths.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SLICE (4u << 20) /* bytes between two looks at the progress */

/* The only place that knows how rates count. */
static void sar_contention_set_rates(struct sar_contention *k, bool ignore)
{
	struct predict_paths p;

	predict_paths_speeds(&p, k->f);
	for (uint32_t c = 0; c < k->f->nchan; c++)
		k->slowness[c] = ignore ? 1 : p.slow[c];
	predict_paths_done(&p);
}

void sar_contention_init(struct sar_contention *k, const struct fabric *f,
			 const struct sar_traffic *x, bool ignore_rates, struct pace *p)
{
	size_t cells = (size_t)f->nchan * x->phases, turns = (size_t)x->njob * x->phases;

	*k = (struct sar_contention){ .mem = arena_new(), .f = f, .x = x, .pace = p };
	k->cell = arena_array(k->mem, struct sar_cell, cells);
	pace_touch(p, k->cell, cells * sizeof(*k->cell));
	k->weight = arena_array(k->mem, float, turns);
	k->norm = arena_array(k->mem, double, turns);
	k->job_cost = arena_array(k->mem, double, x->njob);
	k->npower = x->most + 2;
	k->power = arena_array(k->mem, struct sar_power, k->npower);
	k->slow = arena_array(k->mem, float, f->nchan);
	k->slowness = arena_array(k->mem, float, f->nchan);
	k->way = arena_array(k->mem, uint32_t, f->nsw);
	sar_contention_set_rates(k, ignore_rates);
}

void sar_contention_done(struct sar_contention *k)
{
	arena_free(k->mem);
}

/* Only a demand makes loads that are in no table. */
static double sar_contention_power(const struct sar_contention *k, uint32_t load)
{
	return load < k->npower ? k->power[load].here : pow(load, k->exponent);
}

/* --- all flows ----------------------------------------------------------------------------------
 */

/* Flows that go from one switch to one LID. */
typedef void (*sar_contention_fn)(struct sar_contention *k, uint32_t chan,
				  const struct sar_flow *flows, uint32_t n);

static void sar_contention_add_load(struct sar_contention *k, uint32_t chan,
				    const struct sar_flow *flows, uint32_t n)
{
	struct sar_cell *cell = k->cell + (size_t)chan * k->x->phases;

	for (uint32_t i = 0; i < n; i++)
		cell[flows[i].phase].load += flows[i].amount;
}

static void sar_contention_add_norm(struct sar_contention *k, uint32_t chan,
				    const struct sar_flow *flows, uint32_t n)
{
	const struct sar_cell *cell = k->cell + (size_t)chan * k->x->phases;
	double slow = (double)k->slow[chan];

	for (uint32_t i = 0; i < n; i++)
		k->norm[flows[i].at] +=
			slow * flows[i].amount * sar_contention_power(k, cell[flows[i].phase].load);
}

static void sar_contention_add_weight(struct sar_contention *k, uint32_t chan,
				      const struct sar_flow *flows, uint32_t n)
{
	struct sar_cell *cell = k->cell + (size_t)chan * k->x->phases;

	for (uint32_t i = 0; i < n; i++)
		cell[flows[i].phase].weight += (float)flows[i].amount * k->weight[flows[i].at];
}

/* norm becomes the greatest load. */
static void sar_contention_add_most(struct sar_contention *k, uint32_t chan,
				    const struct sar_flow *flows, uint32_t n)
{
	const struct sar_cell *cell = k->cell + (size_t)chan * k->x->phases;
	double slow = (double)k->slowness[chan];

	for (uint32_t i = 0; i < n; i++) {
		double v = slow * cell[flows[i].phase].load, *most = &k->norm[flows[i].at];

		*most = v > *most ? v : *most;
	}
}

/* The channels from a switch to that terminal. */
static uint32_t sar_contention_find_way(struct sar_contention *k, const uint8_t *ports,
					struct lft_hops *hops, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t u = from; u != to; u = lft_hops_next(hops, u, ports[u]))
		k->way[n++] = k->f->chan_off[u] + lft_hops_place(hops, u, ports[u]);
	return n;
}

static int sar_contention_walk(struct sar_contention *k, struct lft_hops *hops,
			       sar_contention_fn add)
{
	const struct sar_traffic *x = k->x;
	uint64_t before = k->work, reads = hops->reads;

	for (uint32_t term = 0; term < k->f->nterm; term++) {
		const uint8_t *ports;
		uint32_t i = x->off[term], end = x->off[term + 1];

		if (i == end)
			continue;
		ports = lft_hops_at(hops, k->f->term_lid[term]);
		while (i < end) {
			uint32_t first = i, from = x->flows[i].sw, n;

			while (i < end && x->flows[i].sw == from)
				i++;
			n = sar_contention_find_way(k, ports, hops, from, k->f->term_sw[term]);
			for (uint32_t c = 0; c < n; c++)
				add(k, k->way[c], x->flows + first, i - first);
			k->work += (uint64_t)n * (i - first);
		}
		if (pace_work(k->pace, 2 * (k->work - before) + (hops->reads - reads) / 2))
			return -ECANCELED;
		before = k->work;
		reads = hops->reads;
	}
	return 0;
}

static void sar_contention_set_exponent(struct sar_contention *k, unsigned exponent)
{
	k->exponent = exponent;
	for (uint32_t l = 0; l < k->npower; l++)
		k->power[l].here = pow(l, exponent);
	for (uint32_t l = 0; l + 1 < k->npower; l++)
		k->power[l].more = k->power[l + 1].here - k->power[l].here;
	k->slow_least = HUGE_VAL;
	for (uint32_t c = 0; c < k->f->nchan; c++) {
		k->slow[c] = (float)pow((double)k->slowness[c], exponent);
		k->slow_least = fmin(k->slow_least, (double)k->slow[c]);
	}
}

static size_t sar_contention_turns(const struct sar_contention *k)
{
	return (size_t)k->x->njob * k->x->phases;
}

static int sar_contention_load(struct sar_contention *k, struct lft_hops *hops)
{
	size_t slice = SLICE / (k->x->phases * sizeof(*k->cell)) + 1;

	for (size_t c = 0; c < k->f->nchan; c += slice) {
		size_t n = k->f->nchan - c < slice ? k->f->nchan - c : slice;

		memset(k->cell + c * k->x->phases, 0, n * k->x->phases * sizeof(*k->cell));
		pace_work(k->pace, SLICE / 4);
	}
	memset(k->norm, 0, sar_contention_turns(k) * sizeof(*k->norm));
	return sar_contention_walk(k, hops, sar_contention_add_load);
}

/* The sums become norms. */
static void sar_contention_sum_norms(struct sar_contention *k)
{
	uint32_t phases = k->x->phases;

	k->cost = 0;
	for (uint32_t j = 0; j < k->x->njob; j++) {
		k->job_cost[j] = 0;
		for (size_t i = (size_t)j * phases; i < (j + 1ull) * phases; i++) {
			k->norm[i] = pow(k->norm[i], 1.0 / k->exponent);
			k->job_cost[j] += (double)k->x->worth[i] * k->norm[i];
		}
		k->cost += k->job_cost[j];
	}
}

int sar_contention_measure(struct sar_contention *k, struct lft_hops *hops, unsigned exponent)
{
	int rc;

	if (exponent != k->exponent)
		sar_contention_set_exponent(k, exponent);
	rc = sar_contention_load(k, hops);
	if (!rc)
		rc = sar_contention_walk(k, hops, sar_contention_add_norm);
	if (!rc)
		sar_contention_sum_norms(k);
	return rc;
}

int sar_contention_weigh(struct sar_contention *k, struct lft_hops *hops)
{
	for (size_t i = 0; i < sar_contention_turns(k); i++)
		if (k->norm[i] > 0)
			k->weight[i] = (float)((double)k->x->worth[i] / k->exponent *
					       pow(k->norm[i], 1 - (double)k->exponent));
	return sar_contention_walk(k, hops, sar_contention_add_weight);
}

static void sar_contention_sum_up(const struct sar_contention *k, struct sar_clock *out)
{
	const struct sar_traffic *x = k->x;
	const struct sar_phases *of = &x->of[x->objective];
	uint32_t counted = 0;

	*out = (struct sar_clock){ .job = out->job };
	for (uint32_t j = 0; j < x->njob; j++) {
		const double *most = k->norm + (size_t)j * x->phases;
		const float *worth = x->worth + (size_t)j * x->phases;
		bool sends = false;

		out->job[j] = 0;
		for (uint32_t p = 0; p < x->phases; p++) {
			double time = most[p] > 1 ? most[p] : 1;

			out->job[j] += p - of->first < of->n ? time / of->n : 0;
			sends |= worth[p] > 0;
			out->cost += (double)worth[p] * time;
		}
		out->all += sends ? out->job[j] : 0;
		counted += sends;
	}
	out->all = counted ? out->all / counted : 1;
}

int sar_contention_time(struct sar_contention *k, struct lft_hops *hops, struct sar_clock *out)
{
	int rc = sar_contention_load(k, hops);

	if (!rc)
		rc = sar_contention_walk(k, hops, sar_contention_add_most);
	if (!rc)
		sar_contention_sum_up(k, out);
	return rc;
}

/* --- one bundle ---------------------------------------------------------------------------------
 */

/* What the first flow of a bundle, which may be much of a demand, adds to a channel with so much of
 * others. */
static double sar_contention_add_first(const struct sar_contention *k, const struct sar_bundle *b,
				       double weight, uint32_t load)
{
	return (weight + (double)b->weight[0]) * sar_contention_power(k, load + b->amount[0]) -
	       weight * sar_contention_power(k, load);
}

double sar_contention_relief(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b)
{
	const struct sar_cell *cells = k->cell + (size_t)chan * k->x->phases;
	const struct sar_cell *c = cells + b->phase[0];
	double sum = sar_contention_add_first(k, b, (double)(c->weight - b->weight[0]),
					      c->load - b->amount[0]);

	for (uint32_t i = 1; i < b->n; i++) {
		c = cells + b->phase[i];
		sum += (double)c->weight * k->power[c->load - 1].more +
		       (double)b->weight[i] * k->power[c->load - 1].here;
	}
	k->work += b->n;
	return sum * (double)k->slow[chan];
}

double sar_contention_burden(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b,
			     struct sar_burden *so_far, double most)
{
	const struct sar_cell *cells = k->cell + (size_t)chan * k->x->phases;
	double sum = so_far->cost, slow = (double)k->slow[chan];
	uint32_t i = so_far->n;

	while (i < b->n && sum < most) {
		uint32_t end = b->n - i < 8 ? b->n : i + 8;
		double some = 0;

		k->work += end - i;
		if (!i)
			some = sar_contention_add_first(k, b, (double)cells[b->phase[0]].weight,
							cells[b->phase[0]].load);
		for (i += !i; i < end; i++) {
			const struct sar_cell *c = cells + b->phase[i];

			some += (double)(c->weight + b->weight[i]) * k->power[c->load].more +
				(double)b->weight[i] * k->power[c->load].here;
		}
		sum += some * slow;
	}
	*so_far = (struct sar_burden){ sum, i };
	return sum;
}

double sar_contention_take(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b)
{
	struct sar_cell *cells = k->cell + (size_t)chan * k->x->phases;
	double sum = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		struct sar_cell *c = cells + b->phase[i];

		sum += (double)c->weight * sar_contention_power(k, c->load);
		c->load -= b->amount[i];
		c->weight = c->load ? c->weight - b->weight[i] : 0;
		sum -= (double)c->weight * sar_contention_power(k, c->load);
	}
	k->work += b->n;
	return sum * (double)k->slow[chan];
}

double sar_contention_put(struct sar_contention *k, uint32_t chan, const struct sar_bundle *b)
{
	struct sar_cell *cells = k->cell + (size_t)chan * k->x->phases;
	double sum = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		struct sar_cell *c = cells + b->phase[i];

		sum -= (double)c->weight * sar_contention_power(k, c->load);
		c->load += b->amount[i];
		c->weight += b->weight[i];
		sum += (double)c->weight * sar_contention_power(k, c->load);
	}
	k->work += b->n;
	return sum * (double)k->slow[chan];
}
