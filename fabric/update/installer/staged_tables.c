/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/staged_tables.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_diff.h"

#include <stdlib.h>
#include <string.h>

struct staged_tables {
	const struct fabric *f;
	struct tables *t; /* SL2VL in full as soon as one table was written */
	uint64_t mark;
};

struct staged_tables *staged_tables_new(const struct fabric *f, const struct tables *t)
{
	struct staged_tables *s = xcalloc(1, sizeof(*s));

	s->f = fabric_get(f);
	s->t = tables_onto(f, t, t);
	return s;
}

void staged_tables_free(struct staged_tables *s)
{
	if (!s)
		return;
	tables_put(s->t);
	fabric_put(s->f);
	free(s);
}

/* The same VLs, but each table by itself. */
static void staged_tables_unfold(struct staged_tables *s)
{
	const struct fabric *f = s->f;
	struct tables *old = s->t;

	if (old->sl2vl_kind == SL2VL_FULL)
		return;
	s->t = tables_onto(f, old, old);
	tables_sl2vl_form(s->t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++)
				memcpy(tables_sl2vl_row(s->t, sw, in, out),
				       tables_vl_row(old, f, sw, (uint8_t)in, (uint8_t)out),
				       FAB_SLS);
	tables_put(old);
}

static void staged_tables_contents(uint8_t *d, const struct staged_tables *s,
				   const struct install_item *it)
{
	struct change c = {
		.sw = it->sw, .block = it->block, .kind = it->kind, .in = it->in, .out = it->out
	};

	change_contents(d, &c, s->f, s->t);
}

static size_t staged_tables_bytes(const struct install_item *it)
{
	return it->kind == CHANGE_LFT ? CHANGE_LFT_BYTES : CHANGE_SL2VL_BYTES;
}

static uint64_t staged_tables_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* Of these contents in this place. */
static uint64_t staged_tables_mark_of(const struct install_item *it, const uint8_t *d)
{
	uint64_t h = staged_tables_mix(it->kind + 1u, (uint64_t)it->sw << 32 |
							      (uint64_t)it->block << 16 |
							      (uint64_t)it->in << 8 | it->out);
	uint64_t v;

	for (size_t i = 0; i < staged_tables_bytes(it); i += sizeof(v)) {
		memcpy(&v, d + i, sizeof(v));
		h = staged_tables_mix(h, v);
	}
	return staged_tables_mix(h, h >> 32);
}

uint64_t staged_tables_mark(const struct staged_tables *s)
{
	return s->mark;
}

uint32_t staged_tables_write(struct staged_tables *s, const struct install_item *items, uint32_t n)
{
	uint8_t was[CHANGE_LFT_BYTES];
	uint32_t new = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct install_item *it = &items[i];

		staged_tables_contents(was, s, it);
		if (!memcmp(was, it->data, staged_tables_bytes(it)))
			continue;
		new ++;
		s->mark ^= staged_tables_mark_of(it, was) ^ staged_tables_mark_of(it, it->data);
		if (it->kind == CHANGE_LFT) {
			memcpy(tables_row(s->t, it->sw) + (size_t)it->block * LFT_BLOCK, it->data,
			       LFT_BLOCK);
			continue;
		}
		staged_tables_unfold(s);
		for (int sl = 0; sl < FAB_SLS; sl++)
			tables_sl2vl_row(s->t, it->sw, it->in, it->out)[sl] =
				it->data[sl / 2] >> (sl & 1 ? 0 : 4) & 0xf;
	}
	return new;
}

void staged_tables_read(const struct staged_tables *s, struct install_item *items, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		staged_tables_contents(items[i].data, s, &items[i]);
}

/* tables_onto() takes service levels and everything else from its second argument: so the
 * arguments are swapped here. */
struct tables *staged_tables_tables(const struct staged_tables *s, const struct tables *sl)
{
	const struct fabric *f = s->f;
	struct tables *t = tables_onto(f, s->t, s->t);

	tables_sl_form(t, sl->sl_kind, f);
	t->sl_const = sl->sl_const;
	if (t->sl)
		memcpy(t->sl, sl->sl, tables_sl_bytes(sl));
	t->sls = sl->sls;
	memcpy(t->engine, sl->engine, sizeof(t->engine));
	memcpy(t->params, sl->params, sizeof(t->params));
	t->seed = sl->seed;
	if (sl->vls > t->vls)
		t->vls = sl->vls;
	return t;
}

bool staged_tables_is(const struct staged_tables *s, const struct tables *t)
{
	return tables_forward_same(s->f, s->t, t);
}
