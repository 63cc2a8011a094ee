/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_install.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/installer/osm_routing.h"
#include "fabric/update/installer/staged_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS	  500
#define NOBODY_MS 15000 /* no SM answers: nobody else will write */
#define SETTLE_MS 3000	/* of a master that has just become it */
#define BACK_MS	  90000

/* Who writes in a rollback. */
enum whose { OURS, OTHERS, NOBODYS };

/* Tables that the plugin has judged and keeps, as they are on the stage. */
struct osm_ahead {
	uint64_t mark; /* of the stage */
	struct digest tables;
	bool step;
};

struct osm_install {
	struct osm_link *link;
	struct installer reader; /* SMPs */
	const struct fabric *f;
	const struct tables *from, *to; /* NULL in a recovery */
	bool led_back;			/* in a recovery: the plugin was asked to go back */
	bool escapes_stay;		/* from and to have the same paths of escape LIDs */
	struct staged_tables *stage;
	struct osm_ahead *ahead;
	uint32_t nahead;
	enum whose whose;
	enum osm_seen (*look)(void *ctx);
	void *look_ctx;
	uint32_t time_scale;
};

struct osm_install *osm_install_new(struct osm_link *link, struct installer reader)
{
	struct osm_install *i = xcalloc(1, sizeof(*i));

	i->link = link;
	i->reader = reader;
	i->time_scale = 1;
	return i;
}

static void osm_install_clear(struct osm_install *i)
{
	staged_tables_free(i->stage);
	free(i->ahead);
	i->ahead = NULL;
	i->nahead = 0;
	tables_put(i->from);
	tables_put(i->to);
	fabric_put(i->f);
	i->stage = NULL;
	i->from = i->to = NULL;
	i->f = NULL;
}

void osm_install_free(struct osm_install *i)
{
	if (!i)
		return;
	osm_install_clear(i);
	free(i);
}

void osm_install_sm(struct osm_install *i, enum osm_seen (*look)(void *ctx), void *ctx)
{
	i->look = look;
	i->look_ctx = ctx;
}

void osm_install_time_scale(struct osm_install *i, uint32_t times)
{
	i->time_scale = times;
}

static bool osm_install_same_escapes(const struct fabric *f, const struct tables *a,
				     const struct tables *b)
{
	bool same = a->escape && b->escape;

	for (uint32_t sw = 0; sw < f->nsw && same; sw++)
		for (uint32_t lid = 1; lid <= f->max_lid && same; lid++)
			same = tables_row(a, sw)[lid] == tables_row(b, sw)[lid] ||
			       !fabric_lid_escape(f, lid);
	return same;
}

void osm_install_plan(struct osm_install *i, const struct fabric *f, const struct tables *from,
		      const struct tables *to)
{
	osm_install_clear(i);
	i->f = fabric_get(f);
	i->from = tables_get(from);
	i->to = tables_get(to);
	i->stage = staged_tables_new(f, from);
	i->escapes_stay = osm_install_same_escapes(f, from, to);
}

/* What is on the stage, for the plugin; the caller owns one reference. */
static const struct tables *osm_install_step(const struct osm_install *i,
					     const struct staged_tables *stage, bool *step)
{
	struct tables *t;

	*step = !staged_tables_is(stage, i->to);
	if (!*step)
		return tables_get(i->to);
	t = staged_tables_tables(stage, i->from);
	t->escape = i->escapes_stay; /* OpenSM then sees to it */
	return t;
}

/* -ENOENT: the plugin has not got them. */
static int osm_install_hand_over_known(struct osm_install *i, struct osm_answer *a, struct err *err)
{
	uint64_t mark = staged_tables_mark(i->stage);
	struct err why = { "" };
	int rc = -ENOENT;

	for (uint32_t k = 0; k < i->nahead && rc == -ENOENT; k++)
		if (mark && i->ahead[k].mark == mark)
			rc = osm_link_load_known(i->link, &i->ahead[k].tables, i->ahead[k].step, a,
						 &why);
	return rc && rc != -ENOENT ? err_set(err, rc, "%s", why.text) : rc;
}

/* What OpenSM is to route by: what it did before the update, else what is on the stage.  Where it
 * never left what it did before, there is nothing to hand over, only to be written again. */
static int osm_install_hand_over(struct osm_install *i, struct osm_answer *a, struct err *err)
{
	const struct tables *t;
	bool step;
	int rc;

	if (!staged_tables_mark(i->stage) && !staged_tables_is(i->stage, i->to))
		return osm_link_return(i->link, a, err);
	rc = osm_install_hand_over_known(i, a, err);
	if (rc == -ENOENT) {
		t = osm_install_step(i, i->stage, &step);
		rc = osm_link_load(i->link, t, step, a, err);
		tables_put(t);
	}
	if (!rc && a->text[0])
		log_add(LOG_WARN, "apply", "OpenSM: %s", a->text);
	return rc;
}

static void osm_install_stage_wave(struct staged_tables *stage, const struct changes *l,
				   uint32_t wave)
{
	struct install_item it;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];

		if (c->wave != wave || c->sw == FAB_NONE)
			continue;
		it = (struct install_item){
			.sw = c->sw, .block = c->block, .kind = c->kind, .in = c->in, .out = c->out
		};
		memcpy(it.data, change_new(l, c), change_bytes(c));
		staged_tables_write(stage, &it, 1);
	}
}

/* 1: the plugin has no room for more. */
static int osm_install_send_ahead(struct osm_install *i, const struct staged_tables *stage,
				  struct err *err)
{
	struct osm_ahead *k = &i->ahead[i->nahead];
	struct osm_answer a = { 0 };
	const struct tables *t = osm_install_step(i, stage, &k->step);
	int rc = osm_link_ahead(i->link, t, k->step, &a, err);

	tables_put(t);
	if (rc)
		return osm_link_fd(i->link) < 0 ? 1 : rc; /* it may be back by the first wave */
	if (digest_parse(&k->tables, a.tables))
		return 1;
	k->mark = staged_tables_mark(stage);
	i->nahead++;
	return 0;
}

static int osm_install_ahead(void *ctx, const struct fabric *f, const struct changes *l,
			     struct progress *progress, struct err *err)
{
	struct osm_install *i = ctx;
	struct staged_tables *stage;
	struct osm_status s;
	int rc = 0;

	if (!i->to || osm_link_status(i->link, &s, NULL) || !s.ahead)
		return 0;
	free(i->ahead);
	i->ahead = xcalloc(l->nwaves, sizeof(*i->ahead));
	i->nahead = 0;
	stage = staged_tables_new(f, i->from);
	for (uint32_t w = 0; w < l->nwaves && !rc; w++) {
		if (progress_step(progress, "OpenSM", w, l->nwaves))
			rc = err_set(err, -ECANCELED, "cancelled before anything was written");
		osm_install_stage_wave(stage, l, w);
		if (!rc)
			rc = osm_install_send_ahead(i, stage, err);
	}
	staged_tables_free(stage);
	return rc > 0 ? 0 : rc;
}

static int osm_install_route(struct osm_install *i, const struct osm_answer *given, bool all,
			     struct err *err)
{
	struct osm_answer a;
	int rc = osm_link_reroute(i->link, all, 0, &a, err);

	if (!rc && given->tables[0] && strcmp(a.tables, given->tables))
		rc = err_set(err, -ESTALE, "OpenSM has routed by its %s instead: %s", a.source,
			     a.text);
	return rc;
}

static uint64_t osm_install_passed_ms(const struct osm_install *i, uint64_t since)
{
	return (clock_ms() - since) * i->time_scale;
}

static void osm_install_rest(const struct osm_install *i, uint64_t ms)
{
	clock_rest_us(ms * 1000 / i->time_scale);
}

static bool osm_install_plugin_rules(struct osm_install *i)
{
	struct osm_status s;

	if (osm_link_fd(i->link) < 0 && osm_link_reopen(i->link, NULL))
		return false;
	return !osm_link_status(i->link, &s, NULL) && !strcmp(s.state, "master");
}

/* Who writes from now on, and why it is not this OpenSM. */
static enum whose osm_install_who_writes(struct osm_install *i)
{
	uint64_t begin = clock_ms(), heard = begin, other = begin;

	if (!i->look)
		return OURS;
	while (!osm_install_plugin_rules(i)) {
		enum osm_seen seen = i->look(i->look_ctx);

		if (seen != OSM_SEEN_NOBODY)
			heard = clock_ms();
		if (seen != OSM_SEEN_MASTER)
			other = clock_ms();
		else if (osm_install_passed_ms(i, other) >= SETTLE_MS)
			return OTHERS;
		if (osm_install_passed_ms(i, heard) >= NOBODY_MS ||
		    osm_install_passed_ms(i, begin) >= BACK_MS)
			return NOBODYS;
		osm_install_rest(i, LOOK_MS);
	}
	return OURS;
}

/* What OpenSM installs on a fabric that is not the plan's was verified for that one. */
static int osm_install_leave_it(struct osm_install *i, char *text, size_t size)
{
	struct osm_status s = { 0 };
	struct osm_answer a;
	struct err err = { "" };
	char why[200];

	if (osm_link_status(i->link, &s, &err) ||
	    !osm_routing_is_over(why, sizeof(why), i->link, &s))
		return 0;
	osm_link_alive(i->link, NULL, 0, NULL);
	if (s.update[0] && osm_link_update(i->link) && osm_link_back(i->link, &a, &err))
		log_add(LOG_WARN, "apply", "OpenSM: %s", err.text);
	osm_link_status(i->link, &s, NULL);
	snprintf(text, size, "%.120s; OpenSM now routes by %s", why, osm_routing_source(&s));
	log_add(LOG_WARN, "apply", "%s", text);
	return osm_link_overruled(i->link) ? 3 : 2;
}

static int osm_install_back(void *ctx, char *text, size_t size)
{
	struct osm_install *i = ctx;

	i->whose = osm_install_who_writes(i);
	if (i->whose == OTHERS)
		log_add(LOG_WARN, "apply",
			"this OpenSM is no longer the master: the new one routes by its own "
			"engine; waiting for it");
	if (i->whose == NOBODYS)
		log_add(LOG_WARN, "apply",
			"no subnet manager is master: the old tables are written directly to the "
			"switches");
	if (i->whose == OURS)
		return osm_install_leave_it(i, text, size);
	return i->whose == OTHERS;
}

/* In a recovery the plugin knows the way, which this process does not. */
static int osm_install_lead_back(struct osm_install *i, struct err *err)
{
	struct osm_answer a;

	if (i->led_back)
		return osm_link_reroute(i->link, true, 0, &a, err);
	i->led_back = true;
	return osm_link_back(i->link, &a, err);
}

static int osm_install_wave(struct osm_install *i, const struct install_item *items, uint32_t n,
			    struct err *err)
{
	struct osm_answer a = { 0 };
	bool again = !staged_tables_write(i->stage, items, n);
	int rc = osm_install_hand_over(i, &a, err);

	return rc ? rc : osm_install_route(i, &a, again, err);
}

static int osm_install_write(void *ctx, const struct fabric *f, struct install_item *items,
			     uint32_t n, struct progress *progress, struct err *err)
{
	struct osm_install *i = ctx;
	int rc;

	if (i->whose != OURS)
		return i->reader.ops->write(i->reader.ctx, f, items, n, progress, err);
	rc = osm_link_fd(i->link) < 0 ? osm_link_reopen(i->link, err) : 0;
	if (!rc && progress_step(progress, "OpenSM", 0, n))
		rc = -ECANCELED;
	if (!rc)
		rc = i->to ? osm_install_wave(i, items, n, err) : osm_install_lead_back(i, err);
	for (uint32_t k = 0; k < n; k++)
		items[k].rc = rc;
	progress_step(progress, "OpenSM", n, n);
	return rc;
}

static int osm_install_read(void *ctx, const struct fabric *f, struct install_item *items,
			    uint32_t n, struct progress *progress, struct err *err)
{
	struct osm_install *i = ctx;

	return i->reader.ops->read(i->reader.ctx, f, items, n, progress, err);
}

static int osm_install_end(void *ctx, bool keep, struct err *err)
{
	struct osm_install *i = ctx;
	struct osm_answer a;
	int rc;

	if (keep) {
		rc = osm_link_fd(i->link) < 0 ? osm_link_reopen(i->link, err) : 0;
		return rc ? rc : osm_link_keep(i->link, err);
	}
	if (!osm_link_update(i->link)) /* an update that is open there is another one */
		return 0;
	/* one that lives on beside another master is not to come back with what nobody confirmed */
	if (i->whose != OURS && osm_link_fd(i->link) < 0 && osm_link_reopen(i->link, NULL))
		return 0;
	rc = osm_link_return(i->link, &a, err);
	if (!rc && a.change && i->whose == OURS)
		rc = osm_link_reroute(i->link, false, 0, &a, err);
	return rc;
}

struct installer osm_installer(struct osm_install *i)
{
	static const struct installer_ops ops = {
		.name = "OpenSM",
		.carries_sl = true,
		.batch = UINT32_MAX,
		.ahead = osm_install_ahead,
		.write = osm_install_write,
		.read = osm_install_read,
		.back = osm_install_back,
		.end = osm_install_end,
	};

	return (struct installer){ .ops = &ops, .ctx = i };
}
