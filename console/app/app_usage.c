/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who uses which link and lane, as the worker finds it. */
#include "console/app/app_priv.h"

/* Lanes do not depend on jobs: those of the same tables are kept. */
static bool app_data_keeps_lanes(const struct app *a)
{
	return a->usage && a->usage->lanes && a->usage->tables == a->tables;
}

bool app_wants_lanes(const struct app *a)
{
	return a->state.sls_known && tables_know_vls(a->tables) && !app_data_keeps_lanes(a);
}

void app_take_usage(struct app *a, struct msg *msg)
{
	struct link_usage *u = msg->usage;

	/* one of other tables was overtaken; what replaces it is on its way */
	if (!u || u->tables != a->tables)
		return;
	msg->usage = NULL;
	if (!u->lanes && app_data_keeps_lanes(a)) {
		u->lanes = a->usage->lanes;
		a->usage->lanes = NULL;
	}
	link_usage_free(a->usage);
	a->usage = u;
	a->state.usage = u;
}
