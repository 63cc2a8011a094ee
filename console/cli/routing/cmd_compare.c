/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/cli/text/engines_help.h"
#include "console/cli/text/message_summary.h"
#include "console/cli/text/summary.h"
#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/live/live_sls.h"
#include "console/plan/command_inputs.h"
#include "console/plan/recommend.h"
#include "engines/engine_spec.h"
#include "engines/geometry/topology_kind.h"
#include "engines/parx/parx.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

struct compare_cmd {
	struct options o;
	struct live_opts live;
};

static const struct argp_option table[] = {
	{ "engines", OPT_ENGINES, "A,B,...", 0,
	  "engines to compare, from the list below. :HOW after the name is the number of data VLs "
	  "that the engine may use, the method of sar, or the engine whose paths dfdn uses: "
	  "nue:1,nue:4,sar:paper,sar:leafwise,dfdn:minhop. file:PATH is a routing read from a "
	  "file: tables.ibr, a dump, a saved plan",
	  0 },
	OPTION_SAYING(
		OPT_TOPOLOGY,
		"the fabric: ibnetdiscover output or another topology file, or a specification such as "
		"torus:dims=4x4 (default: the fabric at the port, its installed tables, and SLURM's "
		"jobs)"),
	OPTION(OPT_STRICT),
	OPTIONS_ROUTE,
	OPTIONS_MOMENT,
	OPTIONS_TABLES,
	OPTION(OPT_PATH_SL),
	OPTION(OPT_SL2VL),
	OPTION_COLLECTOR(CMDLINE_KEY(struct compare_cmd, live.collector), 0),
	OPTION_SAYING(OPT_JSON, "print a JSON array with one object per routing"),
	{ 0 },
};

static error_t cmd_compare_take(int key, char *arg, struct argp_state *state)
{
	struct compare_cmd *c = state->input;
	struct options *o = &c->o;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case ARGP_KEY_END:
		options_need(o->engine, "engines", state);
		if (!o->topology && (o->lfts || o->lmc >= 0))
			argp_error(state, "--lfts, --fdbs, --tables and --lmc need --topology");
		if (!o->lfts && (o->path_sl || o->sl2vl))
			argp_error(state, "--path-sl and --sl2vl need one of --lfts, --fdbs and "
					  "--tables");
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state) ? options_take(o, key, arg, state)
							      : 0;
	}
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_compare_take,
	.children = live_children,
	.doc = "Routes one fabric with several engines and prints their metrics side by side. "
	       "Without --topology that is the fabric at the port, with the running jobs; nothing "
	       "is written to it. It ends with a recommendation: which one, why, what it costs, and "
	       "what would have to change for a better one.\vIf installed tables are given (--lfts, --fdbs or --tables), "
	       "they are the first column, and changes are counted against them. In JSON, unknown "
	       "values are null. Exit codes: 0 all engines gave a routing that passed all checks; "
	       "1 not all; 64 bad options; 255 an input could not be read.",
	.help_filter = engines_help,
};

struct comparison {
	struct command_inputs in;
	struct engine_spec engine[MOST];
	char *file[MOST]; /* instead of it; NULL: none */
	size_t nengine;
	struct route_report list[MOST + 1];
	char *why[MOST + 1]; /* no tables; NULL: there are */
	/* what those that refuse for want of VLs give with enough of them; t NULL: not known */
	struct route_report with_vls[MOST + 1];
	size_t n;
	struct recommendation best;
	struct adaptive adaptive;
};

/* "file:PATH": under the file's name without folders. */
static void cmd_compare_add_file(struct comparison *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct engine_spec *spec = &c->engine[c->nengine];

	*spec = (struct engine_spec){ 0 };
	snprintf(spec->label, sizeof(spec->label), "%.12s", slash ? slash + 1 : path);
	c->file[c->nengine++] = xstrdup(path);
}

static int cmd_compare_find_engines(struct comparison *c, const char *text, struct err *err)
{
	char *copy = xstrdup(text), *rest = copy, *word;
	int rc = 0;

	while (!rc && (word = strsep(&rest, ","))) {
		if (c->nengine == MOST)
			rc = err_set(err, EXIT_BAD_USAGE, "--engines: at most %d are allowed",
				     MOST);
		else if (!strncmp(word, "file:", 5) && word[5])
			cmd_compare_add_file(c, word + 5);
		else if (engine_spec_parse(&c->engine[c->nengine++], word, err))
			rc = EXIT_BAD_USAGE;
	}
	free(copy);
	return rc;
}

/* One whose bounds, which take long, hold for all; NULL: there is none yet. */
static const struct route_report *cmd_compare_bounded(const struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->list[i].m && !c->why[i])
			return &c->list[i];
	return NULL;
}

#define ALL_VLS 15

/* Would more VLs make it a better one? */
static void cmd_compare_report_with_vls(struct comparison *c, const struct route_inputs *refused)
{
	struct route_inputs in = *refused;
	struct err err;

	in.params.vls = ALL_VLS;
	in.opts.bound_work = 0;
	in.opts.bisections = 0;
	route_report_run(&c->with_vls[c->n], &in, ROUTE_MAKE | ROUTE_VERIFY | ROUTE_TIME, &err);
}

static int cmd_compare_report(struct comparison *c, size_t i, struct route_report *e,
			      struct err *err)
{
	struct route_inputs in = command_inputs_route(&c->in, c->file[i] ? NULL : &c->engine[i]);
	const struct route_report *bounded = cmd_compare_bounded(c);
	int rc;

	in.file.tables = c->file[i];
	if (bounded)
		in.opts.bound_work = 0;
	rc = route_report_run(e, &in, ROUTE_MAKE | ROUTE_JUDGE | ROUTE_DIFF, err);
	if (!rc && bounded)
		route_report_take_bounds(e, bounded);
	if (!rc && c->in.installed)
		route_report_compare_times(e, &c->list[0]);
	if (rc == -ENOSPC && in.params.vls != ALL_VLS)
		cmd_compare_report_with_vls(c, &in);
	return rc;
}

static int cmd_compare_report_installed(struct comparison *c, struct route_report *e,
					struct err *err)
{
	struct route_inputs in = command_inputs_route(&c->in, NULL);

	in.tables = c->in.installed;
	in.opts.terminals_only = true;
	in.params.limits = NULL; /* they pass what is to be excluded from now on */
	return route_report_run(e, &in, ROUTE_JUDGE, err);
}

/* The installed tables, then each engine's; one that refuses keeps its reason and its place. */
static void cmd_compare_report_all(struct comparison *c)
{
	struct err err;

	if (c->in.installed) {
		if (cmd_compare_report_installed(c, &c->list[0], &err))
			c->why[0] = xstrdup(err.text);
		snprintf(c->list[0].engine, sizeof(c->list[0].engine), "installed");
		c->n = 1;
	}
	for (size_t i = 0; i < c->nengine; i++, c->n++) {
		struct route_report *e = &c->list[c->n];

		if (cmd_compare_report(c, i, e, &err))
			c->why[c->n] = xstrdup(err.text);
		snprintf(e->engine, sizeof(e->engine), "%s", c->engine[i].label);
	}
}

static bool cmd_compare_is_hyperx(const struct fabric *f)
{
	struct topology_kind *kind = NULL;
	struct err err;
	int rc = topology_kind_find(&kind, f, TOPOLOGY_HYPERX, NULL, &err);

	if (!rc)
		topology_kind_free(kind);
	return !rc;
}

/* What parx lacks on a HyperX are LIDs, which can be had. */
static bool cmd_compare_unsuited(const struct comparison *c, size_t i)
{
	size_t first = c->in.installed ? 1 : 0;
	const struct engine *e = i >= first ? c->engine[i - first].engine : NULL;
	struct err err;

	if (!e || !e->suits || !e->suits(c->in.f, &err))
		return false;
	return e != &engine_parx || !cmd_compare_is_hyperx(c->in.f);
}

static void cmd_compare_recommend(struct comparison *c)
{
	struct recommend_case list[MOST + 1];

	for (size_t i = 0; i < c->n; i++)
		list[i] = (struct recommend_case){
			.unsuited = c->why[i] && cmd_compare_unsuited(c, i),
			.name = c->list[i].engine,
			.report = c->why[i] ? NULL : &c->list[i],
			.why = c->why[i],
			.with_vls = c->with_vls[i].t ? &c->with_vls[i] : NULL,
			.installed = c->in.installed && !i,
		};
	recommend(&c->best, list, c->n);
}

static void cmd_compare_add_recommendation(json_t *o, const struct recommendation *r, size_t i)
{
	json_object_set_new(o, "recommended", json_boolean(i == r->pick));
	json_object_set_new(o, "reason", json_text(r->reason[i]));
	if (i != r->pick)
		return;
	json_object_set_new(o, "cost", json_text(r->cost));
	json_object_set_new(o, "change", r->change ? json_text(r->change) : json_null());
}

static int cmd_compare_print_json(const struct comparison *c, bool per_job, struct err *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct route_report *e = &c->list[i];

		json_t *o = e->t ? summary_json_all(e, per_job)
				 : json_pack("{s:s, s:s}", "engine", e->engine, "error", c->why[i]);

		cmd_compare_add_recommendation(o, &c->best, i);
		json_object_set_new(o, "adaptive_routing", adaptive_json(&c->adaptive));
		json_array_append_new(list, o);
	}
	return output_file_print_json(list, err);
}

static void cmd_compare_print_messages(const struct route_report *e)
{
	if (!e->messages)
		return;
	printf("\n%s, by the size of messages; its column above has times of large ones, all "
	       "else of base LIDs:",
	       e->engine);
	message_summary_print(stdout, e);
}

static void cmd_compare_print_recommendation(const struct recommendation *r)
{
	printf("\n%s\n", r->why);
	if (r->cost)
		printf("It takes %s.\n", r->cost);
	if (r->change)
		printf("%s\n", r->change);
}

static int cmd_compare_print_text(const struct comparison *c, bool per_job)
{
	const struct fabric *f = c->in.f;
	char adaptive[300];

	printf("%s: %u switches, %u terminals, %u cables between switches", f->name, f->nsw,
	       f->nterm, f->nchan / 2);
	if (c->in.jobs)
		printf(", %u jobs (%u on several switches)", c->in.jobs->njob, c->in.jobs->nmulti);
	printf("\n\n");
	if (adaptive_text(adaptive, sizeof(adaptive), &c->adaptive)[0])
		printf("%s\n\n", adaptive);
	summary_print_table(stdout, c->list, c->n);
	for (size_t i = 0; i < c->n; i++)
		cmd_compare_print_messages(&c->list[i]);
	if (c->n)
		putchar('\n');
	for (size_t i = 0; i < c->n; i++)
		summary_print_notes(stdout, &c->list[i]);
	for (size_t i = 0; i < c->n && per_job; i++)
		if (c->list[i].t)
			summary_print_jobs(stdout, &c->list[i]);
	for (size_t i = 0; i < c->n; i++) {
		if (c->why[i])
			printf("\n%s: %s\n", c->list[i].engine, c->why[i]);
		else if (!route_report_ok(&c->list[i])) {
			printf("\n%s: ", c->list[i].engine);
			summary_print_verdict(stdout, &c->list[i]);
		}
	}
	cmd_compare_print_recommendation(&c->best);
	return 0;
}

/* The fabric behind the port; s takes over what was read. */
static int cmd_compare_load_live(struct comparison *cmp, struct compare_cmd *c, struct err *err)
{
	struct command_inputs *s = &cmp->in;
	struct live l;
	int rc;

	live_jobs_default(&c->live);
	c->live.io_nodes = c->o.text[PARAM_IO_NODES];
	c->live.collected = collected_open;
	c->live.moment = &c->o.moment;
	if (live_open(&l, &c->live, NULL, err))
		return EXIT_UNREADABLE;
	live_sls_ask(&l, &c->live);
	cmp->adaptive = l.adaptive;
	command_inputs_take_live(s, &l);
	live_close(&l);
	rc = command_inputs_complete(s, &c->o, err);
	return rc ? EXIT_UNREADABLE : 0;
}

static int cmd_compare_in(struct comparison *c, struct compare_cmd *cmd, struct err *err)
{
	const struct options *o = &cmd->o;
	int rc = cmd_compare_find_engines(c, o->engine, err);

	load_adaptive_declared(&c->adaptive, cmd->live.adaptive);
	if (!rc)
		rc = o->topology ? command_inputs_load(&c->in, o, err)
				 : cmd_compare_load_live(c, cmd, err);
	if (rc)
		return rc;
	cmd_compare_report_all(c);
	cmd_compare_recommend(c);
	rc = o->json ? cmd_compare_print_json(c, o->per_job, err)
		     : cmd_compare_print_text(c, o->per_job);
	if (!rc)
		rc = output_file_flush_stdout(err);
	if (rc)
		return EXIT_FINDINGS;
	for (size_t i = c->n - c->nengine; i < c->n; i++)
		if (c->why[i] || !route_report_ok(&c->list[i]))
			return err_set(err, EXIT_FINDINGS, "%s gave no usable routing",
				       c->list[i].engine);
	return 0;
}

static int cmd_compare_compare(struct compare_cmd *cmd, struct err *err)
{
	struct comparison c = { 0 };
	int rc = cmd_compare_in(&c, cmd, err);

	for (size_t i = 0; i < c.n; i++) {
		route_report_free(&c.list[i]);
		route_report_free(&c.with_vls[i]);
		free(c.why[i]);
	}
	recommendation_free(&c.best);
	for (size_t i = 0; i < c.nengine; i++)
		free(c.file[i]);
	command_inputs_free(&c.in);
	return rc;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_cmd c = { 0 };
	struct err err = { "" };
	int rc;

	options_init(&c.o);
	options_parse(&argp, argc, argv, &c);
	c.o.text[PARAM_JOBS] = c.live.jobs;
	c.o.name_map = c.live.node_names;
	output_file_guard_signals();
	rc = cmd_compare_compare(&c, &err);
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc;
}
