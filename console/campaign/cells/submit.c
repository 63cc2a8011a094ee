/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/cells/submit.h"

#include <math.h>

#define SPARE	      3 /* machines differ, and so do cells */
#define SPARE_MINUTES 5
#define MIB	      (1u << 20)
#define ROUND_MIB     128

uint32_t submit_minutes(const struct submit *s, const struct campaign *c)
{
	double cells = ceil((double)c->n / s->tasks), each = s->cell_s / s->threads;

	return (uint32_t)ceil(SPARE * cells * each / 60) + SPARE_MINUTES;
}

/* Half as much again, since other cells may take more. */
static uint32_t submit_mib(const struct submit *s)
{
	uint64_t mib = s->bytes / MIB * 3 / 2;

	return (uint32_t)((mib / ROUND_MIB + 1) * ROUND_MIB);
}

/* In single quotes of the shell. */
static void submit_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}

void submit_script(FILE *out, const struct submit *s, const struct campaign *c)
{
	fprintf(out,
		"#!/bin/sh\n"
		"#SBATCH --job-name=ibroute-campaign\n"
		"#SBATCH --array=");
	if (s->only)
		fprintf(out, "%s\n", s->only);
	else
		fprintf(out, "0-%u\n", s->tasks - 1);
	fprintf(out,
		"#SBATCH --ntasks=1\n"
		"#SBATCH --cpus-per-task=%u\n"
		"#SBATCH --mem=%uM\n"
		"#SBATCH --time=%u\n"
		"#SBATCH --requeue\n"
		"#SBATCH --open-mode=append\n"
		"#SBATCH --output=/dev/null\n"
		"# measured: %.2f CPU seconds a cell, %u cells, %llu MiB\n"
		"exec ",
		s->threads, submit_mib(s), submit_minutes(s, c), s->cell_s, c->n,
		(unsigned long long)(s->bytes / MIB));
	submit_quoted(out, s->program);
	fputs(" campaign run ", out);
	submit_quoted(out, c->dir);
	fprintf(out, " --threads %u --shard \"$SLURM_ARRAY_TASK_ID/%u\"\n", s->threads, s->tasks);
}
