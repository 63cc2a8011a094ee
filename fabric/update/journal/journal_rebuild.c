/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/journal/journal_rebuild.h"

#include "fabric/base/memory/mem.h"
#include "fabric/plan/file/planfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "20261120T231951Z-4711": when it was begun, and by which process. */
static void journal_rebuild_from_id(struct txn_head *h, const char *id)
{
	struct tm tm = { 0 };
	const char *rest = strptime(id, "%Y%m%dT%H%M%SZ-", &tm);

	snprintf(h->id, sizeof(h->id), "%.47s", id);
	if (!rest)
		return;
	h->time_s = timegm(&tm);
	h->number = (uint64_t)h->time_s;
	h->pid = (pid_t)strtol(rest, NULL, 10);
}

static void journal_rebuild_from_plan(struct txn_head *h, const struct plan *p)
{
	snprintf(h->fabric, sizeof(h->fabric), "%s", p->fabric->name);
	snprintf(h->plan, sizeof(h->plan), "%s", p->id);
	snprintf(h->engine, sizeof(h->engine), "%s", p->to->engine);
	h->fingerprint = p->fabric->fingerprint;
	h->from_hash = p->from_hash;
	h->to_hash = p->to_hash;
	h->nlft = p->changes->nlft;
	h->nsl2vl = p->changes->nsl2vl;
	h->nwaves = p->changes->nwaves;
}

int journal_rebuild(struct txn_head *head, struct changes **out, const char *dir, const char *id,
		    struct err *err)
{
	char *path = xasprintf("%s/%s", dir, JOURNAL_PLAN);
	struct plan *p;
	int rc = plan_load(&p, path, err);

	free(path);
	*head = (struct txn_head){ .user = "?", .host = "?", .plan = "?" };
	journal_rebuild_from_id(head, id);
	if (rc)
		return rc;
	journal_rebuild_from_plan(head, p);
	*out = changes_copy(p->changes);
	for (uint32_t i = 0; i < (*out)->n; i++)
		(*out)->v[i].sw = FAB_NONE;
	plan_free(p);
	return 0;
}
