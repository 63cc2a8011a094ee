/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/agents_heard.h"

#include "fabric/update/protocol/coordinator.h"

#include <string.h>

#define AGENTS_MAX 65536
#define HOLD_MS	   900000 /* an agent's own, at least */

void agents_heard_free(struct agents_heard *h)
{
	vec_free(&h->v);
	*h = (struct agents_heard){ 0 };
}

static uint64_t agents_heard_key(uint64_t guid, uint16_t lid)
{
	return guid ? guid : lid;
}

/* Where it is, or belongs. */
static size_t agents_heard_at(const struct agents_heard *h, uint64_t key)
{
	size_t a = 0, b = h->v.n;

	while (a < b) {
		size_t m = a + (b - a) / 2;

		if (agents_heard_key(h->v.v[m].guid, h->v.v[m].lid) < key)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

static struct heard_agent *agents_heard_of(struct agents_heard *h, uint64_t guid, uint16_t lid)
{
	uint64_t key = agents_heard_key(guid, lid);
	size_t i = agents_heard_at(h, key);

	if (i < h->v.n && agents_heard_key(h->v.v[i].guid, h->v.v[i].lid) == key)
		return &h->v.v[i];
	if (h->v.n == AGENTS_MAX)
		return NULL;
	vec_push(&h->v, (struct heard_agent){ 0 });
	memmove(h->v.v + i + 1, h->v.v + i, (h->v.n - 1 - i) * sizeof(*h->v.v));
	h->v.v[i] = (struct heard_agent){ .guid = guid, .lid = lid };
	return &h->v.v[i];
}

/* One that has forgotten all is where a job begins: on its base LIDs. */
static bool agents_heard_newer(const struct phase_notice *n, const struct heard_agent *a)
{
	if (!n->txn || n->txn != a->txn)
		return !n->txn || n->txn > a->txn;
	return n->seq > a->seq || (n->seq == a->seq && n->repeat > a->repeat);
}

void agents_heard_take(struct agents_heard *h, const struct phase_notice *n, uint64_t guid,
		       uint16_t lid, uint64_t now_ms)
{
	struct heard_agent *a;

	/* a question that was refused says nothing of where it is */
	if (n->flags & NOTICE_REFUSALS || !phase_notice_in_bounds(n))
		return;
	a = agents_heard_of(h, guid, lid);
	if (!a || !agents_heard_newer(n, a))
		return;
	*a = (struct heard_agent){
		.guid = guid,
		.txn = n->txn,
		.at_ms = now_ms,
		.seq = n->seq,
		.lid = lid,
		.repeat = n->repeat,
		.flags = n->flags,
		.phase = n->phase,
		.asks = n->flags & NOTICE_ASK,
	};
}

void agents_heard_outside(struct agents_heard *h, const struct phase_notice *n, uint64_t now_ms)
{
	uint64_t hold_ms = n->hold_s * 1000ull > HOLD_MS ? n->hold_s * 1000ull : HOLD_MS;

	if (n->txn < h->outside_txn || !phase_notice_in_bounds(n))
		return;
	h->outside_txn = n->txn;
	h->outside_until_ms = n->phase == PHASE_UNPATH ? now_ms + hold_ms : now_ms;
}

static bool agents_heard_to_answer(const struct agents_heard *h, const struct heard_agent *a,
				   struct phase_notice *out, uint64_t now_ms)
{
	struct phase_notice ask = {
		.phase = a->phase, .repeat = a->repeat, .seq = a->seq, .txn = a->txn
	};

	if (!a->asks || (a->txn == h->outside_txn && now_ms < h->outside_until_ms))
		return false;
	return coordinator_answer(out, NULL, &ask);
}

/* The highest number of all answers of a transaction is news to all of its agents. */
bool agents_heard_next(struct agents_heard *h, struct phase_notice *out, uint64_t now_ms)
{
	struct phase_notice answer;
	bool found = false;

	for (size_t i = 0; i < h->v.n; i++) {
		struct heard_agent *a = &h->v.v[i];

		if ((found && a->txn != out->txn) || !agents_heard_to_answer(h, a, &answer, now_ms))
			continue;
		a->asks = false;
		if (!found || answer.seq > out->seq)
			*out = answer;
		found = true;
	}
	return found;
}
