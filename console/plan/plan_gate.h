/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_gate: does a plan make jobs slower than the tables that it begins with? */
#pragma once

#include "engines/time/time_gate.h"
#include "fabric/plan/plan.h"

/* Of its own jobs and demand, in the pattern that it was made with; not known without either.
 * -ECANCELED. */
int plan_gate(struct time_gate *out, const struct plan *p, struct progress *progress,
	      struct err *err);
/* The sentence why it is not applied; what: as time_gate_text() has it. */
int plan_gate_refusal(const struct plan *p, const char *what, struct err *err);
