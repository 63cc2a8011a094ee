/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every order of events, each state once. */
#include "tests/unit/kit/phase_priv.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const choice_name[] = {
	"action",
	"confirm",
	"timeout",
	"resend",
	"deadline",
	"cancel",
	"another SM",
	"hold over",
	"another SM routes",
	"console dies",
	"console is back",
	"agent joins",
	"agent is not there",
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
	"agent goes where it was told",
	"agent dies",
	"agent restarts",
	"job over",
	"job known to be over",
	"agent subscribes",
	"job begins",
	"somebody asks",
	"somebody answers",
};

#define UNDER_WAY (-1.0f)

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
		[MUTANT_BLAND] = "another's tables for the old ones",
		[MUTANT_UNLOOKED] = "late jobs not looked for",
		[MUTANT_UNINVITED] = "who joins is not asked",
		[MUTANT_OBEYS_ANYBODY] = "agents obey anybody",
		[MUTANT_HEARS_ANYBODY] = "anybody answers for an agent",
		[MUTANT_HASTY] = "whoever is called back by anybody returns at once",
	};

	return name[m];
}

static void take_as_is(struct world *w, struct explorer *x, const struct step *s)
{
	if (s->choice <= NOT_THERE)
		phase_coordinator_choice(w, x, s);
	else if (s->choice >= NOTICE && s->choice <= ANSWER_LOST)
		phase_message_choice(w, x, s);
	else
		phase_node_choice(w, x, s);
}

static void take(struct world *w, const struct world *was, struct explorer *x, const struct step *s)
{
	*w = *was;
	take_as_is(w, x, s);
	if (!phase_orderly(x->m))
		return;
	phase_check_growth(w, was, x->m);
	phase_remove_void(w, x->m);
	if (x->m->doubled && phase_ordinal(x->m))
		phase_check_double(w, was, s);
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

static void note(struct explorer *x, const struct world *w, const struct step *s)
{
	uint32_t during = w->dead ? 0 : 1u << w->c.action;
	bool stays = x->m->doubled && phase_ordinal(x->m);
	struct phase_found *f = x->out;

	f->actions |= during;
	switch (s->choice) {
	case SM:
		f->sms++;
		f->sm_in |= during;
		return;
	case OTHER_ROUTES:
		f->others++;
		f->other_in |= during;
		return;
	case DEATH:
		f->deaths++;
		f->death_in |= during;
		return;
	case JOIN:
		f->joined++;
		f->joined_in |= during;
		return;
	case JOB_BEGINS:
		f->begun_in |= during;
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

static bool visit(struct explorer *x, struct world *w, double *runs, uint32_t *longest);

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

		phase_check_end(&last, x);
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
	return !w->sms && !w->crashes && !w->ended && !w->hooks && !w->doubled && phase_apart(w, m);
}

static bool visit_choices(struct explorer *x, const struct world *w, double *runs,
			  uint32_t *longest)
{
	struct choices l = { .n = 0 };

	phase_coordinator_choices(&l, w, x->m);
	for (unsigned i = 0; i < x->m->nagents; i++) {
		phase_node_choices(&l, w, x->m, i);
		if (x->m->hostile)
			phase_forge(&l, w, x, i);
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
		n->told_gone = n->member = n->named = n->wet = 0;
		if (n->life == TO_COME)
			n->life = OVER;
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
	phase_check_tables(w, x);
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
	bool home = phase_reduced(x->m) && phase_apart(w, x->m), split = home && x->m->nagents > 1,
	     ok;
	struct seen *s, key;

	*runs = *longest = 0;
	if (w->wrong || x->depth == MAXPATH) {
		tell(x, w->wrong ? w->wrong : "a run without an end");
		return false;
	}
	if (!phase_over(w))
		phase_look(x, w);
	else if (x->m == x->whole)
		phase_check_told(w, x->m);
	if (w->wrong) {
		tell(x, w->wrong);
		return false;
	}
	if (home)
		strip(w, x->m);
	phase_key_of(&key, w, x->m);
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
	w->doubled = phase_ordinal(m) ? 0 : (uint8_t)m->doubled;
	w->faults = (uint8_t)m->faults;
	w->hooks = (uint8_t)m->hooks;
	w->crashes = (uint8_t)m->crashes;
	w->ended = (uint8_t)m->ended;
	w->deaths = (uint8_t)m->deaths;
	w->cancels = (uint8_t)m->cancels;
	w->sms = (uint8_t)m->sms;
	w->others = (uint8_t)m->others;
	w->holds = (uint8_t)m->holds;
	w->forgeries = (uint8_t)(m->callbacks ? m->callbacks : m->hostile);
	for (unsigned i = 0; i < m->nagents; i++) {
		struct node *n = &w->n[i];

		agent_state_init(&n->a, NULL);
		n->a.subscribed = true;
		n->member = i + m->late < m->nagents;
		n->life = n->member ? UP : TO_COME;
		n->asks = (uint8_t)m->asks;
		if (!m->earlier)
			continue;
		n->a.txn = TXN_EARLIER;
		n->a.seq = 2;
		n->a.want = PHASE_REPATH;
		n->earlier_notices = 1 << 3 | 1 << 4; /* to the escape LIDs, and back */
		n->acks[0] = (struct answer){ .slot = 1, .repeat = 1, .earlier = 1 };
	}
	phase_begin(w, m, EV_START);
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
