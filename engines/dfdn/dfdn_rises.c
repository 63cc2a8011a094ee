/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn/dfdn_rises.h"

#include "engines/graph/updown.h"
#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct fabric_summary {
	struct dfdn_rises *r;
	uint32_t *rises; /* by position, from there on */
	uint32_t *hops;
	bool *crossed; /* by position: on the path of some source */
	bool *used;    /* by turn */
};

static bool dfdn_tree_survey_tree(void *ctx, const struct dfdn_tree *x, uint32_t k)
{
	struct fabric_summary *s = ctx;
	uint32_t most = s->r->most, longest = s->r->longest;

	(void)k;
	for (uint32_t a = 0; a < x->nnews; a++) {
		uint32_t i = x->news[a], p = x->parent[i];

		s->rises[i] = p ? s->rises[p] + s->r->rise[x->turn[i]] : 0;
		s->hops[i] = s->hops[p] + 1;
		s->crossed[i] = x->source[i];
		most = x->source[i] && s->rises[i] > most ? s->rises[i] : most;
		longest = x->source[i] && s->hops[i] > longest ? s->hops[i] : longest;
	}
	s->r->most = most;
	s->r->longest = longest;
	for (uint32_t a = x->nnews; a--;) {
		uint32_t i = x->news[a], p = x->parent[i];

		s->crossed[p] |= s->crossed[i];
		if (p && s->crossed[i])
			s->used[x->turn[i]] = true;
	}
	return false;
}

/* Takes away channels that no other one leads to. */
static bool dfdn_tree_acyclic(const struct fabric *f, const struct turns *turns, const bool *used)
{
	uint32_t *in = xcalloc(f->nchan, sizeof(*in)), *queue = xcalloc(f->nchan, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		for (uint32_t v = f->chan_dst[c], e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
			in[e] += used[turns_at(turns, c, e)];
	for (uint32_t c = 0; c < f->nchan; c++)
		if (!in[c])
			queue[tail++] = c;
	while (head < tail) {
		uint32_t c = queue[head++], v = f->chan_dst[c];

		for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
			if (used[turns_at(turns, c, e)] && !--in[e])
				queue[tail++] = e;
	}
	free(in);
	free(queue);
	return tail == f->nchan;
}

/* Turns from a channel that leads down to one that leads up. */
static void dfdn_tree_mark_rises(struct dfdn_rises *r, const struct dfdn_tree *tree,
				 const uint32_t *roots, uint32_t nroots)
{
	const struct fabric *f = tree->f;
	struct updown ud;

	updown_init(&ud, f, roots, nroots);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t sw = f->chan_dst[c];

		if (updown_is_up(&ud, f, c))
			continue;
		for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
			r->rise[turns_at(&tree->turns, c, e)] = updown_is_up(&ud, f, e);
	}
	updown_done(&ud);
}

int dfdn_rises_init(struct dfdn_rises *r, struct dfdn_tree *tree, const uint32_t *roots,
		    uint32_t nroots, struct pace *p)
{
	struct fabric_summary s = { .r = r };
	struct dfdn_visit v = { .tree = dfdn_tree_survey_tree, .ctx = &s };
	int rc;

	*r = (struct dfdn_rises){ .rise = xcalloc(tree->turns.n, 1) };
	dfdn_tree_mark_rises(r, tree, roots, nroots);
	s.rises = xcalloc(tree->n, sizeof(*s.rises));
	s.hops = xcalloc(tree->n, sizeof(*s.hops));
	s.crossed = xcalloc(tree->n, sizeof(*s.crossed));
	s.used = xcalloc(tree->turns.n, sizeof(*s.used));
	rc = dfdn_tree_visit(tree, &v, p);
	r->needless = !rc && (!r->most || dfdn_tree_acyclic(tree->f, &tree->turns, s.used));
	free(s.rises);
	free(s.hops);
	free(s.crossed);
	free(s.used);
	return rc;
}

void dfdn_rises_done(struct dfdn_rises *r)
{
	free(r->rise);
	*r = (struct dfdn_rises){ 0 };
}
