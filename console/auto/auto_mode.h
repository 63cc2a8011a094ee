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
#include "console/record/record.h"

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
};

/* The first look is due at once.  armed: it may write. */
void auto_mode_start(struct auto_mode *m, bool armed);
void auto_mode_end(struct auto_mode *m); /* an all-zero one is fine */
bool auto_mode_due(const struct auto_mode *m);
double auto_mode_next_s(const struct auto_mode *m); /* until it looks again, not below 0 */

/* AUTO_WAIT, or AUTO_COMPUTE: for the jobs that count now, which are remembered. */
enum auto_act auto_mode_look(struct auto_mode *m, const struct auto_seen *seen);
/* What a plan for these jobs is computed from; route_inputs_drop() gives it back, also after an
 * error. */
int auto_mode_inputs(struct route_inputs *out, const struct auto_mode *m,
		     const struct auto_seen *seen, struct err *err);
/* AUTO_WAIT, AUTO_PROPOSE or AUTO_APPLY. */
enum auto_act auto_mode_judge(struct auto_mode *m, const struct auto_plan *p);
void auto_mode_failed(struct auto_mode *m, const char *what); /* there is no plan */
/* An update of AUTO_APPLY is over.  txn: its name, "" when there was none; text: why it was not
 * kept. */
void auto_mode_ended(struct auto_mode *m, enum auto_end end, const char *txn, const char *text);

/* Is there a journal of an update, of any process, that is not over? */
bool auto_mode_journal_open(const char *state_dir);
