/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_source_sls.h"

#include "fabric/base/memory/tile.h"

#include <string.h>

void source_sls_init(struct source_sls *s, const struct fabric *f, const struct tables *t,
		     struct arena *mem)
{
	s->f = f;
	s->t = t;
	s->block = FAB_NONE;
	s->sent = arena_alloc(mem, (size_t)f->nsw * LFT_BLOCK, sizeof(*s->sent));
	s->as_read = arena_alloc(mem, (size_t)f->nsw * LFT_BLOCK, sizeof(*s->as_read));
}

static uint16_t verify_source_sls_sl_bit(uint8_t sl)
{
	return sl < FAB_SLS ? (uint16_t)(1u << sl) : 0;
}

/* SLs of one LID by switch, as masks. */
static void verify_source_sls_load_lid(struct source_sls *s, const uint8_t *sl, uint32_t k)
{
	const uint32_t *off = s->f->term_off;
	uint16_t *sent = s->sent + (size_t)k * s->f->nsw, any = 0;
	bool bad = false;
	uint32_t sw;

	for (sw = 0; sw < s->f->nsw; sw++) {
		bool source = off[sw] != off[sw + 1];
		uint16_t bit = source ? verify_source_sls_sl_bit(sl[sw]) : 0;

		sent[sw] = bit;
		any |= bit;
		bad |= source && !bit;
	}
	s->any[k] = any;
	s->bad[k] = bad;
}

/* The same as those of the LID before. */
static void verify_source_sls_load_again(struct source_sls *s, uint32_t k)
{
	uint16_t *sent = s->sent + (size_t)k * s->f->nsw;

	memcpy(sent, sent - s->f->nsw, s->f->nsw * sizeof(*sent));
	s->any[k] = s->any[k - 1];
	s->bad[k] = s->bad[k - 1];
}

/* SLs of one block of LIDs by switch. */
static void verify_source_sls_load_by_switch(struct source_sls *s, const uint8_t *sl)
{
	uint32_t k, nsw = s->f->nsw;

	tile_turn(s->as_read, nsw, sl, s->t->stride, nsw, LFT_BLOCK);
	for (k = 0; k < LFT_BLOCK; k++) {
		const uint8_t *lid = s->as_read + (size_t)k * nsw;

		if (k && !memcmp(lid, lid - nsw, nsw))
			verify_source_sls_load_again(s, k);
		else
			verify_source_sls_load_lid(s, lid, k);
	}
}

/* The same where all switches have those SLs. */
static void verify_source_sls_load_same(struct source_sls *s, const uint8_t sl[LFT_BLOCK])
{
	uint32_t k;

	for (k = 0; k < LFT_BLOCK; k++) {
		memset(s->as_read, sl[k], s->f->nsw);
		verify_source_sls_load_lid(s, s->as_read, k);
	}
}

/* The same by terminal: a switch sends with the SLs of all its ends. */
static void verify_source_sls_load_by_term(struct source_sls *s, const uint8_t *sl, size_t stride)
{
	uint32_t end, k, nsw = s->f->nsw;

	memset(s->sent, 0, (size_t)nsw * LFT_BLOCK * sizeof(*s->sent));
	for (end = 0; end < s->f->nend; end++) {
		for (k = 0; k < LFT_BLOCK; k++) {
			uint16_t bit = verify_source_sls_sl_bit(sl[end * stride + k]);

			s->sent[(size_t)k * nsw + s->f->term_sw[end]] |= bit;
			s->any[k] |= bit;
			s->bad[k] |= !bit;
		}
	}
}

bool source_sls_load(struct source_sls *s, uint32_t block)
{
	const struct tables *t = s->t;
	size_t at = (size_t)block * LFT_BLOCK;
	uint8_t same[LFT_BLOCK];

	if (block == s->block || (t->sl_kind == SL_CONST && s->block != FAB_NONE))
		return false;
	s->block = block;
	memset(s->bad, 0, sizeof(s->bad));
	memset(s->any, 0, sizeof(s->any));
	memset(same, t->sl_const, sizeof(same));
	switch (t->sl_kind) {
	case SL_CONST:
		verify_source_sls_load_same(s, same);
		break;
	case SL_BY_DLID:
		verify_source_sls_load_same(s, t->sl + at);
		break;
	case SL_BY_SWITCH:
		verify_source_sls_load_by_switch(s, t->sl + at);
		break;
	case SL_BY_TERM:
		verify_source_sls_load_by_term(s, t->sl + at, t->stride);
		break;
	}
	return true;
}
