/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/batch/batch_opts.h"

#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/thresholds.h"
#include "fabric/base/memory/mem.h"
#include "views/prompt/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_BATCH_JSON = 860,
	OPT_JSONL,
	OPT_PROM,
	OPT_VIEW,
	OPT_TOP,
	OPT_THRESHOLDS,
	OPT_SCREEN,
	OPT_SIZE,
	OPT_MARK,
	OPT_PROM_GROUPS
};

static const struct argp_option rows[] = {
	{ "batch", 'b', NULL, 0, "print text tables", 0 },
	{ "json", OPT_BATCH_JSON, NULL, 0, "print one JSON object per record (default: 1 record)",
	  0 },
	{ "jsonl", OPT_JSONL, NULL, 0, "the same, one line per record (default: until stopped)",
	  0 },
	{ "prom", OPT_PROM, NULL, 0, "print Prometheus text (default: 1 record)", 0 },
	{ "prom-file", CMDLINE_KEY(struct batch_opts, prom_file), "FILE", 0,
	  "write Prometheus text to a file, which is replaced atomically", 0 },
	{ "prom-listen", CMDLINE_KEY(struct batch_opts, prom_listen), "[ADDRESS:]PORT", 0,
	  "serve Prometheus text at /metrics (default address: 127.0.0.1), compressed for those who "
	  "take gzip",
	  0 },
	{ "prom-groups", OPT_PROM_GROUPS, "LIST", 0,
	  "which metrics beside those of the whole fabric: tiers, jobs, ports, errors, updates, or none "
	  "(default: all); ports are most of them",
	  0 },
	{ "prom-nameless", CMDLINE_KEY(struct batch_opts, prom_nameless), NULL, 0,
	  "metrics of jobs have the id of the job only, not its name and user", 0 },
	{ "iterations", 'n', "N", 0, "stop after N records", 0 },
	{ "view", OPT_VIEW, "VIEW", 0,
	  "overview (default), links, ports, switches, jobs, tiers, events, heatmap, history (the "
	  "samples of a snapshot), activity (baselines, updates and records that the collector "
	  "keeps), or a view saved by ':view save NAME', whose filter, columns, order, layout and metric "
	  "hold unless others are said; without a fabric: sessions, actions",
	  0 },
	{ "at", CMDLINE_KEY(struct batch_opts, at), "WHEN", 0,
	  "a moment that the collector has kept: 03:10, -90m, 2026-11-20T03:10; with --load: an earlier sample, by bookmark, as -N (N samples back), or the newest one "
	  "before a time such as 2026-11-20T23:19:51Z or @1795216791; with a file of --jobs, those "
	  "that ran at that time",
	  0 },
	{ "against", CMDLINE_KEY(struct batch_opts, against), "TIME", 0,
	  "fields util_then_pct, util_change_pct, wait_then_pct, wait_change_pct (of jobs tx_then_Bps, "
	  "tx_change_Bps, too) hold rates against those of another moment, of a snapshot or of the collector",
	  0 },
	{ "mark", OPT_MARK, "NAME", 0, "with --save: set this bookmark at the sample", 0 },
	{ "session", CMDLINE_KEY(struct batch_opts, session), "SID", 0,
	  "with --view actions: the recorded session (default: the newest)", 0 },
	{ "sort", CMDLINE_KEY(struct batch_opts, sort_text), "[-]FIELD", 0,
	  "sort key: numbers descending, text ascending; a leading - reverses the order", 0 },
	{ "filter", CMDLINE_KEY(struct batch_opts, filter_text), "EXPRESSION", 0,
	  "only matching rows, such as 'util>80 not (spine or state=down)'; see FILTERS in "
	  "ibroute-top(1)",
	  0 },
	{ "fields", CMDLINE_KEY(struct batch_opts, fields_text), "NAME,...", 0,
	  "fields to print; +NAME adds to the default ones; 'all' prints all, 'help' lists them",
	  0 },
	{ "top", OPT_TOP, "N", 0, "print at most N rows", 0 },
	{ "metric", CMDLINE_KEY(struct batch_opts, metric_text), "FIELD", 0,
	  "with --view heatmap: a numeric field of links (default: util)", 0 },
	{ "layout", CMDLINE_KEY(struct batch_opts, layout), "NAME", 0,
	  "with --view heatmap: the layout, by a word of its title", 0 },
	{ "threshold-file", OPT_THRESHOLDS, "FILE", 0,
	  "only ports with an error counter above its limit; the file is that of ibqueryerrors, "
	  "/etc/infiniband-diags/error_thresholds; with --check, exit with 1 if there are any",
	  0 },
	{ "down", CMDLINE_KEY(struct batch_opts, down), NULL, 0,
	  "with --view heatmap: show the opposite direction", 0 },
	{ "screen", OPT_SCREEN, "VIEW", 0,
	  "print a view, or all, as on a screen of --size, after running --do", 0 },
	{ "size", OPT_SIZE, "WxH", 0, "size for --screen, in columns and lines (default: 100x30)",
	  0 },
	{ "do", CMDLINE_KEY(struct batch_opts, commands), "COMMANDS", 0,
	  "with --screen: first run these commands of the console's command line, separated by ; "
	  "such as 'metric efi; layout rack'",
	  0 },
	{ "check", CMDLINE_KEY(struct batch_opts, check), NULL, 0,
	  "exit with 1 if a row matches the filter; without a filter: if a port has a problem, "
	  "the routing is faulty, nodes are missing, something is not as in the baseline (see "
	  "'baseline --help'), or error counters rose since the last run. These two are reported on "
	  "stderr",
	  0 },
	{ "diff", CMDLINE_KEY(struct batch_opts, diff), "FILE", 0,
	  "print what has changed since this dump (or folder of --save): switches, hosts, cables, "
	  "LIDs, names, speeds; exit with 1 if anything has. As text, or with --json",
	  0 },
	{ "save", CMDLINE_KEY(struct batch_opts, save), "DIR", 0,
	  "save the newest record as a snapshot for --load, in a new folder", 0 },
	{ 0 },
};

const char *batch_view_name(enum row_kind kind)
{
	return kind == BATCH_OVERVIEW	? "overview"
	       : kind == BATCH_HEATMAP	? "heatmap"
	       : kind == BATCH_HISTORY	? "history"
	       : kind == BATCH_ACTIVITY ? "activity"
					: row_kind_name(kind);
}

/* Of those that were saved; false: it is none, which err tells. */
static bool batch_opts_take_saved(struct batch_opts *o, const char *name, struct argp_state *s,
				  struct err *err)
{
	const struct saved_view *v = &o->saved.view;

	if (batch_saved_find(&o->saved, name, err))
		return false;
	o->kind = v->view == VIEW_OVERVIEW  ? BATCH_OVERVIEW
		  : v->view == VIEW_HEATMAP ? BATCH_HEATMAP
					    : saved_view_rows(v->view);
	if ((o->kind == ROW_KINDS && v->view != VIEW_OVERVIEW) ||
	    (v->choice.metric[0] && !o->saved.metric))
		argp_error(
			s,
			"--view: '%s' is not a table or a matrix of numbers: --screen %s prints it",
			name, name);
	return true;
}

static void batch_opts_take_view(struct batch_opts *o, const char *arg, struct argp_state *s)
{
	struct err err = { "" };

	o->viewed = true;
	o->saved.view.name[0] = '\0';
	o->kind = !strcmp(arg, "heatmap")    ? BATCH_HEATMAP
		  : !strcmp(arg, "history")  ? BATCH_HISTORY
		  : !strcmp(arg, "activity") ? BATCH_ACTIVITY
					     : row_kind_find(arg);
	if (o->kind == ROW_KINDS && strcmp(arg, "overview") != 0 &&
	    !batch_opts_take_saved(o, arg, s, &err))
		argp_error(s,
			   "--view: '%s' is not one of overview, links, ports, switches, jobs, "
			   "tiers, events, heatmap, history, activity, sessions, actions; %s",
			   arg, err.text);
	if (o->kind == ROWS_FAILURES)
		argp_error(s, "--view: ibroute-top weak prints what failures would cost");
	if (o->kind == ROWS_CELLS || o->kind == ROWS_ROUTINGS)
		argp_error(s, "--view: the folder of a campaign has these as .csv and .jsonl");
}

static void batch_opts_take_form(struct batch_opts *o, enum batch_form form, struct argp_state *s)
{
	if (o->formed && o->form != form)
		argp_error(s, "only one of -b, --json, --jsonl, --prom and --screen can be used");
	o->on = o->formed = true;
	o->form = form;
}

/* --- fields ------------------------------------------------------------------------------ */

static void batch_opts_list_fields(enum row_kind kind)
{
	size_t n;
	const struct field *f = fields_of(kind, &n);

	printf("%s:\n", row_kind_name(kind));
	for (size_t i = 0; i < n; i++)
		printf("  %c %-16s %-8s %s\n", f[i].usual ? '*' : ' ', f[i].name,
		       f[i].alias ? f[i].alias : "", f[i].about);
}

static void batch_opts_help_fields(const struct batch_opts *o)
{
	puts("Fields, with the short name that filters and --sort also accept; * printed by "
	     "default.");
	for (enum row_kind k = 0; k < ROWS_FAILURES; k++)
		if (o->kind == BATCH_OVERVIEW || o->kind == k)
			batch_opts_list_fields(k);
	exit(EXIT_OK);
}

static void batch_opts_add_field(struct batch_opts *o, const struct field *f)
{
	for (size_t i = 0; i < o->nfield; i++)
		if (o->field[i] == f)
			return;
	if (o->nfield < BATCH_FIELDS)
		o->field[o->nfield++] = f;
}

static void batch_opts_add_fields(struct batch_opts *o, bool all)
{
	size_t n;
	const struct field *f = fields_of(o->kind, &n);

	for (size_t i = 0; i < n; i++)
		if (all || f[i].usual)
			batch_opts_add_field(o, &f[i]);
	o->noted |= all;
}

static const struct field *batch_opts_need_field(const struct batch_opts *o, const char *name,
						 size_t len, const char *option,
						 struct argp_state *s)
{
	const struct field *f = field_find(o->kind, name, len);
	const char *near = f ? NULL : field_guess(o->kind, name, len);

	if (!f)
		argp_error(s, "%s: %s have no field '%.*s'%s%s%s; --fields help lists them", option,
			   row_kind_name(o->kind), (int)(len < 60 ? len : 60), name,
			   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
	return f;
}

static void batch_opts_add_named(struct batch_opts *o, const char *name, size_t len,
				 struct argp_state *s)
{
	const struct field *f = batch_opts_need_field(o, name, len, "--fields", s);

	batch_opts_add_field(o, f);
	o->noted |= f && !strcmp(f->name, "note");
}

static void batch_opts_take_fields(struct batch_opts *o, struct argp_state *s)
{
	const char *at = o->fields_text;

	if (at && !*at)
		batch_opts_need_field(o, at, 0, "--fields", s);
	if (!at || *at == '+')
		batch_opts_add_fields(o, false);
	for (; at && *at; at += *at == ',') {
		size_t n;

		at += *at == '+';
		n = strcspn(at, ",");
		if (n == 3 && !strncmp(at, "all", 3))
			batch_opts_add_fields(o, true);
		else
			batch_opts_add_named(o, at, n, s);
		at += n;
	}
}

/* --- together ---------------------------------------------------------------------------- */

static void batch_opts_take_table(struct batch_opts *o, struct argp_state *s)
{
	bool table = o->kind < ROW_KINDS;
	const char *sort = o->sort_text;
	struct err err = { "" };

	if (o->fields_text && !strcmp(o->fields_text, "help"))
		batch_opts_help_fields(o);
	if (o->form == BATCH_SCREEN && o->formed && (o->viewed || o->filter_text))
		argp_error(s, "--view, --filter, --sort and --fields cannot be used with "
			      "--screen; filter with --do 'filter util>80'");
	if (o->form == BATCH_PROM && o->formed && (o->viewed || sort || o->fields_text || o->top))
		argp_error(s, "--prom prints everything; only --filter, for ports, can be used "
			      "with it");
	if (!table && (sort || o->fields_text || o->top ||
		       (o->filter_text && o->formed && o->form != BATCH_PROM)))
		argp_error(s, "--sort, --filter, --fields and --top need a --view with rows, such "
			      "as --view links");
	if (table)
		batch_opts_take_fields(o, s);
	if (sort) {
		o->reverse = *sort == '-';
		sort += *sort == '-' || *sort == '+';
		o->sort = batch_opts_need_field(o, sort, strlen(sort), "--sort", s);
	}
	if (o->filter_text &&
	    row_filter_new(&o->filter, table ? o->kind : ROWS_PORTS, o->filter_text, NULL, &err))
		argp_error(s, "--filter '%s': %s", o->filter_text, err.text);
}

static void batch_opts_take_heatmap(struct batch_opts *o, struct argp_state *s)
{
	const char *name = o->metric_text ? o->metric_text : "util_pct";

	if (o->kind != BATCH_HEATMAP) {
		if (o->metric_text || o->layout || o->down)
			argp_error(s, "--metric, --layout and --down need --view heatmap");
		return;
	}
	o->metric = field_find(ROWS_LINKS, name, strlen(name));
	if (!o->metric || o->metric->kind == VALUE_TEXT || o->metric->kind == VALUE_GUID)
		argp_error(s,
			   "--metric: '%s' is not a numeric field of links; --view links --fields "
			   "help lists them",
			   name);
}

static void batch_opts_take_screen(struct batch_opts *o, const char *arg, struct argp_state *s)
{
	struct err err = { "" };

	batch_opts_take_form(o, BATCH_SCREEN, s);
	o->saved.view.name[0] = '\0';
	o->screen = command_view(arg);
	if (o->screen != VIEW_COUNT)
		return;
	if (batch_saved_find(&o->saved, arg, &err))
		argp_error(s, "--screen: unknown view '%s'; %s", arg, err.text);
	o->screen = o->saved.view.view;
}

static void batch_opts_take_thresholds(struct batch_opts *o, const char *path, struct argp_state *s)
{
	struct err err = { "" };

	free(o->threshold_text);
	if (thresholds_filter(&o->threshold_text, o->error_limits, path, &err))
		argp_failure(s, EXIT_UNREADABLE, 0, "%s", err.text);
	if (o->filter_text)
		argp_error(s, "--threshold-file and --filter cannot be used together");
	o->filter_text = o->threshold_text;
	if (!o->viewed)
		batch_opts_take_view(o, "ports", s);
}

static void batch_opts_take_size(struct batch_opts *o, const char *arg, struct argp_state *s)
{
	char after;

	if (sscanf(arg, "%ux%u%c", &o->screen_w, &o->screen_h, &after) != 2 || o->screen_w < 80 ||
	    o->screen_w > 1000 || o->screen_h < 24 || o->screen_h > 1000)
		argp_error(s, "--size: '%s' is not of the form 100x30, from 80x24 to 1000x1000",
			   arg);
}

/* Errors of syntax only; errors in values are shown on the screen. */
static void batch_opts_check_commands(const char *text, struct argp_state *s)
{
	for (; *text; text += *text == ';') {
		size_t n, name;
		const struct command *c;

		text += strspn(text, " :");
		n = strcspn(text, ";");
		name = strcspn(text, " ;");
		c = name ? command_find(text, name) : NULL;
		if (name && !c)
			argp_error(s, "--do: unknown or ambiguous command '%.*s'", (int)name, text);
		else if (c && c->needed && strspn(text + name, " ") == n - name)
			argp_error(s, "--do: %s %s: %s", c->name, c->args, c->help);
		else if (c && c->arg == ARG_NONE && strspn(text + name, " ") != n - name)
			argp_error(s, "--do: '%s' takes no argument", c->name);
		text += n;
	}
}

/* What was not said beside it. */
static void batch_opts_fill_saved(struct batch_opts *o)
{
	const struct batch_saved *v = &o->saved;

	if (!v->view.name[0] || o->form == BATCH_SCREEN)
		return;
	if (!o->filter_text && v->filter[0])
		o->filter_text = v->filter;
	if (!o->fields_text && v->fields[0])
		o->fields_text = v->fields;
	if (!o->sort_text && v->sort[0])
		o->sort_text = v->sort;
	if (!o->layout && v->view.choice.layout[0])
		o->layout = v->view.choice.layout;
	if (!o->metric_text)
		o->metric_text = v->metric;
}

static void batch_opts_take_all(struct batch_opts *o, struct argp_state *s)
{
	bool alone = o->diff || o->prom_file || o->prom_listen || o->save || o->check;
	bool any = o->counted || o->viewed || o->sort_text || o->filter_text || o->fields_text ||
		   o->top || o->metric_text || o->layout || o->commands || o->mark;

	if (alone)
		o->on = true;
	if (o->fields_text && !strcmp(o->fields_text, "help"))
		batch_opts_help_fields(o);
	if (any && !o->on)
		argp_error(s, "--view, --sort, --filter, --fields, --top and -n need -b, --json, "
			      "--jsonl, --prom or --check");
	if (!o->on)
		return;
	batch_opts_fill_saved(o);
	if (o->diff && (o->viewed || o->sort_text || o->filter_text || o->fields_text || o->top ||
			o->counted || o->check || o->prom_file || o->prom_listen || o->save ||
			o->form == BATCH_PROM || o->form == BATCH_SCREEN))
		argp_error(s, "--diff can be used with -b, --json or --jsonl only");
	batch_opts_take_table(o, s);
	if (o->commands && o->form != BATCH_SCREEN)
		argp_error(s, "--do needs --screen");
	if (o->commands)
		batch_opts_check_commands(o->commands, s);
	if ((o->prom_groups || o->prom_nameless) && o->form != BATCH_PROM && !o->prom_file &&
	    !o->prom_listen)
		argp_error(s, "--prom-groups and --prom-nameless need --prom, --prom-file or "
			      "--prom-listen");
	if (o->mark && !o->save)
		argp_error(s, "--mark needs --save: bookmarks are stored in snapshots");
	if (o->session && o->kind != ROWS_ACTIONS)
		argp_error(s, "--session needs --view actions");
	if (batch_opts_of_records(o) && (o->save || o->prom_file || o->prom_listen))
		argp_error(s, "--save and --prom-... need a fabric: they cannot be used with "
			      "records");
	batch_opts_take_heatmap(o, s);
	if (!o->counted) /* streams end with their reader, documents after one record */
		o->count = (o->formed && (o->form == BATCH_TEXT || o->form == BATCH_JSONL)) ||
					   o->prom_file || o->prom_listen
				   ? 0
				   : 1;
	if (o->check && !o->counted)
		o->count = 1;
}

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_TOP, struct batch_opts, top, "--top", 0, 1000000000),
	{ 0 },
};

static void batch_opts_take_groups(struct batch_opts *o, const char *arg, struct argp_state *s)
{
	static const char *const names[] = {
		"tiers", "jobs", "ports", "errors", "updates", "none"
	};
	const size_t n = sizeof(names) / sizeof(*names);
	char *copy = xstrdup(arg), *rest = copy, *word;

	while ((word = strsep(&rest, ","))) {
		size_t k = 0;

		while (k < n && strcmp(word, names[k]))
			k++;
		if (k == n)
			argp_error(
				s,
				"--prom-groups: '%s' is not one of tiers, jobs, ports, errors, updates, none",
				word);
		o->prom_groups |= 1u << k;
	}
	free(copy);
}

static error_t batch_opts_take(int key, char *arg, struct argp_state *s)
{
	struct batch_opts *o = s->input;

	switch (key) {
	case 'b':
		batch_opts_take_form(o, BATCH_TEXT, s);
		return 0;
	case OPT_THRESHOLDS:
		batch_opts_take_thresholds(o, arg, s);
		return 0;
	case OPT_BATCH_JSON:
		batch_opts_take_form(o, BATCH_JSON, s);
		return 0;
	case OPT_JSONL:
		batch_opts_take_form(o, BATCH_JSONL, s);
		return 0;
	case OPT_PROM:
		batch_opts_take_form(o, BATCH_PROM, s);
		return 0;
	case 'n':
		o->count = (unsigned)cmdline_count(s, "--iterations", arg, 0, 1000000000);
		o->counted = true;
		return 0;
	case OPT_VIEW:
		batch_opts_take_view(o, arg, s);
		return 0;
	case OPT_SCREEN:
		batch_opts_take_screen(o, arg, s);
		return 0;
	case OPT_SIZE:
		batch_opts_take_size(o, arg, s);
		return 0;
	case OPT_PROM_GROUPS:
		batch_opts_take_groups(o, arg, s);
		return 0;
	case OPT_MARK:
		o->mark = arg;
		o->set_mark.type = REQ_BOOKMARK;
		snprintf(o->set_mark.text, sizeof(o->set_mark.text), "%s", arg);
		return 0;
	case ARGP_KEY_END:
		batch_opts_take_all(o, s);
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, s);
	}
}

const struct argp batch_argp = { .options = rows, .parser = batch_opts_take };

void batch_opts_init(struct batch_opts *o)
{
	*o = (struct batch_opts){ .kind = BATCH_OVERVIEW, .screen_w = 100, .screen_h = 30 };
	memcpy(o->error_limits, error_limits_default, sizeof(o->error_limits));
}

bool batch_opts_metrics(const struct batch_opts *o)
{
	return o->on && (o->form == BATCH_PROM || o->prom_file || o->prom_listen);
}

bool batch_opts_of_records(const struct batch_opts *o)
{
	return o->on && (o->kind == ROWS_SESSIONS || o->kind == ROWS_ACTIONS);
}

/* Rows of ports and links know field by field; a check without a filter looks at everything. */
static bool batch_opts_of_fields(const struct batch_opts *o)
{
	return (o->kind == ROWS_PORTS || o->kind == ROWS_LINKS) && !o->prom_file &&
	       !o->prom_listen && !o->save && o->form != BATCH_PROM && o->form != BATCH_SCREEN &&
	       (!o->check || o->filter);
}

unsigned batch_opts_need(const struct batch_opts *o)
{
	unsigned needs = NEED_FABRIC | row_filter_needs(o->filter);

	if (!o->on || (!o->diff && !batch_opts_of_fields(o)))
		return NEED_ALL;
	if (o->diff)
		return NEED_FABRIC;
	for (size_t i = 0; i < o->nfield && o->formed; i++)
		needs |= o->field[i]->needs;
	if (o->sort)
		needs |= o->sort->needs;
	if (o->count != 1) /* each reading is a record */
		needs |= NEED_ERRORS;
	return needs;
}
