/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn_phases: an update by the five phases, under packets: the coordinator and agents that are
 * really used, over a network that loses, doubles, delays and reorders their notices; agents
 * drain, migrate and return their connections; trouble at a random moment.
 */
#pragma once

#include "fabric/update/protocol/coordinator.h"
#include "tests/unit/kit/txn_world.h"

enum txn_trouble {
	TROUBLE_NONE,
	TROUBLE_CANCEL,	     /* by the operator, at any moment */
	TROUBLE_WATCH,	     /* a condition that is watched */
	TROUBLE_SM,	     /* another one: agents have to subscribe again */
	TROUBLE_DEATH,	     /* of the coordinator; another one recovers */
	TROUBLE_TIMEOUT,     /* nobody confirms */
	TROUBLE_SILENT,	     /* an agent hears nothing: the policy is to abort */
	TROUBLE_LOST_WRITE,  /* one, once */
	TROUBLE_DEAF_SWITCH, /* that takes no new contents, however often */
	TROUBLES
};

const char *txn_trouble_name(enum txn_trouble t);

struct txn_end {
	enum txn_trouble trouble;
	bool struck; /* the moment came before all was over */
	enum outcome outcome;
	bool written; /* something was, in between */
	uint32_t agents;
	uint64_t notices, lost, doubled; /* in both directions */
	uint64_t migrations;		 /* of connections */
	bool late;    /* a job began meanwhile, and its agent asked what is going on */
	bool led;     /* it had been led away before its first packet */
	bool joined;  /* the coordinator counted on it, sooner or later */
	bool exposed; /* a table was written while it sent on its base LIDs, for nobody had said so
		       */
	const char *wrong; /* NULL: it ended as it should */
};

/* Hooks that do not do what they say, so that it is seen that packets tell. */
enum txn_lie {
	LIE_NONE,
	LIE_DRAIN,   /* done before the last packet has arrived */
	LIE_MIGRATE, /* sends on to the base LIDs */
	LIE_UNASKED  /* a job that begins meanwhile begins at once */
};

/* From tables old to new, or back to old.  The world has begun; everything is drained when this
 * returns. */
void txn_phases_play(struct txn_end *out, struct world *w, enum txn_lie lie);
