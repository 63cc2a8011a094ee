/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/app/app.h"
#include "console/app/app_opts.h"
#include "console/app/terminal/terminal.h"
#include "console/auto/auto_run.h"
#include "console/batch/batch.h"
#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/fabrics/fabric_spec.h"
#include "console/fabrics/fabrics.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/when.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct console_cmd {
	struct app_opts o;
	struct batch_opts batch;
};

/* A moment of a history of jobs. */
static void cmd_console_take_at(struct console_cmd *c)
{
	bool file = c->o.jobs && strcmp(c->o.jobs, "slurm") && strcmp(c->o.jobs, "none");

	if (!c->batch.at || !file || !when_parse(&c->o.jobs_at_s, c->batch.at, NULL))
		c->o.jobs_at_s = 0;
}

static void cmd_console_check(struct console_cmd *c, const struct argp_state *s)
{
	cmd_console_take_at(c);
	if (c->batch.at && !c->batch.on && !c->o.jobs_at_s)
		argp_error(s, "--at needs -b, --json, --jsonl, --prom or --check, or a history of "
			      "jobs (--jobs FILE) and a time");
	if (c->batch.at && !c->o.load && (c->o.demo || c->o.jobs_at_s))
		argp_error(
			s,
			"--at selects a saved sample and needs --load, or a collector that keeps "
			"the past");
	if (c->batch.on && (c->o.rw || c->o.automatic.on))
		argp_error(s, "batch output is read-only: --rw and --auto cannot be used with it "
			      "(see 'ibroute-top apply')");
}

static error_t cmd_console_take(int key, char *arg, struct argp_state *s)
{
	struct console_cmd *c = s->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		s->child_inputs[0] = &c->o;
		s->child_inputs[1] = &c->batch;
		return 0;
	case ARGP_KEY_END:
		cmd_console_check(c, s);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --auto without a terminal */
static int cmd_console_service(const struct app_opts *o)
{
	struct auto_run_opts service = {
		.automatic = o->automatic,
		.jobs_interval_s = o->jobs_interval_s,
		.params = o->params,
		.keep = o->keep,
		.alert = &o->alert,
		.rw = o->rw,
	};

	app_opts_dog(&service.dog, o);
	service.dog.live.collected = collected_open;
	service.dog.live.collector = o->collector;
	if (!o->demo)
		return auto_run(&service);
	fprintf(stderr, "ibroute-top: --auto without a terminal needs a fabric, not --demo\n");
	return EXIT_BAD_USAGE;
}

static int cmd_console_batch(struct app *a, void *arg, const volatile sig_atomic_t *stop)
{
	return batch_run(a, arg, stop);
}

typedef char *console_help_fn(int key, const char *text, void *input);

static int cmd_console_parse(struct console_cmd *c, int argc, char **argv, console_help_fn *help)
{
	const struct argp_child children[] = {
		{ &app_argp, 0, NULL, 0 },
		{ &batch_argp, 0, "Batch output, without a screen:", 9 },
		{ 0 },
	};
	const struct argp argp = {
		.parser = cmd_console_take,
		.children = children,
		.args_doc = "",
		.doc = "Live console for the routing of an InfiniBand fabric: load of links and "
		       "jobs, plans for other routings, and safe updates to them.\vIt is "
		       "read-only unless --rw is given. 'ibroute-top --demo --rw' shows "
		       "everything without a fabric. Exit codes: 0 ok; 1 findings (--check); 3 "
		       "the fabric or the jobs could not be read completely; 8 the record cannot "
		       "be written; 64 bad options, or no terminal; 255 no fabric; 128 + N ended "
		       "by signal N.",
		.help_filter = help,
	};

	app_opts_init(&c->o);
	batch_opts_init(&c->batch);
	return cmdline_parse(&argp, argc, argv, c);
}

static void cmd_console_free(struct console_cmd *c)
{
	row_filter_free(c->batch.filter);
	free(c->batch.threshold_text);
	free(c->o.alert.url);
}

static int cmd_console_run(struct console_cmd *c)
{
	struct err err = { "" };

	if (!c->o.link && app_opts_ask_m_key(&c->o, &err))
		return cmdline_end("ibroute-top", EXIT_BAD_USAGE, &err);
	if (c->o.automatic.on && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return cmd_console_service(&c->o);
	c->o.no_screen = c->batch.on;
	c->o.error_limits = c->batch.error_limits;
	c->o.fresh_errors = c->batch.check;
	c->o.count_updates = batch_opts_metrics(&c->batch);
	c->o.needs = batch_opts_need(&c->batch);
	batch_findings_key(c->o.watch_key, sizeof(c->o.watch_key), &c->batch);
	return batch_opts_of_records(&c->batch)
		       ? batch_sessions(&c->batch, c->o.live.record_dir)
		       : app_run(&c->o, c->batch.on ? cmd_console_batch : NULL, &c->batch);
}

/* --- several fabrics -------------------------------------------------------------------------- */

/* What says which fabric it is, so that a list in the configuration file is not meant. */
static bool cmd_console_one_fabric(const struct console_cmd *c, int argc, char **argv)
{
	static const struct {
		const char *option;
		char letter;
	} one[] = {
		{ "--demo", 0 },      { "--load", 0 },	 { "--load-cache", 0 },
		{ "--collector", 0 }, { "--Ca", 'C' },	 { "--Port", 'P' },
		{ "--profile", 0 },   { "--fabric", 0 }, { "--name", 0 },
	};

	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
		if (config_asked(argc, argv, one[i].option, one[i].letter))
			return true;
	return c->o.demo || c->batch.on || batch_opts_of_records(&c->batch);
}

/* The fabrics that are meant, 0 or more; -errno. */
static int cmd_console_fabrics(struct fabric_specs *out, const struct console_cmd *c, int argc,
			       char **argv, struct err *err)
{
	bool typed = config_asked(argc, argv, "--tab", 0) != NULL;
	bool one = cmd_console_one_fabric(c, argc, argv);
	struct err why;
	int rc = 0;

	if (one && !typed)
		return 0;
	for (size_t i = 0; i < c->o.ntab && !rc; i++)
		rc = fabric_specs_add(out, c->o.tab[i], &why);
	if (rc)
		return err_set(err, rc, "--tab: %s", why.text);
	if (one && out->n)
		return err_set(
			err, -EINVAL,
			"--tab cannot be used with batch output or with options of one "
			"fabric: --demo, --load, --collector, --Ca, --Port, --profile, --name");
	if (!typed && out->n && terminal_check(NULL))
		fabric_specs_free(out);
	return 0;
}

/* Two tabs of one port would poll it twice, and look like two fabrics. */
static int cmd_console_same_port(const struct console_cmd *c, const struct fabric_specs *specs,
				 struct err *err)
{
	for (size_t i = 0; i < specs->n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct app_opts *a = &c[i].o, *b = &c[j].o;
			bool live = !a->demo && !a->load && !b->demo && !b->load;
			const char *ca = a->live.ca ? a->live.ca : "",
				   *other = b->live.ca ? b->live.ca : "";
			const char *by = a->collector ? a->collector : "",
				   *other_by = b->collector ? b->collector : "";

			if (live && !strcmp(ca, other) && a->live.port == b->live.port &&
			    !strcmp(by, other_by))
				return err_set(err, -EEXIST,
					       "--tab: %s and %s are the same port or collector",
					       specs->spec[j].name, specs->spec[i].name);
		}
	return 0;
}

static int cmd_console_of_fabric(void *arg, size_t i, int link)
{
	struct console_cmd *c = arg;

	c[i].o.link = link;
	return cmd_console_run(&c[i]);
}

/* All are judged before the first begins, and M_Keys are asked for while nobody has the screen. */
static int cmd_console_tabs(const struct fabric_specs *specs, int argc, char **argv,
			    console_help_fn *help)
{
	struct console_cmd *c = xcalloc(specs->n, sizeof(*c));
	char **words[FABRICS_MAX] = { NULL };
	const char *name[FABRICS_MAX];
	struct err err = { "" };
	int rc = terminal_check(&err);

	for (size_t i = 0; i < specs->n && !rc; i++) {
		int n;

		name[i] = specs->spec[i].name;
		words[i] = fabric_spec_argv(&n, &specs->spec[i], argc, argv);
		rc = cmd_console_parse(&c[i], n, words[i], help);
		if (!rc)
			rc = app_opts_ask_m_key(&c[i].o, &err);
	}
	if (!rc)
		rc = cmd_console_same_port(c, specs, &err);
	rc = rc ? EXIT_BAD_USAGE : fabrics_run(name, specs->n, cmd_console_of_fabric, c, &err);
	for (size_t i = 0; i < specs->n; i++) {
		cmd_console_free(&c[i]);
		free(words[i]);
	}
	free(c);
	return cmdline_end("ibroute-top", rc < 0 ? EXIT_BAD_USAGE : rc, &err);
}

int cmd_console(int argc, char **argv, console_help_fn *help)
{
	struct fabric_specs specs = { .n = 0 };
	struct console_cmd c;
	struct err err = { "" };
	int rc;

	if (cmd_console_parse(&c, argc, argv, help))
		return EXIT_BAD_USAGE;
	if (cmd_console_fabrics(&specs, &c, argc, argv, &err))
		rc = cmdline_end("ibroute-top", EXIT_BAD_USAGE, &err);
	else if (specs.n)
		rc = cmd_console_tabs(&specs, argc, argv, help);
	else
		rc = cmd_console_run(&c);
	fabric_specs_free(&specs);
	cmd_console_free(&c);
	return rc;
}
