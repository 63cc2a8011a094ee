/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/app/app.h"
#include "console/app/app_opts.h"
#include "console/auto/auto_run.h"
#include "console/batch/batch.h"
#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "fabric/base/time/when.h"

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

int cmd_console(int argc, char **argv, char *(*help)(int key, const char *text, void *input))
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
	struct console_cmd c;
	struct err err = { "" };
	int rc;

	app_opts_init(&c.o);
	batch_opts_init(&c.batch);
	if (cmdline_parse(&argp, argc, argv, &c))
		return EXIT_BAD_USAGE;
	if (app_opts_ask_m_key(&c.o, &err)) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		return EXIT_BAD_USAGE;
	}
	if (c.o.automatic.on && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
		rc = cmd_console_service(&c.o);
		free(c.o.alert.url);
		return rc;
	}
	c.o.no_screen = c.batch.on;
	c.o.error_limits = c.batch.error_limits;
	c.o.fresh_errors = c.batch.check;
	c.o.needs = batch_opts_need(&c.batch);
	batch_findings_key(c.o.watch_key, sizeof(c.o.watch_key), &c.batch);
	rc = batch_opts_of_records(&c.batch)
		     ? batch_sessions(&c.batch, c.o.live.record_dir)
		     : app_run(&c.o, c.batch.on ? cmd_console_batch : NULL, &c.batch);
	row_filter_free(c.batch.filter);
	free(c.batch.threshold_text);
	free(c.o.alert.url);
	return rc;
}
