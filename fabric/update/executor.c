/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/executor_priv.h"

#include "fabric/base/log.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 3

void executor_emit(struct executor *a, struct executor_event *ev)
{
	ev->phase = a->c.phase;
	ev->wave = a->c.wave;
	ev->txn = a->txn;
	if (a->o.event)
		a->o.event(a->o.ctx, ev);
}

int executor_gate(struct executor *a, struct err *err)
{
	struct executor_event ev = {
		.kind = APPLY_PHASE_BEGIN,
		.phase = a->c.phase,
		.wave = a->c.wave,
		.txn = a->txn,
		.items = a->ntodo,
		.asked = a->c.asked,
	};

	return a->o.gate ? a->o.gate(a->o.ctx, &ev, err) : 0;
}

bool executor_fail(struct executor *a, int rc, const char *fmt, ...)
{
	va_list ap;

	if (a->why_rc)
		return false;
	a->why_rc = rc;
	va_start(ap, fmt);
	vsnprintf(a->why.text, sizeof(a->why.text), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&a->lock);
	memcpy(a->st.text, a->why.text, sizeof(a->st.text));
	pthread_mutex_unlock(&a->lock);
	return false;
}

static struct executor *executor_alloc(const struct fabric *f, const struct changes *l,
				       const struct installer *in, const struct executor_opts *o)
{
	struct executor *a = xcalloc(1, sizeof(*a));

	a->fabric = fabric_get(f);
	a->list = l;
	a->in = in;
	if (o)
		a->o = *o;
	if (!a->o.tries)
		a->o.tries = TRIES;
	a->holds = xcalloc(l->n, sizeof(*a->holds));
	a->level = xcalloc(l->n, sizeof(*a->level));
	a->rc = xcalloc(l->n, sizeof(*a->rc));
	a->todo = xcalloc(l->n, sizeof(*a->todo));
	a->left = xcalloc(l->n, sizeof(*a->left));
	a->slowest = xcalloc(f->nsw, sizeof(*a->slowest));
	a->batch_max = in->ops->batch ? in->ops->batch : a->o.sm ? APPLY_BATCH_SM : APPLY_BATCH;
	if (a->batch_max > l->n)
		a->batch_max = l->n;
	a->batch = xcalloc(a->batch_max, sizeof(*a->batch));
	if (in->ops->put)
		a->back = xcalloc(a->batch_max, sizeof(*a->back));
	a->item = xcalloc(a->batch_max, sizeof(*a->item));
	a->progress.report = a->steady.report = executor_steps_report;
	a->progress.ctx = a->steady.ctx = a;
	pthread_mutex_init(&a->lock, NULL);
	coordinator_init(&a->c, l->nwaves, a->o.tries);
	return a;
}

struct executor *executor_new(const struct plan *p, const struct installer *in,
			      const struct executor_opts *o)
{
	struct executor *a = executor_alloc(p->fabric, p->changes, in, o);

	a->plan = p;
	return a;
}

struct executor *executor_recover(struct journal *j, const struct fabric *f,
				  const struct installer *in, const struct executor_opts *o)
{
	struct changes *l = journal_changes(j);
	struct executor *a = executor_alloc(f, l, in, o);

	changes_bind(l, f);
	a->journal = j;
	memcpy(a->txn, journal_info(j)->head.id, sizeof(a->txn));
	memcpy(a->st.txn, a->txn, sizeof(a->txn));
	return a;
}

void executor_free(struct executor *a)
{
	if (!a)
		return;
	journal_close(a->journal);
	agent_set_free(&a->crowd);
	vec_free(&a->newcomers);
	jobset_put(a->jobs);
	pthread_mutex_destroy(&a->lock);
	free(a->batch);
	free(a->back);
	free(a->item);
	free(a->slowest);
	free(a->left);
	free(a->todo);
	free(a->rc);
	free(a->level);
	free(a->holds);
	fabric_put(a->fabric);
	free(a);
}

static void executor_sync_status(struct executor *a)
{
	pthread_mutex_lock(&a->lock);
	a->st.phase = a->c.phase;
	a->st.outcome = a->c.outcome;
	a->st.why = a->c.why;
	a->st.wave = a->c.wave;
	a->st.nwaves = a->c.nwaves;
	a->st.waiting = a->c.action == ACT_WAIT;
	pthread_mutex_unlock(&a->lock);
}

/* Carries out actions until the operator has to decide or it is over. */
static void executor_drive(struct executor *a, enum coord_event ev)
{
	enum coord_action act = coordinator_step(&a->c, ev);

	while (act != ACT_WAIT && act != ACT_STOP) {
		bool ok;

		executor_sync_status(a);
		if (act == ACT_AWAIT) {
			act = agent_set_await(a);
			continue;
		}
		a->found_theirs = false;
		ok = executor_do(a, act);
		agent_set_hear(a);
		if (atomic_load(&a->progress.cancel) && !a->c.cancelled) {
			executor_fail(a, -ECANCELED, "cancelled by the operator");
			coordinator_step(&a->c, EV_CANCEL);
		}
		act = coordinator_step(&a->c, ok		? EV_DONE
					      : a->found_theirs ? EV_THEIRS
								: EV_FAILED);
	}
	executor_sync_status(a);
}

/* "leaf01, leaf02, ..." of what was not undone. */
static void executor_name_left(char *buf, size_t size, const struct executor *a)
{
	size_t len = 0;
	uint64_t last = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < a->nleft; i++) {
		const struct change *c = &a->list->v[a->left[i]];
		char guid[24];

		if (len && c->guid == last)
			continue;
		last = c->guid;
		snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)c->guid);
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					c->sw == FAB_NONE ? guid : a->fabric->sw_name[c->sw]);
		if (len + 24 >= size) {
			snprintf(buf + (len < size ? len : size - 1), size > len ? size - len : 1,
				 ", ...");
			return;
		}
	}
}

static int executor_incomplete(const struct executor *a, struct err *err)
{
	char names[300];

	executor_name_left(names, sizeof(names), a);
	return err_set(err, -EUCLEAN,
		       "rollback incomplete: %u blocks do not hold their old contents, on %s; "
		       "the journal %s is kept, roll back again when they answer%s%s",
		       a->nleft, names, a->txn, a->judged ? "; what is there: " : "",
		       a->judged ? a->theirs.text : "");
}

int executor_run(struct executor *a, struct err *err)
{
	executor_drive(a, EV_START);
	if (a->c.action == ACT_WAIT)
		return 0;
	if (a->c.outcome == OUTCOME_INCOMPLETE)
		return executor_incomplete(a, err);
	return err_set(err, a->why_rc, "%.400s (%s)", a->why.text, outcome_name(a->c.outcome));
}

bool executor_called_off(struct executor *a)
{
	struct err err = { "" };
	int rc;

	agent_set_listen(a);
	if (a->c.cancelled || !a->o.sm || !a->plan || a->c.phase == PHASE_ROLLBACK)
		return a->c.cancelled;
	rc = a->o.sm(a->o.ctx, &err);
	if (!rc)
		return false;
	executor_fail(a, rc, "%s", err.text);
	coordinator_step(&a->c, EV_SM);
	return a->c.cancelled;
}

void executor_end(struct executor *a, bool keep)
{
	struct err err = { "" };

	if (a->in->ops->end && a->in->ops->end(a->in->ctx, keep, &err))
		log_add(LOG_ERROR, "apply", "%s: %s", a->txn, err.text);
}

static int executor_keep_recovered(struct executor *a, struct err *err)
{
	uint32_t new;
	int rc;

	executor_todo_all(a, a->c.nwaves);
	executor_read(a);
	new = executor_count(a, HOLDS_NEW);
	if (new < a->nall)
		return err_set(err, -EUCLEAN,
			       "%u of %u blocks do not hold what plan %s wrote: it can only be "
			       "rolled back",
			       a->nall - new, a->nall, journal_info(a->journal)->head.plan);
	agent_set_recover(a);
	if (!a->crowd.n) {
		a->c.outcome = OUTCOME_CONFIRMED;
		executor_sync_status(a);
		rc = journal_mark(a->journal, TXN_CONFIRMED, 0, "kept after a recovery", err);
		if (!rc)
			executor_end(a, true);
		return rc;
	}
	executor_drive(a, EV_KEEP);
	if (a->c.action == ACT_WAIT)
		executor_drive(a, EV_CONFIRM);
	if (a->c.outcome == OUTCOME_CONFIRMED)
		return 0;
	return err_set(err, a->why_rc, "not kept: %.400s", a->why.text);
}

int executor_confirm(struct executor *a, struct err *err)
{
	int rc;

	if (!a->plan)
		return executor_keep_recovered(a, err);
	if (a->c.action != ACT_WAIT)
		return err_set(err, -EINVAL, "there is nothing to confirm: %s",
			       outcome_name(a->c.outcome));
	rc = executor_gate(a, err);
	if (rc)
		return rc;
	executor_drive(a, EV_CONFIRM);
	if (a->c.outcome == OUTCOME_CONFIRMED)
		return 0;
	rc = err_set(err, a->why_rc, "not confirmed: %.400s", a->why.text);
	a->why_rc = 0;
	return rc;
}

static int executor_roll_back(struct executor *a, enum coord_event ev, const char *why,
			      struct err *err)
{
	if (a->c.action == ACT_WAIT) {
		executor_fail(a, -ECANCELED, "%s", why);
		executor_drive(a, ev);
	} else if (a->journal && !txn_state_final(journal_info(a->journal)->state)) {
		agent_set_recover(a);
		executor_drive(a, EV_RECOVER);
	} else {
		return err_set(err, -EINVAL, "there is nothing to roll back");
	}
	if (a->c.outcome == OUTCOME_SUPERSEDED)
		return err_set(err, -ESTALE, "%.400s", a->why.text);
	return a->c.outcome == OUTCOME_ROLLED_BACK ? 0 : executor_incomplete(a, err);
}

int executor_rollback(struct executor *a, struct err *err)
{
	return executor_roll_back(a, EV_CANCEL, "rolled back by the operator", err);
}

int executor_abort(struct executor *a, enum coord_event ev, const char *why, struct err *err)
{
	if (a->c.action != ACT_WAIT)
		return err_set(err, -EINVAL, "there is nothing that waits");
	return executor_roll_back(a, ev, why, err);
}

int executor_give_up(struct executor *a, const char *why, struct err *err)
{
	if (!a->journal || txn_state_final(journal_info(a->journal)->state))
		return err_set(err, -EINVAL, "there is no unfinished update");
	return journal_mark(a->journal, TXN_GIVEN_UP, 0, why, err);
}

void executor_idle(struct executor *a)
{
	if (a->c.action != ACT_WAIT)
		return;
	agent_set_hear(a);
	agent_set_status(a);
	if (a->plan)
		executor_newcomers(a);
}

void executor_cancel(struct executor *a)
{
	atomic_store(&a->progress.cancel, true);
}

void executor_status(struct executor *a, struct executor_status *out)
{
	pthread_mutex_lock(&a->lock);
	*out = a->st;
	pthread_mutex_unlock(&a->lock);
}

enum outcome executor_outcome(const struct executor *a)
{
	return a->c.outcome;
}

const uint32_t *executor_left(const struct executor *a, uint32_t *n, const struct changes **list)
{
	*n = a->nleft;
	*list = a->list;
	return a->left;
}

int executor_scan(struct recovery_scan *out, struct executor *a, struct err *err)
{
	if (!a->journal)
		return err_set(err, -EINVAL, "there is no journal yet");
	executor_todo_all(a, a->c.nwaves);
	executor_read(a);
	*out = (struct recovery_scan){
		.old = executor_count(a, HOLDS_OLD),
		.new = executor_count(a, HOLDS_NEW),
		.between = executor_count(a, HOLDS_BETWEEN),
		.foreign = executor_count(a, HOLDS_FOREIGN),
		.silent = executor_count(a, HOLDS_SILENT),
		.missing = a->nall - a->ntodo,
	};
	return 0;
}

int outcome_exit_code(enum outcome o)
{
	switch (o) {
	case OUTCOME_CONFIRMED:
		return 0;
	case OUTCOME_ROLLED_BACK:
		return 5;
	case OUTCOME_INCOMPLETE:
		return 6;
	case OUTCOME_SUPERSEDED:
		return 9;
	case OUTCOME_NONE:
	case OUTCOME_REFUSED:
		break;
	}
	return 4;
}
