/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/predict_fair.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* A flow on a link: at is the link where kept by flow, the flow where kept by link. */
struct share {
	uint32_t at;
	float part;
};

struct link {
	double left;   /* capacity that no settled flow has */
	double weight; /* sum of the parts of unsettled flows */
	uint32_t open; /* unsettled flows, as often as they come by */
	uint32_t n;    /* flows */
	uint32_t user; /* first of them */
};

void fair_init(struct fair *fr, const struct predict_paths *p)
{
	*fr = (struct fair){ 0 };
	fr->link = xcalloc(p->nlink, sizeof(*fr->link));
	fr->used = xcalloc(p->nlink, sizeof(*fr->used));
	heap_reserve(&fr->heap, p->nlink);
}

void fair_done(struct fair *fr)
{
	free(fr->rate);
	free(fr->off);
	free(fr->share);
	free(fr->user);
	free(fr->link);
	free(fr->used);
	heap_done(&fr->heap);
}

static void predict_fair_reserve(struct fair *fr, uint32_t flows, uint32_t shares)
{
	if (fr->cap_flow < flows) {
		fr->cap_flow = flows;
		fr->rate = xrealloc(fr->rate, flows, sizeof(*fr->rate));
		fr->off = xrealloc(fr->off, flows + 2u, sizeof(*fr->off));
	}
	if (fr->cap_share < shares) {
		fr->cap_share = shares;
		fr->share = xrealloc(fr->share, shares, sizeof(*fr->share));
		fr->user = xrealloc(fr->user, shares, sizeof(*fr->user));
	}
}

static void predict_fair_put_share(struct fair *fr, uint32_t flow, uint32_t link, float part)
{
	struct link *l = &fr->link[link];

	fr->share[fr->off[flow + 1]++] = (struct share){ link, part };
	if (!l->n++)
		fr->used[fr->nused++] = link;
	l->weight += (double)part;
}

/* Links by flow: counts, then places; off[flow + 1] runs from a flow's first to its last. */
static void predict_fair_sort_shares(struct fair *fr, const struct predict_paths *p,
				     const struct trace *tr, const struct flow *flows)
{
	uint32_t i, n = tr->nflow;

	predict_fair_reserve(fr, n, tr->n + 2 * n);
	memset(fr->off, 0, (n + 2u) * sizeof(*fr->off));
	for (i = 0; i < tr->n; i++)
		fr->off[tr->steps[i].flow + 2] += !tr->stranded[tr->steps[i].flow];
	for (i = 0; i < n; i++)
		fr->off[i + 2] += fr->off[i + 1] + (tr->stranded[i] || !flows ? 0 : 2);
	fr->nused = 0;
	for (i = 0; i < tr->n; i++) {
		const struct step *s = &tr->steps[i];

		if (!tr->stranded[s->flow])
			predict_fair_put_share(fr, s->flow, s->link, s->part);
	}
	for (i = 0; i < n; i++) {
		fr->rate[i] = tr->stranded[i] ? 0 : -1;
		if (tr->stranded[i] || !flows)
			continue;
		predict_fair_put_share(fr, i, predict_paths_up(p, flows[i].src), 1);
		predict_fair_put_share(fr, i, predict_paths_down(p, flows[i].dst), 1);
	}
}

static void predict_fair_sort_users(struct fair *fr, const struct predict_paths *p, uint32_t nflow)
{
	uint32_t i, k, at = 0;

	for (i = 0; i < fr->nused; i++) {
		struct link *l = &fr->link[fr->used[i]];

		l->left = 1 / (double)p->slow[fr->used[i]];
		l->user = at;
		at += l->n;
	}
	for (i = 0; i < nflow; i++) {
		for (k = fr->off[i]; k < fr->off[i + 1]; k++) {
			struct link *l = &fr->link[fr->share[k].at];

			fr->user[l->user + l->open++] = (struct share){ i, fr->share[k].part };
		}
	}
}

static void predict_fair_fill_heap(struct fair *fr)
{
	for (uint32_t i = 0; i < fr->nused; i++) {
		const struct link *l = &fr->link[fr->used[i]];

		fr->heap.key[i] = heap_key_of(l->left / l->weight);
		fr->heap.item[i] = fr->used[i];
	}
	heap_make(&fr->heap, fr->nused);
}

/* Gives the unsettled flows of a full link their rate; returns how many shares it looked at. */
static uint32_t predict_fair_settle(struct fair *fr, const struct link *full, double rate)
{
	uint32_t i, k, work = full->n;

	for (i = full->user; i < full->user + full->n; i++) {
		uint32_t flow = fr->user[i].at;

		if (fr->rate[flow] >= 0)
			continue;
		fr->rate[flow] = rate;
		for (k = fr->off[flow]; k < fr->off[flow + 1]; k++) {
			struct link *l = &fr->link[fr->share[k].at];

			l->left -= rate * (double)fr->share[k].part;
			l->weight -= (double)fr->share[k].part;
			l->open--;
			work++;
		}
	}
	return work;
}

static bool predict_fair_fill(struct fair *fr, struct pace *pace, uint64_t done)
{
	double rate = 0; /* never falls, whatever is rounded */

	while (fr->heap.n > 0) {
		const struct link *l = &fr->link[fr->heap.item[0]];
		double level = heap_double(fr->heap.key[0]), now;

		if (!l->open) {
			heap_pop(&fr->heap);
			continue;
		}
		now = l->left / l->weight;
		if (now > level) { /* others left more than was thought */
			heap_delay_first(&fr->heap, heap_key_of(now));
			continue;
		}
		rate = level > rate ? level : rate;
		heap_pop(&fr->heap);
		if (pace_tick(pace, done, predict_fair_settle(fr, l, rate)))
			return true;
	}
	return false;
}

bool fair_rates(struct fair *fr, const struct predict_paths *p, const struct trace *tr,
		const struct flow *flows, struct pace *pace, uint64_t done)
{
	uint64_t shares = tr->n + 2ull * tr->nflow;
	bool stop;
	uint32_t i;

	if (!tr->nflow) /* nothing was ever allocated */
		return false;
	predict_fair_sort_shares(fr, p, tr, flows);
	stop = pace_tick(pace, done, shares);
	if (!stop) {
		predict_fair_sort_users(fr, p, tr->nflow);
		stop = pace_tick(pace, done, shares);
	}
	if (!stop) {
		predict_fair_fill_heap(fr);
		stop = predict_fair_fill(fr, pace, done);
	}
	for (i = 0; i < fr->nused; i++)
		fr->link[fr->used[i]] = (struct link){ 0 };
	return stop;
}
