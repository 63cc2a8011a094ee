/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_state: a node's side of an update as a state machine, events in, actions out.
 *
 * No clock, no I/O, no allocation.  Whoever drives it runs the site's hooks one at a time and
 * feeds back what became of them.  Notices may come doubled, late or out of order.
 */
#pragma once

#include "fabric/ib/phase_notice.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the job's queue pairs are. */
enum agent_mode {
	AGENT_BASE,	 /* on the base LIDs, running */
	AGENT_DRAINING,	 /* hook running */
	AGENT_MIGRATING, /* to the escape LIDs; hook running */
	AGENT_ESCAPE,	 /* on the escape LIDs, running */
	AGENT_RETURNING, /* to the base LIDs, from wherever each is; hook running */
	AGENT_MIXED,	 /* a hook failed or was cut short: some here, some there, some drained */
	AGENT_RECALLED	 /* on the escape LIDs, told to return; says so, and waits a moment */
};

const char *agent_mode_name(enum agent_mode m); /* "base", "draining", ... */

/* Carried out in this order. */
enum agent_action {
	AGENT_SAVE = 1,	   /* agent_state_saved() to where it survives the process, not the node */
	AGENT_CANCEL = 2,  /* cancel the running hook; it still reports its end */
	AGENT_DRAIN = 4,   /* start the hook; its end is AGENT_EV_DONE or AGENT_EV_FAILED */
	AGENT_MIGRATE = 8, /* likewise */
	AGENT_RETURN = 16, /* likewise; whatever state each queue pair is in */
	AGENT_ACK = 32,	   /* send agent_state_ack() */
	AGENT_SUBSCRIBE = 64,
	AGENT_UNSUBSCRIBE = 128,
	AGENT_EXIT = 256,
	AGENT_REFUSE = 512 /* send refused: a question that was not obeyed */
};

enum agent_event {
	AGENT_EV_START,
	AGENT_EV_DONE,	 /* the running hook succeeded */
	AGENT_EV_FAILED, /* it did not, or took too long and was stopped */
	AGENT_EV_SUBSCRIBED,
	AGENT_EV_NEWS,	  /* at the start, or no answer since: is an update in progress? */
	AGENT_EV_SM,	  /* another SM, or the same one restarted: it has forgotten us */
	AGENT_EV_TIMEOUT, /* nothing heard for a while, or the SM is another one */
	AGENT_EV_SAFETY,  /* on the escape LIDs, no notice for hold_s (or the site's own time) */
	AGENT_EV_GO,	  /* told to return a moment ago, and nobody has objected since */
	AGENT_EV_FORGET,  /* the operator: earlier transactions count for nothing; only at BASE */
	AGENT_EV_EXIT	  /* the job is over */
};

/* What a restarted agent has to know. */
struct agent_saved {
	uint64_t txn;
	uint32_t seq;
	uint16_t repeat;
	uint8_t want; /* PHASE_UNPATH, PHASE_REPATH; 0: nothing was ever asked */
	uint8_t mode; /* enum agent_mode */
};

struct agent_state {
	enum agent_mode mode;
	uint8_t want;
	bool failed;  /* what is wanted did not work */
	bool aborted; /* the update was cancelled: the paths of the base LIDs are unchanged */
	bool subscribed;
	uint16_t hold_s, repeat, flags;
	uint32_t seq;
	uint64_t txn;
	uint64_t txn_max; /* the driver's: higher ones are refused; 0: only what nobody may say */
	/* The driver's: anybody may have sent what comes.  Who is told to return says so at once, and
	 * returns with AGENT_EV_GO: until then the coordinator can stop writing, or ask again. */
	bool wary;
	struct phase_notice refused; /* the answer to the question that was refused last */
};

/* saved NULL: first start, the job is on its base LIDs. */
void agent_state_init(struct agent_state *a, const struct agent_saved *saved);
void agent_state_saved(const struct agent_state *a, struct agent_saved *out);

/* Both return what to do: enum agent_action, or'ed; 0: nothing. */
unsigned agent_state_step(struct agent_state *a, enum agent_event ev);
unsigned agent_state_notice(struct agent_state *a, const struct phase_notice *n);

void agent_state_ack(const struct agent_state *a, struct phase_notice *out);

static inline bool agent_state_busy(const struct agent_state *a)
{
	return a->mode == AGENT_DRAINING || a->mode == AGENT_MIGRATING ||
	       a->mode == AGENT_RETURNING;
}
