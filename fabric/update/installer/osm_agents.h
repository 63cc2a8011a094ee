/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_agents: agents through our plugin inside OpenSM: it sends the notices itself, receives the
 * answers as the SM, and knows the subscribers.  No port is needed, no subscription, and no
 * notice is taken for one that came already.
 */
#pragma once

#include "fabric/agent/agent_link.h"
#include "fabric/update/installer/osm_link.h"

struct wire;

struct site_keys;

/* The plugin signs, and passes on only what it believes.  Where keys are given it has to, as agents
 * that have one would not believe it: else listen() is -ENOKEY, with a sentence.
 *
 * l stays the caller's and must outlive it; it may be used for other things by the same thread.
 * reserve: likewise; when another SM takes over, agents are asked and heard through that one by
 * notices over it (wire_listen()).  NULL: then their answers reach nobody.  keys: likewise; NULL:
 * none. */
void agent_link_osm(struct agent_link *out, struct osm_link *l, struct wire *reserve,
		    struct site_keys *keys);
