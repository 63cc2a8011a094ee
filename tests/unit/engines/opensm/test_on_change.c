/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin routes with after a cable, a switch or a host has gone or come back. */
#include "engines/opensm/sm_session.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/model/tables/carry.h"
#include "tests/unit/kit/later_state.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define NET "torus:dims=5x5,hosts=2"

static struct fabric *f; /* whole */

/* A plugin that starts, with a policy and confirmed tables, and what it said last. */
struct world {
	char dir[40], policy[60], confirmed[60];
	struct sm_session *session;
	struct table_selection c; /* of the last routing */
	char said[1500];
};

static void hear(void *ctx, const char *sentence)
{
	struct world *w = ctx;
	size_t len = strlen(w->said);

	snprintf(w->said + len, sizeof(w->said) - len, "%s\n", sentence);
}

static void set_policy(const struct world *w, const char *text)
{
	FILE *out = fopen(w->policy, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void begin(struct world *w, const char *policy)
{
	*w = (struct world){ .dir = "/tmp/test_on_change.XXXXXX" };
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->policy, sizeof(w->policy), "%s/policy", w->dir);
	snprintf(w->confirmed, sizeof(w->confirmed), "%s/confirmed.ibr", w->dir);
	set_policy(w, policy);
	w->session = sm_session_new(w->policy, w->confirmed);
}

static void end(struct world *w)
{
	tables_put(w->c.tables);
	sm_session_free(w->session);
	unlink(w->policy);
	unlink(w->confirmed);
	rmdir(w->dir);
}

static void restart(struct world *w)
{
	sm_session_free(w->session);
	w->session = sm_session_new(w->policy, w->confirmed);
}

static void assert_sound(const struct fabric *now, const struct tables *t)
{
	struct verdict *v;
	char text[300];

	assert_int_equal(verify_tables(&v, now, t, NULL, NULL, NULL), 0);
	verdict_sentence(text, sizeof(text), v, now);
	if (!verdict_ok(v))
		fail_msg("%s", text);
	verdict_free(v);
}

/* As OpenSM does in a sweep. */
static void sweep(struct world *w, const struct fabric *now)
{
	struct table_selection_log log = { hear, w };
	const struct tables *old = w->c.tables;
	struct err err = { "" };

	w->said[0] = '\0';
	if (sm_session_choose(w->session, &w->c, now, &log, &err))
		fail_msg("%s", err.text);
	sm_session_routed(w->session, now, &w->c);
	sm_session_finished(w->session, "ibroute", false);
	tables_put(old);
	assert_sound(now, w->c.tables);
}

/* Of the switches' entries those whose path still stands are as they were. */
static void assert_little_moved(const struct world *w, const struct fabric *now,
				const struct tables *was)
{
	uint64_t differ = 0;

	for (uint32_t sw = 0; sw < now->nsw; sw++)
		for (uint32_t lid = 1; lid <= now->max_lid; lid++)
			differ += tables_row(w->c.tables, sw)[lid] != tables_row(was, sw)[lid];
	assert_int_equal(differ, w->c.repair.changed);
	assert_true(w->c.repair.needed > 0);
	assert_true(w->c.repair.changed <= 2 * w->c.repair.needed);
	assert_true(w->c.repair.lids > 0);
}

static bool same(const struct tables *a, const struct tables *b)
{
	return a->stride == b->stride && a->nsw == b->nsw &&
	       !memcmp(a->lft, b->lft, (size_t)a->nsw * a->stride);
}

static void a_lost_cable_is_repaired_and_its_return_brings_back_what_was(void **state)
{
	uint32_t c = later_cable(f, 1);
	struct fabric *less = later_without(f, &c, 1);
	const struct tables *first, *repaired;
	struct world w;

	(void)state;
	begin(&w, "engine nue:4\nthreads 1\n");
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	first = tables_get(w.c.tables);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_string_equal(w.said, "");
	assert_string_equal(w.c.repair.what, "1 cable gone");
	assert_non_null(strstr(w.c.repair.gone, f->sw_name[f->chan_src[c]]));
	assert_int_equal(w.c.repair.of, CHOICE_ENGINE);
	assert_little_moved(&w, less, first);
	repaired = tables_get(w.c.tables);
	sweep(&w, less); /* for another reason */
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_string_equal(w.c.repair.what, "");
	assert_true(same(w.c.tables, repaired));
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	assert_true(same(w.c.tables, first));
	tables_put(first);
	tables_put(repaired);
	end(&w);
	fabric_put(less);
}

static void one_failure_after_the_other(void **state)
{
	uint32_t c[8];
	const struct tables *was;
	struct world w;

	(void)state;
	begin(&w, "engine dfsssp\nthreads 1\n");
	sweep(&w, f);
	for (uint32_t n = 0; n < 8; n++) {
		struct fabric *less;

		c[n] = later_cable(f, 100 + n);
		less = later_without(f, c, n + 1);
		if (!fabric_connected(less)) {
			c[n] = c[0];
			fabric_put(less);
			continue;
		}
		was = tables_get(w.c.tables);
		sweep(&w, less);
		assert_int_equal(w.c.source, CHOICE_REPAIRED);
		if (w.c.repair.what[0] && !w.c.repair.sls_again)
			assert_little_moved(&w, less, was);
		tables_put(was);
		fabric_put(less);
	}
	end(&w);
}

/* Together they are one repair; what comes back of them has the paths that it had. */
static void a_switch_dies_and_most_of_its_cables_return(void **state)
{
	struct fabric *tree = net_spec("fattree2:leaves=6,spines=4,hosts=4");
	struct later how = LATER_NOTHING;
	struct fabric *dead, *half;
	const struct tables *first;
	uint32_t spine = 0, c;
	struct world w;

	(void)state;
	while (tree->sw_nterm[spine])
		spine++;
	how.sw_gone = spine;
	dead = later_state(tree, &how);
	c = tree->chan_off[spine];
	half = later_without(tree, &c, 1);
	begin(&w, "engine ftree\nthreads 1\n");
	sweep(&w, tree);
	first = tables_get(w.c.tables);
	sweep(&w, dead);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_string_equal(w.c.repair.what, "1 switch gone");
	sweep(&w, half);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_string_equal(w.c.repair.what, "1 cable gone"); /* since the engine routed */
	assert_int_equal(w.c.repair.of, CHOICE_ENGINE);
	assert_little_moved(&w, half, first);
	sweep(&w, tree);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	assert_true(same(w.c.tables, first));
	tables_put(first);
	end(&w);
	fabric_put(dead);
	fabric_put(half);
	fabric_put(tree);
}

/* While a fabric starts, what has been there first is no model for the rest. */
static void what_the_engine_has_never_seen_it_routes(void **state)
{
	struct later how = LATER_NOTHING;
	uint32_t c[2] = { later_cable(f, 1), later_cable(f, 2) };
	struct fabric *less = later_without(f, c, 2), *hosts;
	struct world w;

	(void)state;
	how.end_gone = 3;
	hosts = later_state(f, &how);
	begin(&w, "engine nue:4\nthreads 1\n");
	sweep(&w, less);
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	assert_non_null(strstr(w.said, "not a repair, but nue:4: switches, cables or hosts have"));
	restart(&w);
	sweep(&w, hosts);
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	end(&w);
	fabric_put(hosts);
	fabric_put(less);
}

static void other_policies_route_again(void **state)
{
	uint32_t c[2] = { later_cable(f, 1), later_cable(f, 2) };
	struct fabric *less = later_without(f, c, 1), *lesser = later_without(f, c, 2);
	struct world w;

	(void)state;
	begin(&w, "engine nue:4\nthreads 1\non_change reroute\n");
	sweep(&w, f);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	set_policy(&w, "engine nue:4\nthreads 1\n");
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	sweep(&w, lesser);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	set_policy(&w, "engine dfsssp:4\nthreads 1\n");
	sweep(&w, lesser);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	assert_string_equal(w.c.tables->engine, "dfsssp");
	set_policy(&w, "engine nue:4\nthreads 1\n");
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	assert_string_equal(w.c.tables->engine, "nue");
	end(&w);
	fabric_put(less);
	fabric_put(lesser);
}

static void forgetting_makes_the_engine_route(void **state)
{
	uint32_t c = later_cable(f, 1);
	struct fabric *less = later_without(f, &c, 1);
	struct osm_answer a = { 0 };
	struct world w;

	(void)state;
	begin(&w, "engine nue:4\nthreads 1\n");
	sweep(&w, f);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_int_equal(sm_session_policy(w.session, "", 0, OSM_POLICY_FORGET, &a, NULL), 0);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	end(&w);
	fabric_put(less);
}

static void keep(const struct world *w, const char *engine)
{
	struct engine_params params = { .seed = 4, .threads = 1, .vls = 4 };
	struct tables *t;

	t = must_route(engine_find(engine, NULL), f, NULL, &params);
	assert_int_equal(tables_ibr_save(w->confirmed, t, f, NULL), 0);
	tables_put(t);
}

/* Also when OpenSM starts only after the failure. */
static void confirmed_tables_are_repaired_from_the_disk(void **state)
{
	uint32_t c[2] = { later_cable(f, 1), later_cable(f, 2) };
	struct fabric *less = later_without(f, c, 1), *lesser = later_without(f, c, 2);
	struct world w;

	(void)state;
	begin(&w, "engine updn\nthreads 1\n");
	keep(&w, "dfsssp");
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_int_equal(w.c.repair.of, CHOICE_CONFIRMED);
	assert_string_equal(w.c.repair.what, "1 cable gone");
	assert_non_null(strstr(w.said, "not the confirmed tables, but what is left of them: "));
	sweep(&w, lesser);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_int_equal(w.c.repair.of, CHOICE_REPAIRED);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_int_equal(w.c.repair.of, CHOICE_CONFIRMED);
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_CONFIRMED);
	assert_string_equal(w.c.tables->engine, "dfsssp");
	end(&w);
	fabric_put(less);
	fabric_put(lesser);
}

/* The policy says on how many VLs the engine routes, not that paths which stand have to leave
 * theirs. */
static void tables_on_more_vls_than_the_policys_are_repaired(void **state)
{
	uint32_t c = later_cable(f, 1);
	struct fabric *less = later_without(f, &c, 1);
	const struct tables *first;
	struct world w;

	(void)state;
	begin(&w, "engine nue\nvls 1\nthreads 1\n");
	keep(&w, "nue");
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_CONFIRMED);
	assert_int_equal(w.c.tables->vls, 2);
	first = tables_get(w.c.tables);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_int_equal(w.c.tables->vls, 2);
	assert_false(w.c.repair.sls_again);
	assert_little_moved(&w, less, first);
	tables_put(first);
	end(&w);
	fabric_put(less);
}

/* Whatever came first, and whether OpenSM was there all the time. */
static void from_the_confirmed_tables_each_time(void **state)
{
	uint32_t c[2] = { later_cable(f, 1), later_cable(f, 2) };
	struct fabric *a = later_without(f, c, 1), *b = later_without(f, c + 1, 1);
	struct fabric *both = later_without(f, c, 2);
	const struct tables *t;
	struct world w;

	(void)state;
	begin(&w, "engine updn\nthreads 1\non_change confirmed\n");
	keep(&w, "dfsssp");
	sweep(&w, f);
	sweep(&w, a);
	sweep(&w, both);
	assert_int_equal(w.c.repair.of, CHOICE_CONFIRMED);
	assert_string_equal(w.c.repair.what, "2 cables gone");
	t = tables_get(w.c.tables);
	sweep(&w, b);
	sweep(&w, both);
	assert_true(same(w.c.tables, t));
	restart(&w);
	sweep(&w, both);
	assert_true(same(w.c.tables, t));
	tables_put(t);
	end(&w);
	fabric_put(a);
	fabric_put(b);
	fabric_put(both);
}

/* No path of others moves for that, not even one. */
static void hosts_that_go_and_return_move_nobody(void **state)
{
	struct later how = LATER_NOTHING;
	struct fabric *away, *moved;
	const struct tables *first;
	struct world w;

	(void)state;
	how.end_gone = 3;
	away = later_state(f, &how);
	how = LATER_NOTHING;
	how.end_moved = 3;
	moved = later_state(f, &how);
	begin(&w, "engine nue:4\nthreads 1\n");
	sweep(&w, f);
	first = tables_get(w.c.tables);
	sweep(&w, away);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_string_equal(w.c.repair.what, "1 host port gone");
	assert_int_equal(w.c.repair.changed, 0);
	sweep(&w, f);
	assert_true(same(w.c.tables, first));
	set_policy(&w, "engine updn\nthreads 1\n");
	keep(&w, "nue");
	sweep(&w, f);
	sweep(&w, moved);
	assert_int_equal(w.c.source, CHOICE_CONFIRMED);
	assert_int_equal(w.c.grafted.came + w.c.grafted.away, 0);
	tables_put(first);
	end(&w);
	fabric_put(away);
	fabric_put(moved);
}

static void what_is_excluded_stays_so_in_a_repair(void **state)
{
	struct fabric *tree = net_spec("fattree2:leaves=6,spines=4,hosts=4");
	uint32_t spine = 0, c;
	struct fabric *less;
	struct world w;
	char text[100];

	(void)state;
	while (tree->sw_nterm[spine])
		spine++;
	c = tree->chan_off[spine];
	less = later_without(tree, &c, 1);
	snprintf(text, sizeof(text), "engine ftree\nthreads 1\nexclude %s\n",
		 tree->sw_name[spine + 1]);
	begin(&w, text);
	sweep(&w, tree);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	for (uint32_t e = 0; e < less->nterm; e++)
		for (uint32_t sw = 0; sw < less->nsw; sw++) {
			uint32_t to = fabric_chan(less, sw,
						  tables_row(w.c.tables, sw)[less->term_lid[e]]);

			if (to != FAB_NONE && less->sw_nterm[sw])
				assert_int_not_equal(less->chan_dst[to], spine + 1);
		}
	end(&w);
	fabric_put(less);
	fabric_put(tree);
}

/* With several LIDs a host, half of them for escape. */
static void escape_lids_are_repaired_too(void **state)
{
	struct net_opts lmc = { .lmc = 1 };
	struct fabric *net = net_torus(4, 4, 1, &lmc), *whole = later_state(net, &LATER_NOTHING);
	uint32_t c = later_cable(whole, 1);
	struct fabric *less = later_without(whole, &c, 1);
	struct world w;

	(void)state;
	begin(&w, "engine nue:4\nthreads 1\nescape yes\n");
	sweep(&w, whole);
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	assert_string_equal(w.said, "");
	assert_true(w.c.tables->escape);
	assert_true(w.c.repair.changed > 0);
	end(&w);
	fabric_put(less);
	fabric_put(whole);
	fabric_put(net);
}

static int make_net(void **state)
{
	struct fabric *net = net_spec(NET);

	(void)state;
	f = later_state(net, &LATER_NOTHING);
	fabric_put(net);
	return 0;
}

static int drop_net(void **state)
{
	(void)state;
	fabric_put(f);
	return 0;
}

static void a_step_is_taken_from_what_it_was_made_for(void **state)
{
	uint32_t c = later_cable(f, 1), other = later_cable(f, 7);
	struct fabric *less = later_without(f, &c, 1), *least = later_without(f, &other, 1);
	struct engine_params params = { .threads = 1, .sar_change = 1 };
	struct tables *step;
	struct world w;

	(void)state;
	begin(&w, "engine nue:4\nthreads 1\nimprove 60\n");
	sweep(&w, f);
	assert_false(sm_session_improve(w.session, w.c.tables + 1, w.c.tables));
	sweep(&w, less);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	params.current = w.c.tables;
	step = must_route(engine_find("repair", NULL), less, NULL, &params);
	assert_false(same(step, w.c.tables));
	assert_true(sm_session_improve(w.session, w.c.tables, step));
	sweep(&w, less);
	assert_ptr_equal(w.c.tables, step);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	sweep(&w, less);
	assert_ptr_equal(w.c.tables, step);
	/* another fabric: it is repaired from the step; all back: what was before */
	assert_true(sm_session_improve(w.session, step, step));
	sweep(&w, least);
	assert_int_equal(w.c.source, CHOICE_REPAIRED);
	sweep(&w, f);
	assert_int_equal(w.c.source, CHOICE_ENGINE);
	tables_put(step);
	fabric_put(less);
	fabric_put(least);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_taken_from_what_it_was_made_for),
		cmocka_unit_test(a_lost_cable_is_repaired_and_its_return_brings_back_what_was),
		cmocka_unit_test(one_failure_after_the_other),
		cmocka_unit_test(a_switch_dies_and_most_of_its_cables_return),
		cmocka_unit_test(what_the_engine_has_never_seen_it_routes),
		cmocka_unit_test(other_policies_route_again),
		cmocka_unit_test(forgetting_makes_the_engine_route),
		cmocka_unit_test(confirmed_tables_are_repaired_from_the_disk),
		cmocka_unit_test(tables_on_more_vls_than_the_policys_are_repaired),
		cmocka_unit_test(from_the_confirmed_tables_each_time),
		cmocka_unit_test(hosts_that_go_and_return_move_nobody),
		cmocka_unit_test(what_is_excluded_stays_so_in_a_repair),
		cmocka_unit_test(escape_lids_are_repaired_too),
	};

	return cmocka_run_group_tests(tests, make_net, drop_net);
}
