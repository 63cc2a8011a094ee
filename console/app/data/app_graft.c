/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts have come or left, and the switches are the same: tables that this session knows follow
 * them, and plans are judged and ordered again, one after the other, once the installed tables
 * are read. */
#include "console/app/app_priv.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* A plan that waits for that; what it was computed from is in msg. */
struct app_graft {
	struct msg *msg;
	char id[8];
	uint32_t engine;
	struct preview_options options;
	int64_t made_s;
	bool selected;
};

static void app_graft_drop(struct app *a, uint32_t at)
{
	msg_drop(a->grafts[at]->msg);
	free(a->grafts[at]);
	a->ngrafts--;
	memmove(a->grafts + at, a->grafts + at + 1, (a->ngrafts - at) * sizeof(*a->grafts));
}

static void app_graft_lost(struct app *a, const char *why)
{
	log_add(LOG_WARN, "preview", "plan %s was discarded, as the hosts have changed: %s",
		a->grafts[0]->id, why);
	app_graft_drop(a, 0);
}

bool app_graft_keep(struct app *a, struct msg *msg, const struct plan_preview *x, bool selected)
{
	struct app_graft *g;

	if (a->ngrafts == PLANS_MAX || !a->state.fabric ||
	    !digest_equal(&msg->fabric->switch_graph, &a->state.fabric->switch_graph))
		return false;
	g = xcalloc(1, sizeof(*g));
	*g = (struct app_graft){ .msg = msg,
				 .engine = x->engine,
				 .options = x->options,
				 .made_s = x->made_s,
				 .selected = selected };
	memcpy(g->id, x->id, sizeof(g->id));
	a->grafts[a->ngrafts++] = g;
	return true;
}

void app_graft_fabric(struct app *a)
{
	a->graft_serial = 0;
	for (uint32_t i = a->ngrafts; i-- > 0;)
		if (!a->state.fabric || !digest_equal(&a->grafts[i]->msg->fabric->switch_graph,
						      &a->state.fabric->switch_graph))
			app_graft_drop(a, i);
}

static bool app_graft_may_begin(const struct app *a)
{
	return a->ngrafts && !a->graft_serial && a->state.preview.state != PREVIEW_RUNNING &&
	       a->state.fabric && a->state.tables && tables_know_vls(a->state.tables) &&
	       !app_tables_awaited(a);
}

const struct fabric *app_graft_next(struct app *a, struct route_inputs *in)
{
	const struct app_graft *g = a->grafts[0];

	/* somebody else's preview was asked for instead: once more, after it */
	if (a->graft_serial && a->graft_serial != a->preview_serial)
		a->graft_serial = 0;
	if (!app_graft_may_begin(a))
		return NULL;
	*in = (struct route_inputs){ .f = a->state.fabric,
				     .installed = a->state.tables,
				     .tables = g->msg->tables,
				     .files = &g->msg->files,
				     .jobs = g->msg->jobs,
				     .running = g->msg->running,
				     .demand = g->msg->demand,
				     .params = g->options.params,
				     .sm = app_sm_pin(a) };
	return g->msg->fabric;
}

void app_graft_asked(struct app *a)
{
	a->graft_serial = a->preview_serial;
}

const struct preview_options *app_graft_options(const struct app *a, uint32_t *engine)
{
	*engine = a->grafts[0]->engine;
	return &a->grafts[0]->options;
}

static bool app_graft_is(const struct app *a, const struct msg *msg)
{
	return a->ngrafts && msg->total == a->graft_serial;
}

/* What its engine reported, and how long it took, is still true. */
void app_graft_made(struct app *a, struct msg *msg, struct plan_preview *x, bool *selected)
{
	struct app_graft *g = a->grafts[0];
	struct notes notes = msg->notes;

	if (!app_graft_is(a, msg))
		return;
	a->graft_serial = 0;
	log_add(LOG_INFO, "preview", "plan %s follows the hosts: %s", g->id, msg->followed);
	*selected = g->selected;
	x->made_s = g->made_s;
	x->seconds = g->msg->seconds;
	if (verdict_ok(msg->verdict)) {
		msg->notes = g->msg->notes;
		g->msg->notes = notes;
	}
	app_graft_drop(a, 0);
}

bool app_graft_failed(struct app *a, const struct msg *msg)
{
	if (msg->type != MSG_PREVIEW_FAILED || !app_graft_is(a, msg))
		return false;
	a->graft_serial = 0;
	app_graft_lost(a, msg->text);
	return true;
}

void app_graft_end(struct app *a)
{
	while (a->ngrafts)
		app_graft_drop(a, a->ngrafts - 1);
}
