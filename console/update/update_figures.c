/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/update_figures.h"

#include "console/plan/gate_json.h"
#include "console/plan/plan_gate.h"
#include "engines/metrics/metrics.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/json_text.h"
#include "views/data/state/racks.h"
#include "views/heatmap/heat_cells.h"
#include "views/heatmap/heat_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *update_figures_of(const struct metrics *m)
{
	return json_pack("{s:I, s:f, s:f, s:I, s:I, s:f, s:I, s:f, s:i, s:f, s:i, s:I}", "efi_max",
			 (json_int_t)m->efi_max, "efi_mean", m->efi_mean, "efi_stddev",
			 m->efi_stddev, "job_efi_max", (json_int_t)m->eff_efi_max, "job_efi_bound",
			 (json_int_t)m->eff_efi_bound, "job_efi_mean", m->eff_efi_mean,
			 "dark_links", (json_int_t)m->dark, "dark_pct", m->dark_fiber_pct,
			 "hops_max", (int)m->hops_max, "hops_mean", m->hops_mean, "vls",
			 (int)m->vls_used, "unreachable", (json_int_t)m->unreachable);
}

static void update_figures_put(json_t *j, const char *key, bool known, double v)
{
	if (known)
		json_object_set_new(j, key, json_real(v));
}

/* What decides; EFI explains it.  What is not known is left out. */
static void update_figures_add_times(json_t *j, const struct time_summary *t,
				     enum predict_pattern pattern)
{
	const struct pattern_time *p = &t->of[pattern];
	bool jobs = t->known && t->jobs;

	update_figures_put(j, "time_mean", jobs, p->mean.mean);
	update_figures_put(j, "time_stderr", jobs, p->mean.error);
	update_figures_put(j, "time_worst", jobs, p->worst.mean);
	update_figures_put(j, "time_s_per_mib", jobs && isfinite(p->s_per_MiB), p->s_per_MiB);
	update_figures_put(j, "sync", t->known && t->shift.flows, t->shift.sync.mean);
	update_figures_put(j, "rate_mean", t->known && t->shift.flows, t->shift.rate.mean);
	update_figures_put(j, "demand_time", t->known && t->demand.known, t->demand.time);
	update_figures_put(j, "io_time_mean", t->known && t->io.nodes, t->io.mean.mean);
}

/* Those above are of large messages then. */
static void update_figures_add_sizes(json_t *j, const struct plan_times *x, bool after)
{
	const struct message_figures *m = &x->messages;

	for (int size = 0; m->known && size < MESSAGES_LARGE; size++) {
		const struct time_summary *t = after ? &m->plan[size].time : &m->now[size].time;

		update_figures_put(j, size == MESSAGES_BASE ? "base_time_mean" : "small_time_mean",
				   t->known && t->jobs, t->of[x->pattern].mean.mean);
	}
}

static json_t *update_figures_with_times(const struct metrics *m, const struct plan_times *x,
					 bool after)
{
	json_t *j = update_figures_of(m);

	update_figures_add_times(j, after ? &x->after : &x->before, x->pattern);
	update_figures_add_sizes(j, x, after);
	return j;
}

static uint32_t update_figures_bins(uint32_t n)
{
	return n < FIGURES_CELLS ? n : FIGURES_CELLS;
}

/* Cells of direction 0, or of both where a cable is there once. */
static json_t *update_figures_cells_of(const struct heat_plane *p, const struct fabric *f,
				       const uint64_t *value)
{
	uint32_t nrow = update_figures_bins(p->nrow), ncol = update_figures_bins(p->ncol);
	int64_t *cell = xcalloc((size_t)nrow * ncol + 1, sizeof(*cell));
	json_t *rows = json_array();

	for (uint32_t i = 0; i < nrow * ncol; i++)
		cell[i] = -1;
	for (uint32_t row = 0; row < p->nrow; row++) {
		for (uint32_t k = p->row_off[row]; k < p->row_off[row + 1]; k++) {
			uint32_t chan = p->chan[k];
			int64_t v = (int64_t)value[chan], *at;

			if (p->up && (int64_t)value[f->chan_rev[chan]] > v)
				v = (int64_t)value[f->chan_rev[chan]];
			at = &cell[(uint64_t)row * nrow / p->nrow * ncol +
				   (uint64_t)p->col[k] * ncol / p->ncol];
			*at = v > *at ? v : *at;
		}
	}
	for (uint32_t y = 0; y < nrow; y++) {
		json_t *row = json_array();

		for (uint32_t x = 0; x < ncol; x++)
			json_array_append_new(row, cell[y * ncol + x] < 0
							   ? json_null()
							   : json_integer(cell[y * ncol + x]));
		json_array_append_new(rows, row);
	}
	free(cell);
	return rows;
}

typedef const char *label_fn(char *buf, const struct heat_plane *p, const struct fabric *f,
			     uint32_t i);

static json_t *update_figures_labels_of(const struct heat_plane *p, const struct fabric *f,
					uint32_t n, label_fn *label)
{
	json_t *j = json_array();
	char buf[NAME_LEN];

	for (uint32_t i = 0; i < update_figures_bins(n); i++)
		json_array_append_new(
			j, json_text(label(buf, p, f,
					   (uint32_t)((uint64_t)i * n / update_figures_bins(n)))));
	return j;
}

static json_t *update_figures_heat_of(const struct fabric *f, const struct metrics *before,
				      const struct metrics *after)
{
	struct topology_kind *s = topology_kind_new(f);
	struct racks *racks = racks_new(f, NULL, NULL);
	struct heat_layout *l = heat_layout_new(f, s, racks);
	bool jobs = before->eff_efi_max || after->eff_efi_max;
	json_t *j = NULL;

	if (l && l->nplane && l->plane[0].nrow && l->plane[0].ncol) {
		const struct heat_plane *p = &l->plane[0];

		j = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "title", p->title, "metric",
			      jobs ? "job EFI" : "EFI", "rows",
			      update_figures_labels_of(p, f, p->nrow, heat_row_label), "cols",
			      update_figures_labels_of(p, f, p->ncol, heat_col_label), "before",
			      update_figures_cells_of(p, f, jobs ? before->eff_efi : before->efi),
			      "after",
			      update_figures_cells_of(p, f, jobs ? after->eff_efi : after->efi));
	}
	heat_layout_free(l);
	racks_free(racks);
	topology_kind_free(s);
	return j ? j : json_null();
}

json_t *update_figures(const struct plan *p)
{
	struct metrics *before = NULL, *after = NULL;
	struct plan_times times;
	struct err err;
	json_t *j = NULL;

	if (metrics_compute(&before, p->fabric, p->from, p->jobs, NULL, NULL, &err) ||
	    metrics_compute(&after, p->fabric, p->to, p->jobs, NULL, NULL, &err) ||
	    plan_times(&times, p, NULL, &err))
		log_add(LOG_WARN, "record", "cannot compute the metrics of the plan: %s", err.text);
	else
		j = json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:o}", "plan", p->id, "jobs",
			      (json_int_t)(p->jobs ? p->jobs->njob : 0), "pattern",
			      predict_pattern_name(times.pattern), "time_gate",
			      gate_json(&times.gate), "before",
			      update_figures_with_times(before, &times, false), "after",
			      update_figures_with_times(after, &times, true), "heat",
			      update_figures_heat_of(p->fabric, before, after));
	metrics_free(before);
	metrics_free(after);
	return j;
}

static double update_figures_time(const json_t *j, const char *which)
{
	return json_number_value(json_object_get(json_object_get(j, which), "time_mean"));
}

struct txn_gain update_figures_gain(const json_t *j)
{
	struct txn_gain g = { "", update_figures_time(j, "before"),
			      update_figures_time(j, "after") };

	if (!(g.before > 0 && g.after > 0))
		return (struct txn_gain){ 0 };
	snprintf(g.pattern, sizeof(g.pattern), "%s", json_string_at(j, "pattern"));
	return g;
}

void update_record_figures(struct record *r, const struct plan *p, struct txn_gain *gain)
{
	json_t *j = update_figures(p);

	*gain = update_figures_gain(j);
	if (j)
		record_note(r, "plan.figures", j);
}
