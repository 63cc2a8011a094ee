/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_mode.h"

#include "console/input/load/load_demand.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"
#include "fabric/jobs/filter.h"
#include "fabric/update/journal/journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t auto_mode_now_s(void)
{
	return (uint64_t)clock_s();
}

/* --- what is logged ---------------------------------------------------------------------- */

static void auto_mode_add_cost(json_t *j, const struct auto_plan *p)
{
	json_object_set_new(j, "engine", json_string(p->engine));
	json_object_set_new(j, "blocks", json_integer(p->blocks));
	json_object_set_new(j, "drain_lids", json_integer(p->drain_lids));
	json_object_set_new(j, "drain_jobs", json_integer(p->drain_jobs));
	json_object_set_new(j, "rest_lids", json_integer(p->rest_lids));
	json_object_set_new(j, "cpu_seconds", json_real(p->cpu_s));
	if (p->time_bound > 0)
		json_object_set_new(j, "time_bound", json_real(p->time_bound));
	if (p->bound)
		json_object_set_new(j, "job_efi_bound", json_integer((json_int_t)p->bound));
	if (!p->jobs_timed)
		return;
	json_object_set_new(j, "jobs_faster", json_integer(p->jobs_faster));
	json_object_set_new(j, "jobs_slower", json_integer(p->jobs_slower));
}

static void auto_mode_add_figures(json_t *j, const struct auto_plan *p)
{
	if (p->mends)
		json_object_set_new(j, "pairs_mended", json_integer((json_int_t)p->mends));
	json_object_set_new(j, "gain", json_real(auto_gain(p)));
	json_object_set_new(j, "job_efi_before", json_integer((json_int_t)p->before));
	json_object_set_new(j, "job_efi_after", json_integer((json_int_t)p->after));
	if (p->time_before > 0 && p->time_after > 0) {
		json_object_set_new(j, "time_before", json_real(p->time_before));
		json_object_set_new(j, "time_after", json_real(p->time_after));
		json_object_set_new(j, "time_stderr", json_real(p->time_error));
	}
	if (p->small_before > 0 && p->small_after > 0) {
		json_object_set_new(j, "small_time_before", json_real(p->small_before));
		json_object_set_new(j, "small_time_after", json_real(p->small_after));
	}
	if (p->base_loses[0])
		json_object_set_new(j, "base_lids", json_string(p->base_loses));
	json_object_set_new(j, "slower", json_string(p->slower));
	auto_mode_add_cost(j, p);
}

/* judged: NULL nothing was. */
static void auto_mode_say(struct auto_mode *m, enum auto_act act, const struct auto_plan *judged)
{
	static const char *const names[] = { "wait", "compute", "propose", "apply" };
	const char *why = m->policy.why;
	json_t *j;

	if (act == AUTO_WAIT && !strcmp(m->said, why))
		return;
	snprintf(m->said, sizeof(m->said), "%s", why);
	m->say(m->ctx, act, why);
	j = json_pack("{s:s, s:o}", "act", names[act], "why", json_text(why));
	if (judged && judged->sound)
		auto_mode_add_figures(j, judged);
	record_note(*m->record, "auto", j);
}

void auto_mode_say_totals(struct auto_mode *m)
{
	char text[AUTO_TOTALS_TEXT];

	if (!m->totals.looks)
		return;
	auto_totals_text(text, &m->totals);
	m->say(m->ctx, AUTO_WAIT, text);
	record_note(*m->record, "auto", json_pack("{s:s, s:s}", "act", "totals", "why", text));
}

static void auto_mode_count_look(struct auto_mode *m)
{
	int64_t now_s = (int64_t)time(NULL);

	if (auto_totals_over(&m->totals, now_s))
		auto_mode_say_totals(m);
	if (!m->totals.looks || auto_totals_over(&m->totals, now_s))
		auto_totals_begin(&m->totals, now_s);
	m->totals.looks++;
}

/* --- looks ------------------------------------------------------------------------------- */

void auto_mode_start(struct auto_mode *m, bool armed)
{
	struct auto_limits limits;

	auto_opts_limits(&limits, m->opts, armed);
	auto_policy_init(&m->policy, &limits, auto_mode_now_s());
}

static void auto_mode_forget(struct auto_mode *m)
{
	tables_put(m->kept);
	fabric_put(m->kept_on);
	m->kept = NULL;
	m->kept_on = NULL;
}

void auto_mode_end(struct auto_mode *m)
{
	jobset_put(m->routed_for);
	m->routed_for = NULL;
	auto_mode_forget(m);
}

bool auto_mode_due(const struct auto_mode *m)
{
	return auto_policy_due(&m->policy, auto_mode_now_s());
}

double auto_mode_next_s(const struct auto_mode *m)
{
	return fmax(0, (double)m->policy.next_s - clock_s());
}

/* Against what was computed for last; jobs of another fabric cannot be compared. */
static void auto_mode_compare(struct auto_look *in, const struct auto_mode *m,
			      const struct fabric *f, const struct jobset *counted)
{
	struct job_change c;

	in->njobs = counted->nmulti;
	in->fabric_changed = !digest_equal(&m->fingerprint, &f->fingerprint);
	if (in->fabric_changed)
		return;
	job_change(&c, m->routed_for, counted);
	in->changed = c.changed;
	in->started = c.started;
	in->ended = c.ended;
}

enum auto_act auto_mode_look(struct auto_mode *m, const struct auto_seen *seen)
{
	struct job_filter filter = { .min_age_s = m->opts->min_age_s };
	struct auto_look in = { .known = seen->known, .busy = seen->busy };
	const struct jobset *counted = NULL;
	enum auto_act act;

	if (seen->f) {
		counted = job_filter_apply(&filter, seen->jobs, seen->f, time(NULL));
		auto_mode_compare(&in, m, seen->f, counted);
	}
	auto_mode_count_look(m);
	act = auto_policy_look(&m->policy, auto_mode_now_s(), &in);
	if (act == AUTO_COMPUTE) {
		m->proposed = false;
		m->fingerprint = seen->f->fingerprint;
		jobset_put(m->routed_for);
		m->routed_for = jobset_get(counted);
	}
	auto_mode_say(m, act, NULL);
	jobset_put(counted);
	return act;
}

/* --- what is computed -------------------------------------------------------------------- */

/* What is taken down for maintenance is away for a while. */
static void auto_mode_leave_out(void *ctx, const char *sentence)
{
	(void)ctx;
	log_add(LOG_INFO, "auto", "ignored: %s", sentence);
}

/* Jobs that have ended are pinned no longer. */
static int auto_mode_limits(struct route_limits **out, const struct auto_opts *how,
			    const struct auto_seen *seen, struct err *err)
{
	const struct limits_missing gone = { auto_mode_leave_out, NULL };
	char *now = how->pin ? pin_text_of_now(how->pin, seen->jobs) : NULL;
	int rc = now ? route_limits_pin(out, seen->f, seen->jobs, now, err) : 0;

	if (!rc && how->exclude)
		rc = route_limits_exclude_there(out, seen->f, how->exclude, &gone, err);
	free(now);
	return rc;
}

/* LFT entries that are not as confirmed, of switches and LIDs that are where they were; of: all of
 * these. */
static uint64_t auto_mode_overwritten(uint64_t *of, const struct auto_mode *m,
				      const struct fabric *f, const struct tables *t)
{
	uint32_t top = m->kept->max_lid < t->max_lid ? m->kept->max_lid : t->max_lid;
	uint64_t n = 0;

	*of = 0;
	for (uint32_t a = 0; a < m->kept_on->nsw; a++) {
		uint32_t b = fabric_switch_by_guid(f, m->kept_on->sw_guid[a]);

		for (uint32_t lid = 1; b != FAB_NONE && lid <= top; lid++) {
			if (m->kept_on->lid_end[lid] == FAB_NONE || f->lid_end[lid] == FAB_NONE)
				continue;
			++*of;
			n += tables_row(m->kept, a)[lid] != tables_row(t, b)[lid];
		}
	}
	return n;
}

/* Where the subnet manager knows what was confirmed, it routes by it as long as the fabric is the
 * same, and has a reason where it does not.  Where it does not know, it routes over it at its next
 * sweep with a change, and would every time. */
static void auto_mode_check_kept(struct auto_mode *m, const struct auto_seen *seen)
{
	char text[200];
	uint64_t n, of;
	bool same;

	/* what others have written since is theirs */
	if (seen->newest && strcmp(seen->newest, m->kept_txn) != 0)
		auto_mode_forget(m);
	if (!m->kept || m->policy.disarmed)
		return;
	same = digest_equal(&m->kept_on->fingerprint, &seen->f->fingerprint);
	n = same || !seen->plugin ? auto_mode_overwritten(&of, m, seen->f, seen->installed) : 0;
	if (!n)
		return;
	snprintf(text, sizeof(text),
		 "%s has overwritten %lu of %lu LFT entries of the confirmed routing%s",
		 seen->plugin ? "somebody" : "the subnet manager", (unsigned long)n,
		 (unsigned long)of,
		 seen->plugin ? "" : ", as it will every time without our plugin in OpenSM");
	auto_policy_overwritten(&m->policy, text);
	auto_mode_say(m, AUTO_WAIT, NULL);
}

struct auto_agents auto_mode_agents(const struct auto_mode *m, const char *socket, const char *key)
{
	return (struct auto_agents){ .socket = socket,
				     .key = key,
				     .unassigned = m->opts->strangers,
				     .drain = m->opts->drain,
				     .gain = m->opts->gain_pct / 100 };
}

int auto_mode_inputs(struct route_inputs *out, struct auto_mode *m, const struct auto_seen *seen,
		     struct err *err)
{
	const struct auto_opts *how = m->opts;
	struct route_limits *limits = NULL;
	struct route_inputs in = {
		.f = seen->f,
		.jobs = m->routed_for,
		.running = seen->jobs,
		.installed = seen->installed,
		.engine = how->engine.engine,
		.params = m->params,
		.sm = seen->sm,
		.opts = ROUTE_REPORT_QUICK,
	};
	struct demand *demand = NULL;
	int rc = auto_mode_limits(&limits, how, seen, err);

	auto_mode_check_kept(m, seen);

	if (!rc && how->demand && *how->demand)
		rc = load_demand(&demand, how->demand,
				 how->ranks && *how->ranks ? how->ranks : NULL, seen->f, err);
	in.demand = demand;
	in.opts.pattern = how->pattern;

	if (how->job_nodes_min)
		in.params.job_nodes_min = how->job_nodes_min;
	in.params.escape |= how->escape || seen->installed->escape;
	engine_spec_apply(&how->engine, &in.params);
	if (seen->installed->escape && !in.params.vls)
		in.params.vls = seen->installed->vls; /* escape LIDs are on the last, and stay */
	in.params.limits = limits;
	route_inputs_copy(out, &in);
	route_limits_free(limits);
	demand_put(demand);
	return rc;
}

/* --- what came out ----------------------------------------------------------------------- */

enum auto_act auto_mode_judge(struct auto_mode *m, const struct auto_plan *p)
{
	enum auto_act act = auto_policy_judge(&m->policy, auto_mode_now_s(), p);

	m->proposed = act == AUTO_PROPOSE;
	auto_totals_judged(&m->totals, act, p);
	auto_mode_say(m, act, p);
	return act;
}

void auto_mode_failed(struct auto_mode *m, const char *what)
{
	static const struct auto_plan none = { .sound = false };

	auto_totals_judged(&m->totals, AUTO_WAIT, &none);
	auto_policy_failed(&m->policy, auto_mode_now_s(), what);
	auto_mode_say(m, AUTO_WAIT, NULL);
}

void auto_mode_confirmed(struct auto_mode *m, const struct fabric *f, const struct tables *t)
{
	const struct tables *kept = tables_get(t);
	const struct fabric *on = fabric_get(f);

	auto_mode_forget(m);
	m->kept = kept;
	m->kept_on = on;
}

void auto_mode_ended(struct auto_mode *m, enum auto_end end, const char *txn, const char *text)
{
	if (end == AUTO_KEPT)
		snprintf(m->kept_txn, sizeof(m->kept_txn), "%.47s", txn);
	auto_totals_ended(&m->totals, end);
	auto_policy_ended(&m->policy, auto_mode_now_s(), end, text);
	auto_mode_say(m, AUTO_WAIT, NULL);
	record_note(*m->record, "auto.end", json_pack("{s:s, s:i}", "txn", txn, "end", (int)end));
}

void auto_mode_journals(struct auto_journals *out, const char *state_dir)
{
	struct txn_info *list = NULL;
	uint32_t n = 0;

	*out = (struct auto_journals){ .open = false };
	if (journal_list(&list, &n, journal_base(state_dir), NULL))
		return;
	for (uint32_t i = 0; i < n; i++)
		out->open = out->open || !txn_state_final(list[i].state);
	if (n)
		snprintf(out->newest, sizeof(out->newest), "%.47s", list[n - 1].head.id);
	free(list);
}
