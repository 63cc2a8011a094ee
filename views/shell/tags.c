/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/tags.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

static void tags_forget(struct tags *m)
{
	fabric_put(m->fabric);
	free(m->chan);
	free(m->sw);
	m->fabric = NULL;
	m->chan = m->sw = NULL;
	m->serial++;
}

void tags_take(struct tags *m, const struct table *t, enum row_kind kind)
{
	enum tag_kind k = kind == ROWS_LINKS	  ? MARK_LINKS
			  : kind == ROWS_SWITCHES ? MARK_SWITCHES
			  : kind == ROWS_JOBS	  ? MARK_JOBS
						  : MARK_KINDS;
	size_t size = t->ntag * sizeof(*t->tag);

	if (k == MARK_KINDS || (t->ntag == m->n[k] && (!size || !memcmp(t->tag, m->key[k], size))))
		return;
	m->key[k] = xrealloc(m->key[k], t->ntag + 1u, sizeof(*m->key[k]));
	if (size)
		memcpy(m->key[k], t->tag, size);
	m->n[k] = t->ntag;
	tags_forget(m);
}

static int tags_key_cmp(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

static bool tags_has(const struct tags *m, enum tag_kind k, uint64_t key)
{
	return m->n[k] && bsearch(&key, m->key[k], m->n[k], sizeof(key), tags_key_cmp);
}

bool tags_job(const struct tags *m, uint64_t id)
{
	return tags_has(m, MARK_JOBS, id);
}

void tags_update(struct tags *m, const struct state *s, const struct fabric_summary *v)
{
	const struct rows links = { ROWS_LINKS, s, v }, switches = { ROWS_SWITCHES, s, v };
	const struct fabric *f = s->fabric;

	if (m->fabric == f && (!f || m->chan))
		return;
	tags_forget(m);
	if (!f)
		return;
	m->fabric = fabric_get(f);
	m->chan = xcalloc(f->nchan + 1ull, 1);
	m->sw = xcalloc(f->nsw + 1ull, 1);
	for (uint32_t c = 0; m->n[MARK_LINKS] && c < f->nchan; c++)
		if (tags_has(m, MARK_LINKS, table_key(&links, c)))
			m->chan[c] = m->chan[f->chan_rev[c]] = 1;
	for (uint32_t sw = 0; m->n[MARK_SWITCHES] && sw < f->nsw; sw++)
		m->sw[sw] = tags_has(m, MARK_SWITCHES, table_key(&switches, sw));
}

void tags_done(struct tags *m)
{
	tags_forget(m);
	for (int k = 0; k < MARK_KINDS; k++)
		free(m->key[k]);
	memset(m, 0, sizeof(*m));
}
