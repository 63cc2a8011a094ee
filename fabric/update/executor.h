/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * executor: carries out a plan through an installer, and undoes it.
 *
 * executor_run() does PREPARE, UNPATH, WRITE and REPATH and returns when the operator has to
 * decide, or when it is over; executor_confirm() and executor_rollback() end it.  All three block
 * on the wire: call them from one worker thread.  executor_cancel() and executor_status() may be
 * called from any.
 */
#pragma once

#include "fabric/agent/agent_link.h"
#include "fabric/base/message/err.h"
#include "fabric/plan/plan.h"
#include "fabric/update/installer/installer.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/protocol/coordinator.h"

#include <stdbool.h>
#include <stdint.h>

enum executor_event_kind {
	APPLY_PHASE_BEGIN, /* also of each wave: wave is set */
	APPLY_PHASE_END,   /* rc: how it went */
	APPLY_ITEM,	   /* items written, or written back in ROLLBACK; 0: progress only */
	APPLY_VERIFY,	   /* read back: items, rc 0 when all are as they should be */
	APPLY_ASK,	   /* items agents are asked to drain or to return (asked says what) */
	APPLY_ANSWER,  /* one that could not, did not answer in time, or whose job is over: text */
	APPLY_SETTLED, /* nobody is awaited any more: items of them did it, text in full */
	APPLY_OUTCOME, /* the end */
};

struct executor_item {
	uint32_t change; /* in the list */
	int rc;
	uint32_t us;
};

struct executor_event {
	enum executor_event_kind kind;
	enum phase phase, asked; /* asked: UNPATH or REPATH, also while phase is ROLLBACK */
	uint32_t wave, items;
	const char *txn;
	const struct changes *list; /* APPLY_ITEM: what items and change belong to */
	const struct executor_item *item;
	const struct change *change; /* the first that failed, with its rc; NULL: none */
	int rc;
	uint32_t us; /* the slowest */
	enum outcome outcome;
	enum coord_why why; /* it is not kept */
	char text[200];	    /* for people; "" when the kind says it all */
};

/* What somebody else has put into the switches, as it was read and judged. */
enum foreign_verdict {
	FOREIGN_NOT_JUDGED,
	FOREIGN_FAULTY,
	FOREIGN_UNPROVED, /* connected and free of loops; deadlocks could not be judged */
	FOREIGN_SOUND	  /* connected, free of loops and of deadlocks */
};

struct executor_foreign {
	enum foreign_verdict verdict;
	char text[120];	 /* the verdict in words */
	uint32_t blocks; /* LFT blocks that there are; 0: how many differ is not known */
	uint32_t old_lft, old_sl2vl; /* that are not as before the update */
	uint32_t new_lft, new_sl2vl; /* that are not as it would have made them */
};

#define APPLY_ANSWER_MS 30000

enum grant_step {
	GRANT_BEGIN,
	GRANT_RESUME,
	GRANT_ALIVE,
	GRANT_CONFIRM, /* it is about to be confirmed: as ALIVE, asked at once */
	GRANT_END
};

/* What whoever grants updates has to know, to undo it when nobody speaks for it any more. */
struct executor_grant {
	enum grant_step step;
	const char *txn;	     /* id of the journal */
	const struct digest *fabric; /* fingerprint of the plan's */
	uint64_t notices;	     /* transaction number of what agents were told; 0: none */
	uint32_t seq;		     /* of the last notice */
	uint32_t confirm_ms;	     /* left to confirm it; 0: nobody is asked yet */
};

struct executor_opts {
	const char *base;	     /* of the journal; NULL: the default */
	const char *user;	     /* who does it, for the journal; NULL: the process' user */
	const struct txn_gain *gain; /* of the plan, for the journal; NULL: not known */
	uint32_t tries;		     /* writes of a block before it counts as failed; 0: 3 */
	bool overwrite_foreign;	     /* in a rollback, also overwrite blocks of another writer */
	/* Agents are asked where they are there; where LIDs need the drain they have to be, and
	 * else it is refused before anything is written. */
	const struct agent_link *agents; /* NULL: nobody can be asked */
	const char *no_agents;		 /* why not; NULL or "": not supported here */
	bool without_agents;		 /* ask nobody, and write although jobs should drain */
	bool accept_unassigned;		 /* LIDs of no job need not be drained */
	bool accept_names;		 /* drain all ports of a name, whoever's they may be */
	bool without_silent;		 /* write though some agents are silent or failed */
	uint32_t answer_ms;		 /* for an agent to drain or return; 0: APPLY_ANSWER_MS */
	uint32_t hold_s;		 /* for agents to stay away at most; 0: 900 */
	bool accept_sl_change; /* apply although this installer cannot inform hosts of new SLs */

	/* Whoever grants updates of the fabric, one at a time: the update begins, is taken over by
	 * a recovery, or goes on.  -EBUSY: another one is in progress; -ESTALE, -EPERM: this one
	 * was ended meanwhile; -EUCLEAN: the SM does not route by its tables any more; NULL: nobody
	 * does. */
	int (*grant)(void *ctx, const struct executor_grant *g, struct err *err);
	/* All run in the worker thread; each may be NULL.  fresh: is the plan still true
	 * (plan_staleness() on what is read again)?  gate: before each phase and wave, after its
	 * event, and when PREPARE ends without agents to ask: sync the record; not 0 = do not act
	 * (the record cannot be written); it cannot keep a rollback from going on.  event: for the
	 * record and the screen. */
	int (*fresh)(void *ctx, struct err *err);
	/* Is it safe to write, by what is in the switches and not by what the plan says of itself?
	 * In PREPARE, after fresh and before anybody is asked; has to see the progress' cancel. */
	int (*approve)(void *ctx, const struct plan *p, struct progress *progress, struct err *err);
	int (*gate)(void *ctx, const struct executor_event *ev, struct err *err);
	void (*event)(void *ctx, const struct executor_event *ev);
	/* Is the master SM the one that it was?  Asked while blocks are read and written, after
	 * 1,024 of them at the latest: 0 at once when it is not due.  Not 0: the update stops, and
	 * is undone.  Not in a rollback, nor while answers are awaited: the link does. */
	int (*sm)(void *ctx, struct err *err);
	/* At the start of a rollback, for an installer without back(): is another SM master now,
	 * with a routing of its own? 1: yes, and nothing is written; may take half a minute. */
	int (*others)(void *ctx);
	/* Reads all that the switches hold, once that does not change any more, and judges it,
	 * before it is said that somebody else has routed.  Not 0: it cannot be read. */
	int (*judge)(void *ctx, struct executor_foreign *out, struct err *err);
	uint32_t settle_ms; /* unchanged for this time: the other writer is done; 0: 3,000 */
	/* Sets over[i] where job id[i] has ended: nobody is left there to be drained.  Twice a
	 * second while answers are awaited; must not block. */
	void (*ended)(void *ctx, const uint64_t *id, bool *over, uint32_t n);
	/* The jobs that run now on the fabric of the plan, to be put; NULL: as last time, or not
	 * known.  Before each wave and after the last; must not block. */
	const struct jobset *(*running)(void *ctx);
	/* The fabric of the plan with what hosts are called now, to be put; NULL: as it has them.
	 * When jobs have begun, which are known by the names of their nodes; may take seconds. */
	int (*names)(void *ctx, struct fabric **out, struct err *err);
	void *ctx;
	void *driver; /* passed to gate, event and sm instead of ctx; NULL: ctx */
};

#define APPLY_SLOW 4

struct executor_status {
	enum phase phase;
	enum outcome outcome;
	enum coord_why why; /* it was not kept */
	char txn[48];	    /* "" before the journal is there */
	char step[32];	    /* "checking", "writing", "reading back", ... */
	uint32_t wave, nwaves;
	uint32_t total; /* blocks and tables of the phase */
	uint32_t written, verified, retries, failed;
	uint32_t foreign; /* found neither old nor new */
	bool waiting;	  /* for the operator */
	struct {
		enum phase asked; /* last question: UNPATH, REPATH; NONE: nobody was asked */
		uint32_t expected, waiting, done, failed, silent, gone;
		uint32_t resent; /* times that the present question was sent again */
		char who[120];	 /* some that wait, failed or are silent, by name */
	} agents;
	struct {
		uint64_t guid;
		uint32_t sw;
		uint32_t us; /* slowest answer so far */
	} slow[APPLY_SLOW];  /* slowest switches first; us 0 = unused */
	char text[512];	     /* last sentence: why it was refused or rolled back */
};

struct executor;

/* The plan and the installer must outlive it.  recover: a journal opened with journal_open()
 * (closed by executor_free). */
struct executor *executor_new(const struct plan *p, const struct installer *in,
			      const struct executor_opts *o);
struct executor *executor_recover(struct journal *j, const struct fabric *f,
				  const struct installer *in, const struct executor_opts *o);
void executor_free(struct executor *a); /* NULL is fine */

/* 0: all is written and read back, waiting for the operator; else what went wrong, with
 * executor_outcome() saying how it ended: -ECANCELED, -ESTALE, -EBUSY, -EIO, ... */
int executor_run(struct executor *a, struct err *err);
/* Every change is read once more.  -EUCLEAN, -ESTALE: one is not new, or the SM routes otherwise:
 * then it is rolled back; -EHOSTUNREACH: a switch does not respond, and it goes on waiting.  Also
 * after executor_recover(): then nothing is rolled back. */
int executor_confirm(struct executor *a, struct err *err);
/* 0: rolled back and proved by reading. -EUCLEAN: incomplete, err names the switches.  -ESTALE:
 * somebody else has routed (OUTCOME_SUPERSEDED); err says what is there.  Also continues a
 * recovery, repeatedly until it is complete. */
int executor_rollback(struct executor *a, struct err *err);
/* The same while it waits, not because the operator said so: EV_TIMEOUT, EV_WATCH, EV_SM
 * or EV_FOREIGN, with a sentence for people. */
int executor_abort(struct executor *a, enum coord_event ev, const char *why, struct err *err);

/* Ends a recovery that cannot be completed (a switch that is gone for good) without writing
 * anything; why goes into the journal. */
int executor_give_up(struct executor *a, const char *why, struct err *err);

/* While it waits for the operator, every second or so, by the thread that runs it: hears agents
 * that answer late. */
void executor_idle(struct executor *a);
/* To whoever grants updates: it is still under way.  confirm_ms: left to confirm it, or 0. */
int executor_alive(struct executor *e, uint32_t confirm_ms, struct err *err);

void executor_cancel(struct executor *a); /* thread-safe: stop writing, roll back */
void executor_status(struct executor *a, struct executor_status *out); /* thread-safe */
enum outcome executor_outcome(const struct executor *a);

/* After an incomplete rollback: the changes not undone.  Indices into the list; owned by a. */
const uint32_t *executor_left(const struct executor *a, uint32_t *n, const struct changes **list);

/* What the switches hold of a journal's blocks and tables, without writing anything. */
struct recovery_scan {
	uint32_t old, new;
	uint32_t between;		   /* as a wave before the last one has left it */
	uint32_t foreign, silent, missing; /* missing: switch not there */
	char first[200];		   /* that is not new, and why; "": all are */
};
int executor_scan(struct recovery_scan *out, struct executor *a, struct err *err);

/* The exit code of the command line: 0 confirmed, 4 refused, 5 rolled back, 6 incomplete, 7 rolled
 * back for nobody confirmed, 9 superseded, 10 rolled back for somebody else wrote as well. */
int outcome_exit_code(enum outcome o, enum coord_why why);
