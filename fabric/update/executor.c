/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/executor.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/update/approval.h"
#include "fabric/update/blocks.h"
#include "fabric/update/drain_set.h"
#include "fabric/update/superseded.h"
#include "fabric/update/transaction.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES 3
/* items per call of the installer: how often the screen learns something */
#define BATCH	 4096
#define BATCH_SM 1024 /* where the SM is looked after in between */

struct executor {
	struct transaction t;
};

static struct executor *executor_alloc(const struct fabric *f, const struct changes *l,
				       const struct installer *in, const struct executor_opts *o)
{
	struct executor *e = xcalloc(1, sizeof(*e));
	struct transaction *t = &e->t;

	t->fabric = fabric_get(f);
	t->list = l;
	t->in = in;
	if (o)
		t->o = *o;
	if (!t->o.tries)
		t->o.tries = TRIES;
	if (!t->o.driver)
		t->o.driver = t->o.ctx;
	t->holds = xcalloc(l->n, sizeof(*t->holds));
	t->level = xcalloc(l->n, sizeof(*t->level));
	t->rc = xcalloc(l->n, sizeof(*t->rc));
	t->todo = xcalloc(l->n, sizeof(*t->todo));
	t->left = xcalloc(l->n, sizeof(*t->left));
	t->slowest = xcalloc(f->nsw, sizeof(*t->slowest));
	t->batch_max = in->ops->batch ? in->ops->batch : t->o.sm ? BATCH_SM : BATCH;
	if (t->batch_max > l->n)
		t->batch_max = l->n;
	t->batch = xcalloc(t->batch_max, sizeof(*t->batch));
	if (in->ops->put)
		t->back = xcalloc(t->batch_max, sizeof(*t->back));
	t->item = xcalloc(t->batch_max, sizeof(*t->item));
	t->progress.report = t->steady.report = blocks_report;
	t->progress.ctx = t->steady.ctx = t;
	pthread_mutex_init(&t->lock, NULL);
	coordinator_init(&t->c, l->nwaves, t->o.tries);
	return e;
}

struct executor *executor_new(const struct plan *p, const struct installer *in,
			      const struct executor_opts *o)
{
	struct executor *e = executor_alloc(p->fabric, p->changes, in, o);

	e->t.plan = p;
	return e;
}

struct executor *executor_recover(struct journal *j, const struct fabric *f,
				  const struct installer *in, const struct executor_opts *o)
{
	struct changes *l = journal_changes(j);
	struct executor *e = executor_alloc(f, l, in, o);
	struct transaction *t = &e->t;

	changes_bind(l, f);
	t->journal = j;
	memcpy(t->txn, journal_info(j)->head.id, sizeof(t->txn));
	memcpy(t->st.txn, t->txn, sizeof(t->txn));
	return e;
}

void executor_free(struct executor *e)
{
	struct transaction *t;

	if (!e)
		return;
	t = &e->t;
	journal_close(t->journal);
	agent_set_free(&t->agents);
	vec_free(&t->named);
	jobset_put(t->jobs);
	fabric_put(t->names);
	pthread_mutex_destroy(&t->lock);
	free(t->batch);
	free(t->back);
	free(t->item);
	free(t->slowest);
	free(t->left);
	free(t->todo);
	free(t->rc);
	free(t->level);
	free(t->holds);
	fabric_put(t->fabric);
	free(e);
}

static void executor_sync_status(struct transaction *t)
{
	pthread_mutex_lock(&t->lock);
	t->st.phase = t->c.phase;
	t->st.outcome = t->c.outcome;
	t->st.why = t->c.why;
	t->st.wave = t->c.wave;
	t->st.nwaves = t->c.nwaves;
	t->st.waiting = t->c.action == ACT_WAIT;
	pthread_mutex_unlock(&t->lock);
}

/* ---- the actions ---- */

/* Tells the installer that the old contents are back.  What it has to say against it is only
 * logged: what is in the switches and in the journal counts. */
static void executor_end(struct transaction *t)
{
	struct err err = { "" };

	if (t->in->ops->end && t->in->ops->end(t->in->ctx, false, &err))
		log_add(LOG_ERROR, "apply", "%s: %s", t->txn, err.text);
}

static void executor_status_step(struct transaction *t, const char *step, uint32_t total,
				 bool reset)
{
	pthread_mutex_lock(&t->lock);
	snprintf(t->st.step, sizeof(t->st.step), "%s", step);
	t->st.phase = t->c.phase;
	t->st.wave = t->c.wave;
	t->st.nwaves = t->c.nwaves;
	if (reset) {
		t->st.total = total;
		t->st.written = t->st.verified = t->st.failed = 0;
	}
	pthread_mutex_unlock(&t->lock);
}

static void executor_phase_event(struct transaction *t, enum executor_event_kind kind, int rc,
				 const char *text)
{
	struct executor_event ev = { .kind = kind, .items = t->ntodo, .rc = rc };

	snprintf(ev.text, sizeof(ev.text), "%.190s", text);
	transaction_emit(t, &ev);
}

static bool executor_plan_allowed(struct transaction *t)
{
	const struct plan *p = t->plan;
	struct err err = { "" };
	int rc;

	if (plan_empty(p))
		return transaction_fail(t, -EALREADY, "plan %s changes nothing in the switches",
					p->id);
	if (!p->fabric->lids_given)
		return transaction_fail(
			t, -ENOTSUP,
			"the LIDs of fabric %s were assigned by this program and are not "
			"the ones in the switches",
			p->fabric->name);
	if (p->diff->sl_pairs && !t->in->ops->carries_sl && !t->o.accept_sl_change)
		return transaction_fail(
			t, -ENOTSUP,
			"plan %s changes the service levels of %" PRIu64
			" paths, and writing tables through %s does not tell the hosts: their "
			"packets would use virtual lanes that were not proved deadlock-free",
			p->id, p->diff->sl_pairs, t->in->ops->name);
	rc = plan_check_vls(p, &err);
	if (!rc && t->o.fresh)
		rc = t->o.fresh(t->o.ctx, &err);
	return rc ? transaction_fail(t, rc, "%s", err.text) : true;
}

/* Every block that is to be written must hold what a rollback would restore. */
static bool executor_do_prepare(struct transaction *t)
{
	uint32_t total;
	char first[220];
	struct err err = { "" };
	int rc;

	blocks_todo_all(t, t->c.nwaves);
	total = t->ntodo;
	executor_status_step(t, "checking", total, true);
	executor_phase_event(t, APPLY_PHASE_BEGIN, 0, "");
	rc = transaction_gate(t, &err);
	if (rc)
		return transaction_fail(t, rc, "%s", err.text);
	if (!executor_plan_allowed(t) || !approval_ask(t) || !drain_set_gather(t))
		return false;
	executor_status_step(t, "checking", total, false);
	for (uint32_t i = 0; i < t->c.max_tries && t->ntodo; i++) {
		blocks_read(t);
		if (t->c.cancelled)
			return false;
		blocks_keep_others(t, HOLDS_OLD);
		if (blocks_holding(t, HOLDS_SILENT) < t->ntodo)
			break;
	}
	if (!t->ntodo)
		return true;
	blocks_first_not(first, sizeof(first), t, HOLDS_OLD);
	if (atomic_load(&t->progress.cancel))
		return transaction_fail(t, -ECANCELED, "cancelled before anything was written");
	return transaction_fail(t, blocks_holding(t, HOLDS_SILENT) ? -EHOSTUNREACH : -ESTALE,
				"%u of %u blocks differ from what the plan was made for (%s)",
				t->ntodo, total, first);
}

struct marking {
	struct transaction *t;
	struct err err;
	int rc;
};

static void *executor_mark_wave(void *arg)
{
	struct marking *m = arg;

	m->rc = journal_wave(m->t->journal, m->t->c.wave, &m->err);
	return NULL;
}

/* The gate syncs the record; mark: also notes the wave in the journal; beside: both at once. */
static bool executor_note_wave(struct transaction *t, bool beside, bool mark)
{
	struct marking m = { .t = t };
	struct err err = { "" };
	pthread_t thread;
	int rc;

	beside = beside && mark && !pthread_create(&thread, NULL, executor_mark_wave, &m);
	rc = transaction_gate(t, &err);
	if (beside)
		pthread_join(thread, NULL);
	else if (mark)
		executor_mark_wave(&m);
	if (rc)
		return transaction_fail(t, rc, "%s", err.text);
	return m.rc ? transaction_fail(t, m.rc, "%s", m.err.text) : true;
}

static int executor_look_ahead(struct transaction *t, struct err *err)
{
	if (!t->in->ops->ahead)
		return 0;
	executor_status_step(t, "checking the waves' tables", 0, false);
	return t->in->ops->ahead(t->in->ctx, t->fabric, t->list, &t->progress, err);
}

static bool executor_do_journal(struct transaction *t)
{
	const struct plan *p = t->plan;
	struct txn_head h = { 0 };
	struct err err = { "" };
	char text[80];
	int rc;

	executor_status_step(t, "saving the old tables", 0, false);
	snprintf(h.fabric, sizeof(h.fabric), "%s", p->fabric->name);
	snprintf(h.plan, sizeof(h.plan), "%s", p->id);
	snprintf(h.engine, sizeof(h.engine), "%s", p->to->engine);
	snprintf(h.user, sizeof(h.user), "%s", t->o.user ? t->o.user : "");
	h.fingerprint = p->fabric->fingerprint;
	h.from_hash = p->from_hash;
	h.to_hash = p->to_hash;
	if (t->o.gain)
		h.gain = *t->o.gain;
	rc = journal_begin(&t->journal, t->o.base, p->fabric, &h, p->changes, &err);
	if (rc)
		return transaction_fail(t, rc, "%s", err.text);
	/* from here on what comes from the disk counts */
	t->list = journal_changes(t->journal);
	pthread_mutex_lock(&t->lock);
	snprintf(t->txn, sizeof(t->txn), "%s", journal_info(t->journal)->head.id);
	memcpy(t->st.txn, t->txn, sizeof(t->st.txn));
	pthread_mutex_unlock(&t->lock);
	snprintf(text, sizeof(text), "plan fresh, old tables saved");
	if (t->agents.n)
		snprintf(text, sizeof(text), "plan fresh, old tables saved, %u agents to ask",
			 t->agents.n);
	changes_hash(journal_changes(t->journal));
	rc = transaction_grant(t, GRANT_BEGIN, 0, &err);
	if (!rc)
		rc = executor_look_ahead(t, &err);
	if (rc)
		return transaction_fail(t, rc, "%s", err.text);
	executor_phase_event(t, APPLY_PHASE_END, 0, text);
	return drain_set_begin(t) && (t->agents.n || executor_note_wave(t, true, true));
}

/* What is going to be done is recorded and synced (the gate) and noted in the journal, both at
 * once since either takes as long as hundreds of writes; only then written.  Later waves are noted
 * without a sync, and a thread would take longer than that; the first one is noted when PREPARE
 * ends, unless agents are asked in between. */
static bool executor_do_begin_wave(struct transaction *t)
{
	const struct txn_info *info = journal_info(t->journal);

	blocks_todo_wave(t, t->c.wave);
	executor_status_step(t, "writing", t->ntodo, true);
	executor_phase_event(t, APPLY_PHASE_BEGIN, 0, "");
	if (!drain_set_late_jobs(t))
		return false;
	return executor_note_wave(t, info->state != TXN_WRITING,
				  info->state != TXN_WRITING || info->wave != t->c.wave);
}

/* What agents are about to be asked is noted first: who comes after a crash asks them back. */
static bool executor_do_begin_ask(struct transaction *t, enum txn_state state, const char *step)
{
	struct err err = { "" };
	int rc;

	if (state == TXN_REPATH && t->c.touched && t->plan) {
		drain_set_late_jobs(t);
		if (t->c.joined) /* they drain first */
			return true;
	}
	t->ntodo = t->agents.n;
	executor_status_step(t, step, 0, false);
	executor_phase_event(t, APPLY_PHASE_BEGIN, 0, "");
	rc = transaction_gate(t, &err);
	if (!rc)
		rc = journal_mark(t->journal, state, t->c.wave, NULL, &err);
	t->ntodo = 0;
	return rc ? transaction_fail(t, rc, "%s", err.text) : true;
}

static bool executor_do_begin_unpath(struct transaction *t)
{
	return executor_do_begin_ask(t, TXN_UNPATH, "waiting for agents to drain");
}

static bool executor_do_begin_repath(struct transaction *t)
{
	return executor_do_begin_ask(t, TXN_REPATH, "waiting for agents to return");
}

static bool executor_do_write(struct transaction *t)
{
	pthread_mutex_lock(&t->lock);
	if (t->c.tries > 1)
		t->st.retries += t->ntodo;
	pthread_mutex_unlock(&t->lock);
	executor_status_step(t, "writing", 0, false);
	blocks_write(t, false);
	return true;
}

static bool executor_do_read(struct transaction *t)
{
	uint32_t items = t->ntodo, foreign;
	struct executor_event ev = { .kind = APPLY_VERIFY, .items = items };
	char first[220];

	executor_status_step(t, "reading back", 0, false);
	if (!t->read_back) /* while it was written, switch by switch */
		blocks_read(t);
	if (t->c.cancelled)
		return false;
	t->read_back = false;
	blocks_keep_others(t, HOLDS_NEW);
	foreign = blocks_holding(t, HOLDS_FOREIGN);
	blocks_first_not(first, sizeof(first), t, HOLDS_NEW);
	ev.rc = t->ntodo ? -EIO : 0;
	if (t->ntodo)
		snprintf(ev.text, sizeof(ev.text), "%u of %u: %.150s", t->ntodo, items, first);
	transaction_emit(t, &ev);
	if (!t->ntodo) {
		t->written_s = time(NULL);
		executor_phase_event(t, APPLY_PHASE_END, 0, "");
		return true;
	}
	if (foreign || t->c.tries >= t->c.max_tries)
		transaction_fail(t, foreign ? -ESTALE : -EIO,
				 "%u of %u blocks are not as written (%s)", t->ntodo, items,
				 !foreign && t->write_why.text[0] ? t->write_why.text : first);
	if (foreign) { /* two writers on one fabric: get out, do not write over the other */
		pthread_mutex_lock(&t->lock);
		t->st.foreign += foreign;
		pthread_mutex_unlock(&t->lock);
		coordinator_step(&t->c, EV_FOREIGN);
	}
	return false;
}

static bool executor_do_begin_confirm(struct transaction *t)
{
	struct err err = { "" };
	int rc;

	if (!t->c.asked)
		drain_set_late_jobs(t);
	if (t->c.joined)
		return true;
	t->ntodo = 0;
	executor_status_step(t, "waiting for the operator", 0, false);
	executor_phase_event(t, APPLY_PHASE_BEGIN, 0, "");
	rc = transaction_gate(t, &err);
	if (!rc)
		rc = journal_mark(t->journal, TXN_CONFIRMING, 0, NULL, &err);
	return rc ? transaction_fail(t, rc, "%s", err.text) : true;
}

static void executor_who_writes(struct transaction *t)
{
	int who = 0;

	t->routes[0] = '\0';
	if (t->in->ops->back)
		who = t->in->ops->back(t->in->ctx, t->routes, sizeof(t->routes));
	else if (t->o.others)
		who = t->o.others(t->o.ctx);
	t->overruled = who == 3;
	t->changed = who == 2 || t->overruled;
	t->others = t->changed || (who == 1 && !t->o.overwrite_foreign);
}

/* Neither a full disk nor a record that cannot be written keeps the old tables from coming
 * back: without a new line the journal still says that there is something to undo. */
static bool executor_do_begin_rollback(struct transaction *t)
{
	struct err err = { "" };
	uint32_t waves;

	waves = t->plan ? t->c.wave + 1 : t->c.nwaves;
	waves = waves < t->c.nwaves ? waves : t->c.nwaves;
	t->back_waves = waves;
	blocks_todo_all(t, waves);
	t->nleft = 0;
	t->judged = false;
	for (uint32_t i = 0; i < t->list->n; i++)
		if (t->list->v[i].sw == FAB_NONE && blocks_is_last(t, i, waves))
			t->left[t->nleft++] = i;
	executor_status_step(t, "reading the current tables", t->ntodo, true);
	executor_phase_event(t, APPLY_PHASE_BEGIN, 0, t->why.text);
	if (transaction_gate(t, &err))
		log_add(LOG_ERROR, "apply", "%s; rolling back anyway", err.text);
	journal_because(t->journal, t->c.why);
	if (journal_mark(t->journal, TXN_ROLLBACK, t->c.wave, t->why.text, &err))
		log_add(LOG_ERROR, "apply", "%s; rolling back anyway", err.text);
	executor_who_writes(t);
	drain_set_late_jobs(t);
	return true;
}

/* Blocks of another writer are not undone, unless overwrite_foreign is set. */
static void executor_set_aside_foreign(struct transaction *t)
{
	uint32_t foreign = blocks_holding(t, HOLDS_FOREIGN);

	if (!foreign)
		return;
	pthread_mutex_lock(&t->lock);
	t->st.foreign += foreign;
	pthread_mutex_unlock(&t->lock);
	if (t->o.overwrite_foreign)
		return;
	for (uint32_t i = 0; i < t->ntodo; i++)
		if (t->holds[t->todo[i]] == HOLDS_FOREIGN)
			t->left[t->nleft++] = t->todo[i];
	blocks_keep_others(t, HOLDS_FOREIGN);
}

/* Jobs that began under what was there in between are to leave it as well. */
static bool executor_restored(struct transaction *t)
{
	bool all = !t->ntodo && !t->nleft && !t->superseded;

	if (all || t->superseded)
		drain_set_late_jobs(t);
	return all;
}

static bool executor_do_scan(struct transaction *t)
{
	if (t->others) {
		executor_status_step(t,
				     t->changed ? "reading what the SM has routed"
						: "waiting for the other SM",
				     t->ntodo, true);
		superseded_wait(t);
		return executor_restored(t);
	}
	blocks_read(t);
	blocks_keep_others(t, HOLDS_OLD);
	executor_set_aside_foreign(t);
	executor_status_step(t, "writing back", t->ntodo, true);
	if (!t->ntodo && t->nleft)
		superseded_stay(t);
	return executor_restored(t);
}

/* A block that is to be written back, and the change that it holds the contents of. */
struct undo {
	uint32_t last, level;
};

/* Unknown contents are undone at once, in the last step. */
static struct undo executor_undo_of(const struct transaction *t, uint32_t last)
{
	struct undo w = { last, t->level[last] };

	if (w.level == FAB_NONE)
		w.level = (uint32_t)(change_first(t->list, &t->list->v[last]) - t->list->v);
	return w;
}

/* The change that this wave made of the block, if it is to be taken back; else FAB_NONE. */
static uint32_t executor_made_in(const struct transaction *t, const struct undo *w, uint32_t wave)
{
	uint32_t k = w->level;

	while (k != FAB_NONE && t->list->v[k].wave > wave)
		k = t->list->v[k].prev;
	return k != FAB_NONE && t->list->v[k].wave == wave ? k : FAB_NONE;
}

static void executor_undo_wave(struct transaction *t, uint32_t wave)
{
	for (uint32_t i = 0; i < t->c.max_tries && t->ntodo; i++) {
		blocks_write(t, true);
		if (!wave) /* the whole is read next */
			return;
		blocks_read(t);
		blocks_keep_others(t, HOLDS_OLD);
	}
}

/* The waves in reverse order, each complete and read back before the next one: no mixture of
 * tables that was not possible while writing.  Switches that do not respond are left to the
 * final check. */
static bool executor_do_write_back(struct transaction *t)
{
	struct undo *all;
	uint32_t n = t->ntodo;

	if (t->others)
		return true;
	all = xcalloc(n, sizeof(*all));
	for (uint32_t i = 0; i < n; i++)
		all[i] = executor_undo_of(t, t->todo[i]);
	executor_status_step(t, "writing back", 0, false);
	t->chains = false;
	for (uint32_t wave = t->c.nwaves; wave-- > 0;) {
		t->ntodo = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = executor_made_in(t, &all[i], wave);

			if (k != FAB_NONE)
				t->todo[t->ntodo++] = k;
		}
		executor_undo_wave(t, wave);
	}
	t->chains = true;
	t->ntodo = n;
	for (uint32_t i = 0; i < n; i++)
		t->todo[i] = all[i].last;
	free(all);
	return true;
}

static bool executor_do_read_back(struct transaction *t)
{
	struct executor_event ev = { .kind = APPLY_VERIFY, .items = t->ntodo };
	char first[220];
	bool back;

	executor_status_step(t, "reading back", 0, false);
	if (t->others) {
		back = superseded_wait(t);
	} else {
		blocks_read(t);
		blocks_keep_others(t, HOLDS_OLD);
		back = !t->ntodo;
	}
	blocks_first_not(first, sizeof(first), t, HOLDS_OLD);
	ev.rc = back ? 0 : -EIO;
	snprintf(ev.text, sizeof(ev.text), "%.190s", first);
	transaction_emit(t, &ev);
	if (t->superseded || (t->others && t->c.tries < t->c.max_tries))
		return executor_restored(t);
	executor_set_aside_foreign(t);
	if (!t->ntodo && t->nleft)
		superseded_stay(t);
	if (t->c.tries >= t->c.max_tries) {
		memcpy(t->left + t->nleft, t->todo, t->ntodo * sizeof(*t->todo));
		t->nleft += t->ntodo;
		t->ntodo = 0;
	}
	return executor_restored(t);
}

static bool executor_do_finish(struct transaction *t)
{
	static const enum txn_state last[] = {
		[OUTCOME_CONFIRMED] = TXN_CONFIRMED,
		[OUTCOME_REFUSED] = TXN_ABANDONED,
		[OUTCOME_ROLLED_BACK] = TXN_ROLLED_BACK,
		[OUTCOME_INCOMPLETE] = TXN_INCOMPLETE,
		[OUTCOME_SUPERSEDED] = TXN_SUPERSEDED,
		[OUTCOME_FABRIC_CHANGED] = TXN_FABRIC_CHANGED,
	};
	struct executor_event ev = { .kind = APPLY_OUTCOME,
				     .outcome = t->c.outcome,
				     .items = t->nleft };
	struct err err = { "" };
	bool superseded =
		t->c.outcome == OUTCOME_SUPERSEDED || t->c.outcome == OUTCOME_FABRIC_CHANGED;
	bool confirmed = t->c.outcome == OUTCOME_CONFIRMED;
	int rc = 0;

	if (superseded)
		superseded_report(t);
	/* before the journal says so: whoever reads "confirmed" may rely on it */
	if (confirmed && t->in->ops->end)
		rc = t->in->ops->end(t->in->ctx, true, &err);
	if (rc)
		return transaction_fail(t, rc, "%s", err.text);
	agent_set_note_away(t);
	if (t->journal)
		journal_because(t->journal, t->c.why);
	if (t->journal)
		rc = journal_mark(t->journal, last[t->c.outcome], t->c.wave,
				  superseded ? t->foreign_text : NULL, &err);
	if (rc && confirmed)
		return transaction_fail(t, rc, "%s", err.text);
	if (rc)
		log_add(LOG_ERROR, "apply", "%s: %s", t->txn, err.text);
	if (t->c.touched && !confirmed && t->c.outcome != OUTCOME_INCOMPLETE)
		executor_end(t);
	if (t->c.outcome != OUTCOME_INCOMPLETE)
		transaction_grant(t, GRANT_END, 0, NULL);
	ev.rc = t->why_rc;
	snprintf(ev.text, sizeof(ev.text), "%.190s", t->why.text);
	transaction_emit(t, &ev);
	return true;
}

static bool executor_do(struct transaction *t, enum coord_action act)
{
	/* ACT_AWAIT and ACT_WAIT are waited for, not carried out */
	static bool (*const carry_out[])(struct transaction *) = {
		[ACT_PREPARE] = executor_do_prepare,
		[ACT_JOURNAL] = executor_do_journal,
		[ACT_BEGIN_UNPATH] = executor_do_begin_unpath,
		[ACT_NOTIFY] = agent_set_notify,
		[ACT_BEGIN_WAVE] = executor_do_begin_wave,
		[ACT_WRITE] = executor_do_write,
		[ACT_READ] = executor_do_read,
		[ACT_BEGIN_REPATH] = executor_do_begin_repath,
		[ACT_BEGIN_CONFIRM] = executor_do_begin_confirm,
		[ACT_BEGIN_ROLLBACK] = executor_do_begin_rollback,
		[ACT_SCAN] = executor_do_scan,
		[ACT_WRITE_BACK] = executor_do_write_back,
		[ACT_READ_BACK] = executor_do_read_back,
		[ACT_FINISH] = executor_do_finish,
		[ACT_STOP] = NULL,
	};

	return !carry_out[act] || carry_out[act](t);
}

/* ---- from one decision to the next ---- */

/* Carries out actions until the operator has to decide or it is over. */
static void executor_drive(struct transaction *t, enum coord_event ev)
{
	enum coord_action act = coordinator_step(&t->c, ev);

	while (act != ACT_WAIT && act != ACT_STOP) {
		bool ok;

		executor_sync_status(t);
		if (act == ACT_AWAIT) {
			act = agent_set_await(t);
			continue;
		}
		t->superseded = false;
		ok = executor_do(t, act);
		agent_set_hear(t);
		if (atomic_load(&t->progress.cancel) && !t->c.cancelled) {
			transaction_fail(t, -ECANCELED, "cancelled by the operator");
			coordinator_step(&t->c, EV_CANCEL);
		}
		act = coordinator_step(
			&t->c, ok ? EV_DONE
			       : t->superseded
				       ? (t->changed && !t->overruled ? EV_CHANGED : EV_SUPERSEDED)
				       : EV_FAILED);
	}
	executor_sync_status(t);
}

/* "leaf01, leaf02, ..." of what was not undone. */
static void executor_name_left(char *buf, size_t size, const struct transaction *t)
{
	size_t len = 0;
	uint64_t last = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < t->nleft; i++) {
		const struct change *c = &t->list->v[t->left[i]];
		char guid[24];

		if (len && c->guid == last)
			continue;
		last = c->guid;
		snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)c->guid);
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					c->sw == FAB_NONE ? guid : t->fabric->sw_name[c->sw]);
		if (len + 24 >= size) {
			snprintf(buf + (len < size ? len : size - 1), size > len ? size - len : 1,
				 ", ...");
			return;
		}
	}
}

static int executor_incomplete(const struct transaction *t, struct err *err)
{
	char names[300];

	executor_name_left(names, sizeof(names), t);
	return err_set(err, -EUCLEAN,
		       "rollback incomplete: %u blocks do not hold their old contents, on %s; the "
		       "journal %s is kept: roll back again when they respond%s%s",
		       t->nleft, names, t->txn, t->judged ? "; current tables: " : "",
		       t->judged ? t->foreign.text : "");
}

int executor_run(struct executor *e, struct err *err)
{
	struct transaction *t = &e->t;

	executor_drive(t, EV_START);
	if (t->c.action == ACT_WAIT)
		return 0;
	if (t->c.outcome == OUTCOME_INCOMPLETE)
		return executor_incomplete(t, err);
	return err_set(err, t->why_rc, "%.400s (%s)", t->why.text, outcome_name(t->c.outcome));
}

static int executor_keep_recovered(struct transaction *t, struct err *err)
{
	uint32_t new;
	int rc;

	if (transaction_grant(t, GRANT_RESUME, 0, err) == -EBUSY)
		return -EBUSY;
	blocks_todo_all(t, t->c.nwaves);
	blocks_read(t);
	new = blocks_holding(t, HOLDS_NEW);
	if (new < t->nall)
		return err_set(err, -EUCLEAN,
			       "%u of %u blocks do not hold what plan %s wrote: it can only be "
			       "rolled back",
			       t->nall - new, t->nall, journal_info(t->journal)->head.plan);
	drain_set_recover(t);
	if (!t->agents.n) {
		t->c.outcome = OUTCOME_CONFIRMED;
		executor_sync_status(t);
		rc = t->in->ops->end ? t->in->ops->end(t->in->ctx, true, err) : 0;
		if (!rc)
			rc = journal_mark(t->journal, TXN_CONFIRMED, 0,
					  "confirmed after a recovery", err);
		return rc;
	}
	executor_drive(t, EV_KEEP);
	if (t->c.action == ACT_WAIT)
		executor_drive(t, EV_CONFIRM);
	if (t->c.outcome == OUTCOME_CONFIRMED)
		return 0;
	return err_set(err, t->why_rc, "not confirmed: %.400s", t->why.text);
}

/* What was read while it was written may have been overwritten since. */
static int executor_read_all(struct transaction *t, struct err *err)
{
	struct executor_event ev = { .kind = APPLY_VERIFY };
	uint32_t silent = 0;
	char first[220];

	blocks_todo_all(t, t->c.nwaves);
	ev.items = t->ntodo;
	for (uint32_t i = 0; i < t->c.max_tries; i++) {
		blocks_read(t);
		blocks_keep_others(t, HOLDS_NEW);
		silent = blocks_holding(t, HOLDS_SILENT);
		if (silent < t->ntodo || !silent)
			break;
	}
	blocks_first_not(first, sizeof(first), t, HOLDS_NEW);
	if (silent < t->ntodo)
		ev.rc = err_set(err, -EUCLEAN,
				"%u of %u LFT blocks and SL2VL tables no longer hold what was "
				"written (%s)",
				t->ntodo - silent, ev.items, first);
	else if (silent)
		ev.rc = err_set(err, -EHOSTUNREACH,
				"%u of %u LFT blocks and SL2VL tables cannot "
				"be read (%s)",
				silent, ev.items, first);
	snprintf(ev.text, sizeof(ev.text), "%.190s", ev.rc ? err->text : "");
	transaction_emit(t, &ev);
	return ev.rc;
}

/* Is it still there, and does the SM know?  One that does not respond is asked again to keep it. */
static int executor_prove(struct transaction *t, enum coord_event *ev, struct err *err)
{
	int rc = transaction_grant(t, GRANT_CONFIRM, 0, err);

	*ev = rc == -ESTALE || rc == -EPERM || rc == -EBUSY ? EV_SM : EV_FOREIGN;
	return rc == -EUCLEAN || *ev == EV_SM ? rc : executor_read_all(t, err);
}

static int executor_roll_back(struct transaction *t, enum coord_event ev, const char *why,
			      struct err *err)
{
	if (t->c.action == ACT_WAIT) {
		transaction_fail(t, -ECANCELED, "%s", why);
		executor_drive(t, ev);
	} else if (t->journal && !txn_state_final(journal_info(t->journal)->state)) {
		if (transaction_grant(t, GRANT_RESUME, 0, err) == -EBUSY)
			return -EBUSY;
		drain_set_recover(t);
		executor_drive(t, EV_RECOVER);
	} else {
		return err_set(err, -EINVAL, "there is nothing to roll back");
	}
	if (t->c.outcome == OUTCOME_SUPERSEDED || t->c.outcome == OUTCOME_FABRIC_CHANGED)
		return err_set(err, -ESTALE, "%.400s", t->why.text);
	return t->c.outcome == OUTCOME_ROLLED_BACK ? 0 : executor_incomplete(t, err);
}

int executor_confirm(struct executor *e, struct err *err)
{
	struct transaction *t = &e->t;
	struct err why = { "" }, back = { "" };
	enum coord_event ev;
	int rc;

	if (!t->plan)
		return executor_keep_recovered(t, err);
	if (t->c.action != ACT_WAIT)
		return err_set(err, -EINVAL, "there is nothing to confirm: %s",
			       outcome_name(t->c.outcome));
	rc = transaction_gate(t, err);
	if (rc)
		return rc;
	rc = executor_prove(t, &ev, &why);
	if (rc && rc != -EHOSTUNREACH)
		executor_roll_back(t, ev, why.text, &back);
	if (rc)
		return err_set(err, rc, "not confirmed: %.300s%s%.150s", why.text,
			       back.text[0] ? "; " : "", back.text);
	executor_drive(t, EV_CONFIRM);
	if (t->c.outcome == OUTCOME_CONFIRMED)
		return 0;
	rc = err_set(err, t->why_rc, "not confirmed: %.400s", t->why.text);
	t->why_rc = 0;
	return rc;
}

int executor_rollback(struct executor *e, struct err *err)
{
	struct transaction *t = &e->t;

	return executor_roll_back(t, EV_CANCEL, "rolled back by the operator", err);
}

int executor_abort(struct executor *e, enum coord_event ev, const char *why, struct err *err)
{
	struct transaction *t = &e->t;

	if (t->c.action != ACT_WAIT)
		return err_set(err, -EINVAL, "no update is waiting");
	return executor_roll_back(t, ev, why, err);
}

int executor_give_up(struct executor *e, const char *why, struct err *err)
{
	struct transaction *t = &e->t;
	int rc;

	if (!t->journal || txn_state_final(journal_info(t->journal)->state))
		return err_set(err, -EINVAL, "there is no unfinished update");
	rc = journal_mark(t->journal, TXN_GIVEN_UP, 0, why, err);
	if (rc)
		return rc;
	transaction_grant(t, GRANT_RESUME, 0, NULL);
	executor_end(t); /* whoever wrote for it is not to go on with what nobody confirmed */
	transaction_grant(t, GRANT_END, 0, NULL);
	return 0;
}

void executor_idle(struct executor *e)
{
	struct transaction *t = &e->t;

	if (t->c.action != ACT_WAIT)
		return;
	agent_set_hear(t);
	agent_set_status(t);
	if (t->plan)
		drain_set_late_jobs(t);
}

int executor_alive(struct executor *e, uint32_t confirm_ms, struct err *err)
{
	return transaction_grant(&e->t, GRANT_ALIVE, confirm_ms, err);
}

void executor_cancel(struct executor *e)
{
	struct transaction *t = &e->t;

	atomic_store(&t->progress.cancel, true);
}

void executor_status(struct executor *e, struct executor_status *out)
{
	struct transaction *t = &e->t;

	pthread_mutex_lock(&t->lock);
	*out = t->st;
	pthread_mutex_unlock(&t->lock);
}

enum outcome executor_outcome(const struct executor *e)
{
	const struct transaction *t = &e->t;

	return t->c.outcome;
}

const uint32_t *executor_left(const struct executor *e, uint32_t *n, const struct changes **list)
{
	const struct transaction *t = &e->t;

	*n = t->nleft;
	*list = t->list;
	return t->left;
}

int executor_scan(struct recovery_scan *out, struct executor *e, struct err *err)
{
	struct transaction *t = &e->t;

	if (!t->journal)
		return err_set(err, -EINVAL, "there is no journal yet");
	blocks_todo_all(t, t->c.nwaves);
	blocks_read(t);
	*out = (struct recovery_scan){
		.old = blocks_holding(t, HOLDS_OLD),
		.new = blocks_holding(t, HOLDS_NEW),
		.between = blocks_holding(t, HOLDS_BETWEEN),
		.foreign = blocks_holding(t, HOLDS_FOREIGN),
		.silent = blocks_holding(t, HOLDS_SILENT),
		.missing = t->nall - t->ntodo,
	};
	blocks_first_not(out->first, sizeof(out->first), t, HOLDS_NEW);
	return 0;
}

int outcome_exit_code(enum outcome o, enum coord_why why)
{
	switch (o) {
	case OUTCOME_CONFIRMED:
		return 0;
	case OUTCOME_ROLLED_BACK:
		return why == WHY_TIMEOUT ? 7 : why == WHY_FOREIGN ? 10 : 5;
	case OUTCOME_INCOMPLETE:
		return 6;
	case OUTCOME_SUPERSEDED:
		return 9;
	case OUTCOME_FABRIC_CHANGED:
		return 11;
	case OUTCOME_NONE:
	case OUTCOME_REFUSED:
		break;
	}
	return 4;
}
