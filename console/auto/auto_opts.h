/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auto_opts: the options of the automatic mode, for the console and for the service. */
#pragma once

#include "console/auto/auto_policy.h"
#include "engines/engine_spec.h"
#include "engines/predict/predict.h"

#include <argp.h>

struct auto_opts {
	bool on;
	uint32_t period_s;
	struct engine_spec engine;
	bool escape;		/* with escape LIDs even where none are known to be installed */
	bool strangers;		/* LIDs of no job do not count in a drain */
	const char *pin;	/* as in --pin; NULL: nobody */
	const char *exclude;	/* as in --exclude; NULL: nothing */
	unsigned job_nodes_min; /* jobs with fewer nodes do not count for the engine */
	enum auto_drain drain;
	double gain_pct;	      /* of the mean time of the jobs */
	enum predict_pattern pattern; /* that the routings are judged by */
	const char *demand, *ranks;   /* files of --demand and --ranks; NULL or "": none */
	bool accept_slower;	      /* also what makes a pattern or a job slower */
	unsigned min_age_s;	      /* jobs younger than that do not count */
	unsigned confirm_s;	      /* that an update must be quiet for */
};

void auto_opts_init(struct auto_opts *o);
/* --auto and --auto-*; the input is a struct auto_opts. */
extern const struct argp auto_argp;
void auto_opts_limits(struct auto_limits *out, const struct auto_opts *o, bool armed);
