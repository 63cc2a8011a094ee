/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/topology/slurm_view.h"

#include "engines/geometry/topology_kind.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/format/slurm/slurm_draft.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIGNS "_-."

static bool slurm_view_fits(const char *name)
{
	for (const char *s = name; *s; s++)
		if (!isascii(*s) || (!isalnum((unsigned char)*s) && !strchr(SIGNS, *s)))
			return false;
	return *name && strlen(name) < HOSTLIST_NAME;
}

/* --- names ----------------------------------------------------------------------------------- */

struct named {
	const char *name;
	uint32_t i;
};

static int slurm_view_by_name(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int d = strcmp(a->name, b->name);

	return d ? d : (a->i > b->i) - (a->i < b->i);
}

static const char *slurm_view_spell(struct arena *a, const char *name)
{
	char *s = arena_strdup(a, name);

	for (char *p = s; *p; p++)
		if (!isascii(*p) || (!isalnum((unsigned char)*p) && !strchr(SIGNS, *p)))
			*p = '_';
	return s;
}

static const char *slurm_view_in_arena(struct arena *a, char *text)
{
	const char *copy = arena_strdup(a, text);

	free(text);
	return copy;
}

/* Two that come out the same, as by other signs, get their GUID. */
static void slurm_view_name_switches(struct slurm_view *v)
{
	const struct fabric *f = v->f;
	struct named *all = xcalloc(f->nsw, sizeof(*all));

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		v->sw_name[sw] = slurm_view_spell(v->arena, f->sw_short[sw]);
		all[sw] = (struct named){ v->sw_name[sw], sw };
	}
	qsort(all, f->nsw, sizeof(*all), slurm_view_by_name);
	for (uint32_t i = 0; i < f->nsw; i++) {
		bool before = i && !strcmp(all[i].name, all[i - 1].name);
		bool after = i + 1 < f->nsw && !strcmp(all[i].name, all[i + 1].name);

		if (before || after || strlen(all[i].name) >= HOSTLIST_NAME / 2)
			v->sw_name[all[i].i] = slurm_view_in_arena(
				v->arena, xasprintf("%.*s_%016llx", HOSTLIST_NAME / 2, all[i].name,
						    (unsigned long long)f->sw_guid[all[i].i]));
	}
	free(all);
}

static bool slurm_view_taken(const struct slurm_view *v, const char *name)
{
	for (uint32_t sw = 0; sw < v->f->nsw; sw++)
		if (!strcmp(v->sw_name[sw], name))
			return true;
	return false;
}

/* That of the first of the switches that join it, if no host is on that one; else a number. */
static void slurm_view_name_group(struct slurm_view *v, uint32_t id, uint32_t *number)
{
	const struct switch_group *g = &v->groups->group[id];

	for (uint32_t i = 0; i < g->ntop && !v->group_name[id]; i++)
		if (!v->hosts[g->top[i]])
			v->group_name[id] = v->sw_name[g->top[i]];
	while (!v->group_name[id]) {
		const char *name = slurm_view_in_arena(v->arena, xasprintf("group%u", ++*number));

		if (!slurm_view_taken(v, name))
			v->group_name[id] = name;
	}
}

/* --- hosts ----------------------------------------------------------------------------------- */

/* Among the ports of one host: the first part of the fabric, the first switch in it. */
static bool slurm_view_before(const uint32_t *part, const struct fabric *f, uint32_t a, uint32_t b)
{
	uint32_t x = f->term_sw[a], y = f->term_sw[b];

	return part[x] != part[y] ? part[x] < part[y] : x < y;
}

/* n ports of one name, in term_by_name order. */
static void slurm_view_add_host(struct slurm_view *v, const uint32_t *part, const uint32_t *term,
				uint32_t n)
{
	const struct fabric *f = v->f;
	uint32_t best = FAB_NONE;
	bool several = false;

	for (uint32_t i = 0; i < n; i++) {
		if (f->term_kind[term[i]] != TERM_COMPUTE)
			continue;
		if (best != FAB_NONE)
			several |= f->term_sw[best] != f->term_sw[term[i]];
		if (best == FAB_NONE || slurm_view_before(part, f, term[i], best))
			best = term[i];
	}
	if (best == FAB_NONE)
		return;
	if (f->term_ambiguous[best]) {
		v->ambiguous++;
	} else if (!slurm_view_fits(f->term_name[best])) {
		v->unfit++;
	} else {
		v->home[best] = f->term_sw[best];
		v->hosts[f->term_sw[best]]++;
		v->several += several;
	}
}

static void slurm_view_add_hosts(struct slurm_view *v)
{
	const struct fabric *f = v->f;
	uint32_t *part = xcalloc(f->nsw, sizeof(*part));
	uint8_t *row = xcalloc(f->nsw, sizeof(*row));

	tree_components(part, f, row, 0, 0, NULL);
	for (uint32_t i = 0, k; i < f->nterm; i = k) {
		const uint32_t *t = &f->term_by_name[i];

		for (k = i + 1;
		     k < f->nterm && !strcmp(f->term_name[f->term_by_name[k]], f->term_name[*t]);
		     k++)
			;
		slurm_view_add_host(v, part, t, k - i);
	}
	free(part);
	free(row);
}

struct slurm_view *slurm_view_new(const struct fabric *f)
{
	struct slurm_view *v = xcalloc(1, sizeof(*v));
	uint32_t number = 0;

	v->f = f;
	v->arena = arena_new();
	v->home = arena_array(v->arena, uint32_t, f->nterm);
	v->hosts = arena_array(v->arena, uint32_t, f->nsw);
	v->sw_name = arena_array(v->arena, const char *, f->nsw);
	memset(v->home, 0xff, f->nterm * sizeof(*v->home));
	slurm_view_add_hosts(v);
	slurm_view_name_switches(v);
	v->groups = switch_groups_new(f, v->hosts);
	v->group_name = arena_array(v->arena, const char *, v->groups->n);
	for (uint32_t i = 0; i < v->groups->n; i++)
		slurm_view_name_group(v, i, &number);
	return v;
}

void slurm_view_free(struct slurm_view *v)
{
	if (!v)
		return;
	switch_groups_free(v->groups);
	arena_free(v->arena);
	free(v);
}

/* --- as a topology --------------------------------------------------------------------------- */

static void slurm_view_put_switch(struct slurm_draft *d, const struct slurm_view *v, uint32_t sw)
{
	const struct fabric *f = v->f;
	struct slurm_draft_switch *to = slurm_draft_describe(d, v->sw_name[sw], 0);

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
		uint32_t term = f->term_list[i];

		if (term < f->nterm && v->home[term] == sw)
			vec_push(&to->nodes, ((struct slurm_draft_node){
						     .name = arena_strdup(d->topo->arena,
									  f->term_name[term]) }));
	}
}

/* What is directly below a group: switches in the order of names, then groups. */
static void slurm_view_put_group(struct slurm_draft *d, const struct slurm_view *v,
				 const uint32_t *order, uint32_t id)
{
	struct slurm_draft_switch *to = slurm_draft_describe(d, v->group_name[id], 0);

	for (uint32_t i = 0; i < v->f->nsw; i++)
		if (v->groups->of[order[i]] == id)
			vec_push(&to->below, arena_strdup(d->topo->arena, v->sw_name[order[i]]));
	for (uint32_t i = 0; i < v->groups->n; i++)
		if (v->groups->group[i].parent == id)
			vec_push(&to->below, arena_strdup(d->topo->arena, v->group_name[i]));
}

struct slurm_view_place {
	uint32_t group[8]; /* from the highest down; FAB_NONE behind the last */
	uint32_t rank, sw; /* by name */
};

static int slurm_view_by_place(const void *x, const void *y)
{
	const struct slurm_view_place *a = x, *b = y;

	for (size_t i = 0; i < sizeof(a->group) / sizeof(*a->group); i++)
		if (a->group[i] != b->group[i])
			return a->group[i] < b->group[i] ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static void slurm_view_place_switch(struct slurm_view_place *p, const struct switch_groups *g)
{
	uint32_t up[8], n = 0, id = g->of[p->sw];

	memset(p->group, 0xff, sizeof(p->group));
	for (; id != FAB_NONE && n < 8; id = g->group[id].parent)
		up[n++] = id;
	for (uint32_t i = 0; i < n; i++)
		p->group[i] = up[n - 1 - i];
}

/* Switches with hosts, those of a group next to each other. */
static struct slurm_view_place *slurm_view_sorted(uint32_t *n, const struct slurm_view *v,
						  const uint32_t *order)
{
	struct slurm_view_place *all = xcalloc(v->f->nsw, sizeof(*all));

	*n = 0;
	for (uint32_t i = 0; i < v->f->nsw; i++) {
		struct slurm_view_place p = { .rank = i, .sw = order[i] };

		if (!v->hosts[p.sw])
			continue;
		slurm_view_place_switch(&p, v->groups);
		all[(*n)++] = p;
	}
	qsort(all, *n, sizeof(*all), slurm_view_by_place);
	return all;
}

static uint32_t slurm_view_group_of(const struct switch_groups *g, uint32_t sw, uint32_t level)
{
	uint32_t id = g->of[sw];

	while (id != FAB_NONE && g->group[id].level < level)
		id = g->group[id].parent;
	return id;
}

/* How many blocks in a row are in one group of that level, where that is the same power of two for
 * all but the last group, as SLURM wants it; else 0. */
static uint32_t slurm_view_run(const struct slurm_view *v, const struct slurm_view_place *sw,
			       uint32_t n, uint32_t level)
{
	uint32_t run = 0;

	for (uint32_t i = 0, k; i < n; i = k) {
		uint32_t id = slurm_view_group_of(v->groups, sw[i].sw, level);

		for (k = i + 1; k < n && id == slurm_view_group_of(v->groups, sw[k].sw, level); k++)
			;
		if (id == FAB_NONE || (run && k - i != run && (k < n || k - i > run)))
			return 0;
		run = run ? run : k - i;
	}
	return run < n && !(run & (run - 1)) ? run : 0;
}

static void slurm_view_put_together(struct slurm_topology *t, const struct slurm_view *v,
				    const struct slurm_view_place *sw, uint32_t n)
{
	uint32_t last = 1;

	for (uint32_t level = 1; level <= SLURM_TOGETHER; level++) {
		uint32_t run = slurm_view_run(v, sw, n, level);

		if (run > last)
			t->together[t->ntogether++] = last = run;
	}
}

int slurm_view_topology(struct slurm_topology **out, const struct slurm_view *v, bool blocks,
			struct err *err)
{
	uint32_t *order = topology_kind_order_by_name(v->f), n;
	struct slurm_view_place *sw = slurm_view_sorted(&n, v, order);
	struct slurm_draft d;
	int rc = 0;

	slurm_draft_begin(&d, "", NULL, err);
	d.topo->blocks = blocks;
	if (!n)
		rc = err_set(err, -ENOENT, "%s: no compute hosts with names of their own",
			     v->f->name);
	for (uint32_t i = 0; i < n; i++)
		slurm_view_put_switch(&d, v, sw[i].sw);
	if (blocks)
		slurm_view_put_together(d.topo, v, sw, n);
	for (uint32_t i = 0; i < v->groups->n && !rc && !blocks; i++)
		slurm_view_put_group(&d, v, order, i);
	free(sw);
	free(order);
	return slurm_draft_end(out, &d, rc);
}

static void slurm_view_comment_group(FILE *out, const struct slurm_view *v, uint32_t id)
{
	const struct switch_group *g = &v->groups->group[id];
	const char **names = xcalloc(g->ntop, sizeof(*names));
	char *list;

	for (uint32_t i = 0; i < g->ntop; i++)
		names[i] = v->sw_name[g->top[i]];
	list = hostlist_compress(names, g->ntop);
	fprintf(out, "# %s stands for %s\n", v->group_name[id], list);
	free(list);
	free(names);
}

void slurm_view_comments(FILE *out, const struct slurm_view *v, bool blocks)
{
	fprintf(out, "# fabric %s\n", slurm_view_spell(v->arena, v->f->name));
	for (uint32_t i = 0; i < v->groups->n && !blocks; i++)
		if (v->groups->group[i].ntop > 1)
			slurm_view_comment_group(out, v, i);
	if (v->several)
		fprintf(out, "# %u host%s ha%s ports on several switches: listed under the first\n",
			v->several, plural(v->several), v->several == 1 ? "s" : "ve");
	if (v->ambiguous)
		fprintf(out, "# left out: %u name%s that several hosts have\n", v->ambiguous,
			plural(v->ambiguous));
	if (v->unfit)
		fprintf(out, "# left out: %u host%s with names that SLURM does not take\n",
			v->unfit, plural(v->unfit));
}
