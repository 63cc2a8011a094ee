/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records as JSON; console/schema.json says what is in them. */
#include "console/batch/batch_record.h"

#include "console/io/rows_out.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/stamp.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define HOT_SHOWN 10

static json_t *batch_json_number(double v, int decimals)
{
	double scale = pow(10, decimals);

	return isfinite(v) ? json_real(round(v * scale) / scale) : json_null();
}

static json_t *batch_json_count(bool known, uint64_t v)
{
	return known ? json_integer((json_int_t)v) : json_null();
}

static json_t *batch_json_flag(bool known, bool v)
{
	return known ? json_boolean(v) : json_null();
}

static json_t *batch_json_text(const char *text)
{
	return text && *text ? json_text(text) : json_null();
}

json_t *batch_json_guid(uint64_t v)
{
	return v ? json_sprintf("0x%016lx", (unsigned long)v) : json_null();
}

/* The default fields of a few rows. */
static json_t *batch_json_rows(const struct batch_record *r, enum row_kind kind,
			       const uint32_t *row, uint32_t n)
{
	const struct field *usual[BATCH_FIELDS];
	struct rows_out out = { .rows = { kind, r->s, r->v }, .field = usual };
	size_t nfield;
	const struct field *all = fields_of(kind, &nfield);
	json_t *j = json_array();

	for (size_t i = 0; i < nfield && out.nfield < BATCH_FIELDS; i++)
		if (all[i].usual)
			usual[out.nfield++] = &all[i];
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(j, rows_out_json_row(&out, row ? row[i] : i));
	return j;
}

static json_t *batch_json_problems(const struct batch_record *r)
{
	const struct fabric_summary *v = r->v;
	uint32_t row[PROBLEM_MAX];

	for (uint32_t i = 0; i < v->nproblem; i++)
		row[i] = r->s->fabric->port_off[v->problem_sw[i]] + v->problem_port[i];
	return batch_json_rows(r, ROWS_PORTS, row, v->nproblem);
}

static json_t *batch_json_sm(const struct state_sm *sm)
{
	json_t *j = json_object();

	json_object_set_new(j, "name", batch_json_text(sm->name));
	json_object_set_new(j, "state", batch_json_text(sm->state));
	json_object_set_new(j, "lid", json_integer(sm->lid));
	json_object_set_new(j, "guid", batch_json_guid(sm->guid));
	json_object_set_new(j, "engine", batch_json_text(sm->engine));
	json_object_set_new(j, "requested", batch_json_text(sm->requested));
	json_object_set_new(j, "adaptive_routing", batch_json_text(sm->adaptive));
	json_object_set_new(j, "answers", json_boolean(!sm->lost));
	return j;
}

/* Of an all-to-all of the jobs, and of shifts over all hosts. */
static void batch_json_add_times(json_t *j, const struct time_summary *t)
{
	const struct pattern_time *jobs = &t->of[PREDICT_ALLTOALL];
	bool known = t->known && t->jobs, shifts = t->known && t->shift.flows;

	json_object_set_new(j, "time_mean", batch_json_number(known ? jobs->mean.mean : NAN, 4));
	json_object_set_new(j, "time_worst", batch_json_number(known ? jobs->worst.mean : NAN, 4));
	json_object_set_new(j, "sync", batch_json_number(shifts ? t->shift.sync.mean : NAN, 4));
	json_object_set_new(j, "rate_mean",
			    batch_json_number(shifts ? t->shift.rate.mean : NAN, 4));
}

static json_t *batch_json_routes(const struct state *s)
{
	static const struct verdict unverified;
	static const struct metrics unmeasured;
	static const struct time_summary unknown;
	bool verified = s->verdict, measured = state_metrics(s);
	const struct verdict *v = verified ? s->verdict : &unverified;
	const struct metrics *m = measured ? state_metrics(s) : &unmeasured;
	json_t *j = json_object();

	json_object_set_new(j, "engine", batch_json_text(s->tables->engine));
	json_object_set_new(j, "connected", batch_json_flag(verified, v->connected));
	json_object_set_new(j, "loop_free", batch_json_flag(verified, v->loop_free));
	json_object_set_new(
		j, "deadlock_free",
		batch_json_flag(verified && (s->sls_known || v->deadlock_free), v->deadlock_free));
	json_object_set_new(j, "service_levels_known", json_boolean(s->sls_known));
	json_object_set_new(j, "vls_used",
			    batch_json_count(measured && state_vls_known(s), m->vls_used));
	json_object_set_new(j, "hops_max", batch_json_count(measured, m->hops_max));
	json_object_set_new(j, "hops_mean", batch_json_number(measured ? m->hops_mean : NAN, 4));
	batch_json_add_times(j, measured ? &s->time : &unknown);
	json_object_set_new(j, "unreachable_pairs", batch_json_count(measured, m->unreachable));
	json_object_set_new(j, "efi_max", batch_json_count(measured, m->efi_max));
	json_object_set_new(j, "efi_mean", batch_json_number(measured ? m->efi_mean : NAN, 2));
	json_object_set_new(j, "eff_efi_max", batch_json_count(m->njob, m->eff_efi_max));
	json_object_set_new(j, "eff_efi_bound", batch_json_count(m->njob, m->eff_efi_bound));
	json_object_set_new(j, "dark_fiber_pct",
			    batch_json_number(m->njob ? m->dark_fiber_pct : NAN, 2));
	return j;
}

static json_t *batch_json_jobs(const struct state *s)
{
	static const char *const words[] = { "off", "waiting", "ok", "unreachable" };
	const struct state_jobs *src = &s->jobs_source;
	json_t *j = json_object();

	json_object_set_new(j, "source", batch_json_text(src->source));
	json_object_set_new(j, "state", json_string(words[src->state]));
	json_object_set_new(j, "running", batch_json_count(s->jobs, s->jobs ? s->jobs->njob : 0));
	json_object_set_new(j, "pending",
			    batch_json_count(s->jobs, s->jobs ? s->jobs->pending : 0));
	json_object_set_new(j, "age_s", batch_json_number(src->age_s, 1));
	return j;
}

static json_t *batch_json_overview(const struct batch_record *r)
{
	const struct state *s = r->s;
	const struct fabric_summary *v = r->v;
	const struct sample_top *hot = &v->sample_summary->top[HISTORY_UTIL];
	uint32_t nhot = hot->n < HOT_SHOWN ? hot->n : HOT_SHOWN;
	json_t *j = json_object();
	char shape[64];

	topology_kind_sentence(shape, sizeof(shape), v->topology);
	json_object_set_new(j, "shape", json_string(shape));
	json_object_set_new(j, "switches", json_integer(s->fabric->nsw));
	json_object_set_new(j, "hosts", json_integer(s->fabric->nterm));
	json_object_set_new(j, "cables", json_integer(s->fabric->nchan / 2));
	json_object_set_new(j, "missing_switches", json_integer(s->poll.missing_sw));
	json_object_set_new(j, "missing_hosts", json_integer(s->poll.missing_ca));
	json_object_set_new(j, "ports_down", json_integer(v->down));
	json_object_set_new(j, "ports_reduced", json_integer(v->reduced));
	json_object_set_new(j, "ports_errors", batch_json_count(s->sample, v->errors));
	json_object_set_new(j, "ports_asked", batch_json_count(s->sample, s->poll.asked));
	json_object_set_new(j, "ports_answered", batch_json_count(s->sample, s->poll.answered));
	json_object_set_new(j, "poll_s", batch_json_number(s->poll.took_s, 3));
	json_object_set_new(j, "load_pct", batch_json_number(v->sample_summary->load_pct, 2));
	json_object_set_new(j, "jobs", batch_json_jobs(s));
	json_object_set_new(j, "sm", s->sm.known ? batch_json_sm(&s->sm) : json_null());
	json_object_set_new(j, "routes", s->tables ? batch_json_routes(s) : json_null());
	json_object_set_new(j, "tiers", batch_json_rows(r, ROWS_TIERS, NULL, v->tiers->n));
	json_object_set_new(j, "hot_links", batch_json_rows(r, ROWS_LINKS, hot->chan, nhot));
	json_object_set_new(j, "problems", batch_json_problems(r));
	return j;
}

/* Places that did not respond to the sweep: a port or a node, one a line. */
static void batch_json_add_silent(json_t *j, const char *lines)
{
	for (const char *at = lines; at && *at; at += strcspn(at, "\n") + 1) {
		char place[NAME_LEN];

		snprintf(place, sizeof(place), "%.*s", (int)strcspn(at, "\n"), at);
		json_array_append_new(j, json_text(place));
	}
}

/* All ports that did not respond, not only those that fit on a screen. */
static json_t *batch_json_no_reply(const struct batch_record *r)
{
	const struct rows rows = { ROWS_PORTS, r->s, r->v };
	json_t *j = json_array();
	char name[NAME_LEN];

	for (uint32_t i = 0; r->v->no_reply && i < rows_count(&rows); i++) {
		uint32_t sw;

		if (r->v->problem[i] != PROBLEM_NO_REPLY)
			continue;
		sw = rows_switch(&rows, i);
		switch_label(name, sizeof(name), r->s->fabric, sw);
		json_array_append_new(j,
				      json_sprintf("%s/%u", name, i - r->s->fabric->port_off[sw]));
	}
	batch_json_add_silent(j, r->s->poll.silent);
	return j;
}

static json_t *batch_json_now(void)
{
	struct timespec ts;
	char buf[STAMP_LEN];

	clock_gettime(CLOCK_REALTIME, &ts);
	stamp_utc(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", ts.tv_sec);
	return json_sprintf("%s.%03ldZ", buf, ts.tv_nsec / 1000000);
}

/* The value of --view. */
static json_t *batch_json_view(const struct batch_record *r)
{
	const struct rows_out table = { .rows = { r->o->kind, r->s, r->v },
					.row = r->rows->row,
					.n = r->rows->n,
					.field = r->o->field,
					.nfield = r->o->nfield };

	if (r->o->kind == BATCH_HISTORY)
		return batch_history_json(r->a);
	if (r->o->kind == BATCH_ACTIVITY)
		return batch_activity_json(r->a);
	if (r->o->kind == BATCH_OVERVIEW)
		return batch_json_overview(r);
	if (r->o->kind == BATCH_HEATMAP)
		return batch_heat_json(r);
	return rows_out_json(&table);
}

json_t *batch_json(const struct batch_record *r)
{
	const char *view = batch_view_name(r->o->kind);
	json_t *j = json_object();

	json_object_set_new(j, "schema", json_string("ibroute-top/1"));
	json_object_set_new(j, "ts", batch_json_now());
	json_object_set_new(j, "fabric",
			    r->s->fabric ? json_text(r->s->fabric->name) : json_null());
	json_object_set_new(j, "source", json_text(r->s->source));
	json_object_set_new(j, "view", json_string(view));
	json_object_set_new(j, "complete", json_boolean(r->complete));
	json_object_set_new(j, "no_reply", batch_json_no_reply(r));
	json_object_set_new(j, "interval_s",
			    batch_json_number(r->s->rates ? r->s->rates->interval_s : NAN, 3));
	json_object_set_new(j, "findings", json_integer((json_int_t)r->findings));
	if (r->s->findings)
		json_object_set_new(j, "baseline", batch_findings_json(r->s->findings));
	if (r->o->at)
		json_object_set_new(j, "at", batch_at_json(r->a, &r->s->history_at));
	json_object_set_new(j, view, batch_json_view(r));
	return j;
}
