/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/slurm_draft.h"

#include "fabric/base/hostlist.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <string.h>

#define NO_LEVEL UINT32_MAX

void slurm_draft_begin(struct slurm_draft *d, const char *path, struct read_report *report,
		       struct err *err)
{
	memset(d, 0, sizeof(*d));
	d->path = path;
	d->report = report;
	d->err = err;
	d->topo = xcalloc(1, sizeof(*d->topo));
	d->topo->arena = arena_new();
}

static uint32_t slurm_topology_find(const struct slurm_draft *d, const char *name)
{
	for (size_t i = 0; i < d->list.n; i++)
		if (!strcmp(d->list.v[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

static struct slurm_draft_switch *slurm_topology_get(struct slurm_draft *d, const char *name)
{
	uint32_t i = slurm_topology_find(d, name);
	struct slurm_draft_switch fresh = { .name = name };

	if (i != UINT32_MAX)
		return &d->list.v[i];
	fresh.name = arena_strdup(d->topo->arena, name);
	vec_push(&d->list, fresh);
	return &d->list.v[d->list.n - 1];
}

struct slurm_draft_switch *slurm_draft_describe(struct slurm_draft *d, const char *name,
						uint64_t line)
{
	struct slurm_draft_switch *sw = slurm_topology_get(d, name);

	if (sw->described)
		read_report_warn(d->report, line, "switch %.60s comes a second time", name);
	sw->described = true;
	return sw;
}

int slurm_draft_names(struct slurm_draft *d, struct slurm_draft_switch *sw, bool nodes,
		      const char *list, uint64_t line)
{
	struct err why = { "" };
	struct hostlist *h;

	if (hostlist_parse(&h, list, &why))
		return err_set(d->err, -EINVAL, "%s:%llu: %s", d->path, (unsigned long long)line,
			       why.text);
	for (uint32_t i = 0; i < hostlist_count(h); i++) {
		const char *name = arena_strdup(d->topo->arena, hostlist_names(h)[i]);

		if (nodes)
			vec_push(&sw->nodes, name);
		else
			vec_push(&sw->below, name);
	}
	hostlist_free(h);
	return 0;
}

static int slurm_topology_by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static int slurm_topology_by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* Switches that are only named get an entry too. */
static void slurm_topology_complete(struct slurm_draft *d)
{
	for (size_t i = 0; i < d->list.n; i++)
		for (size_t k = 0; k < d->list.v[i].below.n; k++) {
			const char *name = d->list.v[i].below.v[k];

			if (slurm_topology_find(d, name) != UINT32_MAX)
				continue;
			read_report_warn(d->report, 0,
					 "switch %.60s is named by %.60s but not described", name,
					 d->list.v[i].name);
			slurm_topology_get(d, name);
		}
}

static void slurm_topology_finish_switch(struct slurm_draft *d, uint32_t self)
{
	const struct slurm_draft_switch *from = &d->list.v[self];
	struct slurm_switch *to = &d->topo->sw[self];
	const char **nodes = arena_array(d->topo->arena, const char *, from->nodes.n);
	uint32_t *below = arena_array(d->topo->arena, uint32_t, from->below.n), n = 0;

	to->name = from->name;
	to->link_speed = from->link_speed;
	if (from->nodes.n)
		qsort(from->nodes.v, from->nodes.n, sizeof(*from->nodes.v), slurm_topology_by_name);
	for (size_t i = 0; i < from->nodes.n && !from->level; i++)
		if (!i || strcmp(from->nodes.v[i], from->nodes.v[i - 1]))
			nodes[to->nnodes++] = from->nodes.v[i];
	to->nodes = nodes;
	for (size_t i = 0; i < from->below.n; i++) {
		uint32_t sw = slurm_topology_find(d, from->below.v[i]);

		if (sw != self)
			below[n++] = sw;
	}
	qsort(below, n, sizeof(*below), slurm_topology_by_number);
	for (uint32_t i = 0; i < n; i++)
		if (!i || below[i] != below[i - 1])
			below[to->nbelow++] = below[i];
	to->below = below;
}

static void slurm_topology_set_levels(struct slurm_topology *topo)
{
	bool again = true;

	for (uint32_t i = 0; i < topo->n; i++)
		topo->sw[i].level = topo->sw[i].nnodes ? 0 : NO_LEVEL;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < topo->n; i++) {
			struct slurm_switch *s = &topo->sw[i];

			for (uint32_t k = 0; k < s->nbelow; k++) {
				uint32_t below = topo->sw[s->below[k]].level;

				if (below == NO_LEVEL || below + 1 >= s->level)
					continue;
				s->level = below + 1;
				again = true;
			}
		}
	}
	for (uint32_t i = 0; i < topo->n; i++)
		if (topo->sw[i].level == NO_LEVEL)
			topo->sw[i].level = 0;
}

int slurm_draft_end(struct slurm_topology **out, struct slurm_draft *d, int rc)
{
	struct slurm_topology *topo = d->topo;

	if (!rc) {
		slurm_topology_complete(d);
		topo->n = (uint32_t)d->list.n;
		topo->sw = arena_array(topo->arena, struct slurm_switch, topo->n);
		for (uint32_t i = 0; i < topo->n; i++)
			slurm_topology_finish_switch(d, i);
		slurm_topology_set_levels(topo);
		*out = topo;
	} else {
		slurm_topology_free(topo);
	}
	for (size_t i = 0; i < d->list.n; i++) {
		vec_free(&d->list.v[i].nodes);
		vec_free(&d->list.v[i].below);
	}
	vec_free(&d->list);
	d->topo = NULL;
	return rc;
}
