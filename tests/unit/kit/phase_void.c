/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What leaves out orders of events, but nothing that can come of them. */
#include "tests/unit/kit/phase_priv.h"

/* Numbers only grow, and notices mean what they say: not with each of the mistakes. */
bool phase_orderly(const struct phase_model *m)
{
	if (m->callbacks)
		return false;
	switch (m->mutant) {
	case MUTANT_NONE:
	case MUTANT_EARLY_ACK:
	case MUTANT_NO_HOLD:
	case MUTANT_BLIND_READ:
	case MUTANT_NO_JOURNAL:
	case MUTANT_UNASKED:
	case MUTANT_TRUSTING:
	case MUTANT_BLAND:
	case MUTANT_UNLOOKED:
	case MUTANT_UNINVITED:
		return true;
	default:
		return false;
	}
}

/* What leaves out orders of events, but nothing that can come of them:
 *
 * - Any message may be late until it is void, or lost when all is over.  So a notice to an agent
 *   that is down need not arrive there, and an agent that a new SM does not know yet is one that
 *   notices do not reach in time.
 * - What a process does not save is gone when it dies, and not when it starts again.
 * - In which order answers under way were given does not matter, for they come in any order.
 * - When all is over and nobody asks, nothing that an agent does reaches another one, and what the
 *   coordinator knew reaches nobody: each finds home alone, with all the trouble that is left.
 *
 * - Numbers are compared and nothing else, so of what is under way only its order counts: see
 *   phase_ordinal() below.
 * .literal does without; that both show a bystander the same is what a test compares. */
bool phase_reduced(const struct phase_model *m)
{
	return phase_orderly(m) && !m->literal && m->lost == LOST_ANY;
}

/* Unless somebody asks, whose number the answer is counted from:
 *
 * - All answers under way that are not void belong to the present question, are newer than the one
 *   that counts, and older than any that the agent will give: which numbers they have does not
 *   matter, and of two neighbours that say the same the older one tells nothing.
 * - Of a notice it matters what it asks, whether that is the present question, and which one is
 * newer.
 * - A message that came is void from then on, so one more of it is void as well.  Instead of a
 *   budget of doubles every message that comes stays where it is, and has to be void. */
bool phase_ordinal(const struct phase_model *m)
{
	return phase_reduced(m) && !m->asks;
}

/* A message that is void now, and will be: numbers only grow.  Taking it away at once leaves
 * out nothing but its idle presence, and stands for its loss as well. */
static bool answer_void(const struct world *w, const struct node *n, const struct answer *k)
{
	uint32_t seq;

	if (k->flags & NOTICE_ASK)
		return false;
	if (k->earlier || w->dead || phase_over(w) || n->known.state == COORD_GONE)
		return true;
	seq = phase_seq_of(k->slot - 1u);
	return seq < w->c.first_seq || seq < n->known.seq ||
	       (seq == n->known.seq && k->repeat <= n->known.repeat);
}

static int answer_order(const struct answer *a, const struct answer *b)
{
	return a->slot != b->slot ? a->slot - b->slot : a->repeat - b->repeat;
}

/* In their order; of neighbours that say the same the newest. */
static void sort_answers(struct node *n)
{
	struct answer t;

	for (unsigned i = 1; i < ACKS && n->acks[i].slot; i++)
		for (unsigned k = i; k && answer_order(&n->acks[k], &n->acks[k - 1]) < 0; k--) {
			t = n->acks[k];
			n->acks[k] = n->acks[k - 1];
			n->acks[k - 1] = t;
		}
	for (unsigned k = 1; k < ACKS && n->acks[k].slot;)
		if (n->acks[k].flags == n->acks[k - 1].flags)
			phase_remove_ack(n, k - 1);
		else
			k++;
}

void phase_remove_void(struct world *w, const struct phase_model *m)
{
	for (unsigned i = 0; i < m->nagents; i++) {
		struct node *n = &w->n[i];
		unsigned k = 0;

		if (n->a.txn == TXN) {
			n->notices &= ~0ull << phase_slot_of(n->a.seq) << 1;
			n->earlier_notices = 0;
		} else {
			n->earlier_notices &= (uint8_t)(~0u << n->a.seq << 1);
		}
		while (k < ACKS && n->acks[k].slot)
			if (answer_void(w, n, &n->acks[k]))
				phase_remove_ack(n, k);
			else
				k++;
		if (phase_ordinal(m))
			sort_answers(n);
	}
}

/* The message that came is still there: once more it would change something. */
void phase_check_double(struct world *w, const struct world *was, const struct step *s)
{
	const struct answer *k = &was->n[s->node].acks[s->choice == ANSWER ? s->arg : 0];
	const struct node *n = &w->n[s->node];

	if (s->choice == NOTICE && n->notices >> s->arg & 1)
		w->wrong = "a notice that came twice counts twice";
	/* who does not listen to it yet */
	for (unsigned i = 0; s->choice == ANSWER && was->n[s->node].member && i < ACKS; i++)
		if (n->acks[i].slot && !answer_order(&n->acks[i], k))
			w->wrong = "an answer that came twice counts twice";
}

/* What phase_remove_void() builds on. */
void phase_check_growth(struct world *w, const struct world *was, const struct phase_model *m)
{
	for (unsigned i = 0; i < m->nagents; i++) {
		const struct agent_state *a = &w->n[i].a, *b = &was->n[i].a;

		if (w->n[i].life != OVER &&
		    (a->txn < b->txn || (a->txn == b->txn && a->seq < b->seq)))
			w->wrong = "an agent went back to an older notice";
	}
	if (!w->dead && !was->dead && w->c.first_seq < was->c.first_seq)
		w->wrong = "the coordinator went back to an older question";
}

/* Nothing that an agent does reaches another one any more. */
bool phase_apart(const struct world *w, const struct phase_model *m)
{
	if (!phase_orderly(m) || !phase_over(w))
		return false;
	for (unsigned i = 0; i < m->nagents; i++) {
		const struct node *n = &w->n[i];

		for (unsigned k = 0; k < ACKS && n->acks[k].slot; k++)
			if (n->acks[k].flags & NOTICE_ASK)
				return false;
		if (n->asks)
			return false;
	}
	return true;
}

/* Of the question that the coordinator waits for answers to, or may yet. */
bool phase_present(const struct world *w, uint32_t seq)
{
	return !w->dead && !phase_over(w) && seq >= w->c.first_seq;
}
