/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LFT of a switch: where each LID goes, now and after the plan, or what each port carries. */
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/topology/end_find.h"
#include "views/canvas/name_fit.h"
#include "views/switches/switch_panes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 6 /* destinations that are named of a port */

void lft_pane_done(struct lft_pane *p)
{
	free(p->row);
}

static uint8_t switch_lft_entry_of(const struct tables *t, uint32_t sw, uint32_t lid)
{
	return t && lid <= t->max_lid ? tables_row(t, sw)[lid] : FAB_NO_PORT;
}

static bool switch_lft_changes(const struct pane_in *in, uint32_t lid)
{
	return state_plan_tables(in->s) &&
	       switch_lft_entry_of(state_tables(in->s), in->sw, lid) !=
		       switch_lft_entry_of(state_plan_tables(in->s), in->sw, lid);
}

static void switch_lft_lid_name(char *buf, size_t len, const struct fabric *f, uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	if (end == FAB_NONE)
		snprintf(buf, len, "nobody");
	else
		end_name(buf, len, f, end);
}

static bool switch_lft_lid_wanted(const struct lft_pane *p, const struct pane_in *in, uint32_t lid)
{
	char name[128], number[16];

	if (fabric_lid_end(in->s->fabric, lid) == FAB_NONE)
		return false;
	if (p->changed && !switch_lft_changes(in, lid))
		return false;
	if (!p->find.text[0])
		return true;
	switch_lft_lid_name(name, sizeof(name), in->s->fabric, lid);
	snprintf(number, sizeof(number), "%u", lid);
	return strcasestr(name, p->find.text) || !strcmp(number, p->find.text);
}

static void switch_lft_make_rows(struct lft_pane *p, const struct pane_in *in)
{
	const struct fabric *f = in->s->fabric;
	uint32_t most = p->by_port ? f->sw_nports[in->sw] + 1u : f->max_lid + 1u;

	if (p->fabric == f && p->tables == state_tables(in->s) &&
	    p->plan == state_plan_tables(in->s) && p->sw == in->sw &&
	    p->made_by_port == p->by_port && p->made_changed == p->changed &&
	    !strcmp(p->made_text, p->find.text))
		return;
	p->fabric = f;
	p->tables = state_tables(in->s);
	p->plan = state_plan_tables(in->s);
	p->sw = in->sw;
	p->made_by_port = p->by_port;
	p->made_changed = p->changed;
	strcpy(p->made_text, p->find.text);
	if (most > p->cap)
		p->row = xrealloc(p->row, p->cap = most, sizeof(*p->row));
	p->nrow = 0;
	for (uint32_t i = p->by_port ? 0 : 1; i < most; i++)
		if (p->by_port ? !i || port_cabled(fabric_port(f, in->sw, (uint8_t)i))
			       : switch_lft_lid_wanted(p, in, i))
			p->row[p->nrow++] = i;
}

/* "port 17 -> spine3/4", "no entry" */
static void switch_lft_way_text(char *buf, size_t len, const struct fabric *f, uint32_t sw,
				uint8_t port, int width)
{
	char peer[128], fit[128];

	if (port == FAB_NO_PORT)
		snprintf(buf, len, "  - no entry");
	else if (port > f->sw_nports[sw])
		snprintf(buf, len, "%3u no such port", port);
	else if (!peer_label(peer, sizeof(peer), f, sw, port)[0])
		snprintf(buf, len, "%3u not connected", port);
	else
		snprintf(buf, len, "%3u %s", port, name_fit(fit, sizeof(fit), f, peer, width - 4));
}

static bool switch_lft_bad_way(const struct fabric *f, uint32_t sw, uint8_t port)
{
	if (port == FAB_NO_PORT || port > f->sw_nports[sw])
		return true;
	return port && !port_cabled(fabric_port(f, sw, port));
}

static void switch_lft_draw_lid(const struct pane_in *in, struct canvas *c, struct rect r, int y,
				uint32_t lid)
{
	const struct fabric *f = in->s->fabric;
	uint8_t now = switch_lft_entry_of(state_tables(in->s), in->sw, lid),
		plan = switch_lft_entry_of(state_plan_tables(in->s), in->sw, lid);
	int w = (r.w - 10) / (state_plan_tables(in->s) ? 3 : 2);
	char name[128], way[128];

	switch_lft_lid_name(name, sizeof(name), f, lid);
	canvas_textf(c, r, 2, y, ROLE_TEXT, "%6u", lid);
	name_fit_draw(c, r, 10, y, w - 1, ROLE_TEXT, f, name);
	switch_lft_way_text(way, sizeof(way), f, in->sw, now, w - 2);
	canvas_name(c, r, 10 + w, y, w - 2,
		    switch_lft_bad_way(f, in->sw, now) ? ROLE_BAD : ROLE_TEXT, way);
	if (!state_plan_tables(in->s))
		return;
	switch_lft_way_text(way, sizeof(way), f, in->sw, plan, w - 1);
	canvas_char(c, r, 9 + 2 * w, y, ROLE_WARN, now != plan ? '*' : ' ');
	canvas_name(c, r, 10 + 2 * w, y, w - 1, now != plan ? ROLE_WARN : ROLE_DIM,
		    now != plan ? way : "  = same");
}

/* LIDs that an entry sends out of a port, and the first few of them. */
static uint32_t switch_lft_count_lids(const struct tables *t, const struct pane_in *in,
				      uint32_t port, uint32_t first[NAMES])
{
	uint32_t n = 0;

	for (uint32_t lid = 1; t && lid <= in->s->fabric->max_lid; lid++)
		if (switch_lft_entry_of(t, in->sw, lid) == port &&
		    fabric_lid_end(in->s->fabric, lid) != FAB_NONE && n++ < NAMES)
			first[n - 1] = lid;
	return n;
}

static void switch_lft_draw_port_row(const struct pane_in *in, struct canvas *c, struct rect r,
				     int y, uint32_t port)
{
	const struct fabric *f = in->s->fabric;
	uint32_t first[NAMES], other[NAMES],
		n = switch_lft_count_lids(state_tables(in->s), in, port, first), plan = n;
	int name_w = r.w >= 100 ? 24 : 16, x;
	char name[128];

	if (state_plan_tables(in->s))
		plan = switch_lft_count_lids(state_plan_tables(in->s), in, port, other);
	canvas_textf(c, r, 2, y, ROLE_TEXT, "%4u", port);
	name_fit_draw(c, r, 8, y, name_w - 1, ROLE_TEXT, f,
		      peer_label(name, sizeof(name), f, in->sw, port));
	x = canvas_textf(c, r, 8 + name_w, y, ROLE_TEXT, "%6u", n);
	if (state_plan_tables(in->s))
		canvas_textf(c, r, x, y, plan != n ? ROLE_WARN : ROLE_DIM, "%7u", plan);
	x += 9;
	canvas_bar(c, r, x, y, 10, ROLE_GOOD,
		   f->max_lid ? (double)n * f->sw_nports[in->sw] / (4.0 * f->max_lid) : 0, 0);
	x += 12;
	for (uint32_t i = 0; i < n && i < NAMES && x < r.w - 6; i++) {
		switch_lft_lid_name(name, sizeof(name), f, first[i]);
		x = canvas_textf(c, r, x, y, ROLE_DIM, "%.40s ", name);
	}
	if (n > NAMES)
		canvas_text(c, r, x, y, ROLE_DIM, "...");
}

static void switch_lft_draw_head(const struct lft_pane *p, const struct pane_in *in,
				 struct canvas *c, struct rect r, int y)
{
	int w = (r.w - 10) / (state_plan_tables(in->s) ? 3 : 2), name_w = r.w >= 100 ? 24 : 16;

	if (p->by_port) {
		canvas_text(c, r, 2, y, ROLE_LABEL, "port  to");
		canvas_right(c, r, 14 + name_w, y, ROLE_LABEL, "LIDs");
		if (state_plan_tables(in->s))
			canvas_right(c, r, 21 + name_w, y, ROLE_LABEL, "plan");
		canvas_text(c, r, 35 + name_w, y, ROLE_LABEL, "for");
		return;
	}
	canvas_text(c, r, 2, y, ROLE_LABEL, "   LID  destination");
	canvas_text(c, r, 10 + w, y, ROLE_LABEL, "output port");
	if (state_plan_tables(in->s))
		canvas_text(c, r, 10 + 2 * w, y, ROLE_LABEL, "with the plan");
}

static void switch_lft_draw_sum(const struct lft_pane *p, const struct pane_in *in,
				struct canvas *c, struct rect r, int y)
{
	const struct fabric *f = in->s->fabric;
	uint32_t used = 0, none = 0, changed = 0, blocks = 0, last = FAB_NONE;
	int x;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (fabric_lid_end(f, lid) == FAB_NONE)
			continue;
		used++;
		none += switch_lft_entry_of(state_tables(in->s), in->sw, lid) == FAB_NO_PORT;
		if (!switch_lft_changes(in, lid))
			continue;
		changed++;
		blocks += lid / LFT_BLOCK != last;
		last = lid / LFT_BLOCK;
	}
	if (p->find.active) {
		entry_draw(&p->find, c, r, 1, y, "name or LID");
		return;
	}
	x = canvas_textf(c, r, 1, y, ROLE_DIM, "%u LID%s, %u without an entry", used, plural(used),
			 none);
	if (state_plan_tables(in->s))
		x = canvas_textf(c, r, x, y, ROLE_WARN, "; %u change%s, in %u block%s", changed,
				 changed == 1 ? "s" : "", blocks, plural(blocks));
	if (p->changed && !p->by_port)
		x = canvas_text(c, r, x, y, ROLE_KEY, "  (only these)");
	if (p->find.text[0])
		canvas_textf(c, r, x, y, ROLE_KEY, "  with \"%s\"", p->find.text);
}

void lft_pane_draw(struct lft_pane *p, const struct pane_in *in, struct canvas *c, struct rect r)
{
	struct rect rows = { r.x, r.y + 1, r.w, r.h - 2 };

	if (!state_tables(in->s)) {
		canvas_text(c, r, 2, 0, ROLE_DIM, state_no_tables(in->s));
		return;
	}
	if (p->sw != in->sw)
		p->list = (struct list){ 0 };
	switch_lft_make_rows(p, in);
	list_fit(&p->list, p->nrow, rows.h);
	p->at = rows;
	switch_lft_draw_head(p, in, c, r, 0);
	for (int y = 0; y < rows.h && p->list.top + (uint32_t)y < p->nrow; y++) {
		uint32_t i = p->list.top + (uint32_t)y;

		if (p->by_port)
			switch_lft_draw_port_row(in, c, rows, y, p->row[i]);
		else
			switch_lft_draw_lid(in, c, rows, y, p->row[i]);
		if (i == p->list.cursor)
			list_draw_cursor(c, rows, y);
	}
	if (!p->nrow)
		canvas_text(c, rows, 2, 0, ROLE_DIM,
			    p->changed ? "the plan changes nothing here" : "no LID matches");
	switch_lft_draw_sum(p, in, c, r, r.h - 1);
}

/* The LID under the cursor, 0 none. */
static uint32_t switch_lft_lid_at(const struct lft_pane *p)
{
	return !p->by_port && p->list.cursor < p->nrow ? p->row[p->list.cursor] : 0;
}

static bool switch_lft_take_path(struct lft_pane *p, struct context *ctx, const struct pane_in *in,
				 enum req req)
{
	struct path_ends ends = ctx->path;
	uint32_t lid = switch_lft_lid_at(p);
	char name[128];

	if (!lid)
		return false;
	switch_lft_lid_name(name, sizeof(name), in->s->fabric, lid);
	if (req == REQ_PATH_FROM)
		ends.src = fabric_lid_end(in->s->fabric, lid);
	else
		ends.dlid = (uint16_t)lid;
	if (req == REQ_ENTER)
		ends.src = in->s->fabric->nend + in->sw;
	ctx->path = ends;
	if (req == REQ_ENTER)
		context_goto(ctx, VIEW_PATHS);
	else
		context_say(ctx, "path %s %s: view 0 shows it",
			    req == REQ_PATH_FROM ? "from" : "to", name);
	return true;
}

bool lft_pane_input(struct lft_pane *p, struct context *ctx, const struct pane_in *in,
		    const struct input *key)
{
	bool again;

	if (filter_type(&p->find, key))
		return true;
	if (pane_mouse(&p->list, p->nrow, p->at, key, &again)) {
		if (again)
			switch_lft_take_path(p, ctx, in, REQ_ENTER);
		return true;
	}
	if (list_move(&p->list, key->req, p->nrow))
		return true;
	switch (key->req) {
	case REQ_LAYOUT:
		p->by_port = !p->by_port;
		p->list = (struct list){ 0 };
		return true;
	case REQ_COMPARE:
		if (state_plan_tables(in->s))
			p->changed = !p->changed;
		else
			context_say(ctx, "no plan to compare with: compute one in view 6 first");
		return true;
	case REQ_ENTER:
	case REQ_PATH_FROM:
	case REQ_PATH_TO:
		return switch_lft_take_path(p, ctx, in, key->req);
	default:
		return filter_ask(&p->find, key->req);
	}
}
