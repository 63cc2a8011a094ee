/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/slow_cables.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

#define RATES 16 /* that are told apart */

/* How often rates occur. */
struct census {
	uint32_t rate[RATES], count[RATES];
	uint32_t n;
};

static void slow_cables_count(struct census *x, uint32_t Mbps)
{
	uint32_t k = 0;

	while (k < x->n && x->rate[k] != Mbps)
		k++;
	if (!Mbps || k == RATES)
		return;
	x->rate[k] = Mbps;
	x->count[k]++;
	x->n += k == x->n;
}

/* The faster one of equally many; 0: there are none. */
static uint32_t slow_cables_most_common(const struct census *x)
{
	uint32_t rate = 0, count = 0;

	for (uint32_t k = 0; k < x->n; k++) {
		if (x->count[k] < count || (x->count[k] == count && x->rate[k] < rate))
			continue;
		rate = x->rate[k];
		count = x->count[k];
	}
	return rate;
}

static uint32_t slow_cables_port(const struct fabric *f, uint32_t c)
{
	return f->port_off[f->chan_src[c]] + f->chan_port[c];
}

/* Of the channels of its switch in the same tier. */
static uint32_t slow_cables_usual(const struct fabric *f, const struct tiers *t, uint32_t c)
{
	uint32_t u = f->chan_src[c];
	uint8_t tier = t->of[slow_cables_port(f, c)];
	struct census x = { .n = 0 };

	for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++)
		if (t->of[slow_cables_port(f, e)] == tier)
			slow_cables_count(&x, fabric_chan_Mbps(f, e));
	return slow_cables_most_common(&x);
}

static uint32_t slow_cables_of_parallel(const struct fabric *f, uint32_t c)
{
	uint32_t u = f->chan_src[c], max = 0;

	for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++)
		if (f->chan_dst[e] == f->chan_dst[c] && fabric_chan_Mbps(f, e) > max)
			max = fabric_chan_Mbps(f, e);
	return max;
}

static uint32_t slow_cables_between(const struct fabric *f, const struct tiers *t, uint32_t c)
{
	uint32_t here = slow_cables_usual(f, t, c), there = slow_cables_usual(f, t, f->chan_rev[c]);
	uint32_t parallel = slow_cables_of_parallel(f, c), usual = here < there ? here : there;

	return usual > parallel ? usual : parallel;
}

static uint32_t slow_cables_of_hosts(const struct fabric *f)
{
	struct census x = { .n = 0 };

	for (uint32_t i = 0; i < f->nport; i++)
		if (f->port[i].term != FAB_NONE)
			slow_cables_count(&x, f->port[i].rate_Mbps);
	return slow_cables_most_common(&x);
}

/* Adapters for half the rate (HDR100) say that they support all its lanes and all its speed, though
 * not both at once. */
static bool slow_cables_knows_better(const struct port *p)
{
	return p->chan != FAB_NONE || 2ull * p->rate_Mbps < p->best_Mbps;
}

uint32_t *slow_cables_expect(const struct fabric *f, const struct tiers *t)
{
	uint32_t *expect = xcalloc(f->nport + 1ull, sizeof(*expect));
	uint32_t hosts = slow_cables_of_hosts(f);

	for (uint32_t c = 0; c < f->nchan; c++)
		if (fabric_chan_Mbps(f, c))
			expect[slow_cables_port(f, c)] = slow_cables_between(f, t, c);
	for (uint32_t i = 0; i < f->nport; i++)
		if (f->port[i].term != FAB_NONE)
			expect[i] = hosts;
	for (uint32_t i = 0; i < f->nport; i++)
		if (slow_cables_knows_better(&f->port[i]) && f->port[i].best_Mbps > expect[i])
			expect[i] = f->port[i].best_Mbps;
	return expect;
}
