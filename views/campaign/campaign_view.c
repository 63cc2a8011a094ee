/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a replay or a campaign of failures has found: engines side by side, as the fabric wears out
 * or as time goes on. */
#include "fabric/base/message/plural.h"
#include "views/data/lists/campaign_list.h"
#include "views/data/state/key_hint.h"
#include "views/table/table.h"
#include "views/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARKS_MOST 8
#define LABEL_W	    18
#define VALUES_W    24

struct campaign_ui {
	struct table cells, routings;
};

static void campaign_view_done(void *own)
{
	struct campaign_ui *u = own;

	table_done(&u->cells);
	table_done(&u->routings);
}

/* --- the tables --------------------------------------------------------------------------------
 */

enum { COL_ENGINE, COL_FAILED, COL_USABLE, COL_RETAINED, COL_EBB = 6 };

/* clang-format off */
static const struct table_col cell_columns[] = {
	[COL_ENGINE] = { "engine", NULL, 0, 0, 0, 12 },
	[COL_FAILED] = { "failed", NULL, 9, 0, 0, 1 },
	[COL_USABLE] = { "usable", NULL, 8, 0, 0, 0 },
	[COL_RETAINED] = { "retained_pct", NULL, 9, 0, 0, 0 },
	{ "p10_pct", NULL, 6, 72, 0, 0 },
	{ "p90_pct", NULL, 6, 72, 0, 0 },
	[COL_EBB] = { "ebb", NULL, 7, 0, 0, 0 },
	{ "vls", NULL, 4, 0, 0, 0 },
	{ "hosts_cut", NULL, 8, 0, 0, 0 },
	{ "entries", NULL, 11, 0, 0, 0 },
	{ "repair_entries", NULL, 10, 0, 0, 0 },
};
/* clang-format on */

static enum role campaign_view_role(double retained)
{
	return retained < 50 ? ROLE_BAD : retained < 90 ? ROLE_WARN : ROLE_TEXT;
}

/* Small differences count. */
static bool campaign_view_draw_fine(double v, struct canvas *c, struct rect r, int x, int y, int w)
{
	if (!isfinite(v))
		return false;
	canvas_textf(c, r, x, y, ROLE_TEXT, "%*.3f", w - 1, v);
	return true;
}

static bool campaign_view_draw_cell(const struct table_in *in, uint32_t row, uint32_t col,
				    struct canvas *c, struct rect r, int x, int y, int w)
{
	const struct campaign_ui *u = in->own;
	const struct campaign_list *l = in->s->campaign.list;
	uint32_t way, step;
	const struct campaign_cell *cell = campaign_row(in->s, row, &way, &step);
	char text[40], at[32];

	switch (col) {
	case COL_FAILED:
		snprintf(text, sizeof(text), "%*s", w - 1,
			 campaign_step_text(at, sizeof(at), l, step));
		table_text(&u->cells, c, r, x, y, w, ROLE_TEXT, text);
		return true;
	case COL_USABLE:
		snprintf(text, sizeof(text), "%u of %u", cell->good, cell->n);
		table_text(&u->cells, c, r, x, y, w, cell->good < cell->n ? ROLE_BAD : ROLE_TEXT,
			   text);
		return true;
	case COL_RETAINED:
		if (isnan(cell->figure[CAMPAIGN_RETAINED]))
			return false;
		canvas_textf(c, r, x, y, campaign_view_role(cell->figure[CAMPAIGN_RETAINED]),
			     "%*.1f", w - 1, cell->figure[CAMPAIGN_RETAINED]);
		return true;
	case COL_EBB:
		return campaign_view_draw_fine(cell->figure[CAMPAIGN_EBB], c, r, x, y, w);
	default:
		return false;
	}
}

static const struct table_ops cell_ops = {
	.kind = ROWS_CELLS,
	.what = "cells",
	.one = "cell",
	.col = cell_columns,
	.ncol = sizeof(cell_columns) / sizeof(cell_columns[0]),
	.only = "(with seeds that are not usable)",
	.draw = campaign_view_draw_cell,
};

enum { COL_TIME = 1, COL_WORST };

/* clang-format off */
static const struct table_col routing_columns[] = {
	{ "routing", NULL, 0, 0, 0, 18 },
	[COL_TIME] = { "time", NULL, 8, 0, 0, 1 },
	[COL_WORST] = { "worst", NULL, 8, 0, 0, 0 },
	{ "efi_max", NULL, 8, 0, 0, 0 },
	{ "unused_pct", NULL, 7, 0, 0, 0 },
	{ "vls", NULL, 4, 0, 0, 0 },
	{ "adopted", NULL, 6, 0, 0, 0 },
	{ "blocks", NULL, 7, 0, 0, 0 },
	{ "drain_lids", NULL, 8, 80, 0, 0 },
	{ "jobs_touched", NULL, 12, 90, 0, 0 },
};
/* clang-format on */

static bool campaign_view_draw_routing(const struct table_in *in, uint32_t row, uint32_t col,
				       struct canvas *c, struct rect r, int x, int y, int w)
{
	uint32_t way, step;
	const struct campaign_cell *cell = campaign_row(in->s, row, &way, &step);

	if (col != COL_TIME && col != COL_WORST)
		return false;
	return campaign_view_draw_fine(
		cell->figure[col == COL_TIME ? CAMPAIGN_TIME : CAMPAIGN_WORST], c, r, x, y, w);
}

/* Another moment is other rows. */
static uint64_t campaign_view_version(const struct table_in *in)
{
	return in->s->campaign.step;
}

static const struct table_ops routing_ops = {
	.kind = ROWS_ROUTINGS,
	.what = "routings",
	.one = "routing",
	.col = routing_columns,
	.ncol = sizeof(routing_columns) / sizeof(routing_columns[0]),
	.version = campaign_view_version,
	.draw = campaign_view_draw_routing,
};

static bool campaign_view_is_replay(const struct state *s)
{
	return s->campaign.list && s->campaign.list->kind == CAMPAIGN_REPLAY;
}

/* The shell asks without a state: whichever has rows is the one that was drawn. */
static struct table *campaign_view_table(void *own, const struct table_ops **out)
{
	struct campaign_ui *u = own;

	*out = u->routings.all ? &routing_ops : &cell_ops;
	return u->routings.all ? &u->routings : &u->cells;
}

/* --- lines over all steps ----------------------------------------------------------------------
 */

/* What is drawn: the higher, the worse. */
struct scale {
	double least, most;
};

static double campaign_view_harm(const struct campaign_list *l, const struct campaign_cell *c)
{
	return l->kind == CAMPAIGN_REPLAY ? c->figure[CAMPAIGN_TIME]
					  : 100 - c->figure[CAMPAIGN_RETAINED];
}

static struct scale campaign_view_scale(const struct campaign_list *l)
{
	struct scale s = { INFINITY, -INFINITY };

	for (size_t i = 0; i < (size_t)l->nway * l->nstep; i++) {
		double v = campaign_view_harm(l, &l->cell[i]);

		if (!isfinite(v))
			continue;
		s.least = v < s.least ? v : s.least;
		s.most = v > s.most ? v : s.most;
	}
	if (l->kind != CAMPAIGN_REPLAY)
		s.least = 0;
	return s;
}

static uint8_t campaign_view_level(const struct scale *s, double v)
{
	if (!isfinite(v))
		return 255;
	if (!(s->most > s->least) || v < s->least)
		return 0;
	return (uint8_t)lrint(100 * (v - s->least) / (s->most - s->least));
}

/* As many columns as there are steps, or as fit: then each is the worst of its steps. */
static int campaign_view_spark(uint8_t *pct, int w, const struct campaign_list *l, uint32_t way,
			       const struct scale *s)
{
	int n = l->nstep < (uint32_t)w ? (int)l->nstep : w;

	for (int i = 0; i < n; i++) {
		size_t from = (size_t)i * l->nstep / (size_t)n;
		size_t to = (size_t)(i + 1) * l->nstep / (size_t)n;
		double worst = NAN;

		for (size_t k = from; k < to; k++) {
			double v = campaign_view_harm(l, &l->cell[(size_t)way * l->nstep + k]);

			if (isnan(worst) || v > worst)
				worst = v;
		}
		pct[i] = campaign_view_level(s, worst);
	}
	return n;
}

static void campaign_view_mean(char *buf, size_t size, const struct campaign_list *l, uint32_t way)
{
	const struct campaign_cell *c = &l->cell[(size_t)way * l->nstep];
	double sum = 0, last = c[l->nstep - 1].figure[CAMPAIGN_RETAINED];
	uint32_t n = 0;

	buf[0] = '\0';
	if (l->kind != CAMPAIGN_REPLAY) {
		if (isfinite(last))
			snprintf(buf, size, "%5.1f %% lost at the end", 100 - last);
		return;
	}
	for (uint32_t k = 0; k < l->nstep; k++)
		if (isfinite(c[k].figure[CAMPAIGN_TIME])) {
			sum += c[k].figure[CAMPAIGN_TIME];
			n++;
		}
	if (n)
		snprintf(buf, size, "%7.3f on average", sum / n);
}

static void campaign_view_draw_spark(struct canvas *c, struct rect r, const struct state *s,
				     uint32_t way, const struct scale *scale)
{
	const struct campaign_list *l = s->campaign.list;
	uint8_t *pct = r.w > 0 ? malloc((size_t)r.w) : NULL;
	int n;

	if (!pct)
		return;
	n = campaign_view_spark(pct, r.w, l, way, scale);
	canvas_spark(c, r, 0, 0, pct, n);
	if (l->kind == CAMPAIGN_REPLAY) { /* the moment that the table shows */
		int x = (int)((uint64_t)s->campaign.step * (uint64_t)n / l->nstep);

		canvas_style(c, (struct rect){ r.x + x, r.y, 1, 1 }, ROLE_LABEL, true);
	}
	free(pct);
}

static void campaign_view_draw_sparks(struct canvas *c, struct rect r, const struct state *s,
				      uint32_t at)
{
	const struct campaign_list *l = s->campaign.list;
	struct scale scale = campaign_view_scale(l);
	uint32_t first = at >= (uint32_t)r.h ? at - (uint32_t)r.h + 1 : 0;

	for (int y = 0; y < r.h && first + (uint32_t)y < l->nway; y++) {
		uint32_t way = first + (uint32_t)y;
		enum role role = way == at ? ROLE_LABEL : ROLE_DIM;
		char label[LABEL_W + 1], mean[VALUES_W + 1];

		text_shorten(label, sizeof(label), l->way[way], LABEL_W - 1);
		canvas_text(c, r, 1, y, role, label);
		campaign_view_draw_spark(c,
					 (struct rect){ r.x + 1 + LABEL_W, r.y + y,
							r.w - LABEL_W - VALUES_W - 2, 1 },
					 s, way, &scale);
		campaign_view_mean(mean, sizeof(mean), l, way);
		canvas_text(c, r, r.w - VALUES_W, y, role, mean);
	}
}

/* --- the view ----------------------------------------------------------------------------------
 */

static void campaign_view_title(char *buf, size_t size, const struct state *s)
{
	const struct campaign_list *l = s->campaign.list;
	char at[40];

	if (l->kind == CAMPAIGN_REPLAY)
		snprintf(buf, size, "Replay of %.40s on %.40s: %s (%u of %u), %u job%s", l->history,
			 l->fabric, campaign_step_text(at, sizeof(at), l, s->campaign.step),
			 s->campaign.step + 1, l->nstep, l->jobs[s->campaign.step],
			 plural(l->jobs[s->campaign.step]));
	else
		snprintf(buf, size, "Failures of %.60s: %u engine%s, %u step%s, %u seed%s",
			 l->fabric, l->nway, plural(l->nway), l->nstep, plural(l->nstep), l->seeds,
			 plural(l->seeds));
}

static void campaign_view_spark_title(char *buf, size_t size, const struct campaign_list *l)
{
	struct scale s = campaign_view_scale(l);

	if (!(s.most >= s.least))
		buf[0] = '\0';
	else if (l->kind == CAMPAIGN_REPLAY)
		snprintf(buf, size, "Time of the jobs, all moments: %.2f to %.2f", s.least, s.most);
	else
		snprintf(buf, size, "Throughput lost, all steps: up to %.1f %%", s.most);
}

/* What Enter does with the row. */
static void campaign_view_say(char *buf, size_t size, const struct state *s, uint32_t row)
{
	const struct campaign_list *l = s->campaign.list;
	uint32_t way, step;
	const struct campaign_cell *cell = campaign_row(s, row, &way, &step);

	if (s->campaign.busy)
		snprintf(buf, size, "%s", s->campaign.words);
	else if (l->kind == CAMPAIGN_REPLAY)
		snprintf(buf, size, "%s and %s: a moment back and forward, %s and %s: five",
			 key_hint("back"), key_hint("forward"), key_hint("back5"),
			 key_hint("forward5"));
	else if (l->why[way][0] && cell->good < cell->n)
		snprintf(buf, size, "%s: %s", l->way[way], l->why[way]);
	else if (l->opens)
		snprintf(buf, size,
			 "Enter: open the fabric of seed %" PRIu64
			 ", which retains least, with these tables",
			 cell->seed);
	else
		snprintf(buf, size,
			 "cells are opened from the folder of \"campaign\", which has what "
			 "they are of");
}

static void campaign_view_draw_none(struct canvas *c, struct rect r, const struct state *s)
{
	const char *text = s->campaign.why[0] ? s->campaign.why
			   : s->campaign.busy
				   ? s->campaign.words
				   : ":campaign FOLDER opens what replay, failures or campaign has "
				     "written";

	canvas_rule(c, r, 0, "Campaign");
	canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, 1,
		    s->campaign.why[0] ? ROLE_BAD : ROLE_DIM, text);
}

static void campaign_view_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			       const struct state *s)
{
	const struct table_in in = { own, ctx, s };
	const struct campaign_list *l = s->campaign.list;
	const bool replay = campaign_view_is_replay(s);
	struct campaign_ui *u = own;
	struct table *t = replay ? &u->routings : &u->cells;
	int sparks, below;
	uint32_t row, way = 0, step;
	char title[200], text[300];

	if (!l) {
		campaign_view_draw_none(c, r, s);
		return;
	}
	if (!replay)
		u->routings.all = 0;
	sparks = l->nway < SPARKS_MOST ? (int)l->nway : SPARKS_MOST;
	below = list_detail_lines(r.h, sparks + 2);
	campaign_view_title(title, sizeof(title), s);
	table_draw(t, replay ? &routing_ops : &cell_ops, &in, c,
		   (struct rect){ r.x, r.y, r.w, r.h - below }, title);
	if (!below)
		return;
	row = table_cursor(t);
	if (row != FAB_NONE)
		campaign_row(s, row, &way, &step);
	r = (struct rect){ r.x, r.y + r.h - below, r.w, below };
	campaign_view_spark_title(title, sizeof(title), l);
	canvas_rule(c, r, 0, title);
	campaign_view_draw_sparks(c, (struct rect){ r.x, r.y + 1, r.w, below - 2 }, s, way);
	if (row != FAB_NONE) {
		campaign_view_say(text, sizeof(text), s, row);
		canvas_text(c, r, 1, below - 1, ROLE_TEXT, text);
	}
}

static bool campaign_view_open(struct campaign_ui *u, const struct table_in *in,
			       struct request *out)
{
	const struct campaign_list *l = in->s->campaign.list;
	const struct campaign_cell *cell;
	uint32_t row, way, step;

	if (l->kind == CAMPAIGN_REPLAY || !l->opens) {
		context_say(in->ctx, "only cells of a folder of \"campaign\" are opened");
		return true;
	}
	table_follow(&u->cells, &cell_ops, in);
	row = table_cursor(&u->cells);
	if (row == FAB_NONE)
		return false;
	cell = campaign_row(in->s, row, &way, &step);
	out->type = REQ_CELL;
	snprintf(out->text, sizeof(out->text), "%" PRIu64 ",%s,%u", cell->seed, l->way[way], step);
	return true;
}

static bool campaign_view_move(const struct state *s, int by, struct request *out)
{
	int64_t step = (int64_t)s->campaign.step + by, last = s->campaign.list->nstep - 1;

	step = step < 0 ? 0 : step > last ? last : step;
	out->type = REQ_MOMENT;
	snprintf(out->text, sizeof(out->text), "%" PRId64, step);
	return true;
}

static bool campaign_view_input(void *own, struct context *ctx, const struct input *in,
				const struct state *s, struct request *out)
{
	const struct table_in at = { own, ctx, s };
	const bool replay = campaign_view_is_replay(s);

	if (!s->campaign.list)
		return false;
	switch (in->req) {
	case REQ_ENTER:
		return campaign_view_open(own, &at, out);
	case REQ_HIST_BACK:
		return replay && campaign_view_move(s, -1, out);
	case REQ_HIST_FORWARD:
		return replay && campaign_view_move(s, 1, out);
	case REQ_HIST_BACK5:
		return replay && campaign_view_move(s, -5, out);
	case REQ_HIST_FORWARD5:
		return replay && campaign_view_move(s, 5, out);
	case REQ_AGAIN:
		out->type = REQ_CAMPAIGN;
		return true;
	default:
		return false;
	}
}

/* Routings at a moment of a replay are not opened. */
static const char *campaign_view_label(const void *own, const struct binding *b)
{
	const struct campaign_ui *u = own;

	return b->req == REQ_ENTER && u->routings.all ? NULL : b->label;
}

const struct view view_campaign = {
	.size = sizeof(struct campaign_ui),
	.done = campaign_view_done,
	.draw = campaign_view_draw,
	.input = campaign_view_input,
	.label = campaign_view_label,
	.table = campaign_view_table,
};
