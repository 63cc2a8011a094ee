/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a word on the command line may become. */
#include "views/shell/prompt.h"

#include "fabric/model/end_find.h"
#include "views/canvas/palette.h"
#include "views/canvas/view.h"
#include "views/data/chan_value.h"
#include "views/data/past_spark.h"
#include "views/heatmap/heat_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct word {
	const char *text;
	size_t len;
};

static size_t choices_alike(const char *a, const char *b, size_t most, bool exact)
{
	size_t n = 0;

	while (n < most && a[n] &&
	       (exact ? a[n] == b[n]
		      : tolower((unsigned char)a[n]) == tolower((unsigned char)b[n])))
		n++;
	return n;
}

/* One more that begins like the word. */
static void choices_add(struct choices *out, const char *name, bool exact)
{
	if (!out->all)
		out->common = strlen(name);
	else
		out->common = choices_alike(out->text[0], name, out->common, exact);
	if (out->n < CHOICES)
		snprintf(out->text[out->n++], CHOICE_LEN, "%s", name);
	out->all++;
}

static void choices_offer(struct choices *out, struct word w, const char *name)
{
	if (!strncasecmp(name, w.text, w.len))
		choices_add(out, name, false);
}

static void choices_offer_all(struct choices *out, struct word w, const char *const *names)
{
	for (; *names; names++)
		choices_offer(out, w, *names);
}

static void choices_commands(struct choices *out, struct word w)
{
	size_t n;
	const struct command *c = command_all(&n);

	for (size_t i = 0; i < n; i++)
		if (c[i].req != REQ_VIEW || c[i].arg == ARG_VIEW || view_find(c[i].view))
			choices_offer(out, w, c[i].name);
}

static void choices_view_names(struct choices *out, struct word w)
{
	for (int i = VIEW_OVERVIEW; i <= VIEW_COUNT; i++) {
		enum view_id id = (enum view_id)(i % VIEW_COUNT);

		if (view_find(id) && command_view_name(id))
			choices_offer(out, w, command_view_name(id));
	}
}

static void choices_field_names(struct choices *out, struct word w,
				const struct prompt_context *ctx)
{
	size_t n;
	const struct field *f;

	if (ctx->kind >= ROW_KINDS)
		return;
	f = fields_of(ctx->kind, &n);
	for (size_t i = 0; i < n; i++)
		choices_offer(out, w, f[i].name);
}

static void choices_node_names(struct choices *out, struct word w, const struct prompt_context *ctx)
{
	uint32_t end[CHOICES], all, n;
	char text[CHOICE_LEN], name[CHOICE_LEN];

	if (!ctx->s || !ctx->s->fabric)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)w.len, w.text);
	all = end_complete(end, CHOICES, ctx->s->fabric, text);
	n = all < CHOICES ? all : CHOICES;
	for (uint32_t i = 0; i < n; i++)
		choices_offer(out, w, end_name(name, sizeof(name), ctx->s->fabric, end[i]));
	out->all += all - n;
	if (all > n)
		out->common = 0; /* of the others nothing is known */
}

static void choices_offer_file(void *to, const char *name)
{
	if (strlen(name) < CHOICE_LEN)
		choices_add(to, name, true);
}

/* The whole of a path so far: of its folder nobody else knows the names. */
static void choices_file_names(struct choices *out, const char *text, size_t len,
			       const struct state *s)
{
	char path[PROMPT_LEN];

	if (!s || !s->file_names || len >= sizeof(path))
		return;
	snprintf(path, sizeof(path), "%.*s", (int)len, text);
	out->files = true;
	s->file_names(path, choices_offer_file, out);
}

static void choices_job_ids(struct choices *out, struct word w, const struct prompt_context *ctx)
{
	const struct jobset *jobs = ctx->s ? ctx->s->jobs : NULL;
	char id[24];

	for (uint32_t i = 0; jobs && i < jobs->njob; i++) {
		snprintf(id, sizeof(id), "%llu", (unsigned long long)jobs->jobs[i].id);
		choices_offer(out, w, id);
	}
}

static void choices_engine_names(struct choices *out, struct word w,
				 const struct prompt_context *ctx)
{
	for (uint32_t i = 0; ctx->s && i < ctx->s->preview.nengines; i++)
		choices_offer(out, w, ctx->s->preview.engines[i].engine->name);
}

static void choices_palette_names(struct choices *out, struct word w)
{
	for (int i = 0; i < PALETTE_COUNT; i++)
		choices_offer(out, w, palette_name((enum palette)i));
}

/* Tables show the past of links; other views colour by more. */
static void choices_metric_names(struct choices *out, struct word w,
				 const struct prompt_context *ctx)
{
	for (int i = 0; ctx->kind < ROW_KINDS && i < HISTORY_METRICS; i++)
		choices_offer(out, w, history_metric_name((enum history_metric)i));
	for (int i = 0; ctx->kind >= ROW_KINDS && i < CHAN_METRICS; i++)
		choices_offer(out, w, chan_metric_name((enum chan_metric)i));
}

static void choices_row_orders(struct choices *out, struct word w)
{
	choices_offer(out, w, "place");
	for (int i = HEAT_BY_PLACE + 1; i < HEAT_SORTS; i++)
		choices_offer(out, w, heat_sort_name((enum heat_sort)i));
}

static void choices_layout_names(struct choices *out, struct word w,
				 const struct prompt_context *ctx)
{
	const char *name;

	if (!ctx->s || !ctx->view || !ctx->view->layout)
		return;
	for (uint32_t i = 0; (name = ctx->view->layout(ctx->own, ctx->s, i)); i++)
		choices_offer(out, w, name);
}

/* Their names, and behind the = the words that one may be. */
static void choices_settings(struct choices *out, struct word w, const struct state *s)
{
	struct setting x;
	char text[CHOICE_LEN];

	for (uint32_t i = 0; s && s->setting && s->setting(s->setting_of, i, &x); i++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "%s=", x.name);
		const char *word = x.words;

		if (!memchr(w.text, '=', w.len)) {
			choices_offer(out, w, text);
			continue;
		}
		if (!word || strncasecmp(w.text, text, n) != 0)
			continue;
		for (; *(word += strspn(word, " ")); word += strcspn(word, " ")) {
			snprintf(text + n, sizeof(text) - n, "%.*s", (int)strcspn(word, " "), word);
			choices_offer(out, w, text);
		}
	}
}

/* Rows of the view that a command goes to, else of the table in view. */
static enum row_kind choices_rows_of(const struct command *c, enum row_kind here)
{
	if (c->req != REQ_VIEW)
		return here;
	switch (c->view) {
	case VIEW_LINKS:
		return ROWS_LINKS;
	case VIEW_SWITCHES:
		return ROWS_SWITCHES;
	case VIEW_JOBS:
		return ROWS_JOBS;
	case VIEW_EVENTS:
		return ROWS_EVENTS;
	case VIEW_AUDIT:
		return ROWS_SESSIONS;
	default:
		return here;
	}
}

static void choices_argument(struct choices *out, struct word w, enum command_arg arg,
			     const struct prompt_context *ctx)
{
	static const char *const units[] = { "bytes", "bits", NULL };
	static const char *const conditions[] = { "sm", "errors", "reach", "jobs", NULL };

	switch (arg) {
	case ARG_VIEW:
		choices_view_names(out, w);
		break;
	case ARG_COLUMN:
	case ARG_COLUMNS:
	case ARG_FILTER:
		choices_field_names(out, w, ctx);
		break;
	case ARG_NODE:
	case ARG_NODES:
		choices_node_names(out, w, ctx);
		break;
	case ARG_JOB:
		choices_job_ids(out, w, ctx);
		break;
	case ARG_ENGINE:
		choices_engine_names(out, w, ctx);
		break;
	case ARG_PALETTE:
		choices_palette_names(out, w);
		break;
	case ARG_UNITS:
		choices_offer_all(out, w, units);
		break;
	case ARG_COMMAND:
		choices_commands(out, w);
		break;
	case ARG_SETTING:
		choices_settings(out, w, ctx->s);
		break;
	case ARG_METRIC:
		choices_metric_names(out, w, ctx);
		break;
	case ARG_ROWS:
		choices_row_orders(out, w);
		break;
	case ARG_LAYOUT:
		choices_layout_names(out, w, ctx);
		break;
	case ARG_BOOKMARK:
		if (ctx->s && ctx->s->bookmarks)
			choices_offer_all(out, w, ctx->s->bookmarks);
		break;
	case ARG_CONDITIONS:
		choices_offer_all(out, w, conditions);
		break;
	case ARG_FILE: /* choices_find() */
	case ARG_NONE:
	case ARG_TEXT:
		break;
	}
}

/* Where the word before the cursor begins. */
static size_t choices_word_start(const char *text, size_t at, const char *ends)
{
	while (at && !strchr(ends, text[at - 1]))
		at--;
	return at;
}

static void choices_none(struct choices *out, size_t at)
{
	out->n = out->all = 0;
	out->common = 0;
	out->files = out->listed = out->choosing = false;
	out->from = at;
}

void choices_find(struct choices *out, enum prompt_kind kind, const char *text, size_t at,
		  const struct prompt_context *ctx)
{
	size_t name = strcspn(text, " ");
	const struct command *c = NULL;
	enum command_arg arg = ARG_COMMAND;
	const char *ends = " ";
	struct prompt_context there = *ctx;

	choices_none(out, at);
	if (kind == PROMPT_FIND || kind == PROMPT_NONE)
		return;
	if (kind == PROMPT_FILTER) {
		arg = ARG_FILTER;
	} else if (at > name) {
		c = command_find(text, name);
		if (!c)
			return;
		arg = c->arg;
		there.kind = choices_rows_of(c, ctx->kind);
	}
	if (arg == ARG_FILTER)
		ends = " (!";
	else if (arg == ARG_COLUMNS || arg == ARG_CONDITIONS)
		ends = " ,";
	else if (arg == ARG_METRIC || arg == ARG_LAYOUT || arg == ARG_BOOKMARK)
		ends = ""; /* names with blanks */
	if (arg == ARG_FILE) {
		name += strspn(text + name, " ");
		out->from = name + choices_word_start(text + name, at - name, "/");
		choices_file_names(out, text + name, at - name, ctx->s);
		return;
	}
	out->from = *ends ? choices_word_start(text, at, ends) : name + 1;
	choices_argument(out, (struct word){ text + out->from, at - out->from }, arg, &there);
}

/* --- Tab ---------------------------------------------------------------------------------------
 */

/* The word before at becomes the first n bytes of text. */
static bool choices_put(struct choices *c, const char *with, size_t n, char *text, size_t size,
			size_t *at)
{
	size_t rest = strlen(text + *at);

	if (c->from + n + rest >= size)
		return false;
	memmove(text + c->from + n, text + *at, rest + 1);
	memcpy(text + c->from, with, n);
	*at = c->from + n;
	return true;
}

void choices_turn(struct choices *c)
{
	if (!c->n)
		return;
	/* choices_take() goes on by one */
	c->choice = c->choosing ? (c->choice + 2 * c->n - 2) % c->n : c->n - 2 + (c->n == 1);
	c->choosing = c->n > 1;
}

bool choices_take(struct choices *c, char *text, size_t size, size_t *at)
{
	bool done;

	if (!c->n)
		return false;
	if (c->n == 1) {
		done = choices_put(c, c->text[0], strlen(c->text[0]), text, size, at);
		c->n = 0;
		return done;
	}
	if (!c->choosing && c->common > *at - c->from)
		return choices_put(c, c->text[0], c->common, text, size, at);
	if (c->files && !c->listed) {
		c->listed = true;
		return false;
	}
	c->choice = c->choosing ? (c->choice + 1) % c->n : 0;
	c->choosing = true;
	return choices_put(c, c->text[c->choice], strlen(c->text[c->choice]), text, size, at);
}

bool choices_file(struct choices *c, char *text, size_t size, const struct state *s)
{
	size_t at = strlen(text);

	if (!c->n) {
		choices_none(c, choices_word_start(text, at, "/"));
		choices_file_names(c, text, at, s);
	}
	return choices_take(c, text, size, &at);
}

void choices_draw(const struct choices *c, struct canvas *to, struct rect r, int y)
{
	uint32_t first = 0;
	int x = 1;

	/* the chosen one is in sight */
	for (uint32_t i = 0; c->choosing && i <= c->choice; i++) {
		int w = 0;

		for (uint32_t k = first; k <= c->choice; k++)
			w += text_width(c->text[k]) + 2;
		if (w < r.w - 8)
			break;
		first++;
	}
	for (uint32_t i = first; i < c->n; i++) {
		bool on = c->choosing && i == c->choice;

		if (x + text_width(c->text[i]) > r.w - 5) {
			canvas_text(to, r, x, y, ROLE_DIM, "...");
			return;
		}
		x = canvas_text(to, r, x, y, on ? ROLE_CURSOR : ROLE_LABEL, c->text[i]) + 2;
	}
	if (c->all > c->n)
		canvas_text(to, r, x, y, ROLE_DIM, "...");
}
