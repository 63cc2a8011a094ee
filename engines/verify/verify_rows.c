/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_rows.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define DATA_VLS 15
#define PIECE	 LFT_BLOCK
#define LANES	 16
#define SLICE	 (4u << 20) /* SLs looked at between two reports */

typedef uint8_t lanes __attribute__((vector_size(LANES)));

/* Finds rows by content. */
struct index {
	struct rows *rows;
	uint32_t cap, slots; /* slots: a power of two, more than twice the rows */
	uint32_t *slot;	     /* row + 1 */
};

static uint32_t verify_rows_slot_of(const struct index *x, const uint8_t *vl)
{
	uint64_t a, b;

	memcpy(&a, vl, sizeof(a));
	memcpy(&b, vl + sizeof(a), sizeof(b));
	a = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(a >> 32) & (x->slots - 1);
}

static void verify_rows_place(struct index *x, uint32_t row)
{
	uint32_t i = verify_rows_slot_of(x, x->rows->vl + (size_t)row * FAB_SLS);

	while (x->slot[i])
		i = (i + 1) & (x->slots - 1);
	x->slot[i] = row + 1;
}

static void verify_rows_grow(struct index *x)
{
	uint32_t row;

	x->cap = x->cap ? 2 * x->cap : 64;
	x->slots = 4 * x->cap;
	x->rows->vl = xrealloc(x->rows->vl, x->cap, FAB_SLS);
	free(x->slot);
	x->slot = xcalloc(x->slots, sizeof(*x->slot));
	for (row = 0; row < x->rows->n; row++)
		verify_rows_place(x, row);
}

static uint32_t verify_rows_find(struct index *x, const uint8_t *vl)
{
	struct rows *r = x->rows;
	uint32_t i;

	if (r->n == x->cap)
		verify_rows_grow(x);
	for (i = verify_rows_slot_of(x, vl); x->slot[i]; i = (i + 1) & (x->slots - 1)) {
		uint32_t row = x->slot[i] - 1;

		if (!memcmp(r->vl + (size_t)row * FAB_SLS, vl, FAB_SLS))
			return row;
	}
	memcpy(r->vl + (size_t)r->n * FAB_SLS, vl, FAB_SLS);
	x->slot[i] = ++r->n;
	return r->n - 1;
}

static void verify_rows_find_turns(struct index *x, const struct fabric *f, const struct tables *t,
				   const size_t *base, struct progress *progress, const char *step)
{
	uint32_t c, e;

	for (c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		if (!(c % 4096))
			progress_step(progress, step, 0, f->max_lid);
		for (e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
			x->rows->turn[base[c] + e] = verify_rows_find(
				x, tables_sl2vl_row(t, v, f->chan_rport[c], f->chan_port[e]));
	}
}

static void verify_rows_find_sources(struct index *x, struct arena *mem, const struct fabric *f,
				     const struct tables *t)
{
	struct rows *r = x->rows;
	uint32_t c, i, k, n = 0;

	r->src_off = arena_alloc(mem, f->nchan + 1u, sizeof(*r->src_off));
	for (c = 0; c < f->nchan; c++)
		n += f->term_off[f->chan_src[c] + 1] - f->term_off[f->chan_src[c]];
	r->src = arena_alloc(mem, n, sizeof(*r->src));
	for (c = 0, n = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c];

		r->src_off[c] = n;
		for (i = f->term_off[u]; i < f->term_off[u + 1]; i++) {
			uint8_t in = f->term_port[f->term_list[i]];
			uint32_t row =
				verify_rows_find(x, tables_sl2vl_row(t, u, in, f->chan_port[c]));

			for (k = r->src_off[c]; k < n && r->src[k] != row; k++)
				;
			if (k == n)
				r->src[n++] = row;
		}
	}
	r->src_off[f->nchan] = n;
	r->one_src = n > 0;
	for (i = 1; i < n; i++)
		r->one_src &= r->src[i] == r->src[0];
}

/* Are all SLs of a piece among those seen?  There are few, the same ones everywhere, so that one or
 * two looks tell. */
static bool verify_rows_all_seen(const bool seen[256], const uint8_t *sl)
{
	lanes odd[PIECE / LANES], sum = { 0 };
	uint64_t half[2];

	memset(odd, 0xff, sizeof(odd));
	for (unsigned s = 0; s < FAB_SLS; s++) {
		for (unsigned i = 0; seen[s] && i < PIECE / LANES; i++) {
			lanes x;

			memcpy(&x, sl + (size_t)i * LANES, LANES);
			odd[i] &= (lanes)(x != (uint8_t)s);
		}
	}
	for (unsigned i = 0; i < PIECE / LANES; i++)
		sum |= odd[i];
	memcpy(half, &sum, sizeof(half));
	return !(half[0] | half[1]);
}

/* SLs that paths may have, and perhaps some more that stand where nobody owns the LID. */
static uint32_t verify_rows_sls_in_use(const struct fabric *f, const struct tables *t,
				       struct progress *progress, const char *step)
{
	bool seen[256] = { false };
	size_t i, k, rows = tables_sl_rows(t->sl_kind, f->nsw, f->nend);
	uint32_t sl, mask = 0;

	if (t->sl_kind == SL_CONST)
		seen[t->sl_const] = true;
	for (i = 0; i < rows * t->stride; i += PIECE) { /* a stride is whole blocks */
		for (k = 0; k < PIECE && (k || !verify_rows_all_seen(seen, t->sl + i)); k++)
			seen[t->sl[i + k]] = true;
		if (!(i % SLICE) && progress_step(progress, step, 0, f->max_lid))
			break;
	}
	for (sl = 0; sl < FAB_SLS; sl++)
		mask |= (uint32_t)seen[sl] << sl;
	return mask;
}

static void verify_rows_find_vls(struct rows *r)
{
	uint32_t row, x, vl;

	for (row = 0; row < r->n; row++) {
		for (x = r->sls; x; x &= x - 1) {
			vl = r->vl[(size_t)row * FAB_SLS + (uint32_t)__builtin_ctz(x)];
			r->vls |= vl < DATA_VLS ? 1u << vl : 0;
		}
	}
	r->nwords = r->vls >> 8 ? 4 : r->vls >> 4 ? 2 : 1;
}

static void verify_rows_make_masks(struct rows *r, struct arena *mem)
{
	uint32_t row, x;

	r->lanes = arena_alloc(mem, (size_t)r->n * r->nwords, sizeof(*r->lanes));
	r->drop = arena_alloc(mem, r->n, sizeof(*r->drop));
	for (row = 0; row < r->n; row++) {
		for (x = r->sls; x; x &= x - 1) {
			uint32_t sl = (uint32_t)__builtin_ctz(x);
			uint32_t vl = r->vl[(size_t)row * FAB_SLS + sl];

			if (vl >= DATA_VLS)
				r->drop[row] |= (uint16_t)(1u << sl);
			else
				r->lanes[(size_t)row * r->nwords + vl / 4] |= 1ull
									      << (vl % 4 * 16 + sl);
		}
	}
}

void rows_init(struct rows *r, struct arena *mem, const struct fabric *f, const struct tables *t,
	       const size_t *base, size_t nturns, struct progress *progress, const char *step)
{
	struct index x = { .rows = r };

	*r = (struct rows){ 0 };
	r->turn = arena_alloc(mem, nturns, sizeof(*r->turn));
	verify_rows_find_turns(&x, f, t, base, progress, step);
	verify_rows_find_sources(&x, mem, f, t);
	progress_step(progress, step, 0, f->max_lid);
	r->sls = verify_rows_sls_in_use(f, t, progress, step);
	verify_rows_find_vls(r);
	verify_rows_make_masks(r, mem);
	free(x.slot);
}

void rows_done(struct rows *r)
{
	free(r->vl);
}
