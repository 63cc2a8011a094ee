/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/options.h"

#include "console/lib/cmdline.h"
#include "console/lib/output_file.h"
#include "console/lib/param_check.h"
#include "console/plan/route_report.h"
#include "fabric/base/mem.h"
#include "fabric/format/native/limits_text.h"
#include "fabric/format/native/pin_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_init(struct options *o)
{
	*o = (struct options){ .lmc = -1,
			       .predict = true,
			       .pattern = PREDICT_ALLTOALL,
			       .bisections = -1,
			       .formats = FORMAT_OPENSM };
	param_defaults(&o->params);
}

void options_eval(struct route_report_opts *out, const struct options *o)
{
	*out = (struct route_report_opts){
		.terminals_only = o->terminals_only,
		.bisections = o->bisections,
		.seed = o->params.seed,
		.jobs = o->predict,
		.pattern = o->pattern,
		.threads = o->params.threads,
		.all_lids = o->all_lids,
	};
}

int options_limits(struct route_limits **out, const struct options *o, const struct fabric *f,
		   const struct jobset *jobs, struct err *err)
{
	int rc = 0;

	*out = NULL;
	if (o->text[PARAM_EXCLUDE])
		rc = route_limits_exclude(out, f, o->text[PARAM_EXCLUDE], err);
	if (!rc && o->text[PARAM_PIN])
		rc = route_limits_pin(out, f, jobs, o->text[PARAM_PIN], err);
	return rc;
}

static unsigned options_formats(char *arg, const struct argp_state *state)
{
	static const struct {
		const char *word;
		unsigned bits;
	} words[] = { { "opensm", FORMAT_OPENSM },
		      { "ibdm", FORMAT_IBDM },
		      { "path-sl", FORMAT_PATH_SL },
		      { "ibr", FORMAT_IBR } };
	unsigned bits = 0;
	char *word;

	while ((word = strsep(&arg, ","))) {
		unsigned one = 0;

		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (!strcmp(words[i].word, word))
				one = words[i].bits;
		if (!one)
			argp_error(state,
				   "--formats: unknown format \"%s\"; opensm, ibdm, path-sl and "
				   "ibr are allowed, separated by commas",
				   word);
		bits |= one;
	}
	return bits;
}

/* A text that may be given once. */
static error_t options_once(const char **to, const char *arg, const char *option,
			    const struct argp_state *state)
{
	if (*to)
		argp_error(state,
			   "--%s: given twice, or together with another file for the same "
			   "tables",
			   option);
	if (!*arg)
		argp_error(state, "--%s: a name is missing", option);
	*to = arg;
	return 0;
}

static error_t options_take_text(struct options *o, int key, char *arg,
				 const struct argp_state *state)
{
	switch (key) {
	case OPT_TOPOLOGY:
		return options_once(&o->topology, arg, "topology", state);
	case OPT_NAME_MAP:
		return options_once(&o->name_map, arg, "node-name-map", state);
	case OPT_ENGINE:
		return options_once(&o->engine, arg, "engine", state);
	case OPT_ENGINES:
		return options_once(&o->engine, arg, "engines", state);
	case OPT_LID_CHOICE:
		return options_once(&o->lid_choice, arg, "lid-choice", state);
	case OPT_OUT:
		return options_once(&o->out, arg, "out", state);
	case OPT_LFTS:
		return options_once(&o->lfts, arg, "lfts", state);
	case OPT_FDBS:
		return options_once(&o->lfts, arg, "fdbs", state);
	case OPT_TABLES:
		return options_once(&o->lfts, arg, "tables", state);
	case OPT_PATH_SL:
		return options_once(&o->path_sl, arg, "path-sl", state);
	case OPT_SL2VL:
		return options_once(&o->sl2vl, arg, "sl2vl", state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

uint64_t options_number(enum param_id id, const char *option, const char *arg,
			const struct argp_state *state)
{
	struct err err;
	uint64_t v;

	if (param_number(&v, param_of(id), arg, &err))
		argp_error(state, "%s: %s", option, err.text);
	return v;
}

/* A flag has no argument. */
static error_t options_take_param(struct options *o, const struct param *p, const char *arg,
				  const struct argp_state *state)
{
	char option[40];
	struct err err;

	snprintf(option, sizeof(option), "--%s", p->option);
	if (p->type == PARAM_LIST && param_check(p, arg, &err))
		argp_error(state, "--%s", err.text);
	if (p->id < PARAM_TEXTS)
		return options_once(&o->text[p->id], arg, p->option, state);
	if (p->id == PARAM_LMC)
		o->lmc = (int)options_number(p->id, option, arg, state);
	else if (param_set(&o->params, p, arg ? arg : "yes", &err))
		argp_error(state, "%s: %s", option, err.text);
	return 0;
}

static error_t options_take_pattern(struct options *o, const char *arg,
				    const struct argp_state *state)
{
	struct err err;

	o->predict = strcmp(arg, "none");
	if (o->predict && predict_pattern_parse(&o->pattern, arg, &err))
		argp_error(state, "--pattern: %s", err.text);
	return 0;
}

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_FOLD_VLS, struct options, fold_vls, "--fold-vls", 1, 15),
	CMDLINE_FIELD(OPT_TIME_MS, struct options, time_ms, "--time-ms", 1, 1000000),
	CMDLINE_FIELD(OPT_BISECTIONS, struct options, bisections, "--bisections", 0, 1000000),
	CMDLINE_FIELD(OPT_ALL_LIDS, struct options, all_lids),
	CMDLINE_FIELD(OPT_PER_JOB, struct options, per_job),
	CMDLINE_FIELD(OPT_TERMINALS_ONLY, struct options, terminals_only),
	CMDLINE_FIELD(OPT_JSON, struct options, json),
	{ 0 },
};

error_t options_take(struct options *o, int key, char *arg, struct argp_state *state)
{
	if (key >= OPT_PARAM && key < OPT_PARAM + PARAM_IDS)
		return options_take_param(o, param_of((enum param_id)(key - OPT_PARAM)), arg,
					  state);
	switch (key) {
	case OPT_FORMATS:
		o->formats = options_formats(arg, state);
		return 0;
	case OPT_PATTERN:
		return options_take_pattern(o, arg, state);
	case ARGP_KEY_ARG:
		if (o->topology)
			argp_error(state, "unexpected argument \"%s\"", arg);
		else
			argp_error(state,
				   "unexpected argument \"%s\"; a fabric is given as --topology=%s",
				   arg, arg);
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, state)
			       ? options_take_text(o, key, arg, state)
			       : 0;
	}
}

void options_need(const char *text, const char *option, struct argp_state *state)
{
	if (!text)
		argp_error(state, "--%s is needed", option);
}

/* What only one engine uses says so. */
static char *options_help(const struct param *p)
{
	return xasprintf("%s%s%s%s", p->engine ? "for " : "", p->engine ? p->engine : "",
			 p->engine ? ": " : "", p->help);
}

static bool options_is_param(const struct argp_option *row)
{
	return !row->name && row->key >= OPT_PARAM && row->key < OPT_PARAM + PARAM_IDS;
}

static size_t options_rows(const struct argp_option *table)
{
	size_t n = 0;

	while (table[n].key || table[n].name || table[n].doc || table[n].group)
		n++;
	return n;
}

static struct argp_option *options_table(const struct argp_option *from)
{
	size_t n = options_rows(from) + 1;
	struct argp_option *table = xcalloc(n, sizeof(*table));

	for (size_t i = 0; i < n; i++) {
		const struct param *p;

		table[i] = from[i];
		if (!options_is_param(&from[i]))
			continue;
		p = param_of((enum param_id)(from[i].key - OPT_PARAM));
		table[i].name = p->option;
		table[i].arg = p->arg;
		table[i].doc = options_help(p);
	}
	return table;
}

static void options_free_table(struct argp_option *table, const struct argp_option *from)
{
	for (size_t i = 0, n = options_rows(from); i < n; i++)
		if (options_is_param(&from[i]))
			free((char *)(uintptr_t)table[i].doc);
	free(table);
}

int options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	struct argp_option *table = options_table(argp->options);
	struct argp filled = *argp;
	int rc;

	filled.options = table;
	rc = cmdline_parse(&filled, argc, argv, input);
	options_free_table(table, argp->options);
	return rc;
}

int options_run(int argc, char **argv, const struct argp *argp,
		int (*work)(const struct options *o, struct err *err))
{
	struct options o;
	struct err err = { "" };
	int rc;

	options_init(&o);
	options_parse(argp, argc, argv, &o);
	output_file_guard_signals();
	rc = work(&o, &err);
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc;
}
