/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_gate.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>

double time_change_rise(const struct time_change *c)
{
	return c->before > 0 ? c->after / c->before - 1 : 0;
}

double time_change_rise_least(const struct time_change *c)
{
	return c->before > 0 ? (c->after - 2 * c->error) / c->before - 1 : 0;
}

/* before and after: of each phase. */
static struct time_change time_gate_change(const double *before, const double *after, uint32_t n)
{
	double *d = xcalloc(n, sizeof(*d));
	struct time_change c;

	for (uint32_t i = 0; i < n; i++)
		d[i] = after[i] - before[i];
	c = (struct time_change){ phase_mean_of(before, n).mean, phase_mean_of(after, n).mean,
				  phase_mean_of(d, n).error };
	free(d);
	return c;
}

static bool time_gate_counts(const struct job_times *before, const struct job_times *after,
			     uint32_t j)
{
	return before->job[j].flows && !before->job[j].stranded && !after->job[j].stranded;
}

static const double *time_gate_phases(const struct job_times *x, uint32_t j)
{
	return x->phase + (size_t)j * x->phases;
}

/* The mean over the jobs, phase by phase. */
static struct time_change time_gate_mean(const struct job_times *before,
					 const struct job_times *after)
{
	uint32_t n = before->phases, jobs = 0;
	double *sum = xcalloc(2 * (size_t)n, sizeof(*sum));
	struct time_change c = { 0 };

	for (uint32_t j = 0; j < before->njob; j++) {
		if (!time_gate_counts(before, after, j))
			continue;
		jobs++;
		for (uint32_t i = 0; i < n; i++) {
			sum[i] += time_gate_phases(before, j)[i];
			sum[n + i] += time_gate_phases(after, j)[i];
		}
	}
	for (uint32_t i = 0; jobs && i < 2 * n; i++)
		sum[i] /= jobs;
	if (jobs)
		c = time_gate_change(sum, sum + n, n);
	free(sum);
	return c;
}

static void time_gate_jobs(struct time_gate *out, const struct job_times *before,
			   const struct job_times *after, const struct jobset *jobs)
{
	for (uint32_t j = 0; j < before->njob; j++) {
		struct time_change c;

		if (!time_gate_counts(before, after, j))
			continue;
		c = time_gate_change(time_gate_phases(before, j), time_gate_phases(after, j),
				     before->phases);
		out->jobs_slower += time_change_rise_least(&c) > TIME_GATE_JOB;
		if (out->job != FAB_NONE &&
		    time_change_rise_least(&c) <= time_change_rise_least(&out->job_time))
			continue;
		out->job = j;
		out->job_id = jobs->jobs[j].id;
		out->job_time = c;
	}
}

void time_gate_compare(struct time_gate *out, const struct time_sheet *before,
		       const struct time_sheet *after, const struct jobset *jobs,
		       enum predict_pattern pattern)
{
	*out = (struct time_gate){ .pattern = pattern, .job = FAB_NONE };
	for (int p = 0; p < PREDICT_PATTERNS; p++) {
		out->of[p] = time_gate_mean(before->of[p], after->of[p]);
		if (time_change_rise_least(&out->of[p]) >
		    time_change_rise_least(&out->of[out->worst]))
			out->worst = (enum predict_pattern)p;
	}
	out->pattern_slower = time_change_rise_least(&out->of[out->worst]) > TIME_GATE_PATTERN;
	time_gate_jobs(out, before->of[pattern], after->of[pattern], jobs);
	out->known = out->job != FAB_NONE;
}

int time_gate_compute(struct time_gate *out, const struct fabric *f, const struct tables *before,
		      const struct tables *after, const struct jobset *jobs,
		      const struct job_time_opts *opts, struct progress *progress, struct err *err)
{
	struct time_sheet *was = NULL, *is = NULL;
	int rc = time_sheet_compute(&was, f, before, jobs, opts, progress, err);

	if (!rc)
		rc = time_sheet_compute(&is, f, after, jobs, opts, progress, err);
	if (!rc)
		time_gate_compare(out, was, is, jobs, opts ? opts->pattern : PREDICT_ALLTOALL);
	time_sheet_put(was);
	time_sheet_put(is);
	return rc;
}

static int time_gate_put(char *buf, size_t len, const struct time_change *c, double limit)
{
	char error[24] = "";

	if (c->error > 0)
		snprintf(error, sizeof(error), " +- %.1f", 100 * c->error / c->before);
	return snprintf(buf, len, " %.2f -> %.2f (%+.1f%s %%, limit %.0f %%)", c->before, c->after,
			100 * time_change_rise(c), error, 100 * limit);
}

static void time_gate_put_job(char *buf, size_t len, const struct time_gate *g)
{
	int n = 0;

	if (g->jobs_slower > 1)
		n = snprintf(buf, len, "%u jobs, most of all ", g->jobs_slower);
	n += snprintf(buf + n, len - (size_t)n, "job %llu in %s", (unsigned long long)g->job_id,
		      predict_pattern_name(g->pattern));
	time_gate_put(buf + n, len - (size_t)n, &g->job_time, TIME_GATE_JOB);
}

const char *time_gate_text(char *buf, size_t len, const struct time_gate *g)
{
	char pattern[100] = "", job[160] = "", demand[100] = "";
	bool sized = g->messages && time_gate_slower(g);
	int n;

	if (g->known && g->pattern_slower) {
		n = snprintf(pattern, sizeof(pattern), "%s", predict_pattern_name(g->worst));
		time_gate_put(pattern + n, sizeof(pattern) - (size_t)n, &g->of[g->worst],
			      TIME_GATE_PATTERN);
	}
	if (g->known && g->jobs_slower)
		time_gate_put_job(job, sizeof(job), g);
	if (time_gate_demand_slower(g)) {
		n = snprintf(demand, sizeof(demand), "the demand");
		time_gate_put(demand + n, sizeof(demand) - (size_t)n, &g->demand,
			      TIME_GATE_PATTERN);
	}
	snprintf(buf, len, "%s%s%s%s%s%s%s", sized ? g->messages : "", sized ? " messages: " : "",
		 demand, demand[0] && pattern[0] ? "; " : "", pattern,
		 (demand[0] || pattern[0]) && job[0] ? "; " : "", job);
	return buf;
}
