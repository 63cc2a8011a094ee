/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_grant.h"

#include "fabric/update/installer/osm_routing.h"

#include <stdio.h>
#include <unistd.h>

#define EVERY_MS 1000

static void osm_grant_owner(char *buf, size_t size)
{
	const char *user = getlogin();
	char host[64] = "?";

	gethostname(host, sizeof(host));
	host[sizeof(host) - 1] = '\0';
	snprintf(buf, size, "%.30s%s%.48s, process %d", user ? user : "", user ? "@" : "", host,
		 (int)getpid());
}

int osm_grant(struct osm_link *l, const struct executor_grant *g, struct err *err)
{
	struct osm_update u = {
		.confirm_ms = g->confirm_ms,
		.txn = g->notices,
		.seq = g->seq,
	};
	int rc;

	if (!l)
		return 0;
	if (g->step == GRANT_END)
		return osm_link_end(l, err);
	if (g->step == GRANT_ALIVE || g->step == GRANT_CONFIRM) {
		rc = osm_link_alive(l, &u, g->step == GRANT_ALIVE ? EVERY_MS : 0, err);
		return rc > 0 ? 0 : rc ? rc : osm_routing_check(l, err);
	}
	snprintf(u.id, sizeof(u.id), "%s", g->txn);
	osm_grant_owner(u.owner, sizeof(u.owner));
	digest_hex(u.fabric, g->fabric);
	rc = osm_link_begin(l, &u, g->step == GRANT_RESUME, err);
	return rc ? rc : osm_routing_check(l, err);
}
