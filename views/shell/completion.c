/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/completion.h"

#include "fabric/model/end_find.h"
#include "views/canvas/palette.h"
#include "views/data/chan_value.h"
#include "views/data/view.h"
#include "views/heatmap/heat_window.h"
#include "views/shell/command.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct word {
	const char *text;
	size_t len;
};

static void completion_offer(struct choices *out, struct word w, const char *name)
{
	if (!strncasecmp(name, w.text, w.len))
		choices_add(out, name, false);
}

static void completion_offer_all(struct choices *out, struct word w, const char *const *names)
{
	for (; *names; names++)
		completion_offer(out, w, *names);
}

static void completion_commands(struct choices *out, struct word w)
{
	size_t n;
	const struct command *c = command_all(&n);

	for (size_t i = 0; i < n; i++)
		completion_offer(out, w, c[i].name);
}

static void completion_view_names(struct choices *out, struct word w)
{
	for (int i = VIEW_OVERVIEW; i <= VIEW_COUNT; i++) {
		enum view_id id = (enum view_id)(i % VIEW_COUNT);

		if (command_view_name(id))
			completion_offer(out, w, command_view_name(id));
	}
}

static void completion_field_names(struct choices *out, struct word w,
				   const struct prompt_context *ctx)
{
	size_t n;
	const struct field *f;

	if (ctx->kind >= ROW_KINDS)
		return;
	f = fields_of(ctx->kind, &n);
	for (size_t i = 0; i < n; i++)
		completion_offer(out, w, f[i].name);
}

static void completion_node_names(struct choices *out, struct word w,
				  const struct prompt_context *ctx)
{
	uint32_t end[CHOICES], all, n;
	char text[CHOICE_LEN], name[CHOICE_LEN];

	if (!ctx->s || !ctx->s->fabric)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)w.len, w.text);
	all = end_complete(end, CHOICES, ctx->s->fabric, text);
	n = all < CHOICES ? all : CHOICES;
	for (uint32_t i = 0; i < n; i++)
		completion_offer(out, w, end_name(name, sizeof(name), ctx->s->fabric, end[i]));
	out->all += all - n;
	if (all > n)
		out->common = 0; /* the names that are not listed may begin otherwise */
}

static void completion_job_ids(struct choices *out, struct word w, const struct prompt_context *ctx)
{
	const struct jobset *jobs = ctx->s ? ctx->s->jobs : NULL;
	char id[24];

	for (uint32_t i = 0; jobs && i < jobs->njob; i++) {
		snprintf(id, sizeof(id), "%llu", (unsigned long long)jobs->jobs[i].id);
		completion_offer(out, w, id);
	}
}

static void completion_engine_names(struct choices *out, struct word w,
				    const struct prompt_context *ctx)
{
	for (uint32_t i = 0; ctx->s && i < ctx->s->preview.nengines; i++)
		completion_offer(out, w, ctx->s->preview.engines[i].engine->name);
}

static void completion_palette_names(struct choices *out, struct word w)
{
	for (int i = 0; i < PALETTE_COUNT; i++)
		completion_offer(out, w, palette_name((enum palette)i));
}

/* Tables show the past of links; other views colour by more. */
static void completion_metric_names(struct choices *out, struct word w,
				    const struct prompt_context *ctx)
{
	for (int i = 0; ctx->kind < ROW_KINDS && i < HISTORY_METRICS; i++)
		completion_offer(out, w, history_metric_name((enum history_metric)i));
	for (int i = 0; ctx->kind >= ROW_KINDS && i < CHAN_METRICS; i++)
		completion_offer(out, w, chan_metric_name((enum chan_metric)i));
}

static void completion_row_orders(struct choices *out, struct word w)
{
	completion_offer(out, w, "place");
	for (int i = HEAT_BY_PLACE + 1; i < HEAT_SORTS; i++)
		completion_offer(out, w, heat_sort_name((enum heat_sort)i));
}

static void completion_layout_names(struct choices *out, struct word w,
				    const struct prompt_context *ctx)
{
	const char *name;

	if (!ctx->s || !ctx->view || !ctx->view->layout)
		return;
	for (uint32_t i = 0; (name = ctx->view->layout(ctx->own, ctx->s, i)); i++)
		completion_offer(out, w, name);
}

/* Their names, and behind the = the words that one may be. */
static void completion_settings(struct choices *out, struct word w, const struct state *s)
{
	struct setting x;
	char text[CHOICE_LEN];

	for (uint32_t i = 0; s && s->setting && s->setting(s->setting_of, i, &x); i++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "%s=", x.name);
		const char *word = x.words;

		if (!memchr(w.text, '=', w.len)) {
			completion_offer(out, w, text);
			continue;
		}
		if (!word || strncasecmp(w.text, text, n) != 0)
			continue;
		for (; *(word += strspn(word, " ")); word += strcspn(word, " ")) {
			snprintf(text + n, sizeof(text) - n, "%.*s", (int)strcspn(word, " "), word);
			completion_offer(out, w, text);
		}
	}
}

/* Rows of the view that a command goes to, else of the table in view. */
static enum row_kind completion_rows_of(const struct command *c, enum row_kind here)
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

static void completion_argument(struct choices *out, struct word w, enum command_arg arg,
				const struct prompt_context *ctx)
{
	static const char *const units[] = { "bytes", "bits", NULL };
	static const char *const conditions[] = { "sm", "errors", "reach", "jobs", NULL };

	switch (arg) {
	case ARG_VIEW:
		completion_view_names(out, w);
		break;
	case ARG_COLUMN:
	case ARG_COLUMNS:
	case ARG_FILTER:
		completion_field_names(out, w, ctx);
		break;
	case ARG_NODE:
	case ARG_NODES:
		completion_node_names(out, w, ctx);
		break;
	case ARG_JOB:
		completion_job_ids(out, w, ctx);
		break;
	case ARG_ENGINE:
		completion_engine_names(out, w, ctx);
		break;
	case ARG_PALETTE:
		completion_palette_names(out, w);
		break;
	case ARG_UNITS:
		completion_offer_all(out, w, units);
		break;
	case ARG_COMMAND:
		completion_commands(out, w);
		break;
	case ARG_SETTING:
		completion_settings(out, w, ctx->s);
		break;
	case ARG_METRIC:
		completion_metric_names(out, w, ctx);
		break;
	case ARG_ROWS:
		completion_row_orders(out, w);
		break;
	case ARG_LAYOUT:
		completion_layout_names(out, w, ctx);
		break;
	case ARG_BOOKMARK:
		if (ctx->s && ctx->s->bookmarks)
			completion_offer_all(out, w, ctx->s->bookmarks);
		break;
	case ARG_CONDITIONS:
		completion_offer_all(out, w, conditions);
		break;
	case ARG_FILE: /* completion_find() */
	case ARG_NONE:
	case ARG_TEXT:
		break;
	}
}

void completion_find(struct choices *out, enum prompt_kind kind, const char *text, size_t at,
		     const struct prompt_context *ctx)
{
	size_t name = strcspn(text, " ");
	const struct command *c = NULL;
	enum command_arg arg = ARG_COMMAND;
	const char *ends = " ";
	struct prompt_context there = *ctx;

	choices_reset(out, at);
	if (kind == PROMPT_FIND || kind == PROMPT_NONE)
		return;
	if (kind == PROMPT_FILTER) {
		arg = ARG_FILTER;
	} else if (at > name) {
		c = command_find(text, name);
		if (!c)
			return;
		arg = c->arg;
		there.kind = completion_rows_of(c, ctx->kind);
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
		choices_add_files(out, text + name, at - name, ctx->s ? ctx->s->file_names : NULL);
		return;
	}
	out->from = *ends ? choices_word_start(text, at, ends) : name + 1;
	completion_argument(out, (struct word){ text + out->from, at - out->from }, arg, &there);
}
