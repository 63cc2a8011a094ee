/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/figures.h"

#include <math.h>
#include <string.h>

#define FIGURE(name, value)                                                                        \
	static double name(const struct figure_source *x)                                          \
	{                                                                                          \
		return (double)(value);                                                            \
	}

/* --- of the routing as a whole --------------------------------------------------------------- */

FIGURE(figures_switches, x->e->f->nsw)
FIGURE(figures_terminals, x->e->f->nterm)

static double figures_lids(const struct figure_source *x)
{
	const struct fabric *f = x->e->f;
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		n += f->lid_end[lid] != FAB_NONE;
	return n;
}

FIGURE(figures_channels, x->e->f->nchan)
FIGURE(figures_vls_used, x->e->v->vls_used)
FIGURE(figures_sls_used, x->e->v->sls_used)
FIGURE(figures_connected, x->e->v->connected)
FIGURE(figures_loop_free, x->e->v->loop_free)

/* means nothing of tables that lose packets */
FIGURE(figures_deadlock_free,
       x->e->v->connected && x->e->v->loop_free ? x->e->v->deadlock_free : NAN)

static double figures_with_jobs(const struct figure_source *x, double value)
{
	return x->e->jobs ? value : NAN;
}

FIGURE(figures_eff_efi_bound, figures_with_jobs(x, (double)x->e->m->eff_efi_bound))
FIGURE(figures_eff_efi_bound_minimal,
       x->e->m->eff_efi_bound_minimal ? (double)x->e->m->eff_efi_bound_minimal : NAN)
FIGURE(figures_links_per_job_mean, figures_with_jobs(x, x->e->m->links_per_job_mean))
FIGURE(figures_lft_blocks, x->e->m->lft_blocks)
FIGURE(figures_entries_changed, x->e->diff ? (double)x->e->diff->entries : NAN)

static double figures_entries_needed(const struct figure_source *x)
{
	const struct note *n = notes_find(&x->e->notes, "entries_needed");

	return n ? (double)n->value : NAN;
}

FIGURE(figures_blocks_changed, x->e->diff ? x->e->diff->nblocks : NAN)

/* --- also by the size of messages ------------------------------------------------------------ */

static const struct time_summary *figures_times(const struct figure_source *x)
{
	return x->m ? &x->m->time : &x->e->time;
}

static double figures_of_time(const struct figure_source *x, double value)
{
	return figures_times(x)->known && figures_times(x)->jobs ? value : NAN;
}

static double figures_of_shift(const struct figure_source *x, double value)
{
	return figures_times(x)->known && figures_times(x)->shift.flows ? value : NAN;
}

static double figures_of_io(const struct figure_source *x, double value)
{
	return figures_times(x)->known && figures_times(x)->io.nodes ? value : NAN;
}

static double figures_of_demand(const struct figure_source *x, double value)
{
	return figures_times(x)->known && figures_times(x)->demand.known ? value : NAN;
}

static double figures_of_ebb(const struct figure_source *x, bool ci95)
{
	const struct ebb *b = x->m ? &x->m->ebb : &x->e->ebb;

	return !b->bisections ? NAN : ci95 ? b->ci95 : b->mean;
}

static double figures_of_ebb_jobs(const struct figure_source *x, bool ci95)
{
	const struct ebb_jobs *b = route_report_ebb_jobs(x->e, x->size);

	return !b || !b->all.bisections ? NAN : ci95 ? b->all.ci95 : b->all.mean;
}

static double figures_of_slowdown(const struct figure_source *x, bool max)
{
	const struct prediction *p = route_report_jobs_run(x->e, x->size);

	return !p ? NAN : max ? p->slowdown_max : p->slowdown_mean;
}

#define TIME_OF(pattern, part) figures_of_time(x, figures_times(x)->of[pattern].part)
#define SHIFT(part)	       figures_of_shift(x, figures_times(x)->shift.part)
#define IO(part)	       figures_of_io(x, (double)figures_times(x)->io.part)
#define METRIC(part)	       (x->m ? (double)x->m->efi.part : (double)x->e->m->part)

/* Times of jobs are those of the pattern. */
FIGURE(figures_time_mean, TIME_OF(x->e->pattern, mean.mean))
FIGURE(figures_time_error, TIME_OF(x->e->pattern, mean.error))
FIGURE(figures_time_node_mean, TIME_OF(x->e->pattern, node_mean.mean))
FIGURE(figures_time_worst, TIME_OF(x->e->pattern, worst.mean))
FIGURE(figures_time_bound, x->e->time_bound > 0 && x->e->pattern == PREDICT_ALLTOALL
				   ? figures_of_time(x, x->e->time_bound)
				   : NAN)
FIGURE(figures_time_s, TIME_OF(x->e->pattern, s_per_MiB))
FIGURE(figures_time_ms, 1e3 * figures_time_s(x))
FIGURE(figures_in_alltoalls, TIME_OF(PREDICT_ALLTOALL, mean.mean))
FIGURE(figures_in_shifts, TIME_OF(PREDICT_SHIFT, mean.mean))
FIGURE(figures_in_rings, TIME_OF(PREDICT_RING, mean.mean))
FIGURE(figures_in_stencil2, TIME_OF(PREDICT_STENCIL2, mean.mean))
FIGURE(figures_in_stencil3, TIME_OF(PREDICT_STENCIL3, mean.mean))
FIGURE(figures_sync, SHIFT(sync.mean))
FIGURE(figures_sync_error, SHIFT(sync.error))
FIGURE(figures_rate_mean, SHIFT(rate.mean))
FIGURE(figures_demand_time, figures_of_demand(x, figures_times(x)->demand.time))
FIGURE(figures_io_nodes, IO(nodes))
FIGURE(figures_io_time_mean, IO(mean.mean))
FIGURE(figures_io_time_worst, IO(worst.mean))
FIGURE(figures_io_time_s, IO(s_per_MiB))
FIGURE(figures_io_efi_max, IO(efi_max))
FIGURE(figures_efi_max, METRIC(efi_max))
FIGURE(figures_eff_efi_max, figures_with_jobs(x, METRIC(eff_efi_max)))
FIGURE(figures_job_efi_max_mean, figures_with_jobs(x, METRIC(job_efi_max_mean)))
FIGURE(figures_dark_fiber_pct, figures_with_jobs(x, METRIC(dark_fiber_pct)))
FIGURE(figures_hops_max, METRIC(hops_max))
FIGURE(figures_hops_mean, METRIC(hops_mean))
FIGURE(figures_ebb, figures_of_ebb(x, false))
FIGURE(figures_ebb_ci95, figures_of_ebb(x, true))
FIGURE(figures_ebb_jobs, figures_of_ebb_jobs(x, false))
FIGURE(figures_ebb_jobs_ci95, figures_of_ebb_jobs(x, true))
FIGURE(figures_slowdown_mean, figures_of_slowdown(x, false))
FIGURE(figures_slowdown_max, figures_of_slowdown(x, true))

static const struct figure figures[] = {
	{ "switches", NULL, FIGURE_COUNT, figures_switches },
	{ "terminals", NULL, FIGURE_COUNT, figures_terminals },
	{ "lids", NULL, FIGURE_COUNT, figures_lids },
	{ "channels", NULL, FIGURE_COUNT, figures_channels },
	{ "vls_used", "VLs used", FIGURE_COUNT, figures_vls_used },
	{ "sls_used", "SLs used", FIGURE_COUNT, figures_sls_used },
	{ "connected", "connected", FIGURE_YES_NO, figures_connected },
	{ "loop_free", "loop-free", FIGURE_YES_NO, figures_loop_free },
	{ "deadlock_free", "deadlock-free", FIGURE_YES_NO, figures_deadlock_free },
	{ "hops_max", "hops, max", FIGURE_COUNT, figures_hops_max },
	{ "hops_mean", "hops, mean", FIGURE_REAL, figures_hops_mean },
	{ "time_mean", "time of jobs, mean", FIGURE_REAL, figures_time_mean },
	{ "time_stderr", "  +- standard error", FIGURE_REAL, figures_time_error },
	{ "time_bound", "  lower bound", FIGURE_REAL, figures_time_bound },
	{ "time_node_mean", "  weighted by nodes", FIGURE_REAL, figures_time_node_mean },
	{ "time_worst", "  slowest job", FIGURE_REAL, figures_time_worst },
	{ "time_s_per_mib", NULL, FIGURE_REAL, figures_time_s },
	{ "(ms)", "  ms per MiB", FIGURE_REAL, figures_time_ms },
	{ "(alltoalls)", NULL, FIGURE_REAL, figures_in_alltoalls },
	{ "(shifts)", "  in shifts", FIGURE_REAL, figures_in_shifts },
	{ "(rings)", "  in rings", FIGURE_REAL, figures_in_rings },
	{ "(2d)", "  in 2-D stencils", FIGURE_REAL, figures_in_stencil2 },
	{ "(3d)", "  in 3-D stencils", FIGURE_REAL, figures_in_stencil3 },
	{ "sync", "shift efficiency, 0-1", FIGURE_REAL, figures_sync },
	{ "sync_stderr", "  +- standard error", FIGURE_REAL, figures_sync_error },
	{ "rate_mean", "mean rate, all hosts", FIGURE_REAL, figures_rate_mean },
	{ "demand_time", "time of the demand", FIGURE_REAL, figures_demand_time },
	{ "io_nodes", "I/O nodes", FIGURE_COUNT, figures_io_nodes },
	{ "io_time_mean", "  I/O time of jobs, mean", FIGURE_REAL, figures_io_time_mean },
	{ "io_time_worst", "  slowest job", FIGURE_REAL, figures_io_time_worst },
	{ "io_time_s_per_mib", NULL, FIGURE_REAL, figures_io_time_s },
	{ "io_efi_max", "  I/O EFI, max", FIGURE_COUNT, figures_io_efi_max },
	{ "efi_max", "EFI, max", FIGURE_COUNT, figures_efi_max },
	{ "eff_efi_max", "job EFI, max", FIGURE_COUNT, figures_eff_efi_max },
	{ "eff_efi_bound", "  lower bound", FIGURE_COUNT, figures_eff_efi_bound },
	{ "eff_efi_bound_minimal", "  with shortest paths", FIGURE_COUNT,
	  figures_eff_efi_bound_minimal },
	{ "job_efi_max_mean", "per-job EFI, mean", FIGURE_REAL, figures_job_efi_max_mean },
	{ "dark_fiber_pct", "unused channels, %", FIGURE_REAL, figures_dark_fiber_pct },
	{ "links_per_job_mean", "links per job, mean", FIGURE_REAL, figures_links_per_job_mean },
	{ "ebb", "bisection bandwidth, 0-1", FIGURE_REAL, figures_ebb },
	{ "ebb_ci95", "  +-", FIGURE_REAL, figures_ebb_ci95 },
	{ "ebb_jobs", "  within jobs, all active", FIGURE_REAL, figures_ebb_jobs },
	{ "ebb_jobs_ci95", "  +-", FIGURE_REAL, figures_ebb_jobs_ci95 },
	{ "slowdown_mean", "slowdown of jobs, mean", FIGURE_REAL, figures_slowdown_mean },
	{ "slowdown_max", "  slowest job", FIGURE_REAL, figures_slowdown_max },
	{ "lft_blocks", "LFT blocks", FIGURE_COUNT, figures_lft_blocks },
	{ "lft_entries_changed", "  entries changed", FIGURE_COUNT, figures_entries_changed },
	{ "entries_changed", NULL, FIGURE_COUNT, figures_entries_changed },
	{ "entries_needed", "  entries needed", FIGURE_COUNT, figures_entries_needed },
	{ "lft_blocks_changed", "  blocks changed", FIGURE_COUNT, figures_blocks_changed },
};

#define NFIGURES (sizeof(figures) / sizeof(*figures))

const struct figure *figures_at(size_t i)
{
	return i < NFIGURES ? &figures[i] : NULL;
}

const struct figure *figures_find(const char *key)
{
	for (size_t i = 0; i < NFIGURES; i++)
		if (!strcmp(figures[i].key, key))
			return &figures[i];
	return NULL;
}

bool figures_in_json(const struct figure *x)
{
	return x->key[0] != '(';
}

json_t *figures_json(enum figure_kind kind, double v)
{
	if (isnan(v))
		return json_null();
	if (kind == FIGURE_YES_NO)
		return json_boolean(v != 0);
	return kind == FIGURE_COUNT ? json_integer((json_int_t)v) : json_real(v);
}
