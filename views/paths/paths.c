/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths: from a source to a destination hop by hop, for each of its LIDs, now and after the plan;
 * and the pairs of a job that go over a link. */
#include "fabric/base/message/plural.h"
#include "fabric/model/topology/end_find.h"
#include "views/canvas/name_fit.h"
#include "views/data/state/key_hint.h"
#include "views/links/chan_detail.h"
#include "views/paths/path_pane.h"

#include <stdio.h>
#include <string.h>

enum stage { STAGE_NONE, STAGE_FROM, STAGE_TO };

#define GUESSES		 200 /* names that Tab goes through */
#define OFFER_FROM_LINES 20  /* below both ends: more than 80x24 has */

struct paths_ui {
	struct list hops;
	struct pairs_pane pairs;
	bool in_pairs;
	bool offered; /* pairs, below what asks for both ends */
	enum stage stage;
	struct entry entry;
	char stem[PATH_TEXT]; /* what was typed before Tab */
	uint32_t turn;	      /* of Tab */
	char bad[512];	      /* why the name was not taken */
	struct path_ends shown;
	uint32_t shared_chan; /* channel that other views were given */
};

static void paths_done(void *own)
{
	pairs_done(&((struct paths_ui *)own)->pairs);
}

static void paths_end_text(char *buf, size_t len, const struct fabric *f, uint32_t end,
			   uint32_t lid)
{
	char name[128], sw[NAME_LEN];

	end_name(name, sizeof(name), f, end);
	if (end < f->nend)
		snprintf(buf, len, "%.60s  LID %u  on %s/%u", name, lid,
			 switch_label(sw, sizeof(sw), f, f->term_sw[end]), f->term_port[end]);
	else
		snprintf(buf, len, "%.60s  LID %u  (switch)", name, lid);
}

static void paths_draw_end(const struct paths_ui *u, const struct state *s, struct canvas *c,
			   struct rect r, int y, bool from, struct path_ends ends)
{
	const struct fabric *f = s->fabric;
	uint32_t end = from ? ends.src : ends.dlid ? fabric_lid_end(f, ends.dlid) : FAB_NONE;
	const char *label = from ? "from" : "to";
	char text[256];

	if (u->stage == (from ? STAGE_FROM : STAGE_TO)) {
		entry_draw(&u->entry, c, r, 1, y, label);
		return;
	}
	canvas_textf(c, r, 1, y, ROLE_LABEL, "%-4s", label);
	if (end == FAB_NONE) {
		canvas_text(c, r, 7, y, ROLE_DIM,
			    "not set: e to enter it, or < > in views 4 and t");
		return;
	}
	paths_end_text(text, sizeof(text), f, end, from ? end_lid(f, end) : ends.dlid);
	canvas_text(c, r, 7, y, ROLE_TEXT, text);
}

static void paths_draw_guesses(const struct paths_ui *u, const struct state *s, struct canvas *c,
			       struct rect r)
{
	uint32_t out[GUESSES], n = end_complete(out, GUESSES, s->fabric, u->stem);
	char name[128];
	int x = 2, y = 1;

	if (u->bad[0])
		canvas_text(c, r, 1, 0, ROLE_WARN, u->bad);
	else
		canvas_textf(c, r, 1, 0, ROLE_DIM,
			     "a name, LID or GUID; Tab completes: %u host%s and switches match", n,
			     plural(n));
	for (uint32_t i = 0; i < n && i < GUESSES && y < r.h; i++) {
		end_name(name, sizeof(name), s->fabric, out[i]);
		if (x + text_width(name) > r.w - 2) {
			x = 2;
			y++;
		}
		if (y < r.h)
			x = canvas_textf(c, r, x, y, ROLE_TEXT, "%s  ", name);
	}
}

/* One line: what becomes of packets, now and after the plan. */
static void paths_draw_fate(const struct path_both *p, const struct state *s, struct canvas *c,
			    struct rect r, int y)
{
	const struct fabric *f = s->fabric;
	uint32_t differs = p->has_plan ? path_differs(&p->now, &p->plan) : FAB_NONE;
	char text[256];
	int x;

	x = canvas_textf(c, r, 1, y, p->now.fate == PATH_ARRIVES ? ROLE_GOOD : ROLE_BAD, "%s",
			 path_fate_text(text, sizeof(text), &p->now, f));
	x = canvas_textf(c, r, x, y, ROLE_TEXT, ", %u link%s, SL %u%s", p->now.links,
			 plural(p->now.links), p->now.sl, s->sls_known ? "" : "? (unknown)");
	if (!p->has_plan)
		return;
	if (p->plan.fate != PATH_ARRIVES)
		canvas_textf(c, r, x, y, ROLE_BAD, "   plan: %s",
			     path_fate_text(text, sizeof(text), &p->plan, f));
	else if (differs == FAB_NONE && p->plan.sl == p->now.sl)
		canvas_text(c, r, x, y, ROLE_DIM, "   plan: the same path");
	else if (differs == FAB_NONE)
		canvas_textf(c, r, x, y, ROLE_WARN, "   plan: the same path, on SL %u", p->plan.sl);
	else
		canvas_textf(c, r, x, y, ROLE_WARN,
			     "   plan: %u link%s, SL %u, differs from hop %u", p->plan.links,
			     plural(p->plan.links), p->plan.sl, differs + 1);
}

static uint64_t paths_worst_efi(const struct path *p, const struct state *s)
{
	const struct metrics *m = state_metrics(s);
	uint64_t worst = 0;

	for (uint32_t i = 0; m && i < p->nhop; i++)
		if (p->hop[i].chan != FAB_NONE && m->efi[p->hop[i].chan] > worst)
			worst = m->efi[p->hop[i].chan];
	return worst;
}

static double paths_worst_util(const struct path *p, const struct state *s)
{
	double worst = -1;

	for (uint32_t i = 0; i < p->nhop; i++) {
		const struct port_rate *r =
			p->hop[i].chan == FAB_NONE
				? NULL
				: state_rate(s, chan_fabric_port(s->fabric, p->hop[i].chan));

		if (r && r->util_pct > worst)
			worst = r->util_pct;
	}
	return worst;
}

static uint32_t paths_lids_of(const struct fabric *f, struct path_ends ends)
{
	uint32_t end = fabric_lid_end(f, ends.dlid);

	return end < f->nend ? 1u << f->lmc : 1;
}

/* All LIDs of the destination, one a line; returns how many lines. */
static int paths_draw_lids(const struct state *s, struct canvas *c, struct rect r,
			   struct path_ends ends)
{
	const struct fabric *f = s->fabric;
	uint32_t end = fabric_lid_end(f, ends.dlid), n = paths_lids_of(f, ends);
	int y = 0;

	if (n < 2)
		return 0;
	for (uint32_t i = 0; i < n && y < r.h; i++, y++) {
		uint16_t lid = (uint16_t)(f->term_lid[end] + i);
		struct path_both p;
		char efi[FIGURE_LEN], util[FIGURE_LEN];
		double busy;
		bool here = lid == ends.dlid;

		path_both_find(&p, s, (struct path_ends){ ends.src, lid });
		busy = paths_worst_util(&p.now, s);
		canvas_textf(c, r, 1, y, here ? ROLE_KEY : ROLE_TEXT,
			     "%c LID %-5u %-6s  %2u links  SL %-2u  max util %5s  max EFI %7s %s",
			     here ? '>' : ' ', lid,
			     fabric_lid_escape(f, lid) && s->tables->escape ? "escape"
			     : i					    ? ""
									    : "base",
			     p.now.links, p.now.sl, busy < 0 ? "-" : figure_pct(util, busy),
			     figure_count(efi, paths_worst_efi(&p.now, s)),
			     p.now.fate != PATH_ARRIVES ? "NO PATH"
			     : p.has_plan && path_differs(&p.now, &p.plan) != FAB_NONE
				     ? "* plan differs"
				     : "");
	}
	return y;
}

static void paths_draw_path(struct paths_ui *u, const struct context *ctx, const struct state *s,
			    struct canvas *c, struct rect r, struct path_ends ends)
{
	struct path_both p;
	int below = r.h >= 14 ? CHAN_DETAIL_LINES + 1 : 0, lids;
	char label[256];
	uint32_t chan;

	path_both_find(&p, s, ends);
	paths_draw_fate(&p, s, c, r, 0);
	lids = paths_draw_lids(s, c, (struct rect){ r.x, r.y + 1, r.w, r.h / 3 }, ends);
	canvas_rule(c, r, 1 + lids, "Hops");
	hops_draw(&p, &u->hops, ctx, s, c,
		  (struct rect){ r.x, r.y + 2 + lids, r.w, r.h - 2 - lids - below });
	if (!below || u->hops.cursor >= p.now.nhop)
		return;
	chan = p.now.hop[u->hops.cursor].chan;
	if (chan != FAB_NONE) {
		chan_label(label, sizeof(label), s->fabric, chan);
		row_note_append(label, sizeof(label),
				row_notes_chan(s->row_notes, s->fabric, chan));
	} else {
		path_fate_text(label, sizeof(label), &p.now, s->fabric);
	}
	canvas_rule(c, r, r.h - below, label);
	if (chan != FAB_NONE)
		chan_detail_draw(
			ctx, s, c,
			(struct rect){ r.x, r.y + r.h - CHAN_DETAIL_LINES, r.w, CHAN_DETAIL_LINES },
			chan);
}

static void paths_draw_title(const struct paths_ui *u, struct canvas *c, struct rect r,
			     const struct state *s, struct path_ends ends)
{
	char a[END_NAME_LEN] = "?", b[END_NAME_LEN] = "?";
	char both[2 * END_NAME_LEN + 4], fit[sizeof(both)], title[sizeof(both) + 200];
	int x = r.w - 18;

	if (ends.src != FAB_NONE)
		end_name(a, sizeof(a), s->fabric, ends.src);
	if (ends.dlid)
		end_name(b, sizeof(b), s->fabric, fabric_lid_end(s->fabric, ends.dlid));
	snprintf(both, sizeof(both), "%s -> %s", a, b);
	snprintf(title, sizeof(title), "Path %s",
		 ends.src == FAB_NONE ? both
				      : name_fit(fit, sizeof(fit), s->fabric, both,
						 x - 1 - 6 - (int)strlen("Path ")));
	if (ends.src != FAB_NONE)
		row_note_append(title, sizeof(title), path_end_note(s, ends.src));
	if (ends.dlid)
		row_note_append(title, sizeof(title),
				path_end_note(s, fabric_lid_end(s->fabric, ends.dlid)));
	canvas_rule(c, r, 0, NULL);
	canvas_rule(c, (struct rect){ r.x, r.y, x - 1, r.h }, 0, title);
	x = canvas_text(c, r, x, 0, u->in_pairs ? ROLE_RULE : ROLE_TAB_ON,
			u->in_pairs ? " Hops " : "[Hops]");
	canvas_text(c, r, x, 0, u->in_pairs ? ROLE_TAB_ON : ROLE_RULE,
		    u->in_pairs ? "[Pairs]" : " Pairs ");
}

/* What asks for both ends; below it, on screens with room for some, the pairs over the link that
 * was selected last, or over the fullest one. */
static void paths_draw_idle(struct paths_ui *u, const struct context *ctx, const struct state *s,
			    struct canvas *c, struct rect r)
{
	char text[KEY_HINT_TEXT];
	int y = 1;

	y += canvas_wrap(c, r, 2, y, ROLE_DIM,
			 key_hint_text(text, sizeof(text),
				       "Set both ends of the path: {options} to type them (Tab "
				       "completes names), or {from} and {to} in views 4 "
				       "(switches) and {topology} (topology) for what is under "
				       "the cursor. {pane} shows the pairs of a job over the "
				       "selected link."));
	if (r.h < OFFER_FROM_LINES || !pairs_any(&u->pairs, ctx, s))
		return;
	u->offered = true;
	canvas_rule(c, r, ++y, "Or choose a pair: Enter shows its path");
	y++;
	pairs_draw(&u->pairs, ctx, s, c, (struct rect){ r.x, r.y + y, r.w, r.h - y });
}

static void paths_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
		       const struct state *s)
{
	struct paths_ui *u = own;
	struct path_ends ends = ctx->path;
	struct rect body = { r.x, r.y + 3, r.w, r.h - 3 };

	u->offered = false;
	if (!s->fabric) {
		canvas_rule(c, r, 0, "Paths");
		canvas_text(c, r, 1, 2, ROLE_DIM, "no fabric yet");
		return;
	}
	if (ends.src != u->shown.src || ends.dlid != u->shown.dlid)
		u->hops = (struct list){ 0 };
	u->shown = ends;
	paths_draw_title(u, c, r, s, ends);
	paths_draw_end(u, s, c, r, 1, true, ends);
	paths_draw_end(u, s, c, r, 2, false, ends);
	if (u->stage != STAGE_NONE)
		paths_draw_guesses(u, s, c, body);
	else if (!state_tables(s))
		canvas_text(c, body, 2, 0, ROLE_DIM, state_no_tables(s));
	else if (u->in_pairs)
		pairs_draw(&u->pairs, ctx, s, c, body);
	else if (ends.src != FAB_NONE && ends.dlid)
		paths_draw_path(u, ctx, s, c, body, ends);
	else
		paths_draw_idle(u, ctx, s, c, body);
}

/* --- keys ------------------------------------------------------------------------------------ */

static void paths_ask(struct paths_ui *u, enum stage stage)
{
	u->stage = stage;
	u->stem[0] = u->bad[0] = '\0';
	u->turn = 0;
	entry_open(&u->entry, "");
}

/* Takes the name that was typed; keeps asking where no node has it.  Empty: the end stays. */
static void paths_take(struct paths_ui *u, struct context *ctx, const struct state *s)
{
	struct path_ends ends = ctx->path;
	bool from = u->stage == STAGE_FROM;
	uint32_t end;
	uint16_t lid;
	struct err err;

	if (u->entry.text[0]) {
		if (end_find(&end, &lid, s->fabric, u->entry.text, &err)) {
			snprintf(u->bad, sizeof(u->bad), "%s", err.text);
			u->entry.active = true;
			return;
		}
		if (from)
			ends.src = end;
		else
			ends.dlid = lid;
		ctx->path = ends;
	}
	if (from)
		paths_ask(u, STAGE_TO);
	else
		u->stage = STAGE_NONE;
}

/* Tab: what all candidates begin with, then one after the other. */
static void paths_complete(struct paths_ui *u, const struct state *s)
{
	uint32_t out[GUESSES], n = end_complete(out, GUESSES, s->fabric, u->stem);
	char common[128], name[128];
	size_t len;

	if (n > GUESSES)
		n = GUESSES;
	if (!n)
		return;
	end_name(common, sizeof(common), s->fabric, out[0]);
	for (uint32_t i = 1; i < n; i++) {
		end_name(name, sizeof(name), s->fabric, out[i]);
		for (len = 0; common[len] && common[len] == name[len]; len++)
			;
		common[len] = '\0';
	}
	if (strlen(common) > strlen(u->stem)) {
		snprintf(u->stem, sizeof(u->stem), "%s", common);
		snprintf(u->entry.text, sizeof(u->entry.text), "%s", common);
		return;
	}
	end_name(u->entry.text, sizeof(u->entry.text), s->fabric, out[u->turn++ % n]);
}

static void paths_type(struct paths_ui *u, struct context *ctx, const struct input *in,
		       const struct state *s)
{
	if (in->req == REQ_PANE) {
		paths_complete(u, s);
		return;
	}
	switch (entry_input(&u->entry, in)) {
	case ENTRY_CHANGED:
		u->bad[0] = '\0';
		u->turn = 0;
		memcpy(u->stem, u->entry.text, sizeof(u->stem));
		break;
	case ENTRY_DONE:
		paths_take(u, ctx, s);
		break;
	case ENTRY_LEFT:
		u->stage = STAGE_NONE;
		break;
	case ENTRY_NONE:
		break;
	}
}

/* The way back: from the host that was the destination to the one that was the source. */
static void paths_turn_round(struct context *ctx, const struct state *s)
{
	const struct fabric *f = s->fabric;
	struct path_ends ends = ctx->path;
	uint32_t src = ends.src, dst = fabric_lid_end(f, ends.dlid), nth = 0;

	if (src == FAB_NONE || dst == FAB_NONE)
		return;
	if (dst < f->nend && src < f->nend)
		nth = ends.dlid - f->term_lid[dst]; /* the LID of the same number */
	ctx->path = (struct path_ends){ dst, (uint16_t)(end_lid(f, src) + nth) };
}

static void paths_next_lid(struct context *ctx, const struct state *s, int step)
{
	const struct fabric *f = s->fabric;
	struct path_ends ends = ctx->path;
	uint32_t end = ends.dlid ? fabric_lid_end(f, ends.dlid) : FAB_NONE, n, at;

	if (end == FAB_NONE || end >= f->nend)
		return;
	n = 1u << f->lmc;
	at = ends.dlid - f->term_lid[end];
	ends.dlid = (uint16_t)(f->term_lid[end] + (step > 0 ? at + 1 : at + n - 1) % n);
	ctx->path = ends;
}

/* The channel of the hop under the cursor, or FAB_NONE. */
static uint32_t paths_hop_chan(const struct paths_ui *u, const struct context *ctx,
			       const struct state *s, uint32_t *sw)
{
	struct path_ends ends = ctx->path;
	struct path p;

	*sw = FAB_NONE;
	if (ends.src == FAB_NONE || !ends.dlid || !state_tables(s))
		return FAB_NONE;
	path_walk(&p, s->fabric, s->tables, ends.src, ends.dlid);
	if (u->hops.cursor >= p.nhop)
		return FAB_NONE;
	*sw = p.hop[u->hops.cursor].sw;
	return p.hop[u->hops.cursor].chan;
}

static uint32_t paths_hop_rows(const struct context *ctx, const struct state *s)
{
	struct path_ends ends = ctx->path;
	struct path_both p;

	if (ends.src == FAB_NONE || !ends.dlid || !state_tables(s))
		return 0;
	path_both_find(&p, s, ends);
	return path_both_rows(&p);
}

static void paths_open_hop(const struct paths_ui *u, struct context *ctx, const struct state *s,
			   bool link)
{
	uint32_t sw, chan = paths_hop_chan(u, ctx, s, &sw);

	if (link && chan != FAB_NONE) {
		ctx->chan = chan;
		context_goto(ctx, VIEW_LINKS);
	} else if (sw != FAB_NONE) {
		ctx->sw = sw;
		context_goto(ctx, VIEW_SWITCHES);
	}
}

static bool paths_is_for_hops(enum req req)
{
	return req == REQ_LEFT || req == REQ_RIGHT || req == REQ_ENTER || req == REQ_FOLLOW ||
	       req == REQ_DIRECTION;
}

static bool paths_hops_input(struct paths_ui *u, struct context *ctx, const struct input *in,
			     const struct state *s)
{
	uint32_t sw, chan;

	if (!paths_hop_rows(ctx, s) && paths_is_for_hops(in->req)) {
		context_say(ctx, "set both ends of the path first (e, or < > in views 4 and t)");
		return true;
	}
	if (list_move(&u->hops, in->req, paths_hop_rows(ctx, s))) {
		chan = paths_hop_chan(u, ctx, s, &sw);
		if (chan != FAB_NONE)
			ctx->chan = chan;
		return true;
	}
	switch (in->req) {
	case REQ_DIRECTION:
		paths_turn_round(ctx, s);
		return true;
	case REQ_LEFT:
	case REQ_RIGHT:
		paths_next_lid(ctx, s, in->req == REQ_RIGHT ? 1 : -1);
		return true;
	case REQ_ENTER:
	case REQ_FOLLOW:
		paths_open_hop(u, ctx, s, in->req == REQ_ENTER);
		return true;
	default:
		return false;
	}
}

static bool paths_input(void *own, struct context *ctx, const struct input *in,
			const struct state *s, struct request *out)
{
	struct paths_ui *u = own;
	bool chosen;

	(void)out;
	if (!s->fabric)
		return false;
	if (u->stage != STAGE_NONE) {
		paths_type(u, ctx, in, s);
		return true;
	}
	switch (in->req) {
	case REQ_OPTIONS:
		paths_ask(u, STAGE_FROM);
		return true;
	case REQ_PANE:
		u->in_pairs = !u->in_pairs;
		return true;
	default:
		break;
	}
	if (!u->in_pairs && !u->offered)
		return paths_hops_input(u, ctx, in, s);
	if (!state_tables(s))
		return false;
	if (!pairs_input(&u->pairs, ctx, s, in, &chosen))
		return !u->in_pairs && paths_hops_input(u, ctx, in, s);
	if (chosen)
		u->in_pairs = false;
	return true;
}

static bool paths_typing(const void *own, const struct state *s)
{
	(void)s;
	return ((const struct paths_ui *)own)->stage != STAGE_NONE;
}

static void paths_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct paths_ui *u = own;

	key_hint_text(buf, len,
		      u->in_pairs || u->offered ? "Enter: the path of the pair"
		      : s->fabric && s->fabric->lmc
			      ? "{left} {right}: the other LIDs  Enter: link  {follow}: switch"
			      : "Enter: link  {follow}: switch");
}

const struct view view_paths = {
	.size = sizeof(struct paths_ui),
	.done = paths_done,
	.draw = paths_draw,
	.input = paths_input,
	.typing = paths_typing,
	.context = paths_context,
};
