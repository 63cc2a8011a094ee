/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/auto_run.h"

#include "console/lib/exits.h"
#include "console/record/record.h"
#include "console/session/auto_propose.h"
#include "console/session/update_terminal.h"
#include "fabric/base/clock.h"
#include "fabric/base/log.h"
#include "fabric/base/mem.h"
#include "fabric/base/store.h"
#include "fabric/jobs/filter.h"
#include "fabric/jobs/source.h"
#include "fabric/plan/planfile.h"
#include "fabric/update/journal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLAN_NAME "auto.plan" /* the newest proposal, in the directory of the journals */

struct auto_run {
	const struct auto_run_opts *o;
	struct watchdog_config dog;
	struct auto_policy policy;
	struct job_source *source;
	const struct job_list *list; /* the newest that is known */
	enum source_state source_state;
	struct record *record;
	struct live live; /* its port stays open */
	/* what was computed for last, and on which fabric */
	const struct jobset *routed_for;
	struct digest fingerprint;
	char said[sizeof(((struct auto_policy *)0)->why)];
};

/* What a signal reaches. */
static struct progress working;
static volatile sig_atomic_t stopped;

static void auto_run_on_stop(int sig)
{
	stopped = sig;
	atomic_store(&working.cancel, true);
}

/* --- what is told ------------------------------------------------------------------------ */

static const char *auto_run_act_name(enum auto_act act)
{
	static const char *const names[] = { "wait", "compute", "propose", "apply" };

	return names[act];
}

static void auto_run_note(struct auto_run *r, const char *type, json_t *data)
{
	struct err err;

	if (!r->record)
		json_decref(data);
	else if (record_add(r->record, type, data, &err))
		log_add(LOG_ERROR, "record", "%s", err.text);
}

static void auto_run_went_wrong(struct auto_run *r, const char *text)
{
	auto_run_note(r, "error",
		      json_pack("{s:s, s:o}", "area", "auto", "text", record_str(text)));
}

/* The same again is not worth a line. */
static void auto_run_say(struct auto_run *r, enum auto_act act)
{
	const char *why = r->policy.why;

	if (act == AUTO_WAIT && !strcmp(r->said, why))
		return;
	snprintf(r->said, sizeof(r->said), "%s", why);
	printf("auto: %s%s\n", act == AUTO_PROPOSE ? "PROPOSAL: " : "", why);
	fflush(stdout);
	auto_run_note(
		r, "auto",
		json_pack("{s:s, s:o}", "act", auto_run_act_name(act), "why", record_str(why)));
}

/* --- jobs -------------------------------------------------------------------------------- */

static int auto_run_open_source(struct auto_run *r, struct err *err)
{
	const char *name = r->dog.live.jobs;
	bool slurm = !strcmp(name, "slurm");
	struct source_opts so = { .path = slurm ? NULL : name,
				  .interval_ms = r->o->jobs_interval_s * 1000 };

	return source_open(&r->source, slurm ? &job_source_slurm : &job_source_file, &so, err);
}

static void auto_run_take_jobs(struct auto_run *r)
{
	const struct source_status *st;
	const struct job_list *list;

	if (!source_poll(r->source))
		return;
	st = source_status(r->source);
	if (st->state != r->source_state && st->state >= SOURCE_UNREACHABLE)
		log_add(LOG_WARN, "jobs", "%s", st->text);
	r->source_state = st->state;
	list = source_take(r->source);
	if (!list)
		return;
	job_list_put(r->list);
	r->list = list;
}

static bool auto_run_jobs_known(const struct auto_run *r)
{
	return r->list && r->source_state == SOURCE_OK;
}

/* --- updates ----------------------------------------------------------------------------- */

/* Any that is not over, also one that nobody works on. */
static bool auto_run_update_open(const struct auto_run *r)
{
	struct txn_info *list = NULL;
	uint32_t n = 0;
	bool open = false;

	if (journal_list(&list, &n, r->dog.live.state_dir, NULL))
		return false;
	for (uint32_t i = 0; i < n; i++)
		open = open || (!list[i].broken[0] && !txn_state_final(list[i].state));
	free(list);
	return open;
}

static enum auto_end auto_run_end_of(const struct update_terminal *t, int code)
{
	switch (code) {
	case EXIT_OK:
		return t->left ? AUTO_LEFT : AUTO_KEPT;
	case EXIT_ROLLED_BACK:
	case EXIT_NOT_CONFIRMED:
	case EXIT_FOREIGN:
		return AUTO_ROLLED_BACK;
	case EXIT_SUPERSEDED:
		return AUTO_SUPERSEDED;
	case EXIT_INCOMPLETE:
		return AUTO_INCOMPLETE;
	default:
		return AUTO_REFUSED;
	}
}

static void auto_run_apply(struct auto_run *r, const char *file, const char *fabric)
{
	struct update_terminal t = {
		.mode = UPDATE_AUTO,
		.fabric = fabric,
		.quiet_s = r->o->automatic.confirm_s,
	};
	struct err err = { "" };
	enum auto_end end;

	update_terminal_init(&t, r->dog.live.state_dir);
	end = auto_run_end_of(&t, update_terminal_apply(&t, &r->dog, file, &err));
	if (t.left)
		stopped = SIGTERM;
	auto_policy_ended(&r->policy, (uint64_t)clock_s(), end, err.text);
	auto_run_say(r, AUTO_WAIT);
	auto_run_note(r, "auto.end", json_pack("{s:s, s:i}", "txn", t.client.id, "end", (int)end));
	update_terminal_close(&t);
}

/* Where an operator, or the watchdog, finds it. */
static int auto_run_keep_plan(char **path, const struct auto_run *r, const struct plan *p,
			      struct err *err)
{
	const char *base = journal_base(r->dog.live.state_dir);
	int rc = store_mkdir(base, err);

	*path = xasprintf("%s/%s", base, PLAN_NAME);
	return rc ? rc : plan_save(*path, p, err);
}

static void auto_run_carry_out(struct auto_run *r, const struct live *l, struct auto_routes *routes,
			       enum auto_act act)
{
	char *path;
	struct err err = { "" };
	int rc = auto_run_keep_plan(&path, r, routes->plan, &err);

	if (rc && act == AUTO_APPLY) {
		auto_policy_ended(&r->policy, (uint64_t)clock_s(), AUTO_REFUSED, err.text);
		auto_run_say(r, AUTO_WAIT);
	} else if (rc) {
		printf("auto: the proposal could not be kept as a plan: %s\n", err.text);
		auto_run_went_wrong(r, err.text);
	} else if (act == AUTO_APPLY) {
		auto_run_apply(r, path, l->f->name);
	} else {
		printf("auto: look at it and write it with: ibroute-top apply %s\n", path);
	}
	fflush(stdout);
	free(path);
}

/* --- a round ----------------------------------------------------------------------------- */

static void auto_run_compute(struct auto_run *r, struct live *l, const struct jobset *counted,
			     const struct jobset *all)
{
	struct auto_routes routes = { 0 };
	struct err err = { "" };
	enum auto_act act = AUTO_WAIT;
	uint64_t now;
	int rc = live_tables(l, &err);

	if (!rc)
		rc = auto_propose(&routes, l, &r->dog.live, &r->o->automatic, r->o->seed, counted,
				  all, &working, &err);
	now = (uint64_t)clock_s();
	if (stopped)
		goto out;
	routes.proposal.busy = auto_run_update_open(r);
	if (rc)
		auto_policy_failed(&r->policy, now, err.text);
	else
		act = auto_policy_judge(&r->policy, now, &routes.proposal);
	auto_run_say(r, act);
	if (act == AUTO_PROPOSE || act == AUTO_APPLY)
		auto_run_carry_out(r, l, &routes, act);
out:
	auto_routes_clear(&routes);
}

static void auto_run_remember(struct auto_run *r, const struct live *l,
			      const struct jobset *counted)
{
	jobset_put(r->routed_for);
	r->routed_for = jobset_get(counted);
	r->fingerprint = l->f->fingerprint;
}

/* Against what was computed for last; jobs of another fabric cannot be compared. */
static void auto_run_compare(struct auto_look *in, const struct auto_run *r, const struct live *l,
			     const struct jobset *counted)
{
	struct job_change c;

	in->njobs = counted->nmulti;
	in->fabric_changed = !digest_equal(&r->fingerprint, &l->f->fingerprint);
	if (in->fabric_changed)
		return;
	job_change(&c, r->routed_for, counted);
	in->changed = c.changed;
	in->started = c.started;
	in->ended = c.ended;
}

static int auto_run_read_jobs(struct jobset **all, struct jobset **counted,
			      const struct auto_run *r, const struct live *l, struct err *err)
{
	struct job_filter filter = { .min_age_s = r->o->automatic.min_age_s };
	int rc = jobset_from_list(all, r->list, l->f, err);

	if (!rc)
		*counted = job_filter_apply(&filter, *all, l->f, time(NULL));
	return rc;
}

/* The jobs are known and nobody else updates. */
static void auto_run_look_at_fabric(struct auto_run *r, struct auto_look *in)
{
	struct live_opts lo = r->dog.live;
	struct jobset *all = NULL, *counted = NULL;
	struct live *l = &r->live;
	struct err err = { "" };
	enum auto_act act;

	if (live_again(l, &lo, NULL, &err) || auto_run_read_jobs(&all, &counted, r, l, &err)) {
		auto_policy_failed(&r->policy, (uint64_t)clock_s(), err.text);
		auto_run_say(r, AUTO_WAIT);
		goto out;
	}
	auto_run_compare(in, r, l, counted);
	act = auto_policy_look(&r->policy, (uint64_t)clock_s(), in);
	auto_run_say(r, act);
	if (act == AUTO_COMPUTE) {
		auto_run_remember(r, l, counted);
		auto_run_compute(r, l, counted, all);
	}
out:
	jobset_put(counted);
	jobset_put(all);
}

static void auto_run_look(struct auto_run *r)
{
	struct auto_look in = { .known = auto_run_jobs_known(r) };

	in.busy = in.known && auto_run_update_open(r);
	if (in.known && !in.busy) {
		auto_run_look_at_fabric(r, &in);
		return;
	}
	auto_run_say(r, auto_policy_look(&r->policy, (uint64_t)clock_s(), &in));
}

static void auto_run_loop(struct auto_run *r)
{
	while (!stopped) {
		struct pollfd p = { .fd = source_fd(r->source), .events = POLLIN };

		poll(&p, 1, 500);
		auto_run_take_jobs(r);
		if (!stopped && r->source_state != SOURCE_STARTING &&
		    auto_policy_due(&r->policy, (uint64_t)clock_s()))
			auto_run_look(r);
	}
}

/* --- start and end ----------------------------------------------------------------------- */

static int auto_run_start(struct auto_run *r, struct err *err)
{
	struct record_opts ro = { .dir = r->dog.live.record_dir,
				  .fabric = r->dog.live.name,
				  .mode = r->o->rw ? "auto-rw" : "auto",
				  .syslog = true };
	struct auto_limits limits;

	auto_opts_limits(&limits, &r->o->automatic, r->o->rw);
	auto_policy_init(&r->policy, &limits, (uint64_t)clock_s());
	if (record_open(&r->record, &ro, err)) {
		if (r->o->rw)
			return EXIT_NO_RECORD;
		log_add(LOG_WARN, "record", "this session is not recorded: %s", err->text);
		err->text[0] = '\0';
	}
	return auto_run_open_source(r, err) ? EXIT_BAD_USAGE : EXIT_OK;
}

static void auto_run_begin(const struct auto_run *r)
{
	const struct auto_opts *a = &r->o->automatic;

	printf("auto: looks every %u s at the jobs of %s, engine %s, gain more than %g %%, %s\n",
	       a->period_s, r->dog.live.jobs, a->engine.label, a->gain_pct,
	       r->o->rw ? "armed: writes by itself" : "not armed: only proposes");
	fflush(stdout);
}

static void auto_run_end(struct auto_run *r)
{
	struct err err = { "" };

	live_close(&r->live);
	source_close(r->source);
	job_list_put(r->list);
	jobset_put(r->routed_for);
	if (r->record && record_close(r->record, &err))
		fprintf(stderr, "ibroute-top: %s\n", err.text);
}

int auto_run(const struct auto_run_opts *o)
{
	struct sigaction sa = { .sa_handler = auto_run_on_stop };
	struct auto_run r = { .o = o, .dog = o->dog };
	struct err err = { "" };
	int rc;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	rc = auto_run_start(&r, &err);
	if (!rc) {
		auto_run_begin(&r);
		auto_run_loop(&r);
		puts("auto: ends; the installed routes stay");
	} else {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	}
	auto_run_end(&r);
	return rc;
}
