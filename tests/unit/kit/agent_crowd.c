/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/agent_crowd.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/device/sim_wire.h"

#include <stdio.h>
#include <stdlib.h>

#define MS 1000000ull

static void need(int rc, const struct err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "agent_crowd: %s\n", err->text);
	abort();
}

static uint64_t now_ns(const struct crowd_kit *k)
{
	return k->inner.ops->now_ns(k->inner.ctx);
}

static void subscribe(struct crowd_node *g)
{
	struct err err = { "" };
	int rc = -1;

	for (int i = 0; i < 20 && rc; i++) {
		rc = notice_port_refresh(g->np, NULL, &err);
		if (!rc)
			rc = notice_subscribe(g->np, NOTICE_UNPATH, &err);
		if (!rc)
			rc = notice_subscribe(g->np, NOTICE_REPATH, &err);
	}
	need(rc, &err);
	agent_state_step(&g->a, AGENT_EV_SUBSCRIBED);
}

static void start_hook(struct crowd_kit *k, struct crowd_node *g, uint64_t ns)
{
	g->busy = true;
	g->done_ns = now_ns(k) + ns;
}

static void act(struct crowd_kit *k, struct crowd_node *g, unsigned what)
{
	struct phase_notice ack;
	struct err err;

	if (what & AGENT_CANCEL)
		g->done_ns = now_ns(k);
	if (what & AGENT_DRAIN) {
		g->drains++;
		start_hook(k, g, k->drain_ns);
	}
	if (what & AGENT_MIGRATE)
		start_hook(k, g, k->migrate_ns);
	if (what & AGENT_RETURN) {
		g->returns++;
		start_hook(k, g, k->return_ns);
	}
	if (what & AGENT_ACK) {
		agent_state_ack(&g->a, &ack);
		notice_send_phase(g->np, &ack, true, &err);
	}
	if (what & AGENT_REFUSE)
		notice_send_phase(g->np, &g->a.refused, true, &err);
}

static void step(struct crowd_kit *k, struct crowd_node *g)
{
	struct notice_phase p;
	struct err err;
	bool ok;

	while (notice_recv_phase(g->np, &p, 0, &err) == 1)
		if (!g->dead && !p.rc && !p.answer)
			act(k, g, agent_state_notice(&g->a, &p.said));
	while (!g->dead && g->busy && now_ns(k) >= g->done_ns) {
		ok = !(g->cannot && g->a.mode == AGENT_DRAINING);
		g->busy = false;
		act(k, g, agent_state_step(&g->a, ok ? AGENT_EV_DONE : AGENT_EV_FAILED));
	}
}

static void all_step(struct crowd_kit *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		step(k, &k->node[i]);
}

void crowd_subscribe(struct crowd_kit *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (!k->node[i].dead)
			subscribe(&k->node[i]);
}

void crowd_news(struct crowd_kit *k, uint32_t i)
{
	act(k, &k->node[i], agent_state_step(&k->node[i].a, AGENT_EV_NEWS));
}

void crowd_up(struct crowd_kit *k, struct sim *sim, const uint32_t *terms, uint32_t n,
	      const struct agent_link *link)
{
	struct err err = { "" };

	*k = (struct crowd_kit){ .sim = sim,
				 .n = n,
				 .drain_ns = 5 * MS,
				 .migrate_ns = MS,
				 .return_ns = 2 * MS,
				 .inner = *link };
	k->node = xcalloc(n, sizeof(*k->node));
	for (uint32_t i = 0; i < n; i++) {
		struct notice_opts o = { .term = terms[i], .timeout_ms = 5, .retries = 10 };
		struct crowd_node *g = &k->node[i];

		g->term = terms[i];
		need(notice_port_open_sim(&g->np, sim, &o, &err), &err);
		agent_state_init(&g->a, NULL);
		agent_state_step(&g->a, AGENT_EV_START);
	}
	crowd_subscribe(k);
}

void crowd_keys(struct crowd_kit *k, struct site_keys *keys)
{
	for (uint32_t i = 0; i < k->n; i++)
		notice_port_keys(k->node[i].np, keys);
	agent_link_keys(&k->inner, keys);
}

void crowd_down(struct crowd_kit *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		notice_port_close(k->node[i].np);
	free(k->node);
	agent_link_close(&k->inner);
}

void crowd_go(struct crowd_kit *k, uint64_t ns)
{
	uint64_t end = now_ns(k) + ns;
	struct agent_answer ans;
	struct err err;

	while (now_ns(k) < end) {
		all_step(k);
		k->inner.ops->recv(k->inner.ctx, &ans, MS / 5, &err);
	}
}

uint32_t crowd_in(const struct crowd_kit *k, enum agent_mode m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += !k->node[i].dead && k->node[i].a.mode == m;
	return n;
}

/* ---- the coordinator's link, with agents that go on meanwhile ---- */

static int kit_listen(void *ctx, struct progress *progress, struct err *err)
{
	struct crowd_kit *k = ctx;

	return k->inner.ops->listen(k->inner.ctx, progress, err);
}

static int kit_send(void *ctx, const struct phase_notice *n, struct err *err)
{
	struct crowd_kit *k = ctx;

	if (k->asked)
		k->asked(k->ctx, n);
	return k->inner.ops->send(k->inner.ctx, n, err);
}

static int kit_recv(void *ctx, struct agent_answer *out, uint64_t wait_ns, struct err *err)
{
	struct crowd_kit *k = ctx;
	uint64_t end = now_ns(k) + wait_ns;
	int rc;

	if (k->waits && wait_ns)
		k->waits(k->ctx);
	for (;;) {
		uint64_t now = now_ns(k), slice = MS / 5;

		all_step(k);
		if (now + slice > end)
			slice = end > now ? end - now : 0;
		rc = k->inner.ops->recv(k->inner.ctx, out, slice, err);
		if (rc || now_ns(k) >= end)
			return rc;
	}
}

static int kit_present(void *ctx, struct agent_place *at, uint32_t n, struct progress *progress,
		       struct err *err)
{
	struct crowd_kit *k = ctx;

	if (!k->inner.ops->present)
		return 0;
	return k->inner.ops->present(k->inner.ctx, at, n, progress, err);
}

static uint64_t kit_now_ns(void *ctx)
{
	return now_ns(ctx);
}

static bool kit_sealed(void *ctx)
{
	struct crowd_kit *k = ctx;

	return k->inner.ops->sealed && k->inner.ops->sealed(k->inner.ctx);
}

struct agent_link crowd_link(struct crowd_kit *k)
{
	static const struct agent_link_ops ops = { .name = "simulated",
						   .listen = kit_listen,
						   .send = kit_send,
						   .recv = kit_recv,
						   .present = kit_present,
						   .sealed = kit_sealed,
						   .now_ns = kit_now_ns };

	return (struct agent_link){ &ops, k };
}
