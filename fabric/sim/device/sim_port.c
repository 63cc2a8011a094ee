/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated port as mad.h has it. */
#include "fabric/base/memory/mem.h"
#include "fabric/sim/device/sim_inbox.h"
#include "fabric/sim/device/sim_state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static int sim_port_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	struct sim_port *sp = ctx;
	struct sim *s = sp->sim;
	struct mad_packet back = *p;

	(void)err;
	back.whole = NULL;
	pthread_mutex_lock(&s->lock);
	if (!sim_lost(s)) {
		if (sim_answer(s, sp->term, &back))
			sim_inbox_put(sp, &back);
		else
			sm_take(s, sp->term, p);
		free((uint8_t *)back.whole);
	}
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* Until then, or until somebody else sends something here. */
static void sim_port_sleep_until(struct sim *s, uint64_t t)
{
	struct timespec ts = { (time_t)(t / 1000000000u), (long)(t % 1000000000u) };

	pthread_cond_timedwait(&s->arrival, &s->lock, &ts);
}

static int sim_port_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err)
{
	struct sim_port *sp = ctx;
	struct sim *s = sp->sim;
	uint64_t until, due, t;
	int got = 0;

	(void)err;
	pthread_mutex_lock(&s->lock);
	until = sim_now_ns(s) + wait_ns;
	for (;;) {
		t = sim_now_ns(s);
		due = sim_inbox_due_ns(sp);
		if (due <= t) {
			sim_inbox_take(sp, p);
			got = 1;
			break;
		}
		if (t >= until)
			break;
		t = due < until ? due : until;
		if (s->o.virtual_clock) {
			s->clock_ns = t;
			continue;
		}
		sim_port_sleep_until(s, t);
	}
	pthread_mutex_unlock(&s->lock);
	return got;
}

static uint64_t sim_port_now_ns(void *ctx)
{
	struct sim_port *sp = ctx;
	uint64_t t;

	if (!sp->sim->o.virtual_clock)
		return sim_now_ns(sp->sim);
	pthread_mutex_lock(&sp->sim->lock);
	t = sim_now_ns(sp->sim);
	pthread_mutex_unlock(&sp->sim->lock);
	return t;
}

static void sim_port_local(void *ctx, struct mad_local *out)
{
	struct sim_port *sp = ctx;
	const struct fabric *f = sp->sim->f;
	uint32_t sm = sp->sim->o.sm_term;

	*out = (struct mad_local){ .ca = "sim",
				   .port = f->term_ca_port[sp->term],
				   .port_guid = f->term_guid[sp->term],
				   .lid = f->term_lid[sp->term],
				   .sm_lid = sm < f->nend ? f->term_lid[sm] : 0 };
}

static void sim_port_close(void *ctx)
{
	struct sim_port *sp = ctx, **at = &sp->sim->ports;

	pthread_mutex_lock(&sp->sim->lock);
	while (*at != sp)
		at = &(*at)->next;
	*at = sp->next;
	pthread_mutex_unlock(&sp->sim->lock);
	sim_inbox_free(sp);
	free(sp);
}

int sim_port_open(struct mad_port *out, struct sim *s, uint32_t term, struct err *err)
{
	static const struct mad_ops ops = { .send = sim_port_send,
					    .recv = sim_port_recv,
					    .now_ns = sim_port_now_ns,
					    .local = sim_port_local,
					    .close = sim_port_close };
	struct sim_port *sp;

	if (term >= s->f->nterm)
		return err_set(err, -EINVAL, "the simulated fabric has no terminal %u", term);
	sp = xcalloc(1, sizeof(*sp));
	sp->sim = s;
	sp->term = term;
	pthread_mutex_lock(&s->lock);
	sp->next = s->ports;
	s->ports = sp;
	pthread_mutex_unlock(&s->lock);
	*out = (struct mad_port){ &ops, sp };
	return 0;
}
