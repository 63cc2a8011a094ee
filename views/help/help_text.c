/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/help/help_text.h"

#include "views/data/state/glossary.h"
#include "views/data/state/key_hint.h"
#include "views/prompt/command.h"
#include "views/frame/tabs.h"

#include <string.h>

static const struct help_row signs[] = {
	{ NULL, "Symbols and colours", SWATCH_NONE },
	{ "levels", "share of the link's rate, or of the largest value", SWATCH_HEAT },
	{ "change", "what a plan changes: less, the same, more", SWATCH_DELTA },
	{ "events", "severity: worst first", SWATCH_LEVELS },
	{ ".:-=+*#@", "levels without colours: below 5, 15, 30, 45, 60, 75, 90 percent, and above",
	  SWATCH_NONE },
	{ "o", "unused: no path between hosts of a job crosses the link", SWATCH_NONE },
	{ "x", "down: cabled, but not active", SWATCH_NONE },
	{ "!", "no reply: the port did not respond when its counters were read", SWATCH_NONE },
	{ "s", "errors: error counters of the port are increasing", SWATCH_NONE },
	{ "~",
	  "reduced: slower or narrower than others of its kind; before a number: predicted, not measured",
	  SWATCH_NONE },
	{ "*", "the best of all plans", SWATCH_NONE },
	{ "p-7f3a!", "a plan that is out of date: it has to be computed again", SWATCH_NONE },
	{ "\"", "left of a row: it has a note, which the last line shows", SWATCH_NONE },
	{ "+", "an event since this view was last open", SWATCH_NONE },
	{ "?  -", "unknown; never the same as 0", SWATCH_NONE },
};

static void help_text_add(struct help_rows *rows, const char *key, const char *text)
{
	vec_push(&rows->list, ((struct help_row){ .key = key, .text = text }));
}

/* The keys of one view (view_bit), or those that hold everywhere (0). */
static void help_text_add_view(struct help_rows *rows, const struct context *ctx,
			       const struct state *s, uint32_t view_bit, const char *title)
{
	size_t first = rows->list.n, n = ctx->nbindings;
	const struct binding *b = ctx->bindings;

	help_text_add(rows, NULL, title);
	for (size_t i = 0; i < n; i++) {
		if (!b[i].help || !b[i].shown || (b[i].rw && !s->rw))
			continue;
		if (view_bit ? !(b[i].views & view_bit) : b[i].views != 0)
			continue;
		if (view_bit && b[i].req >= REQ_UP && b[i].req <= REQ_BOTTOM &&
		    b[i].req != REQ_LEFT && b[i].req != REQ_RIGHT)
			continue;
		help_text_add(rows, b[i].shown, b[i].help);
	}
	if (rows->list.n == first + 1)
		rows->list.n = first;
}

/* How to change the routing, in three steps. */
static void help_text_add_start(struct help_rows *rows, const struct state *s)
{
	help_text_add(rows, NULL, "To change the routing");
	help_text_add(rows, "6",
		      "choose an engine, Enter computes a preview: metrics now and with the plan; "
		      "nothing is changed");
	help_text_add(rows, key_hint("compare"),
		      "in view 6: the change of each link in the heatmap");
	if (s->rw)
		help_text_add(rows, key_hint("prepare"),
			      "in view 6: to view 7, where Enter and the fabric's name start the "
			      "update, and again confirm it");
	else
		help_text_add(rows, "--rw",
			      "this console is read-only: restart it with --rw to apply plans");
}

static void help_text_add_commands(struct help_rows *rows)
{
	size_t n;
	const struct command *c = command_all(&n);

	help_text_add(rows, NULL, "Commands, after : (Tab completes)");
	for (size_t i = 0; i < n; i++)
		if (c[i].help)
			help_text_add(rows, c[i].name, c[i].help);
}

static void help_text_add_mouse(struct help_rows *rows)
{
	help_text_add(rows, NULL, "Mouse");
	help_text_add(rows, "click",
		      "on a tab or a key at the bottom: as if typed; on a column head: sort by it; "
		      "on a row: move the cursor, again: open");
	help_text_add(rows, "wheel", "scroll");
	help_text_add(rows, "Shift",
		      "hold while dragging to select text in the terminal; not needed with the "
		      "setting mouse=no, nor for names of rows, which :copy copies");
}

void help_rows_fill(struct help_rows *rows, const struct context *ctx, const struct state *s,
		    enum view_id from)
{
	rows->list.n = 0;
	if (from != VIEW_HELP)
		help_text_add_view(rows, ctx, s, VIEW_BIT(from), tab_title(from));
	help_text_add_start(rows, s);
	help_text_add_view(rows, ctx, s, 0, "Everywhere");
	help_text_add(rows, "Up k ...", "move: arrows or hjkl, PgUp PgDn, g G Home End");
	help_text_add_mouse(rows);
	for (int i = VIEW_OVERVIEW; i < VIEW_OVERVIEW + VIEW_COUNT; i++) {
		enum view_id v = (enum view_id)(i % VIEW_COUNT); /* 1 to 9, 0, t, as the tabs */

		if (v != from)
			help_text_add_view(rows, ctx, s, VIEW_BIT(v), tab_title(v));
	}
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		vec_push(&rows->list, signs[i]);
	for (size_t i = 0; s->glossary && i < s->glossary->n; i++)
		help_text_add(rows, s->glossary->entry[i].term, s->glossary->entry[i].text);
	help_text_add_commands(rows);
}
