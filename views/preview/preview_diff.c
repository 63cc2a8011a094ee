/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_diff.h"

#include "views/canvas/text.h"

#include <stdio.h>
#include <string.h>

uint32_t preview_diff_rows(const struct state *s)
{
	const struct proposal *x = state_proposal(s);

	return x && x->diff && x->from ? x->diff->nblocks + x->diff->nsl2vl : 0;
}

static void preview_links_draw_row(const struct state *s, struct canvas *c, struct rect r, int y,
				   uint32_t i)
{
	const struct tdiff *d = state_proposal(s)->diff;
	char name[NAME_LEN];

	if (i >= d->nblocks) {
		const struct tdiff_sl2vl *v = &d->sl2vl[i - d->nblocks];

		canvas_name(c, r, 1, y, 16, ROLE_TEXT,
			    switch_label(name, sizeof(name), s->fabric, v->sw));
		canvas_textf(c, r, 18, y, ROLE_TEXT, "SL2VL in %u out %u", v->in, v->out);
		return;
	}
	canvas_name(c, r, 1, y, 16, ROLE_TEXT,
		    switch_label(name, sizeof(name), s->fabric, d->blocks[i].sw));
	canvas_textf(c, r, 18, y, ROLE_TEXT, "LIDs %u-%u", d->blocks[i].block * LFT_BLOCK,
		     d->blocks[i].block * LFT_BLOCK + LFT_BLOCK - 1);
	canvas_rightf(c, r, r.w - 1, y, ROLE_DIM, "%u", d->blocks[i].entries);
}

static void preview_links_port_text(char *buf, size_t len, const struct fabric *f, uint32_t sw,
				    uint8_t port)
{
	uint32_t c = fabric_chan(f, sw, port);
	char name[NAME_LEN];

	if (port == FAB_NO_PORT)
		snprintf(buf, len, "none");
	else if (c != FAB_NONE)
		snprintf(buf, len, "%u %s", port,
			 switch_label(name, sizeof(name), f, f->chan_dst[c]));
	else
		snprintf(buf, len, "%u", port);
}

static const char *preview_links_lid_name(const struct fabric *f, uint32_t lid, char name[NAME_LEN])
{
	uint32_t end = fabric_lid_end(f, lid);

	if (end < f->nterm)
		return f->term_name[end];
	if (end >= f->nend && end != FAB_NONE)
		return switch_label(name, NAME_LEN, f, end - f->nend);
	return "";
}

/* The entries of one block: LID, whose it is, old port, new port. */
static void preview_links_draw_entries(const struct state *s, struct canvas *c, struct rect r,
				       uint32_t i)
{
	const struct proposal *x = state_proposal(s);
	const struct tdiff_block *b = &x->diff->blocks[i];
	const uint8_t *was = tables_row(x->from, b->sw), *is = tables_row(x->tables, b->sw);
	uint32_t lid = b->block * LFT_BLOCK, end = lid + LFT_BLOCK;
	char from[80], to[80], line[256], name[NAME_LEN], title[128];
	int y = 1;

	snprintf(title, sizeof(title), "%s: port to, now > plan",
		 switch_label(name, sizeof(name), s->fabric, b->sw));
	canvas_rule(c, r, 0, title);
	for (; lid < end && lid <= s->fabric->max_lid && y < r.h; lid++) {
		if (was[lid] == is[lid])
			continue;
		preview_links_port_text(from, sizeof(from), s->fabric, b->sw, was[lid]);
		preview_links_port_text(to, sizeof(to), s->fabric, b->sw, is[lid]);
		snprintf(line, sizeof(line), "%s > %s", from, to);
		canvas_textf(c, r, 1, y, ROLE_LABEL, "%u", lid);
		canvas_name(c, r, 7, y, 10, ROLE_TEXT,
			    preview_links_lid_name(s->fabric, lid, name));
		canvas_name(c, r, 18, y++, r.w - 19, ROLE_TEXT, line);
	}
}

void preview_diff_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r)
{
	uint32_t n = preview_diff_rows(s), nblocks = n ? state_proposal(s)->diff->nblocks : 0;
	bool beside = r.w >= 90;
	struct rect list = { r.x, r.y, beside ? 44 : r.w, beside ? r.h : r.h / 2 };
	struct rect at = { beside ? r.x + 45 : r.x, beside ? r.y : r.y + r.h / 2,
			   beside ? r.w - 45 : r.w, beside ? r.h : r.h - r.h / 2 };

	list_fit(l, n, list.h - 1);
	canvas_rule(c, list, 0, "Blocks that change: entries");
	list_draw_range(l, n, c, list, 0);
	if (!n)
		canvas_text(c, list, 1, 1, ROLE_DIM, "none, or the current tables are not known");
	for (int y = 0; y < list.h - 1 && l->top + (uint32_t)y < n; y++) {
		struct rect row = { list.x, list.y + 1, list.w, list.h - 1 };

		preview_links_draw_row(s, c, row, y, l->top + (uint32_t)y);
		if (l->top + (uint32_t)y == l->cursor)
			list_draw_cursor(c, row, y);
	}
	if (l->cursor < nblocks)
		preview_links_draw_entries(s, c, at, l->cursor);
}
