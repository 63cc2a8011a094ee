/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures_args: what the command line says of a failure campaign, on one machine or in cells. */
#pragma once

#include "console/campaign/failures/failures.h"
#include "console/input/options.h"
#include "console/plan/command_inputs.h"

#include <argp.h>

struct failures_args {
	struct options o;
	const char *kill, *rate, *mtbf, *out, *dump;
	double years, repair_days;
	unsigned seeds;
	bool repair, packets, again;
	struct failures x;
	struct command_inputs in; /* after failures_args_load() */
};

/* Its input is a struct failures_args; options_parse() it. */
extern const struct argp failures_argp;

/* Reads what was named, into x.  0 or an exit code with the sentence; free in any case. */
int failures_args_load(struct failures_args *a, struct err *err);
struct failures_args *failures_args_new(void);
void failures_args_free(struct failures_args *a);
