/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of poller share this: poller.c is the thread and what it reads, poller_update.c what
 * it writes.
 */
#ifndef CONSOLE_POLLER_PRIV_H
#define CONSOLE_POLLER_PRIV_H

#include "console/agents.h"
#include "console/poller.h"
#include "console/reading.h"
#include "console/sweep_pace.h"
#include "fabric/base/vec.h"
#include "fabric/update/apply.h"
#include "fabric/update/osm_link.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum want_type {
	WANT_SWEEP,
	WANT_TABLES,
	WANT_SAMPLE,
	WANT_APPLY,
	WANT_CONFIRM,
	WANT_ROLLBACK,
	WANT_RECOVER
};

struct want {
	enum want_type type;
	struct plan *plan;
	char txn[48];
};

struct poller {
	struct poller_opts opts;
	struct wire *wire;
	struct mailbox *box;
	struct record *record;
	pthread_t thread;

	/* guarded by lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	VEC(struct want) wants;
	bool stop;
	bool sweeping; /* and may be ended by progress.cancel */
	double interval_s;
	const struct jobset *jobs;
	struct apply *apply; /* set and cleared by the thread; others only cancel */

	/* the thread's own */
	struct progress progress;
	const struct fabric *fabric;
	struct plan *plan;    /* of the update */
	struct osm_link *osm; /* NULL: our plugin has not answered yet */
	struct installer installer;
	struct agents agents;
	struct readings *readings;
	bool lost, sm_lost, foreign, tables_read;
	const struct sweep_report *discovering; /* filled by the sweep that runs */
	struct sweep_pace pace;			/* of sweeps */
	uint64_t last_step_ms;
	const char *step; /* of a reading, since step_ms */
	uint64_t step_ms;
	double sample_at, sweep_at, tables_at, sm_at; /* when due */
	const struct tables *tables;		      /* read last, whole; NULL: none */
	double sl2vl_at; /* when they are to be read with SL2VL again */
};

/* Out: the fabric as it is now.  0 or -errno. */
/* silent: a line for each place where nobody answers (struct sweep_gap), the caller frees it; may be
 * NULL. */
int poller_discover(const struct fabric **out, struct poller *p, bool *partial, char **silent,
		    struct err *err);
void poller_read_tables(struct poller *p);
void poller_want(struct poller *p, struct want t);

/* In the poller's thread; each ends in one MSG_APPLY_END, unless there is nothing to decide. */
void poller_start_update(struct poller *p, struct plan *plan); /* takes plan */
void poller_decide_update(struct poller *p, bool keep);
void poller_recover_update(struct poller *p, const char *txn);

#endif
