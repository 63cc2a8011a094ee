/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/change.h"

#include "fabric/base/mem.h"

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

static void add(struct changes *l, struct change c, const struct fabric *f,
		const struct tables *from, const struct tables *to)
{
	c.guid = f->sw_guid[c.sw];
	c.at = l->ndata;
	change_contents(l->data + c.at, &c, f, from);
	change_contents(l->data + c.at + change_bytes(&c), &c, f, to);
	l->ndata += 2 * change_bytes(&c);
	l->v[l->n++] = c;
}

struct changes *changes_new(const struct fabric *f, const struct tables *from,
			    const struct tables *to, const struct tdiff *diff)
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
		const struct tdiff_sl2vl *d = &diff->sl2vl[i];

		add(l,
		    (struct change){
			    .sw = d->sw, .kind = CHANGE_SL2VL, .in = d->in, .out = d->out },
		    f, from, to);
	}
	for (uint32_t i = 0; i < diff->nblocks; i++) {
		const struct tdiff_block *d = &diff->blocks[i];

		add(l,
		    (struct change){ .sw = d->sw, .kind = CHANGE_LFT, .block = (uint16_t)d->block },
		    f, from, to);
	}
	return l;
}

void changes_free(struct changes *l)
{
	if (!l)
		return;
	free(l->v);
	free(l->data);
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
