/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/message_summary.h"

#include "console/cli/text/time_json.h"

#include <math.h>
#include <string.h>

/* Of messages of one size. */
struct cell {
	const struct route_report *e;
	const struct message_metrics *m;
	enum message_size size;
};

struct row {
	const char *key;		       /* in JSON; NULL: not there */
	const char *title;		       /* in the table; NULL: not there */
	bool count;			       /* a whole number */
	double (*value)(const struct cell *c); /* NAN unknown */
};

#define VALUE(name, v)                                                                             \
	static double name(const struct cell *c)                                                   \
	{                                                                                          \
		return (double)(v);                                                                \
	}

static double message_summary_time(const struct cell *c, double v)
{
	return c->m->time.known && c->m->time.jobs ? v : NAN;
}

static double message_summary_shift(const struct cell *c, double v)
{
	return c->m->time.known && c->m->time.shift.flows ? v : NAN;
}

static double message_summary_with_jobs(const struct cell *c, double v)
{
	return c->e->jobs ? v : NAN;
}

static double message_summary_ebb_of_jobs(const struct cell *c, bool ci95)
{
	const struct ebb_jobs *x = route_report_ebb_jobs(c->e, c->size);

	return !x || !x->all.bisections ? NAN : ci95 ? x->all.ci95 : x->all.mean;
}

static double message_summary_slowdown(const struct cell *c, bool max)
{
	const struct prediction *x = route_report_jobs_run(c->e, c->size);

	return !x ? NAN : max ? x->slowdown_max : x->slowdown_mean;
}

static double message_summary_io(const struct cell *c, double v)
{
	return c->m->time.known && c->m->time.io.nodes ? v : NAN;
}

#define TIME_OF(pattern, part) message_summary_time(c, c->m->time.of[pattern].part)

VALUE(message_summary_mean, TIME_OF(c->e->pattern, mean.mean))
VALUE(message_summary_error, TIME_OF(c->e->pattern, mean.error))
VALUE(message_summary_nodes, TIME_OF(c->e->pattern, node_mean.mean))
VALUE(message_summary_worst, TIME_OF(c->e->pattern, worst.mean))
VALUE(message_summary_s, TIME_OF(c->e->pattern, s_per_MiB))
VALUE(message_summary_alltoall, TIME_OF(PREDICT_ALLTOALL, mean.mean))
VALUE(message_summary_shifts, TIME_OF(PREDICT_SHIFT, mean.mean))
VALUE(message_summary_rings, TIME_OF(PREDICT_RING, mean.mean))
VALUE(message_summary_stencil2, TIME_OF(PREDICT_STENCIL2, mean.mean))
VALUE(message_summary_stencil3, TIME_OF(PREDICT_STENCIL3, mean.mean))
VALUE(message_summary_sync, message_summary_shift(c, c->m->time.shift.sync.mean))
VALUE(message_summary_sync_error, message_summary_shift(c, c->m->time.shift.sync.error))
VALUE(message_summary_rate, message_summary_shift(c, c->m->time.shift.rate.mean))
VALUE(message_summary_demand,
      c->m->time.known && c->m->time.demand.known ? c->m->time.demand.time : NAN)
VALUE(message_summary_io_mean, message_summary_io(c, c->m->time.io.mean.mean))
VALUE(message_summary_io_worst, message_summary_io(c, c->m->time.io.worst.mean))
VALUE(message_summary_io_s, message_summary_io(c, c->m->time.io.s_per_MiB))
VALUE(message_summary_io_efi, message_summary_io(c, (double)c->m->time.io.efi_max))
VALUE(message_summary_efi, c->m->efi.efi_max)
VALUE(message_summary_eff_efi, message_summary_with_jobs(c, c->m->efi.eff_efi_max))
VALUE(message_summary_job_efi, message_summary_with_jobs(c, c->m->efi.job_efi_max_mean))
VALUE(message_summary_dark, message_summary_with_jobs(c, c->m->efi.dark_fiber_pct))
VALUE(message_summary_hops_max, c->m->efi.hops_max)
VALUE(message_summary_hops, c->m->efi.hops_mean)
VALUE(message_summary_ebb, c->m->ebb.bisections ? c->m->ebb.mean : NAN)
VALUE(message_summary_ebb_ci95, c->m->ebb.bisections ? c->m->ebb.ci95 : NAN)
VALUE(message_summary_ebb_jobs, message_summary_ebb_of_jobs(c, false))
VALUE(message_summary_ebb_jobs_ci95, message_summary_ebb_of_jobs(c, true))
VALUE(message_summary_slowdown_mean, message_summary_slowdown(c, false))
VALUE(message_summary_slowdown_max, message_summary_slowdown(c, true))

static const struct row rows[] = {
	{ "time_mean", "time of jobs, mean", false, message_summary_mean },
	{ "time_stderr", NULL, false, message_summary_error },
	{ "time_node_mean", "  weighted by nodes", false, message_summary_nodes },
	{ "time_worst", "  slowest job", false, message_summary_worst },
	{ "time_s_per_mib", NULL, false, message_summary_s },
	{ NULL, "  in all-to-alls", false, message_summary_alltoall },
	{ NULL, "  in shifts", false, message_summary_shifts },
	{ NULL, "  in rings", false, message_summary_rings },
	{ NULL, "  in 2-D stencils", false, message_summary_stencil2 },
	{ NULL, "  in 3-D stencils", false, message_summary_stencil3 },
	{ "sync", "sync, all hosts, 0-1", false, message_summary_sync },
	{ "sync_stderr", NULL, false, message_summary_sync_error },
	{ "rate_mean", "mean rate, all hosts", false, message_summary_rate },
	{ "demand_time", "time of the demand", false, message_summary_demand },
	{ "io_time_mean", "I/O time of jobs, mean", false, message_summary_io_mean },
	{ "io_time_worst", "  slowest job", false, message_summary_io_worst },
	{ "io_time_s_per_mib", NULL, false, message_summary_io_s },
	{ "io_efi_max", "I/O EFI, max", false, message_summary_io_efi },
	{ "efi_max", "EFI, max", false, message_summary_efi },
	{ "eff_efi_max", "job EFI, max", false, message_summary_eff_efi },
	{ "job_efi_max_mean", "per-job EFI, mean", false, message_summary_job_efi },
	{ "dark_fiber_pct", "unused channels, %", false, message_summary_dark },
	{ "hops_max", "hops, max", true, message_summary_hops_max },
	{ "hops_mean", "hops, mean", false, message_summary_hops },
	{ "ebb", "bisection bandwidth, 0-1", false, message_summary_ebb },
	{ "ebb_ci95", NULL, false, message_summary_ebb_ci95 },
	{ "ebb_jobs", "  within jobs, all active", false, message_summary_ebb_jobs },
	{ "ebb_jobs_ci95", NULL, false, message_summary_ebb_jobs_ci95 },
	{ "slowdown_mean", "slowdown of jobs, mean", false, message_summary_slowdown_mean },
	{ "slowdown_max", "  slowest job", false, message_summary_slowdown_max },
};

#define NROWS (sizeof(rows) / sizeof(*rows))

static struct cell message_summary_cell(const struct route_report *e, int size)
{
	return (struct cell){ e, &e->messages[size], (enum message_size)size };
}

static json_t *message_summary_number(double v, bool count)
{
	if (isnan(v))
		return json_null();
	return count ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *message_summary_of_size(const struct route_report *e, int size)
{
	struct cell c = message_summary_cell(e, size);
	json_t *o = json_object();

	for (size_t i = 0; i < NROWS; i++) {
		if (!rows[i].key)
			continue;
		json_object_set_new(o, rows[i].key,
				    message_summary_number(rows[i].value(&c), rows[i].count));
		if (!strcmp(rows[i].key, "time_s_per_mib"))
			json_object_set_new(o, "times", time_json_patterns(&c.m->time));
	}
	return o;
}

json_t *message_summary_json(const struct route_report *e)
{
	json_t *o;

	if (!e->messages)
		return json_null();
	o = json_object();
	for (int size = 0; size < MESSAGE_SIZES; size++)
		json_object_set_new(o, message_size_name((enum message_size)size),
				    message_summary_of_size(e, size));
	return o;
}

static json_t *message_summary_of_job(const struct route_report *e, enum message_size size,
				      uint32_t job)
{
	const struct job_times *times = route_report_times(e, size);
	const struct prediction *run = route_report_jobs_run(e, size);
	const struct ebb_jobs *ebb = route_report_ebb_jobs(e, size);
	json_t *o = json_object();

	if (times)
		time_json_add_job(o, &times->job[job]);
	if (ebb) {
		json_object_set_new(o, "ebb_alone", json_real(ebb->alone[job].mean));
		json_object_set_new(o, "ebb_together", json_real(ebb->together[job].mean));
	}
	if (run) {
		json_object_set_new(o, "slowdown", json_real(run->job[job].slowdown));
		json_object_set_new(o, "rate_min", json_real(run->job[job].rate_min));
		json_object_set_new(o, "rate_mean", json_real(run->job[job].rate_mean));
	}
	return o;
}

void message_summary_add_job(json_t *o, const struct route_report *e, uint32_t job)
{
	json_t *sizes;

	if (!e->messages)
		return;
	sizes = json_object();
	for (int size = 0; size < MESSAGE_SIZES; size++)
		json_object_set_new(sizes, message_size_name((enum message_size)size),
				    message_summary_of_job(e, (enum message_size)size, job));
	json_object_set_new(o, "messages", sizes);
}

/* All rows of what is not known are left out. */
static void message_summary_print_row(FILE *out, const struct route_report *e, const struct row *r)
{
	double v[MESSAGE_SIZES];
	bool known = false;

	for (int size = 0; size < MESSAGE_SIZES; size++) {
		struct cell c = message_summary_cell(e, size);

		v[size] = r->value(&c);
		known |= !isnan(v[size]);
	}
	if (!known)
		return;
	fprintf(out, "%-24s", r->title);
	for (int size = 0; size < MESSAGE_SIZES; size++)
		fprintf(out, r->count ? " %12.0f" : " %12.3f", v[size]);
	fputc('\n', out);
}

void message_summary_print(FILE *out, const struct route_report *e)
{
	if (!e->messages)
		return;
	fprintf(out, "\n%-24s %12s %12s %12s\n", "messages of this size:", "base LIDs", "small",
		"large");
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].title)
			message_summary_print_row(out, e, &rows[i]);
}
