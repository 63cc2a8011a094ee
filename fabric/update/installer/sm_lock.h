/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sm_lock: who writes, as the SM can tell everybody: a record of a service with a lease, under one
 * name for all updates of the fabric.
 *
 *   saquery -S
 *
 * shows it: its name is SM_LOCK_NAME, its data say which update on which host.  Records of several
 * nodes do not exclude each other at the SM.  So one looks whether there is another's, sets its
 * own, and looks again: two that begin at the same moment both see both, and both withdraw. What
 * OpenSM's plugin has granted has another name: whom it grants the next one knows that such a
 * record is left over.  It keeps honest writers apart; whoever may send to the SM can set and
 * remove any record.
 */
#pragma once

#include "fabric/update/executor.h"
#include "fabric/update/installer/osm_link.h"
#include "fabric/wire/sa.h"
#include "fabric/wire/wire.h"

#define SM_LOCK_NAME	"ibroute-top update"
#define SM_LOCK_GRANTED "ibroute-top update granted by OpenSM"
#define SM_LOCK_LEASE_S 60 /* renewed after a third of it */

struct sm_lock {
	struct wire *w;
	uint64_t guid; /* of the port */
	uint32_t lease_s;
	struct service_record mine;
	bool held;
	bool granted;	   /* by OpenSM's plugin, which grants one at a time */
	uint64_t renew_ms; /* when it is due */
	char none[200];	   /* why there is no lock; "": there is one, or it was not tried */
};

void sm_lock_init(struct sm_lock *l, struct wire *w);
/* For people, with why. */
#define SM_LOCK_NONE "no lock keeps other nodes from writing during the update: %s"

/* As executor_opts.grant wants it.  -EBUSY: another update has its record there.  An SM that keeps
 * no such records, or does not answer, is no error: l->none says that there is no lock. */
int sm_lock_grant(struct sm_lock *l, const struct executor_grant *g, struct err *err);
/* The same after OpenSM's plugin has granted it (osm NULL: there is none).  A rollback that the
 * plugin knows nothing of any more goes on, and has the record. */
int sm_lock_grant_with(struct sm_lock *l, struct osm_link *osm, const struct executor_grant *g,
		       struct err *err);
/* As with GRANT_END: whatever this update has at the SM is removed.  Again is fine. */
void sm_lock_end(struct sm_lock *l);
