/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of jobs, tiers and events. */
#include "fabric/base/time/stamp.h"
#include "views/table/fields/fields_priv.h"

#include <stdio.h>
#include <time.h>

static const struct job *fields_jobs_of(const struct rows *r, uint32_t row)
{
	return &r->v->jobs->jobs[row];
}

void job_label(char *buf, const struct rows *r, uint32_t row)
{
	const struct job *j = fields_jobs_of(r, row);
	char id[JOB_ID_LEN];

	snprintf(buf, VALUE_LEN, "%s %.60s %.60s %.100s", job_text(id, j), j->user, j->name,
		 j->nodes);
}

static void fields_jobs_get_label(struct value *c, const struct rows *r, uint32_t row)
{
	c->text = job_text(c->buf, fields_jobs_of(r, row));
}

/* A number for scripts; people see it as SLURM shows it. */
static void fields_jobs_get_id(struct value *c, const struct rows *r, uint32_t row)
{
	fields_jobs_get_label(c, r, row);
	c->num = (double)fields_jobs_of(r, row)->id;
}

GETTER(fields_jobs_get_attr, field_text_if(c, fields_jobs_of(r, row)->attr[c->of]))
GETTER(fields_jobs_get_user, field_text_if(c, fields_jobs_of(r, row)->user))
GETTER(fields_jobs_get_name, field_text_if(c, fields_jobs_of(r, row)->name))
GETTER(fields_jobs_get_nodes, c->num = fields_jobs_of(r, row)->nnodes)
GETTER(fields_jobs_get_nodelist, field_text_if(c, fields_jobs_of(r, row)->nodes))
GETTER(fields_jobs_get_hosts, c->num = fields_jobs_of(r, row)->nterm)
GETTER(fields_jobs_get_unknown, c->num = fields_jobs_of(r, row)->unknown)
GETTER(fields_jobs_get_switches, c->num = fields_jobs_of(r, row)->nsw)

static void fields_jobs_get_start(struct value *c, const struct rows *r, uint32_t row)
{
	if (fields_jobs_of(r, row)->start_s)
		c->num = (double)fields_jobs_of(r, row)->start_s;
}

static void fields_jobs_get_tx(struct value *c, const struct rows *r, uint32_t row)
{
	if (r->v->job_Bps)
		c->num = r->v->job_Bps[row];
}

static const struct job_metrics *fields_jobs_now_of(const struct rows *r, uint32_t row)
{
	return job_metrics_of(state_metrics(r->s), r->s->metrics_jobs, fields_jobs_of(r, row)->id);
}

/* NULL: there is no plan, or it is not of what is there now, as after it was applied. */
static const struct job_metrics *fields_jobs_plan_of(const struct rows *r, uint32_t row)
{
	const struct plan_preview *x = state_plan(r->s);

	return state_plan_ahead(r->s)
		       ? job_metrics_of(x->after, x->jobs, fields_jobs_of(r, row)->id)
		       : NULL;
}

static double fields_jobs_efi(const struct job_metrics *m)
{
	return m ? (double)m->efi_max : NAN;
}

static void fields_jobs_get_links(struct value *c, const struct rows *r, uint32_t row)
{
	const struct job_metrics *m = fields_jobs_now_of(r, row);

	if (m)
		c->num = m->links;
}

GETTER(fields_jobs_get_efi, c->num = fields_jobs_efi(fields_jobs_now_of(r, row)))
GETTER(fields_jobs_get_plan, c->num = fields_jobs_efi(fields_jobs_plan_of(r, row)))

static void fields_jobs_get_plan_change(struct value *c, const struct rows *r, uint32_t row)
{
	double now = fields_jobs_efi(fields_jobs_now_of(r, row));
	double plan = fields_jobs_efi(fields_jobs_plan_of(r, row));

	c->num = (plan - now) / (now > 0 ? now : 1) * 100;
}

static const struct job_load *fields_jobs_load_of(const struct rows *r, uint32_t row)
{
	static const struct job_load none = {
		.worst = FAB_NONE, .util_max = NAN, .efi_mean = NAN, .util_then = NAN
	};
	const struct job_load *l = fabric_summary_job_load(r->v, r->s, row);

	return l && l->links ? l : &none;
}

static void fields_jobs_get_hot(struct value *c, const struct rows *r, uint32_t row)
{
	const struct job_load *l = fabric_summary_job_load(r->v, r->s, row);

	if (l && r->s->rates)
		c->num = l->hot;
}

GETTER(fields_jobs_get_util_max, c->num = fields_jobs_load_of(r, row)->util_max)
GETTER(fields_jobs_get_efi_mean, c->num = fields_jobs_load_of(r, row)->efi_mean)

GETTER(fields_jobs_get_tx_then, c->num = fabric_summary_job_then(r->v, r->s, row))
GETTER(fields_jobs_get_tx_change, c->num = (r->v->job_Bps ? r->v->job_Bps[row] : NAN) -
					   fabric_summary_job_then(r->v, r->s, row))
GETTER(fields_jobs_get_util_then, c->num = fields_jobs_load_of(r, row)->util_then)
GETTER(fields_jobs_get_util_change,
       c->num = fields_jobs_load_of(r, row)->util_max - fields_jobs_load_of(r, row)->util_then)

static void fields_jobs_get_worst(struct value *c, const struct rows *r, uint32_t row)
{
	uint32_t worst = fields_jobs_load_of(r, row)->worst;

	if (worst != FAB_NONE)
		c->text = chan_label(c->buf, sizeof(c->buf), r->s->fabric, worst);
}

GETTER(fields_jobs_get_slowdown,
       c->num = link_usage_slowdown(state_usage(r->s), fields_jobs_of(r, row)->id))

GETTER(fields_jobs_get_lost,
       c->num = link_usage_lost_pct(state_usage(r->s), fields_jobs_of(r, row)->id))

static void fields_jobs_get_age(struct value *c, const struct rows *r, uint32_t row)
{
	if (fields_jobs_of(r, row)->start_s)
		c->num = (double)(state_time_s(r->s) - fields_jobs_of(r, row)->start_s);
}

/* Only running jobs are in a job set. */
static void fields_jobs_get_state(struct value *c, const struct rows *r, uint32_t row)
{
	const struct job *j = fields_jobs_of(r, row);

	c->text = j->unknown				       ? "in part elsewhere"
		  : job_ambiguous(j, r->s->fabric) != FAB_NONE ? "ambiguous"
		  : j->multi				       ? "running"
							       : "on one switch";
}

static const struct tier_sum *fields_jobs_tier_of(const struct rows *r, uint32_t row)
{
	return &r->v->sample_summary->tier[row];
}

GETTER(fields_jobs_tier_name, c->text = r->v->tiers->name[row])
GETTER(fields_jobs_tier_links, c->num = fields_jobs_tier_of(r, row)->links)
GETTER(fields_jobs_tier_known, c->num = fields_jobs_tier_of(r, row)->known)
GETTER(fields_jobs_tier_min, c->num = fields_jobs_tier_of(r, row)->util_min)
GETTER(fields_jobs_tier_avg, c->num = fields_jobs_tier_of(r, row)->util_avg)
GETTER(fields_jobs_tier_max, c->num = fields_jobs_tier_of(r, row)->util_max)
GETTER(fields_jobs_tier_wait, c->num = fields_jobs_tier_of(r, row)->wait_max)

static const struct log_line *fields_jobs_line_of(const struct rows *r, uint32_t row)
{
	return events_get(r->s->events, row);
}

static void fields_jobs_line_ts(struct value *c, const struct rows *r, uint32_t row)
{
	uint64_t ns = fields_jobs_line_of(r, row)->time_ns;
	size_t n;

	stamp_utc(c->buf, sizeof(c->buf), "%Y-%m-%dT%H:%M:%S", (int64_t)(ns / 1000000000u));
	n = strlen(c->buf);
	snprintf(c->buf + n, sizeof(c->buf) - n, ".%03uZ", (unsigned)(ns / 1000000u % 1000u));
	c->text = c->buf;
}

GETTER(fields_jobs_line_level, c->text = log_level_name(fields_jobs_line_of(r, row)->level))
GETTER(fields_jobs_line_severity, c->num = fields_jobs_line_of(r, row)->level)
GETTER(fields_jobs_line_area, c->text = fields_jobs_line_of(r, row)->area)
GETTER(fields_jobs_line_text, c->text = fields_jobs_line_of(r, row)->text)

GETTER(fields_jobs_get_note,
       field_note(c, row_notes_job(r->s->row_notes, r->s->fabric, fields_jobs_of(r, row))))

static void fields_jobs_line_note(struct value *c, const struct rows *r, uint32_t row)
{
	int64_t at = (int64_t)(events_get(r->s->events, row)->time_ns / 1000000000);

	if (r->s->fabric)
		field_note(c, row_notes_moment(r->s->row_notes, r->s->fabric, at, at));
}

/* clang-format off */
const struct field fields_jobs[] = {
	{ "id", "job", "job", "", VALUE_COUNT, 0, true, "its number", fields_jobs_get_id, 0, NEED_ALL },
	{ "label", NULL, "job id", "", VALUE_TEXT, 0, false, "its id as SLURM shows it: 5_1 is task 1 of array 5", fields_jobs_get_label, 0, NEED_ALL },
	{ "partition", NULL, "partition", "", VALUE_TEXT, 0, false, "its partition", fields_jobs_get_attr, JOB_PARTITION, NEED_ALL },
	{ "account", NULL, "account", "", VALUE_TEXT, 0, false, "its account", fields_jobs_get_attr, JOB_ACCOUNT, NEED_ALL },
	{ "reservation", "resv", "reservation", "", VALUE_TEXT, 0, false, "its reservation", fields_jobs_get_attr, JOB_RESERVATION, NEED_ALL },
	{ "features", "constraint", "features", "", VALUE_TEXT, 0, false, "features of nodes that it wants (--constraint)", fields_jobs_get_attr, JOB_FEATURES, NEED_ALL },
	{ "user", NULL, "user", "", VALUE_TEXT, 0, true, "its user", fields_jobs_get_user, 0, NEED_ALL },
	{ "name", NULL, "name", "", VALUE_TEXT, 0, true, "its name", fields_jobs_get_name, 0, NEED_ALL },
	{ "nodes", NULL, "nodes", "", VALUE_COUNT, 0, true, "number of nodes", fields_jobs_get_nodes, 0, NEED_ALL },
	{ "nodelist", "list", "node list", "", VALUE_TEXT, 0, false, "their names", fields_jobs_get_nodelist, 0, NEED_ALL },
	{ "unknown_nodes", "unknown", "unknown", "", VALUE_COUNT, 0, false, "nodes that are not in this fabric", fields_jobs_get_unknown, 0, NEED_ALL },
	{ "hosts", NULL, "hosts", "", VALUE_COUNT, 0, false, "host ports of its nodes", fields_jobs_get_hosts, 0, NEED_ALL },
	{ "switches", "sw", "switches", "", VALUE_COUNT, 0, true, "switches of its hosts", fields_jobs_get_switches, 0, NEED_ALL },
	{ "start_s", "start", "start", "s", VALUE_COUNT, 0, false, "start, Unix time", fields_jobs_get_start, 0, NEED_ALL },
	{ "tx_Bps", "rate", "rate", "B/s", VALUE_NUMBER, 0, true, "data rate sent by its hosts", fields_jobs_get_tx, 0, NEED_ALL },
	{ "links", NULL, "links used", "", VALUE_COUNT, 0, true, "channels that its paths use", fields_jobs_get_links, 0, NEED_ALL },
	{ "efi", NULL, "EFI", "", VALUE_COUNT, 0, true, "maximum number of its paths on one channel", fields_jobs_get_efi, 0, NEED_ALL },
	{ "efi_mean", "mean", "mean EFI", "", VALUE_NUMBER, 1, false, "mean number of its paths on the channels that it uses", fields_jobs_get_efi_mean, 0, NEED_ALL },
	{ "hot_links", "hot", "hot", "", VALUE_COUNT, 0, false, "of its channels, those with util >= warn-util", fields_jobs_get_hot, 0, NEED_ALL },
	{ "util_max_pct", "util", "util%", "%", VALUE_NUMBER, 2, false, "highest utilisation of its channels", fields_jobs_get_util_max, 0, NEED_ALL },
	{ "tx_then_Bps", "ratethen", "then", "B/s", VALUE_NUMBER, 0, false, "data rate sent by its hosts at the other moment", fields_jobs_get_tx_then, 0, NEED_ALL },
	{ "tx_change_Bps", "ratechange", "change", "B/s", VALUE_NUMBER, 0, false, "data rate less that of the other moment", fields_jobs_get_tx_change, 0, NEED_ALL },
	{ "util_then_pct", "utilthen", "then%", "%", VALUE_NUMBER, 2, false, "highest utilisation of its channels at the other moment", fields_jobs_get_util_then, 0, NEED_ALL },
	{ "util_change_pct", "utilchange", "change%", "%", VALUE_NUMBER, 2, false, "highest utilisation less that of the other moment", fields_jobs_get_util_change, 0, NEED_ALL },
	{ "worst_link", "worst", "worst link", "", VALUE_TEXT, 0, false, "the channel with that utilisation", fields_jobs_get_worst, 0, NEED_ALL },
	{ "slowdown", NULL, "slowdown", "", VALUE_NUMBER, 2, false, "predicted all-to-all time / time alone", fields_jobs_get_slowdown, 0, NEED_ALL },
	{ "lost_pct", "lost", "lost%", "%", VALUE_NUMBER, 1, false, "messages of its all-to-all without a path", fields_jobs_get_lost, 0, NEED_ALL },
	{ "age_s", "age", "age", "s", VALUE_COUNT, 0, false, "run time", fields_jobs_get_age, 0, NEED_ALL },
	{ "state", NULL, "state", "", VALUE_TEXT, 0, false, "running, on one switch, in part elsewhere (nodes not in this fabric), ambiguous (several hosts may have the name of a node)", fields_jobs_get_state, 0, NEED_ALL },
	{ "plan_efi", "plan", "EFI with the plan", "", VALUE_COUNT, 0, false, "EFI with the plan", fields_jobs_get_plan, 0, NEED_ALL },
	{ "plan_change_pct", "planchange", "plan change", "%", VALUE_NUMBER, 1, false, "EFI with the plan less that of now, relative to now", fields_jobs_get_plan_change, 0, NEED_ALL },
	{ "note", NULL, "note", "", VALUE_TEXT, 0, true, "what was noted on it (:note)", fields_jobs_get_note, 0, NEED_ALL },
};
FIELDS_END(fields_jobs);

const struct field fields_tiers[] = {
	{ "tier", "name", "tier", "", VALUE_TEXT, 0, true, "from which level to which", fields_jobs_tier_name, 0, NEED_ALL },
	{ "links", NULL, "links", "", VALUE_COUNT, 0, true, "channels", fields_jobs_tier_links, 0, NEED_ALL },
	{ "known", NULL, "known", "", VALUE_COUNT, 0, true, "channels with a known rate", fields_jobs_tier_known, 0, NEED_ALL },
	{ "util_min_pct", "min", "min", "%", VALUE_NUMBER, 2, true, "lowest utilisation", fields_jobs_tier_min, 0, NEED_ALL },
	{ "util_avg_pct", "avg", "avg", "%", VALUE_NUMBER, 2, true, "mean utilisation", fields_jobs_tier_avg, 0, NEED_ALL },
	{ "util_max_pct", "max", "max", "%", VALUE_NUMBER, 2, true, "highest utilisation", fields_jobs_tier_max, 0, NEED_ALL },
	{ "wait_max_pct", "wait", "wait%", "%", VALUE_NUMBER, 2, true, "highest wait (XmitWait)", fields_jobs_tier_wait, 0, NEED_ALL },
};
FIELDS_END(fields_tiers);

const struct field fields_events[] = {
	{ "ts", "time", "time", "", VALUE_TEXT, 0, true, "when, UTC", fields_jobs_line_ts, 0, NEED_ALL },
	{ "level", NULL, "level", "", VALUE_TEXT, 0, true, "debug, info, warn, error", fields_jobs_line_level, 0, NEED_ALL },
	{ "severity", NULL, "level", "", VALUE_COUNT, 0, false, "the level from 0 to 3, for sorting and for severity>=2", fields_jobs_line_severity, 0, NEED_ALL },
	{ "area", NULL, "area", "", VALUE_TEXT, 0, true, "part of the program", fields_jobs_line_area, 0, NEED_ALL },
	{ "text", NULL, "text", "", VALUE_TEXT, 0, true, "what happened", fields_jobs_line_text, 0, NEED_ALL },
	{ "note", NULL, "note", "", VALUE_TEXT, 0, true, "what was noted on its moment (:note)", fields_jobs_line_note, 0, NEED_ALL },
};
FIELDS_END(fields_events);
/* clang-format on */
