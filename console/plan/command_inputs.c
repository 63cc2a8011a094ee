/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/command_inputs.h"

#include "console/config/exits.h"
#include "console/input/load/load_demand.h"
#include "console/input/load/load_fabric.h"
#include "console/input/load/load_io_nodes.h"
#include "console/input/load/load_jobs.h"
#include "console/input/load/load_lid_choice.h"
#include "console/input/load/load_names.h"
#include "console/input/load/load_tables.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int command_inputs_load_roots(struct command_inputs *s, const char *path, struct err *err)
{
	int rc = load_guids(&s->roots, &s->params.nroots, path, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < s->params.nroots; i++)
		if (fabric_switch_by_guid(s->f, s->roots[i]) == FAB_NONE)
			return err_set(err, -EINVAL,
				       "%s: 0x%016llx is not the GUID of a switch in this fabric",
				       path, (unsigned long long)s->roots[i]);
	s->params.roots = s->roots;
	return 0;
}

static int command_inputs_load_tables(struct command_inputs *s, const struct options *o,
				      struct err *err)
{
	bool before = engine_spec_repairs(o->engine);
	int rc = before ? load_tables_before(&s->installed, o->lfts, s->f, err)
			: load_tables(&s->installed, o->lfts, s->f, err);

	if (rc == -ESTALE && o->lmc < 0 && !before) {
		struct err why = *err;

		err_set(err, rc, "%s (were they made with --lmc?)", why.text);
	}
	if (!rc && o->path_sl)
		rc = load_path_sl(s->installed, o->path_sl, s->f, err);
	if (!rc && o->sl2vl)
		rc = load_sl2vl(s->installed, o->sl2vl, s->f, err);
	return rc;
}

static void command_inputs_set_params(struct command_inputs *s, const struct options *o)
{
	s->params = o->params;
	options_eval(&s->eval, o);
}

/* What belongs to the fabric, whichever way that came. */
static int command_inputs_load_rest(struct command_inputs *s, const struct options *o,
				    struct err *err)
{
	int rc = 0;

	if (o->text[PARAM_DEMAND])
		rc = load_demand(&s->demand, o->text[PARAM_DEMAND], o->text[PARAM_RANKS], s->f,
				 err);
	if (!rc && o->text[PARAM_ROOTS])
		rc = command_inputs_load_roots(s, o->text[PARAM_ROOTS], err);
	return rc;
}

static int command_inputs_load_limits(struct command_inputs *s, const struct options *o,
				      struct err *err)
{
	int rc = options_limits(&s->limits, o, s->f, s->jobs, err);

	s->params.limits = s->limits;
	return rc;
}

int command_inputs_complete(struct command_inputs *s, const struct options *o, struct err *err)
{
	command_inputs_set_params(s, o);
	return command_inputs_load_rest(s, o, err) || command_inputs_load_limits(s, o, err)
		       ? -EINVAL
		       : 0;
}

int command_inputs_load(struct command_inputs *s, const struct options *o, struct err *err)
{
	struct load_fabric_opts of = { .name = o->name, .lmc = o->lmc, .strict = o->strict };
	int rc = 0;

	memset(s, 0, sizeof(*s));
	command_inputs_set_params(s, o);
	if (o->name_map)
		rc = load_names(&s->names, o->name_map, err);
	if (!rc && o->text[PARAM_IO_NODES])
		rc = load_io_nodes(&s->names, o->text[PARAM_IO_NODES], err);
	of.names = s->names;
	if (!rc)
		rc = load_fabric_of(&s->f, NULL, o->topology, &of, err);
	if (!rc && o->text[PARAM_IO_NODES])
		rc = load_io_nodes_found(s->f, o->text[PARAM_IO_NODES], err);
	if (!rc && o->text[PARAM_JOBS])
		rc = load_jobs(&s->jobs, o->text[PARAM_JOBS], &o->moment, s->f, err);
	if (!rc && o->lid_choice)
		rc = load_lid_choice(&s->choice, o->lid_choice, s->f, err);
	if (!rc)
		rc = command_inputs_load_rest(s, o, err);
	if (!rc && o->lfts)
		rc = command_inputs_load_tables(s, o, err);
	if (rc)
		return EXIT_UNREADABLE;
	return command_inputs_load_limits(s, o, err) ? EXIT_BAD_USAGE : 0;
}

void command_inputs_take_live(struct command_inputs *s, struct live *l)
{
	s->f = l->f;
	s->jobs = l->jobs;
	s->installed = l->t;
	l->f = NULL;
	l->jobs = NULL;
	l->t = NULL;
}

struct route_inputs command_inputs_route(const struct command_inputs *s,
					 const struct engine_spec *spec)
{
	struct route_inputs in = {
		.f = s->f,
		.jobs = s->jobs,
		.demand = s->demand,
		.installed = s->installed,
		.params = s->params,
		.opts = s->eval,
	};

	if (spec) {
		in.engine = spec->engine;
		engine_spec_apply(spec, &in.params);
	}
	return in;
}

void command_inputs_free(struct command_inputs *s)
{
	tables_put(s->installed);
	jobset_put(s->jobs);
	demand_put(s->demand);
	lid_choice_free(s->choice);
	fabric_put(s->f);
	name_map_free(s->names);
	free(s->roots);
	route_limits_free(s->limits);
	memset(s, 0, sizeof(*s));
}
