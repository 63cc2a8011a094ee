/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/deadlock/deadlock_traffic.h"

#include "console/deadlock/deadlock_text.h"
#include "engines/engine.h"
#include "fabric/model/tables/vl_fold.h"
#include "fabric/sim/packet/packets_priv.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT_ns 1000000
#define MESSAGE	 (128 << 10)

/* HOTI16's test of an engine's tables, on so many VLs (0: as they are). */
struct trial {
	struct fabric *f;
	const struct tables *t, *one;
	struct verdict *v; /* on one VL */
	struct deadlock_test s;
};

static void prepare(struct trial *x, const char *spec, const char *engine, unsigned vls)
{
	struct engine_params params = { .threads = 1, .seed = 1, .vls = 15 };
	struct tables *t;
	struct err err;

	x->f = net_spec(spec);
	assert_int_equal(
		engine_run(engine_find(engine, &err), &t, x->f, NULL, NULL, &params, NULL, &err),
		0);
	x->t = vls ? vl_fold(x->f, t, vls) : tables_get(t);
	x->one = vl_fold(x->f, t, 1);
	assert_int_equal(verify_tables(&x->v, x->f, x->one, NULL, NULL, &err), 0);
	tables_put(t);
}

static void done_with(struct trial *x)
{
	verdict_free(x->v);
	tables_put(x->t);
	tables_put(x->one);
	fabric_put(x->f);
}

static void run(struct trial *x, uint64_t seed, bool shared)
{
	struct deadlock_test_opts o = { .seed = seed, .message = MESSAGE, .shared = shared };
	struct err err;

	deadlock_test_init(&x->s, x->f, x->t, &o);
	assert_int_equal(
		deadlock_traffic_pairs(&x->s, x->t, x->one, x->v->cycle, x->v->ncycle, NULL, &err),
		0);
	assert_int_equal(deadlock_test_run(&x->s, LIMIT_ns, NULL, &err), 0);
}

/* Two of each switch send once and receive once, and none itself. */
static void assert_pairs(const struct deadlock_test *s)
{
	const struct fabric *f = s->f;
	uint32_t *sent = calloc(f->nterm, sizeof(*sent)), *got = calloc(f->nterm, sizeof(*got));
	uint32_t *of_sw = calloc(f->nsw, sizeof(*of_sw));

	for (uint32_t c = 0; c < s->nconn; c++) {
		uint32_t dst = fabric_lid_end(f, s->p->conns.v[c].dlid);

		assert_true(dst < f->nterm && dst != s->src[c]);
		assert_int_equal(++sent[s->src[c]], 1);
		assert_int_equal(++got[dst], 1);
		of_sw[f->term_sw[s->src[c]]]++;
	}
	assert_memory_equal(sent, got, f->nterm * sizeof(*sent));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		assert_int_equal(of_sw[sw], f->sw_nterm[sw] < 2 ? f->sw_nterm[sw] : 2);
	free(sent);
	free(got);
	free(of_sw);
}

/* HOTI16, Fig. 7: 50 and 98 switches deadlock within some ten microseconds. */
static void minimal_paths_on_one_vl_deadlock(void **state)
{
	static const char *const nets[] = { "slimfly:q=5,hosts=2", "slimfly:q=5,hosts=7",
					    "slimfly:q=7,hosts=3" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct trial x;

			prepare(&x, nets[i], "dfsssp", 1);
			assert_false(x.v->deadlock_free);
			run(&x, seed, true);
			assert_pairs(&x.s);
			assert_true(x.s.aimed > x.s.nconn / 2);
			assert_true(x.s.ncycle >= 3);
			assert_true(x.s.closed_ns > 4000 && x.s.closed_ns < 50000);
			/* those on the circle never arrive */
			assert_true(x.s.complete > 0 && x.s.complete <= x.s.nconn - x.s.ncycle);
			deadlock_test_free(&x.s);
			done_with(&x);
		}
}

static void the_same_nets_on_enough_vls_deliver_everything(void **state)
{
	static const char *const engines[] = { "dfsssp", "dfdn" };

	(void)state;
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		for (int shared = 0; shared < 2; shared++) {
			struct trial x;

			prepare(&x, "slimfly:q=5,hosts=2", engines[i], 0);
			run(&x, 1, shared);
			assert_pairs(&x.s);
			assert_true(x.s.aimed > 0);
			assert_int_equal(x.s.ncycle, 0);
			assert_true(x.s.still);
			assert_int_equal(x.s.complete, x.s.nconn);
			assert_int_equal(x.s.n.bytes, (uint64_t)x.s.nconn * MESSAGE);
			assert_true(packets_now_ns(x.s.p) < LIMIT_ns);
			deadlock_test_free(&x.s);
			done_with(&x);
		}
}

/* Two VLs where more are needed: the buffer that they share is full sooner. */
static void too_few_vls_deadlock_sooner_in_a_shared_buffer(void **state)
{
	uint64_t closed[2];

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct fabric *f = net_ring(5, 4, NULL);
		struct tables *t = kit_clockwise(f);
		struct deadlock_test_opts o = { .seed = 1, .message = 1 << 20, .shared = shared };
		struct deadlock_test s;
		struct err err;

		o.vls = 2;
		tables_sl_form(t, SL_BY_DLID, f);
		for (uint32_t i = 0; i < f->nterm; i++)
			t->sl[f->term_lid[i]] = i % 2;
		deadlock_test_init(&s, f, t, &o);
		for (uint32_t i = 0; i < f->nterm; i++)
			deadlock_test_connect(&s, t, i, f->term_lid[(i + 8) % f->nterm]);
		assert_int_equal(deadlock_test_run(&s, LIMIT_ns, NULL, &err), 0);
		assert_int_equal(s.ncycle, 5);
		closed[shared] = s.closed_ns;
		deadlock_test_free(&s);
		tables_put(t);
		fabric_put(f);
	}
	assert_true(closed[1] < closed[0]);
}

static char *json_of(const struct deadlock_test *s, const char *pattern)
{
	json_t *o = deadlock_text_json(s, pattern);
	char *text = json_dumps(o, JSON_SORT_KEYS);

	json_decref(o);
	return text;
}

static void the_same_seed_is_the_same_trial_and_another_is_not(void **state)
{
	char *text[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct trial x;

		prepare(&x, "slimfly:q=5,hosts=3", "dfsssp", 1);
		run(&x, i < 2 ? 7 : 8, true);
		text[i] = json_of(&x.s, NULL);
		deadlock_test_free(&x.s);
		done_with(&x);
	}
	assert_string_equal(text[0], text[1]);
	assert_string_not_equal(text[0], text[2]);
	for (int i = 0; i < 3; i++)
		free(text[i]);
}

/* All hosts of f are one job. */
static void run_jobs(struct deadlock_test *s, const struct fabric *f, const struct tables *t,
		     enum predict_pattern pattern)
{
	struct deadlock_test_opts o = { .seed = 1, .message = MESSAGE };
	uint64_t *member = calloc(f->nterm, sizeof(*member));
	struct jobset *jobs;
	struct verdict *v;
	struct err err;

	for (uint32_t k = 0; k < f->nterm; k++)
		member[k] = 1;
	jobs = kit_jobs(f, member, 1);
	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, &err), 0);
	deadlock_test_init(s, f, t, &o);
	deadlock_traffic_jobs(s, t, t, jobs, pattern, 4, v->cycle, v->ncycle);
	assert_int_equal(deadlock_test_run(s, LIMIT_ns, NULL, &err), 0);
	verdict_free(v);
	jobset_put(jobs);
	free(member);
}

/* On a ring that goes round one way, and on a tree. */
static void jobs_are_the_traffic(void **state)
{
	static const struct {
		enum predict_pattern pattern;
		uint32_t peers;
	} row[] = { { PREDICT_SHIFT, 1 },
		    { PREDICT_ALLTOALL, 4 },
		    { PREDICT_RING, 2 },
		    { PREDICT_STENCIL2, 4 } };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(*row); i++) {
		struct fabric *f = i % 2 ? net_tree(4, 2, 4, NULL) : net_ring(6, 2, NULL);
		struct tables *t = i % 2 ? kit_bfs(f) : kit_clockwise(f);
		const char *name = predict_pattern_name(row[i / 2].pattern);
		struct deadlock_test s;
		char *text;

		run_jobs(&s, f, t, row[i / 2].pattern);
		assert_int_equal(s.nconn, row[i / 2].peers * f->nterm);
		assert_int_equal(s.ncycle > 0, !(i % 2));
		assert_int_equal(s.aimed > 0, !(i % 2));
		assert_int_equal(s.complete == s.nconn, i % 2);
		text = json_of(&s, name);
		assert_non_null(strstr(text, name));
		assert_non_null(strstr(text, i % 2 ? "\"delivered_share\": 1.0"
						   : "\"delivered_share\": 0."));
		free(text);
		deadlock_test_free(&s);
		tables_put(t);
		fabric_put(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minimal_paths_on_one_vl_deadlock),
		cmocka_unit_test(the_same_nets_on_enough_vls_deliver_everything),
		cmocka_unit_test(too_few_vls_deadlock_sooner_in_a_shared_buffer),
		cmocka_unit_test(the_same_seed_is_the_same_trial_and_another_is_not),
		cmocka_unit_test(jobs_are_the_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
