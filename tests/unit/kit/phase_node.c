/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Agents, and what is under way to them and from them. */
#include "tests/unit/kit/phase_priv.h"

#include <string.h>

/* What agent_state_init() will make of it. */
void phase_forget(struct node *n)
{
	if (agent_state_busy(&n->a))
		n->a.mode = AGENT_MIXED;
	n->a.failed = false;
}

static void send_ack(struct node *n, uint8_t flags)
{
	unsigned k = 0;

	while (k < ACKS && n->acks[k].slot)
		k++;
	if (k == ACKS)
		return;
	n->acks[k].earlier = n->a.txn == TXN_EARLIER;
	n->acks[k].slot = (uint8_t)(n->acks[k].earlier ? n->a.seq : phase_slot_of(n->a.seq) + 1);
	n->acks[k].repeat = (uint8_t)n->a.repeat;
	n->acks[k].flags = flags;
}

static void agent_acts(struct node *n, unsigned mask, const struct phase_model *m)
{
	n->a.aborted = false; /* tells the hooks, moves nothing */
	if (mask & AGENT_ACK)
		send_ack(n, (uint8_t)n->a.flags);
	n->a.flags = 0;
	if (n->a.mode == AGENT_ESCAPE)
		n->wet = 0;
	if (mask & AGENT_DRAIN && m->mutant == MUTANT_EARLY_ACK)
		send_ack(n, 0);
}

static void notice_arrives(struct world *w, const struct phase_model *m, unsigned i,
			   const struct phase_notice *n)
{
	struct node *node = &w->n[i];

	if (node->life != UP)
		return;
	if (m->mutant == MUTANT_NOTICE_SEQ && n->txn == node->a.txn)
		node->a.seq = 0;
	if (m->mutant == MUTANT_NOTICE_TXN && n->txn < node->a.txn)
		node->a.txn = node->a.seq = 0;
	node->a.wary = m->callbacks && m->mutant != MUTANT_HASTY;
	agent_acts(node, agent_state_notice(&node->a, n), m);
}

static void answer_arrives(struct world *w, const struct phase_model *m, unsigned i,
			   const struct answer *k)
{
	bool early = k->earlier;
	struct phase_notice reply, n = {
		.version = PHASE_NOTICE_VERSION,
		.flags = k->flags,
		.repeat = k->repeat,
		.seq = early ? k->slot : phase_seq_of(k->slot - 1u),
		.txn = early ? TXN_EARLIER : TXN,
		.phase = PHASE_UNPATH,
	};
	struct coord_agent known[NODES];

	if (early ? k->slot > 3 : w->repath >> (k->slot - 1) & 1)
		n.phase = PHASE_REPATH;
	if (phase_over(w) && k->flags & NOTICE_ASK) {
		if (coordinator_answer(&reply, w->dead ? NULL : &w->c, &n))
			phase_spread(w, m, &reply);
		return;
	}
	if (w->dead)
		return;
	if (m->mutant == MUTANT_ACK_TXN)
		n.txn = TXN;
	if (m->mutant == MUTANT_ACK_SEQ && n.txn == TXN)
		n.seq = w->c.seq;
	if (!w->n[i].member)
		return;
	phase_bring(w, m, known);
	if (m->callbacks && k->flags & NOTICE_ASK)
		coordinator_doubt(&w->c, phase_rank(w, i), &n);
	else
		coordinator_ack(&w->c, phase_rank(w, i), &n);
	phase_put(w, m, known);
	if (w->c.dispute && phase_orderly(m))
		w->wrong = "an agent that said what is so ended the update";
}

void phase_remove_ack(struct node *n, unsigned k)
{
	memmove(&n->acks[k], &n->acks[k + 1], (ACKS - 1 - k) * sizeof(*n->acks));
	memset(&n->acks[ACKS - 1], 0, sizeof(*n->acks));
}

void phase_message_choice(struct world *w, struct explorer *x, const struct step *s)
{
	struct node *n = &w->n[s->node];
	struct answer k = n->acks[s->choice >= ANSWER ? s->arg : 0];
	bool early = s->choice == EARLIER;
	struct phase_notice notice = {
		.version = PHASE_NOTICE_VERSION,
		.seq = early ? s->arg : phase_seq_of(s->arg),
		.txn = early ? TXN_EARLIER : TXN,
		.phase = (early ? s->arg > 3 : w->repath >> s->arg & 1) ? PHASE_REPATH
									: PHASE_UNPATH,
	};

	bool stays = x->m->doubled && phase_ordinal(x->m);

	w->doubled -= s->choice == NOTICE_TWICE || s->choice == ANSWER_TWICE;
	if (s->choice == NOTICE_LOST || s->choice == EARLIER_LOST || s->choice == ANSWER_LOST)
		w->lost -= x->m->lost != LOST_ANY;
	if ((s->choice == NOTICE && !stays) || s->choice == NOTICE_LOST)
		n->notices &= ~(1ull << s->arg);
	if (s->choice == EARLIER || s->choice == EARLIER_LOST)
		n->earlier_notices &= (uint8_t) ~(1u << s->arg);
	if ((s->choice == ANSWER && !stays) || s->choice == ANSWER_LOST)
		phase_remove_ack(n, s->arg);
	if (s->choice == NOTICE || s->choice == NOTICE_TWICE || early)
		notice_arrives(w, x->m, s->node, &notice);
	if (s->choice == ANSWER || s->choice == ANSWER_TWICE)
		answer_arrives(w, x->m, s->node, &k);
}

static void restart(struct node *n, const struct phase_model *m)
{
	struct agent_saved saved;
	bool subscribed = n->a.subscribed;

	agent_state_saved(&n->a, &saved);
	agent_state_init(&n->a, m->mutant == MUTANT_UNSAVED ? NULL : &saved);
	n->a.subscribed = subscribed; /* the SM knows a node, not a process */
	n->life = UP;
	agent_acts(n, agent_state_step(&n->a, AGENT_EV_START), m);
}

/* An agent asks when it begins: the question of now is under way to it, late or lost as all are. */
static uint64_t invitation(const struct world *w)
{
	if (w->dead || w->c.asked != PHASE_UNPATH)
		return 0;
	return 1ull << phase_slot_of(w->c.seq);
}

void phase_node_choice(struct world *w, struct explorer *x, const struct step *s)
{
	struct node *n = &w->n[s->node];
	struct coord_agent known[NODES];
	enum agent_event ev = AGENT_EV_TIMEOUT;
	struct phase_notice forged;

	switch (s->choice) {
	case HOOK:
		w->hooks -= s->arg;
		ev = s->arg ? AGENT_EV_FAILED : AGENT_EV_DONE;
		break;
	case ASK:
		n->asks--;
		break;
	case SAFETY:
		ev = AGENT_EV_SAFETY;
		break;
	case GO:
		ev = AGENT_EV_GO;
		break;
	case CRASH:
		w->crashes--;
		n->life = DOWN;
		if (phase_reduced(x->m))
			phase_forget(n);
		return;
	case RESTART:
		restart(n, x->m);
		return;
	case JOB_OVER:
		w->ended--;
		n->life = OVER;
		n->wet = n->named = 0;
		n->notices = n->earlier_notices = 0;
		memset(&n->a, 0, sizeof(n->a));
		return;
	case TOLD_GONE:
		n->told_gone = 1;
		coordinator_gone(phase_bring(w, x->m, known), phase_rank(w, s->node));
		phase_put(w, x->m, known);
		return;
	case RESUBSCRIBE:
		ev = AGENT_EV_SUBSCRIBED;
		break;
	case JOB_BEGINS:
		n->life = UP;
		n->notices = invitation(w);
		return;
	case FORGED_QUESTION:
		w->forgeries--;
		phase_forge_question(&forged, w, s->arg);
		if (forged.phase == PHASE_REPATH)
			w->repath |= 1ull << phase_slot_of(forged.seq);
		notice_arrives(w, x->m, s->node, &forged);
		return;
	case FORGED_ANSWER:
		w->forgeries--;
		phase_forge_answer(&forged, w, s->arg);
		coordinator_ack(phase_bring(w, x->m, known), phase_rank(w, s->node), &forged);
		phase_put(w, x->m, known);
		return;
	default:
		break;
	}
	agent_acts(n, agent_state_step(&n->a, ev), x->m);
}

/* Its patience is longer than hold_s, which the coordinator counts from before it asked. */
static bool may_leave(const struct world *w, const struct phase_model *m, const struct node *n)
{
	if (n->life != UP || n->a.mode != AGENT_ESCAPE)
		return false;
	if (m->mutant == MUTANT_NO_HOLD || phase_over(w))
		return true;
	if (w->dead)
		return m->safety;
	if (w->c.action == ACT_WRITE || w->c.action == ACT_WRITE_BACK)
		return false;
	return m->safety && (w->held_over || n->a.seq < w->c.first_seq);
}

/* It waits so long that what it said is heard, which it says more than once. */
static bool word_under_way(const struct node *n)
{
	for (unsigned k = 0; k < ACKS && n->acks[k].slot; k++)
		if (n->acks[k].flags & NOTICE_ASK)
			return true;
	return false;
}

void phase_node_choices(struct choices *l, const struct world *w, const struct phase_model *m,
			unsigned i)
{
	const struct node *n = &w->n[i];
	bool up = n->life == UP;
	bool lost = w->lost && (!phase_orderly(m) ||
				phase_over(w)); /* before: as late as it takes to be void */
	bool lands = up || !phase_reduced(m);

	for (unsigned s = 0; n->notices >> s && s < 64; s++) {
		bool here = n->notices >> s & 1;

		phase_can(l, here && lands, NOTICE, i, s);
		phase_can(l, here && up && w->doubled, NOTICE_TWICE, i, s);
		phase_can(l, here && lost, NOTICE_LOST, i, s);
	}
	for (unsigned s = 0; s < 8; s++) {
		phase_can(l, n->earlier_notices >> s & 1 && lands, EARLIER, i, s);
		phase_can(l, n->earlier_notices >> s & 1 && lost, EARLIER_LOST, i, s);
	}
	for (unsigned k = 0; k < ACKS && n->acks[k].slot; k++) {
		/* one that nobody listens to is as good as late */
		phase_can(l, n->member || !phase_reduced(m), ANSWER, i, k);
		phase_can(l, w->doubled, ANSWER_TWICE, i, k);
		phase_can(l, lost && !(m->callbacks && n->acks[k].flags & NOTICE_ASK), ANSWER_LOST,
			  i, k);
	}
	phase_can(l, up && agent_state_busy(&n->a), HOOK, i, 0);
	phase_can(l, up && agent_state_busy(&n->a) && w->hooks, HOOK, i, 1);
	phase_can(l, up && n->asks && n->a.mode == AGENT_ESCAPE, ASK, i, 0);
	phase_can(l, up && n->a.mode == AGENT_MIXED, RETRY, i, 0);
	phase_can(l, may_leave(w, m, n) && (m->safety || m->mutant == MUTANT_NO_HOLD), SAFETY, i,
		  0);
	phase_can(l, up && n->a.mode == AGENT_RECALLED && !word_under_way(n), GO, i, 0);
	phase_can(l, up && w->crashes, CRASH, i, 0);
	phase_can(l, n->life == DOWN, RESTART, i, 0);
	phase_can(l, up && w->ended, JOB_OVER, i, 0);
	phase_can(l, n->life == TO_COME && !phase_over(w), JOB_BEGINS, i, 0);
	phase_can(l,
		  n->life == OVER && n->member && !n->told_gone && !w->dead &&
			  w->c.action != ACT_STOP,
		  TOLD_GONE, i, 0);
	phase_can(l, up && !n->a.subscribed, RESUBSCRIBE, i, 0);
}
