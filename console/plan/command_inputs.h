/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_inputs: what the options of a subcommand name, loaded: fabric, jobs, roots, tables. */
#pragma once

#include "console/input/options.h"
#include "console/live/live_fabric.h"
#include "console/plan/route_report.h"
#include "engines/engine_spec.h"

struct command_inputs {
	struct name_map *names;
	struct fabric *f;
	struct jobset *jobs;	       /* NULL: no --jobs */
	struct lid_choice *choice;     /* NULL: no --lid-choice */
	struct demand *demand;	       /* NULL: no --demand */
	struct tables *installed;      /* NULL: none of --lfts, --fdbs, --tables */
	struct engine_params params;   /* from --vls, --threads, --seed, --roots, ... */
	struct route_report_opts eval; /* from --bisections, --seed, --threads, ... */
	uint64_t *roots;
	struct route_limits *limits; /* NULL: none */
};

/* 0 or the exit code, with the sentence in err. */
int command_inputs_load(struct command_inputs *s, const struct options *o, struct err *err);
/* Fabric, tables and jobs of l become those of s, which is all zero; the wire stays l's. */
void command_inputs_take_live(struct command_inputs *s, struct live *l);
/* The same from a fabric, tables and jobs that the caller has put into s, which is all zero but for
 * these.  -errno. */
int command_inputs_complete(struct command_inputs *s, const struct options *o, struct err *err);
/* What a routing by that engine (NULL: none) starts from; borrowed. */
struct route_inputs command_inputs_route(const struct command_inputs *s,
					 const struct engine_spec *spec);
void command_inputs_free(struct command_inputs *s);
