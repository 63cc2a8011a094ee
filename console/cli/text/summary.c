/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/summary.h"

#include "console/cli/text/figures.h"
#include "console/cli/text/message_summary.h"
#include "console/cli/text/time_json.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE 400

static json_t *summary_json_seconds(const struct route_report *e)
{
	json_t *s = json_object();

	json_object_set_new(s, "total", figures_json(FIGURE_REAL, e->total_s));
	json_object_set_new(s, "paths", figures_json(FIGURE_REAL, e->paths_s));
	json_object_set_new(s, "layers", figures_json(FIGURE_REAL, e->layers_s));
	json_object_set_new(s, "verify", figures_json(FIGURE_REAL, e->verify_s));
	return s;
}

/* "seconds" stands after sls_used, "times" after rate_mean. */
json_t *summary_json(const struct route_report *e)
{
	const struct figure_source of = { .e = e };
	json_t *o = json_object();
	size_t i = 0;

	json_object_set_new(o, "engine", json_text(e->engine));
	for (const struct figure *x; (x = figures_at(i)); i++) {
		if (!figures_in_json(x))
			continue;
		json_object_set_new(o, x->key, figures_json(x->kind, x->value(&of)));
		if (!strcmp(x->key, "sls_used"))
			json_object_set_new(o, "seconds", summary_json_seconds(e));
		if (!strcmp(x->key, "rate_mean"))
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

		fprintf(out, "%12s %9u %8u %8llu %6u", JOB_TEXT(job), job->nterm, job->nsw,
			(unsigned long long)e->m->job[j].efi_max, e->m->job[j].links);
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
			    figures_json(FIGURE_REAL, t->known ? t->shift.sync.mean : NAN));
	json_object_set_new(o, "rate_mean_small",
			    figures_json(FIGURE_REAL, t->known ? t->shift.rate.mean : NAN));
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
	json_object_set_new(o, "ebb_large", figures_json(FIGURE_REAL, large));
	summary_json_add_small(o, m ? &m[MESSAGES_SMALL].time : NULL);
	json_object_set_new(
		o, "ebb_large_ci95",
		figures_json(FIGURE_REAL, isnan(large) ? NAN : m[MESSAGES_LARGE].ebb.ci95));
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

static double summary_value(const struct figure *x, const struct route_report *e)
{
	const struct figure_source of = { .e = e };

	return e->t ? x->value(&of) : NAN;
}

/* I/O and a demand are worth no line where there is none. */
static bool summary_prints(const struct figure *x, const struct route_report *list, size_t n)
{
	bool any = strncmp(x->key, "io_", 3) && strcmp(x->key, "demand_time");

	for (size_t i = 0; !any && i < n; i++)
		any = !isnan(summary_value(x, &list[i]));
	return any && x->title;
}

void summary_print_table(FILE *out, const struct route_report *list, size_t n)
{
	size_t k = 0;

	fprintf(out, "%-24s", "");
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %12s", list[i].engine);
	fputc('\n', out);
	for (const struct figure *x; (x = figures_at(k)); k++) {
		if (!summary_prints(x, list, n))
			continue;
		fprintf(out, "%-24s", x->title);
		for (size_t i = 0; i < n; i++)
			summary_print_value(out, x->kind, summary_value(x, &list[i]));
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

void summary_print_adaptive(FILE *out, enum adaptive_state declared)
{
	struct adaptive a;
	char text[300];

	load_adaptive_declared(&a, declared);
	if (adaptive_text(text, sizeof(text), &a)[0])
		fprintf(out, "%s\n", text);
}

void summary_add_adaptive(json_t *o, enum adaptive_state declared)
{
	struct adaptive a;

	load_adaptive_declared(&a, declared);
	json_object_set_new(o, "adaptive_routing", adaptive_json(&a));
}
