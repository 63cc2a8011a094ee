/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/summary.h"

#include "console/cli/text/message_summary.h"
#include "console/cli/text/time_json.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE 400

enum figure_kind { FIGURE_COUNT, FIGURE_REAL, FIGURE_YES_NO };

struct figure {
	const char *key;   /* in JSON; NULL: not there */
	const char *title; /* in the table; NULL: not there */
	enum figure_kind kind;
	double (*value)(const struct route_report *e); /* NAN unknown */
};

#define FIGURE(name, value)                                                                        \
	static double name(const struct route_report *e)                                           \
	{                                                                                          \
		return (double)(value);                                                            \
	}

FIGURE(summary_switches, e->f->nsw)
FIGURE(summary_terminals, e->f->nterm)

static double summary_lids(const struct route_report *e)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= e->f->max_lid; lid++)
		n += e->f->lid_end[lid] != FAB_NONE;
	return n;
}

FIGURE(summary_channels, e->f->nchan)
FIGURE(summary_vls_used, e->v->vls_used)
FIGURE(summary_sls_used, e->v->sls_used)
FIGURE(summary_connected, e->v->connected)
FIGURE(summary_loop_free, e->v->loop_free)

/* means nothing of tables that lose packets */
FIGURE(summary_deadlock_free, e->v->connected && e->v->loop_free ? e->v->deadlock_free : NAN)
FIGURE(summary_hops_max, e->m->hops_max)
FIGURE(summary_hops_mean, e->m->hops_mean)

/* Times of jobs are those of the pattern. */
static double summary_time(const struct route_report *e, double value)
{
	return e->time.known && e->time.jobs ? value : NAN;
}

static double summary_shift(const struct route_report *e, double value)
{
	return e->time.known && e->time.shift.flows ? value : NAN;
}

FIGURE(summary_time_mean, summary_time(e, e->time.of[e->pattern].mean.mean))
FIGURE(summary_time_error, summary_time(e, e->time.of[e->pattern].mean.error))
FIGURE(summary_time_node_mean, summary_time(e, e->time.of[e->pattern].node_mean.mean))
FIGURE(summary_time_worst, summary_time(e, e->time.of[e->pattern].worst.mean))
FIGURE(summary_time_bound,
       e->time_bound > 0 && e->pattern == PREDICT_ALLTOALL ? summary_time(e, e->time_bound) : NAN)
FIGURE(summary_time_s, summary_time(e, e->time.of[e->pattern].s_per_MiB))
FIGURE(summary_time_ms, 1e3 * summary_time_s(e))
FIGURE(summary_in_shifts, summary_time(e, e->time.of[PREDICT_SHIFT].mean.mean))
FIGURE(summary_in_rings, summary_time(e, e->time.of[PREDICT_RING].mean.mean))
FIGURE(summary_in_stencil2, summary_time(e, e->time.of[PREDICT_STENCIL2].mean.mean))
FIGURE(summary_in_stencil3, summary_time(e, e->time.of[PREDICT_STENCIL3].mean.mean))
FIGURE(summary_sync, summary_shift(e, e->time.shift.sync.mean))
FIGURE(summary_sync_error, summary_shift(e, e->time.shift.sync.error))
FIGURE(summary_rate_mean, summary_shift(e, e->time.shift.rate.mean))
static double summary_io(const struct route_report *e, double value)
{
	return e->time.known && e->time.io.nodes ? value : NAN;
}

FIGURE(summary_io_nodes, summary_io(e, e->time.io.nodes))
FIGURE(summary_io_time_mean, summary_io(e, e->time.io.mean.mean))
FIGURE(summary_io_time_worst, summary_io(e, e->time.io.worst.mean))
FIGURE(summary_io_time_s, summary_io(e, e->time.io.s_per_MiB))
FIGURE(summary_io_efi_max, summary_io(e, (double)e->time.io.efi_max))
FIGURE(summary_demand_time,
       e->time.known && e->time.demand.known ? e->time.demand.time : NAN)
FIGURE(summary_efi_max, e->m->efi_max)

static double summary_with_jobs(const struct route_report *e, double value)
{
	return e->jobs ? value : NAN;
}

FIGURE(summary_eff_efi_max, summary_with_jobs(e, (double)e->m->eff_efi_max))
FIGURE(summary_eff_efi_bound, summary_with_jobs(e, (double)e->m->eff_efi_bound))
FIGURE(summary_eff_efi_bound_minimal,
       e->m->eff_efi_bound_minimal ? (double)e->m->eff_efi_bound_minimal : NAN)
FIGURE(summary_job_efi_max_mean, summary_with_jobs(e, e->m->job_efi_max_mean))
FIGURE(summary_dark_fiber_pct, summary_with_jobs(e, e->m->dark_fiber_pct))
FIGURE(summary_links_per_job_mean, summary_with_jobs(e, e->m->links_per_job_mean))
FIGURE(summary_ebb, e->ebb.bisections ? e->ebb.mean : NAN)
FIGURE(summary_ebb_ci95, e->ebb.bisections ? e->ebb.ci95 : NAN)
FIGURE(summary_ebb_jobs, e->ebb_jobs && e->ebb_jobs->all.bisections ? e->ebb_jobs->all.mean : NAN)
FIGURE(summary_ebb_jobs_ci95,
       e->ebb_jobs && e->ebb_jobs->all.bisections ? e->ebb_jobs->all.ci95 : NAN)
FIGURE(summary_slowdown_mean, e->jobs_run ? e->jobs_run->slowdown_mean : NAN)
FIGURE(summary_slowdown_max, e->jobs_run ? e->jobs_run->slowdown_max : NAN)
FIGURE(summary_lft_blocks, e->m->lft_blocks)
FIGURE(summary_entries_changed, e->diff ? (double)e->diff->entries : NAN)
FIGURE(summary_blocks_changed, e->diff ? e->diff->nblocks : NAN)

/* In the order of the JSON object; "seconds" stands after sls_used. */
static const struct figure figures[] = {
	{ "switches", NULL, FIGURE_COUNT, summary_switches },
	{ "terminals", NULL, FIGURE_COUNT, summary_terminals },
	{ "lids", NULL, FIGURE_COUNT, summary_lids },
	{ "channels", NULL, FIGURE_COUNT, summary_channels },
	{ "vls_used", "VLs used", FIGURE_COUNT, summary_vls_used },
	{ "sls_used", "SLs used", FIGURE_COUNT, summary_sls_used },
	{ "connected", "connected", FIGURE_YES_NO, summary_connected },
	{ "loop_free", "loop-free", FIGURE_YES_NO, summary_loop_free },
	{ "deadlock_free", "deadlock-free", FIGURE_YES_NO, summary_deadlock_free },
	{ "hops_max", "hops, max", FIGURE_COUNT, summary_hops_max },
	{ "hops_mean", "hops, mean", FIGURE_REAL, summary_hops_mean },
	{ "time_mean", "time of jobs, mean", FIGURE_REAL, summary_time_mean },
	{ "time_stderr", "  +- standard error", FIGURE_REAL, summary_time_error },
	{ "time_bound", "  lower bound", FIGURE_REAL, summary_time_bound },
	{ "time_node_mean", "  weighted by nodes", FIGURE_REAL, summary_time_node_mean },
	{ "time_worst", "  slowest job", FIGURE_REAL, summary_time_worst },
	{ "time_s_per_mib", NULL, FIGURE_REAL, summary_time_s },
	{ NULL, "  ms per MiB", FIGURE_REAL, summary_time_ms },
	{ NULL, "  in shifts", FIGURE_REAL, summary_in_shifts },
	{ NULL, "  in rings", FIGURE_REAL, summary_in_rings },
	{ NULL, "  in 2-D stencils", FIGURE_REAL, summary_in_stencil2 },
	{ NULL, "  in 3-D stencils", FIGURE_REAL, summary_in_stencil3 },
	{ "sync", "sync, all hosts, 0-1", FIGURE_REAL, summary_sync },
	{ "sync_stderr", "  +- standard error", FIGURE_REAL, summary_sync_error },
	{ "rate_mean", "mean rate, all hosts", FIGURE_REAL, summary_rate_mean },
	{ "demand_time", "time of the demand", FIGURE_REAL, summary_demand_time },
	{ "io_nodes", "I/O nodes", FIGURE_COUNT, summary_io_nodes },
	{ "io_time_mean", "  I/O time of jobs, mean", FIGURE_REAL, summary_io_time_mean },
	{ "io_time_worst", "  slowest job", FIGURE_REAL, summary_io_time_worst },
	{ "io_time_s_per_mib", NULL, FIGURE_REAL, summary_io_time_s },
	{ "io_efi_max", "  I/O EFI, max", FIGURE_COUNT, summary_io_efi_max },
	{ "efi_max", "EFI, max", FIGURE_COUNT, summary_efi_max },
	{ "eff_efi_max", "job EFI, max", FIGURE_COUNT, summary_eff_efi_max },
	{ "eff_efi_bound", "  lower bound", FIGURE_COUNT, summary_eff_efi_bound },
	{ "eff_efi_bound_minimal", "  with shortest paths", FIGURE_COUNT,
	  summary_eff_efi_bound_minimal },
	{ "job_efi_max_mean", "per-job EFI, mean", FIGURE_REAL, summary_job_efi_max_mean },
	{ "dark_fiber_pct", "unused channels, %", FIGURE_REAL, summary_dark_fiber_pct },
	{ "links_per_job_mean", "links per job, mean", FIGURE_REAL, summary_links_per_job_mean },
	{ "ebb", "bisection bandwidth, 0-1", FIGURE_REAL, summary_ebb },
	{ "ebb_ci95", "  +-", FIGURE_REAL, summary_ebb_ci95 },
	{ "ebb_jobs", "  within jobs, all active", FIGURE_REAL, summary_ebb_jobs },
	{ "ebb_jobs_ci95", "  +-", FIGURE_REAL, summary_ebb_jobs_ci95 },
	{ "slowdown_mean", "slowdown of jobs, mean", FIGURE_REAL, summary_slowdown_mean },
	{ "slowdown_max", "  slowest job", FIGURE_REAL, summary_slowdown_max },
	{ "lft_blocks", "LFT blocks", FIGURE_COUNT, summary_lft_blocks },
	{ "lft_entries_changed", "  entries changed", FIGURE_COUNT, summary_entries_changed },
	{ "lft_blocks_changed", "  blocks changed", FIGURE_COUNT, summary_blocks_changed },
};

#define NFIGURES (sizeof(figures) / sizeof(*figures))

static json_t *summary_json_figure(enum figure_kind kind, double v)
{
	if (isnan(v))
		return json_null();
	if (kind == FIGURE_YES_NO)
		return json_boolean(v != 0);
	return kind == FIGURE_COUNT ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *summary_json_seconds(const struct route_report *e)
{
	json_t *s = json_object();

	json_object_set_new(s, "total", summary_json_figure(FIGURE_REAL, e->total_s));
	json_object_set_new(s, "paths", summary_json_figure(FIGURE_REAL, e->paths_s));
	json_object_set_new(s, "layers", summary_json_figure(FIGURE_REAL, e->layers_s));
	json_object_set_new(s, "verify", summary_json_figure(FIGURE_REAL, e->verify_s));
	return s;
}

json_t *summary_json(const struct route_report *e)
{
	json_t *o = json_object();

	json_object_set_new(o, "engine", json_text(e->engine));
	for (size_t i = 0; i < NFIGURES; i++) {
		if (!figures[i].key)
			continue;
		json_object_set_new(o, figures[i].key,
				    summary_json_figure(figures[i].kind, figures[i].value(e)));
		if (!strcmp(figures[i].key, "sls_used"))
			json_object_set_new(o, "seconds", summary_json_seconds(e));
		if (!strcmp(figures[i].key, "rate_mean"))
			json_object_set_new(o, "times", time_json_patterns(&e->time));
	}
	return o;
}

static void summary_add_notes(json_t *summary, const struct route_report *e)
{
	json_t *notes;

	if (!e->notes.n)
		return;
	notes = json_object();
	for (size_t i = 0; i < e->notes.n; i++)
		json_object_set_new(notes, e->notes.list[i].key,
				    json_integer((json_int_t)e->notes.list[i].value));
	json_object_set_new(summary, "notes", notes);
}

void summary_print_notes(FILE *out, const struct route_report *e)
{
	for (size_t i = 0; i < e->notes.n; i++)
		fprintf(out, "%s: %s\n", e->engine, e->notes.list[i].text);
}

/* NAME and, how far it may be off, NAME_ci95. */
static void summary_json_add_ebb(json_t *o, const char *name, const struct ebb *e)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_ci95", name);
	json_object_set_new(o, name, json_real(e->mean));
	json_object_set_new(o, key, json_real(e->ci95));
}

static json_t *summary_json_job(const struct route_report *e, uint32_t j)
{
	const struct job *job = &e->jobs->jobs[j];
	const struct job_metrics *m = &e->m->job[j];
	json_t *o = json_object();

	json_object_set_new(o, "id", json_integer((json_int_t)job->id));
	json_object_set_new(o, "terminals", json_integer(job->nterm));
	json_object_set_new(o, "switches", json_integer(job->nsw));
	json_object_set_new(o, "efi_max", json_integer((json_int_t)m->efi_max));
	json_object_set_new(o, "links", json_integer(m->links));
	if (e->times)
		time_json_add_job(o, &e->times->job[j]);
	if (e->ebb_jobs) {
		summary_json_add_ebb(o, "ebb_alone", &e->ebb_jobs->alone[j]);
		summary_json_add_ebb(o, "ebb_together", &e->ebb_jobs->together[j]);
	}
	if (e->jobs_run) {
		json_object_set_new(o, "slowdown", json_real(e->jobs_run->job[j].slowdown));
		json_object_set_new(o, "rate_min", json_real(e->jobs_run->job[j].rate_min));
		json_object_set_new(o, "rate_mean", json_real(e->jobs_run->job[j].rate_mean));
	}
	message_summary_add_job(o, e, j);
	return o;
}

static void summary_add_jobs(json_t *summary, const struct route_report *e)
{
	json_t *list = json_array();

	for (uint32_t j = 0; e->jobs && j < e->jobs->njob; j++)
		json_array_append_new(list, summary_json_job(e, j));
	if (e->jobs_run)
		json_object_set_new(summary, "pattern",
				    json_string(predict_pattern_name(e->pattern)));
	json_object_set_new(summary, "jobs", list);
}

static void summary_print_ebb(FILE *out, const struct ebb *e)
{
	fprintf(out, "   %.3f +- %.3f", e->mean, e->ci95);
}

/* Drawn phases are printed with how sure they are. */
static void summary_print_job_time(FILE *out, const struct route_report *e, uint32_t j)
{
	const struct job_time *x = e->times ? &e->times->job[j] : NULL;

	if (!x || !x->flows)
		fprintf(out, " %13s", "-");
	else if (e->times->phases < 2)
		fprintf(out, " %13.2f", x->time.mean);
	else
		fprintf(out, " %5.2f +- %4.2f", x->time.mean, x->time.error);
}

void summary_print_jobs(FILE *out, const struct route_report *e)
{
	if (!e->jobs || !e->jobs->njob)
		return;
	fprintf(out, "\n%s, jobs (%s):\n%12s %9s %8s %8s %6s %13s %8s %8s", e->engine,
		predict_pattern_name(e->pattern), "job", "terminals", "switches", "EFI max",
		"links", "time", "slowdown", "rate min");
	if (e->ebb_jobs)
		fprintf(out, " %15s %15s", "bisection alone", "with all jobs");
	fputc('\n', out);
	for (uint32_t j = 0; j < e->jobs->njob; j++) {
		const struct job *job = &e->jobs->jobs[j];

		fprintf(out, "%12llu %9u %8u %8llu %6u", (unsigned long long)job->id, job->nterm,
			job->nsw, (unsigned long long)e->m->job[j].efi_max, e->m->job[j].links);
		summary_print_job_time(out, e, j);
		if (e->jobs_run)
			fprintf(out, " %8.2f %8.3f", e->jobs_run->job[j].slowdown,
				e->jobs_run->job[j].rate_min);
		if (e->ebb_jobs) {
			summary_print_ebb(out, &e->ebb_jobs->alone[j]);
			summary_print_ebb(out, &e->ebb_jobs->together[j]);
		}
		fputc('\n', out);
	}
}

/* NULL: not known. */
static void summary_json_add_small(json_t *o, const struct time_summary *t)
{
	static const struct time_summary none;

	t = t ? t : &none;
	json_object_set_new(o, "times_small", time_json_patterns(t));
	json_object_set_new(o, "sync_small",
			    summary_json_figure(FIGURE_REAL, t->known ? t->shift.sync.mean : NAN));
	json_object_set_new(o, "rate_mean_small",
			    summary_json_figure(FIGURE_REAL, t->known ? t->shift.rate.mean : NAN));
}

static json_t *summary_json_parx(const struct route_report *e)
{
	const struct parx_verdict *v = &e->parx;
	const struct message_metrics *m = e->messages;
	double large = m && m[MESSAGES_LARGE].ebb.bisections ? m[MESSAGES_LARGE].ebb.mean : NAN;
	json_t *o = json_object();
	char line[LINE];

	parx_verdict_sentence(line, sizeof(line), v, e->f);
	json_object_set_new(o, "ok", json_boolean(parx_verdict_ok(v)));
	json_object_set_new(o, "verdict", json_text(line));
	json_object_set_new(o, "pairs", json_integer((json_int_t)v->pairs));
	json_object_set_new(o, "around", json_integer((json_int_t)v->around));
	json_object_set_new(o, "no_choice", json_integer((json_int_t)v->no_choice));
	json_object_set_new(o, "no_way", json_integer((json_int_t)v->no_way));
	json_object_set_new(o, "longer", json_integer((json_int_t)v->longer));
	json_object_set_new(o, "direct", json_integer((json_int_t)v->direct));
	json_object_set_new(o, "only_way", json_integer((json_int_t)v->only));
	json_object_set_new(o, "shared", json_integer((json_int_t)v->shared));
	json_object_set_new(o, "ebb_large", summary_json_figure(FIGURE_REAL, large));
	summary_json_add_small(o, m ? &m[MESSAGES_SMALL].time : NULL);
	json_object_set_new(
		o, "ebb_large_ci95",
		summary_json_figure(FIGURE_REAL, isnan(large) ? NAN : m[MESSAGES_LARGE].ebb.ci95));
	json_object_set_new(o, "messages", message_summary_json(e));
	return o;
}

void summary_add_verdict(json_t *summary, const struct route_report *e)
{
	char line[LINE];

	verdict_sentence(line, sizeof(line), e->v, e->f);
	json_object_set_new(summary, "verdict", json_text(line));
	if (e->v->pinned.hosts)
		json_object_set_new(summary, "pinned",
				    json_pack("{s:I, s:I}", "hosts", (json_int_t)e->v->pinned.hosts,
					      "changed", (json_int_t)e->v->pinned.changed));
	if (e->v->excluded[0])
		json_object_set_new(summary, "excluded",
				    json_pack("{s:o, s:I}", "what", json_text(e->v->excluded),
					      "ways_through", (json_int_t)e->v->passes.n));
	if (e->choice)
		json_object_set_new(summary, "parx", summary_json_parx(e));
	if (e->v->ncycle) {
		json_t *list = json_array();

		for (uint32_t i = 0; i < e->v->ncycle; i++) {
			witness_line(line, sizeof(line), &e->v->cycle[i], e->f);
			json_array_append_new(list, json_text(line));
		}
		json_object_set_new(summary, "witness", list);
	}
}

void summary_print_verdict(FILE *out, const struct route_report *e)
{
	char line[LINE];

	verdict_sentence(line, sizeof(line), e->v, e->f);
	fprintf(out, "%s\n", line);
	if (e->v->certified)
		fprintf(out, "[ok] the proof of deadlock freedom was verified by an independent "
			     "checker\n");
	if (e->v->pinned.hosts)
		fprintf(out, "[%s] %s\n", e->v->pinned.changed ? "NO" : "ok",
			pin_verdict_sentence(line, sizeof(line), &e->v->pinned, e->f));
	if (e->v->excluded[0])
		fprintf(out, "[%s] %s\n", e->v->passes.n ? "NO" : "ok",
			verdict_exclusion_text(line, sizeof(line), e->v, e->f));
	if (e->choice) {
		parx_verdict_sentence(line, sizeof(line), &e->parx, e->f);
		fprintf(out, "%s\n", line);
	}
	if (e->messages)
		fprintf(out,
			"Times are those of large messages on their LIDs; all else is of base LIDs, "
			"but for the table of messages by size.\n");
	for (uint32_t i = 0; i < e->v->ncycle; i++) {
		witness_line(line, sizeof(line), &e->v->cycle[i], e->f);
		fprintf(out, "  %s\n", line);
	}
}

void summary_print_gate(FILE *out, const struct route_report *e)
{
	char text[300];

	if (time_gate_slower(&e->gate))
		fprintf(out, "[SLOWER] than the installed routing: %s\n",
			time_gate_text(text, sizeof(text), &e->gate));
}

static void summary_print_value(FILE *out, enum figure_kind kind, double v)
{
	if (isnan(v))
		fprintf(out, " %12s", "-");
	else if (kind == FIGURE_YES_NO)
		fprintf(out, " %12s", v != 0 ? "yes" : "NO");
	else
		fprintf(out, kind == FIGURE_COUNT ? " %12.0f" : " %12.3f", v);
}

static void summary_print_seconds(FILE *out, const char *title, const struct route_report *list,
				  size_t n, size_t offset)
{
	fprintf(out, "%-24s", title);
	for (size_t i = 0; i < n; i++) {
		const double *v = (const void *)((const char *)&list[i] + offset);

		summary_print_value(out, FIGURE_REAL, list[i].t ? *v : NAN);
	}
	fputc('\n', out);
}

/* I/O and a demand are worth no line where there is none. */
static bool summary_prints(const struct figure *x, const struct route_report *list, size_t n)
{
	bool any = !x->key || (strncmp(x->key, "io_", 3) && strcmp(x->key, "demand_time"));

	for (size_t i = 0; !any && i < n; i++)
		any = list[i].t && !isnan(x->value(&list[i]));
	return any && x->title;
}

void summary_print_table(FILE *out, const struct route_report *list, size_t n)
{
	fprintf(out, "%-24s", "");
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %12s", list[i].engine);
	fputc('\n', out);
	for (size_t k = 0; k < NFIGURES; k++) {
		if (!summary_prints(&figures[k], list, n))
			continue;
		fprintf(out, "%-24s", figures[k].title);
		for (size_t i = 0; i < n; i++)
			summary_print_value(out, figures[k].kind,
					    list[i].t ? figures[k].value(&list[i]) : NAN);
		fputc('\n', out);
	}
	summary_print_seconds(out, "seconds", list, n, offsetof(struct route_report, total_s));
	summary_print_seconds(out, "  paths", list, n, offsetof(struct route_report, paths_s));
	summary_print_seconds(out, "  layers", list, n, offsetof(struct route_report, layers_s));
	summary_print_seconds(out, "  verify", list, n, offsetof(struct route_report, verify_s));
}

json_t *summary_json_all(const struct route_report *e, bool per_job)
{
	json_t *summary = summary_json(e);

	summary_add_notes(summary, e);
	if (per_job)
		summary_add_jobs(summary, e);
	summary_add_verdict(summary, e);
	return summary;
}

void summary_print_all(FILE *out, const struct route_report *e, bool per_job)
{
	summary_print_table(out, e, 1);
	message_summary_print(out, e);
	summary_print_notes(out, e);
	if (per_job)
		summary_print_jobs(out, e);
	summary_print_verdict(out, e);
}
