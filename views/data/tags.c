/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/tags.h"

#include "fabric/base/memory/mem.h"

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

/* Identifies a port of a switch across sweeps. */
static uint64_t tags_port_key(uint64_t sw_guid, uint64_t port)
{
	return (sw_guid + port * 0x9e3779b97f4a7c15ull) | 1;
}

void tags_take(struct tags *m, enum tag_kind k, const uint64_t *key, uint32_t n)
{
	size_t size = n * sizeof(*key);

	if (n == m->n[k] && (!size || !memcmp(key, m->key[k], size)))
		return;
	m->key[k] = xrealloc(m->key[k], n + 1u, sizeof(*m->key[k]));
	if (size)
		memcpy(m->key[k], key, size);
	m->n[k] = n;
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

void tags_update(struct tags *m, const struct fabric *f)
{
	if (m->fabric == f && (!f || m->chan))
		return;
	tags_forget(m);
	if (!f)
		return;
	m->fabric = fabric_get(f);
	m->chan = xcalloc(f->nchan + 1ull, 1);
	m->sw = xcalloc(f->nsw + 1ull, 1);
	for (uint32_t c = 0; m->n[TAG_LINKS] && c < f->nchan; c++)
		if (tags_has(m, TAG_LINKS,
			     tags_port_key(f->sw_guid[f->chan_src[c]], f->chan_port[c])))
			m->chan[c] = m->chan[f->chan_rev[c]] = 1;
	for (uint32_t sw = 0; m->n[TAG_SWITCHES] && sw < f->nsw; sw++)
		m->sw[sw] = tags_has(m, TAG_SWITCHES, f->sw_guid[sw]);
}

void tags_done(struct tags *m)
{
	tags_forget(m);
	for (int k = 0; k < TAG_KINDS; k++)
		free(m->key[k]);
	memset(m, 0, sizeof(*m));
}

bool tags_chan(const struct tags *m, uint32_t chan)
{
	return m->chan && m->chan[chan];
}

bool tags_switch(const struct tags *m, uint32_t sw)
{
	return m->sw && m->sw[sw];
}

bool tags_job(const struct tags *m, uint64_t id)
{
	return tags_has(m, TAG_JOBS, id);
}

bool tags_any(const struct tags *m)
{
	return m->n[TAG_LINKS] || m->n[TAG_SWITCHES];
}
