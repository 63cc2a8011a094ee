/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/wave_judge.h"

#include "engines/engine.h"
#include "engines/transition/transition.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/write_judge.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int judge(const struct fabric *f, const struct tables *old, const struct tables *new,
		 const struct transition *t, struct progress *p, struct err *err)
{
	bool *drained = xcalloc(f->max_lid + 1u, sizeof(*drained));
	int rc;

	for (uint32_t i = 0; i < t->ndrain; i++)
		drained[t->drain[i].lid] = true;
	rc = wave_judge(f, old, new, t, drained, p, err);
	free(drained);
	return rc;
}

static void must_hold(const struct fabric *f, const struct tables *old, const struct tables *new,
		      const struct transition *t)
{
	struct err err = { "" };

	if (judge(f, old, new, t, NULL, &err))
		fail_msg("%s", err.text);
}

static void must_not_hold(const struct fabric *f, const struct tables *old,
			  const struct tables *new, const struct transition *t, const char *why)
{
	struct err err = { "" };

	assert_int_equal(judge(f, old, new, t, NULL, &err), -EPROTO);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

static struct transition *must_plan(const struct fabric *f, const struct tables *old,
				    const struct tables *new)
{
	struct transition *t;
	struct err err;

	if (transition_plan(&t, f, old, new, NULL, NULL, &err))
		fail_msg("%s", err.text);
	return t;
}

/* ---- other orders of the same writes ---- */

static int by_place(const void *a, const void *b)
{
	const struct transition_write *x = a, *y = b;

	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

/* Each entry in a wave of its own choice, or (waves 1) all at once. */
static void reorder(struct transition *t, uint32_t waves, struct rng *r)
{
	VEC(struct transition_write) v = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nwrites; i++)
		for (uint64_t m = t->writes[i].now; m; m &= m - 1) {
			struct transition_write w = t->writes[i];

			w.now = m & -m;
			w.wave = waves == 1 ? 0 : (uint32_t)rng_below(r, waves);
			vec_push(&v, w);
		}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_place);
	for (size_t i = 0; i < v.n; i++)
		if (n && !by_place(&v.v[n - 1], &v.v[i]))
			v.v[n - 1].now |= v.v[i].now;
		else
			v.v[n++] = v.v[i];
	free(t->writes);
	t->writes = v.v;
	t->nwrites = n;
	t->nwaves = waves;
	t->sl2vl_wave = waves == 1 ? 0 : (uint32_t)rng_below(r, waves);
}

static struct tables *route(const struct fabric *f, struct rng *r)
{
	struct engine_params params = { .vls = 1 + (unsigned)rng_below(r, 4),
					.threads = 1,
					.seed = rng_u64(r) };
	const struct engine *const *all;
	struct tables *t;
	size_t n;

	all = engine_all(&n);
	n--; /* repair, without tables the same as nue */
	for (int i = 0; i < 20; i++)
		if (!engine_run(all[rng_below(r, n)], &t, f, NULL, NULL, &params, NULL, NULL))
			return t;
	return NULL;
}

/* As simple code that plays all packets says: the same word for word about what is safe. */
static void compare(const struct fabric *f, const struct tables *old, const struct tables *new,
		    const struct transition *t, uint32_t seen[2])
{
	struct judge_count count = { 0 };
	struct err err = { "" };
	const char *what = judge_transition(f, old, new, t, false, 0, 7, &count);
	int rc = judge(f, old, new, t, NULL, &err);

	seen[rc != 0]++;
	if ((rc != 0) != (what != NULL))
		fail_msg("%s, but %s", rc ? err.text : "fine", what ? what : "fine");
}

static void it_says_what_playing_all_packets_says(void **state)
{
	uint32_t seen[2] = { 0, 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct fabric *f = net_random(seed, 6, 9, 2, NULL);
		struct rng r;
		struct tables *old, *new;
		struct transition *t;

		rng_seed(&r, seed);
		old = seed % 2 ? route(f, &r) : kit_random_trees(f, &r);
		new = route(f, &r);
		if (!old || !new || transition_plan(&t, f, old, new, NULL, NULL, NULL))
			goto next;
		compare(f, old, new, t, seen);
		t->ndrain = (uint32_t)rng_below(&r, t->ndrain + 1u);
		compare(f, old, new, t, seen);
		for (uint32_t waves = 1; waves <= 3; waves++) {
			reorder(t, waves, &r);
			compare(f, old, new, t, seen);
		}
		transition_free(t);
	next:
		tables_put(old);
		tables_put(new);
		fabric_put(f);
	}
	assert_true(seen[0] > 100 && seen[1] > 100);
}

static void an_order_whose_waves_are_merged_is_refused(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL);
	struct tables *old = kit_cut_ring(f, 5), *new = kit_cut_ring(f, 1);
	struct transition *t = must_plan(f, old, new);

	(void)state;
	must_hold(f, old, new, t);
	assert_true(t->nwaves > 1 || t->ndrain);
	reorder(t, 1, NULL);
	t->ndrain = 0;
	must_not_hold(f, old, new, t, "in wave 1 of 1");
	tables_put(old);
	tables_put(new);
	transition_free(t);
	fabric_put(f);
}

/* Both directions round the ring: whoever changes meets those who stay. */
static void a_drain_that_is_left_out_is_refused(void **state)
{
	(void)state;
	for (uint64_t seed = 1, found = 0; found < 10; seed++) {
		struct fabric *f = net_random(seed, 6, 8, 1, NULL);
		struct tables *old, *new;
		struct transition *t;
		struct rng r;

		assert_true(seed < 2000);
		rng_seed(&r, seed);
		old = kit_random_trees(f, &r);
		new = route(f, &r);
		if (!transition_plan(&t, f, old, new, NULL, NULL, NULL)) {
			must_hold(f, old, new, t);
			if (t->ndrain && t->irreducible) {
				t->ndrain = 0;
				must_not_hold(f, old, new, t, "not safe");
				found++;
			}
			transition_free(t);
		}
		tables_put(old);
		tables_put(new);
		fabric_put(f);
	}
}

static void lanes_that_links_do_not_have_are_refused(void **state)
{
	struct fabric *f = net_ring(5, 1, NULL);
	struct tables *old = kit_cut_ring(f, 4), *new = kit_cut_ring(f, 4);
	struct transition *t;

	(void)state;
	tables_sl_form(old, SL_BY_DLID, f);
	tables_sl_form(new, SL_BY_DLID, f);
	tables_sl2vl_form(old, SL2VL_BY_INPUT, f);
	tables_sl2vl_form(new, SL2VL_BY_INPUT, f);
	for (uint32_t i = 0; i < tables_sl2vl_bytes(old); i++)
		old->sl2vl[i] = new->sl2vl[i] = 0;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		new->sl[lid] = 1;
	for (uint32_t i = 0; i < tables_sl2vl_bytes(new); i++)
		new->sl2vl[i] = i % FAB_SLS == 1; /* old packets of SL 1 have none, new ones VL 1 */
	t = must_plan(f, old, new);
	must_hold(f, old, new, t);
	for (uint32_t i = 0; i < tables_sl2vl_bytes(new); i++)
		new->sl2vl[i] = i % FAB_SLS == 0 ? VL_DROP : 0; /* who keeps the old SL is lost */
	must_not_hold(f, old, new, t, "lost");
	tables_put(old);
	tables_put(new);
	transition_free(t);
	fabric_put(f);
}

/* One path alone has another SL: one of the last switch. */
static void service_levels_that_change_anywhere_are_seen(void **state)
{
	struct fabric *f = net_ring(5, 1, NULL);
	struct tables *old = kit_cut_ring(f, 4), *new = kit_cut_ring(f, 4);
	struct transition *t;
	uint8_t port;
	size_t i;

	(void)state;
	tables_sl_form(old, SL_BY_SWITCH, f);
	tables_sl_form(new, SL_BY_SWITCH, f);
	tables_sl2vl_form(old, SL2VL_BY_INPUT, f);
	tables_sl2vl_form(new, SL2VL_BY_INPUT, f);
	memset(old->sl2vl, 0, tables_sl2vl_bytes(old));
	for (i = 0; i < tables_sl2vl_bytes(new); i++)
		new->sl2vl[i] = i % FAB_SLS == 0 ? VL_DROP : 0;
	memset(old->sl, 1, tables_sl_bytes(old));
	memset(new->sl, 1, tables_sl_bytes(new));
	t = must_plan(f, old, new);
	must_hold(f, old, new, t);
	i = (size_t)(f->nsw - 1) * old->stride;
	for (uint32_t lid = f->max_lid; lid; lid--)
		if (fabric_lid_end(f, lid) != FAB_NONE &&
		    fabric_lid_switch(f, lid, &port) != f->nsw - 1) {
			old->sl[i + lid] = 0;
			break;
		}
	must_not_hold(f, old, new, t, "lost");
	tables_put(old);
	tables_put(new);
	transition_free(t);
	fabric_put(f);
}

static void cancel_soon(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;

	assert_true(done <= total);
	if (!strcmp(step, "write order"))
		atomic_store(&p->cancel, true);
}

static void a_cancel_is_honoured(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL);
	struct tables *old = kit_cut_ring(f, 5), *new = kit_cut_ring(f, 1);
	struct transition *t = must_plan(f, old, new);
	struct progress p = { .report = cancel_soon, .ctx = &p };
	struct err err = { "" };

	(void)state;
	assert_int_equal(judge(f, old, new, t, &p, &err), -ECANCELED);
	tables_put(old);
	tables_put(new);
	transition_free(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_what_playing_all_packets_says),
		cmocka_unit_test(an_order_whose_waves_are_merged_is_refused),
		cmocka_unit_test(a_drain_that_is_left_out_is_refused),
		cmocka_unit_test(lanes_that_links_do_not_have_are_refused),
		cmocka_unit_test(service_levels_that_change_anywhere_are_seen),
		cmocka_unit_test(a_cancel_is_honoured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
