/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/failures/failures_table.h"

#include "console/campaign/page/jsonl.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double failures_mean(const struct failures_step *s, enum failures_figure k)
{
	return s->n[k] ? s->sum[k] / s->n[k] : NAN;
}

static double failures_table_low(const struct failures_step *s)
{
	return s->low;
}

static double failures_table_high(const struct failures_step *s)
{
	return s->high;
}

static double failures_table_most_vls(const struct failures_step *s)
{
	return s->n[FAIL_VLS] ? s->most[FAIL_VLS] : NAN;
}

/* --- reading ------------------------------------------------------------------------------ */

static struct failures_engine *failures_table_engine(struct failures_table *t, const char *label)
{
	for (size_t i = 0; i < t->nengine; i++)
		if (!strcmp(t->engine[i].label, label))
			return &t->engine[i];
	return NULL;
}

static void failures_table_add(struct failures_step *s, enum failures_figure k, double v)
{
	if (isnan(v))
		return;
	s->sum[k] += v;
	s->most[k] = s->n[k] && s->most[k] > v ? s->most[k] : v;
	s->n[k]++;
}

static void failures_table_add_figures(struct failures_step *s, const json_t *o)
{
	static const struct {
		enum failures_figure k;
		const char *key;
	} plain[] = { { FAIL_EBB, "ebb" },
		      { FAIL_EBB_CI, "ebb_ci95" },
		      { FAIL_SYNC, "sync" },
		      { FAIL_TIME, "time_mean" },
		      { FAIL_VLS, "vls_used" },
		      { FAIL_SLS, "sls_used" },
		      { FAIL_ENTRIES, "entries_changed_before" } };
	double efi = jsonl_number(o, "efi_max"), bound = jsonl_number(o, "efi_bound");

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		failures_table_add(s, plain[i].k, jsonl_number(o, plain[i].key));
	failures_table_add(s, FAIL_EFI_RATIO, bound > 0 ? efi / bound : NAN);
}

static void failures_table_add_retained(struct failures_table *t, struct failures_engine *e,
					struct failures_step *s, const json_t *o, bool usable)
{
	const json_t *repair = json_object_get(o, "repair");
	uint32_t seed = (uint32_t)(json_integer_at(o, "seed") - (json_int_t)t->first_seed);
	uint32_t step = (uint32_t)(s - e->step);
	double v = usable ? jsonl_number(o, "throughput") : 0, retained, ebb;

	if (!step)
		e->whole[seed] = usable ? v : NAN;
	if (!(e->whole[seed] > 0))
		return;
	retained = 100 * v / e->whole[seed];
	if (!isnan(retained))
		s->retained[s->n[FAIL_RETAINED]] = retained;
	if (!s->n[FAIL_RETAINED] || retained < s->worst) {
		s->worst = retained;
		s->worst_seed = t->first_seed + seed;
	}
	failures_table_add(s, FAIL_RETAINED, retained);
	if (isnan(e->lost[seed]) && retained < 100 - FAILURES_LOSS)
		e->lost[seed] = t->at[step];
	if (!repair)
		return;
	failures_table_add(s, FAIL_REPAIR_ENTRIES, jsonl_number(repair, "entries_changed"));
	ebb = json_is_true(json_object_get(repair, "usable")) ? jsonl_number(repair, "ebb") : 0;
	if (v > 0 && jsonl_number(o, "ebb") > 0) /* the hosts that are left are the same */
		failures_table_add(s, FAIL_REPAIR_RETAINED,
				   retained * ebb / jsonl_number(o, "ebb"));
}

static void failures_table_add_packets(struct failures_table *t, struct failures_engine *e,
				       struct failures_step *s, const json_t *o, bool usable)
{
	static const char *const keys[] = { "shift_GBps", "all_to_all_GBps" };
	const json_t *p = json_object_get(o, "packets");
	uint32_t seed = (uint32_t)(json_integer_at(o, "seed") - (json_int_t)t->first_seed);

	if (!t->with_packets)
		return;
	for (int k = 0; k < 2; k++) {
		double v = usable ? jsonl_number(p, keys[k]) : 0;

		if (s == e->step)
			e->packets[k][seed] = usable ? v : NAN;
		if (e->packets[k][seed] > 0)
			failures_table_add(s, (enum failures_figure)(FAIL_SHIFT_PACKETS + k),
					   100 * v / e->packets[k][seed]);
	}
	if (usable)
		failures_table_add(s, FAIL_DEADLOCKS, jsonl_number(p, "deadlocks"));
}

static bool failures_table_take(void *ctx, const json_t *o)
{
	struct failures_table *t = ctx;
	struct failures_engine *e = failures_table_engine(t, json_string_at(o, "engine"));
	uint32_t step = json_u32_at(o, "step");
	uint64_t seed = (uint64_t)json_integer_at(o, "seed") - t->first_seed;
	bool usable = json_is_true(json_object_get(o, "usable"));
	struct failures_step *s;

	if (!e || step >= t->nstep || seed >= t->seeds)
		return false;
	s = &e->step[step];
	if (s->cells == t->seeds)
		return false;
	s->cells++;
	s->usable += usable;
	s->applicable += json_is_true(json_object_get(o, "applicable"));
	s->whole += usable && !json_integer_at(o, "hosts_cut");
	failures_table_add(s, FAIL_HOSTS_CUT, jsonl_number(o, "hosts_cut"));
	if (!usable && !s->why[0])
		snprintf(s->why, sizeof(s->why), "%s",
			 json_string_at(o, json_is_string(json_object_get(o, "why")) ? "why"
										     : "verdict"));
	if (usable)
		failures_table_add_figures(s, o);
	failures_table_add_retained(t, e, s, o, usable);
	failures_table_add_packets(t, e, s, o, usable);
	return false;
}

static int failures_table_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void failures_table_bands(struct failures_table *t)
{
	for (size_t i = 0; i < t->nengine; i++)
		for (uint32_t k = 0; k < t->nstep; k++) {
			struct failures_step *s = &t->engine[i].step[k];
			uint32_t n = s->n[FAIL_RETAINED];

			s->low = s->high = NAN;
			if (!n)
				continue;
			qsort(s->retained, n, sizeof(*s->retained), failures_table_by_value);
			s->low = s->retained[(n - 1) / 10];
			s->high = s->retained[n - 1 - (n - 1) / 10];
		}
}

/* Seeds that never lose so much count as if they did after all others. */
static void failures_table_first_losses(struct failures_table *t)
{
	for (size_t i = 0; i < t->nengine; i++) {
		struct failures_engine *e = &t->engine[i];

		for (uint32_t k = 0; k < t->seeds; k++)
			e->lost[k] = isnan(e->lost[k]) ? INFINITY : e->lost[k];
		qsort(e->lost, t->seeds, sizeof(*e->lost), failures_table_by_value);
		e->first_loss = e->lost[t->seeds / 2];
		if (isinf(e->first_loss))
			e->first_loss = NAN;
	}
}

static struct failures_table *failures_table_new(const json_t *meta)
{
	struct failures_table *t = xcalloc(1, sizeof(*t));
	const json_t *d = json_object_get(meta, "damage"), *at = json_object_get(d, "rates_pct");
	const json_t *engines = json_object_get(meta, "engines");

	t->by_time = !at;
	at = at ? at : json_object_get(d, "days");
	t->nstep = (uint32_t)json_array_size(at);
	t->with_packets = json_is_true(json_object_get(meta, "with_packets"));
	t->with_repair = json_is_true(json_object_get(meta, "with_repair"));
	t->seeds = json_u32_at(meta, "seeds");
	t->first_seed = (uint64_t)json_integer_at(meta, "first_seed");
	t->nengine = json_array_size(engines);
	for (uint32_t i = 0; i < t->nstep; i++)
		t->at[i] = json_number_value(json_array_get(at, i));
	for (size_t i = 0; i < t->nengine; i++) {
		struct failures_engine *e = &t->engine[i];

		snprintf(e->label, sizeof(e->label), "%s",
			 json_string_value(json_array_get(engines, i)));
		e->step = xcalloc(t->nstep, sizeof(*e->step));
		for (uint32_t k = 0; k < t->nstep; k++)
			e->step[k].retained = xcalloc(t->seeds, sizeof(double));
		for (uint32_t k = 0; k < t->seeds; k++)
			e->whole[k] = e->lost[k] = e->packets[0][k] = e->packets[1][k] = NAN;
	}
	return t;
}

void failures_table_free(struct failures_table *t)
{
	for (size_t i = 0; t && i < t->nengine; i++) {
		for (uint32_t k = 0; k < t->nstep; k++)
			free(t->engine[i].step[k].retained);
		free(t->engine[i].step);
	}
	free(t);
}

/* --- writing ------------------------------------------------------------------------------ */

struct failures_writing {
	const struct failures_table *t;
	const json_t *meta;
};

static void failures_table_csv_number(FILE *out, double v)
{
	if (isnan(v))
		fputc(',', out);
	else
		fprintf(out, ",%.6g", v);
}

static int failures_table_csv(FILE *out, const void *what, struct err *err)
{
	const struct failures_table *t = ((const struct failures_writing *)what)->t;

	(void)err;
	fprintf(out,
		"engine,step,%s,cells,applicable,usable,whole,retained_pct,retained_p10,retained_p90,"
		"ebb,ebb_ci95,sync,time_mean,vls_mean,sls_mean,efi_ratio,hosts_cut,entries_changed,"
		"repair_entries,repair_retained_pct%s\n",
		t->by_time ? "days" : "rate_pct",
		t->with_packets ? ",packets_shift_pct,packets_all_to_all_pct,deadlocks" : "");
	for (size_t i = 0; i < t->nengine; i++)
		for (uint32_t k = 0; k < t->nstep; k++) {
			const struct failures_step *s = &t->engine[i].step[k];

			fprintf(out, "%s,%u,%.6g,%u,%u,%u,%u", t->engine[i].label, k, t->at[k],
				s->cells, s->applicable, s->usable, s->whole);
			failures_table_csv_number(out, failures_mean(s, FAIL_RETAINED));
			failures_table_csv_number(out, s->low);
			failures_table_csv_number(out, s->high);
			for (int q = FAIL_EBB; q < (t->with_packets ? FAIL_FIGURES : FAIL_SHIFT_PACKETS);
			     q++)
				failures_table_csv_number(
					out, failures_mean(s, (enum failures_figure)q));
			fputc('\n', out);
		}
	return 0;
}

static void failures_table_head(FILE *out, const struct failures_writing *w)
{
	const struct failures_table *t = w->t;

	fprintf(out,
		"%s: %u switches, %u hosts, %u cables between switches; %u seed%s, the same failures "
		"for all engines\n",
		json_string_at(w->meta, "fabric"), json_u32_at(w->meta, "switches"),
		json_u32_at(w->meta, "terminals"), json_u32_at(w->meta, "cables"), t->seeds,
		t->seeds == 1 ? "" : "s");
}

/* "-": not known; width and digits behind the point as of printf(). */
static void failures_table_number(FILE *out, int width, int digits, double v)
{
	if (isnan(v))
		fprintf(out, " %*s", width, "-");
	else
		fprintf(out, " %*.*f", width, digits, v);
}

/* Columns behind the engine, the step and how many are usable. */
static const struct {
	int width, digits;
	double (*value)(const struct failures_step *s);
	enum failures_figure k; /* where that is NULL: its mean */
	const char *title;
} columns[] = {
	{ 9, 1, NULL, FAIL_RETAINED, "retained" },
	{ 6, 1, failures_table_low, 0, "p10" },
	{ 6, 1, failures_table_high, 0, "p90" },
	{ 6, 3, NULL, FAIL_EBB, "eBB" },
	{ 6, 3, NULL, FAIL_EBB_CI, "eBB +-" },
	{ 6, 3, NULL, FAIL_SYNC, "shifts" },
	{ 6, 2, NULL, FAIL_TIME, "time" },
	{ 5, 1, NULL, FAIL_VLS, "VLs" },
	{ 5, 0, failures_table_most_vls, 0, "max" },
	{ 9, 2, NULL, FAIL_EFI_RATIO, "EFI/bound" },
	{ 8, 1, NULL, FAIL_HOSTS_CUT, "cut off" },
	{ 11, 0, NULL, FAIL_ENTRIES, "LFT entries" },
	{ 9, 0, NULL, FAIL_REPAIR_ENTRIES, "by repair" },
	{ 10, 1, NULL, FAIL_SHIFT_PACKETS, "pkt shifts" },
	{ 8, 1, NULL, FAIL_ALL_PACKETS, "pkt all" },
	{ 9, 1, NULL, FAIL_DEADLOCKS, "deadlocks" },
};

#define PACKET_COLUMNS 3 /* the last ones */

static size_t failures_table_columns(const struct failures_table *t)
{
	return sizeof(columns) / sizeof(*columns) - (t->with_packets ? 0 : PACKET_COLUMNS);
}

static double failures_table_value(const struct failures_step *s, size_t q)
{
	return columns[q].value ? columns[q].value(s) : failures_mean(s, columns[q].k);
}

/* A row for each engine and step: text in columns, or cells of Markdown. */
static void failures_table_rows(FILE *out, const struct failures_table *t, bool md)
{
	for (size_t i = 0; i < t->nengine; i++)
		for (uint32_t k = 0; k < t->nstep; k++) {
			const struct failures_step *s = &t->engine[i].step[k];

			fprintf(out, md ? "| %s | %.4g | %u of %u" : "%-20s %8.4g %5u of %-5u",
				t->engine[i].label, t->at[k], s->usable, s->cells);
			for (size_t q = 0; q < failures_table_columns(t); q++) {
				fputs(md ? " |" : "", out);
				failures_table_number(out, md ? 0 : columns[q].width,
						      columns[q].digits,
						      failures_table_value(s, q));
			}
			fputs(md ? " |\n" : "\n", out);
		}
}

static void failures_table_findings(FILE *out, const struct failures_table *t, const char *begin)
{
	for (size_t i = 0; i < t->nengine; i++) {
		const struct failures_engine *e = &t->engine[i];
		uint32_t k = 0;

		if (!isnan(e->first_loss))
			fprintf(out,
				"%s%s: the first step that costs more than %d %% of the throughput: "
				"%.3g %s (median of the seeds)\n",
				begin, e->label, FAILURES_LOSS, e->first_loss,
				t->by_time ? "days" : "%");
		while (k < t->nstep && !e->step[k].why[0])
			k++;
		if (k < t->nstep)
			fprintf(out, "%s%s: no usable routing first at %.3g %s: %s\n", begin,
				e->label, t->at[k], t->by_time ? "days" : "%", e->step[k].why);
	}
}

static int failures_table_text(FILE *out, const void *what, struct err *err)
{
	const struct failures_writing *w = what;

	(void)err;
	failures_table_head(out, w);
	fprintf(out,
		"throughput retained in %%: mean, 10th and 90th percentile of the seeds; hosts "
		"that are cut off; entries\nchanged against the step before, and by the engine "
		"repair%s\n\n%-20s %8s %14s",
		w->t->with_packets ? "; of packets in simulated time, % retained for shifts and "
				     "all-to-all, and deadlocks"
				   : "",
		"engine", w->t->by_time ? "days" : "rate %", "usable");
	for (size_t q = 0; q < failures_table_columns(w->t); q++)
		fprintf(out, " %*s", columns[q].width, columns[q].title);
	fputc('\n', out);
	failures_table_rows(out, w->t, false);
	fputc('\n', out);
	failures_table_findings(out, w->t, "");
	return 0;
}

static int failures_table_md(FILE *out, const void *what, struct err *err)
{
	const struct failures_writing *w = what;

	(void)err;
	failures_table_head(out, w);
	fprintf(out, "\n| engine | %s | usable |", w->t->by_time ? "days" : "rate %");
	for (size_t q = 0; q < failures_table_columns(w->t); q++)
		fprintf(out, " %s |", columns[q].title);
	fprintf(out, "\n| --- | --: | --: |");
	for (size_t q = 0; q < failures_table_columns(w->t); q++)
		fprintf(out, " --: |");
	fputc('\n', out);
	failures_table_rows(out, w->t, true);
	fputc('\n', out);
	failures_table_findings(out, w->t, "- ");
	return 0;
}

int failures_table_write(const struct failures_table *t, const char *dir, const json_t *meta,
			 struct err *err)
{
	static const struct {
		const char *name;
		int (*write)(FILE *out, const void *what, struct err *err);
	} files[] = { { "failures.txt", failures_table_text },
		      { "failures.md", failures_table_md },
		      { "failures.csv", failures_table_csv } };
	struct failures_writing w = { t, meta };
	int rc = 0;

	for (size_t i = 0; i < 3 && !rc; i++) {
		char *path = xasprintf("%s/%s", dir, files[i].name);

		rc = output_file_write(path, files[i].write, &w, err);
		free(path);
	}
	return rc;
}

/* Files of others may say anything. */
static bool failures_table_fits(const json_t *meta)
{
	const json_t *d = json_object_get(meta, "damage"), *at = json_object_get(d, "rates_pct");
	const json_t *engines = json_object_get(meta, "engines"), *e;
	size_t steps = json_array_size(at ? at : json_object_get(d, "days")), i;
	json_int_t seeds = json_integer_at(meta, "seeds");

	json_array_foreach(engines, i, e)
		if (!json_is_string(e))
			return false;
	return i && i <= FAILURES_ENGINES && steps && steps <= FAILURES_STEPS && seeds > 0 &&
	       seeds <= FAILURES_SEEDS;
}

int failures_table_read(struct failures_table **out, const char *dir, const json_t *meta,
			struct err *err)
{
	char *path = xasprintf("%s/cells.jsonl", dir);
	FILE *in = fopen(path, "re");
	int rc;

	if (in)
		rc = failures_table_read_file(out, in, path, meta, err);
	else
		rc = err_set(err, -errno, "%s cannot be read: %s", path, strerror(errno));
	if (in)
		fclose(in);
	free(path);
	return rc;
}

int failures_table_read_file(struct failures_table **out, FILE *lines, const char *path,
			     const json_t *meta, struct err *err)
{
	struct failures_table *t;
	int rc;

	*out = NULL;
	if (!failures_table_fits(meta))
		return err_set(err, -EINVAL,
			       "%s: what it is of has no engines, steps or seeds, or too many", path);
	t = failures_table_new(meta);
	rc = jsonl_read_file(lines, path, failures_table_take, t, err);
	failures_table_bands(t);
	failures_table_first_losses(t);
	*out = t;
	if (rc) {
		failures_table_free(t);
		*out = NULL;
	}
	return rc;
}
