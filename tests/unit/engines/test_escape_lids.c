/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/escape_lids.h"

#include "engines/graph/graph.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* NULL when the engine refuses for want of VLs, or because the fabric is not for it. */
static struct tables *with_escape(const struct engine *e, const struct fabric *f,
				  const struct jobset *jobs, unsigned vls, uint64_t seed)
{
	struct engine_params p = { .vls = vls, .seed = seed, .escape = true };
	struct tables *t = NULL;
	struct err err = { "" };
	int rc;

	if (e->suits(f, NULL))
		return NULL;
	rc = engine_run(e, &t, f, jobs, NULL, &p, NULL, &err);
	if (rc == -ENOSPC)
		return NULL;
	if (rc)
		fail_msg("%s: %s", e->name, err.text);
	assert_true(t->escape);
	assert_int_equal(t->vls, vls);
	return t;
}

/* Every hop of the path from a switch's ends to the LID has a VL in that range. */
static void assert_vls(const struct fabric *f, const struct tables *t, uint32_t sw, uint32_t lid,
		       unsigned least, unsigned most)
{
	uint32_t term = f->term_list[f->term_off[sw]], c;
	uint8_t sl = tables_path_sl(t, term, sw, lid), in = f->term_port[term];

	while ((c = fabric_chan(f, sw, tables_row(t, sw)[lid])) != FAB_NONE) {
		assert_in_range(tables_vl(t, f, sw, in, f->chan_port[c], sl), least, most);
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
}

static void assert_apart(const struct fabric *f, const struct tables *t, unsigned vls)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		bool escape = fabric_lid_escape(f, lid);

		for (uint32_t u = 0; u < f->nsw && f->lid_end[lid] != FAB_NONE; u++)
			if (f->term_off[u] < f->term_off[u + 1])
				assert_vls(f, t, u, lid, escape ? vls - 1 : 0,
					   escape ? vls - 1 : vls - 2);
	}
}

static void assert_clean(const struct fabric *f, const struct tables *t, const char *what)
{
	struct verdict *v;
	char why[256];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s by %s: %s", what, t->engine, why);
	verdict_free(v);
}

static void assert_same_escapes(const struct fabric *f, const struct tables *a,
				const struct tables *b)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (!fabric_lid_escape(f, lid))
			continue;
		for (uint32_t u = 0; u < f->nsw; u++)
			assert_int_equal(tables_row(a, u)[lid], tables_row(b, u)[lid]);
		for (uint32_t e = 0; e < f->nend; e++)
			assert_int_equal(tables_path_sl(a, e, f->term_sw[e], lid),
					 tables_path_sl(b, e, f->term_sw[e], lid));
	}
}

static void escapes_of_all_engines_are_the_same_and_apart_from_the_traffic(void **state)
{
	static const char *const specs[] = {
		"fattree2:leaves=6,spines=3,hosts=3,lmc=1",
		"kary:k=3,n=3,hosts=2,lmc=1,lids=random",
		"hyperx:dims=4x3,hosts=2,lmc=3",
		"torus:dims=4x4,hosts=1,lmc=1",
		"torus:dims=5x5x5,hosts=1,lmc=1",
		"torus:dims=6x5,hosts=1,lmc=3",
		"dragonfly:p=2,lmc=1",
		"slimfly:q=5,lmc=1",
		"random:switches=12,links=20,hosts=2,seed=3,fail=2,lmc=3",
		"random:switches=15,links=40,hosts=3,seed=4,lmc=2,lids=random",
	};
	const struct engine *const *e;
	size_t n;

	(void)state;
	e = engine_all(&n);
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *first = NULL;

		for (size_t k = 0; k < n; k++) {
			struct tables *t = with_escape(e[k], f, NULL, 8, 0);

			if (!t)
				continue;
			assert_clean(f, t, specs[i]);
			assert_apart(f, t, 8);
			if (first)
				assert_same_escapes(f, first, t);
			else
				first = (struct tables *)tables_get(t);
			tables_put(t);
		}
		assert_non_null(first);
		tables_put(first);
		fabric_put(f);
	}
}

static void traffic_is_what_the_engine_makes_of_one_vl_less_and_half_the_lids(void **state)
{
	struct fabric *f = net_spec("torus:dims=5x4,hosts=2,lmc=1");
	struct fabric *single = net_spec("torus:dims=5x4,hosts=2,lmc=0");
	const struct engine *e = engine_find("dfsssp", NULL);
	struct engine_params p = { .vls = 7 };
	struct tables *t = with_escape(e, f, NULL, 8, 0), *alone = must_route(e, single, NULL, &p);

	(void)state;
	for (uint32_t term = 0; term < f->nterm; term++)
		for (uint32_t u = 0; u < f->nsw; u++) {
			uint32_t a = f->term_lid[term], b = single->term_lid[term];

			assert_int_equal(tables_row(t, u)[a], tables_row(alone, u)[b]);
			assert_int_equal(tables_path_sl(t, 0, u, a),
					 tables_path_sl(alone, 0, u, b));
		}
	tables_put(t);
	tables_put(alone);
	fabric_put(f);
	fabric_put(single);
}

static void jobs_and_seed_change_the_traffic_and_not_the_escapes(void **state)
{
	struct fabric *f = net_spec("random:switches=14,links=40,hosts=4,seed=9,lmc=1");
	const struct engine *sar = engine_find("sar", NULL);
	struct jobset *jobs;
	struct tables *a, *b;
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	jobs = kit_random_jobs(f, 5, 20, &r);
	a = with_escape(sar, f, NULL, 8, 1);
	b = with_escape(sar, f, jobs, 8, 2);
	assert_same_escapes(f, a, b);
	assert_memory_not_equal(a->lft, b->lft, (size_t)a->nsw * a->stride);
	tables_put(a);
	tables_put(b);
	jobset_put(jobs);
	fabric_put(f);
}

/* A cable is missing and a spine has hosts: the top of the tree alone would leave pairs without a
 * legal path. */
static void a_damaged_tree_with_aggregation_nodes_keeps_to_one_vl(void **state)
{
	struct net_opts o = { .lmc = 1, .aggregation = 8 };
	struct fabric *f = net_tree(6, 4, 3, &o);
	const struct engine *e = engine_find("updn", NULL);
	struct tables *t = with_escape(e, f, NULL, 3, 0);

	(void)state;
	assert_non_null(t);
	assert_clean(f, t, "tree");
	assert_apart(f, t, 3);
	tables_put(t);
	fabric_put(f);
}

static void without_room_for_escapes_there_is_a_refusal_with_the_reason(void **state)
{
	struct fabric *single = net_ring(4, 1, NULL);
	struct fabric *f = net_ring(8, 1, &(struct net_opts){ .lmc = 1 });
	uint64_t far_apart[2] = { f->sw_guid[0], f->sw_guid[4] };
	struct engine_params p = { .vls = 4, .escape = true };
	const struct engine *e = engine_find("dfsssp", NULL);
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(e, &t, single, NULL, NULL, &p, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "LMC 0"));
	p.vls = 1;
	assert_int_equal(engine_run(e, &t, f, NULL, NULL, &p, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "their own VL"));
	p.vls = 2;
	assert_int_equal(engine_run(e, &t, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "reserved for the escape LIDs"));
	p.vls = 4;
	p.roots = far_apart;
	p.nroots = 2;
	assert_int_equal(engine_run(e, &t, f, NULL, NULL, &p, NULL, &err), -ENETUNREACH);
	assert_non_null(strstr(err.text, "roots"));
	assert_null(t);
	fabric_put(single);
	fabric_put(f);
}

/* On a ring of seven the cable between the two switches farthest from the root goes down from
 * the first to the second: nothing but what ends there may take it. */
static void given_roots_are_those_of_the_escapes(void **state)
{
	struct fabric *f = net_ring(7, 1, &(struct net_opts){ .lmc = 1 });
	struct engine_params p = { .vls = 4, .escape = true, .nroots = 1 };
	const struct engine *e = engine_find("dfsssp", NULL);

	(void)state;
	for (uint32_t root = 0; root < f->nsw; root++) {
		uint32_t a = (root + 3) % 7, b = (root + 4) % 7;
		uint32_t first = a < b ? a : b, second = a < b ? b : a;
		struct tables *t;

		p.roots = &f->sw_guid[root];
		t = must_route(e, f, NULL, &p);
		for (uint32_t term = 0; term < f->nterm; term++) {
			uint32_t lid = f->term_lid[term] + 1u, c;

			c = fabric_chan(f, first, tables_row(t, first)[lid]);
			if (c != FAB_NONE)
				assert_int_equal(f->chan_dst[c] == second,
						 f->term_sw[term] == second);
		}
		assert_clean(f, t, "ring");
		tables_put(t);
	}
	fabric_put(f);
}

static void cancel(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	if (!strcmp(step, "escape"))
		atomic_store(&((struct progress *)ctx)->cancel, true);
}

static void a_cancel_while_escapes_are_routed_is_heard(void **state)
{
	struct fabric *f = net_ring(6, 2, &(struct net_opts){ .lmc = 1 });
	struct engine_params p = { .vls = 8, .escape = true };
	struct progress progress = { .report = cancel };
	struct tables *t = NULL;

	(void)state;
	progress.ctx = &progress;
	assert_int_equal(
		engine_run(engine_find("minhop", NULL), &t, f, NULL, NULL, &p, &progress, NULL),
		-ECANCELED);
	assert_null(t);
	fabric_put(f);
}

/* Tables whose traffic has that SL only; SL2VL as BY_INPUT or FULL maps every SL to VL 0 or 1. */
static struct tables *own_vls(const struct fabric *f, enum sl_kind sl, enum sl2vl_kind vl,
			      uint8_t traffic)
{
	struct engine_params p = { .vls = 3 };
	struct tables *t = must_route(engine_find("updn", NULL), f, NULL, &p);
	size_t rows;

	tables_sl_form(t, sl, f);
	tables_sl2vl_form(t, vl, f);
	t->sl_const = traffic;
	rows = sl == SL_BY_DLID ? 1 : sl == SL_BY_SWITCH ? f->nsw : sl == SL_BY_TERM ? f->nend : 0;
	if (rows)
		memset(t->sl, traffic, rows * t->stride);
	for (size_t i = 0; i < tables_sl2vl_bytes(t); i++)
		t->sl2vl[i] = i % FAB_SLS == traffic;
	return t;
}

static void every_form_of_sl_and_sl2vl_takes_escapes_and_the_traffic_keeps_its_vls(void **state)
{
	struct fabric *f =
		net_random(4, 9, 16, 3, &(struct net_opts){ .lmc = 2, .aggregation = 1 });
	struct engine_params p = { .vls = 4, .escape = true };
	struct err err = { "" };

	(void)state;
	for (int sl = SL_CONST; sl <= SL_BY_TERM; sl++)
		for (int vl = SL2VL_BY_INPUT; vl <= SL2VL_FULL; vl++)
			for (uint8_t traffic = 0; traffic < FAB_SLS; traffic++) {
				struct tables *t = own_vls(f, sl, vl, traffic);

				assert_int_equal(escape_lids_add(t, f, &p, NULL, &err), 0);
				assert_clean(f, t, "random");
				for (uint32_t lid = 1; lid <= f->max_lid; lid++)
					for (uint32_t u = 0; u < f->nsw; u++) {
						unsigned v = fabric_lid_escape(f, lid) ? 3 : 1;

						if (f->lid_end[lid] != FAB_NONE &&
						    f->term_off[u] < f->term_off[u + 1])
							assert_vls(f, t, u, lid, v, v);
					}
				tables_put(t);
			}
	fabric_put(f);
}

static void traffic_with_all_sls_leaves_none_and_is_refused(void **state)
{
	struct fabric *f = net_ring(5, 4, &(struct net_opts){ .lmc = 1 });
	struct engine_params p = { .vls = 4, .escape = true };
	struct tables *t = own_vls(f, SL_BY_DLID, SL2VL_BY_INPUT, 0);
	struct err err;

	(void)state;
	for (uint32_t i = 0; i < t->stride; i++)
		t->sl[i] = i % FAB_SLS;
	assert_int_equal(escape_lids_add(t, f, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "all 16 SLs"));
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_of_all_engines_are_the_same_and_apart_from_the_traffic),
		cmocka_unit_test(traffic_is_what_the_engine_makes_of_one_vl_less_and_half_the_lids),
		cmocka_unit_test(jobs_and_seed_change_the_traffic_and_not_the_escapes),
		cmocka_unit_test(a_damaged_tree_with_aggregation_nodes_keeps_to_one_vl),
		cmocka_unit_test(without_room_for_escapes_there_is_a_refusal_with_the_reason),
		cmocka_unit_test(given_roots_are_those_of_the_escapes),
		cmocka_unit_test(a_cancel_while_escapes_are_routed_is_heard),
		cmocka_unit_test(
			every_form_of_sl_and_sl2vl_takes_escapes_and_the_traffic_keeps_its_vls),
		cmocka_unit_test(traffic_with_all_sls_leaves_none_and_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
