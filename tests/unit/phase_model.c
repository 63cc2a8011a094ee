/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/phase_model.h"

#include "fabric/base/mem.h"
#include "fabric/update/agent_state.h"
#include "fabric/update/coordinator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES	    3
#define WAVES	    2
#define ACKS	    3	/* of one agent under way at a time; more are lost */
#define SLOTS	    16	/* notices of one process */
#define MAXEV	    160 /* choices in one state */
#define MAXPATH	    1024
#define TXN	    2
#define TXN_EARLIER 1

enum holds { OLD, PARTLY, NEW };
enum life { UP, DOWN, OVER };
enum journal { ABSENT, OPEN, FINAL };

struct answer {
	uint8_t slot, repeat, flags, earlier; /* slot + 1; of an earlier one: its seq */
};

struct node {
	struct agent_state a;
	struct coord_agent known;
	uint64_t notices;	 /* under way, by slot */
	uint8_t earlier_notices; /* by seq */
	uint8_t life, told_gone, asks;
	struct answer acks[ACKS];
};

struct world {
	struct coordinator c;
	struct node n[NODES];
	uint64_t repath; /* slots whose notice is a REPATH */
	uint8_t wave[WAVES];
	uint8_t journal, dead, epoch, held_over;
	uint8_t lost, doubled, faults, hooks, crashes, ended, deaths, cancels, sms, holds;
	const char *wrong;
};

enum choice {
	DO, /* the action under way; arg: not in full */
	CONFIRM,
	TIMEOUT,
	RESEND,
	DEADLINE,
	CANCEL,
	SM,
	HOLD_OVER,
	DEATH, /* arg: in the middle of a write */
	TAKE_OVER,
	HOOK, /* arg: fails */
	NOTICE,
	NOTICE_TWICE,
	NOTICE_LOST,
	EARLIER,
	EARLIER_LOST,
	ANSWER,
	ANSWER_TWICE,
	ANSWER_LOST,
	ASK,
	RETRY,
	SAFETY,
	CRASH,
	RESTART,
	JOB_OVER,
	TOLD_GONE,
	RESUBSCRIBE
};

static const char *const choice_name[] = {
	"action",
	"confirm",
	"timeout",
	"resend",
	"deadline",
	"cancel",
	"another SM",
	"hold over",
	"console dies",
	"console is back",
	"hook ends",
	"notice arrives",
	"notice arrives, once more later",
	"notice lost",
	"earlier notice arrives",
	"earlier notice lost",
	"answer arrives",
	"answer arrives, once more later",
	"answer lost",
	"agent asks",
	"agent tries again",
	"agent leaves",
	"agent dies",
	"agent restarts",
	"job over",
	"job known to be over",
	"agent subscribes",
};

struct step {
	uint8_t choice, node, arg, who; /* who: node, as it is told */
};

/* 80 bits of a hash for each state: among 4e8 states two have the same with probability 1e-7. */
struct seen {
	uint64_t key; /* 0: free */
	float runs;   /* of the states below, log2; UNDER_WAY */
	uint16_t longest, more_key;
};

#define UNDER_WAY (-1.0f)

/* States as a bystander sees them: what the reductions below may not lose one of. */
struct faces {
	uint64_t *v; /* 0: free */
	uint64_t size, n;
};

struct explorer {
	const struct phase_model *m, *whole;
	struct phase_found *out;
	struct seen *table;
	uint64_t size;
	struct faces faces;
	unsigned first; /* node 0 is this one */
	struct step path[MAXPATH];
	unsigned depth;
};

const char *phase_mutant_name(enum phase_mutant m)
{
	static const char *const name[MUTANTS] = {
		[MUTANT_NONE] = "none",
		[MUTANT_ACK_SEQ] = "answers of any sequence",
		[MUTANT_ACK_TXN] = "answers of any transaction",
		[MUTANT_NOTICE_SEQ] = "notices of any sequence",
		[MUTANT_NOTICE_TXN] = "notices of any transaction",
		[MUTANT_EPOCH] = "numbers used again",
		[MUTANT_UNSAVED] = "agent forgets",
		[MUTANT_EARLY_ACK] = "answer before drained",
		[MUTANT_NO_HOLD] = "agent leaves early",
		[MUTANT_NO_REPATH] = "nobody called back",
		[MUTANT_BLIND_READ] = "blind read-back",
		[MUTANT_NO_JOURNAL] = "written without a journal",
		[MUTANT_UNASKED] = "takes over and asks nobody",
		[MUTANT_TRUSTING] = "silent means drained",
	};

	return name[m];
}

/* The agents' records live beside the agents, so that a world can be copied. */
static struct coordinator *bring(struct world *w, const struct phase_model *m,
				 struct coord_agent *known)
{
	for (unsigned i = 0; i < m->nagents; i++)
		known[i] = w->n[i].known;
	w->c.drain.agents = known;
	return &w->c;
}

static void put(struct world *w, const struct phase_model *m, const struct coord_agent *known)
{
	for (unsigned i = 0; i < m->nagents; i++)
		w->n[i].known = known[i];
	w->c.drain.agents = NULL;
}

static void feed(struct world *w, const struct phase_model *m, enum coord_event ev)
{
	struct coord_agent known[NODES];
	uint32_t first = w->c.first_seq;

	if (m->mutant == MUTANT_NO_REPATH && w->c.action == ACT_READ_BACK)
		w->c.asked = PHASE_NONE;
	coordinator_step(bring(w, m, known), ev);
	put(w, m, known);
	if (w->c.first_seq != first && w->c.asked == PHASE_UNPATH)
		w->held_over = 0;
}

static unsigned slot_of(uint32_t seq)
{
	return (seq >> 16) * SLOTS + (seq & 0xffff) - 1;
}

static uint32_t seq_of(unsigned slot)
{
	return (uint32_t)(slot / SLOTS << 16 | (slot % SLOTS + 1));
}

static bool over(const struct world *w)
{
	if (w->dead)
		return w->journal != OPEN;
	return w->c.action == ACT_STOP && w->c.outcome != OUTCOME_INCOMPLETE;
}

static void spread(struct world *w, const struct phase_model *m, const struct phase_notice *n)
{
	unsigned slot = slot_of(n->seq);

	if (n->txn == TXN && (slot >= 64 || (n->seq & 0xffff) > SLOTS)) {
		w->wrong = "notices without an end";
		return;
	}
	if (n->txn == TXN && n->phase == PHASE_REPATH)
		w->repath |= 1ull << slot;
	for (unsigned i = 0; i < m->nagents; i++) {
		if (w->n[i].life == OVER || !w->n[i].a.subscribed)
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
		const struct node *n = &w->n[i];

		if (n->life == OVER || n->a.mode == AGENT_ESCAPE)
			continue;
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
		if (w->wave[i] == OLD)
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
	if ((o == OUTCOME_REFUSED || o == OUTCOME_ROLLED_BACK) && !all_waves(w, m, OLD))
		w->wrong = "ended without confirmation, but the tables are not the old ones";
	if (o != OUTCOME_INCOMPLETE && w->journal == OPEN)
		w->journal = FINAL;
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
		spread(w, x->m, &n);
		return true;
	case ACT_WRITE:
	case ACT_WRITE_BACK:
		write_waves(w, x, in_full);
		return true;
	case ACT_READ:
		return w->wave[w->c.wave] == NEW || x->m->mutant == MUTANT_BLIND_READ;
	case ACT_SCAN:
	case ACT_READ_BACK:
		return all_waves(w, x->m, OLD);
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
	if (writing_now)
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

static void begin(struct world *w, const struct phase_model *m, enum coord_event ev)
{
	struct coord_drain d = {
		.nagents = m->nagents,
		.txn = TXN,
		.epoch = w->epoch,
		.max_sends = m->max_sends,
		.without_silent = m->without_silent,
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
	begin(w, m, EV_RECOVER);
	w->c.drained = m->mutant == MUTANT_UNASKED;
}

/* Numbers only grow, and notices mean what they say: not with each of the mistakes. */
static bool orderly(const struct phase_model *m)
{
	switch (m->mutant) {
	case MUTANT_NONE:
	case MUTANT_EARLY_ACK:
	case MUTANT_NO_HOLD:
	case MUTANT_BLIND_READ:
	case MUTANT_NO_JOURNAL:
	case MUTANT_UNASKED:
	case MUTANT_TRUSTING:
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
 *   ordinal() below.
 * .literal does without; that both show a bystander the same is what a test compares. */
static bool reduced(const struct phase_model *m)
{
	return orderly(m) && !m->literal && m->lost == LOST_ANY;
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
static bool ordinal(const struct phase_model *m)
{
	return reduced(m) && !m->asks;
}

/* What agent_state_init() will make of it. */
static void forget(struct node *n)
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
	n->acks[k].slot = (uint8_t)(n->acks[k].earlier ? n->a.seq : slot_of(n->a.seq) + 1);
	n->acks[k].repeat = (uint8_t)n->a.repeat;
	n->acks[k].flags = flags;
}

static void agent_acts(struct node *n, unsigned mask, const struct phase_model *m)
{
	n->a.aborted = false; /* tells the hooks, moves nothing */
	if (mask & AGENT_ACK)
		send_ack(n, (uint8_t)n->a.flags);
	n->a.flags = 0;
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
		.seq = early ? k->slot : seq_of(k->slot - 1u),
		.txn = early ? TXN_EARLIER : TXN,
		.phase = PHASE_UNPATH,
	};
	struct coord_agent known[NODES];

	if (early ? k->slot > 3 : w->repath >> (k->slot - 1) & 1)
		n.phase = PHASE_REPATH;
	if (over(w) && k->flags & NOTICE_ASK) {
		if (coordinator_answer(&reply, w->dead ? NULL : &w->c, &n))
			spread(w, m, &reply);
		return;
	}
	if (w->dead)
		return;
	if (m->mutant == MUTANT_ACK_TXN)
		n.txn = TXN;
	if (m->mutant == MUTANT_ACK_SEQ && n.txn == TXN)
		n.seq = w->c.seq;
	coordinator_ack(bring(w, m, known), i, &n);
	put(w, m, known);
}

static void remove_ack(struct node *n, unsigned k)
{
	memmove(&n->acks[k], &n->acks[k + 1], (ACKS - 1 - k) * sizeof(*n->acks));
	memset(&n->acks[ACKS - 1], 0, sizeof(*n->acks));
}

static void coordinator_choice(struct world *w, struct explorer *x, const struct step *s)
{
	static const enum coord_event event[] = {
		[CONFIRM] = EV_CONFIRM,	    [TIMEOUT] = EV_TIMEOUT, [RESEND] = EV_RESEND,
		[DEADLINE] = EV_DEADLINE,   [CANCEL] = EV_CANCEL,   [SM] = EV_SM,
		[HOLD_OVER] = EV_HOLD_OVER,
	};

	switch (s->choice) {
	case DO:
		w->faults -= s->arg;
		feed(w, x->m, act(w, x, !s->arg) ? EV_DONE : EV_FAILED);
		return;
	case DEATH:
		die(w, x, s->arg);
		return;
	case TAKE_OVER:
		take_over(w, x->m);
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
	case SM:
		w->sms--;
		for (unsigned i = 0; i < x->m->nagents && !reduced(x->m); i++)
			agent_state_step(&w->n[i].a, AGENT_EV_SM);
		break;
	default:
		break;
	}
	if (!w->dead)
		feed(w, x->m, event[s->choice]);
}

static void message_choice(struct world *w, struct explorer *x, const struct step *s)
{
	struct node *n = &w->n[s->node];
	struct answer k = n->acks[s->choice >= ANSWER ? s->arg : 0];
	bool early = s->choice == EARLIER;
	struct phase_notice notice = {
		.version = PHASE_NOTICE_VERSION,
		.seq = early ? s->arg : seq_of(s->arg),
		.txn = early ? TXN_EARLIER : TXN,
		.phase = (early ? s->arg > 3 : w->repath >> s->arg & 1) ? PHASE_REPATH
									: PHASE_UNPATH,
	};

	bool stays = x->m->doubled && ordinal(x->m);

	w->doubled -= s->choice == NOTICE_TWICE || s->choice == ANSWER_TWICE;
	if (s->choice == NOTICE_LOST || s->choice == EARLIER_LOST || s->choice == ANSWER_LOST)
		w->lost -= x->m->lost != LOST_ANY;
	if ((s->choice == NOTICE && !stays) || s->choice == NOTICE_LOST)
		n->notices &= ~(1ull << s->arg);
	if (s->choice == EARLIER || s->choice == EARLIER_LOST)
		n->earlier_notices &= (uint8_t) ~(1u << s->arg);
	if ((s->choice == ANSWER && !stays) || s->choice == ANSWER_LOST)
		remove_ack(n, s->arg);
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

static void node_choice(struct world *w, struct explorer *x, const struct step *s)
{
	struct node *n = &w->n[s->node];
	struct coord_agent known[NODES];
	enum agent_event ev = AGENT_EV_TIMEOUT;

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
	case CRASH:
		w->crashes--;
		n->life = DOWN;
		if (reduced(x->m))
			forget(n);
		return;
	case RESTART:
		restart(n, x->m);
		return;
	case JOB_OVER:
		w->ended--;
		n->life = OVER;
		n->notices = n->earlier_notices = 0;
		memset(&n->a, 0, sizeof(n->a));
		return;
	case TOLD_GONE:
		n->told_gone = 1;
		coordinator_gone(bring(w, x->m, known), s->node);
		put(w, x->m, known);
		return;
	case RESUBSCRIBE:
		ev = AGENT_EV_SUBSCRIBED;
		break;
	default:
		break;
	}
	agent_acts(n, agent_state_step(&n->a, ev), x->m);
}

/* A message that is void now, and will be: numbers only grow.  Taking it away at once leaves
 * out nothing but its idle presence, and stands for its loss as well. */
static bool answer_void(const struct world *w, const struct node *n, const struct answer *k)
{
	uint32_t seq;

	if (k->flags & NOTICE_ASK)
		return false;
	if (k->earlier || w->dead || over(w) || n->known.state == COORD_GONE)
		return true;
	seq = seq_of(k->slot - 1u);
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
			remove_ack(n, k - 1);
		else
			k++;
}

static void remove_void(struct world *w, const struct phase_model *m)
{
	for (unsigned i = 0; i < m->nagents; i++) {
		struct node *n = &w->n[i];
		unsigned k = 0;

		if (n->a.txn == TXN) {
			n->notices &= ~0ull << slot_of(n->a.seq) << 1;
			n->earlier_notices = 0;
		} else {
			n->earlier_notices &= (uint8_t)(~0u << n->a.seq << 1);
		}
		while (k < ACKS && n->acks[k].slot)
			if (answer_void(w, n, &n->acks[k]))
				remove_ack(n, k);
			else
				k++;
		if (ordinal(m))
			sort_answers(n);
	}
}

/* The message that came is still there: once more it would change something. */
static void check_double(struct world *w, const struct world *was, const struct step *s)
{
	const struct answer *k = &was->n[s->node].acks[s->choice == ANSWER ? s->arg : 0];
	const struct node *n = &w->n[s->node];

	if (s->choice == NOTICE && n->notices >> s->arg & 1)
		w->wrong = "a notice that came twice counts twice";
	for (unsigned i = 0; s->choice == ANSWER && i < ACKS; i++)
		if (n->acks[i].slot && !answer_order(&n->acks[i], k))
			w->wrong = "an answer that came twice counts twice";
}

/* What remove_void() builds on. */
static void check_growth(struct world *w, const struct world *was, const struct phase_model *m)
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

static void take_as_is(struct world *w, struct explorer *x, const struct step *s)
{
	if (s->choice <= TAKE_OVER)
		coordinator_choice(w, x, s);
	else if (s->choice >= NOTICE && s->choice <= ANSWER_LOST)
		message_choice(w, x, s);
	else
		node_choice(w, x, s);
}

static void take(struct world *w, const struct world *was, struct explorer *x, const struct step *s)
{
	*w = *was;
	take_as_is(w, x, s);
	if (!orderly(x->m))
		return;
	check_growth(w, was, x->m);
	remove_void(w, x->m);
	if (x->m->doubled && ordinal(x->m))
		check_double(w, was, s);
}

struct choices {
	struct step v[MAXEV];
	unsigned n;
};

static void can(struct choices *l, bool allowed, enum choice c, unsigned node, unsigned arg)
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

static void coordinator_choices(struct choices *l, const struct world *w,
				const struct phase_model *m)
{
	enum coord_action a = w->c.action;
	bool acts = !w->dead && a != ACT_WAIT && a != ACT_AWAIT && a != ACT_STOP;
	bool alive = !w->dead && a != ACT_STOP;
	bool asked = !w->dead && a == ACT_AWAIT;

	can(l, acts, DO, 0, 0);
	can(l, acts && w->faults && can_fail(w), DO, 0, 1);
	can(l, !w->dead && a == ACT_WAIT, CONFIRM, 0, 0);
	can(l, !w->dead && a == ACT_WAIT, TIMEOUT, 0, 0);
	can(l, asked && w->c.sends < m->max_sends, RESEND, 0, 0);
	can(l, asked, DEADLINE, 0, 0);
	can(l, alive && w->cancels, CANCEL, 0, 0);
	can(l, w->sms, SM, 0, 0);
	can(l, alive && w->holds && w->c.drained, HOLD_OVER, 0, 0);
	can(l, alive && w->deaths, DEATH, 0, 0);
	can(l, alive && w->deaths && (a == ACT_WRITE || a == ACT_WRITE_BACK), DEATH, 0, 1);
	can(l, w->dead ? w->journal == OPEN : a == ACT_STOP && !over(w), TAKE_OVER, 0, 0);
}

/* Its patience is longer than hold_s, which the coordinator counts from before it asked. */
static bool may_leave(const struct world *w, const struct phase_model *m, const struct node *n)
{
	if (n->life != UP || n->a.mode != AGENT_ESCAPE)
		return false;
	if (m->mutant == MUTANT_NO_HOLD || over(w))
		return true;
	if (w->dead)
		return m->safety;
	if (w->c.action == ACT_WRITE || w->c.action == ACT_WRITE_BACK)
		return false;
	return m->safety && (w->held_over || n->a.seq < w->c.first_seq);
}

static void node_choices(struct choices *l, const struct world *w, const struct phase_model *m,
			 unsigned i)
{
	const struct node *n = &w->n[i];
	bool up = n->life == UP;
	bool lost =
		w->lost && (!orderly(m) || over(w)); /* before: as late as it takes to be void */
	bool lands = up || !reduced(m);

	for (unsigned s = 0; n->notices >> s && s < 64; s++) {
		bool here = n->notices >> s & 1;

		can(l, here && lands, NOTICE, i, s);
		can(l, here && up && w->doubled, NOTICE_TWICE, i, s);
		can(l, here && lost, NOTICE_LOST, i, s);
	}
	for (unsigned s = 0; s < 8; s++) {
		can(l, n->earlier_notices >> s & 1 && lands, EARLIER, i, s);
		can(l, n->earlier_notices >> s & 1 && lost, EARLIER_LOST, i, s);
	}
	for (unsigned k = 0; k < ACKS && n->acks[k].slot; k++) {
		can(l, true, ANSWER, i, k);
		can(l, w->doubled, ANSWER_TWICE, i, k);
		can(l, lost, ANSWER_LOST, i, k);
	}
	can(l, up && agent_state_busy(&n->a), HOOK, i, 0);
	can(l, up && agent_state_busy(&n->a) && w->hooks, HOOK, i, 1);
	can(l, up && n->asks && n->a.mode == AGENT_ESCAPE, ASK, i, 0);
	can(l, up && n->a.mode == AGENT_MIXED, RETRY, i, 0);
	can(l, may_leave(w, m, n) && (m->safety || m->mutant == MUTANT_NO_HOLD), SAFETY, i, 0);
	can(l, up && w->crashes, CRASH, i, 0);
	can(l, n->life == DOWN, RESTART, i, 0);
	can(l, up && w->ended, JOB_OVER, i, 0);
	can(l, n->life == OVER && !n->told_gone && !w->dead && w->c.action != ACT_STOP, TOLD_GONE,
	    i, 0);
	can(l, up && !n->a.subscribed, RESUBSCRIBE, i, 0);
}

static void check_tables(struct world *w, struct explorer *x)
{
	bool confirmed = !w->dead && w->c.outcome == OUTCOME_CONFIRMED;

	if (!over(w))
		w->wrong = "nothing more happens, and it is not over";
	else if (!all_waves(w, x->m, confirmed ? NEW : OLD))
		w->wrong = "the tables are neither the old nor the new ones";
	x->out->confirmed += confirmed;
	x->out->refused += !w->dead && w->c.outcome == OUTCOME_REFUSED;
	x->out->back += !w->dead && w->c.outcome == OUTCOME_ROLLED_BACK;
}

/* Nothing more happens by itself. */
static void check_end(struct world *w, struct explorer *x)
{
	if (x->m == x->whole)
		check_tables(w, x);
	for (unsigned i = 0; i < x->m->nagents; i++)
		if (w->n[i].life == UP && w->n[i].a.mode != AGENT_BASE)
			w->wrong = "an agent was left behind";
	x->out->home += x->m->nagents;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

#define NODE_WORDS  6
#define WORLD_WORDS 7

static bool before(const uint64_t *a, const uint64_t *b, unsigned n)
{
	while (--n && *a == *b)
		a++, b++;
	return *a < *b;
}

/* By value, of n words each: a handful. */
static void sort(uint64_t *v, unsigned count, unsigned n)
{
	uint64_t t[NODE_WORDS];

	for (unsigned i = 1; i < count; i++)
		for (unsigned k = i; k && before(v + k * n, v + (k - 1) * n, n); k--) {
			memcpy(t, v + k * n, n * sizeof(*v));
			memcpy(v + k * n, v + (k - 1) * n, n * sizeof(*v));
			memcpy(v + (k - 1) * n, t, n * sizeof(*v));
		}
}

static void answers_of(uint64_t p[2], const struct node *n, const struct phase_model *m)
{
	uint64_t ack[ACKS];
	uint32_t word;

	for (unsigned k = 0; k < ACKS; k++) {
		memcpy(&word, &n->acks[k], sizeof(word));
		ack[k] = word;
	}
	if (reduced(m))
		sort(ack, ACKS, 1);
	p[0] = ack[0] << 32 | ack[1];
	p[1] = ack[2];
}

/* Nothing that an agent does reaches another one any more. */
static bool apart(const struct world *w, const struct phase_model *m)
{
	if (!orderly(m) || !over(w))
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
static bool present(const struct world *w, uint32_t seq)
{
	return !w->dead && !over(w) && seq >= w->c.first_seq;
}

/* node_words() of who compares numbers only. */
static void ordinal_words(uint64_t *p, const struct node *n, const struct world *w)
{
	const struct agent_state *a = &n->a;
	bool now = a->txn == TXN && present(w, a->seq);
	uint64_t under_way = 1, answers = 1;

	for (unsigned s = 0; n->notices >> s && s < 64; s++)
		if (n->notices >> s & 1)
			under_way =
				under_way << 2 | (w->repath >> s & 1) << 1 | present(w, seq_of(s));
	for (unsigned k = 0; k < ACKS && n->acks[k].slot; k++)
		answers = answers << 1 | !!(n->acks[k].flags & NOTICE_FAILED);
	p[0] = under_way;
	p[1] = answers << 32 | (uint64_t)n->known.without << 8 | n->known.state;
	p[2] = a->txn << 32 | (a->txn == TXN ? now : a->seq);
	p[3] = (uint64_t)a->mode | (uint64_t)a->want << 8 | (uint64_t)a->failed << 16 |
	       (uint64_t)a->subscribed << 17 | (uint64_t)n->life << 18 |
	       (uint64_t)n->told_gone << 20 | (uint64_t)n->earlier_notices << 24;
}

static void node_words(uint64_t *p, const struct node *n, const struct phase_model *m)
{
	const struct agent_state *a = &n->a;

	answers_of(p, n, m);
	p[2] = n->notices;
	p[3] = a->txn << 32 | a->seq;
	p[4] = (uint64_t)a->mode | (uint64_t)a->want << 8 | (uint64_t)a->failed << 16 |
	       (uint64_t)a->subscribed << 17 | (uint64_t)n->life << 18 |
	       (uint64_t)n->told_gone << 20 | (uint64_t)n->asks << 21 |
	       (uint64_t)n->earlier_notices << 24 | (uint64_t)a->repeat << 32;
	p[5] = (uint64_t)n->known.seq << 32 | (uint64_t)n->known.repeat << 16 |
	       (uint64_t)n->known.without << 8 | n->known.state;
}

static void coordinator_words(uint64_t *v, const struct world *w)
{
	const struct coordinator *c = &w->c;

	v[0] = (uint64_t)c->phase | (uint64_t)c->action << 8 | (uint64_t)c->wave << 16 |
	       (uint64_t)c->tries << 24 | (uint64_t)c->outcome << 32 | (uint64_t)c->asked << 40 |
	       (uint64_t)c->sends << 48 | (uint64_t)c->pending << 56;
	v[1] = (uint64_t)c->seq << 32 | c->first_seq;
	v[2] = c->touched | c->journalled << 1 | c->cancelled << 2 | c->drained << 3 |
	       w->dead << 4 | w->held_over << 5 | w->journal << 6 | w->epoch << 8;
}

/* Sends count while a question may be sent again. */
static void ordinal_coordinator(uint64_t *v, const struct world *w)
{
	bool asks = w->c.action == ACT_NOTIFY || w->c.action == ACT_AWAIT;

	v[0] &= asks ? ~0ull : ~(0xffull << 48);
	v[1] = 0;
	v[2] &= 0xff;
	v[3] = 0;
}

/* All that decides what can come, and nothing else; which agent is which does not matter. */
static void key_of(struct seen *key, const struct world *w, const struct phase_model *m)
{
	uint64_t v[WORLD_WORDS + NODES * NODE_WORDS] = { 0 }, k[2] = { 1, 2 };
	unsigned len = WORLD_WORDS + NODE_WORDS * m->nagents;

	for (unsigned i = 0; i < m->nagents; i++)
		if (ordinal(m))
			ordinal_words(v + WORLD_WORDS + NODE_WORDS * i, &w->n[i], w);
		else
			node_words(v + WORLD_WORDS + NODE_WORDS * i, &w->n[i], m);
	sort(v + WORLD_WORDS, m->nagents, NODE_WORDS);
	coordinator_words(v, w);
	v[3] = w->repath;
	memcpy(&v[4], w->wave, sizeof(w->wave));
	memcpy(&v[5], &w->lost, 8);
	v[6] = (uint64_t)m->nagents << 16 | (uint64_t)w->sms << 8 | w->holds;
	if (ordinal(m))
		ordinal_coordinator(v, w);
	for (unsigned i = 0; i < len; i++) {
		k[0] = mix(k[0], v[i]);
		k[1] = mix(k[1] + i, v[i] << 32 | v[i] >> 32);
	}
	*key = (struct seen){ .key = k[0] ? k[0] : 1, .more_key = (uint16_t)(k[1] >> 48) };
}

static struct seen *find(const struct explorer *x, const struct seen *key)
{
	uint64_t i = key->key & (x->size - 1);
	const struct seen *s = &x->table[i];

	while (s->key && (s->key != key->key || s->more_key != key->more_key)) {
		i = (i + 1) & (x->size - 1);
		s = &x->table[i];
	}
	return &x->table[i];
}

static void grow(struct explorer *x)
{
	struct seen *old = x->table;
	uint64_t n = x->size;

	x->size = n * 2;
	x->table = xcalloc(x->size, sizeof(*x->table));
	for (uint64_t i = 0; i < n; i++)
		if (old[i].key)
			*find(x, &old[i]) = old[i];
	free(old);
}

static void add_face(struct faces *f, uint64_t face)
{
	uint64_t i = face & (f->size - 1);

	while (f->v[i] && f->v[i] != face)
		i = (i + 1) & (f->size - 1);
	if (f->v[i])
		return;
	f->v[i] = face;
	f->n++;
}

/* Phase, action, tables and journal, and of each agent where its queue pairs are and what the
 * coordinator believes. */
static void look(struct explorer *x, const struct world *w)
{
	struct faces *f = &x->faces, old = *f;
	uint64_t node[NODES] = { 0 }, h = 3;

	for (unsigned i = 0; i < x->m->nagents; i++) {
		struct node n = w->n[i];

		if (n.life == DOWN)
			forget(&n);
		node[i] = (uint64_t)n.a.mode | (uint64_t)n.life << 8 | (uint64_t)n.a.want << 16 |
			  (uint64_t)n.known.state << 24 | (uint64_t)n.known.without << 32;
	}
	sort(node, x->m->nagents, 1);
	for (unsigned i = 0; i < x->m->nagents; i++)
		h = mix(h, node[i]);
	h = mix(h, (uint64_t)w->c.phase | (uint64_t)w->c.action << 8 | (uint64_t)w->c.wave << 16 |
			   (uint64_t)w->c.outcome << 24 | (uint64_t)w->dead << 40 |
			   (uint64_t)w->journal << 48);
	h = mix(h, (uint64_t)w->wave[0] | (uint64_t)w->wave[1] << 8);
	if (old.n * 2 > old.size) {
		*f = (struct faces){ .size = old.size * 2 };
		f->v = xcalloc(f->size, sizeof(*f->v));
		for (uint64_t i = 0; i < old.size; i++)
			if (old.v[i])
				add_face(f, old.v[i]);
		free(old.v);
	}
	add_face(f, h ? h : 1);
}

static void tell(struct explorer *x, const char *wrong)
{
	size_t len = 0;
	struct phase_found *f = x->out;

	f->wrong = wrong;
	for (unsigned i = 0; i < x->depth && len + 64 < sizeof(f->trace); i++) {
		const struct step *s = &x->path[i];

		len += (size_t)snprintf(f->trace + len, sizeof(f->trace) - len, "%s, %u, %u\n",
					choice_name[s->choice], s->who, s->arg);
	}
}

static bool visit(struct explorer *x, struct world *w, double *runs, uint32_t *longest);

static void note(struct explorer *x, const struct world *w, const struct step *s)
{
	uint32_t during = w->dead ? 0 : 1u << w->c.action;
	bool stays = x->m->doubled && ordinal(x->m);
	struct phase_found *f = x->out;

	f->actions |= during;
	switch (s->choice) {
	case SM:
		f->sms++;
		f->sm_in |= during;
		return;
	case DEATH:
		f->deaths++;
		f->death_in |= during;
		return;
	case CRASH:
		f->crashes++;
		f->crash_in |= during;
		return;
	case NOTICE_LOST:
	case ANSWER_LOST:
	case EARLIER_LOST:
		f->lost++;
		return;
	case NOTICE:
		f->doubled += stays;
		return;
	case NOTICE_TWICE:
		f->doubled++;
		return;
	case ANSWER_TWICE:
	case ANSWER:
		f->doubled += stays || s->choice == ANSWER_TWICE;
		f->late += w->n[s->node].known.state == COORD_SILENT;
		return;
	default:
		return;
	}
}

static bool visit_all(struct explorer *x, const struct world *w, const struct choices *l,
		      double *runs, uint32_t *longest)
{
	bool ends = true;

	for (unsigned i = 0; i < l->n; i++) {
		struct world next;
		double below;
		uint32_t more;

		x->path[x->depth] = l->v[i];
		x->path[x->depth++].who = (uint8_t)(l->v[i].node + x->first);
		note(x, w, &l->v[i]);
		take(&next, w, x, &l->v[i]);
		x->out->steps++;
		if (!visit(x, &next, &below, &more))
			return false;
		x->depth--;
		*runs += below;
		if (more + 1 > *longest)
			*longest = more + 1;
		ends = ends && l->v[i].choice == RESTART;
	}
	if (ends) { /* also when who is down stays down */
		struct world last = *w;

		check_end(&last, x);
		if (last.wrong) {
			tell(x, last.wrong);
			return false;
		}
		*runs += 1;
	}
	return true;
}

/* One order between them will do. */
static bool alone(const struct world *w, const struct phase_model *m)
{
	return !w->sms && !w->crashes && !w->ended && !w->hooks && !w->doubled && apart(w, m);
}

static bool visit_choices(struct explorer *x, const struct world *w, double *runs,
			  uint32_t *longest)
{
	struct choices l = { .n = 0 };

	coordinator_choices(&l, w, x->m);
	for (unsigned i = 0; i < x->m->nagents; i++) {
		node_choices(&l, w, x->m, i);
		if (l.n && l.v[l.n - 1].choice != RESTART && alone(w, x->m))
			break;
	}
	return visit_all(x, w, &l, runs, longest);
}

/* Of a world that is over: what an agent's way home depends on. */
static void strip(struct world *w, const struct phase_model *m)
{
	enum outcome o = w->c.outcome;

	memset(&w->c, 0, sizeof(w->c));
	w->c.action = ACT_STOP;
	w->c.outcome = o;
	w->epoch = w->held_over = w->faults = w->deaths = w->cancels = w->holds = 0;
	for (unsigned i = 0; i < m->nagents; i++) {
		struct node *n = &w->n[i];

		memset(&n->known, 0, sizeof(n->known));
		n->told_gone = 0;
		n->a.repeat = 0;
		w->repath &= m->nagents == 1 ? n->notices : ~0ull;
	}
}

/* The run ends here; where each agent ends is seen of each alone. */
static bool visit_apart(struct explorer *x, struct world *w, double *runs, uint32_t *longest)
{
	const struct phase_model *m = x->m;
	struct phase_model one = *m;
	bool ok = true;

	one.nagents = 1;
	check_tables(w, x);
	for (unsigned i = 0; i < m->nagents && ok && !w->wrong; i++) {
		struct world home = *w;
		double below;
		uint32_t more;

		home.n[0] = w->n[i];
		memset(&home.n[1], 0, sizeof(home.n) - sizeof(*home.n));
		strip(&home, &one);
		x->m = &one;
		x->first = i;
		ok = visit(x, &home, &below, &more);
		x->m = m;
		x->first = 0;
		*longest += more;
	}
	*runs = 1;
	if (w->wrong)
		tell(x, w->wrong);
	return ok && !w->wrong;
}

static bool known_state(struct explorer *x, const struct seen *s, double *runs, uint32_t *longest)
{
	*runs = exp2((double)s->runs);
	*longest = s->longest;
	if (s->runs == UNDER_WAY)
		tell(x, "a run without an end");
	return s->runs != UNDER_WAY;
}

static bool visit(struct explorer *x, struct world *w, double *runs, uint32_t *longest)
{
	bool home = reduced(x->m) && apart(w, x->m), split = home && x->m->nagents > 1, ok;
	struct seen *s, key;

	*runs = *longest = 0;
	if (w->wrong || x->depth == MAXPATH) {
		tell(x, w->wrong ? w->wrong : "a run without an end");
		return false;
	}
	if (!over(w))
		look(x, w);
	if (home)
		strip(w, x->m);
	key_of(&key, w, x->m);
	s = find(x, &key);
	if (s->key)
		return known_state(x, s, runs, longest);
	if (x->m->max_states && x->out->states == x->m->max_states) {
		x->out->complete = false;
		return true;
	}
	*s = key;
	s->runs = UNDER_WAY;
	if (++x->out->states * 5 > x->size * 4)
		grow(x);
	ok = split ? visit_apart(x, w, runs, longest) : visit_choices(x, w, runs, longest);
	if (!ok)
		return false;
	s = find(x, &key);
	s->runs = (float)log2(*runs);
	s->longest = (uint16_t)*longest;
	return true;
}

static void first_world(struct world *w, const struct phase_model *m)
{
	memset(w, 0, sizeof(*w));
	w->lost = (uint8_t)m->lost;
	w->doubled = ordinal(m) ? 0 : (uint8_t)m->doubled;
	w->faults = (uint8_t)m->faults;
	w->hooks = (uint8_t)m->hooks;
	w->crashes = (uint8_t)m->crashes;
	w->ended = (uint8_t)m->ended;
	w->deaths = (uint8_t)m->deaths;
	w->cancels = (uint8_t)m->cancels;
	w->sms = (uint8_t)m->sms;
	w->holds = (uint8_t)m->holds;
	for (unsigned i = 0; i < m->nagents; i++) {
		struct node *n = &w->n[i];

		agent_state_init(&n->a, NULL);
		n->a.subscribed = true;
		n->asks = (uint8_t)m->asks;
		if (!m->earlier)
			continue;
		n->a.txn = TXN_EARLIER;
		n->a.seq = 2;
		n->a.want = PHASE_REPATH;
		n->earlier_notices = 1 << 3 | 1 << 4; /* to the escape LIDs, and back */
		n->acks[0] = (struct answer){ .slot = 1, .repeat = 1, .earlier = 1 };
	}
	begin(w, m, EV_START);
}

void phase_model_explore(struct phase_found *out, const struct phase_model *m)
{
	struct explorer *x = xcalloc(1, sizeof(*x));
	struct world w;
	uint32_t longest;

	memset(out, 0, sizeof(*out));
	out->complete = true;
	x->m = x->whole = m;
	x->out = out;
	x->size = 1 << 16;
	while (x->size * 3 < m->expect * 4)
		x->size *= 2;
	x->faces.size = 1 << 12;
	x->faces.v = xcalloc(x->faces.size, sizeof(*x->faces.v));
	x->table = xcalloc(x->size, sizeof(*x->table));
	first_world(&w, m);
	visit(x, &w, &out->runs, &longest);
	out->longest = longest;
	out->faces = x->faces.n;
	for (uint64_t i = 0; i < x->faces.size; i++)
		out->faces_sum += x->faces.v[i];
	out->table_bytes = x->size * sizeof(*x->table);
	free(x->faces.v);
	free(x->table);
	free(x);
}
