/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: from the tables that are installed to the ones proposed, and what makes that stale.
 *
 * Immutable once made.  Equal inputs give an equal id, whenever it is made.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/demand.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/plan/change.h"
#include "fabric/plan/drain.h"
#include "fabric/plan/plan_files.h"

#include <stdbool.h>
#include <stdint.h>

/* Who answers for the subnet; guid 0 = not known (a dump, a simulator without one). */
struct sm_pin {
	uint64_t guid;
	uint8_t priority;
};

struct plan {
	char id[8];	    /* "p-7f3a": of the pins, the new tables and who made them */
	struct digest hash; /* over these, the order and the drain; not the time */

	const struct fabric *fabric;
	const struct tables *from, *to;
	const struct jobset *jobs; /* may be NULL */
	struct tables_diff *diff;
	struct changes *changes;   /* what is written, with the wave of each */
	struct change_order order; /* as given by plan_in_order(); n 0: all in one wave */
	struct drain drain;	   /* as given by plan_with_drain() */
	struct plan_files files;   /* as given by plan_from_files(); n 0: an engine made it */
	/* what its times are measured with, as given by plan_with_traffic(); NULL: no demand */
	const struct demand *demand;
	char pattern[16]; /* "": the default */

	struct digest from_hash, to_hash;
	struct sm_pin sm;
	int64_t time_s;

	uint8_t vls_needed; /* highest VL that a path can take on an inter-switch link, plus 1 */
	uint8_t op_vls;	    /* least on those links; 0 when one is unknown */
};

/* Takes references of f, from and jobs (may be NULL); what is to be is tables_onto(from, to).
 * Both tables must be of f (-EINVAL) and know their VLs (-EAGAIN); what was read must be whole,
 * since every block that is written back later comes from it.  time_s: when it is made. */
int plan_new(struct plan **out, const struct fabric *f, const struct tables *from,
	     const struct tables *to, const struct jobset *jobs, const struct sm_pin *sm,
	     int64_t time_s, struct err *err);
/* The same with progress, in switches, and -ECANCELED: with a large fabric it takes more than a
 * second. */
int plan_new_with_progress(struct plan **out, const struct fabric *f, const struct tables *from,
			   const struct tables *to, const struct jobset *jobs,
			   const struct sm_pin *sm, int64_t time_s, struct progress *progress,
			   struct err *err);
/* The same plan with its order and drain, of that time and under that SM: what is known of it is
 * copied, not found again. */
struct plan *plan_again(const struct plan *known, const struct sm_pin *sm, int64_t time_s);
/* The same plan in waves, before anybody else has it; copies order.  Its id stays. */
int plan_in_order(struct plan *p, const struct change_order *order, struct err *err);
/* Likewise what has to be drained; copies d, whose jobs are those of p. */
void plan_with_drain(struct plan *p, const struct drain *d);
/* Likewise what its tables were read from, which its id depends on. */
void plan_from_files(struct plan *p, const struct plan_files *files);
/* Likewise what its routings are measured with: a pattern's name (NULL or "": the default) and a
 * demand, of which it takes a reference (NULL: none); its id does not depend on them. */
void plan_with_traffic(struct plan *p, const struct demand *demand, const char *pattern);
void plan_free(struct plan *p); /* NULL is fine */

static inline bool plan_empty(const struct plan *p)
{
	return p->changes->n == 0;
}

/* 0: nothing moved since.  -ESTALE and a sentence that says what did: switches or cables
 * gone or new, blocks written by somebody else, jobs started or ended, another SM.
 * f and tables are what is there now (read again); jobs or sm NULL: not
 * watched. */
int plan_staleness(const struct plan *p, const struct fabric *f, const struct tables *tables,
		   const struct jobset *jobs, const struct sm_pin *sm, struct err *err);

/* The part of that which the switches and their cables are, whatever hosts there are: 0, or -ESTALE
 * and what differs. */
int plan_staleness_of_switches(const struct plan *p, const struct fabric *f, struct err *err);

/* Switches hold no SLs: where they forward as the plan found them, its SLs hold too.  from of the
 * plan, or t, which was read on f; only borrowed. */
const struct tables *plan_as_read(const struct plan *p, const struct fabric *f,
				  const struct tables *t);

/* Can the links carry it?  0; -ERANGE: a link has too few operational VLs for the VLs that
 * its paths take there (named); -ENODATA: none is known to, but of one it is not known how many
 * it has, as in most dumps.  Where OperVLs are short,
 * VLs would fold onto each other and the deadlock proof be void. */
int plan_check_vls(const struct plan *p, struct err *err);
/* Do the ports of the switches send from the VLs that it puts packets on?  0; -ERANGE: of one that
 * has no weight in the port's VL arbitration they do not; names VLs, port and the setting.  read:
 * the tables as read from the switches, of its fabric; of ports whose weights they do not tell
 * nothing is said.  Any turn counts as used by any SL of the paths. */
int plan_check_weights(const struct plan *p, const struct tables *read, struct err *err);
