/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top apply: a plan into the switches, kept only when it is confirmed. */
#include "console/cli/commands.h"

#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/config/mkey.h"
#include "console/input/load/load_plan.h"
#include "console/io/confirm_prompt.h"
#include "console/live/unfinished.h"
#include "console/plan/plan_gate.h"
#include "console/update/update_terminal.h"
#include "console/update/watchdog_config.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/plan/drain_names.h"

#include <stdlib.h>
#include <string.h>

struct apply_cmd {
	struct watchdog_config dog;
	struct plan_bytes plan; /* of file */
	const char *file, *yes;
	bool no_input, detach, slower;
};

static const struct argp_option table[] = {
	{ "yes-fabric", CMDLINE_KEY(struct apply_cmd, yes), "NAME", 0,
	  "do not prompt if this is the name of the plan's fabric", 0 },
	{ "no-input", CMDLINE_KEY(struct apply_cmd, no_input), NULL, 0,
	  "never prompt: with --yes-fabric, confirm as soon as all tables are read back and match",
	  0 },
	{ "detach", CMDLINE_KEY(struct apply_cmd, detach), NULL, 0,
	  "do not wait: print the update's ID, for confirm, rollback, extend, attach", 0 },
	{ "accept-slower", CMDLINE_KEY(struct apply_cmd, slower), NULL, 0,
	  "apply although a communication pattern gets more than 2 % slower than with the "
	  "installed routing, or a single job more than 10 %",
	  0 },
	{ "accept-sl-change", CMDLINE_KEY(struct apply_cmd, dog.accept_sl), NULL, 0,
	  "apply although the hosts need other service levels (SLs): you distribute these by "
	  "other means",
	  0 },
	{ 0 },
};

static error_t cmd_apply_take(int key, char *arg, struct argp_state *state)
{
	struct apply_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->dog.live;
		state->child_inputs[1] = &c->dog;
		state->child_inputs[2] = &c->dog.agents;
		return 0;
	case ARGP_KEY_ARG:
		cmdline_only(state, "plan", &c->file, arg);
		return 0;
	case ARGP_KEY_END:
		if (!c->file)
			argp_error(state, "a plan is needed");
		if (!c->yes && (c->no_input || !confirm_prompt_possible()))
			argp_error(state, "no terminal to prompt on: --yes-fabric NAME is needed");
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state);
	}
}

/* Is this what the operator wants? */
static int cmd_apply_permitted(const struct apply_cmd *c, const struct plan *p, struct err *err)
{
	char *prompt, drain[600], names[300];
	enum answer a;

	if (c->yes && strcmp(c->yes, p->fabric->name))
		return err_set(err, EXIT_BAD_USAGE, "plan %s is for fabric %s, not for %s", p->id,
			       p->fabric->name, c->yes);
	if (c->yes)
		return 0;
	drain_text(drain, sizeof(drain), &p->drain, p->fabric, p->jobs);
	drain_names_text(names, sizeof(names), &p->drain, p->fabric, p->jobs);
	prompt = xasprintf(
		"Plan %s (%s) writes %u LFT block%s and %u SL2VL table%s on %u switch%s, in %u "
		"wave%s.\nDrain: %s.\n%s%s%sType the name of the fabric, %s, to start: ",
		p->id, p->to->engine, p->diff->nblocks, plural(p->diff->nblocks), p->diff->nsl2vl,
		plural(p->diff->nsl2vl), p->diff->switches, plural_es(p->diff->switches),
		p->changes->nwaves, plural(p->changes->nwaves), drain,
		names[0] ? "Names that several hosts may have: " : "", names, names[0] ? ".\n" : "",
		p->fabric->name);
	a = confirm_prompt_name(prompt, p->fabric->name, 0);
	free(prompt);
	return a == ANSWER_YES ? 0 : err_set(err, EXIT_REFUSED, "not started, nothing was written");
}

/* Is it accepted that jobs get slower?  At a terminal that is asked. */
static int cmd_apply_slower(const struct apply_cmd *c, const struct plan *p, struct err *err)
{
	struct time_gate g;
	char what[300];
	char *prompt;
	enum answer a = ANSWER_NO;

	if (c->slower)
		return 0;
	if (plan_gate(&g, p, NULL, err))
		return EXIT_REFUSED;
	if (!time_gate_slower(&g))
		return 0;
	time_gate_text(what, sizeof(what), &g);
	if (!c->yes) {
		prompt =
			xasprintf("Plan %s makes jobs slower than the installed routing: %s.\nType "
				  "slower to accept this: ",
				  p->id, what);
		a = confirm_prompt_name(prompt, "slower", 0);
		free(prompt);
	}
	if (a == ANSWER_YES)
		return 0;
	plan_gate_refusal(p, what, err);
	return EXIT_REFUSED;
}

static int cmd_apply_apply(struct apply_cmd *c, const struct plan *p, struct err *err)
{
	struct update_terminal t = {
		.mode = UPDATE_APPLY,
		.fabric = p->fabric->name,
		.no_input = c->no_input,
		.detach = c->detach,
	};
	int rc;

	if (!p->drain.known && !c->dog.agents.without)
		return err_set(err, EXIT_REFUSED,
			       "plan %s was made by an earlier version and does not say which "
			       "jobs to drain: compute it again (--without-agents applies it "
			       "anyway)",
			       p->id);
	if (!c->dog.agents.without && !c->dog.agents.strangers && p->drain.jobs &&
	    drain_check_unassigned(&p->drain, p->fabric, p->jobs, err))
		return EXIT_REFUSED;
	if (!c->dog.agents.without && !c->dog.agents.names && p->drain.jobs &&
	    !c->dog.live.node_names && drain_names_check(&p->drain, p->fabric, p->jobs, err))
		return EXIT_REFUSED;
	rc = cmd_apply_slower(c, p, err);
	if (!rc)
		rc = cmd_apply_permitted(c, p, err);
	if (rc)
		return rc;
	if (plan_bytes_check(&c->plan, c->file, err))
		return EXIT_REFUSED;
	if (c->dog.live.ask_m_key && mkey_ask(&c->dog.live.m_key, err))
		return EXIT_UNREADABLE;
	update_terminal_init(&t, c->dog.live.state_dir);
	rc = update_terminal_apply(&t, &c->dog, &c->plan, err);
	update_terminal_close(&t);
	return rc;
}

/* Whoever told which jobs the plan is for is asked which run now, unless that was said. */
static int cmd_apply_load(struct apply_cmd *c, struct plan **p, struct err *err)
{
	if (load_plan_bytes(&c->plan, p, c->file, err))
		return EXIT_UNREADABLE;
	if ((*p)->jobs && !strcmp((*p)->jobs->source, "slurm"))
		live_jobs_default(&c->dog.live);
	return cmd_apply_apply(c, *p, err);
}

int cmd_apply(int argc, char **argv)
{
	const struct argp_child children[] = {
		live_children[0],
		{ &watchdog_argp, 0, "The watchdog:", 19 },
		{ &agents_argp, 0, "Agents on the nodes of jobs:", 29 },
		{ 0 },
	};
	const struct argp argp = {
		.options = table,
		.parser = cmd_apply_take,
		.children = children,
		.args_doc = "PLAN",
		.doc = "Writes a plan to the switches, reads everything back, and confirms it "
		       "when the fabric's name is typed again. Anything else (Ctrl-C, a switch "
		       "that refuses, a timeout, a watch condition) rolls back: it restores the "
		       "previous tables and verifies them by reading. The update runs in a "
		       "process of its own, also when this terminal is gone: until the deadline "
		       "it can be confirmed from any shell.\vExit codes: 0 confirmed; 4 stale or "
		       "refused, nothing written; 5 failed and rolled back, verified; 6 rollback "
		       "incomplete; 7 not confirmed in time, rolled back; 8 the record cannot be "
		       "written, nothing done; 9 another writer changed the routing: the switches "
		       "hold neither the previous nor the new tables; 10 another writer changed "
		       "tables during the update, rolled back, verified; 11 the fabric changed during "
		       "the update, and the SM routes it by tables of its own; 64 bad options; 255 the "
		       "plan or the fabric could not be read.",
	};
	struct apply_cmd c = { 0 };
	struct err err = { "" };
	struct plan *p = NULL;
	int rc;

	watchdog_config_init(&c.dog);
	cmdline_parse(&argp, argc, argv, &c);
	unfinished_warn_of(c.dog.live.state_dir);
	rc = cmd_apply_load(&c, &p, &err);
	cmdline_end(argv[0], rc, &err);
	plan_free(p);
	plan_bytes_clear(&c.plan);
	return rc;
}
