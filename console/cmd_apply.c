/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top apply: a plan into the switches, kept only when it is confirmed. */
#include "console/commands.h"

#include "console/ask.h"
#include "console/exits.h"
#include "console/txn.h"
#include "fabric/base/mem.h"
#include "fabric/update/planfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIRM_S 300

enum { OPT_YES = 700, OPT_NO_INPUT, OPT_CONFIRM, OPT_SL };

struct apply_cmd {
	struct live_opts live;
	const char *file, *yes;
	bool no_input, accept_sl;
	unsigned confirm_s;
};

static const struct argp_option table[] = {
	{ "yes-fabric", OPT_YES, "NAME", 0,
	  "do it without asking, if that is the name of the plan's fabric", 0 },
	{ "no-input", OPT_NO_INPUT, NULL, 0,
	  "never ask: with --yes-fabric keep the new tables when all were read back", 0 },
	{ "confirm-timeout", OPT_CONFIRM, "S", 0,
	  "roll back when nobody confirms for so long (preset: 300)", 0 },
	{ "accept-sl-change", OPT_SL, NULL, 0,
	  "the service levels that the plan needs reach the hosts by another way", 0 },
	{ 0 },
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct apply_cmd *c = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case OPT_YES:
		c->yes = arg;
		return 0;
	case OPT_NO_INPUT:
		c->no_input = true;
		return 0;
	case OPT_SL:
		c->accept_sl = true;
		return 0;
	case OPT_CONFIRM:
		c->confirm_s = (unsigned)strtoul(arg, &end, 10);
		if (end == arg || *end || !c->confirm_s || c->confirm_s > 86400)
			argp_error(state, "--confirm-timeout: '%s' is not 1 to 86400 seconds", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (c->file)
			argp_error(state, "one plan at a time");
		c->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!c->file)
			argp_error(state, "a plan is needed");
		if (!c->yes && (c->no_input || !ask_possible()))
			argp_error(state, "nobody can be asked: --yes-fabric NAME is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Is this what the operator wants? */
static int permitted(const struct apply_cmd *c, const struct plan *p, struct err *err)
{
	char *prompt;
	enum answer a;

	if (c->yes && strcmp(c->yes, p->fabric->name))
		return err_set(err, EXIT_BAD_USAGE, "plan %s is for fabric %s, not for %s", p->id,
			       p->fabric->name, c->yes);
	if (c->yes)
		return 0;
	prompt = xasprintf("Plan %s (%s) writes %u LFT blocks and %u SL2VL tables on %u switches.\n"
			   "Type the name of the fabric, %s, to begin: ",
			   p->id, p->to->engine, p->diff->nblocks, p->diff->nsl2vl,
			   p->diff->switches, p->fabric->name);
	a = ask_name(prompt, p->fabric->name, 0);
	free(prompt);
	return a == ANSWER_YES ? 0 : err_set(err, EXIT_REFUSED, "not begun, nothing was written");
}

/* All is written and read back: keep it? */
static int decide(struct txn *t, const struct apply_cmd *c, const struct plan *p, struct err *err)
{
	enum answer a = ANSWER_YES;
	char *prompt = xasprintf("All is written and read back. Type the name of the fabric, %s, "
				 "within %u s to keep it;\nanything else rolls back: ",
				 p->fabric->name, c->confirm_s);

	if (!c->no_input && ask_possible())
		a = ask_name(prompt, p->fabric->name, c->confirm_s);
	free(prompt);
	if (txn_stopped())
		a = ANSWER_SIGNAL;
	if (a == ANSWER_YES && !apply_confirm(t->a, err))
		return EXIT_OK;
	if (apply_rollback(t->a, err))
		return txn_exit(t);
	err_set(err, 0, "%s",
		a == ANSWER_TIMEOUT ? "nobody confirmed in time: rolled back"
				    : "not confirmed: rolled back");
	return a == ANSWER_TIMEOUT ? EXIT_NOT_CONFIRMED : EXIT_ROLLED_BACK;
}

static int run(struct txn *t, const struct apply_cmd *c, const struct plan *p, struct err *err)
{
	struct plan *now;
	int rc = plan_stale(p, t->live->f, t->live->t, t->live->jobs, &t->live->sm, err);

	if (!rc)
		rc = plan_rebase(&now, p, t->live->f, t->live->t, err);
	if (rc) {
		txn_note(t, "plan.stale",
			 json_pack("{s:s, s:o}", "plan", p->id, "text", record_str(err->text)));
		return EXIT_REFUSED;
	}
	txn_plan(t, now, c->accept_sl);
	rc = apply_run(t->a, err) ? txn_exit(t) : decide(t, c, now, err);
	txn_close(t);
	plan_free(now);
	return rc;
}

static int apply(struct apply_cmd *c, const struct plan *p, struct err *err)
{
	struct live l;
	struct txn t;
	int rc = permitted(c, p, err);

	if (rc)
		return rc;
	if (live_open(&l, &c->live, p->fabric->name, err))
		return EXIT_UNREADABLE;
	if (txn_open(&t, &l, &c->live, err)) {
		rc = EXIT_NO_RECORD;
	} else {
		rc = run(&t, c, p, err);
		if (t.record)
			txn_close(&t);
	}
	live_close(&l);
	return rc;
}

int cmd_apply(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = take,
		.children = live_children,
		.args_doc = "PLAN",
		.doc = "Writes a plan into the switches, reads everything back, and keeps it when "
		       "the fabric's name is typed once more. Anything else (a signal, a switch "
		       "that refuses, a timeout) restores the old tables and proves it by reading."
		       "\vExit codes: 0 installed; 4 stale or refused, nothing written; 5 failed "
		       "and rolled back, verified; 6 rollback incomplete; 7 nobody confirmed, "
		       "rolled back; 8 the record cannot be written, nothing done; 64 bad options; "
		       "255 the fabric could not be read.",
	};
	struct apply_cmd c = { .confirm_s = CONFIRM_S };
	struct err err = { "" };
	struct plan *p = NULL;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &c);
	rc = plan_load(&p, c.file, &err) ? EXIT_REFUSED : apply(&c, p, &err);
	if (err.text[0])
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	plan_free(p);
	return rc;
}
