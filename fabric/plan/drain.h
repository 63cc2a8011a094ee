/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain: whose traffic must move away while tables are written.
 *
 * Waves alone (engines/transition/transition.h) avoid loss and deadlock except for the LIDs
 * listed here, to which no traffic may flow.  They do not keep packets in order: when the path
 * of a connection changes, a later packet may overtake one in flight.  So there are two sets of
 * jobs: those that need the drain, and all whose connections change, which are asked as well if
 * they have agents.  Jobs, not nodes: both ends of a connection have to move.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/traffic/jobset.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum drain_why { /* as in engines/transition/transition.h */
		 DRAIN_OLD_LOOP,
		 DRAIN_OLD_SL,
		 DRAIN_OTHERS,
		 DRAIN_NO_ORDER,
		 DRAIN_WHYS
};

const char *drain_why_name(enum drain_why why); /* "old loop", ... */

struct drain_lid {
	uint16_t lid;
	uint8_t why; /* enum drain_why */
};

struct drain_job {
	uint32_t job; /* in the jobs of the plan */
	bool needed;  /* sends to LIDs that need the drain; else only its order is at stake */
};

struct drain {
	bool known;  /* false: a plan without waves, or of an earlier version */
	bool jobs;   /* it is known which jobs run */
	bool escape; /* the old tables have escape LIDs that the new ones leave as they are */
	uint32_t unassigned_lids; /* of the LIDs below those that no multi-switch job owns */
	struct drain_lid *lid; /* ascending; traffic to them must be gone before the first write */
	uint32_t nlid;
	struct drain_job *job; /* ascending */
	uint32_t njob, nneeded;
};

/* The rest, once lid and nlid are there (taken over from *d).  jobs may be NULL.  A job whose
 * paths may only change in their VLs counts as changed.  Progress step "drain"; -ECANCELED.
 * O(jobs * switches * LIDs of the job * hops) where nothing changes, less where much does. */
int drain_find(struct drain *d, const struct fabric *f, const struct tables *from,
	       const struct tables *to, const struct jobset *jobs, const struct tables_diff *diff,
	       struct progress *progress, struct err *err);
/* Escape LIDs are among those to drain: traffic cannot be moved to any. */
bool drain_has_escape_lids(const struct drain *d, const struct fabric *f);
void drain_copy(struct drain *out, const struct drain *d);
void drain_clear(struct drain *d);

/* Nobody may write before somebody was asked to drain. */
static inline bool drain_needed(const struct drain *d)
{
	return d->nlid > 0;
}

void drain_digest(struct digest_stream *s, const struct drain *d, const struct jobset *jobs);

/* As a plan holds it: jobs by id. */
json_t *drain_encode(const struct drain *d, const struct jobset *jobs);
/* -EBADMSG: does not fit the fabric or the jobs. */
int drain_decode(struct drain *out, const json_t *j, const struct fabric *f,
		 const struct jobset *jobs, struct err *err);

/* One or two sentences: "12 LIDs need the drain, which 3 jobs (96 nodes) send to ...", with the
 * hosts of those that belong to no job. */
void drain_text(char *buf, size_t size, const struct drain *d, const struct fabric *f,
		const struct jobset *jobs);
/* Who has the LIDs of no job: "stor01 (LID 12), stor02 (LIDs 14-15) and 29 more", as many as there
 * is room for; "": there are none. */
void drain_unassigned_text(char *buf, size_t size, const struct drain *d, const struct fabric *f,
			   const struct jobset *jobs);
/* -EPERM and who they are, where LIDs of no job need the drain and nobody has accepted that. */
int drain_check_unassigned(const struct drain *d, const struct fabric *f, const struct jobset *jobs,
			   struct err *err);
