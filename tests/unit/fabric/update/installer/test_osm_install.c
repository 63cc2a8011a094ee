/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Updates through OpenSM and into files, with switches in memory. */
#include "tests/unit/kit/fake_osm.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/update/executor.h"
#include "fabric/update/installer/file_install.h"
#include "fabric/update/installer/osm_foreign.h"
#include "fabric/update/installer/osm_grant.h"
#include "fabric/update/installer/osm_install.h"
#include "fabric/update/installer/osm_routing.h"
#include "fabric/update/installer/staged_tables.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is in the switches, and what OpenSM believes to be there. */
struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct net_sim *s;
	const struct tables *believed;
	struct fake_osm *osm;
	struct plan *p;
	struct osm_install *oi;
	struct installer in;
	struct executor_opts o;
	struct executor *a;
	char *base;
	uint32_t routings, lost; /* the routing whose first write is lost, from 1 */
	uint64_t written;
	bool by_rows; /* OpenSM does not know any more what is there */
};

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

/* Of a fabric that has changed: everything, as its indices are the same. */
static void osm_writes_rows(struct world *w, const struct tables *t)
{
	for (uint32_t sw = 0; sw < t->nsw; sw++)
		memcpy(w->s->lft + (size_t)sw * w->s->stride, tables_row(t, sw), t->max_lid + 1);
	w->by_rows = true;
	w->routings++;
}

/* The blocks and tables that differ from what is believed, or all of them. */
static void osm_writes_blocks(struct world *w, const struct tables *t, bool all)
{
	struct tables *none = tables_new(w->f, "nothing");
	const struct tables *was = all ? none : w->believed;
	struct tables_diff *d = tables_diff_new(w->f, was, t);
	struct changes *l = changes_new(w->f, was, t, d);
	struct installer in = net_installer(w->s);

	w->routings++;
	for (uint32_t i = 0; i < l->n; i++) {
		struct install_item it = { .sw = l->v[i].sw,
					   .block = l->v[i].block,
					   .kind = l->v[i].kind,
					   .in = l->v[i].in,
					   .out = l->v[i].out };

		memcpy(it.data, change_new(l, &l->v[i]), change_bytes(&l->v[i]));
		if (w->routings == w->lost && !i)
			continue;
		in.ops->write(in.ctx, w->f, &it, 1, NULL, NULL);
		w->written++;
	}
	changes_free(l);
	tables_diff_free(d);
	tables_put(none);
	tables_put(w->believed);
	w->believed = tables_get(t);
}

static void osm_writes(void *ctx, const struct tables *t, bool all)
{
	struct world *w = ctx;

	if (digest_equal(&t->fingerprint, &w->f->fingerprint))
		osm_writes_blocks(w, t, all || w->by_rows);
	else
		osm_writes_rows(w, t);
}

/* Two waves, each with half of the LIDs of every block. */
static void in_waves(struct plan *p)
{
	struct change_order o = { .nwaves = 2, .sl2vl_wave = 0 };
	struct change_write *v = xcalloc(2 * (size_t)p->diff->nblocks, sizeof(*v));

	o.v = v;
	for (o.n = 0; o.n < 2 * p->diff->nblocks; o.n++) {
		const struct tables_diff_block *b = &p->diff->blocks[o.n % p->diff->nblocks];
		uint32_t wave = o.n / p->diff->nblocks;

		v[o.n] = (struct change_write){ wave, b->sw, b->block,
						wave ? 0xaaaaaaaaaaaaaaaa : 0x5555555555555555 };
	}
	assert_int_equal(plan_in_order(p, &o, NULL), 0);
	free(v);
}

static struct world *world; /* whatever ctx a test has for its hooks */

static int grant(void *ctx, const struct executor_grant *g, struct err *err)
{
	(void)ctx;
	return osm_grant(world->osm->l, g, err);
}

static int up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct osm_answer r;
	char *policy;

	log_set_sink(quiet, NULL);
	w->f = net_fabric(NULL);
	w->from = net_tables(w->f, 0, true);
	w->to = net_tables(w->f, 1, true);
	/* by other service levels, too */
	tables_sl_form(w->to, SL_BY_DLID, w->f);
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		w->to->sl[lid] = (uint8_t)(lid & 1);
	w->base = net_tmpdir();
	w->s = net_sim_new(w->f, w->from);
	w->believed = tables_get(w->from);
	policy = xasprintf("engine updn\ntables %s/from.ibr\n", w->base);
	{
		char *path = xasprintf("%s/from.ibr", w->base);

		assert_int_equal(tables_ibr_save(path, w->from, w->f, NULL), 0);
		free(path);
	}
	w->osm = fake_osm_new(w->f, policy, osm_writes, w);
	free(policy);
	assert_int_equal(osm_link_reroute(w->osm->l, false, 0, &r, NULL), 0);
	assert_string_equal(r.source, OSM_SOURCE_FILE);
	assert_int_equal(w->written, 0);
	w->routings = 0;

	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, NULL, NULL, 1000, NULL), 0);
	in_waves(w->p);
	w->oi = osm_install_new(w->osm->l, net_installer(w->s));
	osm_install_plan(w->oi, w->f, w->p->from, w->p->to);
	w->in = osm_installer(w->oi);
	w->o = (struct executor_opts){
		.base = w->base, .user = "ana", .settle_ms = 20, .grant = grant
	};
	w->a = executor_new(w->p, &w->in, &w->o);
	*state = world = w;
	return 0;
}

static int down(void **state)
{
	struct world *w = *state;

	executor_free(w->a);
	osm_install_free(w->oi);
	plan_free(w->p);
	fake_osm_free(w->osm);
	tables_put(w->believed);
	net_sim_free(w->s);
	tables_put(w->from);
	tables_put(w->to);
	fabric_put(w->f);
	net_rmdir(w->base);
	free(w);
	return 0;
}

static void an_update_is_written_by_opensm_wave_by_wave_and_kept(void **state)
{
	struct world *w = *state;
	struct err err = { "" };
	struct osm_status s;

	if (executor_run(w->a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(w->routings, 2);
	assert_true(net_holds(w->s, w->p->to, true));
	s = fake_osm_status(w->osm);
	assert_string_equal(s.source, OSM_SOURCE_CONSOLE);
	assert_false(s.step);
	assert_int_equal(s.sls, 2);
	assert_false(s.confirmed_there);
	assert_int_equal(executor_confirm(w->a, &err), 0);
	s = fake_osm_status(w->osm);
	assert_string_equal(s.source, OSM_SOURCE_CONFIRMED);
	assert_true(s.confirmed_there);
	assert_string_equal(s.base, "");
}

struct refusal {
	char *policy; /* that is in effect once the first wave is written */
	struct executor_event failed;
};

static void refused_from_the_first_wave_on(void *ctx, const struct executor_event *ev)
{
	struct refusal *r = ctx;
	struct executor_event *first = &r->failed;

	if (ev->kind == APPLY_PHASE_BEGIN && ev->phase == PHASE_WRITE)
		fake_osm_policy(world->osm, r->policy);
	if ((ev->kind == APPLY_ITEM || ev->kind == APPLY_VERIFY) && ev->rc &&
	    !ev->wave == !first->wave && ev->phase == PHASE_WRITE)
		*first = *ev;
}

/* No switch has refused anything: OpenSM was not let write. */
static void a_wave_that_opensm_refuses_says_so_in_its_items(void **state)
{
	struct world *w = *state;
	struct refusal r = { .failed = { .wave = 1 } };
	struct err err = { "" };

	r.policy = xasprintf("engine updn\nexclude %s\n", w->f->sw_name[w->f->nsw - 1]);
	executor_free(w->a);
	w->o.event = refused_from_the_first_wave_on;
	w->o.ctx = &r;
	w->a = executor_new(w->p, &w->in, &w->o);
	assert_int_not_equal(executor_run(w->a, &err), 0);
	assert_int_equal(r.failed.kind, APPLY_VERIFY);
	if (!strstr(r.failed.text, "the policy's exclude") ||
	    strstr(r.failed.text, "by the switch"))
		fail_msg("%s", r.failed.text);
	free(r.policy);
}

/* Nobody has drained yet, and no wave has to be taken back. */
static void what_opensm_would_refuse_is_not_begun(void **state)
{
	struct world *w = *state;
	char *policy = xasprintf("engine updn\nexclude %s\n", w->f->sw_name[w->f->nsw - 1]);
	struct osm_status s;
	struct err err = { "" };

	fake_osm_policy(w->osm, policy);
	assert_int_not_equal(executor_run(w->a, &err), 0);
	if (!strstr(err.text, "the policy's exclude"))
		fail_msg("%s", err.text);
	assert_int_equal(w->routings, 0);
	assert_int_equal(w->written, 0);
	s = fake_osm_status(w->osm);
	assert_int_equal(s.loads, 0);
	assert_string_equal(s.update, "");
	free(policy);
}

static void paths_keep_their_service_levels_until_the_last_wave(void **state)
{
	struct world *w = *state;
	struct install_item *items = xcalloc(w->p->changes->n, sizeof(*items));
	const struct changes *l = w->p->changes;
	struct osm_status s;
	uint32_t n = 0;

	fake_osm_begin(w->osm, "steps");
	for (uint32_t i = 0; i < l->n; i++)
		if (!l->v[i].wave) {
			items[n] = (struct install_item){ .sw = l->v[i].sw,
							  .block = l->v[i].block,
							  .kind = l->v[i].kind,
							  .in = l->v[i].in,
							  .out = l->v[i].out };
			memcpy(items[n++].data, change_new(l, &l->v[i]), change_bytes(&l->v[i]));
		}
	assert_int_equal(w->in.ops->write(w->in.ctx, w->f, items, n, NULL, NULL), 0);
	s = fake_osm_status(w->osm);
	assert_true(s.step);
	assert_int_equal(s.sls, 1);
	free(items);
}

static void not_confirmed_opensm_returns_to_what_it_did_before(void **state)
{
	struct world *w = *state;
	char before[DIGEST_HEX];
	struct err err = { "" };
	struct osm_status s;

	strcpy(before, fake_osm_status(w->osm).tables);
	assert_int_equal(executor_run(w->a, &err), 0);
	assert_int_equal(executor_rollback(w->a, &err), 0);
	assert_true(net_holds(w->s, w->from, true));
	s = fake_osm_status(w->osm);
	assert_string_equal(s.tables, before);
	assert_string_equal(s.source, OSM_SOURCE_FILE);
	assert_false(s.step);
	assert_string_equal(s.base, "");
	assert_false(s.confirmed_there);
}

static void what_opensm_only_believes_is_written_again_in_full(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->lost = 1;
	if (executor_run(w->a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(w->routings, 3);
	assert_true(net_holds(w->s, w->p->to, true));
}

static void when_the_fabric_changes_under_way_the_update_goes_back_and_says_why(void **state)
{
	struct world *w = *state;
	struct update_net_opts less = { .no_cable = true };
	struct fabric *f = net_fabric(&less);
	struct osm_status s;
	struct err err = { "" };

	fabric_put(w->osm->f);
	w->osm->f = f;
	w->osm->write = NULL; /* its engine's tables would be of another fabric */
	assert_true(executor_run(w->a, &err) < 0);
	s = fake_osm_status(w->osm);
	assert_string_equal(s.source, OSM_SOURCE_REPAIRED);
	assert_non_null(strstr(s.why, "for another fabric"));
	assert_true(net_holds(w->s, w->from, true));
}

static struct txn_info last_update(const struct world *w)
{
	struct txn_info *list, last;
	uint32_t n;

	assert_int_equal(journal_list(&list, &n, w->base, NULL), 0);
	assert_true(n > 0);
	last = list[n - 1];
	free(list);
	return last;
}

/* OpenSM discovers it, and routes. */
static void fabric_becomes(struct world *w, const struct update_net_opts *o)
{
	struct osm_answer a;

	fabric_put(w->osm->f);
	w->osm->f = net_fabric(o);
	assert_int_equal(osm_link_reroute(w->osm->l, false, 0, &a, NULL), 0);
}

/* What the judge has read then is sound. */
static int judge_sound(void *ctx, struct executor_foreign *out, struct err *err)
{
	(void)ctx;
	(void)err;
	*out = (struct executor_foreign){
		.verdict = FOREIGN_SOUND, .blocks = 9, .old_lft = 3, .text = "verified"
	};
	return 0;
}

static void with_a_sound_judge(struct world *w)
{
	w->o.judge = judge_sound;
	executor_free(w->a);
	w->a = executor_new(w->p, &w->in, &w->o);
}

static void ends_changed(struct world *w, int rc, const struct err *err)
{
	struct executor_status st;
	struct osm_status s;

	executor_status(w->a, &st);
	assert_int_equal(rc, -ESTALE);
	assert_int_equal(executor_outcome(w->a), OUTCOME_FABRIC_CHANGED);
	assert_int_equal(outcome_exit_code(OUTCOME_FABRIC_CHANGED, st.why), 11);
	if (!strstr(err->text, "fabric has changed") ||
	    !strstr(err->text, "OpenSM now routes by") || !strstr(err->text, "verified"))
		fail_msg("%s", err->text);
	s = fake_osm_status(w->osm);
	assert_string_equal(s.update, "");
	assert_false(s.step);
	assert_string_not_equal(s.source, OSM_SOURCE_CONSOLE);
}

static void a_cable_lost_in_the_window_ends_the_update_and_the_policy_routes(void **state)
{
	struct world *w = *state;
	struct update_net_opts less = { .no_cable = true }, whole = { 0 };
	struct err err = { "" };

	with_a_sound_judge(w);
	assert_int_equal(executor_run(w->a, &err), 0);
	fabric_becomes(w, &less);
	clock_rest_us(1100000); /* the plugin is asked each second */
	assert_int_equal(executor_alive(w->a, 1000, &err), -ESTALE);
	ends_changed(w, executor_rollback(w->a, &err), &err);
	/* and they do not come back with it */
	fabric_becomes(w, &whole);
	assert_string_equal(fake_osm_status(w->osm).source, OSM_SOURCE_FILE);
	assert_true(net_holds(w->s, w->from, false));
}

/* As update.sh has it: the process was killed, and status advises "rollback". */
static void a_recovery_on_a_fabric_that_changed_hands_over_nothing(void **state)
{
	struct world *w = *state;
	struct update_net_opts less = { .no_cable = true };
	struct osm_install *oi = osm_install_new(w->osm->l, net_installer(w->s));
	struct installer in = osm_installer(oi);
	struct journal *j;
	struct err err = { "" };
	uint64_t loads;
	int rc;

	assert_int_equal(executor_run(w->a, &err), 0);
	executor_free(w->a);
	fabric_becomes(w, &less);
	loads = fake_osm_status(w->osm).loads;
	assert_int_equal(journal_open(&j, w->base, last_update(w).head.id, NULL), 0);
	w->o.judge = judge_sound;
	w->a = executor_recover(j, w->f, &in, &w->o);
	rc = executor_rollback(w->a, &err);
	ends_changed(w, rc, &err);
	assert_int_equal(fake_osm_status(w->osm).loads, loads);
	executor_free(w->a);
	w->a = NULL;
	osm_install_free(oi);
}

static void giving_up_an_old_update_leaves_the_one_that_is_open_alone(void **state)
{
	struct world *w = *state;
	struct osm_install *oi = osm_install_new(w->osm->l, net_installer(w->s));
	struct installer in = osm_installer(oi);
	struct journal *j;
	struct osm_answer a;
	struct err err = { "" };

	assert_int_equal(executor_run(w->a, &err), 0);
	executor_free(w->a);
	assert_int_equal(osm_link_return(w->osm->l, &a, NULL), 0);
	fake_osm_begin(w->osm, "another");
	assert_int_equal(journal_open(&j, w->base, last_update(w).head.id, NULL), 0);
	w->a = executor_recover(j, w->f, &in, &w->o);
	assert_int_equal(executor_give_up(w->a, "a test", &err), 0);
	assert_string_equal(fake_osm_status(w->osm).update, "another");
	executor_free(w->a);
	w->a = NULL;
	osm_install_free(oi);
}

static void a_host_lost_in_the_window_neither_ends_nor_changes_the_update(void **state)
{
	struct world *w = *state;
	struct update_net_opts less = { .no_host = true }, whole = { 0 };
	struct err err = { "" };

	assert_int_equal(executor_run(w->a, &err), 0);
	fabric_becomes(w, &less);
	assert_string_equal(fake_osm_status(w->osm).source, OSM_SOURCE_CONSOLE);
	assert_int_equal(executor_alive(w->a, 1000, &err), 0);
	assert_true(net_holds(w->s, w->p->to, false));
	if (executor_confirm(w->a, &err))
		fail_msg("%s", err.text);
	fabric_becomes(w, &whole);
	assert_string_equal(fake_osm_status(w->osm).source, OSM_SOURCE_CONFIRMED);
	assert_true(net_holds(w->s, w->p->to, false));
}

/* Over a connection of its own; ordered to route after it. */
static void somebody_orders(struct world *w, bool forget)
{
	struct osm_answer a;
	struct osm_link *l;

	assert_int_equal(osm_link_open(&l, w->osm->path, 0, NULL), 0);
	if (forget)
		assert_int_equal(osm_link_policy(l, "", OSM_POLICY_FORGET, &a, NULL), 0);
	else
		assert_int_equal(osm_link_return(l, &a, NULL), 0);
	assert_int_equal(osm_link_reroute(l, true, 0, &a, NULL), 0);
	osm_link_close(l);
}

static void who_orders_other_routes_ends_the_update_as_another_writer(void **state)
{
	struct world *w = *state;

	for (int forget = 0; forget < 2; forget++) {
		struct err err = { "" };
		int rc;

		assert_int_equal(executor_run(w->a, &err), 0);
		assert_int_equal(executor_alive(w->a, 1000, &err), 0);
		somebody_orders(w, forget);
		rc = executor_confirm(w->a, &err);
		assert_int_equal(rc, -EUCLEAN);
		assert_non_null(strstr(err.text, "ordered"));
		assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
		assert_int_equal(last_update(w).why, WHY_FOREIGN);
		assert_true(net_holds(w->s, w->from, true));
		assert_false(fake_osm_status(w->osm).confirmed_there);
		executor_free(w->a);
		osm_install_plan(w->oi, w->f, w->p->from, w->p->to);
		w->a = executor_new(w->p, &w->in, &w->o);
	}
}

/* The policy is another one by then: nothing is put over what it routes. */
static void an_order_for_another_policy_is_not_taken_for_another_fabric(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	executor_free(w->a);
	w->o.judge = judge_sound;
	w->a = executor_new(w->p, &w->in, &w->o);
	assert_int_equal(executor_run(w->a, &err), 0);
	fake_osm_policy(w->osm, "engine minhop\n");
	somebody_orders(w, true);
	assert_int_equal(executor_confirm(w->a, &err), -EUCLEAN);
	assert_int_equal(executor_outcome(w->a), OUTCOME_SUPERSEDED);
	assert_int_equal(last_update(w).why, WHY_FOREIGN);
	assert_non_null(strstr(last_update(w).said, "the policy was ordered to route; OpenSM now"));
}

static void what_opensm_does_not_route_by_any_more_is_not_confirmed(void **state)
{
	struct world *w = *state;
	struct osm_update u = { .id = "other" };
	struct osm_answer a;
	struct osm_link *l;
	struct err err = { "" };

	fake_osm_begin(w->osm, "by hand");
	assert_int_equal(osm_routing_check(w->osm->l, &err), 0);
	assert_int_equal(osm_link_load(w->osm->l, w->p->to, false, NULL, &err), 0);
	assert_int_equal(osm_routing_check(w->osm->l, &err), -EUCLEAN);
	assert_non_null(strstr(err.text, "no longer routes by the tables of this update"));
	assert_int_equal(osm_link_reroute(w->osm->l, false, 0, &a, &err), 0);
	assert_int_equal(osm_routing_check(w->osm->l, &err), 0);
	/* somebody whose update is not the open one does not end that */
	assert_int_equal(osm_link_open(&l, w->osm->path, 0, NULL), 0);
	assert_int_equal(osm_link_begin(l, &u, false, &err), -EBUSY);
	assert_int_equal(osm_routing_check(l, &err), 0);
	osm_link_close(l);
	assert_int_equal(osm_link_return(w->osm->l, &a, &err), 0);
}

static void without_the_plugin_nothing_can_be_confirmed(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	assert_int_equal(executor_run(w->a, &err), 0);
	socket_server_stop(w->osm->server);
	assert_true(executor_confirm(w->a, &err) < 0);
	assert_non_null(strstr(err.text, "not confirmed"));
	assert_int_equal(last_update(w).state, TXN_CONFIRMING);
	assert_int_equal(socket_server_start(&w->osm->server, w->osm->path, w->osm->session,
					     &fake_osm_ops, w->osm, NULL, NULL),
			 0);
	if (executor_confirm(w->a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(last_update(w).state, TXN_CONFIRMED);
	assert_true(fake_osm_status(w->osm).confirmed_there);
}

static void without_the_plugin_nothing_is_written_and_the_old_tables_stay(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	socket_server_stop(w->osm->server);
	assert_true(executor_run(w->a, &err) < 0);
	assert_true(net_holds(w->s, w->from, true));
	assert_int_equal(socket_server_start(&w->osm->server, w->osm->path, w->osm->session,
					     &fake_osm_ops, w->osm, NULL, NULL),
			 0);
}

/* Another SM: how often it was looked for, and what it routes by. */
struct other {
	struct world *w;
	const struct tables *by; /* NULL: there is none */
	uint32_t looks;
};

static enum osm_seen look_for_other(void *ctx)
{
	struct other *o = ctx;

	if (!o->by)
		return OSM_SEEN_NOBODY;
	if (++o->looks < 5)
		return OSM_SEEN_SOMEBODY;
	if (o->looks == 5)
		osm_writes(o->w, o->by, true);
	return OSM_SEEN_MASTER;
}

/* All was written and waits for its confirmation, then the OpenSM that has written it dies. */
static int dies(struct world *w, struct other *o, struct err *err)
{
	int rc;

	o->w = w;
	assert_int_equal(executor_run(w->a, err), 0);
	osm_install_sm(w->oi, look_for_other, o);
	osm_install_time_scale(w->oi, o->by ? 20 : 100);
	socket_server_stop(w->osm->server);
	rc = executor_rollback(w->a, err);
	assert_int_equal(socket_server_start(&w->osm->server, w->osm->path, w->osm->session,
					     &fake_osm_ops, w->osm, NULL, NULL),
			 0);
	return rc;
}

static void when_opensm_dies_and_nobody_follows_the_old_tables_are_written_without_it(void **state)
{
	struct world *w = *state;
	struct other none = { 0 };
	struct err err = { "" };

	assert_int_equal(dies(w, &none, &err), 0);
	assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
	assert_int_equal(w->routings, 2);
	assert_true(net_holds(w->s, w->from, true));
}

static void when_opensm_dies_the_next_one_is_waited_for_to_write_the_old_tables(void **state)
{
	struct world *w = *state;
	struct other next = { .by = w->from };
	struct err err = { "" };

	assert_int_equal(dies(w, &next, &err), 0);
	assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
	assert_int_equal(last_update(w).state, TXN_ROLLED_BACK);
	assert_int_equal(w->routings, 3);
	assert_true(net_holds(w->s, w->from, true));
}

/* Neither the old ones nor the new ones: of some LIDs these, of the others those. */
static struct tables *third_tables(const struct world *w)
{
	struct tables *t = net_tables(w->f, 2, true);

	for (uint32_t sw = 0; sw < w->f->nsw; sw++)
		for (uint32_t lid = 3; lid <= w->f->max_lid; lid += 3)
			tables_row(t, sw)[lid] = tables_row(w->to, sw)[lid];
	return t;
}

/* What the switches hold, as the judge would read it. */
struct judged {
	struct world *w;
	const struct tables *by;
	enum foreign_verdict verdict;
	uint32_t asked;
	uint32_t elsewhere; /* old blocks that differ, of those the update does not write */
};

static int judge(void *ctx, struct executor_foreign *out, struct err *err)
{
	struct judged *j = ctx;
	struct tables_diff *old = tables_diff_new(j->w->f, j->w->p->from, j->by);
	struct tables_diff *new = tables_diff_new(j->w->f, j->w->p->to, j->by);

	(void)err;
	assert_true(net_holds(j->w->s, j->by, true));
	j->asked++;
	*out = (struct executor_foreign){ .verdict = j->verdict, .text = "as it was judged" };
	out->blocks = old->blocks_all;
	out->old_lft = old->nblocks + j->elsewhere;
	out->old_sl2vl = old->nsl2vl;
	out->new_lft = new->nblocks;
	out->new_sl2vl = new->nsl2vl;
	tables_diff_free(old);
	tables_diff_free(new);
	return 0;
}

static void judged_by(struct world *w, struct judged *j)
{
	w->o.judge = judge;
	w->o.ctx = j;
	executor_free(w->a);
	w->a = executor_new(w->p, &w->in, &w->o);
}

static void ends_superseded(struct world *w, const struct err *err, const char *words)
{
	struct txn_info t = last_update(w);
	struct executor_status st;

	assert_int_equal(executor_outcome(w->a), OUTCOME_SUPERSEDED);
	assert_int_equal(outcome_exit_code(OUTCOME_SUPERSEDED, WHY_NONE), 9);
	assert_int_equal(t.state, TXN_SUPERSEDED);
	assert_true(txn_state_final(t.state));
	executor_status(w->a, &st);
	if (!strstr(err->text, words) || !strstr(st.text, words) || !strstr(t.said, words))
		fail_msg("not told \"%s\": \"%s\", \"%s\", \"%s\"", words, err->text, st.text,
			 t.said);
}

static void what_the_next_one_routes_by_is_left_to_it_judged_and_told(void **state)
{
	struct world *w = *state;
	struct tables *third = third_tables(w);
	struct other next = { .by = third };
	struct judged j = { w, third, FOREIGN_FAULTY, 0, 0 };
	struct err err = { "" };

	judged_by(w, &j);
	assert_int_equal(dies(w, &next, &err), -ESTALE);
	assert_true(net_holds(w->s, third, true));
	assert_int_equal(j.asked, 1);
	ends_superseded(w, &err, "another subnet manager has changed the routing: ");
	ends_superseded(w, &err, "as it was judged");
	tables_put(third);
}

static void the_next_one_may_route_by_the_new_tables_and_nobody_has_confirmed_them(void **state)
{
	struct world *w = *state;
	struct other next = { .by = w->p->to };
	struct judged j = { w, w->p->to, FOREIGN_SOUND, 0, 0 };
	struct err err = { "" };

	judged_by(w, &j);
	assert_int_equal(dies(w, &next, &err), -ESTALE);
	assert_true(net_holds(w->s, w->p->to, true));
	ends_superseded(w, &err, "by the tables of this update, which was not confirmed");
}

/* All that the update writes is as before, and some other block is not. */
static void a_next_one_that_differs_elsewhere_only_is_told_of_too(void **state)
{
	struct world *w = *state;
	struct other next = { .by = w->from };
	struct judged j = { w, w->from, FOREIGN_SOUND, 0, 1 };
	struct err err = { "" };

	judged_by(w, &j);
	assert_int_equal(dies(w, &next, &err), -ESTALE);
	ends_superseded(w, &err, "another subnet manager has changed the routing: 1 of ");
}

static void without_a_judge_it_is_said_that_it_was_not_judged(void **state)
{
	struct world *w = *state;
	struct tables *third = third_tables(w);
	struct other next = { .by = third };
	struct err err = { "" };

	assert_int_equal(dies(w, &next, &err), -ESTALE);
	ends_superseded(w, &err, "not judged");
	tables_put(third);
}

/* The next one is master but writes nothing: no mixture stays because of that. */
static void a_next_one_that_writes_nothing_is_not_waited_for_for_ever(void **state)
{
	struct world *w = *state;
	struct other next = { .w = w, .by = w->from, .looks = 5 };
	struct install_item it = { .sw = w->p->changes->v[0].sw,
				   .block = w->p->changes->v[0].block,
				   .kind = w->p->changes->v[0].kind,
				   .in = w->p->changes->v[0].in,
				   .out = w->p->changes->v[0].out };
	struct installer in = net_installer(w->s);
	struct err err = { "" };

	assert_int_equal(executor_run(w->a, &err), 0);
	memcpy(it.data, change_old(w->p->changes, &w->p->changes->v[0]), sizeof(it.data));
	in.ops->write(in.ctx, w->f, &it, 1, NULL, NULL);
	osm_install_sm(w->oi, look_for_other, &next);
	osm_install_time_scale(w->oi, 20);
	socket_server_stop(w->osm->server);
	if (executor_rollback(w->a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
	assert_true(net_holds(w->s, w->from, true));
	assert_int_equal(socket_server_start(&w->osm->server, w->osm->path, w->osm->session,
					     &fake_osm_ops, w->osm, NULL, NULL),
			 0);
}

/* The old one stands by from now on.  When it is master again nothing of the update is left there.
 */
static void an_opensm_that_lives_on_forgets_what_nobody_confirmed(void **state)
{
	struct world *w = *state;
	struct tables *third = third_tables(w);
	struct judged j = { w, third, FOREIGN_SOUND, 0, 0 };
	struct other next = { .w = w, .by = third };
	char before[DIGEST_HEX];
	struct err err = { "" };
	struct osm_status s;

	strcpy(before, fake_osm_status(w->osm).tables);
	judged_by(w, &j);
	assert_int_equal(executor_run(w->a, &err), 0);
	assert_string_not_equal(fake_osm_status(w->osm).base, "");
	w->osm->standby = true;
	osm_install_sm(w->oi, look_for_other, &next);
	osm_install_time_scale(w->oi, 20);
	assert_int_equal(executor_rollback(w->a, &err), -ESTALE);
	ends_superseded(w, &err, "another subnet manager has changed the routing: ");
	s = fake_osm_status(w->osm);
	assert_string_equal(s.base, "");
	assert_false(s.step);
	w->osm->standby = false;
	osm_writes(w, third, true); /* what it believes is another matter */
	assert_int_equal(osm_link_reroute(w->osm->l, true, 0, &(struct osm_answer){ 0 }, NULL), 0);
	assert_string_equal(fake_osm_status(w->osm).tables, before);
	assert_true(net_holds(w->s, w->from, true));
	tables_put(third);
}

static int another_sm(void *ctx)
{
	(void)ctx;
	return 1;
}

/* Nobody was there to see it: the process was killed, then OpenSM, and another one has routed. */
static void a_process_that_takes_over_comes_to_the_same_end(void **state)
{
	struct world *w = *state;
	struct tables *third = third_tables(w);
	struct judged j = { w, third, FOREIGN_SOUND, 0, 0 };
	struct installer in = net_installer(w->s);
	struct journal *jo;
	struct txn_info t;
	uint64_t written;
	struct err err = { "" };

	assert_int_equal(executor_run(w->a, &err), 0);
	executor_free(w->a);
	t = last_update(w);
	assert_int_equal(t.state, TXN_CONFIRMING);
	osm_writes(w, third, true);
	written = w->s->writes;
	assert_int_equal(journal_open(&jo, w->base, t.head.id, NULL), 0);
	w->o.judge = judge;
	w->o.others = another_sm;
	w->o.ctx = &j;
	w->a = executor_recover(jo, w->f, &in, &w->o);
	assert_int_equal(executor_rollback(w->a, &err), -ESTALE);
	assert_int_equal(w->s->writes, written);
	ends_superseded(w, &err, "another subnet manager has changed the routing: ");
	/* and once it is over there is nothing to come back to */
	executor_free(w->a);
	w->a = NULL;
	assert_int_equal(journal_open(&jo, w->base, t.head.id, NULL), 0);
	w->a = executor_recover(jo, w->f, &in, &w->o);
	assert_int_equal(executor_rollback(w->a, &err), -EINVAL);
	tables_put(third);
}

/* As a console that is killed leaves it: tables of one half, and a journal. */
static void another_process_takes_back_what_a_killed_one_has_left(void **state)
{
	struct world *w = *state;
	struct osm_install *oi;
	struct installer in;
	struct journal *j;
	struct txn_info *list;
	struct executor *a;
	struct err err = { "" };
	char before[DIGEST_HEX];
	uint32_t n;

	strcpy(before, fake_osm_status(w->osm).tables);
	assert_int_equal(executor_run(w->a, &err), 0);
	executor_free(w->a);
	w->a = NULL;
	assert_int_equal(journal_find(&list, &n, w->base, w->f, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(journal_open(&j, w->base, list[0].head.id, NULL), 0);
	oi = osm_install_new(w->osm->l, net_installer(w->s));
	in = osm_installer(oi);
	a = executor_recover(j, w->f, &in, &w->o);
	if (executor_rollback(a, &err))
		fail_msg("%s", err.text);
	assert_true(net_holds(w->s, w->from, true));
	assert_string_equal(fake_osm_status(w->osm).tables, before);
	assert_string_equal(fake_osm_status(w->osm).base, "");
	executor_free(a);
	osm_install_free(oi);
	free(list);
}

static void what_somebody_else_has_written_is_found_and_else_service_levels_are_known(void **state)
{
	struct world *w = *state;
	struct tables *read = tables_onto(w->f, w->p->to, w->p->to), *known;
	struct osm_answer r;
	struct err err = { "" };

	fake_osm_begin(w->osm, "tables");
	assert_int_equal(osm_link_load(w->osm->l, w->p->to, false, NULL, NULL), 0);
	assert_int_equal(osm_link_reroute(w->osm->l, false, 0, &r, NULL), 0);
	/* as it is read: without service levels of paths */
	tables_sl_form(read, SL_CONST, w->f);
	read->sl_const = 0;
	assert_int_equal(osm_foreign(&known, w->osm->l, w->f, read, &err), 0);
	assert_true(tables_same(known, w->p->to, w->f));
	tables_put(known);
	tables_row(read, 2)[5] ^= 1;
	assert_int_equal(osm_foreign(&known, w->osm->l, w->f, read, &err), -EUCLEAN);
	assert_non_null(strstr(err.text, "1 LFT blocks and 0 SL2VL tables on 1 switches"));
	assert_null(known);
	tables_put(read);
}

static void files_hold_the_new_tables_or_the_old_ones_again(void **state)
{
	struct world *w = *state;
	char *dir = xasprintf("%s/files", w->base), *ibr = xasprintf("%s/tables.ibr", dir);
	struct file_install *fi;
	struct installer in;
	struct tables *t;
	struct executor *a;
	struct err err = { "" };

	assert_int_equal(file_install_new(&fi, dir, w->f, w->p->from, w->p->to, NULL), 0);
	in = file_installer(fi);
	a = executor_new(w->p, &in, &w->o);
	if (executor_run(a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(tables_ibr_load(&t, ibr, w->f, NULL, NULL), 0);
	assert_true(tables_same(t, w->p->to, w->f));
	tables_put(t);
	assert_int_equal(executor_rollback(a, &err), 0);
	assert_int_equal(tables_ibr_load(&t, ibr, w->f, NULL, NULL), 0);
	assert_true(tables_same(t, w->p->from, w->f));
	tables_put(t);
	assert_true(net_holds(w->s, w->from, true));
	assert_int_equal(w->routings, 0);
	executor_free(a);
	file_install_free(fi);
	free(ibr);
	free(dir);
}

static void files_that_were_touched_are_found_out(void **state)
{
	struct world *w = *state;
	char *dir = xasprintf("%s/files", w->base), *dump = xasprintf("%s/opensm-lfts.dump", dir);
	struct install_item it = { .kind = CHANGE_LFT };
	struct file_install *fi;
	struct installer in;
	struct err err = { "" };
	FILE *f;

	assert_int_equal(file_install_new(&fi, dir, w->f, w->p->from, w->p->to, NULL), 0);
	in = file_installer(fi);
	assert_int_equal(in.ops->read(in.ctx, w->f, &it, 1, NULL, &err), 0);
	assert_memory_equal(it.data, w->from->lft, LFT_BLOCK);
	f = fopen(dump, "w");
	fclose(f);
	assert_true(in.ops->read(in.ctx, w->f, &it, 1, NULL, &err) < 0);
	assert_true(it.rc < 0);
	file_install_free(fi);
	free(dump);
	free(dir);
}

static void a_stage_is_what_was_written_on_it(void **state)
{
	struct world *w = *state;
	struct staged_tables *s = staged_tables_new(w->f, w->from);
	const struct changes *l = w->p->changes;
	uint64_t *marks = xcalloc(l->n, sizeof(*marks));
	struct tables *t;

	assert_true(staged_tables_is(s, w->from));
	assert_true(!staged_tables_mark(s));
	for (uint32_t i = 0; i < l->n; i++) {
		struct install_item it = { .sw = l->v[i].sw,
					   .block = l->v[i].block,
					   .kind = l->v[i].kind,
					   .in = l->v[i].in,
					   .out = l->v[i].out };
		uint64_t mark = staged_tables_mark(s);

		memcpy(it.data, change_old(l, &l->v[i]), change_bytes(&l->v[i]));
		assert_int_equal(staged_tables_write(s, &it, 1), 0);
		memcpy(it.data, change_new(l, &l->v[i]), change_bytes(&l->v[i]));
		assert_int_equal(staged_tables_write(s, &it, 1), 1);
		assert_true(staged_tables_mark(s) && staged_tables_mark(s) != mark);
		assert_int_equal(staged_tables_write(s, &it, 1), 0);
		/* back and forth, it is the same again */
		marks[i] = staged_tables_mark(s);
		memcpy(it.data, change_old(l, &l->v[i]), change_bytes(&l->v[i]));
		assert_int_equal(staged_tables_write(s, &it, 1), 1);
		assert_true(staged_tables_mark(s) == mark);
		memcpy(it.data, change_new(l, &l->v[i]), change_bytes(&l->v[i]));
		assert_int_equal(staged_tables_write(s, &it, 1), 1);
		assert_true(staged_tables_mark(s) == marks[i]);
		for (uint32_t k = 0; k < i; k++)
			assert_true(marks[k] != marks[i]);
	}
	free(marks);
	assert_true(staged_tables_is(s, w->p->to));
	t = staged_tables_tables(s, w->from);
	assert_true(tables_forward_same(w->f, t, w->p->to));
	assert_int_equal(tables_path_sl(t, 0, w->f->term_sw[0], 3), 0);
	tables_put(t);
	t = staged_tables_tables(s, w->p->to);
	assert_true(tables_same(t, w->p->to, w->f));
	tables_put(t);
	staged_tables_free(s);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, up, down)
	const struct CMUnitTest tests[] = {
		T(an_update_is_written_by_opensm_wave_by_wave_and_kept),
		T(a_wave_that_opensm_refuses_says_so_in_its_items),
		T(what_opensm_would_refuse_is_not_begun),
		T(paths_keep_their_service_levels_until_the_last_wave),
		T(not_confirmed_opensm_returns_to_what_it_did_before),
		T(what_opensm_only_believes_is_written_again_in_full),
		T(when_the_fabric_changes_under_way_the_update_goes_back_and_says_why),
		T(a_cable_lost_in_the_window_ends_the_update_and_the_policy_routes),
		T(a_recovery_on_a_fabric_that_changed_hands_over_nothing),
		T(giving_up_an_old_update_leaves_the_one_that_is_open_alone),
		T(a_host_lost_in_the_window_neither_ends_nor_changes_the_update),
		T(who_orders_other_routes_ends_the_update_as_another_writer),
		T(an_order_for_another_policy_is_not_taken_for_another_fabric),
		T(what_opensm_does_not_route_by_any_more_is_not_confirmed),
		T(without_the_plugin_nothing_can_be_confirmed),
		T(without_the_plugin_nothing_is_written_and_the_old_tables_stay),
		T(when_opensm_dies_and_nobody_follows_the_old_tables_are_written_without_it),
		T(when_opensm_dies_the_next_one_is_waited_for_to_write_the_old_tables),
		T(what_the_next_one_routes_by_is_left_to_it_judged_and_told),
		T(the_next_one_may_route_by_the_new_tables_and_nobody_has_confirmed_them),
		T(a_next_one_that_differs_elsewhere_only_is_told_of_too),
		T(without_a_judge_it_is_said_that_it_was_not_judged),
		T(a_next_one_that_writes_nothing_is_not_waited_for_for_ever),
		T(an_opensm_that_lives_on_forgets_what_nobody_confirmed),
		T(a_process_that_takes_over_comes_to_the_same_end),
		T(another_process_takes_back_what_a_killed_one_has_left),
		T(what_somebody_else_has_written_is_found_and_else_service_levels_are_known),
		T(files_hold_the_new_tables_or_the_old_ones_again),
		T(files_that_were_touched_are_found_out),
		T(a_stage_is_what_was_written_on_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
