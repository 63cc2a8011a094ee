/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/poller_priv.h"

#include "console/session/live_fabric.h"
#include "console/session/update_figures.h"
#include "console/session/update_record.h"
#include "fabric/update/installer/smp.h"

#include <errno.h>
#include <stdio.h>

static const struct jobset *poller_update_jobs_now(struct poller *p)
{
	const struct jobset *jobs;

	pthread_mutex_lock(&p->lock);
	jobs = jobset_get(p->jobs);
	pthread_mutex_unlock(&p->lock);
	return jobs;
}

/* The check before the first write: everything is read anew. */
static int poller_update_still_fresh(void *ctx, struct err *err)
{
	struct poller *p = ctx;
	const struct jobset *jobs = poller_update_jobs_now(p);
	const struct fabric *f = NULL;
	struct tables *t = NULL;
	struct sm_pin pin;
	bool partial = false;
	int rc = poller_discover(&f, p, &partial, NULL, err);

	if (!rc)
		rc = wire_read_tables(&t, p->wire, f, p->opts.want_sl2vl, NULL, &p->progress, err);
	if (!rc) {
		pin = live_sm(p->wire);
		rc = plan_staleness(p->plan, f, plan_as_read(p->plan, f, t), jobs, &pin, err);
	}
	tables_put(t);
	fabric_put(f);
	jobset_put(jobs);
	return rc;
}

static int poller_update_may_act(void *ctx, const struct executor_event *ev, struct err *err)
{
	struct poller *p = ctx;

	return p->record ? update_record_gate(p->record, ev, err) : 0;
}

static void poller_update_apply_event(void *ctx, const struct executor_event *ev)
{
	struct poller *p = ctx;
	struct msg *msg = msg_new(MSG_APPLY_EVENT);

	if (p->record)
		update_record_event(p->record, ev, p->fabric);
	msg->event = *ev;
	/* these belong to the update and may be gone when the message is read */
	msg->event.txn = NULL;
	msg->event.list = NULL;
	msg->event.item = NULL;
	msg->event.change = NULL;
	if (p->apply)
		executor_status(p->apply, &msg->apply);
	mailbox_send(p->box, msg);
}

static void poller_update_set_apply(struct poller *p, struct executor *a)
{
	pthread_mutex_lock(&p->lock);
	p->apply = a;
	pthread_mutex_unlock(&p->lock);
}

static void poller_update_end_update(struct poller *p)
{
	struct executor *a = p->apply;

	poller_update_set_apply(p, NULL);
	executor_free(a);
	agents_close(&p->agents);
	plan_free(p->plan);
	p->plan = NULL;
	p->tables_at = 0; /* what is installed now is to be read */
	p->tables_read = false;
}

/* Tells how a step of the update ended, and puts the update away when all is over. */
static void poller_update_report_update(struct poller *p, int rc, const struct err *err)
{
	struct msg *msg = msg_new(MSG_APPLY_END);

	msg->rc = rc;
	if (p->apply)
		executor_status(p->apply, &msg->apply);
	snprintf(msg->text, sizeof(msg->text), "%s", rc ? err->text : msg->apply.text);
	mailbox_send(p->box, msg);
	if (p->apply && !msg->apply.waiting && msg->apply.outcome != OUTCOME_INCOMPLETE)
		poller_update_end_update(p);
	if (p->fabric)
		poller_read_tables(p);
}

/* The application hands over what the job source says. */
static void poller_update_ended(void *ctx, const uint64_t *id, bool *over, uint32_t n)
{
	const struct jobset *jobs = poller_update_jobs_now(ctx);

	for (uint32_t i = 0; jobs && i < n; i++) {
		over[i] = true;
		for (uint32_t k = 0; k < jobs->njob; k++)
			over[i] = over[i] && jobs->jobs[k].id != id[i];
	}
	jobset_put(jobs);
}

static struct executor_opts poller_update_opts(struct poller *p, bool check_fresh, bool agents)
{
	struct executor_opts o = {
		.base = p->opts.journal_dir,
		.accept_sl_change = p->opts.accept_sl_change,
		.fresh = check_fresh ? poller_update_still_fresh : NULL,
		.gate = poller_update_may_act,
		.event = poller_update_apply_event,
		.ended = poller_update_ended,
		.ctx = p,
	};

	struct live l = { .w = p->wire };

	agents_close(&p->agents);
	if (agents && !p->opts.simulated)
		agents_open(&p->agents, &l, NULL, false);
	agents_apply(&o, &p->agents, NULL);
	o.without_agents = p->opts.simulated;
	return o;
}

void poller_start_update(struct poller *p, struct plan *plan)
{
	struct executor_opts o;
	struct err err = { "" };
	int rc;

	if (p->apply) {
		plan_free(plan);
		err_set(&err, -EBUSY, "another update is under way");
		poller_update_report_update(p, -EBUSY, &err);
		return;
	}
	p->plan = plan;
	p->installer = smp_installer(p->wire);
	o = poller_update_opts(p, true, plan->drain.njob);
	if (p->record)
		update_record_figures(p->record, plan);
	poller_update_set_apply(p, executor_new(plan, &p->installer, &o));
	rc = executor_run(p->apply, &err);
	poller_update_report_update(p, rc, &err);
}

void poller_decide_update(struct poller *p, bool keep)
{
	struct err err = { "" };
	int rc;

	if (!p->apply)
		return;
	rc = keep ? executor_confirm(p->apply, &err) : executor_rollback(p->apply, &err);
	poller_update_report_update(p, rc, &err);
}

void poller_recover_update(struct poller *p, const char *txn)
{
	struct executor_opts o;
	struct err err = { "" };
	struct journal *j = NULL;
	int rc = 0;

	if (p->apply)
		rc = err_set(&err, -EBUSY, "another update is under way");
	if (!rc && !p->fabric)
		rc = err_set(&err, -EAGAIN, "the fabric has not been discovered yet");
	if (!rc)
		rc = journal_open(&j, journal_base(p->opts.journal_dir), txn, &err);
	if (!rc) {
		p->installer = smp_installer(p->wire);
		o = poller_update_opts(p, false, journal_info(j)->asked);
		poller_update_set_apply(p, executor_recover(j, p->fabric, &p->installer, &o));
		rc = executor_rollback(p->apply, &err);
	}
	poller_update_report_update(p, rc, &err);
}

/* --- what others ask for: the seam ----------------------------------------------------------- */

static void poller_update_take_jobs(void *ctx, const struct jobset *jobs)
{
	struct poller *p = ctx;
	const struct jobset *old;

	pthread_mutex_lock(&p->lock);
	old = p->jobs;
	p->jobs = jobset_get(jobs);
	pthread_mutex_unlock(&p->lock);
	jobset_put(old);
}

static void poller_update_want_apply(void *ctx, struct plan *plan, const struct jobset *jobs)
{
	poller_update_take_jobs(ctx, jobs);
	poller_want(ctx, (struct want){ .type = WANT_APPLY, .plan = plan });
}

static void poller_update_want_confirm(void *ctx)
{
	poller_want(ctx, (struct want){ .type = WANT_CONFIRM });
}

static void poller_update_want_rollback(void *ctx)
{
	poller_want(ctx, (struct want){ .type = WANT_ROLLBACK });
}

static void poller_update_want_recover(void *ctx, const char *txn)
{
	struct poller *p = ctx;
	struct want t = { .type = WANT_RECOVER };

	snprintf(t.txn, sizeof(t.txn), "%s", txn);
	poller_want(p, t);
}

static void poller_update_cancel(void *ctx)
{
	struct poller *p = ctx;

	pthread_mutex_lock(&p->lock);
	if (p->apply)
		executor_cancel(p->apply);
	pthread_mutex_unlock(&p->lock);
}

static bool poller_update_is_busy(void *ctx)
{
	struct poller *p = ctx;
	bool yes;

	pthread_mutex_lock(&p->lock);
	yes = p->apply != NULL;
	for (size_t i = 0; i < p->wants.n; i++)
		yes |= p->wants.v[i].type == WANT_APPLY || p->wants.v[i].type == WANT_RECOVER;
	pthread_mutex_unlock(&p->lock);
	return yes;
}

struct updater poller_updater(struct poller *p)
{
	static const struct updater_ops ops = {
		.apply = poller_update_want_apply,
		.jobs = poller_update_take_jobs,
		.confirm = poller_update_want_confirm,
		.rollback = poller_update_want_rollback,
		.recover = poller_update_want_recover,
		.cancel = poller_update_cancel,
		.busy = poller_update_is_busy,
		.name = "poller",
	};

	return (struct updater){ .ops = &ops, .ctx = p };
}
