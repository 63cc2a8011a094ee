/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/executor_priv.h"

#include "fabric/base/log.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void executor_status_step(struct executor *a, const char *step, uint32_t total, bool anew)
{
	pthread_mutex_lock(&a->lock);
	snprintf(a->st.step, sizeof(a->st.step), "%s", step);
	a->st.phase = a->c.phase;
	a->st.wave = a->c.wave;
	a->st.nwaves = a->c.nwaves;
	if (anew) {
		a->st.total = total;
		a->st.written = a->st.verified = a->st.failed = 0;
	}
	pthread_mutex_unlock(&a->lock);
}

static void executor_phase_event(struct executor *a, enum executor_event_kind kind, int rc,
				 const char *text)
{
	struct executor_event ev = { .kind = kind, .items = a->ntodo, .rc = rc };

	snprintf(ev.text, sizeof(ev.text), "%.190s", text);
	executor_emit(a, &ev);
}

static bool executor_plan_allowed(struct executor *a)
{
	const struct plan *p = a->plan;
	struct err err = { "" };
	int rc;

	if (plan_empty(p))
		return executor_fail(a, -EALREADY, "plan %s changes nothing in the switches",
				     p->id);
	if (!p->fabric->lids_given)
		return executor_fail(
			a, -ENOTSUP,
			"the LIDs of fabric %s were assigned by this program and are not "
			"the ones in the switches",
			p->fabric->name);
	if (p->diff->sl_pairs && !a->in->ops->carries_sl && !a->o.accept_sl_change)
		return executor_fail(
			a, -ENOTSUP,
			"plan %s gives other service levels to %" PRIu64
			" paths, and writing tables through %s does not tell the hosts: "
			"their packets would take virtual lanes that were not proved "
			"free of deadlock",
			p->id, p->diff->sl_pairs, a->in->ops->name);
	rc = plan_check_vls(p, &err);
	if (!rc && a->o.fresh)
		rc = a->o.fresh(a->o.ctx, &err);
	return rc ? executor_fail(a, rc, "%s", err.text) : true;
}

void executor_keep_others(struct executor *a, enum holds h)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->ntodo; i++)
		if (a->holds[a->todo[i]] != h)
			a->todo[kept++] = a->todo[i];
	a->ntodo = kept;
}

/* Every block that is to be written must hold what the way back would restore. */
static bool executor_do_prepare(struct executor *a)
{
	uint32_t total;
	char first[220];
	struct err err = { "" };
	int rc;

	executor_todo_all(a, a->c.nwaves);
	total = a->ntodo;
	executor_status_step(a, "checking", total, true);
	executor_phase_event(a, APPLY_PHASE_BEGIN, 0, "");
	rc = executor_gate(a, &err);
	if (rc)
		return executor_fail(a, rc, "%s", err.text);
	if (!executor_plan_allowed(a) || !agent_set_gather(a))
		return false;
	for (uint32_t i = 0; i < a->c.max_tries && a->ntodo; i++) {
		executor_read(a);
		if (a->c.cancelled)
			return false;
		executor_keep_others(a, HOLDS_OLD);
		if (executor_count(a, HOLDS_SILENT) < a->ntodo)
			break;
	}
	if (!a->ntodo)
		return true;
	executor_first_not(first, sizeof(first), a, HOLDS_OLD);
	if (atomic_load(&a->progress.cancel))
		return executor_fail(a, -ECANCELED, "cancelled before anything was written");
	return executor_fail(a, executor_count(a, HOLDS_SILENT) ? -EHOSTUNREACH : -ESTALE,
			     "%u of %u blocks are not as the plan found them (%s)", a->ntodo, total,
			     first);
}

struct marking {
	struct executor *a;
	struct err err;
	int rc;
};

static void *executor_mark_wave(void *arg)
{
	struct marking *m = arg;

	m->rc = journal_wave(m->a->journal, m->a->c.wave, &m->err);
	return NULL;
}

/* The record is told by the gate, the journal if mark; beside: both at once. */
static bool executor_note_wave(struct executor *a, bool beside, bool mark)
{
	struct marking m = { .a = a };
	struct err err = { "" };
	pthread_t thread;
	int rc;

	beside = beside && mark && !pthread_create(&thread, NULL, executor_mark_wave, &m);
	rc = executor_gate(a, &err);
	if (beside)
		pthread_join(thread, NULL);
	else if (mark)
		executor_mark_wave(&m);
	if (rc)
		return executor_fail(a, rc, "%s", err.text);
	return m.rc ? executor_fail(a, m.rc, "%s", m.err.text) : true;
}

static bool executor_do_journal(struct executor *a)
{
	const struct plan *p = a->plan;
	struct txn_head h = { 0 };
	struct err err = { "" };
	char text[80];
	int rc;

	executor_status_step(a, "saving the old tables", 0, false);
	snprintf(h.fabric, sizeof(h.fabric), "%s", p->fabric->name);
	snprintf(h.plan, sizeof(h.plan), "%s", p->id);
	snprintf(h.engine, sizeof(h.engine), "%s", p->to->engine);
	snprintf(h.user, sizeof(h.user), "%s", a->o.user ? a->o.user : "");
	h.fingerprint = p->fabric->fingerprint;
	h.from_hash = p->from_hash;
	h.to_hash = p->to_hash;
	rc = journal_begin(&a->journal, a->o.base, p->fabric, &h, p->changes, &err);
	if (rc)
		return executor_fail(a, rc, "%s", err.text);
	/* from here on what comes from the disk counts */
	a->list = journal_changes(a->journal);
	pthread_mutex_lock(&a->lock);
	snprintf(a->txn, sizeof(a->txn), "%s", journal_info(a->journal)->head.id);
	memcpy(a->st.txn, a->txn, sizeof(a->st.txn));
	pthread_mutex_unlock(&a->lock);
	snprintf(text, sizeof(text), "plan fresh, old tables saved");
	if (a->crowd.n)
		snprintf(text, sizeof(text), "plan fresh, old tables saved, %u agents to ask",
			 a->crowd.n);
	changes_hash(journal_changes(a->journal));
	executor_phase_event(a, APPLY_PHASE_END, 0, text);
	return agent_set_begin(a) && (a->crowd.n || executor_note_wave(a, true, true));
}

/* What is going to be done is recorded and synced (the gate) and noted in the journal, both at
 * once since either takes as long as hundreds of writes; only then written.  Later waves are noted
 * without a sync, and a thread would take longer than that; the first one is noted when PREPARE
 * ends, unless agents are asked in between. */
static bool executor_do_begin_wave(struct executor *a)
{
	const struct txn_info *t = journal_info(a->journal);

	executor_todo_wave(a, a->c.wave);
	executor_status_step(a, "writing", a->ntodo, true);
	executor_phase_event(a, APPLY_PHASE_BEGIN, 0, "");
	if (!executor_newcomers(a))
		return false;
	return executor_note_wave(a, t->state != TXN_WRITING,
				  t->state != TXN_WRITING || t->wave != a->c.wave);
}

/* What agents are about to be asked is noted first: who comes after a crash asks them back. */
static bool executor_do_begin_ask(struct executor *a, enum txn_state state, const char *step)
{
	struct err err = { "" };
	int rc;

	if (state == TXN_REPATH && a->c.touched && a->plan) {
		executor_newcomers(a);
		if (a->c.joined) /* they drain first */
			return true;
	}
	a->ntodo = a->crowd.n;
	executor_status_step(a, step, 0, false);
	executor_phase_event(a, APPLY_PHASE_BEGIN, 0, "");
	rc = executor_gate(a, &err);
	if (!rc)
		rc = journal_mark(a->journal, state, a->c.wave, NULL, &err);
	a->ntodo = 0;
	return rc ? executor_fail(a, rc, "%s", err.text) : true;
}

static bool executor_do_write(struct executor *a)
{
	pthread_mutex_lock(&a->lock);
	if (a->c.tries > 1)
		a->st.retries += a->ntodo;
	pthread_mutex_unlock(&a->lock);
	executor_status_step(a, "writing", 0, false);
	executor_write(a, false);
	return true;
}

static bool executor_do_read(struct executor *a)
{
	uint32_t items = a->ntodo, foreign;
	struct executor_event ev = { .kind = APPLY_VERIFY, .items = items };
	char first[220];

	executor_status_step(a, "reading back", 0, false);
	if (!a->read_back) /* while it was written, switch by switch */
		executor_read(a);
	if (a->c.cancelled)
		return false;
	a->read_back = false;
	executor_keep_others(a, HOLDS_NEW);
	foreign = executor_count(a, HOLDS_FOREIGN);
	executor_first_not(first, sizeof(first), a, HOLDS_NEW);
	ev.rc = a->ntodo ? -EIO : 0;
	if (a->ntodo)
		snprintf(ev.text, sizeof(ev.text), "%u of %u: %.150s", a->ntodo, items, first);
	executor_emit(a, &ev);
	if (!a->ntodo) {
		a->written_s = time(NULL);
		executor_phase_event(a, APPLY_PHASE_END, 0, "");
		return true;
	}
	if (foreign || a->c.tries >= a->c.max_tries)
		executor_fail(a, foreign ? -ESTALE : -EIO,
			      "%u of %u blocks are not as written (%s)", a->ntodo, items,
			      !foreign && a->write_why.text[0] ? a->write_why.text : first);
	if (foreign) { /* two writers on one fabric: get out, do not write over the other */
		pthread_mutex_lock(&a->lock);
		a->st.foreign += foreign;
		pthread_mutex_unlock(&a->lock);
		coordinator_step(&a->c, EV_CANCEL);
	}
	return false;
}

static bool executor_do_begin_confirm(struct executor *a)
{
	struct err err = { "" };
	int rc;

	if (!a->c.asked)
		executor_newcomers(a);
	if (a->c.joined)
		return true;
	a->ntodo = 0;
	executor_status_step(a, "waiting for the operator", 0, false);
	executor_phase_event(a, APPLY_PHASE_BEGIN, 0, "");
	rc = executor_gate(a, &err);
	if (!rc)
		rc = journal_mark(a->journal, TXN_CONFIRMING, 0, NULL, &err);
	return rc ? executor_fail(a, rc, "%s", err.text) : true;
}

/* Neither a full disk nor a record that cannot be written keeps the old tables from coming
 * back: without a new line the journal still says that there is something to undo. */
static bool executor_do_begin_rollback(struct executor *a)
{
	struct err err = { "" };
	uint32_t waves;

	waves = a->plan ? a->c.wave + 1 : a->c.nwaves;
	waves = waves < a->c.nwaves ? waves : a->c.nwaves;
	a->back_waves = waves;
	executor_todo_all(a, waves);
	a->nleft = 0;
	a->judged = false;
	for (uint32_t i = 0; i < a->list->n; i++)
		if (a->list->v[i].sw == FAB_NONE && executor_is_last(a, i, waves))
			a->left[a->nleft++] = i;
	executor_status_step(a, "reading what is there", a->ntodo, true);
	executor_phase_event(a, APPLY_PHASE_BEGIN, 0, a->why.text);
	if (executor_gate(a, &err))
		log_add(LOG_ERROR, "apply", "%s; rolling back all the same", err.text);
	if (journal_mark(a->journal, TXN_ROLLBACK, a->c.wave, a->why.text, &err))
		log_add(LOG_ERROR, "apply", "%s; rolling back all the same", err.text);
	if (a->in->ops->back)
		a->others = a->in->ops->back(a->in->ctx) == 1;
	else
		a->others = a->o.others && a->o.others(a->o.ctx) == 1;
	a->others = a->others && !a->o.overwrite_foreign;
	executor_newcomers(a);
	return true;
}

/* What somebody else wrote meanwhile is not ours to undo, unless told so. */
static void executor_set_aside_foreign(struct executor *a)
{
	uint32_t foreign = executor_count(a, HOLDS_FOREIGN);

	if (!foreign)
		return;
	pthread_mutex_lock(&a->lock);
	a->st.foreign += foreign;
	pthread_mutex_unlock(&a->lock);
	if (a->o.overwrite_foreign)
		return;
	for (uint32_t i = 0; i < a->ntodo; i++)
		if (a->holds[a->todo[i]] == HOLDS_FOREIGN)
			a->left[a->nleft++] = a->todo[i];
	executor_keep_others(a, HOLDS_FOREIGN);
}

/* Jobs that began under what was there in between are to leave it as well. */
static bool executor_restored(struct executor *a)
{
	bool all = !a->ntodo && !a->nleft && !a->found_theirs;

	if (all || a->found_theirs)
		executor_newcomers(a);
	return all;
}

static bool executor_do_scan(struct executor *a)
{
	if (a->others) {
		executor_status_step(a, "waiting for the other SM", a->ntodo, true);
		superseded_wait(a);
		return executor_restored(a);
	}
	executor_read(a);
	executor_keep_others(a, HOLDS_OLD);
	executor_set_aside_foreign(a);
	executor_status_step(a, "writing back", a->ntodo, true);
	if (!a->ntodo && a->nleft)
		superseded_stay(a);
	return executor_restored(a);
}

/* A block that is to be written back, and the change that it holds the contents of. */
struct way_back {
	uint32_t last, level;
};

/* Unknown contents go all the way at once, in the last step. */
static struct way_back executor_way_back(const struct executor *a, uint32_t last)
{
	struct way_back w = { last, a->level[last] };

	if (w.level == FAB_NONE)
		w.level = (uint32_t)(change_first(a->list, &a->list->v[last]) - a->list->v);
	return w;
}

/* The change that this wave made of the block, if it is to be taken back; else FAB_NONE. */
static uint32_t executor_made_in(const struct executor *a, const struct way_back *w, uint32_t wave)
{
	uint32_t k = w->level;

	while (k != FAB_NONE && a->list->v[k].wave > wave)
		k = a->list->v[k].prev;
	return k != FAB_NONE && a->list->v[k].wave == wave ? k : FAB_NONE;
}

static void executor_wave_back(struct executor *a, uint32_t wave)
{
	for (uint32_t i = 0; i < a->c.max_tries && a->ntodo; i++) {
		executor_write(a, true);
		if (!wave) /* the whole is read next */
			return;
		executor_read(a);
		executor_keep_others(a, HOLDS_OLD);
	}
}

/* The waves in reverse, each complete and read back before the one before it: no mixture on the
 * way back that was not possible on the way there.  What does not answer is left to the last
 * look at everything. */
static bool executor_do_write_back(struct executor *a)
{
	struct way_back *all;
	uint32_t n = a->ntodo;

	if (a->others)
		return true;
	all = xcalloc(n, sizeof(*all));
	for (uint32_t i = 0; i < n; i++)
		all[i] = executor_way_back(a, a->todo[i]);
	executor_status_step(a, "writing back", 0, false);
	a->chains = false;
	for (uint32_t wave = a->c.nwaves; wave-- > 0;) {
		a->ntodo = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = executor_made_in(a, &all[i], wave);

			if (k != FAB_NONE)
				a->todo[a->ntodo++] = k;
		}
		executor_wave_back(a, wave);
	}
	a->chains = true;
	a->ntodo = n;
	for (uint32_t i = 0; i < n; i++)
		a->todo[i] = all[i].last;
	free(all);
	return true;
}

static bool executor_do_read_back(struct executor *a)
{
	struct executor_event ev = { .kind = APPLY_VERIFY, .items = a->ntodo };
	char first[220];
	bool back;

	executor_status_step(a, "reading back", 0, false);
	if (a->others) {
		back = superseded_wait(a);
	} else {
		executor_read(a);
		executor_keep_others(a, HOLDS_OLD);
		back = !a->ntodo;
	}
	executor_first_not(first, sizeof(first), a, HOLDS_OLD);
	ev.rc = back ? 0 : -EIO;
	snprintf(ev.text, sizeof(ev.text), "%.190s", first);
	executor_emit(a, &ev);
	if (a->found_theirs || (a->others && a->c.tries < a->c.max_tries))
		return executor_restored(a);
	executor_set_aside_foreign(a);
	if (!a->ntodo && a->nleft)
		superseded_stay(a);
	if (a->c.tries >= a->c.max_tries) {
		memcpy(a->left + a->nleft, a->todo, a->ntodo * sizeof(*a->todo));
		a->nleft += a->ntodo;
		a->ntodo = 0;
	}
	return executor_restored(a);
}

static bool executor_do_finish(struct executor *a)
{
	static const enum txn_state last[] = {
		[OUTCOME_CONFIRMED] = TXN_CONFIRMED,	 [OUTCOME_REFUSED] = TXN_ABANDONED,
		[OUTCOME_ROLLED_BACK] = TXN_ROLLED_BACK, [OUTCOME_INCOMPLETE] = TXN_INCOMPLETE,
		[OUTCOME_SUPERSEDED] = TXN_SUPERSEDED,
	};
	struct executor_event ev = { .kind = APPLY_OUTCOME,
				     .outcome = a->c.outcome,
				     .items = a->nleft };
	struct err err = { "" };
	bool theirs = a->c.outcome == OUTCOME_SUPERSEDED;
	int rc = 0;

	if (theirs)
		superseded_tell(a);
	if (a->journal)
		rc = journal_mark(a->journal, last[a->c.outcome], a->c.wave,
				  theirs ? a->theirs_text : NULL, &err);
	if (rc && a->c.outcome == OUTCOME_CONFIRMED)
		return executor_fail(a, rc, "%s", err.text);
	if (rc)
		log_add(LOG_ERROR, "apply", "%s: %s", a->txn, err.text);
	if (a->c.touched && a->c.outcome != OUTCOME_INCOMPLETE)
		executor_end(a, a->c.outcome == OUTCOME_CONFIRMED);
	ev.rc = a->why_rc;
	snprintf(ev.text, sizeof(ev.text), "%.190s", a->why.text);
	executor_emit(a, &ev);
	return true;
}

bool executor_do(struct executor *a, enum coord_action act)
{
	switch (act) {
	case ACT_PREPARE:
		return executor_do_prepare(a);
	case ACT_JOURNAL:
		return executor_do_journal(a);
	case ACT_BEGIN_WAVE:
		return executor_do_begin_wave(a);
	case ACT_WRITE:
		return executor_do_write(a);
	case ACT_READ:
		return executor_do_read(a);
	case ACT_BEGIN_CONFIRM:
		return executor_do_begin_confirm(a);
	case ACT_BEGIN_ROLLBACK:
		return executor_do_begin_rollback(a);
	case ACT_SCAN:
		return executor_do_scan(a);
	case ACT_WRITE_BACK:
		return executor_do_write_back(a);
	case ACT_READ_BACK:
		return executor_do_read_back(a);
	case ACT_FINISH:
		return executor_do_finish(a);
	case ACT_BEGIN_UNPATH:
		return executor_do_begin_ask(a, TXN_UNPATH, "waiting for agents to drain");
	case ACT_BEGIN_REPATH:
		return executor_do_begin_ask(a, TXN_REPATH, "waiting for agents to return");
	case ACT_NOTIFY:
		return agent_set_notify(a);
	case ACT_AWAIT: /* not carried out but waited for, see drive() */
	case ACT_WAIT:
	case ACT_STOP:
		break;
	}
	return true;
}
