/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/sm_lock.h"

#include "fabric/base/message/log.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/installer/osm_grant.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_LOCAL 0x0262724c00000000ull /* of the local OS (4.1.3 of annex A3): 02, "brL" */
#define AGAIN_MS 5000

void sm_lock_init(struct sm_lock *l, struct wire *w)
{
	struct mad_local local;

	wire_local(w, &local);
	*l = (struct sm_lock){ .w = w, .guid = local.port_guid, .lease_s = SM_LOCK_LEASE_S };
}

/* FNV-1a: who recovers an update finds its record again. */
static uint64_t sm_lock_id(const char *txn)
{
	uint32_t sum = 0x811c9dc5;

	for (; *txn; txn++)
		sum = (sum ^ (uint8_t)*txn) * 0x01000193;
	return ID_LOCAL | sum;
}

static void sm_lock_fill(struct sm_lock *l, const char *txn)
{
	char host[32] = "?", data[SERVICE_TEXT + 1] = "";

	gethostname(host, sizeof(host));
	host[sizeof(host) - 1] = '\0';
	snprintf(data, sizeof(data), "%.30s %.31s", txn, host);
	l->mine = (struct service_record){ .id = sm_lock_id(txn), .lease_s = l->lease_s };
	snprintf(l->mine.name, SERVICE_TEXT, "%s", l->granted ? SM_LOCK_GRANTED : SM_LOCK_NAME);
	memcpy(l->mine.data, data, SERVICE_TEXT);
}

static void sm_lock_owner(char out[SERVICE_TEXT + 1], const struct service_record *r)
{
	memcpy(out, r->data, SERVICE_TEXT);
	out[SERVICE_TEXT] = '\0';
	plain_text(out, "");
}

static int sm_lock_busy(const struct sm_lock *l, const struct service_record *r, struct err *err)
{
	char who[SERVICE_TEXT + 1], at[40] = "";
	char *host;

	if (!r)
		return err_set(
			err, -EBUSY,
			"other updates of this fabric are in progress, or begin just now, by "
			"their records at the subnet manager (saquery -S): try again");
	sm_lock_owner(who, r);
	host = strchr(who, ' ');
	if (host) {
		*host++ = '\0';
		snprintf(at, sizeof(at), " on %.31s", host);
	}
	return err_set(err, -EBUSY,
		       "update %s%s (port 0x%016lx) is in progress, by its record at the subnet "
		       "manager (saquery -S): wait until it is over, or if its process is gone %u "
		       "s; --without-lock writes all the same",
		       who, at, (unsigned long)r->gid_guid, l->lease_s);
}

/* By the update, the first word: who recovers it may do without the plugin that granted it. */
static bool sm_lock_is_mine(const struct sm_lock *l, const struct service_record *r)
{
	size_t len = strcspn(l->mine.data, " ") + 1;

	return r->id == l->mine.id && !memcmp(r->data, l->mine.data, len);
}

/* 0: nobody's, or this update's own. */
static int sm_lock_look_for(struct sm_lock *l, const char *name, struct err *err)
{
	struct service_record like = { 0 }, r;
	int rc;

	snprintf(like.name, SERVICE_TEXT, "%s", name);
	rc = wire_service_find(&r, l->w, &like, SERVICE_BY_NAME, err);
	if (rc == -ENOENT)
		return 0;
	if (rc == -ENOTUNIQ)
		return sm_lock_busy(l, NULL, err);
	if (!rc && !sm_lock_is_mine(l, &r))
		return sm_lock_busy(l, &r, err);
	if (!rc && r.gid_guid != l->guid) /* who recovers it does so from another port */
		wire_service_remove(l->w, &r, err);
	return rc;
}

/* Of those that the plugin grants only one is under way: that one. */
static int sm_lock_look(struct sm_lock *l, struct err *err)
{
	int rc = sm_lock_look_for(l, SM_LOCK_NAME, err);

	return rc || l->granted ? rc : sm_lock_look_for(l, SM_LOCK_GRANTED, err);
}

static int sm_lock_set(struct sm_lock *l, struct err *err)
{
	int rc = wire_service_set(l->w, &l->mine, err);

	l->renew_ms = clock_ms() + (rc ? AGAIN_MS : 1000ull * l->lease_s / 3);
	return rc;
}

static int sm_lock_try(struct sm_lock *l, struct err *err)
{
	struct err gone;
	int rc = sm_lock_look(l, err);

	if (!rc)
		rc = sm_lock_set(l, err);
	if (rc)
		return rc;
	rc = sm_lock_look(l, err);
	if (rc)
		wire_service_remove(l->w, &l->mine, &gone);
	return rc;
}

static int sm_lock_take(struct sm_lock *l, struct err *err)
{
	int rc = sm_lock_try(l, err);

	l->none[0] = '\0';
	l->held = !rc;
	if (!rc || rc == -EBUSY || rc == -ECANCELED)
		return rc;
	snprintf(l->none, sizeof(l->none), "%.199s", err->text);
	return 0;
}

/* An SM that was started again knows nothing of it. */
static int sm_lock_renew(struct sm_lock *l, struct err *err)
{
	struct service_record r;
	int rc = wire_service_find(&r, l->w, &l->mine, SERVICE_BY_ID | SERVICE_BY_GID, err);

	if (rc == -ENOENT)
		return sm_lock_take(l, err);
	if (!rc)
		rc = sm_lock_set(l, err);
	if (!rc)
		return 0;
	l->renew_ms = clock_ms() + AGAIN_MS;
	log_add(LOG_WARN, "apply", "the update's record at the subnet manager: %s", err->text);
	return 0;
}

/* Also what this process could not take, but the one before it has left. */
void sm_lock_end(struct sm_lock *l)
{
	struct err err = { "" };
	int rc = l->mine.id ? wire_service_remove(l->w, &l->mine, &err) : 0;

	if (rc && l->held)
		log_add(LOG_WARN, "apply", "the update's record at the subnet manager: %s",
			err.text);
	l->held = false;
	l->mine.id = 0;
}

int sm_lock_grant(struct sm_lock *l, const struct executor_grant *g, struct err *err)
{
	switch (g->step) {
	case GRANT_BEGIN:
	case GRANT_RESUME:
		sm_lock_fill(l, g->txn);
		return sm_lock_take(l, err);
	case GRANT_ALIVE:
	case GRANT_CONFIRM:
		return l->held && clock_ms() >= l->renew_ms ? sm_lock_renew(l, err) : 0;
	case GRANT_END:
		sm_lock_end(l);
	}
	return 0;
}

int sm_lock_grant_with(struct sm_lock *l, struct osm_link *osm, const struct executor_grant *g,
		       struct err *err)
{
	struct err why = { "" };
	int rc = osm_grant(osm, g, err), mine;

	if (rc == -EBUSY || (rc && g->step != GRANT_RESUME && g->step != GRANT_END))
		return rc;
	mine = sm_lock_grant(l, g, &why);
	return mine ? err_set(err, mine, "%s", why.text) : rc;
}
