/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_order: in which order a plan is written and whose traffic has to be away meanwhile. */
#pragma once

#include "engines/transition/transition.h"
#include "fabric/plan/plan.h"

/* Gives p its order and its drain (and another id).  out: how it was found, may be NULL.
 * -ECANCELED; other errors of transition_plan(): then p is as it was, and must not be applied. */
int plan_order_find(struct plan *p, struct transition **out, struct progress *progress,
		    struct err *err);
