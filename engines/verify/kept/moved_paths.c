/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/kept/moved_paths.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define UNDER_WAY (FAB_NONE - 1)

void moved_paths_init(struct moved_paths *m, const struct fabric *f)
{
	memset(m, 0, sizeof(*m));
	m->f = f;
	m->sw = xcalloc(f->nsw, sizeof(*m->sw));
	m->chan = xcalloc(f->nsw, sizeof(*m->chan));
	m->hops = xcalloc(f->nsw, sizeof(*m->hops));
	m->order = xcalloc(f->nsw, sizeof(*m->order));
	m->stamp = xcalloc(f->nsw, sizeof(*m->stamp));
	m->stack = xcalloc(f->nsw, sizeof(*m->stack));
	m->start = xcalloc(f->nsw + 1u, sizeof(*m->start));
	m->mark = xcalloc(f->nsw, sizeof(*m->mark));
	m->changed = xcalloc(f->nsw, sizeof(*m->changed));
	m->port_was = xcalloc(f->nsw, 1);
	m->sl_was = xcalloc(f->nsw, 1);
}

void moved_paths_done(struct moved_paths *m)
{
	free(m->sw);
	free(m->chan);
	free(m->hops);
	free(m->order);
	free(m->stamp);
	free(m->stack);
	free(m->start);
	free(m->mark);
	free(m->changed);
	free(m->port_was);
	free(m->sl_was);
	memset(m, 0, sizeof(*m));
}

/* --- whose ------------------------------------------------------------------------------------ */

static void moved_paths_add(struct moved_paths *m, uint32_t sw)
{
	if (m->mark[sw] == m->round || sw == m->dsw)
		return;
	m->mark[sw] = m->round;
	m->sw[m->n++] = sw;
}

/* All whose entries, which have not changed, lead to those that are there. */
static void moved_paths_add_below(struct moved_paths *m)
{
	const struct fabric *f = m->f;
	const uint8_t *lft = m->t->lft + m->lid;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t u = m->sw[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			if (lft[(size_t)f->chan_dst[c] * m->t->stride] == f->chan_rport[c])
				moved_paths_add(m, f->chan_dst[c]);
	}
}

void moved_paths_find(struct moved_paths *m, const struct tables *t, uint32_t lid,
		      const struct entry_change *list, uint32_t n)
{
	m->t = t;
	m->lid = lid;
	m->dsw = fabric_lid_switch(m->f, lid, &m->dport);
	m->n = 0;
	m->round++;
	for (uint32_t i = 0; i < n; i++) {
		m->changed[list[i].sw] = m->round;
		m->port_was[list[i].sw] = list[i].port_was;
		m->sl_was[list[i].sw] = list[i].sl_was;
		moved_paths_add(m, list[i].sw);
	}
	moved_paths_add_below(m);
}

void moved_paths_take(struct moved_paths *m, uint32_t sw)
{
	for (uint32_t i = 0; i < m->n; i++)
		m->mark[m->sw[i]] = 0;
	m->n = 0;
	for (uint32_t u = 0; u < m->f->nsw && sw == FAB_NONE; u++)
		moved_paths_add(m, u);
	if (sw != FAB_NONE)
		moved_paths_add(m, sw);
}

/* --- where ------------------------------------------------------------------------------------ */

static uint32_t moved_paths_next(const struct moved_paths *m, uint32_t sw)
{
	bool other = m->before && m->changed[sw] == m->round;

	return fabric_chan(m->f, sw, other ? m->port_was[sw] : tables_row(m->t, sw)[m->lid]);
}

static void moved_paths_follow_one(struct moved_paths *m, uint32_t sw)
{
	uint32_t n = 0, h;

	while (m->stamp[sw] != m->serial) {
		m->stamp[sw] = m->serial;
		m->chan[sw] = moved_paths_next(m, sw);
		m->hops[sw] = UNDER_WAY;
		m->stack[n++] = sw;
		if (m->chan[sw] == FAB_NONE)
			break;
		sw = m->f->chan_dst[m->chan[sw]];
	}
	h = m->hops[sw] == UNDER_WAY ? FAB_NONE : m->hops[sw];
	while (n) {
		h += h != FAB_NONE;
		m->hops[m->stack[--n]] = h;
	}
}

static void moved_paths_sort(struct moved_paths *m)
{
	uint32_t most = 0, sum = 0;

	for (uint32_t i = 0; i < m->n; i++)
		if (m->hops[m->sw[i]] != FAB_NONE && m->hops[m->sw[i]] > most)
			most = m->hops[m->sw[i]];
	memset(m->start, 0, (most + 1u) * sizeof(*m->start));
	for (uint32_t i = 0; i < m->n; i++)
		if (m->hops[m->sw[i]] != FAB_NONE)
			m->start[m->hops[m->sw[i]]]++;
	for (uint32_t h = most + 1; h-- > 0;) {
		uint32_t n = m->start[h];

		m->start[h] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < m->n; i++)
		if (m->hops[m->sw[i]] != FAB_NONE)
			m->order[m->start[m->hops[m->sw[i]]]++] = m->sw[i];
	m->norder = sum;
}

void moved_paths_follow(struct moved_paths *m, bool before)
{
	m->before = before;
	m->serial++;
	m->stamp[m->dsw] = m->serial;
	m->chan[m->dsw] = FAB_NONE;
	m->hops[m->dsw] = 0;
	for (uint32_t i = 0; i < m->n; i++)
		moved_paths_follow_one(m, m->sw[i]);
	moved_paths_sort(m);
}

uint8_t moved_paths_sl(const struct moved_paths *m, uint32_t end, uint32_t sw)
{
	if (m->before && m->changed[sw] == m->round)
		return m->sl_was[sw];
	return tables_path_sl(m->t, end, sw, m->lid);
}
