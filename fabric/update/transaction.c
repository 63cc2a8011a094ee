/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/transaction.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void transaction_emit(struct transaction *t, struct executor_event *ev)
{
	ev->phase = t->c.phase;
	ev->wave = t->c.wave;
	ev->why = t->c.why;
	ev->txn = t->txn;
	if (t->o.event)
		t->o.event(t->o.driver, ev);
}

int transaction_grant(struct transaction *t, enum grant_step step, uint32_t confirm_ms,
		      struct err *err)
{
	struct executor_grant g = { .step = step, .txn = t->txn, .confirm_ms = confirm_ms };

	if (!t->o.grant || !t->journal)
		return 0;
	g.fabric = &journal_info(t->journal)->head.fingerprint;
	g.notices = t->c.asked ? t->c.drain.txn : 0;
	g.seq = t->c.asked ? t->c.seq : 0;
	return t->o.grant(t->o.ctx, &g, err);
}

int transaction_gate(struct transaction *t, struct err *err)
{
	struct executor_event ev = {
		.kind = APPLY_PHASE_BEGIN,
		.phase = t->c.phase,
		.wave = t->c.wave,
		.txn = t->txn,
		.items = t->ntodo,
		.asked = t->c.asked,
	};

	return t->o.gate ? t->o.gate(t->o.driver, &ev, err) : 0;
}

bool transaction_fail(struct transaction *t, int rc, const char *fmt, ...)
{
	va_list ap;

	if (t->why_rc)
		return false;
	t->why_rc = rc;
	va_start(ap, fmt);
	vsnprintf(t->why.text, sizeof(t->why.text), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&t->lock);
	memcpy(t->st.text, t->why.text, sizeof(t->st.text));
	pthread_mutex_unlock(&t->lock);
	return false;
}
