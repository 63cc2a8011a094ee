/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/prompt/completion.h"

#include "fabric/model/topology/end_find.h"
#include "views/canvas/palette.h"
#include "views/data/chan_value.h"
#include "views/data/state/key_hint.h"
#include "views/heatmap/heat_window.h"
#include "views/saved/saved_view.h"
#include "views/prompt/command.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The word to complete, and where names come from. */
struct completion {
	struct choices *out;
	const char *text;
	size_t len;
	const struct prompt_context *ctx;
};

static void completion_offer(const struct completion *w, const char *name)
{
	if (!strncasecmp(name, w->text, w->len))
		choices_add(w->out, name, false);
}

static void completion_offer_all(const struct completion *w, const char *const *names)
{
	for (; names && *names; names++)
		completion_offer(w, *names);
}

static void completion_commands(const struct completion *w)
{
	size_t n;
	const struct command *c = command_all(&n);

	for (size_t i = 0; i < n; i++)
		completion_offer(w, c[i].name);
}

static void completion_saved_views(const struct completion *w)
{
	const struct saved_views *all = w->ctx->s ? w->ctx->s->saved_views : NULL;

	for (uint32_t i = 0; all && i < all->n; i++)
		completion_offer(w, all->view[i].name);
}

static void completion_view_names(const struct completion *w)
{
	for (int i = VIEW_OVERVIEW; i <= VIEW_COUNT; i++) {
		enum view_id id = (enum view_id)(i % VIEW_COUNT);

		if (command_view_name(id))
			completion_offer(w, command_view_name(id));
	}
	completion_saved_views(w);
	completion_offer(w, "save");
	completion_offer(w, "delete");
}

static void completion_field_names(const struct completion *w)
{
	size_t n;
	const struct field *f;

	if (w->ctx->kind >= ROW_KINDS)
		return;
	f = fields_of(w->ctx->kind, &n);
	for (size_t i = 0; i < n; i++)
		completion_offer(w, f[i].name);
}

static void completion_node_names(const struct completion *w)
{
	const struct state *s = w->ctx->s;
	uint32_t end[CHOICES], all, n;
	char text[CHOICE_LEN], name[CHOICE_LEN];

	if (!s || !s->fabric)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)w->len, w->text);
	all = end_complete(end, CHOICES, s->fabric, text);
	n = all < CHOICES ? all : CHOICES;
	for (uint32_t i = 0; i < n; i++)
		completion_offer(w, end_name(name, sizeof(name), s->fabric, end[i]));
	w->out->all += all - n;
	if (all > n)
		w->out->common = 0; /* names that are not listed may have another prefix */
}

static void completion_job_ids(const struct completion *w)
{
	const struct jobset *jobs = w->ctx->s ? w->ctx->s->jobs : NULL;
	char id[JOB_ID_LEN];

	for (uint32_t i = 0; jobs && i < jobs->njob; i++)
		completion_offer(w, job_text(id, &jobs->jobs[i]));
}

static void completion_engine_names(const struct completion *w)
{
	const struct state *s = w->ctx->s;

	for (uint32_t i = 0; s && i < s->preview.nengines; i++)
		completion_offer(w, s->preview.engines[i].engine->name);
}

static void completion_palette_names(const struct completion *w)
{
	for (int i = 0; i < PALETTE_COUNT; i++)
		completion_offer(w, palette_name((enum palette)i));
}

/* Tables show the history of links; other views colour by more. */
static void completion_metric_names(const struct completion *w)
{
	bool table = w->ctx->kind < ROW_KINDS;

	for (int i = 0; table && i < HISTORY_METRICS; i++)
		completion_offer(w, history_metric_name((enum history_metric)i));
	for (int i = 0; !table && i < CHAN_METRICS; i++)
		completion_offer(w, chan_metric_name((enum chan_metric)i));
}

static void completion_row_orders(const struct completion *w)
{
	completion_offer(w, "place");
	for (int i = HEAT_BY_PLACE + 1; i < HEAT_SORTS; i++)
		completion_offer(w, heat_sort_name((enum heat_sort)i));
}

static void completion_layout_names(const struct completion *w)
{
	const struct prompt_context *ctx = w->ctx;
	const char *name;

	if (!ctx->s || !ctx->view || !ctx->view->layout)
		return;
	for (uint32_t i = 0; (name = ctx->view->layout(ctx->own, ctx->s, i)); i++)
		completion_offer(w, name);
}

static void completion_units(const struct completion *w)
{
	completion_offer_all(w, (const char *const[]){ "bytes", "bits", NULL });
}

static void completion_peaks(const struct completion *w)
{
	for (int i = 0; i < HISTORY_METRICS; i++)
		completion_offer(w, history_metric_name((enum history_metric)i));
}

static void completion_event_ways(const struct completion *w)
{
	completion_offer_all(w, (const char *const[]){ "next", "previous", NULL });
}

static void completion_fabrics(const struct completion *w)
{
	const struct state_fabrics *all = w->ctx->s ? w->ctx->s->fabrics : NULL;

	for (uint32_t i = 0; all && i < all->n; i++)
		completion_offer(w, all->tab[i].name);
	completion_offer_all(w, (const char *const[]){ "next", "previous", NULL });
}

static void completion_conditions(const struct completion *w)
{
	completion_offer_all(w, (const char *const[]){ "sm", "errors", "reach", "jobs", NULL });
}

static void completion_bookmarks(const struct completion *w)
{
	completion_offer_all(w, w->ctx->s ? w->ctx->s->bookmarks : NULL);
}

/* Those of keys are many: only where one is begun. */
static void completion_key_settings(const struct completion *w)
{
	char text[CHOICE_LEN];
	const char *name;

	if (w->len < 2 || strncasecmp(w->text, "key.", w->len < 4 ? w->len : 4) != 0)
		return;
	for (size_t i = 0; (name = key_hint_command(i)); i++) {
		snprintf(text, sizeof(text), "key.%s=", name);
		completion_offer(w, text);
	}
}

/* Names, and after the = the possible values. */
static void completion_settings(const struct completion *w)
{
	const struct state *s = w->ctx->s;
	struct setting x;
	char text[CHOICE_LEN];

	for (uint32_t i = 0; s && s->setting && s->setting(s->setting_of, i, &x); i++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "%s=", x.name);
		const char *word = x.words;

		if (!memchr(w->text, '=', w->len)) {
			completion_offer(w, text);
			continue;
		}
		if (!word || strncasecmp(w->text, text, n) != 0)
			continue;
		for (; *(word += strspn(word, " ")); word += strcspn(word, " ")) {
			snprintf(text + n, sizeof(text) - n, "%.*s", (int)strcspn(word, " "), word);
			completion_offer(w, text);
		}
	}
	completion_key_settings(w);
}

/* Rows of the view that a command goes to, else of the table in view. */
static enum row_kind completion_rows_of(const struct command *c, enum row_kind here)
{
	enum row_kind there = c->req == REQ_VIEW ? saved_view_rows(c->view) : ROW_KINDS;

	return there == ROW_KINDS ? here : there;
}

/* ARG_FILE: completion_find(). */
static void (*const completion_of[])(const struct completion *w) = {
	[ARG_VIEW] = completion_view_names,
	[ARG_COLUMN] = completion_field_names,
	[ARG_COLUMNS] = completion_field_names,
	[ARG_FILTER] = completion_field_names,
	[ARG_NODE] = completion_node_names,
	[ARG_NODES] = completion_node_names,
	[ARG_JOB] = completion_job_ids,
	[ARG_ENGINE] = completion_engine_names,
	[ARG_PALETTE] = completion_palette_names,
	[ARG_UNITS] = completion_units,
	[ARG_SETTING] = completion_settings,
	[ARG_METRIC] = completion_metric_names,
	[ARG_ROWS] = completion_row_orders,
	[ARG_LAYOUT] = completion_layout_names,
	[ARG_BOOKMARK] = completion_bookmarks,
	[ARG_PEAK] = completion_peaks,
	[ARG_EVENT] = completion_event_ways,
	[ARG_FABRIC] = completion_fabrics,
	[ARG_CONDITIONS] = completion_conditions,
	[ARG_COMMAND] = completion_commands,
	[ARG_FILE] = NULL,
	[ARG_TEXT] = NULL,
};

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
		choices_add_files(out, text + name, at - name, ctx->s);
		return;
	}
	out->from = *ends ? choices_word_start(text, at, ends) : name + 1;
	if (completion_of[arg])
		completion_of[arg](
			&(struct completion){ out, text + out->from, at - out->from, &there });
}
