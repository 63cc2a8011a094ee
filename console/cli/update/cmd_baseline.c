/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top baseline: what the fabric is expected to be, for --check and the metrics. */
#include "console/cli/commands.h"

#include "console/collect/baseline.h"
#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/live/live_fabric.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/message/plural.h"
#include "fabric/baseline/findings.h"
#include "views/canvas/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct baseline_cmd {
	struct live_opts live;
	const char *verb;
};

static const struct argp_option table[] = {
	OPTION_COLLECTOR(CMDLINE_KEY(struct baseline_cmd, live.collector), 0),
	{ 0 },
};

static error_t cmd_baseline_take(int key, char *arg, struct argp_state *state)
{
	struct baseline_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case ARGP_KEY_ARG:
		if (c->verb)
			argp_error(state, "only one of show, accept, learn and forget is possible");
		c->verb = arg;
		return 0;
	case ARGP_KEY_END:
		if (!c->verb)
			c->verb = "show";
		if (strcmp(c->verb, "show") && strcmp(c->verb, "accept") &&
		    strcmp(c->verb, "learn") && strcmp(c->verb, "forget"))
			argp_error(state, "'%s' is not one of show, accept, learn and forget",
				   c->verb);
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state);
	}
}

static void cmd_baseline_print(const struct findings *l)
{
	for (size_t i = 0; i < l->n; i++) {
		char *text = plain_text(finding_text(&l->v[i]), "");

		puts(text);
		free(text);
	}
}

static int cmd_baseline_show(const struct baseline *b, const struct fabric *now)
{
	const struct fabric *f = b->fabric;
	char when[FIGURE_LEN];
	struct findings *l;
	int rc;

	if (!f) {
		printf("%s: no baseline yet; --check learns one, 'baseline accept' takes the fabric "
		       "as it is\n",
		       b->name);
		return EXIT_OK;
	}
	printf("%s: %u switch%s, %u host port%s, %u cable%s between switches, %s %s\nfile %s\n",
	       b->name, f->nsw, plural_es(f->nsw), f->nterm, plural(f->nterm), f->nchan / 2,
	       plural(f->nchan / 2), b->accepted ? "accepted" : "learnt",
	       figure_utc(when, b->since_s), b->path);
	l = findings_new();
	findings_add_fabric(l, f, now);
	cmd_baseline_print(l);
	rc = findings_count(l) ? EXIT_FINDINGS : EXIT_OK;
	findings_put(l);
	return rc;
}

static int cmd_baseline_do(const char *verb, struct baseline *b, const struct fabric *now,
			   struct err *err)
{
	bool accept = !strcmp(verb, "accept");

	if (!strcmp(verb, "show"))
		return cmd_baseline_show(b, now);
	if (!strcmp(verb, "forget") ? baseline_remove(b, err) : baseline_write(b, now, accept, err))
		return EXIT_FINDINGS;
	if (!strcmp(verb, "forget"))
		printf("%s: no baseline any more\n", b->name);
	else
		cmd_baseline_show(b, now);
	return EXIT_OK;
}

static int cmd_baseline_run(struct baseline_cmd *c, struct err *err)
{
	char *dir = baseline_dir(c->live.state_dir);
	struct baseline b = { 0 };
	struct live l;
	int rc = EXIT_UNREADABLE;

	/* what is taken for right is what is there, not what was */
	if (!strcmp(c->verb, "show") || !strcmp(c->verb, "forget"))
		c->live.collected = collected_open;
	if (!live_discover(&l, &c->live, NULL, err)) {
		if (!baseline_open(&b, dir, c->live.name, l.f, NULL, err))
			rc = cmd_baseline_do(c->verb, &b, l.f, err);
		live_close(&l);
	}
	baseline_close(&b);
	free(dir);
	return rc;
}

int cmd_baseline(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = cmd_baseline_take,
		.children = live_children,
		.args_doc = "[show|accept|learn|forget]",
		.doc = "The fabric as it is expected to be: switches, hosts, cables, their data rates "
		       "and names. --check and the Prometheus output report what is gone, slower, "
		       "moved or renamed since. The first of their runs learns it, later ones add "
		       "what is new while nothing is missing; 'accept' takes the fabric as it is "
		       "now, and it stays so until the next 'accept'; 'learn' takes it likewise, and "
		       "it grows again; 'forget' removes it. It is a file of the state directory, "
		       "baseline/NAME.topology, with the text of ibnetdiscover, and may be "
		       "edited.\vExit codes: 0 ok; 1 something is not as expected (show), or the file "
		       "could not be written; 64 bad options; 255 the fabric or the file could not "
		       "be read.",
	};
	struct baseline_cmd c = { .verb = NULL };
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	rc = cmd_baseline_run(&c, &err);
	return cmdline_end(argv[0], rc, &err);
}
