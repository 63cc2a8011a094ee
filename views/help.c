/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help: the keymap as text, and what the signs on the other screens mean. */
#include "views/list.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

struct help_ui {
	struct list list;
	uint32_t nrow;
};

/* A row of the help: a heading (key NULL), or a key with its meaning. */
struct help_row {
	const char *key, *text;
};

#define HELP_ROWS 160

static const struct help_row signs[] = {
	{ NULL, "Signs" },
	{ ".:-=+*#@", "levels: below 5, 15, 30, 45, 60, 75, 90 percent, and above" },
	{ "o", "dark: no route of a job's pair uses the link" },
	{ "x", "down: cabled, but not active" },
	{ "!", "no reply: counters were asked for and did not come" },
	{ "s", "errors: error counters of the port rise" },
	{ "~", "reduced: slower or narrower than the others of its kind" },
	{ "?  -", "not known; never the same as 0" },
};

/* Each fits 80 columns. */
static const struct help_row words[] = {
	{ NULL, "Words" },
	{ "EFI", "edge forwarding index: routes over a link, one per pair of hosts" },
	{ "job EFI", "of these, only routes between hosts of the same job: they carry" },
	{ "", "the traffic. An engine that knows the jobs lowers this one, and" },
	{ "", "the EFI of all pairs may grow for it: idle routes cost nothing" },
	{ "(>= N)", "no routing by destination can bring the job EFI below N" },
	{ "in a job", "worst link of each job counting its own routes only, job mean" },
	{ "dark", "links that no job's route uses: paid for, and idle" },
	{ "bisection", "bandwidth of a host when all send in random pairs, % of its cable" },
	{ "slowdown", "of a job's all-to-all when all jobs send, against alone; 1 is none" },
	{ "hops", "switch-to-switch links on a path" },
	{ "loops", "credit loop: packets that wait for each other in a circle, a" },
	{ "", "deadlock; virtual lanes (VL) break it, service levels (SL) choose" },
	{ "on SL 0", "switches do not hold the SLs of paths, only the SM does; the loop" },
	{ "", "is there if all paths use SL 0, and need not be there otherwise" },
	{ "LFT block", "64 LIDs of a switch's forwarding table: the unit of a write" },
	{ "util", "bytes sent, in percent of the link's data rate" },
	{ "wait", "time in which the port had data but no credit (PortXmitWait), %" },
};

static uint32_t add_view(struct help_row *rows, uint32_t n, const struct binding *b, size_t nb,
			 const struct state *s, uint32_t view_bit, const char *title)
{
	uint32_t first = n;

	rows[n++] = (struct help_row){ NULL, title };
	for (size_t i = 0; i < nb && n < HELP_ROWS; i++) {
		if (!b[i].help || !b[i].shown || (b[i].rw && !s->rw))
			continue;
		if (view_bit ? !(b[i].views & view_bit) : b[i].views != 0)
			continue;
		if (view_bit && b[i].req >= REQ_UP && b[i].req <= REQ_BOTTOM)
			continue;
		rows[n++] = (struct help_row){ b[i].shown, b[i].help };
	}
	return n == first + 1 ? first : n;
}

static uint32_t help_rows(struct help_row rows[HELP_ROWS], const struct ui *ui,
			  const struct state *s)
{
	static const struct help_row start[] = {
		{ NULL, "To change the routing" },
		{ "6", "choose an engine, Space computes a preview: figures now and then; nothing "
		       "is changed" },
		{ "c", "shows the change link by link in the heatmap" },
		{ "A",
		  "in 6, with --rw: to the apply view, where the fabric's name has to be typed" },
	};
	size_t nb;
	const struct binding *b = ui_bindings(ui, &nb);
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(start) / sizeof(start[0]); i++)
		if (s->rw || strcmp(start[i].key ? start[i].key : "", "A") != 0)
			rows[n++] = start[i];
	if (!s->rw)
		rows[n++] = (struct help_row){ "--rw", "this console is read-only: start it with "
						       "--rw to be able to apply" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		rows[n++] = words[i];
	for (int v = VIEW_PATHS; v < VIEW_HELP; v++)
		if (view_find((enum view_id)v))
			n = add_view(rows, n, b, nb, s, VIEW_BIT(v),
				     view_find((enum view_id)v)->title);
	n = add_view(rows, n, b, nb, s, 0, "Everywhere");
	rows[n++] =
		(struct help_row){ "Up k ...", "arrows or hjkl, PgUp PgDn, g G Home End: move" };
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]) && n < HELP_ROWS; i++)
		rows[n++] = signs[i];
	return n;
}

static void help_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
		      const struct state *s)
{
	struct help_ui *u = own;
	struct help_row rows[HELP_ROWS];
	char buf[256];

	u->nrow = help_rows(rows, ui, s);
	/* the cursor is the first line here: help scrolls like a page */
	list_fit(&u->list, u->nrow, r.h);
	for (int y = 0; y < r.h && u->list.top + (uint32_t)y < u->nrow; y++) {
		const struct help_row *row = &rows[u->list.top + (uint32_t)y];

		if (!row->key) {
			canvas_rule(c, r, y, row->text);
			continue;
		}
		canvas_text(c, r, 2, y, ROLE_KEY, row->key);
		canvas_text(c, r, 12, y, ROLE_TEXT,
			    text_shorten(buf, sizeof(buf), row->text, r.w - 13));
	}
	list_draw_range(&u->list, u->nrow, c, r, 0);
}

static bool help_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
		       struct request *out)
{
	struct help_ui *u = own;
	struct list *l = &u->list;

	(void)ui;
	(void)s;
	(void)out;
	/* at the edge of the page already, so that every key press scrolls */
	if (in->req == REQ_DOWN && l->page)
		l->cursor = l->top + l->page - 1;
	if (in->req == REQ_UP)
		l->cursor = l->top;
	return list_move(l, in->req, u->nrow);
}

static void help_context(const void *own, const struct state *s, char *buf, size_t len)
{
	(void)own;
	snprintf(buf, len, "%s", s->rw ? "read-write: 7 may change routes" : "read-only");
}

const struct view view_help = {
	.name = "Help",
	.title = "Help",
	.size = sizeof(struct help_ui),
	.draw = help_draw,
	.input = help_input,
	.context = help_context,
};
