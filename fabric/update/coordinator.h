/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coordinator: the order of an update as a state machine, events in, actions out.
 *
 * No clock, no I/O, no allocation: a test can walk every failure.  Whoever drives it carries
 * out one action at a time and feeds back what became of it.
 */
#ifndef FABRIC_UPDATE_COORDINATOR_H
#define FABRIC_UPDATE_COORDINATOR_H

#include <stdbool.h>
#include <stdint.h>

/* Numbered as operators know them; 2 (UNPATH) and 4 (REPATH) belong to the drain protocol. */
enum phase {
	PHASE_NONE = 0,
	PHASE_PREPARE = 1,
	PHASE_WRITE = 3,
	PHASE_CONFIRM = 5,
	PHASE_ROLLBACK = 6
};

const char *phase_name(enum phase p); /* "PREPARE", "WRITE", ... */

enum coord_action {
	ACT_PREPARE,	   /* everything that can be checked without writing */
	ACT_JOURNAL,	   /* old and new contents to disk */
	ACT_BEGIN_WAVE,	   /* step into the journal, record synced */
	ACT_WRITE,	   /* what is still to be written of the wave */
	ACT_READ,	   /* read it back and compare */
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
	EV_RECOVER, /* instead of START: a journal was left behind */
	EV_DONE,    /* the action was carried out in full */
	EV_FAILED,  /* it was not: refused, items left over, disk full */
	EV_CONFIRM, /* operator, only while waiting */
	EV_CANCEL   /* operator, at any time: roll back if anything may have been written */
};

enum outcome {
	OUTCOME_NONE, /* under way */
	OUTCOME_CONFIRMED,
	OUTCOME_REFUSED,     /* nothing was written */
	OUTCOME_ROLLED_BACK, /* proved by reading */
	OUTCOME_INCOMPLETE,  /* some switches do not have their old tables back */
};

const char *outcome_name(enum outcome o); /* "confirmed", ... */

struct coordinator {
	enum phase phase;
	enum coord_action action; /* under way */
	uint32_t wave, nwaves;
	uint32_t tries, max_tries; /* writes of the same wave, or of the way back */
	bool touched;		   /* a switch may hold something new */
	bool journalled;
	bool cancelled;
	enum outcome outcome;
};

/* max_tries >= 1 */
void coordinator_init(struct coordinator *c, uint32_t nwaves, uint32_t max_tries);
/* Feeds an event, returns the next action. */
enum coord_action coordinator_step(struct coordinator *c, enum coord_event ev);

#endif
