/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The installed tables, as they are read: LFTs first, their SL2VL perhaps much later. */
#include "console/app/app_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Switches hold no SLs of paths.  Where they hold exactly what this session knows, the SLs
 * are those that went with it. */
static const struct tables *app_data_with_sls(struct app *a, const struct tables *t)
{
	const struct tables *known[] = { a->applied, a->undo, a->first };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && tables_know_vls(t); i++)
		if (known[i] && tables_forward_same(a->fabric, known[i], t)) {
			tables_put(t);
			return tables_get(known[i]);
		}
	return t;
}

/* Tables that came without SLs say 0 for all. */
static bool app_data_knows_sls(const struct tables *t)
{
	return t->sl_kind != SL_CONST || !tables_as_found(t);
}

/* Their SL2VL has come, and that is all: figures of LFTs hold for the new ones as well. */
static bool app_data_only_vls_are_new(const struct tables *old, const struct tables *t)
{
	return !tables_know_vls(old) && tables_know_vls(t) && old->stride == t->stride &&
	       old->nsw == t->nsw && !memcmp(old->lft, t->lft, (size_t)t->nsw * t->stride);
}

static void app_data_keep_usage(struct app *a, const struct tables *old)
{
	if (!a->usage || a->usage->tables != old)
		return;
	tables_put(a->usage->tables);
	a->usage->tables = tables_get(a->tables);
}

void app_set_tables(struct app *a, const struct tables *t, bool partial)
{
	bool same = a->read && tables_same(a->read, t, a->fabric);
	const struct tables *old = a->tables;

	a->tables_partial = partial;
	if (same) {
		tables_put(t);
		return;
	}
	tables_put(a->read);
	a->read = tables_get(t);
	t = app_data_with_sls(a, t);
	if (old && tables_same(old, t, a->fabric)) {
		tables_put(t);
		return;
	}
	a->tables = t;
	a->state.tables = t;
	if (old && app_data_only_vls_are_new(old, t))
		app_data_keep_usage(a, old);
	else
		app_drop_metrics(a);
	tables_put(old);
	a->state.sls_known = app_data_knows_sls(t);
	app_want_metrics(a);
	app_stale(a);
}

void app_take_tables(struct app *a, struct msg *msg)
{
	struct state_poll *p = &a->state.poll;
	bool whole = tables_know_vls(msg->tables);

	if (!a->fabric || !digest_equal(&msg->fabric->fingerprint, &a->fabric->fingerprint))
		return;
	p->tables_on = !whole && !p->tables_ended;
	p->tables_ended &= !whole;
	p->tables_pace[0] = '\0';
	app_wrote_reread(a, msg->tables, msg->partial || !whole, msg->since_s);
	app_set_tables(a, msg->tables, msg->partial);
	if (msg->seconds > 0)
		a->state.preview.mads_per_s = (double)msg->total / msg->seconds;
	msg->tables = NULL;
}

void app_tables_reading(struct app *a, const struct msg *msg)
{
	struct state_poll *p = &a->state.poll;

	p->tables_on = !msg->rc;
	p->tables_ended = msg->rc == -ECANCELED;
	p->tables_done = msg->done;
	p->tables_total = msg->total;
	snprintf(p->tables_pace, sizeof(p->tables_pace), "%.79s", msg->text);
	if (a->is_due && msg->total) {
		a->state.preview.fraction = (double)msg->done / (double)msg->total;
		a->state.preview.step_done = msg->done;
		a->state.preview.step_total = msg->total;
	}
	if (!p->tables_ended)
		return;
	shell_say(a->shell, "ended: %s stay unknown%s; M reads on",
		  a->tables ? "SL2VL tables and VLs" : "the routes",
		  a->is_due		 ? ", and there is no preview"
		  : a->opts.automatic.on ? ", and the automatic mode waits"
					 : "");
	if (a->is_due)
		app_preview_cancel(a);
}

static bool app_data_incomplete(const struct app *a)
{
	return !a->tables || !tables_know_vls(a->tables);
}

bool app_tables_awaited(const struct app *a)
{
	const struct state_poll *p = &a->state.poll;

	if (a->state.mode != RUN_LIVE || !app_data_incomplete(a))
		return false;
	/* where reading them has failed, it is tried again */
	return p->tables_on || (a->tables ? !p->tables_ended : !a->sample);
}

void app_tables_on(struct app *a)
{
	struct state_poll *p = &a->state.poll;

	if (!a->poller) {
		shell_say(a->shell, "a file does not change");
		return;
	}
	poller_tables_on(a->poller);
	p->tables_ended = false;
	p->tables_on = app_data_incomplete(a);
	if (!app_data_incomplete(a)) /* else the last line tells how far that is */
		shell_say(a->shell, "the tables are read anew");
}

void app_tables_end(struct app *a)
{
	if (a->poller && a->state.poll.tables_on)
		poller_tables_end(a->poller);
}
