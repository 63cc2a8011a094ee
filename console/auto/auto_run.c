/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_run.h"

#include "console/alert/alerts.h"
#include "console/auto/auto_mode.h"
#include "console/config/exits.h"
#include "console/record/record.h"
#include "console/update/update_terminal.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/jobs/source.h"
#include "fabric/plan/file/plan_bytes.h"
#include "fabric/plan/file/planfile.h"
#include "fabric/update/journal/journal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRUNE_S	       86400.0
#define ALERTS_WAIT_MS 5000	   /* at the end */
#define PLAN_NAME      "auto.plan" /* the newest plan, in the directory of the journals */

struct auto_run {
	const struct auto_run_opts *o;
	struct auto_mode mode;
	struct job_source *source;
	const struct job_list *list; /* the newest that is known */
	enum source_state source_state;
	struct record *record;
	struct alerts *alerts; /* NULL: nobody wants them */
	struct live live;      /* its port stays open */
	double pruned_s;       /* clock_s(); 0: not yet */
	double wrote_s;	       /* by clock_s(), the last time that it may have written */
};

/* What a signal reaches. */
static struct progress working;
static volatile sig_atomic_t stopped;

static void auto_run_on_stop(int sig)
{
	stopped = sig;
	atomic_store(&working.cancel, true);
}

/* --- what is logged ---------------------------------------------------------------------- */

/* As without a sink. */
static void auto_run_sink(void *ctx, const struct log_line *line)
{
	const struct auto_run *r = ctx;

	if (line->level >= LOG_WARN)
		fprintf(stderr, "ibroute-top: %s: %s: %s\n", log_level_name(line->level),
			line->area, line->text);
	alerts_line(r->alerts, line);
}

/* What it decides is one of the things that happen. */
static void auto_run_say(void *ctx, enum auto_act act, const char *why)
{
	const struct auto_run *r = ctx;
	const struct alert_opts *o = r->o->alert;
	struct alert one;

	if (act != AUTO_WAIT || (o->events && o->level <= LOG_INFO)) {
		alert_make(&one, LOG_INFO, "auto", act == AUTO_PROPOSE ? "plan" : "decision", "%s",
			   why);
		alerts_tell(r->alerts, &one);
	}
	printf("auto: %s%s\n", act == AUTO_PROPOSE ? "PROPOSED PLAN: " : "", why);
	fflush(stdout);
}

/* --- jobs -------------------------------------------------------------------------------- */

static int auto_run_open_source(struct auto_run *r, struct err *err)
{
	const char *name = r->o->dog.live.jobs;
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
	case EXIT_FABRIC_CHANGED:
		return AUTO_SUPERSEDED;
	case EXIT_INCOMPLETE:
		return AUTO_INCOMPLETE;
	default:
		return AUTO_REFUSED;
	}
}

static void auto_run_apply(struct auto_run *r, const struct plan *p)
{
	struct update_terminal t = {
		.mode = UPDATE_AUTO,
		.fabric = p->fabric->name,
		.quiet_s = r->o->automatic.confirm_s,
	};
	struct plan_bytes plan;
	struct err err = { "" };
	enum auto_end end = AUTO_REFUSED;

	update_terminal_init(&t, r->o->dog.live.state_dir);
	if (!plan_bytes_of(&plan, p, &err))
		end = auto_run_end_of(&t, update_terminal_apply(&t, &r->o->dog, &plan, &err));
	plan_bytes_clear(&plan);
	r->wrote_s = clock_s();
	if (t.left)
		stopped = SIGTERM;
	if (end == AUTO_KEPT)
		auto_mode_confirmed(&r->mode, p->fabric, p->to);
	auto_mode_ended(&r->mode, end, t.client.id, err.text);
	update_terminal_close(&t);
}

/* Where an operator, or the watchdog, finds it. */
static int auto_run_keep_plan(char **path, const struct auto_run *r, const struct plan *p,
			      struct err *err)
{
	const char *base = journal_base(r->o->dog.live.state_dir);
	int rc = store_mkdir(base, err);

	*path = xasprintf("%s/%s", base, PLAN_NAME);
	return rc ? rc : plan_save(*path, p, err);
}

static void auto_run_carry_out(struct auto_run *r, const struct plan *p, enum auto_act act)
{
	char *path;
	struct err err = { "" };
	int rc = auto_run_keep_plan(&path, r, p, &err);

	if (rc && act == AUTO_APPLY) {
		auto_mode_ended(&r->mode, AUTO_REFUSED, "", err.text);
	} else if (rc) {
		printf("auto: the plan could not be saved: %s\n", err.text);
		if (r->record)
			record_error(r->record, "auto", err.text);
	} else if (act == AUTO_APPLY) {
		auto_run_apply(r, p);
	} else {
		printf("auto: check and apply it with: ibroute-top apply %s\n", path);
	}
	fflush(stdout);
	free(path);
}

/* --- a round ----------------------------------------------------------------------------- */

static int auto_run_propose(struct auto_plan *out, struct route_report *report,
			    struct route_inputs *in, const struct auto_run *r, struct err *err)
{
	struct auto_agents who =
		auto_mode_agents(&r->mode, r->o->dog.live.socket, r->o->dog.live.agents_key);
	double start = clock_cpu_s();
	int rc;

	in->opts.bound_work = LENGTH_WORK; /* nobody waits for it */
	route_report_begin(report, in);
	rc = route_report_steps(report, in, AUTO_STEPS, &working, err);
	if (!rc)
		rc = auto_propose(out, report, in, &who, &working, err);
	if (!rc)
		out->cpu_s = clock_cpu_s() - start;
	return rc;
}

static void auto_run_compute(struct auto_run *r, struct auto_seen *seen)
{
	struct route_report report = { 0 };
	struct route_inputs in = { 0 };
	struct auto_journals journals;
	struct auto_plan p;
	struct err err = { "" };
	enum auto_act act = AUTO_WAIT;
	int rc = live_tables(&r->live, &err);

	seen->installed = r->live.t;
	seen->plugin = r->live.osm != NULL;
	if (!rc)
		rc = auto_mode_inputs(&in, &r->mode, seen, &err);
	if (!rc)
		rc = auto_run_propose(&p, &report, &in, r, &err);
	if (stopped)
		goto out;
	if (rc) {
		auto_mode_failed(&r->mode, err.text);
		goto out;
	}
	auto_mode_journals(&journals, r->o->dog.live.state_dir);
	p.busy = journals.open;
	p.why_not = err.text;
	act = auto_mode_judge(&r->mode, &p);
	if (act != AUTO_WAIT)
		auto_run_carry_out(r, report.plan, act);
out:
	route_report_free(&report);
	route_inputs_drop(&in);
}

/* The jobs are known and nobody else updates. */
static void auto_run_look_at_fabric(struct auto_run *r, struct auto_seen *seen)
{
	struct live_opts lo = r->o->dog.live; /* a collector may know */
	struct jobset *jobs = NULL;
	struct live *l = &r->live;
	struct err err = { "" };

	int rc;

	lo.tables_after_s = r->wrote_s;
	rc = live_again(l, &lo, NULL, &err);
	if (!rc)
		alerts_fabric(r->alerts, l->f->name);
	if (rc || jobset_from_list(&jobs, r->list, l->f, &err)) {
		auto_mode_failed(&r->mode, err.text);
	} else {
		seen->f = l->f;
		seen->jobs = jobs;
		seen->sm = l->sm;
		if (auto_mode_look(&r->mode, seen) == AUTO_COMPUTE)
			auto_run_compute(r, seen);
	}
	jobset_put(jobs);
}

static void auto_run_look(struct auto_run *r)
{
	struct auto_seen seen = { .known = auto_run_jobs_known(r) };
	struct auto_journals journals;

	auto_mode_journals(&journals, r->o->dog.live.state_dir);
	seen.busy = seen.known && journals.open;
	seen.newest = journals.newest;
	if (seen.known && !seen.busy)
		auto_run_look_at_fabric(r, &seen);
	else
		auto_mode_look(&r->mode, &seen);
}

static void auto_run_prune(struct auto_run *r)
{
	const struct live_opts *l = &r->o->dog.live;
	struct err err;

	if (!r->record || !record_policy_said(&r->o->keep) ||
	    (r->pruned_s > 0 && clock_s() - r->pruned_s < PRUNE_S))
		return;
	r->pruned_s = clock_s();
	if (record_prune_told(r->record, l->record_dir, l->state_dir, &r->o->keep, &err))
		log_add(LOG_WARN, "record", "%s", err.text);
}

static void auto_run_loop(struct auto_run *r)
{
	while (!stopped) {
		struct pollfd p = { .fd = source_fd(r->source), .events = POLLIN };

		auto_run_prune(r);
		poll(&p, 1, 500);
		auto_run_take_jobs(r);
		if (!stopped && r->source_state != SOURCE_STARTING && auto_mode_due(&r->mode))
			auto_run_look(r);
	}
}

/* --- start and end ----------------------------------------------------------------------- */

static int auto_run_start(struct auto_run *r, struct err *err)
{
	struct record_opts ro = { .dir = r->o->dog.live.record_dir,
				  .fabric = r->o->dog.live.name,
				  .mode = r->o->rw ? "auto-rw" : "auto",
				  .syslog = true };

	auto_mode_start(&r->mode, r->o->rw);
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

	printf("auto: checking every %u s the jobs of %s, engine %s, required gain > %g %%, %s\n",
	       a->period_s, r->o->dog.live.jobs, a->engine.label, a->gain_pct,
	       r->o->rw ? "armed: applies plans" : "not armed: only proposes plans");
	fflush(stdout);
}

static void auto_run_end(struct auto_run *r)
{
	struct err err = { "" };

	live_close(&r->live);
	source_close(r->source);
	log_set_sink(NULL, NULL);
	alerts_free(r->alerts, ALERTS_WAIT_MS);
	job_list_put(r->list);
	auto_mode_end(&r->mode);
	if (r->record && record_close(r->record, &err))
		fprintf(stderr, "ibroute-top: %s\n", err.text);
}

int auto_run(const struct auto_run_opts *o)
{
	struct sigaction sa = { .sa_handler = auto_run_on_stop };
	struct auto_run r = { .o = o };
	struct err err = { "" };
	int rc;

	r.mode = (struct auto_mode){ .opts = &o->automatic,
				     .params = o->params,
				     .record = &r.record,
				     .say = auto_run_say,
				     .ctx = &r };
	r.alerts = alerts_new(o->alert);
	log_set_sink(auto_run_sink, &r);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	rc = auto_run_start(&r, &err);
	if (!rc) {
		auto_run_begin(&r);
		auto_run_loop(&r);
		auto_mode_say_totals(&r.mode);
		puts("auto: stopped; the installed routing stays");
	} else {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	}
	auto_run_end(&r);
	return rc;
}
