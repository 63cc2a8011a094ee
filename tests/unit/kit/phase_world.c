/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator, the switches and the journal: what may come, and what comes of it. */
#include "tests/unit/kit/phase_priv.h"

#include <stdlib.h>
#include <string.h>

/* The agents' records live beside the agents, so that a world can be copied. */
struct coordinator *phase_bring(struct world *w, const struct phase_model *m,
				struct coord_agent *known)
{
	for (unsigned i = 0; i < m->nagents; i++)
		if (w->n[i].member)
			*known++ = w->n[i].known;
	w->c.drain.agents = known - w->c.drain.nagents;
	return &w->c;
}

void phase_put(struct world *w, const struct phase_model *m, const struct coord_agent *known)
{
	for (unsigned i = 0; i < m->nagents; i++) {
		if (!w->n[i].member)
			continue;
		w->n[i].known = *known++;
		if (w->n[i].known.without) /* people are told */
			w->n[i].wet = 0;
	}
	w->c.drain.agents = NULL;
}

unsigned phase_rank(const struct world *w, unsigned i)
{
	unsigned rank = 0;

	while (i--)
		rank += w->n[i].member;
	return rank;
}

static void feed(struct world *w, const struct phase_model *m, enum coord_event ev)
{
	struct coord_agent known[NODES];
	uint32_t first = w->c.first_seq;

	if (m->mutant == MUTANT_NO_REPATH && w->c.action == ACT_READ_BACK)
		w->c.asked = PHASE_NONE;
	coordinator_step(phase_bring(w, m, known), ev);
	phase_put(w, m, known);
	if (w->c.first_seq != first && w->c.asked == PHASE_UNPATH)
		w->held_over = 0;
}

unsigned phase_slot_of(uint32_t seq)
{
	return (seq >> 16) * SLOTS + (seq & 0xffff) - 1;
}

uint32_t phase_seq_of(unsigned slot)
{
	return (uint32_t)(slot / SLOTS << 16 | (slot % SLOTS + 1));
}

bool phase_over(const struct world *w)
{
	if (w->dead)
		return w->journal != OPEN;
	return w->c.action == ACT_STOP && w->c.outcome != OUTCOME_INCOMPLETE;
}

void phase_spread(struct world *w, const struct phase_model *m, const struct phase_notice *n)
{
	unsigned slot = phase_slot_of(n->seq);

	if (n->txn == TXN && (slot >= 64 || (n->seq & 0xffff) > SLOTS)) {
		w->wrong = "notices without an end";
		return;
	}
	if (n->txn == TXN && n->phase == PHASE_REPATH)
		w->repath |= 1ull << slot;
	for (unsigned i = 0; i < m->nagents; i++) {
		if (w->n[i].life >= OVER || !w->n[i].a.subscribed)
			continue;
		if (n->txn == TXN)
			w->n[i].notices |= 1ull << slot;
		else if (n->seq < 8)
			w->n[i].earlier_notices |= (uint8_t)(1u << n->seq);
	}
}

static bool all_waves(const struct world *w, const struct phase_model *m, enum holds h)
{
	for (unsigned i = 0; i < m->nwaves; i++)
		if (w->wave[i] != h)
			return false;
	return true;
}

/* The heart of it: nobody whose packets are on the base LIDs when these are changed. */
static void writing(struct world *w, struct explorer *x)
{
	bool forced = false;

	x->out->writes++;
	if (w->journal != OPEN)
		w->wrong = "written without a journal";
	for (unsigned i = 0; i < x->m->nagents; i++) {
		struct node *n = &w->n[i];

		if (n->life >= OVER || n->a.mode == AGENT_ESCAPE || n->a.mode == AGENT_RECALLED)
			continue;
		if (!n->member) {
			n->wet = 1;
			continue;
		}
		if (!n->known.without)
			w->wrong = "written while an agent was on its base LIDs";
		forced = true;
	}
	x->out->forced += forced;
}

static void write_waves(struct world *w, struct explorer *x, bool in_full)
{
	writing(w, x);
	if (w->c.action == ACT_WRITE) {
		w->wave[w->c.wave] = in_full ? NEW : PARTLY;
		return;
	}
	for (unsigned i = 0; i < x->m->nwaves; i++) {
		if (w->wave[i] == OLD || w->wave[i] == THEIRS)
			continue;
		w->wave[i] = in_full ? OLD : PARTLY;
		in_full = true;
	}
}

static void finish(struct world *w, const struct phase_model *m)
{
	enum outcome o = w->c.outcome;

	if (o == OUTCOME_CONFIRMED && !all_waves(w, m, NEW))
		w->wrong = "confirmed, but the tables are not the new ones";
	if (o == OUTCOME_ROLLED_BACK && !all_waves(w, m, OLD))
		w->wrong = "ended rolled back, but the tables are not the old ones";
	if (o == OUTCOME_REFUSED && !w->theirs && !all_waves(w, m, OLD))
		w->wrong = "ended refused, but the tables are not the old ones";
	if (o == OUTCOME_SUPERSEDED && !all_waves(w, m, THEIRS))
		w->wrong = "ended superseded, but the tables are not another SM's";
	if (o != OUTCOME_INCOMPLETE && w->journal == OPEN)
		w->journal = FINAL;
}

/* What is there is read until it does not change any more: then the other SM has written all. */
static bool read_back(struct world *w, const struct phase_model *m)
{
	if (!w->theirs)
		return all_waves(w, m, OLD);
	memset(w->wave, THEIRS, sizeof(w->wave));
	return m->mutant == MUTANT_BLAND;
}

static bool act(struct world *w, struct explorer *x, bool in_full)
{
	struct phase_notice n;

	switch (w->c.action) {
	case ACT_JOURNAL:
		if (in_full && x->m->mutant != MUTANT_NO_JOURNAL)
			w->journal = OPEN;
		return in_full;
	case ACT_NOTIFY:
		coordinator_notice(&w->c, &n);
		phase_spread(w, x->m, &n);
		return true;
	case ACT_WRITE:
		if (w->c.dispute) /* stopped as soon as that is heard */
			return true;
		write_waves(w, x, in_full);
		return true;
	case ACT_WRITE_BACK:
		write_waves(w, x, in_full);
		return true;
	case ACT_READ:
		return w->wave[w->c.wave] == NEW || x->m->mutant == MUTANT_BLIND_READ;
	case ACT_SCAN:
	case ACT_READ_BACK:
		return read_back(w, x->m);
	case ACT_FINISH:
		if (in_full)
			finish(w, x->m);
		return in_full;
	default:
		return in_full;
	}
}

static void die(struct world *w, struct explorer *x, bool writing_now)
{
	if (writing_now && !w->c.dispute)
		write_waves(w, x, false);
	w->deaths--;
	w->dead = 1;
	memset(&w->c, 0, sizeof(w->c));
	w->held_over = 0;
	for (unsigned i = 0; i < x->m->nagents; i++) {
		memset(&w->n[i].known, 0, sizeof(w->n[i].known));
		w->n[i].told_gone = 0;
	}
}

void phase_begin(struct world *w, const struct phase_model *m, enum coord_event ev)
{
	struct coord_drain d = {
		.nagents = phase_rank(w, m->nagents),
		.txn = TXN,
		.epoch = w->epoch,
		.max_sends = m->max_sends,
		.without_silent = m->without_silent,
		.recheck = m->recheck,
	};

	w->dead = 0;
	coordinator_init(&w->c, m->nwaves, 2);
	coordinator_drain(&w->c, &d);
	feed(w, m, ev);
}

static void take_over(struct world *w, const struct phase_model *m)
{
	if (!w->dead) { /* the switch that was not there answers again */
		feed(w, m, EV_RECOVER);
		return;
	}
	w->epoch += m->mutant != MUTANT_EPOCH;
	phase_begin(w, m, EV_RECOVER);
	w->c.drained = m->mutant == MUTANT_UNASKED;
}

/* ---- jobs that begin meanwhile ---- */

/* While it is carried out jobs are looked for: those that the batch system tells of by then. */
static bool looks(const struct world *w, const struct phase_model *m)
{
	if (w->dead)
		return false;
	switch (w->c.action) {
	case ACT_BEGIN_WAVE:
	case ACT_BEGIN_ROLLBACK:
		return true;
	case ACT_BEGIN_REPATH:
		return w->c.touched && m->mutant != MUTANT_UNLOOKED;
	case ACT_BEGIN_CONFIRM:
		return !w->c.asked && m->mutant != MUTANT_UNLOOKED;
	case ACT_WAIT:
		return m->mutant != MUTANT_UNLOOKED;
	case ACT_SCAN:
	case ACT_READ_BACK:
		return (w->theirs || all_waves(w, m, OLD)) && m->mutant != MUTANT_UNLOOKED;
	default:
		return false;
	}
}

static bool stranger(const struct node *n)
{
	return n->life < OVER && !n->member && !n->named;
}

/* The batch system tells of jobs sooner or later: of those that were there while tables were
 * written before somebody confirms, and on the way back before all are called back. */
static bool looked(const struct world *w, const struct phase_model *m)
{
	enum coord_action a = w->c.action;

	if (!looks(w, m) || (a != ACT_WAIT && a != ACT_SCAN && a != ACT_READ_BACK))
		return true;
	for (unsigned i = 0; i < m->nagents; i++)
		if (stranger(&w->n[i]) && w->n[i].wet)
			return false;
	return true;
}

static void join(struct world *w, const struct phase_model *m, unsigned i)
{
	struct coord_agent known[NODES];
	bool drained = w->c.drained;
	unsigned n;

	w->n[i].member = 1;
	memset(&w->n[i].known, 0, sizeof(w->n[i].known));
	n = phase_rank(w, m->nagents);
	w->c.drain.nagents = n;
	phase_bring(w, m, known);
	coordinator_join(&w->c, known, n);
	phase_put(w, m, known);
	if (m->mutant == MUTANT_UNINVITED) {
		w->c.drained = drained;
		w->c.joined = false;
	}
}

/* Whoever needs the drain and has no agent keeps the next wave from being written. */
static void not_there(struct world *w, const struct phase_model *m, unsigned i)
{
	w->n[i].named = 1;
	if (w->c.action == ACT_BEGIN_WAVE && !m->without_silent)
		feed(w, m, EV_FAILED);
}

void phase_coordinator_choice(struct world *w, struct explorer *x, const struct step *s)
{
	static const enum coord_event event[] = {
		[CONFIRM] = EV_CONFIRM,	    [TIMEOUT] = EV_TIMEOUT, [RESEND] = EV_RESEND,
		[DEADLINE] = EV_DEADLINE,   [CANCEL] = EV_CANCEL,   [SM] = EV_SM,
		[HOLD_OVER] = EV_HOLD_OVER, [OTHER_ROUTES] = EV_SM,
	};

	bool reads = w->c.action == ACT_SCAN || w->c.action == ACT_READ_BACK;

	switch (s->choice) {
	case DO:
		w->faults -= s->arg;
		feed(w, x->m,
		     act(w, x, !s->arg)	  ? EV_DONE
		     : reads && w->theirs ? EV_SUPERSEDED
					  : EV_FAILED);
		return;
	case DEATH:
		die(w, x, s->arg);
		return;
	case TAKE_OVER:
		take_over(w, x->m);
		return;
	case JOIN:
		join(w, x->m, s->node);
		return;
	case NOT_THERE:
		not_there(w, x->m, s->node);
		return;
	case DEADLINE:
		for (unsigned i = 0; x->m->mutant == MUTANT_TRUSTING && i < x->m->nagents; i++)
			if (w->n[i].known.state == COORD_ASKED)
				w->n[i].known.state = COORD_DONE;
		break;
	case CANCEL:
		w->cancels--;
		break;
	case HOLD_OVER:
		w->holds--;
		w->held_over = 1;
		break;
	case OTHER_ROUTES:
		w->others--;
		w->theirs = 1;
		w->wave[0] = THEIRS;
		break;
	case SM:
		w->sms--;
		for (unsigned i = 0; i < x->m->nagents && !phase_reduced(x->m); i++)
			agent_state_step(&w->n[i].a, AGENT_EV_SM);
		break;
	default:
		break;
	}
	if (!w->dead)
		feed(w, x->m, event[s->choice]);
}

void phase_can(struct choices *l, bool allowed, enum table_selection c, unsigned node, unsigned arg)
{
	if (!allowed)
		return;
	if (l->n == MAXEV)
		abort();
	l->v[l->n++] = (struct step){ (uint8_t)c, (uint8_t)node, (uint8_t)arg, 0 };
}

static bool can_fail(const struct world *w)
{
	switch (w->c.action) {
	case ACT_NOTIFY: /* all lost is the same */
	case ACT_READ:	 /* depends on what was written */
	case ACT_SCAN:
	case ACT_READ_BACK:
		return false;
	case ACT_FINISH:
		return w->c.outcome == OUTCOME_CONFIRMED;
	default:
		return true;
	}
}

/* What comes after the last look at the tables nobody can tell of. */
static bool other_may_route(const struct world *w)
{
	const struct coordinator *c = &w->c;

	if (!w->others || phase_over(w))
		return false;
	if (w->dead)
		return true;
	if (c->action == ACT_FINISH || c->action == ACT_STOP)
		return false;
	return c->phase != PHASE_ROLLBACK || !c->restored;
}

void phase_coordinator_choices(struct choices *l, const struct world *w,
			       const struct phase_model *m)
{
	enum coord_action a = w->c.action;
	bool acts = !w->dead && a != ACT_WAIT && a != ACT_AWAIT && a != ACT_STOP;
	bool alive = !w->dead && a != ACT_STOP;
	bool asked = !w->dead && a == ACT_AWAIT;

	phase_can(l, acts && looked(w, m), DO, 0, 0);
	phase_can(l, acts && looked(w, m) && w->faults && can_fail(w), DO, 0, 1);
	for (unsigned i = 0; m->late && i < m->nagents; i++) {
		phase_can(l, looks(w, m) && a != ACT_WAIT && stranger(&w->n[i]), JOIN, i, 0);
		phase_can(l, looks(w, m) && stranger(&w->n[i]) && (a != ACT_WAIT || w->n[i].wet),
			  NOT_THERE, i, 0);
	}
	phase_can(l, !w->dead && a == ACT_WAIT && looked(w, m), CONFIRM, 0, 0);
	phase_can(l, !w->dead && a == ACT_WAIT, TIMEOUT, 0, 0);
	phase_can(l, asked && w->c.sends < m->max_sends, RESEND, 0, 0);
	phase_can(l, asked, DEADLINE, 0, 0);
	phase_can(l, alive && w->cancels, CANCEL, 0, 0);
	phase_can(l, w->sms, SM, 0, 0);
	phase_can(l, other_may_route(w), OTHER_ROUTES, 0, 0);
	phase_can(l, alive && w->holds && w->c.drained, HOLD_OVER, 0, 0);
	phase_can(l, alive && w->deaths, DEATH, 0, 0);
	phase_can(l, alive && w->deaths && (a == ACT_WRITE || a == ACT_WRITE_BACK), DEATH, 0, 1);
	phase_can(l, w->dead ? w->journal == OPEN : a == ACT_STOP && !phase_over(w), TAKE_OVER, 0,
		  0);
}

void phase_check_tables(struct world *w, struct explorer *x)
{
	bool confirmed = !w->dead && w->c.outcome == OUTCOME_CONFIRMED;

	if (!phase_over(w))
		w->wrong = "nothing more happens, and it is not over";
	else if (w->theirs && (confirmed || (!w->dead && w->c.outcome == OUTCOME_ROLLED_BACK)))
		w->wrong = "another SM has routed, and it was not told";
	else if (!w->theirs && !all_waves(w, x->m, confirmed ? NEW : OLD))
		w->wrong = "the tables are neither the old nor the new ones";
	x->out->confirmed += confirmed;
	x->out->refused += !w->dead && w->c.outcome == OUTCOME_REFUSED;
	x->out->back += !w->dead && w->c.outcome == OUTCOME_ROLLED_BACK;
	x->out->superseded += !w->dead && w->c.outcome == OUTCOME_SUPERSEDED;
}

/* When it is over. */
void phase_check_told(struct world *w, const struct phase_model *m)
{
	for (unsigned i = 0; i < m->nagents; i++)
		if (w->n[i].life < OVER && w->n[i].wet && !w->n[i].named)
			w->wrong = "a job was there while tables were written, was not drained "
				   "since, and nobody was told";
}

/* Nothing more happens by itself. */
void phase_check_end(struct world *w, struct explorer *x)
{
	if (x->m == x->whole)
		phase_check_tables(w, x);
	for (unsigned i = 0; i < x->m->nagents; i++)
		if (w->n[i].life == UP && w->n[i].a.mode != AGENT_BASE)
			w->wrong = "an agent was left behind";
	x->out->home += x->m->nagents;
}
