/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transaction: the state of an update, shared by the files that carry it out: what is still to
 * be written, what was read, which agents are asked, and the first error.
 *
 * The executor carries out the actions of the coordinator; blocks writes and reads, agent_set
 * and drain_set talk to the agents, superseded judges the routing of another writer.  All run in
 * one thread; only st is read by others, under lock.
 */
#pragma once

#include "fabric/base/memory/vec.h"
#include "fabric/update/agent_set.h"
#include "fabric/update/executor.h"

#include <pthread.h>

/* What a switch was last seen to hold of a change. */
enum holds {
	HOLDS_UNKNOWN,
	HOLDS_OLD,
	HOLDS_NEW,
	HOLDS_BETWEEN, /* what a wave before the last one has left */
	HOLDS_FOREIGN,
	HOLDS_SILENT, /* not read */
	HOLDS_NOBODY  /* the switch is not in the fabric */
};

struct transaction {
	const struct plan *plan; /* NULL in a recovery */
	const struct fabric *fabric;
	const struct installer *in;
	struct executor_opts o;
	struct coordinator c;
	struct agent_set agents;    /* that are asked */
	const struct changes *list; /* the plan's, then the journal's */
	struct journal *journal;
	char txn[48];

	bool chains;	 /* todo has the last change of each block; old is before the first */
	uint32_t nall;	 /* blocks and tables, also of switches that are not there */
	uint8_t *holds;	 /* enum holds, by change */
	uint32_t *level; /* change whose new contents are held, FAB_NONE: not known; by change */
	int *rc;	 /* of the last write or read, by change */
	uint32_t *todo, ntodo;
	uint32_t *left, nleft; /* not undone */
	uint32_t *slowest;     /* by switch, us */
	struct progress progress;
	struct progress steady; /* the same without cancel: in a rollback */
	uint32_t *counts;	/* what grows in st during a batch, from counted on */
	uint32_t counted;
	uint32_t writes; /* writes of a batch that is read back at the same time; else 0 */
	uint64_t reported_ms;
	struct install_item *batch;
	struct install_item *back; /* what was read of it while it was written */
	struct err write_why;	   /* of the last writing, where all of it failed at once */
	bool read_back;		   /* all of todo was */
	bool others;		   /* another SM writes during the rollback, or ... */
	bool changed;		   /* ... this one does, as the fabric is no longer the plan's, */
	bool overruled;		   /* or as somebody has ordered it to; both are set then */
	char routes[200];	   /* by what, then */
	uint32_t back_waves;	   /* waves that may have been written, in a rollback */
	bool superseded;	   /* EV_SUPERSEDED for the current action */
	bool judged;		   /* foreign is */
	struct executor_foreign foreign;
	char foreign_text[JOURNAL_SAID]; /* for people */
	struct executor_item *item;	 /* what became of the batch */
	uint32_t batch_max;

	const struct jobset
		*jobs;	     /* that ran when the batch system was heard of last; NULL: never */
	const struct fabric *names; /* as hosts were called last; NULL: as the fabric has it */
	VEC(uint64_t) named; /* ids of jobs that started during the update and do not join */
	int64_t written_s;   /* Unix time: the last wave was found to be there */

	int why_rc; /* first thing that went wrong */
	struct err why;

	pthread_mutex_t lock; /* of st */
	struct executor_status st;
};

/* To the record and the screen; phase, wave and id are filled in. */
void transaction_emit(struct transaction *t, struct executor_event *ev);
/* Before a phase or a wave: not 0 = do not act, and err says why. */
int transaction_gate(struct transaction *t, struct err *err);
/* 0 where nobody grants anything.  confirm_ms: of GRANT_ALIVE. */
int transaction_grant(struct transaction *t, enum grant_step step, uint32_t confirm_ms,
		      struct err *err);
/* Keeps the first reason; returns false for the callers' convenience. */
bool transaction_fail(struct transaction *t, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
