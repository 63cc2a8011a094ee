/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/tables_source.h"

#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/load/load_plan.h"
#include "console/plan/command_inputs.h"

#include <string.h>

static struct argp_option rows[] = {
	OPTION_SAYING(OPT_TOPOLOGY, "read files instead of the fabric: ibnetdiscover text, "
				    "opensm-subnet.lst, ..."),
	OPTION(OPT_STRICT),
	OPTIONS_TABLES,
	OPTION(OPT_PATH_SL),
	OPTION(OPT_SL2VL),
	OPTION_COLLECTOR(CMDLINE_KEY(struct tables_source_opts, live.collector), 0),
	{ 0 },
};

static error_t tables_source_take(int key, char *arg, struct argp_state *state)
{
	struct tables_source_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->live;
		return 0;
	case ARGP_KEY_END:
		if (!o->o.topology != !o->o.lfts)
			argp_error(state, "--topology needs one of --lfts, --fdbs, --tables, and "
					  "these need --topology");
		if (o->plan && o->o.topology)
			argp_error(state, "--plan cannot be used with --topology: a plan contains "
					  "its topology");
		return 0;
	default:
		return cmdline_take(NULL, o, key, arg, state) ? options_take(&o->o, key, arg, state)
							      : 0;
	}
}

const struct argp tables_source_argp = { .options = rows,
					 .parser = tables_source_take,
					 .children = live_children };

void tables_source_opts_init(struct tables_source_opts *o)
{
	memset(o, 0, sizeof(*o));
	options_init(&o->o);
	options_fill(rows);
}

static int tables_source_of_plan(struct tables_source *s, const char *path, struct err *err)
{
	if (load_plan(&s->p, path, err))
		return EXIT_UNREADABLE;
	s->f = s->p->fabric;
	s->t = s->p->from;
	s->planned = s->p->to;
	s->jobs = s->p->jobs;
	return 0;
}

static int tables_source_of_files(struct tables_source *s, struct tables_source_opts *o,
				  struct err *err)
{
	struct command_inputs in;
	int rc;

	o->o.name_map = o->live.node_names;
	o->o.text[PARAM_JOBS] = o->live.jobs;
	rc = command_inputs_load(&in, &o->o, err);
	if (!rc) {
		s->f = s->own_f = fabric_get(in.f);
		s->t = s->own_t = tables_get(in.installed);
		s->jobs = s->own_jobs = in.jobs ? jobset_get(in.jobs) : NULL;
	}
	command_inputs_free(&in);
	return rc;
}

int tables_source_open(struct tables_source *s, struct tables_source_opts *o, struct err *err)
{
	memset(s, 0, sizeof(*s));
	load_adaptive_declared(&s->adaptive, o->live.adaptive);
	if (o->plan)
		return tables_source_of_plan(s, o->plan, err);
	if (o->o.topology)
		return tables_source_of_files(s, o, err);
	if (live_open(&s->l, &o->live, NULL, err))
		return EXIT_UNREADABLE;
	s->f = s->l.f;
	s->t = s->l.t;
	s->jobs = s->l.jobs;
	s->w = s->l.w;
	s->adaptive = s->l.adaptive;
	return 0;
}

void tables_source_close(struct tables_source *s)
{
	plan_free(s->p);
	live_close(&s->l);
	jobset_put(s->own_jobs);
	tables_put(s->own_t);
	fabric_put(s->own_f);
	memset(s, 0, sizeof(*s));
}
