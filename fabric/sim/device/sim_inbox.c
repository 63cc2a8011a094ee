/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_inbox.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/device/sim_state.h"

#include <stdlib.h>
#include <string.h>

/* Doubles the ring. */
static void sim_inbox_grow(struct sim_port *sp)
{
	uint32_t size = sp->size ? 2 * sp->size : 16;
	struct sim_flight *ring = xcalloc(size, sizeof(*ring));

	for (uint32_t i = 0; i < sp->size; i++)
		if (sp->ring[i].in_flight)
			ring[sp->ring[i].seq & (size - 1)] = sp->ring[i];
	free(sp->ring);
	sp->ring = ring;
	sp->size = size;
}

/* The place of a new packet. */
static struct sim_flight *sim_inbox_place(struct sim_port *sp)
{
	while (!sp->size || sp->ring[sp->seq & (sp->size - 1)].in_flight)
		sim_inbox_grow(sp);
	return &sp->ring[sp->seq & (sp->size - 1)];
}

static const uint8_t *sim_inbox_copy(const uint8_t *whole, size_t len)
{
	return memcpy(xcalloc(len, 1), whole, len);
}

static void sim_inbox_fly(struct sim_port *sp, const struct mad_packet *p)
{
	const struct sim_opts *o = &sp->sim->o;
	struct rng *rng = &sp->sim->rng;
	uint64_t us = o->delay_us;
	struct sim_flight *place;

	if (o->jitter_us)
		us += rng_below(rng, o->jitter_us + 1ull);
	if (o->reorder > 0 && rng_unit(rng) < o->reorder)
		us += 10ull * (o->delay_us ? o->delay_us : 1);
	place = sim_inbox_place(sp);
	*place = (struct sim_flight){ true, sp->seq, *p };
	if (p->whole)
		place->packet.whole = sim_inbox_copy(p->whole, p->whole_len);
	heap_push(&sp->due, sim_now_ns(sp->sim) + us * 1000, sp->seq++);
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
	return heap_key(&sp->due);
}

void sim_inbox_take(struct sim_port *sp, struct mad_packet *p)
{
	struct sim_flight *x = &sp->ring[heap_pop(&sp->due) & (sp->size - 1)];

	*p = x->packet;
	p->status = 0;
	x->in_flight = false;
	free(sp->whole);
	sp->whole = (uint8_t *)p->whole;
}

void sim_inbox_free(struct sim_port *sp)
{
	for (uint32_t i = 0; i < sp->size; i++)
		if (sp->ring[i].in_flight)
			free((uint8_t *)sp->ring[i].packet.whole);
	free(sp->whole);
	heap_done(&sp->due);
	free(sp->ring);
}

void sim_deliver(struct sim *s, uint32_t term, const struct mad_packet *p)
{
	for (struct sim_port *sp = s->ports; sp; sp = sp->next)
		if (sp->term == term)
			sim_inbox_put(sp, p);
	pthread_cond_broadcast(&s->arrival);
}
