/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * auto_mode: the automatic mode, whoever drives it: the loop of the console, which computes in its
 * worker and shows what it does, or the service, which does one thing after the other.
 *
 *   look at the jobs -> what is to be computed -> judge what came out -> how the update ended
 *
 * Which jobs count, what a routing is computed from, what is decided, and what the record says of
 * it is the same for both.
 */
#pragma once

#include "console/auto/auto_opts.h"
#include "console/auto/auto_propose.h"
#include "console/auto/auto_totals.h"
#include "console/record/record.h"

#define AUTO_TXN 48

/* Updates that there are journals of, of any process. */
struct auto_journals {
	bool open;	       /* one is not over */
	char newest[AUTO_TXN]; /* "": there is none */
};

struct auto_mode {
	const struct auto_opts *opts;
	struct engine_params params;  /* of engines, where opts do not say otherwise */
	struct record *const *record; /* where decisions go; what it points to may be NULL */
	/* A decision, a sentence; the same again is no news. */
	void (*say)(void *ctx, enum auto_act act, const char *why);
	void *ctx;

	struct auto_policy policy;
	const struct jobset *routed_for; /* jobs that were computed for last ... */
	struct digest fingerprint;	 /* ... on this fabric */
	bool proposed;			 /* a plan waits for somebody to look at it */
	const struct fabric *kept_on;	 /* what was confirmed last, and where; NULL: nothing */
	const struct tables *kept;
	char kept_txn[AUTO_TXN]; /* by that update */
	struct auto_totals totals;
	char said[sizeof(((struct auto_policy *)0)->why)];
};

/* What is there; all of it borrowed. */
struct auto_seen {
	bool known; /* the source of jobs answers now; the rest is of use only where it does */
	bool busy;  /* an update, whoever's, is under way or was left unfinished */
	const struct fabric *f; /* NULL: not looked at */
	const struct tables *installed;
	const struct jobset *jobs; /* all that run */
	struct sm_pin sm;
	bool plugin;	    /* the subnet manager routes by what was confirmed */
	const char *newest; /* update that there was; NULL: not known */
};

/* The first look is due at once.  armed: it may write. */
void auto_mode_start(struct auto_mode *m, bool armed);
void auto_mode_end(struct auto_mode *m); /* an all-zero one is fine */
bool auto_mode_due(const struct auto_mode *m);
double auto_mode_next_s(const struct auto_mode *m); /* until it looks again, not below 0 */

/* AUTO_WAIT, or AUTO_COMPUTE: for the jobs that count now, which are remembered. */
enum auto_act auto_mode_look(struct auto_mode *m, const struct auto_seen *seen);
/* Who may be drained, by options and by the socket and key of the agents. */
struct auto_agents auto_mode_agents(const struct auto_mode *m, const char *socket, const char *key);
/* What a plan for these jobs is computed from; route_inputs_drop() gives it back, also after an
 * error.  Where what was confirmed last has been overwritten since, nothing is written any more. */
int auto_mode_inputs(struct route_inputs *out, struct auto_mode *m, const struct auto_seen *seen,
		     struct err *err);
/* AUTO_WAIT, AUTO_PROPOSE or AUTO_APPLY. */
enum auto_act auto_mode_judge(struct auto_mode *m, const struct auto_plan *p);
void auto_mode_failed(struct auto_mode *m, const char *what); /* there is no plan */
/* An update of AUTO_APPLY is over.  txn: its name, "" when there was none; text: why it was not
 * kept. */
void auto_mode_ended(struct auto_mode *m, enum auto_end end, const char *txn, const char *text);
/* What AUTO_KEPT has left in the switches of f, until the next one. */
void auto_mode_confirmed(struct auto_mode *m, const struct fabric *f, const struct tables *t);
/* Says what it did since midnight (UTC), or since it began; at the end of a service.  What is over
 * at midnight says so by itself. */
void auto_mode_say_totals(struct auto_mode *m);

/* Both false and "" where they cannot be read. */
void auto_mode_journals(struct auto_journals *out, const char *state_dir);
