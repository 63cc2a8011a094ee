/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_inbox.h"

#include "fabric/sim/device/sim_state.h"

static bool sim_inbox_earlier(const struct sim_flight *a, const struct sim_flight *b)
{
	return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->seq < b->seq);
}

static void sim_inbox_heap_add(struct sim_port *sp, struct sim_flight x)
{
	size_t i = sp->heap.n;

	vec_push(&sp->heap, x);
	while (i && sim_inbox_earlier(&x, &sp->heap.v[(i - 1) / 2])) {
		sp->heap.v[i] = sp->heap.v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sp->heap.v[i] = x;
}

static struct sim_flight sim_inbox_heap_take(struct sim_port *sp)
{
	struct sim_flight first = sp->heap.v[0], last = sp->heap.v[--sp->heap.n];
	size_t i = 0, n = sp->heap.n;

	while (2 * i + 1 < n) {
		size_t c = 2 * i + 1;

		if (c + 1 < n && sim_inbox_earlier(&sp->heap.v[c + 1], &sp->heap.v[c]))
			c++;
		if (!sim_inbox_earlier(&sp->heap.v[c], &last))
			break;
		sp->heap.v[i] = sp->heap.v[c];
		i = c;
	}
	if (n)
		sp->heap.v[i] = last;
	return first;
}

static void sim_inbox_fly(struct sim_port *sp, const struct mad_packet *p)
{
	const struct sim_opts *o = &sp->sim->o;
	struct rng *rng = &sp->sim->rng;
	uint64_t us = o->delay_us;
	uint32_t slot;

	if (o->jitter_us)
		us += rng_below(rng, o->jitter_us + 1ull);
	if (o->reorder > 0 && rng_unit(rng) < o->reorder)
		us += 10ull * (o->delay_us ? o->delay_us : 1);
	if (sp->spare.n) {
		slot = sp->spare.v[--sp->spare.n];
	} else {
		slot = (uint32_t)sp->packets.n;
		vec_push(&sp->packets, (struct mad_packet){ 0 });
	}
	sp->packets.v[slot] = *p;
	sim_inbox_heap_add(sp,
			   (struct sim_flight){ sim_now_ns(sp->sim) + us * 1000, sp->seq++, slot });
}

bool sim_lost(struct sim *s)
{
	return s->o.loss > 0 && rng_unit(&s->rng) < s->o.loss;
}

void sim_inbox_put(struct sim_port *sp, const struct mad_packet *p)
{
	struct sim *s = sp->sim;

	if (sim_lost(s))
		return;
	sim_inbox_fly(sp, p);
	if (s->o.duplicate > 0 && rng_unit(&s->rng) < s->o.duplicate)
		sim_inbox_fly(sp, p);
}

uint64_t sim_inbox_due_ns(const struct sim_port *sp)
{
	return sp->heap.n ? sp->heap.v[0].due_ns : UINT64_MAX;
}

void sim_inbox_take(struct sim_port *sp, struct mad_packet *p)
{
	struct sim_flight x = sim_inbox_heap_take(sp);

	*p = sp->packets.v[x.packet];
	p->status = 0;
	vec_push(&sp->spare, x.packet);
}

void sim_inbox_free(struct sim_port *sp)
{
	vec_free(&sp->heap);
	vec_free(&sp->packets);
	vec_free(&sp->spare);
}

void sim_deliver(struct sim *s, uint32_t term, const struct mad_packet *p)
{
	for (struct sim_port *sp = s->ports; sp; sp = sp->next)
		if (sp->term == term)
			sim_inbox_put(sp, p);
	pthread_cond_broadcast(&s->arrival);
}
