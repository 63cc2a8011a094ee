/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/plan_jobs.h"

#include <math.h>
#include <stdint.h>

/* How an update treats a job. */
enum disturbed { DISTURBED_NOT, DISTURBED_ORDER, DISTURBED_STOPPED, DISTURBED_UNKNOWN };

static enum disturbed plan_jobs_disturbed(const struct plan *p, uint32_t job)
{
	const struct drain *d = &p->drain;

	if (!d->known || !d->jobs)
		return DISTURBED_UNKNOWN;
	for (uint32_t i = 0; i < d->njob; i++)
		if (d->job[i].job == job)
			return d->job[i].needed ? DISTURBED_STOPPED : DISTURBED_ORDER;
	return DISTURBED_NOT;
}

static const struct job_prediction *plan_jobs_predicted(const struct route_report *e, uint32_t job)
{
	return e->jobs_run ? &e->jobs_run->job[job] : NULL;
}

/* NAN: not known, or it sends over no link. */
static double plan_jobs_time(const struct route_report *e, uint32_t job)
{
	return e->times && e->times->job[job].flows ? e->times->job[job].time.mean : NAN;
}

/* --- text -------------------------------------------------------------------------------- */

static double plan_jobs_slowdown(const struct route_report *e, uint32_t job)
{
	const struct job_prediction *run = plan_jobs_predicted(e, job);

	return run ? run->slowdown : NAN;
}

static void plan_jobs_print_pair(FILE *out, double a, double b)
{
	char before[16] = "-", after[16] = "-";

	if (!isnan(a))
		snprintf(before, sizeof(before), "%.2f", a);
	if (!isnan(b))
		snprintf(after, sizeof(after), "%.2f", b);
	fprintf(out, " %6s > %-6s", before, after);
}

static void plan_jobs_print_job(FILE *out, const struct plan *p, const struct route_report both[2],
				uint32_t job)
{
	static const char *const words[] = { "no", "reordering", "pauses", "-" };
	const struct job *j = &p->jobs->jobs[job];
	const struct job_metrics *a = &both[0].m->job[job], *b = &both[1].m->job[job];

	fprintf(out, "%12s %9u %8u %6u > %-6u %6llu > %-6llu", JOB_TEXT(j), j->nterm, j->nsw,
		a->links, b->links, (unsigned long long)a->efi_max, (unsigned long long)b->efi_max);
	plan_jobs_print_pair(out, plan_jobs_time(&both[0], job), plan_jobs_time(&both[1], job));
	plan_jobs_print_pair(out, plan_jobs_slowdown(&both[0], job),
			     plan_jobs_slowdown(&both[1], job));
	fprintf(out, " %s\n", words[plan_jobs_disturbed(p, job)]);
}

void plan_print_jobs(FILE *out, const struct plan *p, const struct route_report both[2])
{
	if (!p->jobs) {
		fprintf(out, "\njobs: unknown (--jobs)\n");
		return;
	}
	fprintf(out, "\n%12s %9s %8s %-15s %-15s %-15s %-15s %s\n", "job", "terminals", "switches",
		" links", " EFI max", " time", both[1].jobs_run ? " slowdown" : " slowdown -",
		"disturbed");
	for (uint32_t job = 0; job < p->jobs->njob; job++)
		plan_jobs_print_job(out, p, both, job);
}

/* --- JSON -------------------------------------------------------------------------------- */

static json_t *plan_jobs_real_json(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

static json_t *plan_jobs_known_json(enum disturbed d, bool value)
{
	return d == DISTURBED_UNKNOWN ? json_null() : json_boolean(value);
}

static json_t *plan_jobs_job_json(const struct plan *p, const struct route_report both[2],
				  uint32_t job)
{
	const struct job *j = &p->jobs->jobs[job];
	const struct job_metrics *a = &both[0].m->job[job], *b = &both[1].m->job[job];
	enum disturbed d = plan_jobs_disturbed(p, job);

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
			 (json_int_t)j->id, "terminals", (json_int_t)j->nterm, "switches",
			 (json_int_t)j->nsw, "links_before", (json_int_t)a->links, "links_after",
			 (json_int_t)b->links, "efi_max_before", (json_int_t)a->efi_max,
			 "efi_max_after", (json_int_t)b->efi_max, "time_before",
			 plan_jobs_real_json(plan_jobs_time(&both[0], job)), "time_after",
			 plan_jobs_real_json(plan_jobs_time(&both[1], job)), "slowdown_before",
			 plan_jobs_real_json(plan_jobs_slowdown(&both[0], job)), "slowdown_after",
			 plan_jobs_real_json(plan_jobs_slowdown(&both[1], job)), "paths_change",
			 plan_jobs_known_json(d, d != DISTURBED_NOT), "stands_still",
			 plan_jobs_known_json(d, d == DISTURBED_STOPPED));
}

json_t *plan_jobs_json(const struct plan *p, const struct route_report both[2])
{
	json_t *list = json_array();

	for (uint32_t job = 0; p->jobs && job < p->jobs->njob; job++)
		json_array_append_new(list, plan_jobs_job_json(p, both, job));
	return list;
}
