/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_gate: does a plan make jobs slower than the tables that it begins with? */
#pragma once

#include "engines/parx/message_figures.h"
#include "engines/time/time_gate.h"
#include "fabric/plan/plan.h"

/* Of its own jobs and demand, in the pattern that it was made with; not known without either.
 * -ECANCELED. */
int plan_gate(struct time_gate *out, const struct plan *p, struct progress *progress,
	      struct err *err);
/* What it is measured with, before and after; where messages have LIDs by their size, of large
 * ones, and figures has all of them. */
struct plan_times {
	enum predict_pattern pattern;
	struct time_gate gate;
	struct time_summary before, after;
	struct message_figures messages;
};

/* Errors as above; of shifts alone without jobs. */
int plan_times(struct plan_times *out, const struct plan *p, struct progress *progress,
	       struct err *err);
/* The sentence why it is not applied; what: as time_gate_text() has it. */
int plan_gate_refusal(const struct plan *p, const char *what, struct err *err);
