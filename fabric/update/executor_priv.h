/* SPDX-License-Identifier: GPL-2.0-or-later */
/* executor_priv: what the files of apply share. */
#ifndef FABRIC_UPDATE_EXECUTOR_PRIV_H
#define FABRIC_UPDATE_EXECUTOR_PRIV_H

#include "fabric/base/vec.h"
#include "fabric/update/executor.h"

#include <pthread.h>

#define APPLY_BATCH                                                                                \
	4096 /* items per call of the installer: how often the screen learns something             \
	      */
#define APPLY_BATCH_SM 1024 /* where the SM is looked after in between */

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

/* Whom it asks: nodes, by any of their ports. */
struct agent_set {
	const struct agent_link *link;
	struct txn_agent *port; /* sorted by name */
	uint32_t nport;
	uint32_t *first; /* of each agent's ports; and one behind the last */
	uint32_t n;
	uint32_t *by_guid;	   /* ports, by their GUID */
	uint32_t *by_lid;	   /* agent, FAB_NONE: none */
	struct coord_agent *state; /* by agent */
	bool *told;		   /* that it is silent or failed, by agent */

	uint64_t ask_ns, resend_ns, pause_ns, until_ns; /* of the present question */
	uint64_t hold_ns;				/* 0: nobody is away */
	uint64_t listen_ns, jobs_ns;			/* when due */
	bool deaf;					/* no SM carries notices now */
	bool greets;	     /* somebody began and asked, and was not answered yet */
	uint64_t greeted_ns; /* last */
};

struct executor {
	const struct plan *plan; /* NULL in a recovery */
	const struct fabric *fabric;
	const struct installer *in;
	struct executor_opts o;
	struct coordinator c;
	struct agent_set crowd;
	const struct changes *list; /* the plan's, then the journal's */
	struct journal *journal;
	char txn[48];

	bool chains;   /* todo has one change for each block: the last, old is from before the first
			*/
	uint32_t nall; /* blocks and tables, also of switches that are not there */
	uint8_t *holds;	 /* enum holds, by change */
	uint32_t *level; /* change whose new contents are held, FAB_NONE: not known; by change */
	int *rc;	 /* of the last write or read, by change */
	uint32_t *todo, ntodo;
	uint32_t *left, nleft; /* not undone */
	uint32_t *slowest;     /* by switch, us */
	struct progress progress;
	struct progress steady; /* the same without cancel: on the way back */
	uint32_t *counts;	/* what grows in st while a batch is under way, from counted on */
	uint32_t counted;
	uint32_t writes; /* of the batch, which is read back meanwhile; 0: only one of both */
	uint64_t told_ms;
	struct install_item *batch;
	struct install_item *back; /* what was read of it while it was written */
	struct err write_why;	   /* of the last writing, where all of it failed at once */
	bool read_back;		   /* all of todo was */
	bool others;		   /* another SM writes on the way back */
	uint32_t back_waves;	   /* whose changes may be there, on the way back */
	bool found_theirs;	   /* EV_THEIRS for the action under way */
	bool judged;		   /* theirs is */
	struct executor_foreign theirs;
	char theirs_text[JOURNAL_SAID]; /* for people */
	struct executor_item *item;	/* what became of the batch */
	uint32_t batch_max;

	const struct jobset
		*jobs;		 /* that ran when the batch system was heard of last; NULL: never */
	VEC(uint64_t) newcomers; /* ids of jobs that began meanwhile and do not join: named */
	int64_t written_s;	 /* Unix time: the last wave was found to be there */

	int why_rc; /* first thing that went wrong */
	struct err why;

	pthread_mutex_t lock; /* of st */
	struct executor_status st;
};

/* apply_io.c: the list todo through the installer */
void executor_write(struct executor *a, bool back);	    /* new contents, or the old ones */
void executor_read(struct executor *a);			    /* sets holds */
void executor_todo_all(struct executor *a, uint32_t waves); /* all that waves 0..waves-1 write */
void executor_todo_wave(struct executor *a, uint32_t wave); /* what that one writes */
void executor_steps_report(void *ctx, const char *step, uint64_t done, uint64_t total);
bool executor_is_last(const struct executor *a, uint32_t i, uint32_t waves); /* of its block */
uint32_t executor_count(const struct executor *a, enum holds h);	     /* in todo */
/* The first of todo that is not h, with what is wrong, for a sentence. */
void executor_first_not(char *buf, size_t size, const struct executor *a, enum holds h);

/* Drops from the list what holds h; the rest is to be done once more. */
void executor_keep_others(struct executor *a, enum holds h);

/* apply_theirs.c: what somebody else has routed meanwhile */
/* Where another SM is master: waits until what it writes is there.  true: the old contents are, and
 * nothing else; else a->found_theirs, or it is to be tried again. */
bool superseded_wait(struct executor *a);
/* All is back but what somebody else has written.  Sets a->found_theirs where that is a routing. */
void superseded_stay(struct executor *a);
void superseded_tell(struct executor *a);

/* apply_crowd.c.  Ports of one name are one agent, whichever port and job they are of. */
void agent_set_index(struct agent_set *w);
uint32_t agent_set_find(const struct agent_set *w,
			const struct agent_answer *ans); /* or FAB_NONE */
const char *agent_set_name(const struct agent_set *w, uint32_t agent);
void agent_set_free(struct agent_set *w);

/* apply_whom.c */
bool agent_set_gather(struct executor *a);  /* whom the plan wants; false: refused, and said why */
bool agent_set_begin(struct executor *a);   /* once the journal is there */
void agent_set_recover(struct executor *a); /* as the journal says */
/* The agents of a job that began meanwhile are asked, too; false: it has not everywhere one, or
 * there is no way.  wait: for a few seconds, until there is one. */
bool agent_set_join(struct executor *a, const struct job *job, bool wait);
bool agent_set_has(const struct executor *a, const struct job *job);

/* apply_agents.c */
bool agent_set_notify(struct executor *a);
/* Waits for answers; returns the next action. */
enum coord_action agent_set_await(struct executor *a);
void agent_set_take_answer(struct executor *a, const struct agent_answer *ans);
void agent_set_hear(struct executor *a); /* what came in meanwhile, and what is due */
/* Only the former, within an action: who begins while blocks are written asks, and must not wait.
 */
void agent_set_listen(struct executor *a);
void agent_set_status(struct executor *a);

/* executor_newcomers.c.  Looks at jobs that began since: their agents join, or they are named.
 * Before each wave, before the agents are called back, and twice on the way back; while it waits
 * for the operator they are only named, those that the batch system told of too late.  false: it is
 * not to go on, and said why. */
bool executor_newcomers(struct executor *a);

/* apply.c */
void executor_emit(struct executor *a, struct executor_event *ev);
int executor_gate(struct executor *a, struct err *err);
/* Looks at the SM, if it is due.  true: the update is being called off, for whatever reason. */
bool executor_called_off(struct executor *a);
/* Tells the installer how it ended.  What it has to say against it is only logged: what is in the
 * switches and in the journal counts. */
void executor_end(struct executor *a, bool keep);
/* Keeps the first reason; returns false for the callers' convenience. */
bool executor_fail(struct executor *a, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* apply_steps.c: true when the action was carried out in full */
bool executor_do(struct executor *a, enum coord_action act);

#endif
