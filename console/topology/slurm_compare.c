/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/topology/slurm_compare.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTS 16 /* of a host that are looked at */

/* A name and what has it. */
struct pair {
	const char *name;
	uint32_t i;
};

/* A host of the file, and what is said of it. */
struct remark {
	enum slurm_difference_kind kind;
	uint64_t line;
	uint32_t from, to; /* switch of the file, switch of the fabric or group; FAB_NONE */
	const char *host;
};

/* Places in the fabric are counted as one: its switches, then its groups. */
struct comparer {
	const struct slurm_view *v;
	const struct fabric *f;
	const struct slurm_topology *file;
	struct slurm_compare *c;
	struct pair *names; /* of the fabric's switches, all of them */
	size_t nnames;
	struct pair *nodes; /* of the file */
	size_t nnodes;
	uint32_t *place; /* by switch of the file: place; FAB_NONE */
	bool *claimed;	 /* by switch of the fabric: the file has it by name */
	uint32_t *votes; /* by place, all 0 between uses */
	VEC(struct slurm_difference) list;
	VEC(struct remark) remarks;
};

static int slurm_compare_by_name(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	int d = strcmp(a->name, b->name);

	return d ? d : (a->i > b->i) - (a->i < b->i);
}

static uint32_t slurm_compare_find(const struct pair *all, size_t n, const char *name)
{
	size_t low = 0;

	while (n > 0) {
		size_t half = n / 2;
		int d = strcmp(all[low + half].name, name);

		if (!d)
			return all[low + half].i;
		if (d < 0) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return FAB_NONE;
}

/* --- places ---------------------------------------------------------------------------------- */

static uint32_t slurm_compare_up(const struct comparer *x, uint32_t place)
{
	uint32_t group = place < x->f->nsw ? x->v->groups->of[place]
					   : x->v->groups->group[place - x->f->nsw].parent;

	return group == FAB_NONE ? FAB_NONE : x->f->nsw + group;
}

static bool slurm_compare_within(const struct comparer *x, uint32_t place, uint32_t of)
{
	for (; place != FAB_NONE; place = slurm_compare_up(x, place))
		if (place == of)
			return true;
	return false;
}

static const char *slurm_compare_name(const struct comparer *x, uint32_t place)
{
	return place < x->f->nsw ? x->v->sw_name[place] : x->v->group_name[place - x->f->nsw];
}

/* The smallest place with more than half of them in it, of those not FAB_NONE. */
static uint32_t slurm_compare_smallest(struct comparer *x, const uint32_t *place, size_t n)
{
	uint32_t best = FAB_NONE, known = 0;

	for (size_t i = 0; i < n; i++) {
		known += place[i] != FAB_NONE;
		for (uint32_t p = place[i]; p != FAB_NONE; p = slurm_compare_up(x, p))
			x->votes[p]++;
	}
	for (size_t i = 0; i < n; i++)
		for (uint32_t p = place[i]; p != FAB_NONE; p = slurm_compare_up(x, p)) {
			if (x->votes[p] * 2ull <= known)
				continue;
			if (best == FAB_NONE || slurm_compare_within(x, p, best))
				best = p;
			break;
		}
	for (size_t i = 0; i < n; i++)
		for (uint32_t p = place[i]; p != FAB_NONE; p = slurm_compare_up(x, p))
			x->votes[p] = 0;
	return best;
}

/* The switches of a host of that name: at most PORTS. */
static uint32_t slurm_compare_switches(const struct comparer *x, const char *host,
				       uint32_t sw[PORTS])
{
	uint32_t n = fabric_terms_by_name(x->f, host, sw, PORTS);

	n = n < PORTS ? n : PORTS;
	for (uint32_t i = 0; i < n; i++)
		sw[i] = x->f->term_sw[sw[i]];
	return n;
}

/* Where SLURM's host of that name is; FAB_NONE: nowhere. */
static uint32_t slurm_compare_home(const struct comparer *x, const char *host)
{
	uint32_t term[PORTS], n = fabric_terms_by_name(x->f, host, term, PORTS);

	n = n < PORTS ? n : PORTS;
	for (uint32_t i = 0; i < n; i++)
		if (x->v->home[term[i]] != FAB_NONE)
			return x->v->home[term[i]];
	return n ? x->f->term_sw[term[0]] : FAB_NONE;
}

/* --- what the switches of the file are ------------------------------------------------------- */

static void slurm_compare_index(struct comparer *x)
{
	const struct fabric *f = x->f;
	size_t n = 0;

	x->names = xcalloc(3ull * f->nsw, sizeof(*x->names));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		x->names[x->nnames++] = (struct pair){ x->v->sw_name[sw], sw };
		x->names[x->nnames++] = (struct pair){ f->sw_short[sw], sw };
		x->names[x->nnames++] = (struct pair){ f->sw_name[sw], sw };
	}
	qsort(x->names, x->nnames, sizeof(*x->names), slurm_compare_by_name);
	for (uint32_t i = 0; i < slurm_topology_count(x->file); i++)
		n += slurm_topology_switch(x->file, i)->nnodes;
	x->nodes = xcalloc(n, sizeof(*x->nodes));
	for (uint32_t i = 0; i < slurm_topology_count(x->file); i++) {
		const struct slurm_switch *s = slurm_topology_switch(x->file, i);

		for (uint32_t k = 0; k < s->nnodes; k++)
			x->nodes[x->nnodes++] = (struct pair){ s->nodes[k], i };
	}
	qsort(x->nodes, x->nnodes, sizeof(*x->nodes), slurm_compare_by_name);
}

/* The switch that most of the hosts are on, of those that no other has by name. */
static uint32_t slurm_compare_by_hosts(struct comparer *x, const struct slurm_switch *s)
{
	uint32_t sw[PORTS], best = FAB_NONE;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t k = 0; k < s->nnodes; k++) {
			uint32_t n = slurm_compare_switches(x, s->nodes[k], sw);

			for (uint32_t i = 0; i < n; i++) {
				if (pass) {
					x->votes[sw[i]] = 0;
					continue;
				}
				if (x->claimed[sw[i]])
					continue;
				x->votes[sw[i]]++;
				if (best == FAB_NONE || x->votes[sw[i]] > x->votes[best])
					best = sw[i];
			}
		}
	return best;
}

static void slurm_compare_place_block(struct comparer *x, uint32_t id)
{
	const struct slurm_switch *s = slurm_topology_switch(x->file, id);
	uint32_t *home = xcalloc(s->nnodes, sizeof(*home));

	for (uint32_t k = 0; k < s->nnodes; k++)
		home[k] = slurm_compare_home(x, s->nodes[k]);
	x->place[id] = slurm_compare_smallest(x, home, s->nnodes);
	free(home);
}

static void slurm_compare_place_above(struct comparer *x, uint32_t id)
{
	const struct slurm_switch *s = slurm_topology_switch(x->file, id);
	uint32_t *below = xcalloc(s->nbelow, sizeof(*below));

	for (uint32_t k = 0; k < s->nbelow; k++)
		below[k] = x->place[s->below[k]];
	x->place[id] = slurm_compare_smallest(x, below, s->nbelow);
	free(below);
}

/* Lower levels before those above them. */
static void slurm_compare_place_levels(struct comparer *x)
{
	uint32_t n = slurm_topology_count(x->file), *start, *order, high = 0;

	for (uint32_t i = 0; i < n; i++)
		if (slurm_topology_switch(x->file, i)->level > high)
			high = slurm_topology_switch(x->file, i)->level;
	start = xcalloc(high + 2ull, sizeof(*start));
	order = xcalloc(n, sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		start[slurm_topology_switch(x->file, i)->level + 1]++;
	for (uint32_t l = 0; l <= high; l++)
		start[l + 1] += start[l];
	for (uint32_t i = 0; i < n; i++)
		order[start[slurm_topology_switch(x->file, i)->level]++] = i;
	for (uint32_t i = 0; i < n; i++)
		if (!slurm_topology_switch(x->file, order[i])->nnodes)
			slurm_compare_place_above(x, order[i]);
	free(start);
	free(order);
}

static void slurm_compare_place(struct comparer *x)
{
	uint32_t n = slurm_topology_count(x->file);
	bool blocks = slurm_topology_is_blocks(x->file);

	for (uint32_t i = 0; i < n; i++) {
		const struct slurm_switch *s = slurm_topology_switch(x->file, i);

		x->place[i] = FAB_NONE;
		if (!s->nnodes || blocks)
			continue;
		x->place[i] = slurm_compare_find(x->names, x->nnames, s->name);
		if (x->place[i] != FAB_NONE)
			x->claimed[x->place[i]] = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct slurm_switch *s = slurm_topology_switch(x->file, i);

		if (s->nnodes && blocks)
			slurm_compare_place_block(x, i);
		else if (s->nnodes && x->place[i] == FAB_NONE)
			x->place[i] = slurm_compare_by_hosts(x, s);
	}
	slurm_compare_place_levels(x);
}

/* --- what differs ---------------------------------------------------------------------------- */

static void slurm_compare_add(struct comparer *x, enum slurm_difference_kind kind, uint64_t line,
			      const char *name, char *hosts, char *text)
{
	vec_push(&x->list,
		 ((struct slurm_difference){
			 .kind = kind, .line = line, .name = name, .hosts = hosts, .text = text }));
}

static void slurm_compare_host(struct comparer *x, uint32_t id, uint32_t k)
{
	const struct slurm_switch *s = slurm_topology_switch(x->file, id);
	uint32_t sw[PORTS], n = slurm_compare_switches(x, s->nodes[k], sw), i;
	struct remark r = { .kind = n ? SLURM_HOST_MOVED : SLURM_HOST_UNKNOWN,
			    .line = s->node_line[k],
			    .from = id,
			    .to = FAB_NONE,
			    .host = s->nodes[k] };

	x->c->hosts++;
	for (i = 0; i < n && x->place[id] != FAB_NONE; i++)
		if (slurm_compare_within(x, sw[i], x->place[id]))
			return;
	if (n)
		r.to = slurm_compare_home(x, s->nodes[k]);
	vec_push(&x->remarks, r);
}

static void slurm_compare_hosts(struct comparer *x)
{
	for (uint32_t i = 0; i < slurm_topology_count(x->file); i++) {
		const struct slurm_switch *s = slurm_topology_switch(x->file, i);

		x->c->switches += s->nnodes > 0;
		if (s->nnodes && x->place[i] == FAB_NONE)
			slurm_compare_add(
				x, SLURM_SWITCH_UNKNOWN, s->line, s->name, NULL,
				xasprintf("%s %s is not in the fabric",
					  slurm_topology_is_blocks(x->file) ? "block" : "switch",
					  s->name));
		for (uint32_t k = 0; k < s->nnodes; k++)
			slurm_compare_host(x, i, k);
	}
}

/* Those of one line that are told in one sentence. */
static int slurm_compare_by_remark(const void *p, const void *q)
{
	const struct remark *a = p, *b = q;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return strcmp(a->host, b->host);
}

/* n > 0 names as "host n1" or "hosts n[1-2]". */
static char *slurm_compare_hosts_text(char **list, const struct remark *r, size_t n)
{
	const char **names = xcalloc(n, sizeof(*names));
	char *text;

	for (size_t i = 0; i < n; i++)
		names[i] = r[i].host;
	*list = hostlist_compress(names, (uint32_t)n);
	text = xasprintf("host%s %s", n > 1 ? "s" : "", *list);
	free(names);
	return text;
}

static char *slurm_compare_sentence(const struct comparer *x, const struct remark *r, bool many,
				    const char *hosts)
{
	const char *name = r->from == FAB_NONE ? "" : slurm_topology_switch(x->file, r->from)->name;
	const char *is = many ? "are" : "is";

	switch (r->kind) {
	case SLURM_HOST_UNKNOWN:
		return xasprintf("%s %s not in the fabric", hosts, is);
	case SLURM_HOST_MISSING:
		return xasprintf("%s on %s %s not in the file", hosts, slurm_compare_name(x, r->to),
				 is);
	default:
		return slurm_topology_is_blocks(x->file)
			       ? xasprintf("%s %s in block %s; in the fabric %s on %s", hosts, is,
					   name, many ? "they are" : "it is",
					   slurm_compare_name(x, r->to))
			       : xasprintf("%s %s under %s; in the fabric %s on %s", hosts, is,
					   name, many ? "they are" : "it is",
					   slurm_compare_name(x, r->to));
	}
}

static void slurm_compare_tell_hosts(struct comparer *x)
{
	struct remark *r = x->remarks.v;

	if (x->remarks.n)
		qsort(r, x->remarks.n, sizeof(*r), slurm_compare_by_remark);
	for (size_t i = 0, k; i < x->remarks.n; i = k) {
		char *list, *hosts;

		for (k = i + 1;
		     k < x->remarks.n && r[k].line == r[i].line && r[k].kind == r[i].kind &&
		     r[k].from == r[i].from && r[k].to == r[i].to;
		     k++)
			;
		hosts = slurm_compare_hosts_text(&list, &r[i], k - i);
		slurm_compare_add(x, r[i].kind, r[i].line,
				  r[i].from == FAB_NONE
					  ? ""
					  : slurm_topology_switch(x->file, r[i].from)->name,
				  list, slurm_compare_sentence(x, &r[i], k - i > 1, hosts));
		free(hosts);
	}
}

static char *slurm_compare_elsewhere(const struct comparer *x, const char *name, uint32_t place,
				     const struct slurm_switch *above, uint32_t others)
{
	uint32_t up = slurm_compare_up(x, place);
	const char *there = slurm_compare_name(x, others);

	return up == FAB_NONE ? xasprintf("switch %s is under %s, whose others are under %s in the "
					  "fabric; it is not connected to them",
					  name, above->name, there)
			      : xasprintf("switch %s is under %s, whose others are under %s in the "
					  "fabric; it is under %s",
					  name, above->name, there, slurm_compare_name(x, up));
}

/* Switches below one that are not where most of them are. */
static void slurm_compare_above(struct comparer *x)
{
	for (uint32_t i = 0; i < slurm_topology_count(x->file); i++) {
		const struct slurm_switch *s = slurm_topology_switch(x->file, i);

		for (uint32_t k = 0; k < s->nbelow && !s->nnodes; k++) {
			uint32_t p = x->place[s->below[k]];
			const char *name = slurm_topology_switch(x->file, s->below[k])->name;

			if (p == FAB_NONE || x->place[i] == FAB_NONE ||
			    slurm_compare_within(x, p, x->place[i]))
				continue;
			slurm_compare_add(x, SLURM_SWITCH_MOVED, s->line, name, NULL,
					  slurm_compare_elsewhere(x, name, p, s, x->place[i]));
		}
	}
}

/* Hosts of a switch of the fabric that the file does not have: all or some. */
static void slurm_compare_missing(struct comparer *x, uint32_t sw, bool in_file)
{
	const struct fabric *f = x->f;
	size_t first = x->remarks.n;
	char *list, *hosts;

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
		uint32_t t = f->term_list[i];

		if (t < f->nterm && x->v->home[t] == sw &&
		    slurm_compare_find(x->nodes, x->nnodes, f->term_name[t]) == FAB_NONE)
			vec_push(&x->remarks, ((struct remark){ .kind = SLURM_HOST_MISSING,
								.line = UINT64_MAX,
								.from = FAB_NONE,
								.to = sw,
								.host = f->term_name[t] }));
	}
	if (in_file || x->remarks.n - first < x->v->hosts[sw] || !x->v->hosts[sw])
		return;
	hosts = slurm_compare_hosts_text(&list, &x->remarks.v[first], x->remarks.n - first);
	slurm_compare_add(
		x, SLURM_SWITCH_MISSING, UINT64_MAX, x->v->sw_name[sw], list,
		xasprintf("switch %s with %s is not in the file", x->v->sw_name[sw], hosts));
	free(hosts);
	x->remarks.n = first;
}

static void slurm_compare_fabric(struct comparer *x)
{
	bool *seen = xcalloc(x->f->nsw, sizeof(*seen));

	for (uint32_t i = 0; i < slurm_topology_count(x->file); i++)
		if (x->place[i] < x->f->nsw && slurm_topology_switch(x->file, i)->nnodes)
			seen[x->place[i]] = true;
	if (slurm_topology_is_blocks(x->file))
		memset(seen, 1, x->f->nsw * sizeof(*seen));
	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		slurm_compare_missing(x, sw, seen[sw]);
	free(seen);
}

static int slurm_compare_by_line(const void *p, const void *q)
{
	const struct slurm_difference *a = p, *b = q;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* Into the arena of the result; those of no line behind all others. */
static void slurm_compare_end(struct comparer *x)
{
	struct slurm_compare *c = x->c;

	if (x->list.n)
		qsort(x->list.v, x->list.n, sizeof(*x->list.v), slurm_compare_by_line);
	c->n = x->list.n;
	c->v = arena_array(c->arena, struct slurm_difference, c->n);
	for (size_t i = 0; i < c->n; i++) {
		c->v[i] = x->list.v[i];
		c->v[i].line = c->v[i].line == UINT64_MAX ? 0 : c->v[i].line;
		c->v[i].name = arena_strdup(c->arena, x->list.v[i].name);
		c->v[i].text = arena_strdup(c->arena, x->list.v[i].text);
		c->v[i].hosts =
			x->list.v[i].hosts ? arena_strdup(c->arena, x->list.v[i].hosts) : NULL;
		free(x->list.v[i].text);
		free(x->list.v[i].hosts);
	}
}

struct slurm_compare *slurm_compare_new(const struct slurm_view *v,
					const struct slurm_topology *file)
{
	struct slurm_compare *c = xcalloc(1, sizeof(*c));
	struct comparer x = { .v = v, .f = v->f, .file = file, .c = c };

	c->arena = arena_new();
	x.place = xcalloc(slurm_topology_count(file), sizeof(*x.place));
	x.claimed = xcalloc(x.f->nsw, sizeof(*x.claimed));
	x.votes = xcalloc((size_t)x.f->nsw + v->groups->n, sizeof(*x.votes));
	slurm_compare_index(&x);
	slurm_compare_place(&x);
	slurm_compare_hosts(&x);
	slurm_compare_above(&x);
	slurm_compare_fabric(&x);
	slurm_compare_tell_hosts(&x);
	slurm_compare_end(&x);
	vec_free(&x.list);
	vec_free(&x.remarks);
	free(x.names);
	free(x.nodes);
	free(x.place);
	free(x.claimed);
	free(x.votes);
	return c;
}

void slurm_compare_free(struct slurm_compare *c)
{
	if (!c)
		return;
	arena_free(c->arena);
	free(c);
}

const char *slurm_difference_kind_name(enum slurm_difference_kind kind)
{
	static const char *const names[] = {
		[SLURM_HOST_UNKNOWN] = "host-unknown", [SLURM_HOST_MOVED] = "host-moved",
		[SLURM_HOST_MISSING] = "host-missing", [SLURM_SWITCH_UNKNOWN] = "switch-unknown",
		[SLURM_SWITCH_MOVED] = "switch-moved", [SLURM_SWITCH_MISSING] = "switch-missing",
	};

	return names[kind];
}
