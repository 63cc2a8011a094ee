/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agents of an update: who they are. */
#include "fabric/update/executor_priv.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LIDS 0x10000u

void agent_set_free(struct agent_set *w)
{
	free(w->port);
	free(w->first);
	free(w->by_guid);
	free(w->by_lid);
	free(w->state);
	free(w->told);
	*w = (struct agent_set){ 0 };
}

static int agent_set_by_name(const void *a, const void *b)
{
	const struct txn_agent *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	if (c)
		return c;
	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static int agent_set_by_guid(const void *a, const void *b, void *ctx)
{
	const struct txn_agent *port = ctx;
	uint64_t x = port[*(const uint32_t *)a].guid, y = port[*(const uint32_t *)b].guid;

	return (x > y) - (x < y);
}

void agent_set_index(struct agent_set *w)
{
	if (w->nport)
		qsort(w->port, w->nport, sizeof(*w->port), agent_set_by_name);
	w->first = xcalloc((size_t)w->nport + 1, sizeof(*w->first));
	w->by_guid = xcalloc(w->nport, sizeof(*w->by_guid));
	w->by_lid = xcalloc(LIDS, sizeof(*w->by_lid));
	memset(w->by_lid, 0xff, LIDS * sizeof(*w->by_lid));
	w->n = 0;
	for (uint32_t i = 0; i < w->nport; i++) {
		if (!i || strcmp(w->port[i].name, w->port[i - 1].name))
			w->first[w->n++] = i;
		w->by_guid[i] = i;
		for (uint32_t k = 0; k < w->port[i].nlids; k++)
			w->by_lid[(w->port[i].lid + k) % LIDS] = w->n - 1;
	}
	w->first[w->n] = w->nport;
	if (w->nport)
		qsort_r(w->by_guid, w->nport, sizeof(*w->by_guid), agent_set_by_guid, w->port);
	w->state = xcalloc(w->n, sizeof(*w->state));
	w->told = xcalloc(w->n, sizeof(*w->told));
}

/* A port lies between the first ports of two agents. */
static uint32_t agent_set_of_port(const struct agent_set *w, uint32_t port)
{
	uint32_t a = 0, b = w->n;

	while (b - a > 1) {
		uint32_t m = a + (b - a) / 2;

		if (w->first[m] <= port)
			a = m;
		else
			b = m;
	}
	return a;
}

uint32_t agent_set_find(const struct agent_set *w, const struct agent_answer *ans)
{
	uint32_t a = 0, b = w->nport;

	if (!ans->guid)
		return w->by_lid ? w->by_lid[ans->lid] : FAB_NONE;
	while (a < b) {
		uint32_t m = a + (b - a) / 2;

		if (w->port[w->by_guid[m]].guid < ans->guid)
			a = m + 1;
		else
			b = m;
	}
	if (a == w->nport || w->port[w->by_guid[a]].guid != ans->guid)
		return FAB_NONE;
	return agent_set_of_port(w, w->by_guid[a]);
}

const char *agent_set_name(const struct agent_set *w, uint32_t agent)
{
	return w->port[w->first[agent]].name;
}
