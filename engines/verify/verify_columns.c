/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_columns.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

#define REPORT_SWITCHES 256

/* LIDs of switches with terminals, side by side, so that a row is compared in one go. */
struct pairs {
	struct arena *mem; /* owns the arrays */
	uint32_t n;
	uint32_t *sw;
	uint16_t *own, *twin;
	bool *differ;
};

static void verify_columns_list_pairs(struct pairs *p, const struct fabric *f,
				      const struct tables *t)
{
	p->mem = arena_new();
	p->sw = arena_alloc(p->mem, f->nsw, sizeof(*p->sw));
	p->own = arena_alloc(p->mem, f->nsw, sizeof(*p->own));
	p->twin = arena_alloc(p->mem, f->nsw, sizeof(*p->twin));
	p->differ = arena_alloc(p->mem, f->nsw, sizeof(*p->differ));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t k = f->term_off[sw];

		if (!f->sw_lid[sw] || k == f->term_off[sw + 1] || tables_row(t, sw)[f->sw_lid[sw]])
			continue;
		p->sw[p->n] = sw;
		p->own[p->n] = f->sw_lid[sw];
		p->twin[p->n++] = f->term_lid[f->term_list[k]];
	}
}

static void verify_columns_compare(struct pairs *p, const uint8_t *row)
{
	for (uint32_t i = 0; i < p->n; i++)
		p->differ[i] |= row[p->own[i]] != row[p->twin[i]];
}

/* All but the entry on the switch itself. */
static void verify_columns_compare_ports(struct pairs *p, const struct tables *t, uint32_t sw,
					 uint32_t *at)
{
	while (*at < p->n && p->sw[*at] < sw)
		++*at;
	if (*at < p->n && p->sw[*at] == sw) {
		bool before = p->differ[*at];

		verify_columns_compare(p, tables_row(t, sw));
		p->differ[*at] = before;
	} else {
		verify_columns_compare(p, tables_row(t, sw));
	}
}

bool equal_columns_init(struct equal_columns *x, const struct fabric *f, const struct tables *t,
			struct progress *progress)
{
	struct pairs p = { .n = 0 };
	uint32_t sw, at = 0, i;
	bool stopped = false;

	x->of = xcalloc(f->nsw, sizeof(*x->of));
	if (t->sl_kind == SL_BY_TERM)
		return false;
	verify_columns_list_pairs(&p, f, t);
	if (t->sl_kind == SL_BY_DLID)
		verify_columns_compare(&p, t->sl);
	for (sw = 0; sw < f->nsw && p.n && !stopped; sw++) {
		verify_columns_compare_ports(&p, t, sw, &at);
		if (t->sl_kind == SL_BY_SWITCH && f->term_off[sw] != f->term_off[sw + 1])
			verify_columns_compare(&p, t->sl + (size_t)sw * t->stride);
		stopped = sw % REPORT_SWITCHES == 0 &&
			  progress_step(progress, "verify", 0, f->max_lid);
	}
	for (i = 0; i < p.n; i++)
		x->of[p.sw[i]] = p.differ[i] ? 0 : p.twin[i];
	arena_free(p.mem);
	return stopped;
}

void equal_columns_done(struct equal_columns *x)
{
	free(x->of);
}
