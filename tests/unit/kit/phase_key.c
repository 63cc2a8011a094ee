/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When two states are the same: to the explorer, and to a bystander. */
#include "tests/unit/kit/phase_priv.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define NODE_WORDS  6
#define WORLD_WORDS 7

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

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
	if (phase_reduced(m))
		sort(ack, ACKS, 1);
	p[0] = ack[0] << 32 | ack[1];
	p[1] = ack[2];
}

static uint64_t since(const struct node *n)
{
	return (uint64_t)(n->member | n->named << 1 | n->wet << 2) << 48;
}

/* node_words() of who compares numbers only. */
static void ordinal_words(uint64_t *p, const struct node *n, const struct world *w)
{
	const struct agent_state *a = &n->a;
	bool now = a->txn == TXN && phase_present(w, a->seq);
	uint64_t under_way = 1, answers = 1;

	for (unsigned s = 0; n->notices >> s && s < 64; s++)
		if (n->notices >> s & 1)
			under_way = under_way << 2 | (w->repath >> s & 1) << 1 |
				    phase_present(w, phase_seq_of(s));
	for (unsigned k = 0; k < ACKS && n->acks[k].slot; k++)
		answers = answers << 1 | !!(n->acks[k].flags & NOTICE_FAILED);
	p[0] = under_way;
	p[1] = answers << 32 | (uint64_t)n->known.without << 8 | n->known.state;
	p[2] = a->txn << 32 | (a->txn == TXN ? now : a->seq);
	p[3] = (uint64_t)a->mode | (uint64_t)a->want << 8 | (uint64_t)a->failed << 16 |
	       (uint64_t)a->subscribed << 17 | (uint64_t)n->life << 18 |
	       (uint64_t)n->told_gone << 20 | (uint64_t)n->earlier_notices << 24 | since(n);
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
	       (uint64_t)n->earlier_notices << 24 | (uint64_t)a->repeat << 32 | since(n);
	p[5] = (uint64_t)n->known.seq << 32 | (uint64_t)n->known.repeat << 16 |
	       (uint64_t)n->known.without << 8 | n->known.state;
}

static void coordinator_words(uint64_t *v, const struct world *w)
{
	const struct coordinator *c = &w->c;

	v[0] = (uint64_t)c->phase | (uint64_t)c->action << 8 | (uint64_t)c->wave << 16 |
	       (uint64_t)c->tries << 24 | (uint64_t)c->outcome << 32 | (uint64_t)c->asked << 40 |
	       (uint64_t)!!c->instead << 47 | (uint64_t)c->sends << 48 | (uint64_t)c->pending << 56;
	v[1] = (uint64_t)c->seq << 32 | c->first_seq;
	v[2] = c->joined << 16 | c->restored << 17 | c->touched | c->journalled << 1 |
	       c->cancelled << 2 | c->drained << 3 | w->dead << 4 | w->held_over << 5 |
	       w->journal << 6 | w->epoch << 8 | c->rechecked << 18 | w->forgeries << 19 | c->dispute << 22;
}

/* Sends count while a question may be sent again. */
static void ordinal_coordinator(uint64_t *v, const struct world *w)
{
	bool asks = w->c.action == ACT_NOTIFY || w->c.action == ACT_AWAIT;

	v[0] &= asks ? ~0ull : ~(0xffull << 48);
	v[1] = 0;
	v[2] &= 0xf00ff;
	v[3] = 0;
}

/* All that decides what can come, and nothing else; which agent is which does not matter. */
void phase_key_of(struct seen *key, const struct world *w, const struct phase_model *m)
{
	uint64_t v[WORLD_WORDS + NODES * NODE_WORDS] = { 0 }, k[2] = { 1, 2 };
	unsigned len = WORLD_WORDS + NODE_WORDS * m->nagents;

	for (unsigned i = 0; i < m->nagents; i++)
		if (phase_ordinal(m))
			ordinal_words(v + WORLD_WORDS + NODE_WORDS * i, &w->n[i], w);
		else
			node_words(v + WORLD_WORDS + NODE_WORDS * i, &w->n[i], m);
	sort(v + WORLD_WORDS, m->nagents, NODE_WORDS);
	coordinator_words(v, w);
	v[3] = w->repath;
	memcpy(&v[4], w->wave, sizeof(w->wave));
	memcpy(&v[5], &w->lost, 8);
	v[6] = (uint64_t)w->theirs << 32 | (uint64_t)w->others << 24 | (uint64_t)m->nagents << 16 |
	       (uint64_t)w->sms << 8 | w->holds;
	if (phase_ordinal(m))
		ordinal_coordinator(v, w);
	for (unsigned i = 0; i < len; i++) {
		k[0] = mix(k[0], v[i]);
		k[1] = mix(k[1] + i, v[i] << 32 | v[i] >> 32);
	}
	*key = (struct seen){ .key = k[0] ? k[0] : 1, .more_key = (uint16_t)(k[1] >> 48) };
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
void phase_look(struct explorer *x, const struct world *w)
{
	struct faces *f = &x->faces, old = *f;
	uint64_t node[NODES] = { 0 }, h = 3;

	for (unsigned i = 0; i < x->m->nagents; i++) {
		struct node n = w->n[i];

		if (n.life == DOWN)
			phase_forget(&n);
		node[i] = (uint64_t)n.a.mode | (uint64_t)n.life << 8 | (uint64_t)n.a.want << 16 |
			  (uint64_t)n.known.state << 24 | (uint64_t)n.known.without << 32 |
			  since(&n);
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
