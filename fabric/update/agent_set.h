/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_set: the agents of an update: who they are, what they are asked and what they say.
 *
 * An agent is a port, by its GUID, whichever jobs it is of: what its host is called does not tell
 * who somebody is, and a host with two ports has drained when both have.
 */
#pragma once

#include "fabric/agent/agent_link.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/protocol/coordinator.h"

#include <stdbool.h>
#include <stdint.h>

struct transaction;

struct agent_set {
	const struct agent_link *link;
	struct txn_agent *port; /* of each job; sorted by GUID */
	uint32_t nport;
	uint32_t *first; /* of each agent's entries there; and one behind the last */
	uint32_t n;
	uint32_t *by_lid;	   /* agent, FAB_NONE: none */
	struct coord_agent *state; /* by agent */
	bool *reported;		   /* that it is silent or failed, by agent */

	uint64_t ask_ns, resend_ns, pause_ns, until_ns; /* of the present question */
	uint64_t hold_ns;				/* 0: no agent is on its escape LIDs */
	uint64_t listen_ns, jobs_ns;			/* when due */
	bool no_sm;					/* no SM passes notices on now */
	bool disputed;					/* and it was said */
	bool must_answer;     /* an agent that began has asked and was not answered yet */
	uint64_t answered_ns; /* last */
};

/* Builds the rest from port, which gets sorted; everybody is COORD_IDLE.  O(ports log ports). */
void agent_set_index(struct agent_set *w);
const char *agent_set_name(const struct agent_set *w, uint32_t agent);
uint64_t agent_set_guid(const struct agent_set *w, uint32_t agent); /* of its port */
void agent_set_free(struct agent_set *w);

/* Sends what the coordinator asks; false: it was not sent. */
bool agent_set_notify(struct transaction *t);
/* Waits for answers; returns the next action. */
enum coord_action agent_set_await(struct transaction *t);
void agent_set_take_answer(struct transaction *t, const struct agent_answer *ans);
void agent_set_hear(struct transaction *t); /* handles answers that have arrived, and what is due */
/* Only the former, within an action: agents that start while blocks are written must not wait. */
void agent_set_listen(struct transaction *t);
void agent_set_status(struct transaction *t); /* into st */
/* At the end: who has not said that he is back goes into the journal. */
void agent_set_note_away(struct transaction *t);
