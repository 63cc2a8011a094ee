/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/message_summary.h"

#include "console/cli/text/figures.h"
#include "console/cli/text/time_json.h"

#include <math.h>
#include <string.h>

/* Which figures, in this order. */
static const struct row {
	const char *key;
	const char *title; /* another one than there */
	bool json_only;
} rows[] = {
	{ .key = "time_mean" },
	{ .key = "time_stderr", .json_only = true },
	{ .key = "time_node_mean" },
	{ .key = "time_worst" },
	{ .key = "time_s_per_mib" },
	{ .key = "(alltoalls)", .title = "  in all-to-alls" },
	{ .key = "(shifts)" },
	{ .key = "(rings)" },
	{ .key = "(2d)" },
	{ .key = "(3d)" },
	{ .key = "sync" },
	{ .key = "sync_stderr", .json_only = true },
	{ .key = "rate_mean" },
	{ .key = "demand_time" },
	{ .key = "io_time_mean", .title = "I/O time of jobs, mean" },
	{ .key = "io_time_worst" },
	{ .key = "io_time_s_per_mib" },
	{ .key = "io_efi_max", .title = "I/O EFI, max" },
	{ .key = "efi_max" },
	{ .key = "eff_efi_max" },
	{ .key = "job_efi_max_mean" },
	{ .key = "dark_fiber_pct" },
	{ .key = "hops_max" },
	{ .key = "hops_mean" },
	{ .key = "ebb" },
	{ .key = "ebb_ci95", .json_only = true },
	{ .key = "ebb_jobs" },
	{ .key = "ebb_jobs_ci95", .json_only = true },
	{ .key = "slowdown_mean" },
	{ .key = "slowdown_max" },
};

#define NROWS (sizeof(rows) / sizeof(*rows))

static struct figure_source message_summary_source(const struct route_report *e, int size)
{
	return (struct figure_source){ e, &e->messages[size], (enum message_size)size };
}

/* EFI is a mean over LIDs here, no count. */
static enum figure_kind message_summary_kind(const struct figure *x)
{
	return strcmp(x->key, "hops_max") ? FIGURE_REAL : FIGURE_COUNT;
}

static json_t *message_summary_of_size(const struct route_report *e, int size)
{
	struct figure_source of = message_summary_source(e, size);
	json_t *o = json_object();

	for (size_t i = 0; i < NROWS; i++) {
		const struct figure *x = figures_find(rows[i].key);

		if (!figures_in_json(x))
			continue;
		json_object_set_new(o, x->key,
				    figures_json(message_summary_kind(x), x->value(&of)));
		if (!strcmp(x->key, "time_s_per_mib"))
			json_object_set_new(o, "times", time_json_patterns(&of.m->time));
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
	const struct figure *x = figures_find(r->key);
	const char *title = r->title ? r->title : x->title;
	double v[MESSAGE_SIZES];
	bool known = false;

	for (int size = 0; size < MESSAGE_SIZES; size++) {
		struct figure_source of = message_summary_source(e, size);

		v[size] = x->value(&of);
		known |= !isnan(v[size]);
	}
	if (!known || !title || r->json_only)
		return;
	fprintf(out, "%-24s", title);
	for (int size = 0; size < MESSAGE_SIZES; size++)
		fprintf(out, message_summary_kind(x) == FIGURE_COUNT ? " %12.0f" : " %12.3f",
			v[size]);
	fputc('\n', out);
}

void message_summary_print(FILE *out, const struct route_report *e)
{
	if (!e->messages)
		return;
	fprintf(out, "\n%-24s %12s %12s %12s\n", "messages of this size:", "base LIDs", "small",
		"large");
	for (size_t i = 0; i < NROWS; i++)
		message_summary_print_row(out, e, &rows[i]);
}
