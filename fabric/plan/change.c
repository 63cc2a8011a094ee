/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/change.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void change_contents(uint8_t *out, const struct change *c, const struct fabric *f,
		     const struct tables *t)
{
	if (c->kind == CHANGE_LFT) {
		uint32_t first = c->block * (uint32_t)LFT_BLOCK;

		if (first < t->stride)
			memcpy(out, tables_row(t, c->sw) + first, LFT_BLOCK);
		else
			memset(out, FAB_NO_PORT, LFT_BLOCK);
		return;
	}
	for (uint8_t sl = 0; sl < FAB_SLS; sl += 2)
		out[sl / 2] = (uint8_t)(tables_vl(t, f, c->sw, c->in, c->out, sl) << 4 |
					(tables_vl(t, f, c->sw, c->in, c->out, sl + 1) & 0xf));
}

static void change_add(struct changes *l, struct change c, const struct fabric *f,
		       const struct tables *from, const struct tables *to)
{
	c.guid = f->sw_guid[c.sw];
	c.prev = c.next = FAB_NONE;
	c.at = l->ndata;
	change_contents(l->data + c.at, &c, f, from);
	change_contents(l->data + c.at + change_bytes(&c), &c, f, to);
	l->ndata += 2 * change_bytes(&c);
	l->v[l->n++] = c;
}

struct changes *changes_new(const struct fabric *f, const struct tables *from,
			    const struct tables *to, const struct tables_diff *diff)
{
	struct changes *l = xcalloc(1, sizeof(*l));

	l->nlft = diff->nblocks;
	l->nsl2vl = diff->nsl2vl;
	l->nwaves = l->nlft + l->nsl2vl ? 1 : 0;
	l->v = xcalloc((size_t)l->nlft + l->nsl2vl, sizeof(*l->v));
	l->data = xcalloc(
		2 * ((size_t)l->nlft * CHANGE_LFT_BYTES + (size_t)l->nsl2vl * CHANGE_SL2VL_BYTES),
		1);
	/* SL2VL first: a path of the new tables finds the lanes that it was proved with */
	for (uint32_t i = 0; i < diff->nsl2vl; i++) {
		const struct tables_diff_sl2vl *d = &diff->sl2vl[i];

		change_add(l,
			   (struct change){
				   .sw = d->sw, .kind = CHANGE_SL2VL, .in = d->in, .out = d->out },
			   f, from, to);
	}
	for (uint32_t i = 0; i < diff->nblocks; i++) {
		const struct tables_diff_block *d = &diff->blocks[i];

		change_add(l,
			   (struct change){
				   .sw = d->sw, .kind = CHANGE_LFT, .block = (uint16_t)d->block },
			   f, from, to);
	}
	return l;
}

struct changes *changes_copy(const struct changes *l)
{
	struct changes *copy = xcalloc(1, sizeof(*copy));

	*copy = *l;
	copy->hash = NULL;
	copy->v = xcalloc(l->n, sizeof(*l->v));
	copy->data = xcalloc(l->ndata, 1);
	if (l->n)
		memcpy(copy->v, l->v, l->n * sizeof(*l->v));
	if (l->ndata)
		memcpy(copy->data, l->data, l->ndata);
	return copy;
}

/* ---- waves ---- */

struct chaining {
	const struct change_order *order;
	const struct tables_diff *diff;
	uint8_t *now; /* contents of each block of the diff */
};

/* Its place in the diff, nblocks when it does not differ. */
static uint32_t change_place_of(const struct tables_diff *d, uint32_t sw, uint32_t block)
{
	uint32_t a = 0, b = d->nblocks;

	while (a < b) {
		uint32_t m = a + (b - a) / 2;
		const struct tables_diff_block *x = &d->blocks[m];

		if (x->sw < sw || (x->sw == sw && x->block < block))
			a = m + 1;
		else
			b = m;
	}
	if (a < d->nblocks && (d->blocks[a].sw != sw || d->blocks[a].block != block))
		return d->nblocks;
	return a;
}

/* False when it takes nothing from the new tables. */
static bool change_step(uint8_t *next, const uint8_t *now, const uint8_t *goal, uint64_t bits)
{
	for (uint32_t k = 0; k < LFT_BLOCK; k++)
		next[k] = bits >> k & 1 ? goal[k] : now[k];
	return memcmp(next, now, LFT_BLOCK) != 0;
}

static void change_add_step(struct changes *l, struct change c, const struct fabric *f,
			    uint8_t *now, const uint8_t *next)
{
	c.guid = f->sw_guid[c.sw];
	c.prev = c.next = FAB_NONE;
	c.at = l->ndata;
	memcpy(l->data + c.at, now, LFT_BLOCK);
	memcpy(l->data + c.at + LFT_BLOCK, next, LFT_BLOCK);
	memcpy(now, next, LFT_BLOCK);
	l->ndata += 2 * CHANGE_LFT_BYTES;
	l->v[l->n++] = c;
	l->nlft++;
}

static int change_add_waves(struct changes *l, const struct chaining *x, const struct fabric *f,
			    const struct tables *to, struct err *err)
{
	uint8_t goal[LFT_BLOCK], next[LFT_BLOCK];

	for (uint32_t i = 0; i < x->order->n; i++) {
		const struct change_write *w = &x->order->v[i];
		struct change c = { .sw = w->sw, .kind = CHANGE_LFT, .wave = (uint16_t)w->wave };
		uint32_t at = change_place_of(x->diff, w->sw, w->block);

		if (at == x->diff->nblocks)
			continue;
		if (w->wave >= x->order->nwaves || (i && w->wave < w[-1].wave))
			return err_set(err, -EINVAL,
				       "the order of writes has its waves out of "
				       "sequence");
		c.block = (uint16_t)w->block;
		change_contents(goal, &c, f, to);
		if (change_step(next, x->now + (size_t)at * LFT_BLOCK, goal, w->now))
			change_add_step(l, c, f, x->now + (size_t)at * LFT_BLOCK, next);
	}
	for (uint32_t i = 0; i < x->diff->nblocks; i++) {
		const struct tables_diff_block *b = &x->diff->blocks[i];
		struct change c = { .sw = b->sw, .block = (uint16_t)b->block };

		change_contents(goal, &c, f, to);
		if (memcmp(goal, x->now + (size_t)i * LFT_BLOCK, LFT_BLOCK))
			return err_set(err, -EINVAL,
				       "the order of writes leaves %s LFT block %u without its new "
				       "contents",
				       f->sw_name[b->sw], b->block);
	}
	return 0;
}

int changes_in_order(struct changes **out, const struct fabric *f, const struct tables *from,
		     const struct tables *to, const struct tables_diff *diff,
		     const struct change_order *order, struct err *err)
{
	struct changes *l = xcalloc(1, sizeof(*l));
	struct chaining x = { .order = order, .diff = diff };
	size_t most = (size_t)order->n + diff->nsl2vl;
	int rc;

	if (order->nwaves > UINT16_MAX || (diff->nsl2vl && order->sl2vl_wave >= order->nwaves)) {
		free(l);
		return err_set(err, -EINVAL, "the order of writes has too many waves, or too few");
	}
	l->nwaves = order->nwaves;
	l->nsl2vl = diff->nsl2vl;
	l->v = xcalloc(most, sizeof(*l->v));
	l->data = xcalloc(2 * most * CHANGE_LFT_BYTES, 1);
	for (uint32_t i = 0; i < diff->nsl2vl; i++) {
		const struct tables_diff_sl2vl *d = &diff->sl2vl[i];
		struct change c = { .sw = d->sw, .kind = CHANGE_SL2VL, .in = d->in, .out = d->out };

		c.wave = (uint16_t)order->sl2vl_wave;
		change_add(l, c, f, from, to);
	}
	x.now = xcalloc((size_t)diff->nblocks, LFT_BLOCK);
	for (uint32_t i = 0; i < diff->nblocks; i++) {
		struct change c = { .sw = diff->blocks[i].sw };

		c.block = (uint16_t)diff->blocks[i].block;
		change_contents(x.now + (size_t)i * LFT_BLOCK, &c, f, from);
	}
	rc = change_add_waves(l, &x, f, to, err);
	free(x.now);
	if (!rc)
		rc = changes_link(l);
	if (rc)
		changes_free(l);
	else
		*out = l;
	return rc;
}

struct link_key {
	uint64_t guid, what;
	uint32_t wave, index;
};

static int change_by_block(const void *a, const void *b)
{
	const struct link_key *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return (x->wave > y->wave) - (x->wave < y->wave);
}

static int change_link_two(struct changes *l, const struct link_key *a, const struct link_key *b)
{
	struct change *x = &l->v[a->index], *y = &l->v[b->index];

	if (a->guid != b->guid || a->what != b->what)
		return 0;
	if (a->wave == b->wave || memcmp(change_new(l, x), change_old(l, y), change_bytes(x)))
		return -EBADMSG;
	x->next = b->index;
	y->prev = a->index;
	return 0;
}

int changes_link(struct changes *l)
{
	struct link_key *key = xcalloc(l->n, sizeof(*key));
	int rc = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		struct change *c = &l->v[i];

		c->prev = c->next = FAB_NONE;
		key[i] = (struct link_key){ .guid = c->guid, .wave = c->wave, .index = i };
		key[i].what = (uint64_t)c->kind << 32 | (uint64_t)c->block << 16 |
			      (uint64_t)c->in << 8 | c->out;
	}
	if (l->n)
		qsort(key, l->n, sizeof(*key), change_by_block);
	for (uint32_t i = 1; i < l->n && !rc; i++)
		rc = change_link_two(l, &key[i - 1], &key[i]);
	free(key);
	return rc;
}

void changes_hash(struct changes *l)
{
	if (l->hash)
		return;
	l->hash = xcalloc(2 * (size_t)l->n, sizeof(*l->hash));
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];

		digest_of(&l->hash[2 * i], change_old(l, c), change_bytes(c));
		digest_of(&l->hash[2 * i + 1], change_new(l, c), change_bytes(c));
	}
}

void changes_free(struct changes *l)
{
	if (!l)
		return;
	free(l->v);
	free(l->data);
	free(l->hash);
	free(l);
}

uint32_t changes_bind(struct changes *l, const struct fabric *f)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (i && l->v[i].guid == l->v[i - 1].guid)
			l->v[i].sw = l->v[i - 1].sw;
		else
			l->v[i].sw = fabric_switch_by_guid(f, l->v[i].guid);
		missing += l->v[i].sw == FAB_NONE;
	}
	return missing;
}

void change_name(char *buf, size_t size, const struct change *c, const struct fabric *f)
{
	char guid[24];
	const char *sw = guid;

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, c->guid);
	if (f && c->sw != FAB_NONE)
		sw = f->sw_name[c->sw];
	if (c->kind == CHANGE_LFT)
		snprintf(buf, size, "%s LFT block %u", sw, c->block);
	else
		snprintf(buf, size, "%s SL2VL %u->%u", sw, c->in, c->out);
}
