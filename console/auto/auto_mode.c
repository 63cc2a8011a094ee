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

static void auto_mode_add_figures(json_t *j, const struct auto_plan *p)
{
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

/* --- looks ------------------------------------------------------------------------------- */

void auto_mode_start(struct auto_mode *m, bool armed)
{
	struct auto_limits limits;

	auto_opts_limits(&limits, m->opts, armed);
	auto_policy_init(&m->policy, &limits, auto_mode_now_s());
}

void auto_mode_end(struct auto_mode *m)
{
	jobset_put(m->routed_for);
	m->routed_for = NULL;
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

int auto_mode_inputs(struct route_inputs *out, const struct auto_mode *m,
		     const struct auto_seen *seen, struct err *err)
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
	auto_mode_say(m, act, p);
	return act;
}

void auto_mode_failed(struct auto_mode *m, const char *what)
{
	auto_policy_failed(&m->policy, auto_mode_now_s(), what);
	auto_mode_say(m, AUTO_WAIT, NULL);
}

void auto_mode_ended(struct auto_mode *m, enum auto_end end, const char *txn, const char *text)
{
	auto_policy_ended(&m->policy, auto_mode_now_s(), end, text);
	auto_mode_say(m, AUTO_WAIT, NULL);
	record_note(*m->record, "auto.end", json_pack("{s:s, s:i}", "txn", txn, "end", (int)end));
}

bool auto_mode_journal_open(const char *state_dir)
{
	struct txn_info *list = NULL;
	uint32_t n = 0;
	bool open = false;

	if (journal_list(&list, &n, journal_base(state_dir), NULL))
		return false;
	for (uint32_t i = 0; i < n; i++)
		open = open || !txn_state_final(list[i].state);
	free(list);
	return open;
}
