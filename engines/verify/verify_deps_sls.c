/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_deps_in.h"
#include "fabric/base/tile.h"

#include <string.h>

#define GROUP 16 /* switches compared at once */

static uint16_t verify_deps_sl_bit(uint8_t sl)
{
	return sl < FAB_SLS ? (uint16_t)(1u << sl) : 0;
}

/* SLs of one LID by switch, as masks. */
static void verify_deps_load_lid(struct deps *d, const uint8_t *sl, uint32_t k)
{
	const uint32_t *off = d->f->term_off;
	uint16_t *sent = d->sent_block + (size_t)k * d->f->nsw, any = 0;
	bool bad = false;
	uint32_t sw;

	for (sw = 0; sw < d->f->nsw; sw++) {
		bool source = off[sw] != off[sw + 1];
		uint16_t bit = source ? verify_deps_sl_bit(sl[sw]) : 0;

		sent[sw] = bit;
		any |= bit;
		bad |= source && !bit;
	}
	d->any_sl[k] = any;
	d->bad_sl[k] = bad;
}

/* The same as those of the LID before. */
static void verify_deps_load_again(struct deps *d, uint32_t k)
{
	uint16_t *sent = d->sent_block + (size_t)k * d->f->nsw;

	memcpy(sent, sent - d->f->nsw, d->f->nsw * sizeof(*sent));
	d->any_sl[k] = d->any_sl[k - 1];
	d->bad_sl[k] = d->bad_sl[k - 1];
}

/* SLs of one block of LIDs by switch. */
static void verify_deps_load_by_switch(struct deps *d, const uint8_t *sl)
{
	uint32_t k, nsw = d->f->nsw;

	tile_turn(d->sls, nsw, sl, d->t->stride, nsw, LFT_BLOCK);
	for (k = 0; k < LFT_BLOCK; k++) {
		const uint8_t *lid = d->sls + (size_t)k * nsw;

		if (k && !memcmp(lid, lid - nsw, nsw))
			verify_deps_load_again(d, k);
		else
			verify_deps_load_lid(d, lid, k);
	}
}

/* The same where all switches have those SLs. */
static void verify_deps_load_same(struct deps *d, const uint8_t sl[LFT_BLOCK])
{
	uint32_t k;

	for (k = 0; k < LFT_BLOCK; k++) {
		memset(d->sls, sl[k], d->f->nsw);
		verify_deps_load_lid(d, d->sls, k);
	}
}

/* The same by terminal: a switch sends with the SLs of all its ends. */
static void verify_deps_load_by_term(struct deps *d, const uint8_t *sl, size_t stride)
{
	uint32_t end, k, nsw = d->f->nsw;

	memset(d->sent_block, 0, (size_t)nsw * LFT_BLOCK * sizeof(*d->sent_block));
	for (end = 0; end < d->f->nend; end++) {
		for (k = 0; k < LFT_BLOCK; k++) {
			uint16_t bit = verify_deps_sl_bit(sl[end * stride + k]);

			d->sent_block[(size_t)k * nsw + d->f->term_sw[end]] |= bit;
			d->any_sl[k] |= bit;
			d->bad_sl[k] |= !bit;
		}
	}
}

void deps_load_block(struct deps *d, uint32_t block)
{
	const struct tables *t = d->t;
	size_t at = (size_t)block * LFT_BLOCK;
	uint8_t same[LFT_BLOCK];

	if (t->sl_kind == SL_CONST && d->block != FAB_NONE)
		return; /* all blocks are alike */
	d->block = block;
	d->before = 0;
	memset(d->bad_sl, 0, sizeof(d->bad_sl));
	memset(d->any_sl, 0, sizeof(d->any_sl));
	memset(same, t->sl_const, sizeof(same));
	switch (t->sl_kind) {
	case SL_CONST:
		verify_deps_load_same(d, same);
		break;
	case SL_BY_DLID:
		verify_deps_load_same(d, t->sl + at);
		break;
	case SL_BY_SWITCH:
		verify_deps_load_by_switch(d, t->sl + at);
		break;
	case SL_BY_TERM:
		verify_deps_load_by_term(d, t->sl + at, t->stride);
		break;
	}
}

uint32_t deps_find_changed(struct deps *d, struct walk *w)
{
	const uint16_t *old = d->sent_block + (size_t)(w->before % LFT_BLOCK) * d->f->nsw;
	static const bool none[GROUP];
	uint32_t u, i, len, n = 0, nsw = d->f->nsw;

	walk_fresh(w);
	for (u = 0; u < nsw; u += len) {
		len = nsw - u < GROUP ? nsw - u : GROUP;
		if (!memcmp(old + u, d->sent + u, len * sizeof(*old)) &&
		    !memcmp(none, w->fresh + u, len * sizeof(*none)))
			continue;
		for (i = u; i < u + len; i++) {
			d->changed[n] = i;
			n += w->fresh[i] || old[i] != d->sent[i];
		}
	}
	return n;
}
