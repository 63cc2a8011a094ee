/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_grant.h"
#include "console/update/update_rollback.h"

#include "console/update/show_event.h"
#include "console/update/update_record.h"
#include "fabric/base/message/log.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A way back is not called off half-way. */
static void update_rollback_go_on(int sig)
{
	(void)sig;
}

static int update_rollback_gate(void *ctx, const struct executor_event *ev, struct err *err)
{
	struct update_rollback *t = ctx;
	int rc = update_record_gate(t->record, ev, err);

	t->no_record = t->no_record || rc;
	return rc;
}

static void update_rollback_event(void *ctx, const struct executor_event *ev)
{
	struct update_rollback *t = ctx;
	char name[160] = "";

	update_record_event(t->record, ev, t->live->f);
	if (ev->kind == APPLY_ITEM && (!ev->rc || t->failed++ >= 10))
		return;
	if (ev->kind == APPLY_ITEM)
		change_name(name, sizeof(name), ev->change, t->live->f);
	show_event(ev, name, ev->txn);
}

static int update_rollback_judge(void *ctx, struct executor_foreign *out, struct err *err)
{
	struct update_rollback *t = ctx;

	return foreign_tables_judge(&t->theirs, out, err);
}

static int update_rollback_others(void *ctx)
{
	struct update_rollback *t = ctx;

	return foreign_tables_others(&t->theirs);
}

static int update_rollback_grant(void *ctx, const struct executor_grant *g, struct err *err)
{
	struct update_rollback *t = ctx;
	int rc = t->without_lock ? osm_grant(t->live->osm, g, err)
				 : sm_lock_grant_with(&t->lock, t->live->osm, g, err);

	if (!rc && g->step == GRANT_RESUME && !t->live->osm && t->lock.none[0])
		fprintf(stderr, "warning: " SM_LOCK_NONE "\n", t->lock.none);
	return rc;
}

int update_rollback_open(struct update_rollback *t, struct live *l, const struct live_opts *o,
			 struct err *err)
{
	struct record_opts ro = {
		.dir = o->record_dir,
		.fabric = l->f->name,
		.mode = "rw",
		.syslog = true,
	};
	struct sigaction sa = { .sa_handler = update_rollback_go_on };
	int rc;

	*t = (struct update_rollback){ .live = l, .opts = o };
	sm_lock_init(&t->lock, l->w);
	t->lock.granted = l->osm;
	rc = record_open(&t->record, &ro, err);
	if (rc)
		return rc;
	t->o = (struct executor_opts){
		.base = o->state_dir,
		.gate = update_rollback_gate,
		.event = update_rollback_event,
		.others = update_rollback_others,
		.judge = update_rollback_judge,
		.grant = update_rollback_grant,
		.ctx = t,
	};
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	return 0;
}

static int update_rollback_choose_way(struct update_rollback *t, struct err *err)
{
	const struct plan *made = t->theirs.plan;
	int rc = live_install_open(&t->way, t->live, t->opts, NULL, made ? made->sm.guid : 0, err);

	if (!rc && t->way.warning[0])
		fprintf(stderr, "warning: %s\n", t->way.warning);
	return rc;
}

static void update_rollback_ended(void *ctx, const uint64_t *id, bool *over, uint32_t n)
{
	struct update_rollback *t = ctx;

	agents_ended(&t->agents, id, over, n);
}

int update_rollback_recover(struct update_rollback *t, struct journal *j, struct err *err)
{
	int rc;

	foreign_tables_open(&t->theirs, t->live, t->opts, NULL, journal_info(j)->head.id);
	rc = update_rollback_choose_way(t, err);
	if (rc) {
		journal_close(j);
		return rc;
	}
	if (journal_info(j)->asked) {
		agents_open(&t->agents, t->live, t->opts, true);
		agents_apply(&t->o, &t->agents, NULL);
		t->o.ended = update_rollback_ended;
	}
	t->a = executor_recover(j, t->live->f, &t->way.in, &t->o);
	return 0;
}

void update_rollback_close(struct update_rollback *t)
{
	struct err err = { "" };

	executor_free(t->a);
	sm_lock_end(&t->lock);
	live_install_close(&t->way);
	foreign_tables_close(&t->theirs);
	agents_close(&t->agents);
	if (record_close(t->record, &err))
		log_add(LOG_ERROR, "record", "%s", err.text);
	*t = (struct update_rollback){ 0 };
}
