/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/sm_update.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CONFIRM_GRACE_MS 3000 /* its own client is to be first */

void sm_update_alive(struct sm_update *u, const struct osm_update *who, uint64_t now_ms)
{
	uint32_t lease = who->lease_ms ? who->lease_ms : OSM_LEASE_MS;

	u->lease_ms = now_ms + lease;
	u->confirm_ms = who->confirm_ms ? now_ms + who->confirm_ms + CONFIRM_GRACE_MS : 0;
	u->who.lease_ms = lease;
	if (!who->seq) /* who takes it over has not asked yet, but the one before may have */
		return;
	u->who.txn = who->txn;
	u->who.seq = who->seq;
}

void sm_update_open(struct sm_update *u, const struct osm_update *who,
		    const struct sm_update_base *base, struct known_tables *known, uint64_t now_ms)
{
	*u = (struct sm_update){
		.open = true,
		.who = *who,
		.base = base->t,
		.base_is = base->is,
		.base_hash = base->hash,
		.base_judged = base->judged,
		.ends = base->ends,
		.known = known,
	};
	sm_update_alive(u, who, now_ms);
}

/* Of too many steps only the last ones are kept: no way back through the first. */
void sm_update_step(struct sm_update *u, const struct tables *t, struct sm_update_rest *rest)
{
	*rest = (struct sm_update_rest){ 0 };
	if (u->nsteps == SM_UPDATE_STEPS) {
		rest->step[rest->nsteps++] = u->step[0];
		memmove(u->step, u->step + 1, (SM_UPDATE_STEPS - 1) * sizeof(*u->step));
		u->nsteps--;
		u->steps_lost = true;
	}
	u->step[u->nsteps++] = t;
}

const struct tables *sm_update_step_back(struct sm_update *u, struct sm_update_rest *rest)
{
	*rest = (struct sm_update_rest){ 0 };
	if (u->nsteps < 2)
		return NULL;
	rest->step[rest->nsteps++] = u->step[--u->nsteps];
	return u->step[u->nsteps - 1];
}

void sm_update_close(struct sm_update *u, const char *why, struct sm_update_rest *rest)
{
	struct sm_update was = *u;

	*rest = (struct sm_update_rest){
		.base = was.base,
		.ends = was.ends,
		.base_f = was.base_judged.f,
		.known = was.known,
		.nsteps = was.nsteps,
	};
	memcpy(rest->step, was.step, sizeof(rest->step));
	*u = (struct sm_update){ 0 };
	if (!why)
		return;
	snprintf(u->ended, sizeof(u->ended), "%s", why);
	memcpy(u->ended_id, was.who.id, sizeof(u->ended_id));
}

void sm_update_rest_free(struct sm_update_rest *rest)
{
	tables_put(rest->base);
	endports_put(rest->ends);
	fabric_put(rest->base_f);
	known_tables_free(rest->known);
	for (uint32_t i = 0; i < rest->nsteps; i++)
		tables_put(rest->step[i]);
}

int sm_update_check(const struct sm_update *u, const char *id, struct err *err)
{
	if (u->open && !strcmp(u->who.id, id))
		return u->going_back
			       ? err_set(err, -ESTALE, "OpenSM is already rolling the update back")
			       : 0;
	if (*id && !strcmp(u->ended_id, id))
		return err_set(err, u->overruled ? -EUCLEAN : -ESTALE, "%s", u->ended);
	if (u->open)
		return err_set(err, -EBUSY, "update %s of %s is in progress", u->who.id,
			       u->who.owner);
	return err_set(err, -EPERM, "no update was begun");
}

const char *sm_update_overdue(const struct sm_update *u, uint64_t now_ms)
{
	if (!u->open || u->going_back)
		return NULL;
	if (u->confirm_ms && now_ms >= u->confirm_ms)
		return "nobody confirmed in time, and the updating process did not roll back";
	if (now_ms >= u->lease_ms)
		return "the updating process does not respond";
	return NULL;
}
