/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/rerun_lines.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_FORM (JSON_COMPACT | JSON_REAL_PRECISION(9))

static const char *const figure_keys[] = {
	[WAY_TIME] = "time_mean",	   [WAY_TIME_ERROR] = "time_stderr",
	[WAY_TIME_WORST] = "time_worst",   [WAY_EFI] = "eff_efi_max",
	[WAY_EFI_BOUND] = "eff_efi_bound", [WAY_JOB_EFI] = "job_efi_max_mean",
	[WAY_DARK] = "dark_fiber_pct",	   [WAY_LINKS] = "links_per_job_mean",
};

#define NFIGURE (sizeof(figure_keys) / sizeof(*figure_keys))

const char *way_figure_key(enum way_figure k)
{
	return figure_keys[k];
}

static void rerun_lines_put(FILE *out, json_t *o)
{
	json_dumpf(o, out, LINE_FORM);
	fputc('\n', out);
	json_decref(o);
}

static void rerun_lines_add_costs(json_t *o, const struct way_step *s)
{
	json_object_set_new(o, "computed", json_boolean(s->computed));
	json_object_set_new(o, "adopted", json_boolean(s->adopted));
	json_object_set_new(o, "blocks", json_integer(s->blocks));
	json_object_set_new(o, "blocks_all", json_integer(s->blocks_all));
	json_object_set_new(o, "entries", json_integer((json_int_t)s->entries));
	json_object_set_new(o, "waves", s->ordered ? json_integer(s->waves) : json_null());
	json_object_set_new(o, "drain_lids",
			    s->ordered ? json_integer(s->drain_lids) : json_null());
	json_object_set_new(o, "jobs_touched", json_integer(s->jobs_touched));
	json_object_set_new(o, "decision", s->why[0] ? json_text(s->why) : json_null());
}

void rerun_line_write(FILE *times, FILE *seconds, int64_t time_s, const struct jobset *jobs,
		      const struct way *w, const struct way_step *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "time", json_integer(time_s));
	json_object_set_new(o, "routing", json_text(w->label));
	json_object_set_new(o, "uses_jobs", json_boolean(w->mode != WAY_FIXED));
	json_object_set_new(o, "jobs", json_integer(jobs->njob));
	json_object_set_new(o, "jobs_multi", json_integer(jobs->nmulti));
	json_object_set_new(o, "refused", json_boolean(s->refused));
	for (size_t k = 0; k < NFIGURE; k++)
		json_object_set_new(o, figure_keys[k],
				    s->measured ? json_real(s->figure[k]) : json_null());
	json_object_set_new(o, "vls", s->measured ? json_integer(s->vls) : json_null());
	rerun_lines_add_costs(o, s);
	rerun_lines_put(times, o);
	if (!s->computed)
		return;
	o = json_object();
	json_object_set_new(o, "time", json_integer(time_s));
	json_object_set_new(o, "routing", json_text(w->label));
	json_object_set_new(o, "cpu_s", json_real(s->cpu_s));
	rerun_lines_put(seconds, o);
}

/* --- jobs --------------------------------------------------------------------------------- */

struct job_sum {
	uint32_t record; /* of the log */
	uint32_t terminals, switches;
	bool seen; /* at the time at hand */
	double sum[WAYS_MOST];
	uint32_t n[WAYS_MOST];
};

struct rerun_jobs {
	const struct job_log *log;
	size_t nway;
	VEC(struct job_sum) sums; /* ascending record */
};

struct rerun_jobs *rerun_jobs_new(const struct job_log *log, size_t nway)
{
	struct rerun_jobs *j = xcalloc(1, sizeof(*j));

	j->log = log;
	j->nway = nway;
	return j;
}

void rerun_jobs_free(struct rerun_jobs *j)
{
	if (!j)
		return;
	vec_free(&j->sums);
	free(j);
}

static json_t *rerun_lines_job(const struct rerun_jobs *j, const struct job_sum *s,
			       const struct way *way)
{
	const struct job_record *r = &j->log->jobs[s->record];
	json_t *o = json_object(), *times = json_object();
	char name[40];

	json_object_set_new(o, "job", json_text(job_record_name(name, r)));
	json_object_set_new(o, "user", json_text(r->user));
	json_object_set_new(o, "terminals", json_integer(s->terminals));
	json_object_set_new(o, "switches", json_integer(s->switches));
	json_object_set_new(o, "start", json_integer(r->start_s));
	json_object_set_new(o, "end", json_integer(r->end_s));
	for (size_t i = 0; i < j->nway; i++)
		json_object_set_new(times, way[i].label,
				    s->n[i] ? json_pack("[f,i]", s->sum[i] / s->n[i], s->n[i])
					    : json_null());
	json_object_set_new(o, "times", times);
	return o;
}

static struct job_sum *rerun_lines_find(struct rerun_jobs *j, uint32_t record)
{
	for (size_t i = 0; i < j->sums.n; i++)
		if (j->sums.v[i].record == record)
			return &j->sums.v[i];
	vec_push(&j->sums, ((struct job_sum){ .record = record }));
	return &j->sums.v[j->sums.n - 1];
}

static int rerun_lines_by_record(const void *a, const void *b)
{
	uint32_t x = ((const struct job_sum *)a)->record, y = ((const struct job_sum *)b)->record;

	return (x > y) - (x < y);
}

/* Who was not seen, or all. */
static void rerun_lines_flush(struct rerun_jobs *j, const struct way *way, bool all, FILE *out)
{
	size_t n = 0;

	if (j->sums.n)
		qsort(j->sums.v, j->sums.n, sizeof(*j->sums.v), rerun_lines_by_record);
	for (size_t i = 0; i < j->sums.n; i++) {
		struct job_sum *s = &j->sums.v[i];

		if (s->seen && !all) {
			s->seen = false;
			j->sums.v[n++] = *s;
		} else {
			rerun_lines_put(out, rerun_lines_job(j, s, way));
		}
	}
	j->sums.n = n;
}

void rerun_jobs_add(struct rerun_jobs *j, const struct moments *m, const struct jobset *jobs,
		    const struct way *way, const struct way_step *step, FILE *out)
{
	for (uint32_t k = 0; k < jobs->njob; k++) {
		const struct job *job = &jobs->jobs[k];
		struct job_sum *s;

		if (!job->multi)
			continue;
		s = rerun_lines_find(j, moments_record(m, job->given));
		s->seen = true;
		s->terminals = job->nterm;
		s->switches = job->nsw;
		for (size_t i = 0; i < j->nway; i++)
			if (step[i].time && step[i].time[k] > 0) {
				s->sum[i] += step[i].time[k];
				s->n[i]++;
			}
	}
	rerun_lines_flush(j, way, false, out);
}

void rerun_jobs_end(struct rerun_jobs *j, const struct way *way, FILE *out)
{
	rerun_lines_flush(j, way, true, out);
}

json_t *rerun_jobs_state(const struct rerun_jobs *j)
{
	json_t *list = json_array();

	for (size_t i = 0; i < j->sums.n; i++) {
		const struct job_sum *s = &j->sums.v[i];
		json_t *o =
			json_pack("{s:I, s:I, s:I}", "record", (json_int_t)s->record, "terminals",
				  (json_int_t)s->terminals, "switches", (json_int_t)s->switches);
		json_t *sums = json_array();

		for (size_t k = 0; k < j->nway; k++)
			json_array_append_new(sums, json_pack("[f,i]", s->sum[k], s->n[k]));
		json_object_set_new(o, "sums", sums);
		json_array_append_new(list, o);
	}
	return list;
}

int rerun_jobs_restore(struct rerun_jobs *j, const json_t *state)
{
	json_t *o;
	size_t i;

	json_array_foreach(state, i, o)
	{
		struct job_sum s = { .record = json_u32_at(o, "record"),
				     .terminals = json_u32_at(o, "terminals"),
				     .switches = json_u32_at(o, "switches") };
		const json_t *sums = json_object_get(o, "sums");

		if (s.record >= j->log->n || json_array_size(sums) != j->nway)
			return -EPROTO;
		for (size_t k = 0; k < j->nway; k++) {
			const json_t *pair = json_array_get(sums, k);

			s.sum[k] = json_number_value(json_array_get(pair, 0));
			s.n[k] = (uint32_t)json_integer_value(json_array_get(pair, 1));
		}
		vec_push(&j->sums, s);
	}
	return 0;
}
