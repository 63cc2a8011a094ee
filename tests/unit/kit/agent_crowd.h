/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_crowd: agents behind ports of the simulator, for one thread: they go on whenever the
 * coordinator waits for an answer through crowd_link().
 */
#pragma once

#include "fabric/agent/agent_link.h"
#include "fabric/agent/agent_state.h"
#include "fabric/sim/device/sim.h"
#include "fabric/wire/notice_port.h"

#include <stdbool.h>
#include <stdint.h>

struct crowd_node {
	struct notice_port *np;
	uint32_t term;
	struct agent_state a;
	bool busy;
	uint64_t done_ns; /* of the hook under way */
	bool dead;	  /* neither hears nor says anything */
	bool cannot;	  /* its drain fails */
	uint32_t drains, returns;
};

struct crowd_kit {
	struct sim *sim;
	struct crowd_node *node;
	uint32_t n;
	uint64_t drain_ns, migrate_ns, return_ns;
	struct agent_link inner;
	/* before each question; may change what it likes */
	void (*asked)(void *ctx, const struct phase_notice *n);
	void (*waits)(void *ctx); /* before each wait */
	void *ctx;
};

/* Agents on those terminals, subscribed; link: the coordinator's own, taken over. */
void crowd_up(struct crowd_kit *k, struct sim *sim, const uint32_t *terms, uint32_t n,
	      const struct agent_link *link);
/* Of the agents and of the link, which is agent_link_over(); the caller's. */
void crowd_keys(struct crowd_kit *k, struct site_keys *keys);
void crowd_down(struct crowd_kit *k);
void crowd_go(struct crowd_kit *k, uint64_t ns);  /* lets that time pass */
void crowd_subscribe(struct crowd_kit *k);	  /* again, as after an SM restart */
void crowd_news(struct crowd_kit *k, uint32_t i); /* asks whether an update is under way */
uint32_t crowd_in(const struct crowd_kit *k, enum agent_mode m); /* living ones */
/* What apply gets. */
struct agent_link crowd_link(struct crowd_kit *k);
