/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx_check.h"

#include "engines/geometry/topology_kind.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_WAY UINT32_MAX

struct check {
	const struct fabric *f;
	const struct tables *t;
	const struct lid_choice *c;
	const bool *pin; /* by end; NULL: none */
	const struct grid *g;
	struct parx_verdict *v;
	uint32_t *least; /* by switch: hops to the destination switch at hand */
	uint32_t *queue;
	uint32_t *dist; /* by LID * nsw + switch: hops to that LID of the terminal at hand */
	uint32_t *to;	/* by LID * nsw + switch: next switch */
	uint32_t *path; /* scratch: switches of a walk */
	uint32_t nlid;
};

/* Hops from every switch to a LID, NO_WAY where it goes nowhere or in circles. */
static void parx_check_follow(struct check *x, uint32_t dst, uint32_t lid, uint8_t end_port,
			      uint32_t i)
{
	const struct fabric *f = x->f;
	uint32_t *dist = x->dist + (size_t)i * f->nsw, *to = x->to + (size_t)i * f->nsw;
	bool arrives = tables_row(x->t, dst)[lid] == end_port;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t c = fabric_chan(f, u, tables_row(x->t, u)[lid]);

		to[u] = c == FAB_NONE ? FAB_NONE : f->chan_dst[c];
		dist[u] = FAB_NONE - 1; /* not known yet */
	}
	dist[dst] = arrives ? 0 : NO_WAY;
	for (uint32_t s = 0; s < f->nsw; s++) {
		uint32_t u = s, n = 0, end;

		while (u != FAB_NONE && dist[u] == FAB_NONE - 1 && n < f->nsw) {
			x->path[n++] = u;
			u = to[u];
		}
		end = u == FAB_NONE || dist[u] == FAB_NONE - 1 ? NO_WAY : dist[u];
		while (n--) {
			end = end == NO_WAY ? NO_WAY : end + 1;
			dist[x->path[n]] = end;
		}
	}
}

/* Does some half of some dimension hold both?  The middle of an odd one is in both halves. */
static bool parx_check_in_one_half(const struct grid *g, uint32_t a, uint32_t b)
{
	const uint16_t *x = grid_coord(g, a), *y = grid_coord(g, b);

	for (uint32_t d = 0; d < g->ndims; d++) {
		uint32_t lower = (g->size[d] + 1) / 2, upper = g->size[d] / 2;

		if ((x[d] < lower && y[d] < lower) || (x[d] >= upper && y[d] >= upper))
			return true;
	}
	return false;
}

static bool parx_check_on_shortest(const struct grid *g, uint32_t src, uint32_t dst, uint32_t u)
{
	const uint16_t *s = grid_coord(g, src), *t = grid_coord(g, dst), *x = grid_coord(g, u);
	uint32_t d = 0;

	while (d < g->ndims && (x[d] == s[d] || x[d] == t[d]))
		d++;
	return d == g->ndims;
}

/* Does the path take a cable that a shortest path in the full grid could take? */
static bool parx_check_shares(const struct check *x, uint32_t src, uint32_t dst, uint32_t i)
{
	const uint32_t *to = x->to + (size_t)i * x->f->nsw;

	for (uint32_t u = src; u != dst; u = to[u])
		if (parx_check_on_shortest(x->g, src, dst, u) &&
		    parx_check_on_shortest(x->g, src, dst, to[u]))
			return true;
	return false;
}

static void parx_check_fault(struct parx_verdict *v, enum parx_fault what, uint32_t src,
			     uint32_t term, uint32_t lid)
{
	if (v->fault != PARX_OK && v->fault <= what)
		return;
	v->fault = what;
	v->bad_src = src;
	v->bad_term = term;
	v->bad_lid = (uint16_t)lid;
}

/* First LID of a set that is bad in that respect; nlid: none. */
static uint32_t parx_check_first_bad(const struct check *x, uint32_t src, uint32_t dst,
				     uint32_t lids, enum parx_fault how)
{
	for (uint32_t i = 0; i < x->nlid; i++) {
		uint32_t hops = x->dist[(size_t)i * x->f->nsw + src];
		bool bad = how == PARX_NO_WAY ? hops == NO_WAY : false;

		if (!(lids >> i & 1))
			continue;
		if (how == PARX_LONGER)
			bad = hops > x->least[src];
		if (how == PARX_DIRECT)
			bad = x->to[(size_t)i * x->f->nsw + src] == dst;
		if (bad)
			return i;
	}
	return x->nlid;
}

/* Is there no path from src to dst but over their direct cables?  A search of its own, for few. */
static bool parx_check_only_way(const struct check *x, uint32_t src, uint32_t dst)
{
	const struct fabric *f = x->f;
	bool *seen = xcalloc(f->nsw, sizeof(*seen)), found;
	uint32_t n = 0;

	seen[src] = true;
	x->path[n++] = src;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = f->chan_off[x->path[i]]; c < f->chan_off[x->path[i] + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (seen[v] || (x->path[i] == src && v == dst))
				continue;
			seen[v] = true;
			x->path[n++] = v;
		}
	found = seen[dst];
	free(seen);
	return !found;
}

static void parx_check_note_direct(struct check *x, uint32_t src, uint32_t term, uint32_t i)
{
	struct parx_verdict *v = x->v;

	if (!parx_check_only_way(x, src, x->f->term_sw[term])) {
		v->direct++;
		parx_check_fault(v, PARX_DIRECT, src, term, x->f->term_lid[term] + i);
		return;
	}
	if (!v->only++) {
		v->only_src = src;
		v->only_term = term;
	}
}

static void parx_check_judge_large(struct check *x, uint32_t src, uint32_t term, uint32_t large)
{
	uint32_t dst = x->f->term_sw[term], i;

	if (!parx_check_in_one_half(x->g, src, dst))
		return;
	x->v->around++;
	i = parx_check_first_bad(x, src, dst, large, PARX_DIRECT);
	if (i < x->nlid) {
		parx_check_note_direct(x, src, term, i);
		return;
	}
	for (i = 0; i < x->nlid; i++)
		if (large >> i & 1 && parx_check_shares(x, src, dst, i)) {
			x->v->shared++;
			return;
		}
}

static void parx_check_judge_pair(struct check *x, uint32_t src, uint32_t term)
{
	uint32_t dst = x->f->term_sw[term], i;
	struct lid_set lids = lid_choice_get(x->c, src, dst);
	uint32_t has = x->nlid < 32 ? (1u << x->nlid) - 1 : UINT32_MAX;
	struct parx_verdict *v = x->v;

	v->pairs++;
	if (!lids.small || !lids.large || (lids.small | lids.large) & ~has) {
		v->no_choice++;
		parx_check_fault(v, PARX_NO_CHOICE, src, term, 0);
		return;
	}
	i = parx_check_first_bad(x, src, dst, lids.small | lids.large, PARX_NO_WAY);
	if (i < x->nlid) {
		v->no_way++;
		parx_check_fault(v, PARX_NO_WAY, src, term, x->f->term_lid[term] + i);
		return;
	}
	i = parx_check_first_bad(x, src, dst, lids.small, PARX_LONGER);
	if (i < x->nlid) {
		v->longer++;
		if (v->fault == PARX_OK || v->fault > PARX_LONGER) {
			v->bad_hops = x->dist[(size_t)i * x->f->nsw + src];
			v->least_hops = x->least[src];
		}
		parx_check_fault(v, PARX_LONGER, src, term, x->f->term_lid[term] + i);
	}
	parx_check_judge_large(x, src, term, lids.large);
}

static void parx_check_judge_term(struct check *x, uint32_t term)
{
	const struct fabric *f = x->f;
	uint32_t dst = f->term_sw[term];

	for (uint32_t i = 0; i < x->nlid; i++)
		parx_check_follow(x, dst, f->term_lid[term] + i, f->term_port[term], i);
	for (uint32_t u = 0; u < f->nsw; u++)
		if (u != dst && f->sw_nterm[u])
			parx_check_judge_pair(x, u, term);
}

/* An end that is no terminal has no paths for messages. */
static void parx_check_judge_end(struct check *x, uint32_t end)
{
	if (end >= x->f->nterm)
		return;
	if (x->pin && x->pin[end])
		x->v->pinned++;
	else
		parx_check_judge_term(x, end);
}

static int parx_check_judge_all(struct check *x, struct progress *progress)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		x->queue[0] = u;
		fabric_hops(x->least, x->queue, f, 1);
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++) {
			parx_check_judge_end(x, f->term_list[k]);
			if (progress_step(progress, "parx", k, f->nend))
				return -ECANCELED;
		}
	}
	return 0;
}

int parx_check(struct parx_verdict *out, const struct fabric *f, const struct tables *t,
	       const struct lid_choice *c, const bool *pin, struct progress *progress,
	       struct err *err)
{
	struct check x = { .f = f, .t = t, .c = c, .pin = pin, .v = out };
	uint8_t lmc = (uint8_t)(f->lmc - (t->escape && f->lmc));
	struct topology_kind *topology;
	struct arena *mem;
	int rc;

	if (c->nsw != f->nsw || t->nsw != f->nsw || t->max_lid != f->max_lid)
		return err_set(err, -EINVAL,
			       "the choice of LIDs or the tables are those of another fabric");
	rc = topology_kind_find(&topology, f, TOPOLOGY_HYPERX, NULL, err);
	if (rc)
		return rc;
	*out = (struct parx_verdict){ .excepts = c->nexcept };
	x.g = topology->grid;
	x.nlid = lmc < 5 ? 1u << lmc : 32;
	mem = arena_new();
	x.least = arena_alloc(mem, f->nsw, sizeof(*x.least));
	x.queue = arena_alloc(mem, f->nsw, sizeof(*x.queue));
	x.path = arena_alloc(mem, f->nsw, sizeof(*x.path));
	x.dist = arena_alloc(mem, (size_t)x.nlid * f->nsw, sizeof(*x.dist));
	x.to = arena_alloc(mem, (size_t)x.nlid * f->nsw, sizeof(*x.to));
	rc = parx_check_judge_all(&x, progress);
	topology_kind_free(topology);
	arena_free(mem);
	return rc;
}

static void parx_verdict_tell_pinned(char *buf, size_t len, const struct parx_verdict *v)
{
	size_t n = strlen(buf);

	if (v->pinned && n < len)
		snprintf(buf + n, len - n, "; not judged: paths to %u pinned host port%s",
			 v->pinned, plural(v->pinned));
}

void parx_verdict_sentence(char *buf, size_t len, const struct parx_verdict *v,
			   const struct fabric *f)
{
	const char *src = v->fault ? f->sw_name[v->bad_src] : "";
	const char *dst = v->fault ? f->term_name[v->bad_term] : "";
	int n;

	switch (v->fault) {
	case PARX_OK:
		n = snprintf(buf, len,
			     "small messages take shortest paths between all %llu pairs, large "
			     "ones go around the direct cable between %llu",
			     (unsigned long long)v->pairs,
			     (unsigned long long)(v->around - v->only));
		if (v->only && (size_t)n < len)
			snprintf(buf + n, len - (size_t)n,
				 "; between %llu that cable is the only path, first from switch "
				 "%s to %s",
				 (unsigned long long)v->only, f->sw_name[v->only_src],
				 f->term_name[v->only_term]);
		parx_verdict_tell_pinned(buf, len, v);
		return;
	case PARX_NO_CHOICE:
		snprintf(buf, len,
			 "%llu of %llu pairs have no choice of LIDs, first from switch %s to %s",
			 (unsigned long long)v->no_choice, (unsigned long long)v->pairs, src, dst);
		return;
	case PARX_NO_WAY:
		snprintf(buf, len,
			 "%llu of %llu pairs have a LID that does not arrive, first from switch %s "
			 "to LID %u of %s",
			 (unsigned long long)v->no_way, (unsigned long long)v->pairs, src,
			 v->bad_lid, dst);
		return;
	case PARX_LONGER:
		snprintf(buf, len,
			 "small messages of %llu of %llu pairs take a longer path than needed, "
			 "first from switch %s to LID %u of %s: %u hops instead of %u",
			 (unsigned long long)v->longer, (unsigned long long)v->pairs, src,
			 v->bad_lid, dst, v->bad_hops, v->least_hops);
		return;
	case PARX_DIRECT:
		snprintf(buf, len,
			 "large messages of %llu of %llu pairs take the direct cable, first from "
			 "switch %s to LID %u of %s",
			 (unsigned long long)v->direct, (unsigned long long)v->around, src,
			 v->bad_lid, dst);
	}
}
