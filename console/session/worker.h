/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker: the thread that computes, one thing at a time: previews, and the figures of the
 * installed tables.  Results and progress go into the mailbox.
 */
#pragma once

#include "console/auto/auto_propose.h"
#include "console/plan/route_report.h"
#include "console/session/message.h"

struct worker;

/* 0, or -errno with a sentence. */
int worker_start(struct worker **out, struct mailbox *box, struct err *err);
void worker_stop(struct worker *w); /* cancels; NULL is fine */

/* Figures of installed tables and, with verify, their verdict, which does not depend on jobs;
 * a newer request replaces one that waits.  jobs may be NULL.  Their usage follows in a message of
 * its own, with lanes when these are wanted, as soon as there is nothing else to do. */
void worker_metrics(struct worker *w, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, bool verify, bool lanes);

/* Only the metrics, of an earlier sample.  Replaces a request of worker_metrics() that waits. */
void worker_history_metrics(struct worker *w, const struct fabric *f, const struct tables *t,
			    const struct jobset *jobs, bool verify);

/* An engine's tables, a file's, or those given, with verdict, metrics before and after, and
 * difference.  serial comes back as the message's total.  Replaces a preview that waits and cancels
 * one that runs. */
void worker_preview(struct worker *w, const struct route_inputs *in, uint64_t serial);
/* The same for automatic mode, with the plan's order of writes, and whether all who have to drain
 * have agents: in the message's automatic and ordered.  who's socket must outlive the worker. */
void worker_propose(struct worker *w, const struct route_inputs *in, const struct auto_agents *who,
		    uint64_t serial);
/* The same for tables that were kept from another fabric, was, of the same switches: with jobs and
 * running they follow its hosts first.  The message names these. */
void worker_graft(struct worker *w, const struct route_inputs *in, const struct fabric *was,
		  uint64_t serial);
void worker_cancel(struct worker *w); /* the preview */

/* The plan from the installed tables to those given, with its order of writes and its drain, which
 * somebody waits for, before anything else: MSG_ORDERED.  Replaces one that waits, cancels one that
 * runs. */
void worker_order(struct worker *w, const struct route_inputs *in, uint64_t serial);
void worker_cancel_order(struct worker *w);

/* The plan of a preview, when nothing else is to be done, or, when it is urgent, at once:
 * MSG_COST.  Replaces one that waits; gives way (-ECANCELED) to a preview and an order. */
void worker_cost(struct worker *w, const struct route_inputs *in, uint64_t serial, bool urgent);
void worker_cancel_cost(struct worker *w);

/* What traffic is to expect of either table, and what links would carry where rates are known.
 * from and rates may be NULL. */
struct forecast_ask {
	const struct fabric *fabric;
	const struct tables *from, *to;
	const struct jobset *jobs;
	const struct rates *rates;
	bool traffic_only; /* only what links would carry: MSG_TRAFFIC */
	uint64_t serial;   /* comes back as the message's total */
};

/* When nothing else is to be done: MSG_FORECAST.  Replaces one that waits; gives way
 * (-ECANCELED) to a preview and an order. */
void worker_forecast(struct worker *w, const struct forecast_ask *ask);

/* What runs and nobody has asked for by a key: figures, usage, a forecast.  It tells its end,
 * -ECANCELED. */
void worker_cancel_background(struct worker *w);
