/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/tables_diff.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <string.h>

struct differ {
	const struct fabric *f;
	const struct tables *from, *to;
	struct tables_diff *d;
	VEC(struct tables_diff_block) blocks;
	VEC(struct tables_diff_sl2vl) sl2vl;
};

static uint32_t tables_diff_changed_entries(const uint8_t *a, const uint8_t *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < LFT_BLOCK; i++)
		n += a[i] != b[i];
	return n;
}

static void tables_diff_diff_lft(struct differ *x, uint32_t sw)
{
	const uint8_t *a = tables_row(x->from, sw), *b = tables_row(x->to, sw);

	for (uint32_t block = 0; block < tables_blocks(x->to); block++) {
		uint32_t at = block * LFT_BLOCK, n;

		if (!memcmp(a + at, b + at, LFT_BLOCK))
			continue;
		n = tables_diff_changed_entries(a + at, b + at);
		x->d->entries += n;
		vec_push(&x->blocks, (struct tables_diff_block){ sw, block, n });
	}
}

/* An SL2VL table counts where packets can come in and leave towards another switch. */
static void tables_diff_diff_sl2vl(struct differ *x, uint32_t sw)
{
	const struct fabric *f = x->f;

	if (x->from->sl2vl_kind == SL2VL_IDENTITY && x->to->sl2vl_kind == SL2VL_IDENTITY)
		return;
	for (uint32_t in = 0; in <= f->sw_nports[sw]; in++) {
		const struct port *port = fabric_port(f, sw, (uint8_t)in);

		if (port->chan == FAB_NONE && port->term == FAB_NONE)
			continue;
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			uint8_t i = (uint8_t)in, o = f->chan_port[c];

			if (memcmp(tables_vl_row(x->from, f, sw, i, o),
				   tables_vl_row(x->to, f, sw, i, o), FAB_SLS) != 0)
				vec_push(&x->sl2vl, (struct tables_diff_sl2vl){ sw, i, o });
		}
	}
}

static uint64_t tables_diff_count_sl_pairs(const struct fabric *f, const struct tables *from,
					   const struct tables *to)
{
	uint64_t n = 0;

	if (from->sl_kind == SL_CONST && to->sl_kind == SL_CONST && from->sl_const == to->sl_const)
		return 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t term;

		if (f->term_off[sw] == f->term_off[sw + 1])
			continue;
		term = f->term_list[f->term_off[sw]];
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			n += f->lid_end[lid] != FAB_NONE &&
			     tables_path_sl(from, term, sw, lid) !=
				     tables_path_sl(to, term, sw, lid);
	}
	return n;
}

struct tables_diff *tables_diff_new(const struct fabric *f, const struct tables *from,
				    const struct tables *to)
{
	struct differ x = { .f = f, .from = from, .to = to, .d = xcalloc(1, sizeof(*x.d)) };
	uint32_t lids = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		size_t blocks = x.blocks.n, sl2vl = x.sl2vl.n;

		tables_diff_diff_lft(&x, sw);
		tables_diff_diff_sl2vl(&x, sw);
		x.d->switches += x.blocks.n != blocks || x.sl2vl.n != sl2vl;
	}
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		lids += f->lid_end[lid] != FAB_NONE;
	x.d->entries_all = (uint64_t)lids * f->nsw;
	x.d->blocks_all = tables_blocks(to) * f->nsw;
	x.d->sl_pairs = tables_diff_count_sl_pairs(f, from, to);
	x.d->blocks = x.blocks.v;
	x.d->nblocks = (uint32_t)x.blocks.n;
	x.d->sl2vl = x.sl2vl.v;
	x.d->nsl2vl = (uint32_t)x.sl2vl.n;
	return x.d;
}

struct tables_diff *tables_diff_copy(const struct tables_diff *d)
{
	struct tables_diff *copy = xcalloc(1, sizeof(*copy));

	*copy = *d;
	copy->blocks = xcalloc(d->nblocks, sizeof(*d->blocks));
	copy->sl2vl = xcalloc(d->nsl2vl, sizeof(*d->sl2vl));
	if (d->nblocks)
		memcpy(copy->blocks, d->blocks, d->nblocks * sizeof(*d->blocks));
	if (d->nsl2vl)
		memcpy(copy->sl2vl, d->sl2vl, d->nsl2vl * sizeof(*d->sl2vl));
	return copy;
}

void tables_diff_free(struct tables_diff *d)
{
	if (!d)
		return;
	free(d->blocks);
	free(d->sl2vl);
	free(d);
}

/* SLs of paths are left out: to count them takes longer than all the rest. */
bool tables_forward_same(const struct fabric *f, const struct tables *a, const struct tables *b)
{
	struct differ x = { .f = f, .from = a, .to = b };
	bool same;

	if (!digest_equal(&a->fingerprint, &b->fingerprint) ||
	    memcmp(a->lft, b->lft, (size_t)a->nsw * a->stride))
		return false;
	for (uint32_t sw = 0; sw < f->nsw && !x.sl2vl.n; sw++)
		tables_diff_diff_sl2vl(&x, sw);
	same = !x.sl2vl.n;
	vec_free(&x.sl2vl);
	return same;
}
