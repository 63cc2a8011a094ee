/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/table1.h"

#include "console/campaign/page/jsonl.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EFI, JOB_EFI, DARK, LINKS, TIME };

const char *const table1_keys[TABLE1_FIGURES] = { "eff_efi_max", "job_efi_max_mean",
						  "dark_fiber_pct", "links_per_job_mean",
						  "time_mean" };
const char *const table1_titles[TABLE1_FIGURES] = { "max effective EFI", "job EFI, mean of maxima",
						    "unused links, %", "links per job",
						    "time of jobs, mean" };

/* The lines of one time, until the next begins. */
struct reading {
	struct table1 *t;
	json_int_t time;
	bool any;
	bool has[TABLE1_WAYS];
	double value[TABLE1_WAYS][TABLE1_FIGURES];
	double bound;
};

bool table1_has(const struct table1 *t, size_t a, size_t b)
{
	return t->way[a].uses_jobs && !t->way[b].uses_jobs && t->way[a].n && t->way[b].n;
}

static struct table1_way *table1_way(struct table1 *t, const char *label)
{
	for (size_t i = 0; i < t->nway; i++)
		if (!strcmp(t->way[i].label, label))
			return &t->way[i];
	if (t->nway == TABLE1_WAYS)
		return NULL;
	snprintf(t->way[t->nway].label, sizeof(t->way[0].label), "%s", label);
	return &t->way[t->nway++];
}

/* More links are better, of everything else less is. */
static void table1_add_gain(struct table1_gain *g, int k, double a, double b)
{
	double gain = k == LINKS ? a - b : b - a;
	double pct = b > 0 ? 100 * gain / b : 0;

	g->n++;
	g->sum += gain;
	g->sum_pct += pct;
	g->largest = gain > g->largest ? gain : g->largest;
	g->largest_pct = pct > g->largest_pct ? pct : g->largest_pct;
}

static void table1_fold(struct reading *x)
{
	struct table1 *t = x->t;

	for (size_t a = 0; a < t->nway && x->any; a++)
		for (size_t b = 0; b < t->nway; b++)
			if (x->has[a] && x->has[b] && table1_has(t, a, b))
				for (int k = 0; k < TABLE1_FIGURES; k++)
					table1_add_gain(&t->gain[a][b][k], k, x->value[a][k],
							x->value[b][k]);
	t->bound += x->any ? x->bound : 0;
	memset(x->has, 0, sizeof(x->has));
	x->any = false;
}

static void table1_take_costs(struct table1_way *w, const json_t *o)
{
	double blocks = jsonl_number(o, "blocks"), all = jsonl_number(o, "blocks_all");
	double pct = all > 0 ? 100 * blocks / all : 0;

	w->computed += json_is_true(json_object_get(o, "computed"));
	w->adopted += json_is_true(json_object_get(o, "adopted"));
	w->blocks_pct += pct;
	w->blocks_pct_max = fmax(w->blocks_pct_max, pct);
	w->touched += (uint64_t)json_integer_at(o, "jobs_touched");
	if (json_is_integer(json_object_get(o, "waves"))) {
		w->ordered++;
		w->waves += (uint64_t)json_integer_at(o, "waves");
		w->drain_lids += (uint64_t)json_integer_at(o, "drain_lids");
		w->drained += json_integer_at(o, "drain_lids") > 0;
	}
	if (json_is_true(json_object_get(o, "refused")) && !w->refused++)
		snprintf(w->refusal, sizeof(w->refusal), "%s", json_string_at(o, "decision"));
}

static void table1_take_figures(struct reading *x, struct table1_way *w, const json_t *o)
{
	size_t i = (size_t)(w - x->t->way);
	double error = jsonl_number(o, "time_stderr"), bound = jsonl_number(o, "eff_efi_bound");

	x->has[i] = true;
	w->n++;
	w->error2 += error * error;
	w->vls = json_u32_at(o, "vls") > w->vls ? json_u32_at(o, "vls") : w->vls;
	for (int k = 0; k < TABLE1_FIGURES; k++) {
		x->value[i][k] = jsonl_number(o, table1_keys[k]);
		w->sum[k] += x->value[i][k];
	}
	x->bound = bound;
	if (!(bound > 0))
		return;
	w->ratio += x->value[i][EFI] / bound;
	w->ratio_max = fmax(w->ratio_max, x->value[i][EFI] / bound);
	w->nratio++;
}

static bool table1_take_time(void *ctx, const json_t *o)
{
	struct reading *x = ctx;
	struct table1_way *w = table1_way(x->t, json_string_at(o, "routing"));
	json_int_t time = json_integer_at(o, "time");

	if (!w)
		return true;
	if (!x->any || time != x->time) {
		table1_fold(x);
		x->t->times++;
		x->t->jobs += jsonl_number(o, "jobs");
		x->t->multi += jsonl_number(o, "jobs_multi");
		x->time = time;
		x->any = true;
	}
	w->uses_jobs = json_is_true(json_object_get(o, "uses_jobs"));
	table1_take_costs(w, o);
	if (!isnan(jsonl_number(o, "eff_efi_max")))
		table1_take_figures(x, w, o);
	return false;
}

static bool table1_take_seconds(void *ctx, const json_t *o)
{
	struct table1_way *w = table1_way(ctx, json_string_at(o, "routing"));
	double s = jsonl_number(o, "cpu_s");

	if (!w)
		return true;
	w->ncpu++;
	w->cpu_s += s;
	w->cpu_max_s = fmax(w->cpu_max_s, s);
	return false;
}

int table1_read(struct table1 **out, const char *dir, struct err *err)
{
	struct table1 *t = xcalloc(1, sizeof(*t));
	struct reading x = { .t = t };
	int rc = jsonl_read(dir, "times.jsonl", table1_take_time, &x, err);

	table1_fold(&x);
	if (!rc)
		rc = jsonl_read(dir, "seconds.jsonl", table1_take_seconds, t, err);
	*out = rc ? NULL : t;
	if (rc)
		table1_free(t);
	return rc;
}

void table1_free(struct table1 *t)
{
	free(t);
}
