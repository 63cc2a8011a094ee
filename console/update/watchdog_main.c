/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that carries out an update: the real fabric, the record, and the watchdog. */
#include "console/update/watchdog_config.h"

#include "console/config/exits.h"
#include "console/live/foreign_tables.h"
#include "console/live/journal_restore.h"
#include "console/live/live_install.h"
#include "console/plan/plan_follow.h"
#include "console/plan/plan_judge.h"
#include "console/record/record.h"
#include "console/update/update_figures.h"
#include "console/update/update_record.h"
#include "fabric/base/file/store.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/jobs/source.h"
#include "fabric/model/topology/host_names.h"
#include "fabric/plan/drain_names.h"
#include "fabric/plan/file/plan_bytes.h"
#include "fabric/plan/file/planfile.h"
#include "fabric/update/installer/osm_grant.h"
#include "fabric/update/installer/sm_lock.h"
#include "fabric/update/watchdog/supervisor.h"
#include "fabric/update/watchdog/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAN_FILE "/proc/self/fd/4" /* SUPERVISOR_PLAN */
#define SL_PATHS  64

struct worker {
	struct watchdog_config config;
	struct watchdog *dog;
	struct live live;
	struct record *record;
	struct live_install way;
	struct sm_lock lock;
	struct job_source *jobs;
	struct agents agents;
	struct foreign_tables theirs;
	struct name_map *names; /* the plan's */
	char *file;		/* the plan's */
	size_t file_len;
	struct txn_gain gain; /* the plan's */
	bool no_record;	      /* it was the record that could not be written */
	enum outcome outcome;
	char user[40];
};

static int watchdog_main_gate(void *ctx, const struct executor_event *ev, struct err *err)
{
	struct worker *w = ctx;
	int rc = update_record_gate(w->record, ev, err);

	w->no_record = w->no_record || rc;
	return rc;
}

static void watchdog_main_event(void *ctx, const struct executor_event *ev)
{
	struct worker *w = ctx;

	update_record_event(w->record, ev, w->live.f);
}

static void watchdog_main_note(void *ctx, const char *type, json_t *data)
{
	struct worker *w = ctx;

	record_note(w->record, type, data);
}

static void watchdog_main_ended(void *ctx, const uint64_t *id, bool *over, uint32_t n)
{
	struct worker *w = ctx;

	agents_ended(&w->agents, id, over, n);
}

static int watchdog_main_others(void *ctx)
{
	struct worker *w = ctx;

	return live_gone(&w->live) ? 0 : foreign_tables_others(&w->theirs);
}

static int watchdog_main_judge(void *ctx, struct executor_foreign *out, struct err *err)
{
	struct worker *w = ctx;

	return foreign_tables_judge(&w->theirs, out, err);
}

/* That there is no lock is said, unless OpenSM's plugin grants updates anyway. */
static void watchdog_main_tell_lock(struct worker *w)
{
	const char *why = w->config.without_lock ? "--without-lock" : w->lock.none;
	char text[300] = "";

	if (!w->lock.held)
		snprintf(text, sizeof(text), SM_LOCK_NONE, why);
	watchdog_main_note(w, "lock",
			   json_pack("{s:b, s:o}", "held", w->lock.held, "text",
				     text[0] ? json_text(text) : json_null()));
	if (w->lock.held || w->live.osm)
		return;
	log_add(LOG_WARN, "watchdog", "%s", text);
	watchdog_step(w->dog, text);
}

/* Of the plugin, and by a record at the SM, which others see without it. */
static int watchdog_main_grant(void *ctx, const struct executor_grant *g, struct err *err)
{
	struct worker *w = ctx;
	int rc;

	if (w->way.files) /* in nobody's way */
		return 0;
	rc = w->config.without_lock ? osm_grant(w->live.osm, g, err)
				    : sm_lock_grant_with(&w->lock, w->live.osm, g, err);
	if (!rc && (g->step == GRANT_BEGIN || g->step == GRANT_RESUME))
		watchdog_main_tell_lock(w);
	return rc;
}

/* No switch holds the SLs of paths: where no plugin tells them, the SM does, path by path. */
static int watchdog_main_check_sls(struct worker *w, const struct plan *p,
				   struct progress *progress, struct err *err)
{
	const struct fabric *f = p->fabric;
	struct path_sl_report r = { 0 };
	struct err why = { "" };
	int rc;

	if (w->live.osm || w->live.simulated.ops || w->way.files || w->config.accept_sl)
		return 0;
	rc = wire_check_path_sls(w->live.w, f, p->from, SL_PATHS, clock_ms(), &r, progress, &why);
	if (rc == -ECANCELED)
		return rc;
	if (rc)
		log_add(LOG_WARN, "watchdog", "service levels of paths: %s", why.text);
	if (!r.differ)
		return 0;
	return err_set(
		err, -ESTALE,
		"the subnet manager gives other service levels than plan %s begins with, for "
		"%llu of %u paths asked (SL %u from %s to LID %u, not %u): what was judged of "
		"its order does not hold (--accept-sl-change applies it anyway)",
		p->id, (unsigned long long)r.differ, SL_PATHS, r.actual, f->term_name[r.term],
		r.dlid, r.claimed);
}

static int watchdog_main_approve(void *ctx, const struct plan *p, struct progress *progress,
				 struct err *err)
{
	struct worker *w = ctx;
	int rc = plan_judge(p, w->live.t, progress, err);

	if (!rc)
		rc = watchdog_main_check_sls(w, p, progress, err);
	if (!rc && p->drain.nlid && p->drain.jobs && !w->live.jobs)
		watchdog_step(w->dog, "which jobs have to drain is judged by the jobs of the plan: "
				      "no batch system was asked (--jobs)");
	watchdog_main_note(w, "plan.judged",
			   json_pack("{s:s, s:b, s:o}", "plan", p->id, "ok", !rc, "text",
				     rc ? json_text(err->text) : json_null()));
	return rc;
}

static bool watchdog_main_gone(void *ctx)
{
	struct worker *w = ctx;

	return live_gone(&w->live);
}

static const struct jobset *watchdog_main_running(void *ctx)
{
	struct worker *w = ctx;

	return agents_running(&w->agents, w->live.f);
}

static int watchdog_main_read_names(void *ctx, struct fabric **out, struct err *err)
{
	struct worker *w = ctx;

	return wire_read_names(out, w->live.w, w->live.f, NULL, err);
}

/* Through the plugin, that takes no port, also for the first job that begins meanwhile. */
static bool watchdog_main_may_ask(const struct worker *w, const struct plan *p)
{
	return p->drain.njob || (p->drain.jobs && p->drain.escape && w->live.osm);
}

/* Only where somebody is to be asked: a port has one listener. */
static void watchdog_main_reach_agents(struct worker *w, const struct plan *p,
				       const struct journal *j)
{
	if (p ? watchdog_main_may_ask(w, p) && !w->config.agents.without : journal_info(j)->asked)
		agents_open(&w->agents, &w->live, &w->config.live, true);
	else if (p && p->drain.nlid && !w->config.agents.without)
		agents_watch_jobs(&w->agents, &w->config.live);
}

static int watchdog_main_open_record(struct worker *w, const char *fabric, struct err *err)
{
	bool simulated = w->config.live.simulator != NULL;
	struct record_opts ro = { .dir = w->config.live.record_dir,
				  .fabric = fabric,
				  .mode = simulated ? "demo" : "rw",
				  .syslog = !simulated };

	return record_open(&w->record, &ro, err);
}

/* Whose jobs die is asked of the same batch system as the plan's; a file knows no failures. */
static void watchdog_main_open_jobs(struct worker *w)
{
	struct source_opts so = { 0 };
	struct err err = { "" };

	if (!(w->config.watch & 1u << WATCH_JOBS) || !w->config.live.jobs ||
	    strcmp(w->config.live.jobs, "slurm"))
		return;
	if (source_open(&w->jobs, &job_source_slurm, &so, &err))
		log_add(LOG_WARN, "watchdog", "%s", err.text);
}

static int watchdog_main_choose_way(struct worker *w, const struct plan *plan, struct err *err)
{
	const struct plan *made = w->theirs.plan;
	int rc = live_install_open(&w->way, &w->live, &w->config.live, plan,
				   made ? made->sm.guid : 0, err);

	if (rc)
		return rc;
	watchdog_main_note(w, "installer",
			   json_pack("{s:s, s:o}", "name", w->way.in.ops->name, "text",
				     w->way.warning[0] ? json_text(w->way.warning) : json_null()));
	watchdog_installer(w->dog, w->way.in.ops->name);
	if (w->way.warning[0]) {
		log_add(LOG_WARN, "watchdog", "%s", w->way.warning);
		watchdog_step(w->dog, w->way.warning);
	}
	return 0;
}

static int watchdog_main_run(struct worker *w, const struct plan *plan, struct journal *j,
			     struct err *err)
{
	struct watchdog_job job = {
		.plan = plan,
		.journal = j,
		.fabric = w->live.f,
		.wire = w->live.w,
		.in = &w->way.in,
		.apply = { .gain = plan ? &w->gain : NULL,
			   .gate = watchdog_main_gate,
			   .event = watchdog_main_event,
			   .ended = watchdog_main_ended,
			   .running = watchdog_main_running,
			   .names = watchdog_main_read_names,
			   .others = watchdog_main_others,
			   .judge = watchdog_main_judge,
			   .grant = watchdog_main_grant,
			   .approve = watchdog_main_approve,
			   .ctx = w,
			   .accept_sl_change = w->config.accept_sl },
		.watch = { .mask = w->config.watch, .limits = w->config.limits, .jobs = w->jobs },
		.file = w->file,
		.file_len = w->file_len,
		.note = watchdog_main_note,
		.gone = watchdog_main_gone,
	};
	int code = EXIT_REFUSED;

	sm_lock_init(&w->lock, w->live.w);
	w->lock.granted = w->live.osm;
	foreign_tables_open(&w->theirs, &w->live, &w->config.live, plan,
			    j ? journal_info(j)->head.id : NULL);
	if (watchdog_main_choose_way(w, plan, err)) {
		journal_close(j);
		goto out;
	}
	if (plan)
		update_record_begin(w->record, plan, w->way.in.ops->name, w->config.confirm_s);
	watchdog_main_reach_agents(w, plan, j);
	agents_apply(&job.apply, &w->agents, &w->config.agents);
	code = watchdog_run(w->dog, &job, &w->outcome, err);
	sm_lock_end(&w->lock);
	agents_close(&w->agents);
	live_install_close(&w->way);
out:
	foreign_tables_close(&w->theirs);
	return code == EXIT_REFUSED && w->no_record ? EXIT_NO_RECORD : code;
}

/* Hosts have come or left: what is carried out, and kept beside the journal, is another plan. */
static int watchdog_main_replace_plan(struct worker *w, const struct plan *p,
				      const struct plan *now, const struct graft_report *grafted,
				      struct err *err)
{
	char hosts[100], text[300];

	if (!graft_report_text(hosts, sizeof(hosts), grafted))
		snprintf(hosts, sizeof(hosts), "ports were moved");
	snprintf(text, sizeof(text),
		 "the hosts changed since plan %s was computed: %s; verified and ordered again as "
		 "plan %s, %u LFT block%s and %u SL2VL table%s in %u wave%s",
		 p->id, hosts, now->id, now->diff->nblocks, plural(now->diff->nblocks),
		 now->diff->nsl2vl, plural(now->diff->nsl2vl), now->changes->nwaves,
		 plural(now->changes->nwaves));
	watchdog_step(w->dog, text);
	watchdog_main_note(w, "plan.hosts",
			   json_pack("{s:s, s:s, s:o}", "plan", p->id, "now", now->id, "text",
				     json_text(text)));
	free(w->file);
	w->file = NULL;
	return plan_encode(&w->file, &w->file_len, now, now->id, err);
}

/* Whoever is called otherwise than when the plan was made is told, ... */
static void watchdog_main_tell_names(struct worker *w, const struct plan *p)
{
	const struct drain nobody = { 0 };
	struct drain_renamed r;
	char text[400];

	drain_names_compare(&r, p->fabric, w->live.f, &nobody, NULL);
	if (!r.n)
		return;
	snprintf(text, sizeof(text), "%u port%s changed %s name since plan %s was computed: %s",
		 r.n, plural(r.n), r.n == 1 ? "its" : "their", p->id, r.text);
	watchdog_step(w->dog, text);
	watchdog_main_note(w, "plan.names",
			   json_pack("{s:s, s:I, s:o}", "plan", p->id, "ports", (json_int_t)r.n,
				     "text", json_text(text)));
}

/* ... and not drained unseen. */
static int watchdog_main_names(const struct worker *w, const struct plan *p, const struct plan *now,
			       struct err *err)
{
	const struct agents_opts *o = &w->config.agents;
	struct drain_renamed r;

	drain_names_compare(&r, p->fabric, now->fabric, &now->drain, now->jobs);
	if (!r.drained || o->names || o->without)
		return 0;
	return err_set(err, -EPERM,
		       "%u port%s that would have to drain changed %s name since plan %s was "
		       "computed: %s: compute the plan again, or take the names as they are with "
		       "--accept-names",
		       r.drained, plural(r.drained), r.drained == 1 ? "its" : "their", p->id,
		       r.text);
}

/* That other jobs run by now refuses a plan only where somebody has said that they matter. */
static int watchdog_main_follow(struct plan **now, struct worker *w, const struct plan *p,
				struct graft_report *grafted, struct err *err)
{
	struct jobset *running = w->live.jobs;
	int rc;

	if (w->config.live.jobs_tried)
		w->live.jobs = NULL;
	rc = plan_follow(now, p, &w->live, grafted, err);
	w->live.jobs = running;
	return rc;
}

/* The plan on the fabric as it is now. */
static int watchdog_main_run_plan(struct worker *w, const struct plan *p, struct err *err)
{
	struct graft_report grafted;
	struct plan *now;
	int rc;

	watchdog_main_tell_names(w, p);
	rc = watchdog_main_follow(&now, w, p, &grafted, err);
	if (!rc && !digest_equal(&now->fabric->fingerprint, &p->fabric->fingerprint))
		rc = watchdog_main_replace_plan(w, p, now, &grafted, err);
	if (!rc)
		rc = watchdog_main_names(w, p, now, err);
	if (rc) {
		watchdog_main_note(
			w, "plan.stale",
			json_pack("{s:s, s:o}", "plan", p->id, "text", json_text(err->text)));
		plan_free(now);
		return EXIT_REFUSED;
	}
	update_record_plan(w->record, now);
	update_record_figures(w->record, now, &w->gain);
	watchdog_main_open_jobs(w);
	rc = watchdog_main_run(w, now, NULL, err);
	source_close(w->jobs);
	plan_free(now);
	return rc;
}

static int watchdog_main_apply(struct worker *w, struct err *err)
{
	struct plan_bytes bytes;
	struct plan *p;
	int rc = EXIT_REFUSED;

	if (plan_bytes_load(&bytes, &p, PLAN_FILE, err))
		goto out;
	w->file = bytes.data;
	w->file_len = bytes.len;
	if (!digest_equal(&bytes.sum, &w->config.plan)) {
		err_set(err, EXIT_REFUSED,
			"the plan that was handed over is not the one that was shown");
		goto out;
	}
	rc = EXIT_NO_RECORD;
	if (watchdog_main_open_record(w, p->fabric->name, err))
		goto out;
	w->config.live.notices = p->drain.njob && p->drain.escape && !w->config.agents.without;
	w->config.live.names = w->names = host_names_map(p->fabric);
	watchdog_step(w->dog, "reading the fabric");
	rc = EXIT_UNREADABLE;
	if (!live_open(&w->live, &w->config.live, p->fabric->name, err))
		rc = watchdog_main_run_plan(w, p, err);
out:
	plan_free(p);
	return rc;
}

/* A simulated fabric does not come back: nobody needs to try again. */
static int watchdog_main_unreadable(struct worker *w, struct journal *j, int rc, struct err *err)
{
	if (!w->config.live.simulator || rc != -ENOLINK || txn_state_final(journal_info(j)->state))
		return EXIT_UNREADABLE;
	if (journal_mark(j, TXN_GIVEN_UP, 0, WATCHDOG_GONE, NULL))
		return EXIT_UNREADABLE;
	w->outcome = OUTCOME_INCOMPLETE;
	return err_set(err, EXIT_INCOMPLETE, "%s", WATCHDOG_GONE);
}

/* After a worker that died: the same switches, the way back. */
static int watchdog_main_recover(struct worker *w, const char *id, struct err *err)
{
	const char *dir = w->config.live.state_dir;
	struct journal *j;
	int rc = journal_open(&j, dir, id, err);

	if (rc == -EBADMSG)
		rc = journal_open_lost(&j, dir, id, err);
	if (rc)
		return rc == -EBUSY ? GUARD_BUSY : EXIT_REFUSED;
	snprintf(w->user, sizeof(w->user), "%s", journal_info(j)->head.user);
	rc = EXIT_NO_RECORD;
	if (watchdog_main_open_record(w, journal_info(j)->head.fabric, err))
		goto out;
	w->config.live.notices = journal_info(j)->asked;
	watchdog_step(w->dog, "reading the fabric for the rollback");
	rc = live_discover(&w->live, &w->config.live, journal_info(j)->head.fabric, err);
	if (rc) {
		rc = watchdog_main_unreadable(w, j, rc, err);
		goto out;
	}
	rc = EXIT_OK;
	if (txn_state_final(journal_info(j)->state))
		goto out;
	rc = EXIT_REFUSED;
	if (journal_info(j)->lost && journal_restore(j, &w->live, &w->config.live, err))
		goto out;
	rc = watchdog_main_run(w, NULL, j, err);
	j = NULL;
out:
	journal_close(j);
	return rc;
}

/* Whose terminals are notified. */
static void watchdog_main_who(struct worker *w)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *pw = getpwuid(getuid());

	snprintf(w->user, sizeof(w->user), "%s",
		 sudo && *sudo && !getuid() ? sudo
		 : pw			    ? pw->pw_name
					    : "root");
}

static int watchdog_main_start(struct worker *w, struct err *err)
{
	struct watchdog_opts o = { .client = -1 };
	int rc;

	watchdog_main_who(w);
	o.client = fcntl(SUPERVISOR_CLIENT, F_GETFD) < 0 ? -1 : SUPERVISOR_CLIENT;
	o.supervisor = supervisor_link_new("");
	rc = watchdog_config_read(&w->config, SUPERVISOR_CONFIG, err);
	if (rc)
		return rc;
	supervisor_log(w->config.live.state_dir, "watchdog");
	o.base = w->config.live.state_dir;
	o.confirm_s = w->config.confirm_s;
	return watchdog_new(&w->dog, &o, err);
}

/* The operator wanted it: rollback.begin and end say all, and nothing is wrong. */
static bool watchdog_main_rolled_back_as_told(const struct worker *w)
{
	return w->outcome == OUTCOME_ROLLED_BACK && watchdog_why(w->dog) == WHY_OPERATOR;
}

static int watchdog_main_worker_main(const char *id)
{
	struct worker w = { 0 };
	struct err err = { "" }, end = { "" };
	int rc;

	if (watchdog_main_start(&w, &err)) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		return EXIT_REFUSED;
	}
	rc = id ? watchdog_main_recover(&w, id, &err) : watchdog_main_apply(&w, &err);
	if (rc && w.record && err.text[0] && !watchdog_main_rolled_back_as_told(&w))
		record_error(w.record, "apply", err.text);
	if (record_close(w.record, &end))
		log_add(LOG_ERROR, "record", "%s", end.text);
	watchdog_end(w.dog, rc, w.outcome, w.config.live.simulator ? NULL : w.user, err.text);
	live_close(&w.live);
	name_map_free(w.names);
	free(w.file);
	watchdog_config_clear(&w.config);
	return rc;
}

int watchdog_main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "guard"))
		return supervisor_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "worker"))
		return watchdog_main_worker_main(argc > 2 ? argv[2] : NULL);
	fprintf(stderr, "%s is for internal use only\n", GUARD_ARG);
	return EXIT_BAD_USAGE;
}
