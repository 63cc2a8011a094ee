/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/failures/failures_page.h"

#include "console/campaign/page/page.h"
#include "console/campaign/page/plot.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <math.h>
#include <stdlib.h>

struct failures_drawing {
	const struct failures_table *t;
	const json_t *meta;
};

static const char *failures_page_axis(const struct failures_table *t)
{
	return t->by_time ? "days" : "failed parts, %";
}

/* One value for each step of an engine. */
typedef double failures_value(const struct failures_step *s);

static double failures_page_retained(const struct failures_step *s)
{
	return failures_mean(s, FAIL_RETAINED);
}

static double failures_page_shift_packets(const struct failures_step *s)
{
	return failures_mean(s, FAIL_SHIFT_PACKETS);
}

static double failures_page_all_packets(const struct failures_step *s)
{
	return failures_mean(s, FAIL_ALL_PACKETS);
}

static double failures_page_usable(const struct failures_step *s)
{
	return s->cells ? 100.0 * s->usable / s->cells : NAN;
}

static double failures_page_whole(const struct failures_step *s)
{
	return s->cells ? 100.0 * s->whole / s->cells : NAN;
}

static double failures_page_vls(const struct failures_step *s)
{
	return s->n[FAIL_VLS] ? s->most[FAIL_VLS] : NAN;
}

static double failures_page_entries(const struct failures_step *s)
{
	return failures_mean(s, FAIL_ENTRIES);
}

static double failures_page_repaired(const struct failures_step *s)
{
	return failures_mean(s, FAIL_REPAIR_ENTRIES);
}

static void failures_page_plot(FILE *f, const struct failures_table *t, const char *title,
			       const char *y, failures_value *value, bool band)
{
	struct plot p = { .f = f,
			  .title = title,
			  .x = failures_page_axis(t),
			  .y = y,
			  .x0 = NAN,
			  .x1 = NAN,
			  .y0 = band ? NAN : 0,
			  .y1 = NAN };
	double v[FAILURES_STEPS], low[FAILURES_STEPS], high[FAILURES_STEPS];

	plot_span(&p.x0, &p.x1, t->at, t->nstep);
	for (size_t i = 0; i < t->nengine; i++)
		for (uint32_t k = 0; k < t->nstep; k++) {
			v[k] = value(&t->engine[i].step[k]);
			plot_span(&p.y0, &p.y1, &v[k], 1);
			if (!band)
				continue;
			plot_span(&p.y0, &p.y1, &t->engine[i].step[k].low, 1);
			plot_span(&p.y0, &p.y1, &t->engine[i].step[k].high, 1);
		}
	if (band && p.y1 - p.y0 < 20) /* what little is lost is seen */
		p.y0 -= 0.1 * (p.y1 - p.y0);
	plot_begin(&p);
	for (size_t i = 0; i < t->nengine; i++) {
		for (uint32_t k = 0; k < t->nstep; k++) {
			v[k] = value(&t->engine[i].step[k]);
			low[k] = t->engine[i].step[k].low;
			high[k] = t->engine[i].step[k].high;
		}
		if (band)
			plot_band(&p, (unsigned)i, t->at, low, high, t->nstep);
		plot_line(&p, (unsigned)i, t->at, v, t->nstep);
	}
	plot_end(&p);
}

static char *failures_page_number(double v, int digits)
{
	return isnan(v) ? xstrdup("-") : xasprintf("%.*f", digits, v);
}

static void failures_page_table(FILE *f, const struct failures_table *t)
{
	const char *const head[] = { "engine",
				     failures_page_axis(t),
				     "usable",
				     "throughput retained, %",
				     "10th percentile",
				     "90th percentile",
				     "eBB",
				     "eBB +-",
				     "shift efficiency",
				     "VLs, max",
				     "max EFI / bound",
				     "hosts cut off",
				     "entries changed",
				     "by repair",
				     "retained with repair, %" };

	page_table(f, 15, head);
	for (size_t i = 0; i < t->nengine; i++)
		for (uint32_t k = 0; k < t->nstep; k++) {
			const struct failures_step *s = &t->engine[i].step[k];
			char *cell[] = {
				xstrdup(t->engine[i].label),
				xasprintf("%.4g", t->at[k]),
				xasprintf("%u of %u", s->usable, s->cells),
				failures_page_number(failures_mean(s, FAIL_RETAINED), 1),
				failures_page_number(s->low, 1),
				failures_page_number(s->high, 1),
				failures_page_number(failures_mean(s, FAIL_EBB), 3),
				failures_page_number(failures_mean(s, FAIL_EBB_CI), 3),
				failures_page_number(failures_mean(s, FAIL_SYNC), 3),
				failures_page_number(failures_page_vls(s), 0),
				failures_page_number(failures_mean(s, FAIL_EFI_RATIO), 2),
				failures_page_number(failures_mean(s, FAIL_HOSTS_CUT), 1),
				failures_page_number(failures_mean(s, FAIL_ENTRIES), 0),
				failures_page_number(failures_mean(s, FAIL_REPAIR_ENTRIES), 0),
				failures_page_number(failures_mean(s, FAIL_REPAIR_RETAINED), 1),
			};

			page_row(f, 15, (const char *const *)cell);
			for (int q = 0; q < 15; q++)
				free(cell[q]);
		}
	page_table_end(f);
}

static void failures_page_findings(FILE *f, const struct failures_table *t)
{
	for (size_t i = 0; i < t->nengine; i++) {
		const struct failures_engine *e = &t->engine[i];
		uint32_t k = 0;

		if (!isnan(e->first_loss))
			page_paragraph(
				f,
				"%s loses more than %d %% of the throughput first at %.3g %s "
				"(median of the seeds).",
				e->label, FAILURES_LOSS, e->first_loss, t->by_time ? "days" : "%");
		while (k < t->nstep && !e->step[k].why[0])
			k++;
		if (k < t->nstep)
			page_paragraph(f, "%s has no usable routing first at %.3g %s: %s", e->label,
				       t->at[k], t->by_time ? "days" : "%", e->step[k].why);
	}
}

static void failures_page_plots(FILE *f, const struct failures_table *t)
{
	const char *label[FAILURES_ENGINES];

	for (size_t i = 0; i < t->nengine; i++)
		label[i] = t->engine[i].label;
	page_plots(f, t->nengine, label);
	failures_page_plot(f, t, "Throughput retained", "%, 10th to 90th percentile",
			   failures_page_retained, true);
	if (t->with_packets) {
		failures_page_plot(f, t, "Packets: rate of shifts retained", "% in simulated time",
				   failures_page_shift_packets, false);
		failures_page_plot(f, t, "Packets: rate of all-to-all retained",
				   "% in simulated time", failures_page_all_packets, false);
	}
	failures_page_plot(f, t, "Usable routings", "% of the seeds", failures_page_usable, false);
	failures_page_plot(f, t, "Survival: usable, and no host cut off", "% of the seeds",
			   failures_page_whole, false);
	failures_page_plot(f, t, "Virtual lanes (VLs)", "most of the seeds", failures_page_vls,
			   false);
	failures_page_plot(f, t, "Entries changed against the step before", "LFT entries",
			   failures_page_entries, false);
	if (t->with_repair)
		failures_page_plot(f, t, "The same by the engine repair", "LFT entries",
				   failures_page_repaired, false);
	page_plots_end(f);
}

static int failures_page_put(FILE *f, const void *what, struct err *err)
{
	const struct failures_drawing *d = what;

	(void)err;
	page_begin(f, "Failures");
	page_paragraph(f,
		       "%s, %u switches, %u hosts, %u cables between switches; %u seeds, the same "
		       "failures for all engines. Throughput is the effective bisection bandwidth "
		       "times the share of the hosts that are left. ibroute-top %s.",
		       json_string_at(d->meta, "fabric"), json_u32_at(d->meta, "switches"),
		       json_u32_at(d->meta, "terminals"), json_u32_at(d->meta, "cables"),
		       d->t->seeds, json_string_at(d->meta, "program"));
	failures_page_findings(f, d->t);
	page_heading(f, "Against failures");
	failures_page_plots(f, d->t);
	page_heading(f, "Figures");
	failures_page_table(f, d->t);
	page_end(f);
	return 0;
}

int failures_page_write(const char *dir, const json_t *meta, const struct failures_table *t,
			struct err *err)
{
	struct failures_drawing d = { t, meta };
	char *path = xasprintf("%s/report.html", dir);
	int rc = output_file_write(path, failures_page_put, &d, err);

	free(path);
	return rc;
}
