/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/limits/exclusion.h"

#include "engines/limits/exclusion_lead.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/tables/route_limits.h"
#include "fabric/model/topology/without.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The work of finding what is left. */
struct finder {
	const struct fabric *f;
	struct arena *arena;
	const struct route_limits *l;
	bool *drop;	  /* by channel */
	bool *joined;	  /* by switch: part of what is left */
	uint32_t *queue;  /* nsw */
	uint32_t *ways;	  /* by switch: cables to others that are not excluded either */
	uint32_t *serves; /* by switch: so many excluded ones hang on it */
};

static bool exclusion_switch_out(const struct finder *x, uint32_t sw)
{
	return x->l->exclude_sw && x->l->exclude_sw[sw];
}

static bool exclusion_cable_out(const struct finder *x, uint32_t c)
{
	return x->l->exclude_chan && x->l->exclude_chan[c];
}

/* Marks what is reached from a switch without what is excluded; returns how many. */
static uint32_t exclusion_flood(struct finder *x, bool *seen, uint32_t from)
{
	const struct fabric *f = x->f;
	uint32_t head = 0, tail = 0;

	x->queue[tail++] = from;
	seen[from] = true;
	while (head < tail) {
		uint32_t u = x->queue[head++];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (seen[v] || exclusion_switch_out(x, v) || exclusion_cable_out(x, c))
				continue;
			seen[v] = true;
			x->queue[tail++] = v;
		}
	}
	return tail;
}

/* From the switch with the most terminals that is not excluded: what is cut off is small. */
static uint32_t exclusion_middle(const struct finder *x)
{
	uint32_t best = FAB_NONE;

	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (!exclusion_switch_out(x, u) &&
		    (best == FAB_NONE || x->f->sw_nterm[u] > x->f->sw_nterm[best]))
			best = u;
	return best;
}

/* Adds a switch, or with a port a cable, to a list of at most three for a sentence. */
static void exclusion_name_one(char *buf, size_t len, uint32_t *n, const char *name, unsigned port)
{
	size_t at = strlen(buf);
	char end[8] = "";

	if (port)
		snprintf(end, sizeof(end), "/%u", port);
	if ((*n)++ < 3)
		snprintf(buf + at, len - at, "%s%.60s%s", at ? ", " : "", name, end);
}

/* The excluded things next to the part in which sw is. */
static int exclusion_refuse_cut(struct finder *x, uint32_t sw, struct err *err)
{
	const struct fabric *f = x->f;
	bool *part = arena_array(x->arena, bool, f->nsw);
	bool *named = arena_array(x->arena, bool, f->nsw);
	uint32_t size = exclusion_flood(x, part, sw), n = 0;
	char list[240] = "", others[48] = "", more[40] = "";

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		if (!part[f->chan_src[c]] || part[v] || named[v])
			continue;
		named[v] = exclusion_switch_out(x, v);
		if (named[v])
			exclusion_name_one(list, sizeof(list), &n, f->sw_name[v], 0);
		else
			exclusion_name_one(list, sizeof(list), &n, f->sw_name[f->chan_src[c]],
					   f->chan_port[c]);
	}
	if (size > 1)
		snprintf(others, sizeof(others), " and %u other switch%s", size - 1,
			 plural_es(size - 1));
	if (n > 3)
		snprintf(more, sizeof(more), " and %u more", n - 3);
	if (!n)
		return err_set(
			err, -ENETUNREACH,
			"no cables lead to switch %.100s%s, whatever is excluded; connect the "
			"parts of the fabric or route them separately",
			f->sw_name[sw], others);
	return err_set(err, -ENETUNREACH,
		       "switch %.100s%s would be cut off: everything that leads there is excluded "
		       "(%s%s); keep one of them",
		       f->sw_name[sw], others, list, more);
}

static int exclusion_check_rest(struct finder *x, struct err *err)
{
	uint32_t from = exclusion_middle(x);

	if (from == FAB_NONE)
		return err_set(err, -ENETUNREACH,
			       "every switch is excluded, which leaves nothing to route");
	exclusion_flood(x, x->joined, from);
	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (!x->joined[u] && !exclusion_switch_out(x, u))
			return exclusion_refuse_cut(x, u, err);
	return 0;
}

/* Cables between two switches that are not excluded themselves. */
static uint32_t exclusion_cables(const struct finder *x, uint32_t u, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t c = x->f->chan_off[u]; c < x->f->chan_off[u + 1]; c++)
		n += x->f->chan_dst[c] == v && !exclusion_cable_out(x, c);
	return n;
}

static bool exclusion_better(const struct finder *x, uint32_t u, uint32_t v, uint32_t than)
{
	const uint32_t *nterm = x->f->sw_nterm;
	uint32_t a, b;

	if (than == FAB_NONE)
		return true;
	a = exclusion_cables(x, u, v);
	b = exclusion_cables(x, u, than);
	if (a != b)
		return a > b;
	if (nterm[v] != nterm[than])
		return nterm[v] < nterm[than];
	if (x->ways[v] != x->ways[than])
		return x->ways[v] > x->ways[than];
	return x->serves[v] != x->serves[than] ? x->serves[v] < x->serves[than] : v < than;
}

/* The neighbour on which an excluded switch is to hang; FAB_NONE: none is joined yet. */
static uint32_t exclusion_best_neighbour(const struct finder *x, uint32_t u)
{
	uint32_t best = FAB_NONE;

	for (uint32_t c = x->f->chan_off[u]; c < x->f->chan_off[u + 1]; c++) {
		uint32_t v = x->f->chan_dst[c];

		if (x->joined[v] && !exclusion_cable_out(x, c) && v != best &&
		    exclusion_better(x, u, v, best))
			best = v;
	}
	return best;
}

/* Of an excluded switch all cables go, but those to that neighbour stay. */
static void exclusion_hang(struct finder *x, uint32_t u, uint32_t v)
{
	const struct fabric *f = x->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		if (f->chan_dst[c] == v && !exclusion_cable_out(x, c))
			x->drop[c] = x->drop[f->chan_rev[c]] = false;
	x->serves[v]++;
}

/* First those next to what is left, then those next to these, and so on. */
static int exclusion_hang_excluded(struct finder *x, struct err *err)
{
	uint32_t *at = arena_array(x->arena, uint32_t, x->f->nsw), n;

	do {
		n = 0;
		for (uint32_t u = 0; u < x->f->nsw; u++) {
			at[u] = x->joined[u] ? FAB_NONE : exclusion_best_neighbour(x, u);
			if (at[u] == FAB_NONE)
				continue;
			exclusion_hang(x, u, at[u]);
			n++;
		}
		for (uint32_t u = 0; u < x->f->nsw; u++)
			x->joined[u] = x->joined[u] || at[u] != FAB_NONE;
	} while (n);
	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (!x->joined[u])
			return err_set(err, -ENETUNREACH,
				       "switch %s, itself excluded, would be cut off: all cables "
				       "that lead there are excluded; keep one of them",
				       x->f->sw_name[u]);
	return 0;
}

static int exclusion_find_left(struct finder *x, struct err *err)
{
	const struct fabric *f = x->f;
	int rc = exclusion_check_rest(x, err);

	for (uint32_t c = 0; c < f->nchan; c++) {
		x->drop[c] = exclusion_cable_out(x, c) || exclusion_switch_out(x, f->chan_src[c]) ||
			     exclusion_switch_out(x, f->chan_dst[c]);
		x->ways[f->chan_src[c]] += !x->drop[c];
	}
	return rc ? rc : exclusion_hang_excluded(x, err);
}

int exclusion_init(struct exclusion *x, const struct fabric *f, const struct engine_params *params,
		   struct err *err)
{
	const struct route_limits *l = params->limits;
	struct finder y = { .f = f, .l = l };
	int rc;

	*x = (struct exclusion){ .params = *params };
	if (l->nsw != f->nsw || l->nchan != f->nchan)
		return err_set(err, -EINVAL, "the exclude list is for another fabric");
	y.arena = arena_new();
	y.drop = arena_array(y.arena, bool, f->nchan);
	y.joined = arena_array(y.arena, bool, f->nsw);
	y.queue = arena_array(y.arena, uint32_t, f->nsw);
	y.ways = arena_array(y.arena, uint32_t, f->nsw);
	y.serves = arena_array(y.arena, uint32_t, f->nsw);
	rc = exclusion_find_left(&y, err);
	if (!rc) {
		x->f = fabric_without(f, y.drop);
		x->text = xstrdup(l->exclude_text ? l->exclude_text : "");
		if (params->current)
			x->current = exclusion_lead(params->current, x->f);
		x->params.current = x->current;
	}
	arena_free(y.arena);
	return rc;
}

void exclusion_done(struct exclusion *x)
{
	tables_put(x->current);
	fabric_put(x->f);
	free(x->text);
	*x = (struct exclusion){ .f = NULL };
}

int exclusion_left(const struct fabric **out, const struct fabric *f, const struct route_limits *l,
		   struct err *err)
{
	struct engine_params params = { .limits = l };
	struct exclusion x;
	int rc;

	*out = NULL;
	if (!route_limits_excludes(l)) {
		*out = fabric_get(f);
		return 0;
	}
	rc = exclusion_init(&x, f, &params, err);
	if (!rc)
		*out = fabric_get(x.f);
	exclusion_done(&x);
	return rc;
}

/* --- notes ----------------------------------------------------------------------------------- */

static void exclusion_tell_hosts(const struct exclusion *x)
{
	const struct fabric *f = x->f;
	const bool *out = x->params.limits->exclude_sw;
	uint32_t hosts = 0, ways = 0, n = 0;
	const char *first = NULL;

	for (uint32_t u = 0; out && u < f->nsw; u++) {
		if (!out[u] || !f->sw_nterm[u])
			continue;
		hosts += f->sw_nterm[u];
		ways += f->chan_off[u + 1] - f->chan_off[u];
		first = n++ ? first : f->sw_name[u];
	}
	if (n)
		notes_set(x->params.notes, "excluded_hosts", hosts,
			  "%u host%s on %u excluded switch%s (%.40s%s) share %u cable%s to the "
			  "rest",
			  hosts, plural(hosts), n, plural_es(n), first, n > 1 ? ", ..." : "", ways,
			  plural(ways));
}

void exclusion_tell(const struct exclusion *x, struct tables *t)
{
	const struct route_limits *l = x->params.limits;
	size_t len = strlen(t->params), room = sizeof(t->params) - len;
	uint32_t sw = 0, cables = 0;

	for (uint32_t u = 0; l->exclude_sw && u < l->nsw; u++)
		sw += l->exclude_sw[u];
	for (uint32_t c = 0; l->exclude_chan && c < l->nchan; c++)
		cables += l->exclude_chan[c];
	if ((size_t)snprintf(t->params + len, room, " exclude=%s", x->text) >= room && room > 4)
		memcpy(t->params + sizeof(t->params) - 4, "...", 4);
	notes_set(x->params.notes, "excluded", sw + cables / 2, "routed around %.100s%s", x->text,
		  strlen(x->text) > 100 ? "..." : "");
	exclusion_tell_hosts(x);
}
