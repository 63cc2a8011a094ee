/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/options.h"

#include "console/config/cmdline.h"
#include "console/config/param_check.h"
#include "console/io/output_file.h"
#include "console/plan/route_report.h"
#include "fabric/base/time/when.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_init(struct options *o)
{
	*o = (struct options){ .lmc = -1,
			       .predict = true,
			       .pattern = PREDICT_ALLTOALL,
			       .moment = { .seed = 1 },
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
		.bound_work = LENGTH_WORK,
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
		      { "ibr", FORMAT_IBR },
		      { "mpi", FORMAT_MPI } };
	unsigned bits = 0;
	char *word;

	while ((word = strsep(&arg, ","))) {
		unsigned one = 0;

		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (!strcmp(words[i].word, word))
				one = words[i].bits;
		if (!one)
			argp_error(state,
				   "--formats: unknown format \"%s\"; opensm, ibdm, path-sl, "
				   "ibr and mpi are allowed, separated by commas",
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

/* With their names. */
static const struct cmdline_field texts[] = {
	CMDLINE_FIELD(OPT_TOPOLOGY, struct options, topology, "topology"),
	CMDLINE_FIELD(OPT_NAME_MAP, struct options, name_map, "node-name-map"),
	CMDLINE_FIELD(OPT_ENGINE, struct options, engine, "engine"),
	CMDLINE_FIELD(OPT_ENGINES, struct options, engine, "engines"),
	CMDLINE_FIELD(OPT_LID_CHOICE, struct options, lid_choice, "lid-choice"),
	CMDLINE_FIELD(OPT_OUT, struct options, out, "out"),
	CMDLINE_FIELD(OPT_LFTS, struct options, lfts, "lfts"),
	CMDLINE_FIELD(OPT_FDBS, struct options, lfts, "fdbs"),
	CMDLINE_FIELD(OPT_TABLES, struct options, lfts, "tables"),
	CMDLINE_FIELD(OPT_PATH_SL, struct options, path_sl, "path-sl"),
	CMDLINE_FIELD(OPT_SL2VL, struct options, sl2vl, "sl2vl"),
	CMDLINE_FIELD(OPT_MFTS, struct options, mfts, "mfts"),
	CMDLINE_FIELD(OPT_PARTITIONS, struct options, partitions, "partitions"),
	CMDLINE_FIELD(OPT_PROTOCOL, struct options, protocol, "protocol"),
	CMDLINE_FIELD(OPT_BUFFERS, struct options, buffers, "buffers"),
	{ 0 },
};

static error_t options_take_text(struct options *o, int key, const char *arg,
				 const struct argp_state *state)
{
	const struct cmdline_field *f = texts;

	while (f->key && f->key != key)
		f++;
	return f->key ? options_once((const char **)((char *)o + f->at), arg, f->what, state)
		      : ARGP_ERR_UNKNOWN;
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

	o->predict = o->pattern_said = strcmp(arg, "none");
	if (o->predict && predict_pattern_parse(&o->pattern, arg, &err))
		argp_error(state, "--pattern: %s", err.text);
	return 0;
}

static error_t options_take_moment(struct jobs_moment *m, int key, const char *arg,
				   const struct argp_state *state)
{
	struct err err;
	int64_t span_s;

	if (key == OPT_AT) {
		if (!when_parse(&m->at_s, arg, NULL))
			argp_error(state,
				   "--at: '%s' is not a time such as 2026-11-20T10:00:00, "
				   "2026-11-20T10:00:00Z or @1795168800",
				   arg);
		m->at_said = true;
	} else if (key == OPT_SINCE) {
		if (!when_parse_span(&span_s, arg))
			argp_error(state, "--since: '%s' is not a time such as 30d, 12h, 90m", arg);
		m->since = arg;
	} else {
		if (placement_parse(&m->placement, arg, &err))
			argp_error(state, "--placement: %s", err.text);
		m->placement_said = true;
	}
	return 0;
}

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_FOLD_VLS, struct options, fold_vls, "--fold-vls", 1, 15),
	CMDLINE_FIELD(OPT_TIME_MS, struct options, time_ms, "--time-ms", 1, 1000000),
	CMDLINE_FIELD(OPT_MESSAGE_KIB, struct options, message_KiB, "--message-kib", 1, 1048576),
	CMDLINE_FIELD(OPT_BISECTIONS, struct options, bisections, "--bisections", 0, 1000000),
	CMDLINE_FIELD(OPT_ALL_LIDS, struct options, all_lids),
	CMDLINE_FIELD(OPT_PER_JOB, struct options, per_job),
	CMDLINE_FIELD(OPT_TERMINALS_ONLY, struct options, terminals_only),
	CMDLINE_FIELD(OPT_JSON, struct options, json),
	CMDLINE_FIELD(OPT_STRICT, struct options, strict),
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
	case OPT_AT:
	case OPT_SINCE:
	case OPT_PLACEMENT:
		return options_take_moment(&o->moment, key, arg, state);
	case OPT_ADAPTIVE:
		if (!adaptive_parse(&o->adaptive, arg))
			argp_error(state, "--adaptive-routing: '%s' is not one of auto, yes, no",
				   arg);
		return 0;
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

static const struct argp_option shared[] = {
	{ "topology", OPT_TOPOLOGY, "FILE", 0,
	  "the fabric: ibnetdiscover output or cache, ibsim net, opensm-subnet.lst, ibdiagnet2.db_csv, netloc nodes, a "
	  "specification as for \"topo\", or - for stdin",
	  0 },
	{ "strict", OPT_STRICT, NULL, 0,
	  "refuse a topology file that is damaged or truncated (default: load what is in it, with a "
	  "warning for each gap)",
	  0 },
	{ "node-name-map", OPT_NAME_MAP, "FILE", 0, "names for nodes: lines of <guid> \"<name>\"",
	  0 },
	{ "adaptive-routing", OPT_ADAPTIVE, "yes|no", 0,
	  "declare whether switches choose among ports for each packet; metrics and checks of tables "
	  "then describe only part of what packets do (default: not known of files)",
	  0 },
	{ "at", OPT_AT, "TIME", 0,
	  "of a history of jobs (sacct -P, jobcomp/filetxt, jobid,start,end,nodelist, Standard "
	  "Workload Format) those that ran then: 2026-11-20T10:00:00 (time zone of this machine), "
	  "the same with Z or +01:00, or @ and Unix seconds",
	  0 },
	{ "since", OPT_SINCE, "SPAN", 0,
	  "with --jobs slurm: the history is what sacct says of the last 30d, 12h, 90m", 0 },
	{ "placement", OPT_PLACEMENT, "POLICY", 0,
	  "nodes for jobs of a history that does not say which (Standard Workload Format): first-fit "
	  "(default), scattered or topology",
	  0 },
	{ "bisections", OPT_BISECTIONS, "N", 0,
	  "number of random bisections for the effective bisection bandwidth, 0 for none "
	  "(default: 20 to 1,000, fewer on large fabrics)",
	  0 },
	{ "pattern", OPT_PATTERN, "NAME", 0,
	  "communication pattern of the jobs for the prediction of their times and rates, and whose "
	  "time sar lowers: shift, alltoall (default), ring, stencil2d, stencil3d, or none for no "
	  "prediction",
	  0 },
	{ "per-job", OPT_PER_JOB, NULL, 0, "also print the metrics of each job (JSON: \"jobs\")",
	  0 },
	{ "all-lids", OPT_ALL_LIDS, NULL, 0,
	  "count paths to every traffic LID in the metrics, not only to base LIDs", 0 },
	{ "lfts", OPT_LFTS, "FILE", 0, "tables: opensm-lfts.dump, output of dump_fts", 0 },
	{ "fdbs", OPT_FDBS, "FILE", 0, "tables: opensm.fdbs", 0 },
	{ "tables", OPT_TABLES, "FILE", 0, "tables: tables.ibr of ibroute-top", 0 },
	{ "path-sl", OPT_PATH_SL, "FILE", 0, "SLs for these tables: lines of 0xsrc_guid dlid sl",
	  0 },
	{ "sl2vl", OPT_SL2VL, "FILE", 0,
	  "SL2VL tables for these tables: opensm-sl2vl.dump, or as for ibdmchk -d", 0 },
	{ "mfts", OPT_MFTS, "FILE", 0,
	  "multicast tables, too: opensm.mcfdbs, ibdiagnet2.mcfdbs, output of dump_fts -M", 0 },
	{ "partitions", OPT_PARTITIONS, "FILE", 0,
	  "OpenSM's partitions.conf: may the hosts of each job talk to each other? Needs --jobs",
	  0 },
	{ "terminals-only", OPT_TERMINALS_ONLY, NULL, 0, NULL, 0 },
	{ "engine", OPT_ENGINE, "NAME[:HOW]", 0, NULL, 0 },
	{ "json", OPT_JSON, NULL, 0, NULL, 0 },
};

static bool options_is_param(const struct argp_option *row)
{
	return row->key >= OPT_PARAM && row->key < OPT_PARAM + PARAM_IDS;
}

/* What only one engine uses says so. */
static void options_fill_param(struct argp_option *row)
{
	const struct param *p = param_of((enum param_id)(row->key - OPT_PARAM));
	bool one = p->engine && engine_find(p->engine, NULL);

	row->name = p->option;
	row->arg = p->arg;
	if (!row->doc)
		row->doc = one ? xasprintf("for %s: %s", p->engine, p->help) : xstrdup(p->help);
}

static void options_fill_shared(struct argp_option *row)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
		if (shared[i].key == row->key) {
			row->name = shared[i].name;
			row->arg = shared[i].arg;
			row->doc = row->doc ? row->doc : shared[i].doc;
		}
}

static size_t options_rows(const struct argp_option *table)
{
	size_t n = 0;

	while (table[n].key || table[n].name || table[n].doc || table[n].group)
		n++;
	return n;
}

void options_fill(struct argp_option *table)
{
	for (size_t i = options_rows(table); i--;) {
		if (!table[i].name && options_is_param(&table[i]))
			options_fill_param(&table[i]);
		else if (!table[i].name)
			options_fill_shared(&table[i]);
	}
}

int options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	size_t n = options_rows(argp->options) + 1;
	struct argp_option *table = xcalloc(n, sizeof(*table));
	struct argp filled = *argp;
	int rc;

	memcpy(table, argp->options, n * sizeof(*table));
	options_fill(table);
	filled.options = table;
	rc = cmdline_parse(&filled, argc, argv, input);
	for (size_t i = 0; i < n; i++)
		if (table[i].doc != argp->options[i].doc && options_is_param(&table[i]))
			free((char *)(uintptr_t)table[i].doc);
	free(table);
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
