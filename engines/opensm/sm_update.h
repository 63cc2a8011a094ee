/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sm_update: the update that a plugin has granted: whose it is, what routed before it, the steps
 * that it took, and until when somebody has to speak for it.
 *
 * Part of a session (sm_session.h), under its lock: nothing here allocates but what says so.
 */
#pragma once

#include "engines/opensm/known_tables.h"
#include "engines/opensm/table_selection.h"
#include "fabric/model/topology/endports.h"
#include "fabric/update/installer/osm_msg.h"

#define SM_UPDATE_STEPS 64 /* more are not gone back through one by one */

struct sm_update {
	bool open, going_back;
	struct osm_update who;
	uint64_t lease_ms, confirm_ms; /* clock_ms() until which; confirm_ms 0: no window */
	char ended[300];	       /* the last one, without a word of its client; "" */
	char ended_id[64];
	bool overruled; /* that one, by somebody's order to route otherwise */

	const struct tables *base;   /* routed before it; NULL: OpenSM's own engine did */
	const struct endports *ends; /* of the fabric of all of its tables */
	enum table_source base_is;
	struct digest base_hash;
	struct table_judged base_judged;
	struct known_tables *known;		    /* of its waves, and judged already */
	const struct tables *step[SM_UPDATE_STEPS]; /* loaded, the last one routes */
	uint32_t nsteps;
	bool steps_lost; /* there were more */
};

/* What has to be freed once the lock is given back. */
struct sm_update_rest {
	const struct tables *base, *step[SM_UPDATE_STEPS];
	const struct endports *ends;
	const struct fabric *base_f;
	struct known_tables *known;
	uint32_t nsteps;
};

/* What routes as it begins. */
struct sm_update_base {
	const struct tables *t; /* may be NULL */
	enum table_source is;
	struct digest hash;
	struct table_judged judged; /* its f may be NULL */
	const struct endports *ends;
};

/* Takes over what base refers to, and known. */
void sm_update_open(struct sm_update *u, const struct osm_update *who,
		    const struct sm_update_base *base, struct known_tables *known, uint64_t now_ms);
/* Its client has spoken. */
void sm_update_alive(struct sm_update *u, const struct osm_update *who, uint64_t now_ms);
/* Takes over t. */
void sm_update_step(struct sm_update *u, const struct tables *t, struct sm_update_rest *rest);
/* The step before the last, which is the last now; NULL: there is none. */
const struct tables *sm_update_step_back(struct sm_update *u, struct sm_update_rest *rest);
/* Over; why: without a word of its client, or NULL.  What it held goes to rest. */
void sm_update_close(struct sm_update *u, const char *why, struct sm_update_rest *rest);
void sm_update_rest_free(struct sm_update_rest *rest);
/* May this one load, keep, ...?  -EPERM: there is none or another is open; -ESTALE: it was
 * ended; -EUCLEAN: by somebody's order to route otherwise. */
int sm_update_check(const struct sm_update *u, const char *id, struct err *err);
/* Why it is to be ended now, or NULL. */
const char *sm_update_overdue(const struct sm_update *u, uint64_t now_ms);
