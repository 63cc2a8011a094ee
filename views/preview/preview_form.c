/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_form.h"

#include "engines/sar/sar_method.h"
#include "fabric/format/native/limits_text.h"
#include "fabric/format/native/pin_text.h"
#include "views/data/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field {
	FIELD_VLS,
	FIELD_SEED,
	FIELD_THREADS,
	FIELD_SPREAD,
	FIELD_METHOD,
	FIELD_CHANGE,
	FIELD_WEIGHTS,
	FIELD_BASE,
	FIELD_ESCAPE,
	FIELD_PIN,
	FIELD_EXCLUDE,
	FIELD_ROOTS,
	FIELD_DEMAND,
	FIELD_TABLES,
	FIELD_PATH_SL,
	FIELD_SL2VL,
	FIELD_LMC,
	FIELDS
};

enum kind { KIND_NUMBER, KIND_CHOICE, KIND_TEXT, KIND_FIXED };

static const struct {
	const char *name, *of; /* of: the engine that asks for it; NULL: all */
	enum kind kind;
	unsigned long long max; /* of a number */
	const char *hint;
} fields[FIELDS] = {
	[FIELD_VLS] = { "VLs", NULL, KIND_NUMBER, 15,
			"virtual lanes: a number from 1 to 15, or 0 for as many as the fabric's "
			"links offer" },
	[FIELD_SEED] = { "seed", NULL, KIND_NUMBER, UINT64_MAX,
			 "any number; the same seed gives the same routing, 0 is as preset" },
	[FIELD_THREADS] = { "threads", NULL, KIND_NUMBER, 1024,
			    "0 for one per core; never changes the result" },
	[FIELD_SPREAD] = { "spread VLs", NULL, KIND_CHOICE, 0,
			   "paths take all VLs that may be used, also where fewer are enough" },
	[FIELD_METHOD] = { "method", "sar", KIND_CHOICE, 0,
			   "leafwise starts from what is installed; paper and patch are those of "
			   "SC16" },
	[FIELD_CHANGE] = { "change %", "sar", KIND_NUMBER, 100,
			   "of the LFT blocks that leafwise may change, 1 to 100; 0 as preset: 5, "
			   "or all where other routes are far from what the jobs need" },
	[FIELD_WEIGHTS] = { "weights", "sar", KIND_NUMBER, UINT32_MAX,
			    "jobs with fewer nodes than that do not count; 0: all jobs do" },
	[FIELD_BASE] = { "paths of", "dfdn", KIND_CHOICE, 0,
			 "whose paths dfdn takes and puts on rising VLs" },
	[FIELD_ESCAPE] = { "escape LIDs", NULL, KIND_CHOICE, 0,
			   "the upper half of every host's LIDs: up*/down* on the last VL, where "
			   "traffic can go while tables are written (needs LMC 1)" },
	[FIELD_PIN] = { "pin", NULL, KIND_TEXT, 0,
			"hosts whose routes stay exactly as installed: n[0001-0016], job:81234, "
			"with commas between; for a job in a phase that must not be touched" },
	[FIELD_EXCLUDE] = { "exclude", NULL, KIND_TEXT, 0,
			    "switches and cables to route around, for maintenance: spine[1-4], "
			    "0xGUID, leaf7/33, with commas between" },
	[FIELD_ROOTS] = { "roots", "updn", KIND_TEXT, 0,
			  "a file with the GUIDs of the switches at the top, one a line; empty: "
			  "found" },
	[FIELD_DEMAND] = { "demand", "parx", KIND_TEXT, 0,
			   "a file of who sends what: lines of \"source: destination=bytes,...\"" },
	[FIELD_TABLES] = { "tables", "file", KIND_TEXT, 0,
			   "tables.ibr, opensm-lfts.dump, what ibroute or dump_lfts print, "
			   "opensm.fdbs, ibdiagnet2.fdbs, or a saved plan" },
	[FIELD_PATH_SL] = { "path SLs", "file", KIND_TEXT, 0,
			    "path-sl.dump, for tables without service levels; without it SL 0 is "
			    "taken for all" },
	[FIELD_SL2VL] = { "SL2VL", "file", KIND_TEXT, 0,
			  "opensm-sl2vl.dump or ibdm's, beside path SLs" },
	[FIELD_LMC] = { "LMC", NULL, KIND_FIXED, 0,
			"the subnet manager sets it (opensm.conf: lmc), tables cannot change it" },
};

void preview_form_open(struct preview_form *m)
{
	m->open = true;
	m->typing = false;
}

static unsigned long long preview_form_number_of(const struct preview_options *o, enum field f)
{
	return f == FIELD_VLS	    ? o->vls
	       : f == FIELD_SEED    ? o->seed
	       : f == FIELD_THREADS ? o->threads
	       : f == FIELD_WEIGHTS ? o->job_nodes_min
				    : o->change_pct;
}

static void preview_form_set_number(struct preview_options *o, enum field f, unsigned long long v)
{
	if (f == FIELD_VLS)
		o->vls = (unsigned)v;
	else if (f == FIELD_SEED)
		o->seed = v;
	else if (f == FIELD_THREADS)
		o->threads = (unsigned)v;
	else if (f == FIELD_WEIGHTS)
		o->job_nodes_min = (unsigned)v;
	else
		o->change_pct = (unsigned)v;
}

static bool preview_form_names_file(enum field f)
{
	return fields[f].kind == KIND_TEXT && f != FIELD_PIN && f != FIELD_EXCLUDE;
}

/* Where a text is kept: sizeof(o->roots), as all of them. */
static char *preview_form_text_of(struct preview_options *o, enum field f)
{
	return f == FIELD_ROOTS	    ? o->roots
	       : f == FIELD_PIN	    ? o->pin
	       : f == FIELD_TABLES  ? o->tables
	       : f == FIELD_PATH_SL ? o->path_sl
	       : f == FIELD_SL2VL   ? o->sl2vl
	       : f == FIELD_EXCLUDE ? o->exclude
				    : o->demand;
}

static const char *preview_form_base_name(enum dfdn_base b)
{
	return b == DFDN_MINHOP ? "minhop" : "sssp";
}

static void preview_form_value_text(char *buf, size_t len, struct preview_options *o, enum field f,
				    const struct state *s)
{
	static const char *const preset[] = { [FIELD_VLS] = "as the links offer",
					      [FIELD_SEED] = "as preset",
					      [FIELD_THREADS] = "one per core",
					      [FIELD_CHANGE] = "as preset",
					      [FIELD_WEIGHTS] = "all jobs",
					      [FIELD_ROOTS] = "found",
					      [FIELD_DEMAND] = "none",
					      [FIELD_TABLES] = "none",
					      [FIELD_PATH_SL] = "none",
					      [FIELD_SL2VL] = "none",
					      [FIELD_PIN] = "no hosts",
					      [FIELD_EXCLUDE] = "nothing" };
	const char *word = "";

	switch (fields[f].kind) {
	case KIND_NUMBER:
		if (preview_form_number_of(o, f)) {
			snprintf(buf, len, f == FIELD_WEIGHTS ? "jobs >= %llu nodes" : "%llu",
				 preview_form_number_of(o, f));
			return;
		}
		word = preset[f];
		break;
	case KIND_CHOICE:
		word = f == FIELD_METHOD ? sar_method_name(o->method)
		       : f == FIELD_BASE ? preview_form_base_name(o->base)
		       : (f == FIELD_SPREAD ? o->spread : o->escape) ? "yes"
								     : "no";
		break;
	case KIND_TEXT:
		word = preview_form_text_of(o, f);
		word = *word ? word : preset[f];
		break;
	case KIND_FIXED:
		if (s->fabric) {
			snprintf(buf, len, "%u (as it is)", s->fabric->lmc);
			return;
		}
		word = "-";
		break;
	}
	snprintf(buf, len, "%s", word);
}

void preview_form_draw(struct preview_form *m, struct context *ctx, const struct state *s,
		       struct canvas *c, struct rect r)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	int rows = FIELDS < r.h - 6 ? FIELDS : r.h - 6;

	canvas_rule(c, r, 0, "Options for the next preview");
	list_fit(&m->list, FIELDS, rows);
	list_draw_range(&m->list, FIELDS, c, r, 0);
	for (int y = 0; y < rows; y++) {
		enum field f = (enum field)(m->list.top + (uint32_t)y);
		char value[PATH_TEXT];

		preview_form_value_text(value, sizeof(value), &ctx->options, f, s);
		canvas_text(c, r, 1, y + 1, ROLE_LABEL, fields[f].name);
		if (fields[f].of)
			canvas_textf(c, r, 13, y + 1, ROLE_DIM, "%s", fields[f].of);
		canvas_name(c, r, 19, y + 1, r.w - 20, ROLE_TEXT, value);
		if (f == m->list.cursor)
			list_draw_cursor(c, r, y + 1);
	}
	if (m->typing)
		entry_draw(&m->entry, c, in, 1, rows + 2, fields[m->list.cursor].name);
	else
		canvas_text(c, in, 1, rows + 2, ROLE_KEY,
			    fields[m->list.cursor].kind == KIND_FIXED
				    ? "Esc: done"
				    : "Enter: change   Esc: done");
	if (m->typing && m->files.n)
		choices_draw(&m->files, c, in, rows + 3);
	else
		canvas_wrap(c, in, 1, rows + 3, ROLE_DIM, fields[m->list.cursor].hint);
}

static void preview_form_toggle(struct preview_options *o, enum field f)
{
	if (f == FIELD_METHOD)
		o->method = (o->method + 1) % (SAR_PATCH + 1);
	else if (f == FIELD_BASE)
		o->base = o->base == DFDN_SSSP ? DFDN_MINHOP : DFDN_SSSP;
	else if (f == FIELD_SPREAD)
		o->spread = !o->spread;
	else
		o->escape = !o->escape;
}

static void preview_form_change(struct preview_form *m, struct context *ctx, const struct state *s)
{
	enum field f = (enum field)m->list.cursor;
	char text[PATH_TEXT] = "";

	switch (fields[f].kind) {
	case KIND_CHOICE:
		if (f == FIELD_ESCAPE && s->fabric && !s->fabric->lmc && !ctx->options.escape)
			context_say(ctx, "escape LIDs need LMC 1 or more, this fabric has 0");
		else
			preview_form_toggle(&ctx->options, f);
		return;
	case KIND_FIXED:
		context_say(ctx, "%s: %s", fields[f].name, fields[f].hint);
		return;
	case KIND_NUMBER:
		snprintf(text, sizeof(text), "%llu", preview_form_number_of(&ctx->options, f));
		break;
	case KIND_TEXT:
		snprintf(text, sizeof(text), "%s", preview_form_text_of(&ctx->options, f));
		break;
	}
	m->typing = true;
	entry_open(&m->entry, text);
}

/* What can be told before an engine is asked. */
static int preview_form_check_text(enum field f, const char *text, const struct state *s,
				   struct err *err)
{
	struct route_limits *l = NULL;
	int rc = 0;

	if (strlen(text) >= sizeof(((struct preview_options *)0)->roots))
		return err_set(err, -EINVAL, "that is too long: %zu characters are possible",
			       sizeof(((struct preview_options *)0)->roots) - 1);
	if (f == FIELD_PIN && s->fabric)
		rc = route_limits_pin(&l, s->fabric, s->jobs, text, err);
	else if (f == FIELD_EXCLUDE && s->fabric)
		rc = route_limits_exclude(&l, s->fabric, text, err);
	route_limits_free(l);
	return rc;
}

static void preview_form_take_text(struct preview_form *m, struct context *ctx,
				   const struct state *s)
{
	enum field f = (enum field)m->list.cursor;
	struct err err = { "" };

	if (preview_form_check_text(f, m->entry.text, s, &err)) {
		context_say(ctx, "%s", err.text);
		m->typing = true;
		entry_open(&m->entry, m->entry.text);
		return;
	}
	snprintf(preview_form_text_of(&ctx->options, f), sizeof(ctx->options.roots), "%s",
		 m->entry.text);
}

static void preview_form_take(struct preview_form *m, struct context *ctx, const struct state *s)
{
	enum field f = (enum field)m->list.cursor;
	unsigned long long v;
	char *end;

	m->typing = false;
	if (fields[f].kind == KIND_TEXT) {
		preview_form_take_text(m, ctx, s);
		return;
	}
	v = strtoull(m->entry.text, &end, 10);
	if (end == m->entry.text || *end || m->entry.text[0] == '-' || v > fields[f].max) {
		context_say(ctx, "%s", fields[f].hint);
		m->typing = true;
		entry_open(&m->entry, m->entry.text);
		return;
	}
	preview_form_set_number(&ctx->options, f, v);
}

static void preview_form_typed(struct preview_form *m, struct context *ctx, const struct input *in,
			       const struct state *s)
{
	struct input enter = *in;

	if (in->req == REQ_PANE && preview_form_names_file((enum field)m->list.cursor)) {
		choices_file(&m->files, m->entry.text, sizeof(m->entry.text), s->file_names);
		return;
	}
	m->files.n = 0;
	if (in->req == REQ_PANE)
		enter.req = REQ_ENTER;
	switch (entry_input(&m->entry, &enter)) {
	case ENTRY_DONE:
		preview_form_take(m, ctx, s);
		if (in->req == REQ_PANE && !m->typing && m->list.cursor + 1 < FIELDS)
			m->list.cursor++;
		break;
	case ENTRY_LEFT:
		m->typing = false;
		break;
	default:
		break;
	}
}

bool preview_form_input(struct preview_form *m, struct context *ctx, const struct input *in,
			const struct state *s)
{
	if (m->typing) {
		preview_form_typed(m, ctx, in, s);
		return true;
	}
	if (list_move(&m->list, in->req, FIELDS))
		return true;
	switch (in->req) {
	case REQ_ENTER:
	case REQ_SELECT:
		preview_form_change(m, ctx, s);
		return true;
	case REQ_OPTIONS:
	case REQ_BACK:
		m->open = false;
		return true;
	case REQ_VIEW:
	case REQ_HELP:
		m->open = false;
		return false;
	default:
		return false;
	}
}
