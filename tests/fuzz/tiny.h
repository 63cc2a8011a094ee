/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tiny: a fabric of four switches, tables and plans for it. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/plan/plan.h"

#define TINY_TABLES 3
#define TINY_PLANS  3

/* Made at the first call; stays, as do the tables. */
struct fabric *tiny_fabric(void);
struct tables *tiny_tables(unsigned i);
/* From tables i to the next, with jobs; the caller frees it.  Plan 0 has a LID to be drained, plan
 * 1 an order of writes, plan 2 writes nothing. */
struct plan *tiny_plan(unsigned i);
