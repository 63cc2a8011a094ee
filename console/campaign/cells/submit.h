/* SPDX-License-Identifier: GPL-2.0-or-later */
/* submit: a campaign as an array of SLURM, with time and memory as measured. */
#pragma once

#include "console/campaign/cells/campaign.h"

struct submit {
	uint32_t tasks;
	const char *only; /* of these, "3,7-9"; NULL: all */
	unsigned threads;
	double cell_s;	      /* CPU seconds of a cell, as measured */
	uint64_t bytes;	      /* memory of the process that measured */
	const char *program;  /* full path of ibroute-top */
};

/* Minutes that a task may take: three times what its cells should, and five. */
uint32_t submit_minutes(const struct submit *s, const struct campaign *c);
/* The script, for sbatch.  The folder must be a full path. */
void submit_script(FILE *out, const struct submit *s, const struct campaign *c);
