/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coordinator: the order of an update as a state machine, events in, actions out.
 *
 * No clock, no I/O, no allocation: a test can walk every failure.  The driver carries out one
 * action at a time and feeds back its result.
 */
#pragma once

#include "fabric/ib/phase_notice.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbered as operators know them.  2 and 4 (Domke & Hoefler, SC16, Sec. 3.3) are passed over
 * when there is nobody to drain. */
enum phase {
	PHASE_NONE = 0,
	PHASE_PREPARE = 1,
	PHASE_UNPATH = 2,
	PHASE_WRITE = 3,
	PHASE_REPATH = 4,
	PHASE_CONFIRM = 5,
	PHASE_ROLLBACK = 6
};

const char *phase_name(enum phase p); /* "PREPARE", "WRITE", ... */

enum coord_action {
	ACT_PREPARE,	   /* everything that can be checked without writing */
	ACT_JOURNAL,	   /* old and new contents to disk */
	ACT_BEGIN_UNPATH,  /* step into the journal: from here on nodes may be on escape LIDs */
	ACT_NOTIFY,	   /* send coordinator_notice() to all subscribers; FAILED counts as lost */
	ACT_AWAIT,	   /* answers, EV_RESEND or EV_DEADLINE */
	ACT_BEGIN_WAVE,	   /* step into the journal, record synced */
	ACT_WRITE,	   /* what is still to be written of the wave */
	ACT_READ,	   /* read it back and compare */
	ACT_BEGIN_REPATH,  /* step into the journal */
	ACT_BEGIN_CONFIRM, /* step into the journal */
	ACT_WAIT,	   /* for the operator */
	ACT_BEGIN_ROLLBACK,
	ACT_SCAN,	/* read what may have been touched: old, new or foreign */
	ACT_WRITE_BACK, /* the old contents where they are not there */
	ACT_READ_BACK,	/* and the proof */
	ACT_FINISH,	/* last step into the journal */
	ACT_STOP	/* nothing more to do */
};

enum coord_event {
	EV_START,
	EV_RECOVER,    /* instead of START: a journal was left behind, and what it wrote goes */
	EV_KEEP,       /* likewise, and it stays, for all was found to be new */
	EV_DONE,       /* the action was carried out in full */
	EV_FAILED,     /* it was not: refused, items left over, disk full */
	EV_SUPERSEDED, /* of SCAN or READ_BACK: another writer's routing was read, and stays */
	EV_CHANGED,    /* likewise, as the fabric is no longer the plan's */
	EV_CONFIRM,    /* operator, only while waiting */
	EV_CANCEL,     /* operator, at any time: roll back if anything may have been written */
	EV_EXTEND,     /* operator, only while waiting: the deadline starts again */
	EV_TIMEOUT,    /* only while waiting: nobody confirmed */
	EV_WATCH,      /* at any time: counters, reachability or a job say that it goes wrong */
	EV_SM,	       /* at any time: another master SM */
	EV_FOREIGN,    /* at any time: somebody else writes into the switches as well */
	EV_RESEND,     /* while awaiting: time to send the notice again */
	EV_DEADLINE,   /* while awaiting: agents that have not answered are silent */
	EV_HOLD_OVER /* hold_s since the last UNPATH was begun: agents may leave the escape LIDs */
};

/* Why it did not end with a confirmation: the first thing that happened. */
enum coord_why {
	WHY_NONE,
	WHY_FAILED, /* an action */
	WHY_OPERATOR,
	WHY_TIMEOUT,
	WHY_WATCH,
	WHY_SM,
	WHY_SILENT,    /* an agent did not drain, and the policy is to abort */
	WHY_RECOVERED, /* left behind by a process that died */
	WHY_FOREIGN,   /* somebody else wrote into the switches as well */
	WHY_DISPUTED   /* somebody else speaks to the agents, or for one of them */
};

#define COORD_WHYS (WHY_DISPUTED + 1)

/* What an agent said that it cannot have said, were only this coordinator and it to speak. */
enum coord_dispute {
	DISPUTE_NONE,
	DISPUTE_UNASKED, /* an answer to a question that was not asked */
	DISPUTE_RETURN,	 /* it was told to return while all are asked to drain */
	DISPUTE_TWO,	 /* two different answers to one question, of one number */
	DISPUTE_LATER	 /* it takes part in a later transaction */
};

const char *coord_why_name(enum coord_why w); /* in JSON and in the journal: "operator"; NONE: "" */
enum coord_why coord_why_by_name(const char *name); /* WHY_NONE: there is none of that name */
const char *coord_why_text(enum coord_why w);	    /* for people; NONE: "" */

enum outcome {
	OUTCOME_NONE, /* in progress */
	OUTCOME_CONFIRMED,
	OUTCOME_REFUSED,     /* nothing was written */
	OUTCOME_ROLLED_BACK, /* proved by reading */
	OUTCOME_INCOMPLETE,  /* some switches do not have their old tables back */
	OUTCOME_SUPERSEDED,  /* neither the old nor the new tables: somebody else's, which stay */
	OUTCOME_FABRIC_CHANGED, /* likewise: the subnet manager's, for the fabric as it is now */
};

#define OUTCOMES (OUTCOME_FABRIC_CHANGED + 1)

const char *outcome_name(enum outcome o);	/* "confirmed", ... */
enum outcome outcome_by_name(const char *name); /* OUTCOME_NONE: there is none of that name */

enum coord_agent_state {
	COORD_IDLE,   /* never asked */
	COORD_ASKED,  /* its answer to the present question is awaited */
	COORD_DONE,   /* did it: c->asked says what */
	COORD_FAILED, /* answered that it could not */
	COORD_SILENT, /* did not answer in time; may do so yet, nobody waits for it */
	COORD_GONE    /* its job is over */
};

struct coord_agent {
	uint8_t state; /* enum coord_agent_state */
	bool without;  /* not drained, and writing went on all the same: to be named */
	uint32_t seq;  /* of the answer that counts */
	uint16_t repeat, flags;
};

/* Who is to be drained.  The agents are the caller's, zeroed, and outlive the coordinator. */
struct coord_drain {
	struct coord_agent *agents;
	uint32_t nagents;
	uint64_t txn;	     /* above that of every earlier transaction; not 0 */
	uint16_t epoch;	     /* above that of every earlier process that worked on txn; from 0 */
	uint16_t hold_s;     /* carried by the notices */
	uint32_t max_sends;  /* of the same question, >= 1 */
	bool without_silent; /* else: abort, before anything was written */
	bool recheck; /* ask those who have drained once more, right before the first write */
};

struct coordinator {
	enum phase phase;
	enum coord_action action; /* the current one */
	uint32_t wave, nwaves;
	uint32_t tries, max_tries; /* writes of the same wave, or of the rollback */
	bool touched;		   /* a switch may hold something new */
	bool journalled;
	bool cancelled;
	/* of EV_SUPERSEDED or EV_CHANGED, when that was the last that was found; else NONE */
	enum outcome instead;
	enum outcome outcome;
	enum coord_why why;
	uint32_t extended; /* times */

	struct coord_drain drain;
	enum phase asked; /* last question: UNPATH, REPATH; NONE: no agent was ever asked */
	bool drained;	  /* all that can be are on escape LIDs, and stay there */
	bool joined;	  /* somebody did since all were asked to drain */
	bool restored;	  /* in a rollback: the old contents were found everywhere */
	bool rechecked;	  /* the question of now is that of recheck, or was */
	enum coord_dispute dispute; /* the first; it has stopped the update */
	uint32_t disputed;	    /* the agent */
	uint32_t sends, pending;
	uint32_t seq, first_seq; /* of the last notice, and of the first with this question */
};

/* max_tries >= 1 */
void coordinator_init(struct coordinator *c, uint32_t nwaves, uint32_t max_tries);
/* Feeds an event, returns the next action. */
enum coord_action coordinator_step(struct coordinator *c, enum coord_event ev);

/* Before EV_RECOVER or EV_KEEP, or at the latest while ACT_JOURNAL is carried out: the update
 * needs the drain.  Without this, or without agents, phases 2 and 4 are skipped.
 *
 * In a rollback silent agents never prevent writing the old tables, whatever the policy.  When
 * it stops as OUTCOME_INCOMPLETE the agents stay on their escape LIDs until EV_RECOVER gets
 * further. */
void coordinator_drain(struct coordinator *c, const struct coord_drain *d);
/* Adds agents of jobs that started during the update: the list has all agents, known ones
 * unchanged and new ones zeroed.  Only while an ACT_BEGIN_, ACT_SCAN or ACT_READ_BACK is carried
 * out; then all are asked to drain once more, before the next write, or when all is written
 * before they return, because packets of the new ones are in flight over tables that have
 * changed since. */
void coordinator_join(struct coordinator *c, struct coord_agent *agents, uint32_t n);
/* What ACT_NOTIFY sends. */
void coordinator_notice(const struct coordinator *c, struct phase_notice *out);
/* An answer of an agent, at any time, in any order; what is old, double or of somebody else
 * changes nothing.  O(1) but for the last one that is awaited.  Returns the next action. */
enum coord_action coordinator_ack(struct coordinator *c, uint32_t agent,
				  const struct phase_notice *ack);
/* Whatever an agent of the list said, before it is taken for anything: what cannot be so ends the
 * update before the next write (dispute says why).  coordinator_ack() does it for answers. */
enum coord_action coordinator_doubt(struct coordinator *c, uint32_t agent,
				    const struct phase_notice *said);
/* The agent's job is over: nobody is left there to be drained. */
enum coord_action coordinator_gone(struct coordinator *c, uint32_t agent);
/* The answer to an agent that asks (NOTICE_ASK); c: the transaction in progress or the last one,
 * NULL: none.  An agent that has just started during a drain is sent the same request as all.
 * false: nothing now, it will get a request later. */
bool coordinator_answer(struct phase_notice *out, const struct coordinator *c,
			const struct phase_notice *ask);
