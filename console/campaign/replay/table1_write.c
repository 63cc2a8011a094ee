/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of Table 1: text, Markdown, CSV and JSON. */
#include "console/campaign/replay/table1.h"

#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct writing {
	const struct table1 *t;
	const json_t *meta;
};

static double table1_mean(const struct table1_way *w, int k)
{
	return w->n ? w->sum[k] / w->n : NAN;
}

static double table1_per(double sum, uint32_t n)
{
	return n ? sum / n : NAN;
}

/* --- text --------------------------------------------------------------------------------- */

static void table1_text_ways(FILE *out, const struct table1 *t)
{
	fprintf(out, "%-22s %8s %8s %7s %8s %7s %9s %7s %4s %8s %8s %9s %7s %7s %7s\n", "routing",
		"time", "+-", "max EFI", "/ bound", "job EFI", "unused %", "links", "VLs",
		"computed", "adopted", "blocks %", "waves", "drains", "jobs");
	for (size_t i = 0; i < t->nway; i++) {
		const struct table1_way *w = &t->way[i];

		if (!w->n) {
			fprintf(out, "%-22s no routing: %s\n", w->label, w->refusal);
			continue;
		}
		fprintf(out, "%-22s %8.3f %8.4f %7.1f %8.3f %7.2f %9.2f %7.1f %4u %8u %8u %9.2f ",
			w->label, table1_mean(w, 4), sqrt(w->error2) / w->n, table1_mean(w, 0),
			table1_per(w->ratio, w->nratio), table1_mean(w, 1), table1_mean(w, 2),
			table1_mean(w, 3), w->vls, w->computed, w->adopted,
			table1_per(w->blocks_pct, w->n));
		if (w->ordered)
			fprintf(out, "%7llu %7u ", (unsigned long long)w->waves, w->drained);
		else
			fprintf(out, "%7s %7s ", "-", "-");
		fprintf(out, "%7llu\n", (unsigned long long)w->touched);
	}
	for (size_t i = 0; i < t->nway; i++)
		if (t->way[i].n && t->way[i].refused)
			fprintf(out, "%s refused at %u times, first: %s\n", t->way[i].label,
				t->way[i].refused, t->way[i].refusal);
}

static void table1_text_gains(FILE *out, const struct table1 *t)
{
	fprintf(out,
		"\nGain, as in SC16 Table 1: the largest of a time, and the mean over the "
		"times\n%-22s %-22s %-24s %10s %8s %10s %8s\n",
		"routing", "over", "figure", "largest", "%", "mean", "%");
	for (size_t a = 0; a < t->nway; a++)
		for (size_t b = 0; b < t->nway; b++)
			for (int k = 0; k < TABLE1_FIGURES && table1_has(t, a, b); k++) {
				const struct table1_gain *g = &t->gain[a][b][k];

				fprintf(out, "%-22s %-22s %-24s %10.2f %8.1f %10.3f %8.2f\n",
					t->way[a].label, t->way[b].label, table1_titles[k],
					g->largest, g->largest_pct, table1_per(g->sum, g->n),
					table1_per(g->sum_pct, g->n));
			}
}

static void table1_head(FILE *out, const struct writing *w)
{
	const struct table1 *t = w->t;

	fprintf(out,
		"%s: %u switches, %u hosts; history %s; %u times with jobs on several switches, of "
		"%u; %.1f jobs, %.1f of them on several switches; bound of the maximum effective "
		"EFI %.1f\n",
		json_string_at(w->meta, "fabric"), json_u32_at(w->meta, "switches"),
		json_u32_at(w->meta, "terminals"), json_string_at(w->meta, "history"), t->times,
		json_u32_at(w->meta, "times"), table1_per(t->jobs, t->times),
		table1_per(t->multi, t->times), table1_per(t->bound, t->times));
}

static int table1_text(FILE *out, const void *what, struct err *err)
{
	const struct writing *w = what;

	(void)err;
	table1_head(out, w);
	fprintf(out,
		"time: of the messages of jobs (%s), 1 without contention; blocks: changed, of all, "
		"per time;\nwaves, drains, jobs: of all updates together\n\n",
		json_string_at(w->meta, "pattern"));
	table1_text_ways(out, w->t);
	table1_text_gains(out, w->t);
	return 0;
}

/* --- Markdown ----------------------------------------------------------------------------- */

static void table1_md_ways(FILE *out, const struct table1 *t)
{
	fprintf(out, "| routing | time | max effective EFI | / bound | job EFI | unused links %% | "
		     "links per job | VLs | adopted | blocks %% | waves | drains | jobs touched |\n"
		     "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | "
		     "--: |\n");
	for (size_t i = 0; i < t->nway; i++) {
		const struct table1_way *w = &t->way[i];

		if (!w->n) {
			fprintf(out, "| %s | no routing: %s |\n", w->label, w->refusal);
			continue;
		}
		fprintf(out,
			"| %s | %.3f ± %.4f | %.1f | %.3f | %.2f | %.2f | %.1f | %u | %u | %.2f | ",
			w->label, table1_mean(w, 4), sqrt(w->error2) / w->n, table1_mean(w, 0),
			table1_per(w->ratio, w->nratio), table1_mean(w, 1), table1_mean(w, 2),
			table1_mean(w, 3), w->vls, w->adopted, table1_per(w->blocks_pct, w->n));
		if (w->ordered)
			fprintf(out, "%llu | %u | ", (unsigned long long)w->waves, w->drained);
		else
			fprintf(out, "- | - | ");
		fprintf(out, "%llu |\n", (unsigned long long)w->touched);
	}
}

static int table1_md(FILE *out, const void *what, struct err *err)
{
	const struct writing *w = what;
	const struct table1 *t = w->t;

	(void)err;
	table1_head(out, w);
	fprintf(out, "\n");
	table1_md_ways(out, t);
	fprintf(out, "\n| routing | over | figure | largest | largest %% | mean | mean %% |\n"
		     "| --- | --- | --- | --: | --: | --: | --: |\n");
	for (size_t a = 0; a < t->nway; a++)
		for (size_t b = 0; b < t->nway; b++)
			for (int k = 0; k < TABLE1_FIGURES && table1_has(t, a, b); k++) {
				const struct table1_gain *g = &t->gain[a][b][k];

				fprintf(out, "| %s | %s | %s | %.2f | %.1f | %.3f | %.2f |\n",
					t->way[a].label, t->way[b].label, table1_titles[k],
					g->largest, g->largest_pct, table1_per(g->sum, g->n),
					table1_per(g->sum_pct, g->n));
			}
	return 0;
}

/* --- CSV, JSON ---------------------------------------------------------------------------- */

static int table1_csv(FILE *out, const void *what, struct err *err)
{
	const struct table1 *t = ((const struct writing *)what)->t;

	(void)err;
	fprintf(out, "routing,over,figure,largest,largest_pct,mean,mean_pct,times\n");
	for (size_t a = 0; a < t->nway; a++)
		for (size_t b = 0; b < t->nway; b++)
			for (int k = 0; k < TABLE1_FIGURES && table1_has(t, a, b); k++) {
				const struct table1_gain *g = &t->gain[a][b][k];

				fprintf(out, "%s,%s,%s,%.6g,%.6g,%.6g,%.6g,%u\n", t->way[a].label,
					t->way[b].label, table1_keys[k], g->largest, g->largest_pct,
					table1_per(g->sum, g->n), table1_per(g->sum_pct, g->n),
					g->n);
			}
	return 0;
}

static json_t *table1_real(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

static json_t *table1_way_json(const struct table1_way *w)
{
	json_t *o = json_object();

	json_object_set_new(o, "method", json_text(w->label));
	json_object_set_new(o, "bound_ratio_mean", table1_real(table1_per(w->ratio, w->nratio)));
	json_object_set_new(o, "bound_ratio_max", table1_real(w->ratio_max));
	json_object_set_new(o, "cpu_ms_mean", table1_real(1e3 * table1_per(w->cpu_s, w->ncpu)));
	json_object_set_new(o, "cpu_ms_max", table1_real(1e3 * w->cpu_max_s));
	json_object_set_new(o, "cpu_s", table1_real(w->cpu_s));
	json_object_set_new(o, "vls", json_integer(w->vls));
	for (int k = 0; k < TABLE1_FIGURES; k++)
		json_object_set_new(o, table1_keys[k], table1_real(table1_mean(w, k)));
	json_object_set_new(o, "time_stderr", table1_real(w->n ? sqrt(w->error2) / w->n : NAN));
	json_object_set_new(o, "computed", json_integer(w->computed));
	json_object_set_new(o, "adopted", json_integer(w->adopted));
	json_object_set_new(o, "refused", json_integer(w->refused));
	json_object_set_new(o, "blocks_pct_mean", table1_real(table1_per(w->blocks_pct, w->n)));
	json_object_set_new(o, "blocks_pct_max", table1_real(w->blocks_pct_max));
	json_object_set_new(o, "waves", json_integer((json_int_t)w->waves));
	json_object_set_new(o, "drains", json_integer(w->drained));
	json_object_set_new(o, "jobs_touched", json_integer((json_int_t)w->touched));
	return o;
}

static json_t *table1_json(const struct writing *w)
{
	const struct table1 *t = w->t;
	json_t *o = json_deep_copy(w->meta), *ways = json_array();

	json_object_set_new(o, "samples", json_integer(t->times));
	json_object_set_new(o, "jobs_mean", table1_real(table1_per(t->jobs, t->times)));
	json_object_set_new(o, "multi_switch_mean", table1_real(table1_per(t->multi, t->times)));
	json_object_set_new(o, "eff_efi_bound", table1_real(table1_per(t->bound, t->times)));
	for (size_t i = 0; i < t->nway; i++)
		json_array_append_new(ways, table1_way_json(&t->way[i]));
	json_object_set_new(o, "methods", ways);
	return o;
}

static int table1_put_json(FILE *out, const void *what, struct err *err)
{
	return output_file_json(out, what, err);
}

int table1_write(const struct table1 *t, const char *dir, const json_t *meta, struct err *err)
{
	static const struct {
		const char *name;
		int (*write)(FILE *out, const void *what, struct err *err);
	} files[] = { { "table1.txt", table1_text },
		      { "table1.md", table1_md },
		      { "table1.csv", table1_csv } };
	struct writing w = { t, meta };
	json_t *summary = table1_json(&w);
	char *path = xasprintf("%s/summary.json", dir);
	int rc = output_file_write(path, table1_put_json, summary, err);

	free(path);
	json_decref(summary);
	for (size_t i = 0; i < 3 && !rc; i++) {
		path = xasprintf("%s/%s", dir, files[i].name);
		rc = output_file_write(path, files[i].write, &w, err);
		free(path);
	}
	return rc;
}
