/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/rerun_page.h"

#include "console/campaign/page/jsonl.h"
#include "console/campaign/page/page.h"
#include "console/campaign/page/plot.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 400  /* of a line: each stands for the mean of as many times */
#define DOTS   4000 /* of the jobs */

typedef VEC(double) series;

struct drawing {
	const struct table1 *t;
	const json_t *meta;
	const char *dir;
	series time, value[TABLE1_WAYS][2]; /* of time_mean and eff_efi_max */
	series job[TABLE1_WAYS];
	series size; /* terminals of the jobs */
	const char *label[TABLE1_WAYS];
};

static const char *const drawn[2] = { "time_mean", "eff_efi_max" };

static size_t rerun_page_way(const struct drawing *d, const char *label)
{
	size_t i = 0;

	while (i < d->t->nway && strcmp(d->t->way[i].label, label))
		i++;
	return i;
}

static bool rerun_page_take_time(void *ctx, const json_t *o)
{
	struct drawing *d = ctx;
	size_t i = rerun_page_way(d, json_string_at(o, "routing"));
	double time = jsonl_number(o, "time");

	if (!d->time.n || d->time.v[d->time.n - 1] != time) {
		vec_push(&d->time, time);
		for (size_t k = 0; k < d->t->nway; k++)
			for (int q = 0; q < 2; q++)
				vec_push(&d->value[k][q], NAN);
	}
	for (int q = 0; q < 2 && i < d->t->nway; q++)
		d->value[i][q].v[d->time.n - 1] = jsonl_number(o, drawn[q]);
	return false;
}

static bool rerun_page_take_job(void *ctx, const json_t *o)
{
	struct drawing *d = ctx;
	const json_t *times = json_object_get(o, "times");

	vec_push(&d->size, jsonl_number(o, "terminals"));
	for (size_t i = 0; i < d->t->nway; i++) {
		const json_t *pair = json_object_get(times, d->t->way[i].label);

		vec_push(&d->job[i],
			 json_is_array(pair) ? json_number_value(json_array_get(pair, 0)) : NAN);
	}
	return false;
}

/* --- numbers ------------------------------------------------------------------------------ */

static char *rerun_page_number(const char *form, double v) __attribute__((format(printf, 1, 0)));

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static char *rerun_page_number(const char *form, double v)
{
	char *text;

	return isnan(v) || asprintf(&text, form, v) < 0 ? xstrdup("-") : text;
}
#pragma GCC diagnostic pop

/* Frees the cells. */
static void rerun_page_row(FILE *f, size_t n, char **cell)
{
	page_row(f, n, (const char *const *)cell);
	for (size_t i = 0; i < n; i++)
		free(cell[i]);
}

static double rerun_page_per(double sum, double n)
{
	return n > 0 ? sum / n : NAN;
}

static void rerun_page_costs(FILE *f, const struct drawing *d)
{
	static const char *const head[] = { "routing",	    "time of jobs",
					    "+-",	    "max effective EFI",
					    "of its bound", "links per job",
					    "VLs",	    "computed",
					    "updates",	    "blocks % per time",
					    "waves",	    "with a drain",
					    "jobs touched", "CPU s",
					    "CPU ms each" };

	page_table(f, 15, head);
	for (size_t i = 0; i < d->t->nway; i++) {
		const struct table1_way *w = &d->t->way[i];
		double n = w->n, ordered = w->ordered ? 0 : NAN;
		char *cell[] = {
			xstrdup(w->label),
			rerun_page_number("%.3f", rerun_page_per(w->sum[4], n)),
			rerun_page_number("%.4f", rerun_page_per(sqrt(w->error2), n)),
			rerun_page_number("%.1f", rerun_page_per(w->sum[0], n)),
			rerun_page_number("%.3f", rerun_page_per(w->ratio, w->nratio)),
			rerun_page_number("%.1f", rerun_page_per(w->sum[3], n)),
			rerun_page_number("%.0f", w->vls),
			rerun_page_number("%.0f", w->computed),
			rerun_page_number("%.0f", w->adopted),
			rerun_page_number("%.2f", rerun_page_per(w->blocks_pct, n)),
			rerun_page_number("%.0f", ordered + (double)w->waves),
			rerun_page_number("%.0f", ordered + w->drained),
			rerun_page_number("%.0f", (double)w->touched),
			rerun_page_number("%.1f", w->cpu_s),
			rerun_page_number("%.1f", rerun_page_per(1e3 * w->cpu_s, w->ncpu)),
		};

		rerun_page_row(f, 15, cell);
	}
	page_table_end(f);
	for (size_t i = 0; i < d->t->nway; i++)
		if (d->t->way[i].refused)
			page_paragraph(f, "%s refused at %u times: %s", d->t->way[i].label,
				       d->t->way[i].refused, d->t->way[i].refusal);
}

static void rerun_page_gains(FILE *f, const struct drawing *d)
{
	static const char *const head[] = { "routing, over", "figure", "largest",
					    "largest, %",    "mean",   "mean, %" };

	page_table(f, 6, head);
	for (size_t a = 0; a < d->t->nway; a++)
		for (size_t b = 0; b < d->t->nway; b++)
			for (int k = 0; k < TABLE1_FIGURES && table1_has(d->t, a, b); k++) {
				const struct table1_gain *g = &d->t->gain[a][b][k];
				char *cell[] = {
					xasprintf("%s, over %s", d->t->way[a].label,
						  d->t->way[b].label),
					xstrdup(table1_titles[k]),
					rerun_page_number("%.2f", g->largest),
					rerun_page_number("%.1f", g->largest_pct),
					rerun_page_number("%.3f", rerun_page_per(g->sum, g->n)),
					rerun_page_number("%.2f", rerun_page_per(g->sum_pct, g->n)),
				};

				rerun_page_row(f, 6, cell);
			}
	page_table_end(f);
}

/* --- diagrams ----------------------------------------------------------------------------- */

/* Means over runs of times, so that a line has no more than POINTS. */
static size_t rerun_page_thin(double *to, const double *v, size_t n)
{
	size_t run = (n + POINTS - 1) / POINTS, out = 0;

	for (size_t i = 0; i < n; i += run) {
		double sum = 0;
		size_t m = 0;

		for (size_t k = i; k < i + run && k < n; k++)
			if (!isnan(v[k])) {
				sum += v[k];
				m++;
			}
		to[out++] = m ? sum / (double)m : NAN;
	}
	return out;
}

static void rerun_page_series(FILE *f, const struct drawing *d, int q, const char *title,
			      const char *y)
{
	double x[POINTS + 1], v[TABLE1_WAYS][POINTS + 1];
	struct plot p = { .f = f,
			  .title = title,
			  .x = "time (UTC)",
			  .y = y,
			  .x_time = true,
			  .x0 = NAN,
			  .x1 = NAN,
			  .y0 = NAN,
			  .y1 = NAN };
	size_t n = rerun_page_thin(x, d->time.v, d->time.n);

	plot_span(&p.x0, &p.x1, d->time.v, d->time.n);
	for (size_t i = 0; i < d->t->nway; i++) {
		rerun_page_thin(v[i], d->value[i][q].v, d->time.n);
		plot_span(&p.y0, &p.y1, v[i], n);
	}
	plot_begin(&p);
	for (size_t i = 0; i < d->t->nway; i++)
		plot_line(&p, (unsigned)i, x, v[i], n);
	plot_end(&p);
}

static int rerun_page_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t rerun_page_known(double *to, const double *v, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			to[out++] = v[i];
	qsort(to, out, sizeof(*to), rerun_page_by_value);
	return out;
}

/* Which part of the jobs takes no longer. */
static void rerun_page_ecdf(FILE *f, const struct drawing *d)
{
	struct plot p = { .f = f,
			  .title = "Jobs by their time",
			  .x = "time, 1 without contention",
			  .y = "part of the jobs",
			  .x0 = NAN,
			  .x1 = NAN,
			  .y0 = 0,
			  .y1 = 1 };
	double *sorted = xcalloc(d->size.n + 1, sizeof(*sorted)), x[POINTS], y[POINTS];

	for (size_t i = 0; i < d->t->nway; i++)
		plot_span(&p.x0, &p.x1, d->job[i].v, d->job[i].n);
	plot_begin(&p);
	for (size_t i = 0; i < d->t->nway; i++) {
		size_t n = rerun_page_known(sorted, d->job[i].v, d->job[i].n), m = 0;

		for (size_t k = 0; k < POINTS / 2 && n; k++, m += 2) {
			size_t at = k * (n - 1) / (POINTS / 2 - 1);

			x[m] = x[m + 1] = sorted[at];
			y[m] = k ? y[m - 1] : 0;
			y[m + 1] = (double)(at + 1) / (double)n;
		}
		plot_line(&p, (unsigned)i, x, y, m);
	}
	plot_end(&p);
	free(sorted);
}

/* Around the dots at the ends. */
static void rerun_page_room(double *lo, double *hi)
{
	double room = (*hi - *lo) / 25;

	*lo -= room;
	*hi += room;
}

/* A job's time by one routing against that by another. */
static void rerun_page_scatter(FILE *f, const struct drawing *d, size_t a, size_t b)
{
	char *title = xasprintf("Each job: %s against %s", d->t->way[a].label, d->t->way[b].label);
	char *x = xasprintf("time with %s", d->t->way[b].label),
	     *y = xasprintf("time with %s", d->t->way[a].label);
	struct plot p = {
		.f = f, .title = title, .x = x, .y = y, .diagonal = true, .x0 = NAN, .x1 = NAN
	};
	size_t every = d->size.n / DOTS + 1, n = 0;
	double *px = xcalloc(d->size.n + 1, sizeof(*px)), *py = xcalloc(d->size.n + 1, sizeof(*py));

	for (size_t i = 0; i < d->size.n; i += every, n++) {
		px[n] = d->job[b].v[i];
		py[n] = d->job[a].v[i];
	}
	plot_span(&p.x0, &p.x1, px, n);
	plot_span(&p.x0, &p.x1, py, n);
	rerun_page_room(&p.x0, &p.x1);
	p.y0 = p.x0;
	p.y1 = p.x1;
	plot_begin(&p);
	plot_dots(&p, (unsigned)a, px, py, n);
	plot_end(&p);
	free(px);
	free(py);
	free(title);
	free(x);
	free(y);
}

static void rerun_page_jobs(FILE *f, const struct drawing *d)
{
	size_t b = 0;

	while (b < d->t->nway && (d->t->way[b].uses_jobs || !d->t->way[b].n))
		b++;
	page_plots(f, d->t->nway, d->label);
	rerun_page_ecdf(f, d);
	for (size_t a = 0; a < d->t->nway && b < d->t->nway; a++)
		if (table1_has(d->t, a, b))
			rerun_page_scatter(f, d, a, b);
	page_plots_end(f);
}

static int rerun_page_put(FILE *f, const void *what, struct err *err)
{
	const struct drawing *d = what;

	(void)err;
	page_begin(f, "Replay of a history of jobs");
	page_paragraph(
		f,
		"%s, %u switches, %u hosts, and the jobs of %s: %u times with jobs on several "
		"switches, %.1f of these jobs at a time. Time is that of the messages of a job "
		"(%s), 1 without contention; less is better. ibroute-top %s.",
		json_string_at(d->meta, "fabric"), json_u32_at(d->meta, "switches"),
		json_u32_at(d->meta, "terminals"), json_string_at(d->meta, "history"), d->t->times,
		rerun_page_per(d->t->multi, d->t->times), json_string_at(d->meta, "pattern"),
		json_string_at(d->meta, "program"));
	page_heading(f, "What it gives, and what it costs");
	rerun_page_costs(f, d);
	page_heading(f, "Over time");
	page_plots(f, d->t->nway, d->label);
	rerun_page_series(f, d, 0, "Time of jobs, mean", "1 without contention");
	rerun_page_series(f, d, 1, "Maximum effective EFI", "routes of jobs over a link");
	page_plots_end(f);
	page_heading(f, "Jobs");
	page_paragraph(f, "%zu jobs on several switches; below the diagonal a job gains.",
		       d->size.n);
	rerun_page_jobs(f, d);
	page_heading(f, "Gain of routings that know the jobs (SC16, Table 1)");
	rerun_page_gains(f, d);
	page_end(f);
	return 0;
}

int rerun_page_write(const char *dir, const json_t *meta, const struct table1 *t, struct err *err)
{
	struct drawing *d = xcalloc(1, sizeof(*d));
	char *path = xasprintf("%s/report.html", dir);
	int rc;

	d->t = t;
	d->meta = meta;
	d->dir = dir;
	for (size_t i = 0; i < t->nway; i++)
		d->label[i] = t->way[i].label;
	rc = jsonl_read(dir, "times.jsonl", rerun_page_take_time, d, err);
	if (!rc)
		rc = jsonl_read(dir, "jobs.jsonl", rerun_page_take_job, d, err);
	if (!rc)
		rc = output_file_write(path, rerun_page_put, d, err);
	vec_free(&d->time);
	vec_free(&d->size);
	for (size_t i = 0; i < TABLE1_WAYS; i++) {
		vec_free(&d->value[i][0]);
		vec_free(&d->value[i][1]);
		vec_free(&d->job[i]);
	}
	free(path);
	free(d);
	return rc;
}
