/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_preview: a plan as it is looked at: one computed routing with what is known of it; several
 * are kept side by side.
 *
 * The application fills it and owns what it points to.
 */
#pragma once

#include "engines/metrics/metrics.h"
#include "engines/parx/message_figures.h"
#include "engines/predict/forecast.h"
#include "engines/predict/traffic.h"
#include "engines/time/job_time_changes.h"
#include "engines/time/time_gate.h"
#include "engines/time/time_summary.h"
#include "engines/verify/verify.h"
#include "fabric/base/text/notes.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/plan/plan.h"
#include "views/data/state/option_result.h"
#include "views/data/state/request.h"

#include <stdbool.h>
#include <stdint.h>

enum order_state {
	ORDER_NONE, /* there is nothing to order: no current tables, or they must not be written */
	ORDER_WAITS,
	ORDER_FAILED, /* order_error says why */
	ORDER_ENDED,  /* by the operator, likewise */
	ORDER_FOUND,  /* plan is there */
};

struct plan_preview {
	char id[8];	 /* of its plan, "p-7f3a"; without tables to change from, "p-1" */
	uint32_t engine; /* index in state.preview.engines */
	struct preview_options options;
	struct option_result was; /* of the same engine with other options, before; or not known */
	int64_t made_s;
	double seconds;	 /* engine alone */
	char stale[200]; /* "" fresh; else what changed since */

	const struct plan_files *files; /* that its tables were read from; n 0: computed */
	const struct notes *notes;
	const struct tables *from; /* installed when it was made; NULL: not known */
	const struct tables *tables;
	const struct jobset *jobs;    /* that it was made for */
	const struct metrics *before; /* of the current tables with these jobs */
	const struct metrics *after;
	struct time_summary time_now, time_plan;  /* likewise, of an all-to-all of the jobs */
	struct time_gate gate;			  /* do jobs get slower? */
	const struct job_time_changes *jobs_time; /* job by job, likewise; NULL: not known */
	const struct message_figures *messages;	  /* NULL or not known: it has no choice of LIDs */
	const struct verdict *verdict;
	const struct tables_diff *diff;

	bool forecasting;    /* what follows is being computed, or waits for that */
	bool forecast_ended; /* by the operator */
	struct forecast now, plan;
	struct traffic traffic_now, traffic_plan;
	bool traffic_tried; /* since hosts were measured to send */

	enum order_state order;
	bool ordering; /* waits, and is the one that is looked for now */
	char order_error[400];
	const struct plan *ordered; /* with waves and drain */
};

/* What it is compared with: a stale one with what was in use when it was made. */
static inline const char *plan_preview_when(const struct plan_preview *x)
{
	return x->stale[0] ? "then" : "now";
}

#define PLANS_MAX 6
