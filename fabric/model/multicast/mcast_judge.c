/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/multicast/mcast_judge.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One group at a time: the switches joined so far, by union and find. */
struct judge {
	const struct fabric *f;
	struct mcast_verdict *v;
	const struct mcast_entry *e; /* of the group */
	size_t n;
	uint32_t *root; /* by switch; FAB_NONE: has no entry of the group */
	bool *forwards; /* by switch, of any group */
	bool *sent;	/* by host port, of any group */
	bool faulty;	/* the group; worst is set */
	struct mcast_fault worst;
};

static uint32_t mcast_judge_root(struct judge *x, uint32_t sw)
{
	while (x->root[sw] != sw) {
		x->root[sw] = x->root[x->root[sw]];
		sw = x->root[sw];
	}
	return sw;
}

/* The first of the worst kind is kept. */
static void mcast_judge_fault(struct judge *x, enum mcast_fault_kind kind,
			      const struct mcast_entry *e, uint32_t other)
{
	if (x->faulty && x->worst.kind <= kind)
		return;
	x->faulty = true;
	x->worst = (struct mcast_fault){
		.kind = kind, .mlid = e->mlid, .port = (uint8_t)e->port, .sw = e->sw, .other = other
	};
}

static int mcast_judge_compare(const void *x, const void *y)
{
	const struct mcast_entry *a = x, *b = y;

	if (a->sw != b->sw)
		return (a->sw > b->sw) - (a->sw < b->sw);
	return (a->port > b->port) - (a->port < b->port);
}

static bool mcast_judge_has(const struct judge *x, uint32_t sw, uint8_t port)
{
	struct mcast_entry key = { .sw = sw, .port = port };

	return bsearch(&key, x->e, x->n, sizeof(*x->e), mcast_judge_compare);
}

/* A cable is looked at from its lower end, where it has both. */
static void mcast_judge_cable(struct judge *x, const struct mcast_entry *e, uint32_t chan)
{
	uint32_t to = x->f->chan_dst[chan], a, b;
	uint8_t back = x->f->chan_rport[chan];

	if (x->root[to] == FAB_NONE) {
		mcast_judge_fault(x, MCAST_NOWHERE, e, to);
		return;
	}
	if (!mcast_judge_has(x, to, back)) {
		mcast_judge_fault(x, MCAST_ONE_WAY, e, to);
		return;
	}
	if (to < e->sw || (to == e->sw && back < e->port))
		return;
	a = mcast_judge_root(x, e->sw);
	b = mcast_judge_root(x, to);
	if (a == b)
		mcast_judge_fault(x, MCAST_CYCLE, e, to);
	x->root[a] = b;
}

static void mcast_judge_entry(struct judge *x, const struct mcast_entry *e)
{
	const struct port *p;

	x->forwards[e->sw] = true;
	if (!e->port)
		return;
	p = fabric_port(x->f, e->sw, (uint8_t)e->port);
	if (p->term != FAB_NONE)
		x->sent[p->term] = true;
	else if (p->chan != FAB_NONE)
		mcast_judge_cable(x, e, p->chan);
	else
		x->v->uncabled++;
}

/* Is it where packets of the group are for somebody? */
static bool mcast_judge_is_end(const struct judge *x, const struct mcast_entry *e)
{
	return !e->port || fabric_port(x->f, e->sw, (uint8_t)e->port)->term != FAB_NONE;
}

static void mcast_judge_parts(struct judge *x)
{
	const struct mcast_entry *first = NULL;

	for (size_t i = 0; i < x->n; i++) {
		const struct mcast_entry *e = &x->e[i];

		if (!mcast_judge_is_end(x, e))
			continue;
		if (!first)
			first = e;
		else if (mcast_judge_root(x, e->sw) != mcast_judge_root(x, first->sw))
			mcast_judge_fault(x, MCAST_PARTS, first, e->sw);
	}
}

static void mcast_judge_group(struct judge *x)
{
	x->faulty = false;
	for (size_t i = 0; i < x->n; i++)
		x->root[x->e[i].sw] = x->e[i].sw;
	for (size_t i = 0; i < x->n; i++)
		mcast_judge_entry(x, &x->e[i]);
	mcast_judge_parts(x);
	if (x->faulty)
		x->v->fault[x->v->nfault++] = x->worst;
	for (size_t i = 0; i < x->n; i++)
		x->root[x->e[i].sw] = FAB_NONE;
	x->v->groups++;
}

void mcast_judge(struct mcast_verdict *out, const struct mcast *m, const struct fabric *f)
{
	struct judge x = { .f = f, .v = out };

	memset(out, 0, sizeof(*out));
	out->fault = xcalloc(MCAST_LID_MAX - MCAST_LID_MIN + 1, sizeof(*out->fault));
	x.root = xcalloc(f->nsw, sizeof(*x.root));
	x.forwards = xcalloc(f->nsw, sizeof(*x.forwards));
	x.sent = xcalloc(f->nend + 1u, sizeof(*x.sent));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		x.root[sw] = FAB_NONE;
	for (size_t i = 0; i < m->n; i += x.n) {
		x.e = &m->v[i];
		for (x.n = 1; i + x.n < m->n && x.e[x.n].mlid == x.e->mlid; x.n++)
			;
		mcast_judge_group(&x);
	}
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		out->switches += x.forwards[sw];
	for (uint32_t e = 0; e < f->nend; e++)
		out->host_ports += x.sent[e];
	free(x.root);
	free(x.forwards);
	free(x.sent);
}

void mcast_verdict_end(struct mcast_verdict *v)
{
	free(v->fault);
	v->fault = NULL;
	v->nfault = 0;
}

char *mcast_fault_text(char *buf, size_t len, const struct mcast_fault *fault,
		       const struct fabric *f)
{
	const char *sw = f->sw_name[fault->sw], *other = f->sw_name[fault->other];

	switch (fault->kind) {
	case MCAST_CYCLE:
		snprintf(buf, len,
			 "group 0x%04x: its packets go round for ever: the cable from %s/%u to %s "
			 "closes a cycle",
			 fault->mlid, sw, fault->port, other);
		break;
	case MCAST_NOWHERE:
		snprintf(buf, len,
			 "group 0x%04x: %s/%u sends its packets to %s, which does not forward them",
			 fault->mlid, sw, fault->port, other);
		break;
	case MCAST_ONE_WAY:
		snprintf(buf, len,
			 "group 0x%04x: %s/%u sends its packets to %s, which sends none back by "
			 "that cable",
			 fault->mlid, sw, fault->port, other);
		break;
	case MCAST_PARTS:
		snprintf(
			buf, len,
			"group 0x%04x: its tree is in several parts: packets do not get from %s to "
			"%s",
			fault->mlid, sw, other);
		break;
	}
	return buf;
}
