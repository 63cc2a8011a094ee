/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node that means harm: it sends what it likes, straight or through the SM, in whoever's name,
 * and whatever it has recorded.
 *
 * What it can send again, and when, is that of the other messages: all of them may come again at
 *any later moment (doubled), those of an earlier transaction as well (earlier), and any may be
 *lost. Here it says what nobody has said: at every state that is visited, to every agent and in the
 *name of every agent, the questions and answers that would do the most harm.  Whether they are
 *believed:
 *
 * keyed	is for the seal as it is in production: without one, with one of another key, and
 *		with one that was recorded
 * not keyed	is for where it comes from, as notice_port and agent_set have it: not a report of
 *		another LID than the SM's, nor an answer whose port GUID, which the SM fills in, is
 *		none of an agent's.  A question through the SM is believed then: callbacks is how many
 *		of them call a drained agent back, at any moment before all is written.  It says so
 *		and waits, and whoever writes stops when he hears it, in the middle of a write too.
 */
#include "tests/unit/kit/phase_priv.h"

#include "fabric/update/protocol/phase_codec.h"
#include "fabric/update/protocol/phase_seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUID_SM	     1
#define GUID_HOSTILE 99
#define GUID_NODE(i) (10 + (i))
#define LID(guid)    ((uint16_t)((guid)*8))
#define SEEN	     4096
#define FORGED_SEQ   3 /* above the last one: a slot that the coordinator does not use meanwhile */

static struct site_keys *ours, *others;

static struct site_keys *a_key(void)
{
	char dir[] = "/tmp/phase_hostile.XXXXXX", path[64];
	struct site_keys *k = NULL;
	struct err err = { "" };

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/key", dir);
	if (site_key_new(path, &err) || site_keys_load(&k, path, &err)) {
		fprintf(stderr, "phase_hostile: %s\n", err.text);
		abort();
	}
	unlink(path);
	rmdir(dir);
	return k;
}

static void make_keys(void)
{
	if (ours)
		return;
	ours = a_key();
	others = a_key();
}

/* As it arrives: through the SM, which knows the port that it came from. */
static void arrives(struct notice *n, const struct phase_notice *said, bool answer, uint64_t name)
{
	struct notice_sender from = { .lid = LID(name) };

	phase_codec_encode(n, said, answer, &from);
	n->issuer_guid = GUID_HOSTILE;
}

/* Of a notice that was said, by whom it was, the seal. */
static void with_recorded_seal(struct notice *n, bool answer, uint64_t name)
{
	struct phase_notice said = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_REPATH, .seq = 1, .txn = TXN_EARLIER
	};
	struct notice genuine;

	arrives(&genuine, &said, answer, name);
	phase_seal_put(&genuine, name, ours);
	memcpy(n->details + 12, genuine.details + 12, 22);
}

static bool sealed_is_believed(const struct phase_notice *said, bool answer, uint64_t name)
{
	struct notice n;
	bool yes;

	make_keys();
	arrives(&n, said, answer, name);
	yes = !phase_seal_check(&n, ours);
	phase_seal_put(&n, GUID_HOSTILE, others);
	yes |= !phase_seal_check(&n, ours);
	arrives(&n, said, answer, name);
	phase_seal_put(&n, name, others);
	n.issuer_guid = name; /* were the SM wrong about it */
	yes |= !phase_seal_check(&n, ours);
	with_recorded_seal(&n, answer, name);
	yes |= !phase_seal_check(&n, ours);
	n.issuer_guid = GUID_HOSTILE;
	yes |= !phase_seal_check(&n, ours);
	return yes;
}

/* By the SM's account of it, and straight. */
static bool source_is_believed(const struct phase_model *m, bool answer)
{
	bool member = false, from_sm = LID(GUID_HOSTILE) == LID(GUID_SM);

	for (unsigned i = 0; i < m->nagents && answer; i++)
		member |= GUID_NODE(i) == GUID_HOSTILE;
	return from_sm || member;
}

/* The same is asked at many states. */
static bool believed(const struct phase_model *m, const struct phase_notice *said, bool answer,
		     uint64_t name)
{
	static struct {
		struct phase_notice said;
		uint64_t name;
		uint8_t answer, known, yes;
	} seen[SEEN];
	uint32_t at = (said->seq * 31 + said->phase * 7 + said->flags * 3 + said->repeat +
		       (uint32_t)said->txn * 101 + (uint32_t)name * 13 + answer) %
		      SEEN;
	const struct phase_notice *s = &seen[at].said;

	if (!m->keyed)
		return source_is_believed(m, answer);
	if (!seen[at].known || s->seq != said->seq || s->phase != said->phase ||
	    s->flags != said->flags || s->repeat != said->repeat || s->txn != said->txn ||
	    seen[at].name != name || seen[at].answer != answer) {
		seen[at].said = *said;
		seen[at].name = name;
		seen[at].answer = answer;
		seen[at].known = 1;
		seen[at].yes = sealed_is_believed(said, answer, name);
	}
	return seen[at].yes;
}

/* Newest of all: a call back, or a drain that nobody has asked for. */
void phase_forge_question(struct phase_notice *out, const struct world *w, unsigned what)
{
	*out = (struct phase_notice){
		.version = PHASE_NOTICE_VERSION,
		.phase = what & 1 ? PHASE_UNPATH : PHASE_REPATH,
		.seq = w->c.seq + FORGED_SEQ,
		.txn = what & 2 ? TXN + 1 : TXN,
	};
}

/* To the question of now: done, or failed. */
void phase_forge_answer(struct phase_notice *out, const struct world *w, unsigned what)
{
	*out = (struct phase_notice){
		.version = PHASE_NOTICE_VERSION,
		.phase = (uint8_t)(w->c.asked ? w->c.asked : PHASE_UNPATH),
		.flags = what & 1 ? NOTICE_FAILED : 0,
		.repeat = 200,
		.seq = w->c.seq,
		.txn = TXN,
	};
}

/* Through the SM, in its name: to agents without a key as good as the coordinator's. */
static bool calls_back(const struct world *w, const struct phase_model *m, unsigned what)
{
	const struct coordinator *c = &w->c;

	return m->callbacks && !what && c->phase < PHASE_REPATH && c->wave < c->nwaves;
}

void phase_forge(struct choices *l, const struct world *w, struct explorer *x, unsigned i)
{
	const struct phase_model *m = x->m;
	struct phase_notice said;
	bool yes;

	for (unsigned what = 0; what < 4; what++) {
		phase_forge_question(&said, w, what);
		yes = m->mutant == MUTANT_OBEYS_ANYBODY || calls_back(w, m, what) ||
		      believed(m, &said, false, GUID_SM);
		x->out->forged++;
		phase_can(l, yes && w->forgeries && !w->dead && what < 2, FORGED_QUESTION, i, what);
		x->out->believed += yes;
	}
	for (unsigned what = 0; what < 2; what++) {
		phase_forge_answer(&said, w, what);
		yes = m->mutant == MUTANT_HEARS_ANYBODY || believed(m, &said, true, GUID_NODE(i));
		x->out->forged++;
		phase_can(l, yes && w->forgeries && !w->dead && w->n[i].member, FORGED_ANSWER, i,
			  what);
		x->out->believed += yes;
	}
}
