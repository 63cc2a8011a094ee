/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/plan.h"

#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct jobset *jobs;
	struct plan *p;
	struct sm_pin sm;
};

static int setup(void **state)
{
	static struct world w;
	struct err err = { "" };

	w.f = net_fabric(NULL);
	w.from = net_tables(w.f, 0, true);
	w.to = net_tables(w.f, 1, true);
	w.jobs = net_jobs(w.f, "7:0-1:4 8:2-3:6");
	w.sm = (struct sm_pin){ 0x8001, 5 };
	*state = &w;
	return plan_new(&w.p, w.f, w.from, w.to, w.jobs, &w.sm, 1000, &err);
}

static int teardown(void **state)
{
	struct world *w = *state;

	plan_free(w->p);
	jobset_put(w->jobs);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	return 0;
}

static void equal_inputs_give_the_same_id_at_any_time(void **state)
{
	struct world *w = *state;
	struct plan *q;

	assert_int_equal(plan_new(&q, w->f, w->from, w->to, w->jobs, &w->sm, 2000, NULL), 0);
	assert_true(digest_equal(&q->hash, &w->p->hash));
	assert_string_equal(q->id, w->p->id);
	assert_int_equal(strlen(q->id), 6);
	plan_free(q);
	assert_int_equal(plan_new(&q, w->f, w->to, w->from, w->jobs, &w->sm, 1000, NULL), 0);
	assert_false(digest_equal(&q->hash, &w->p->hash));
	plan_free(q);
	assert_int_equal(plan_new(&q, w->f, w->from, w->to, w->jobs, NULL, 1000, NULL), 0);
	assert_false(digest_equal(&q->hash, &w->p->hash));
	plan_free(q);
}

static void changes_turn_the_old_tables_into_the_new_ones(void **state)
{
	struct world *w = *state;
	const struct changes *l = w->p->changes;
	struct net_sim *s = net_sim_new(w->f, w->from);
	struct installer in = net_installer(s);

	assert_int_equal(l->n, w->p->diff->nblocks + w->p->diff->nsl2vl);
	assert_true(l->nlft > 0 && l->nsl2vl > 0);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		struct install_item it = {
			.sw = c->sw, .kind = c->kind, .block = c->block, .in = c->in, .out = c->out
		};

		in.ops->read(s, w->f, &it, 1, NULL, NULL);
		assert_memory_equal(it.data, change_old(l, c), change_bytes(c));
		memcpy(it.data, change_new(l, c), change_bytes(c));
		in.ops->write(s, w->f, &it, 1, NULL, NULL);
	}
	assert_true(net_holds(s, w->p->to, true));
	net_sim_free(s);
}

struct spy {
	struct progress p;
	uint64_t calls, end_at, done, total;
};

static void watch(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct spy *s = ctx;

	assert_string_equal(step, "plan");
	assert_true(done >= s->done && done <= total);
	assert_true(!s->total || s->total == total);
	s->done = done;
	s->total = total;
	if (++s->calls == s->end_at)
		atomic_store(&s->p.cancel, true);
}

static void a_plan_tells_how_far_it_is_and_is_ended_at_any_step(void **state)
{
	struct world *w = *state;
	struct spy s = { .p = { .report = watch, .ctx = &s } };
	uint64_t calls;
	struct plan *q;
	struct err err;

	assert_int_equal(
		plan_new_with_progress(&q, w->f, w->from, w->to, w->jobs, &w->sm, 1000, &s.p, &err),
		0);
	assert_true(digest_equal(&q->hash, &w->p->hash));
	assert_int_equal(s.done, s.total);
	plan_free(q);
	calls = s.calls;
	for (uint64_t k = 1; k <= calls; k++) {
		s = (struct spy){ .p = { .report = watch, .ctx = &s }, .end_at = k };
		assert_int_equal(plan_new_with_progress(&q, w->f, w->from, w->to, w->jobs, &w->sm,
							1000, &s.p, &err),
				 -ECANCELED);
		assert_int_equal(s.calls, k);
		assert_non_null(strstr(err.text, "cancelled"));
	}
}

static void a_plan_is_made_again_without_finding_anything_out(void **state)
{
	struct world *w = *state;
	struct sm_pin other = { 0x8002, 5 };
	struct plan *q = plan_again(w->p, &w->sm, 2000);

	assert_true(digest_equal(&q->hash, &w->p->hash));
	assert_string_equal(q->id, w->p->id);
	assert_int_equal(q->time_s, 2000);
	assert_int_equal(q->changes->n, w->p->changes->n);
	assert_memory_equal(q->changes->data, w->p->changes->data, w->p->changes->ndata);
	assert_int_equal(q->diff->nblocks, w->p->diff->nblocks);
	plan_free(q);
	q = plan_again(w->p, &other, 2000); /* under another SM it is another plan */
	assert_false(digest_equal(&q->hash, &w->p->hash));
	plan_free(q);
}

static void tables_of_another_fabric_are_refused(void **state)
{
	struct world *w = *state;
	struct fabric *g = net_fabric(&(struct update_net_opts){ .no_cable = true });
	struct tables *t = net_tables(g, 1, false);
	struct err err = { "" };
	struct plan *q;

	assert_int_equal(plan_new(&q, w->f, w->from, t, NULL, NULL, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "proposed"));
	assert_int_equal(plan_new(&q, w->f, t, w->to, NULL, NULL, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "current"));
	tables_put(t);
	fabric_put(g);
}

static void lfts_without_their_sl2vl_are_no_base_of_a_plan(void **state)
{
	struct world *w = *state;
	struct tables *t = net_tables(w->f, 0, true);
	struct err err = { "" };
	struct plan *q;

	tables_sl2vl_form(t, SL2VL_UNREAD, w->f);
	assert_int_equal(plan_new(&q, w->f, t, w->to, NULL, NULL, 0, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "SL2VL tables of the current routing"));
	assert_int_equal(plan_new(&q, w->f, w->from, t, NULL, NULL, 0, &err), -EAGAIN);
	tables_put(t);
}

static void nothing_moved_is_not_stale(void **state)
{
	struct world *w = *state;
	struct fabric *again = net_fabric(NULL);
	struct tables *t = net_tables(again, 0, true);
	struct jobset *other_ids = net_jobs(w->f, "99:2-3:6 100:0-1:4");

	assert_int_equal(plan_staleness(w->p, again, t, other_ids, &w->sm, NULL), 0);
	assert_int_equal(plan_staleness(w->p, again, t, NULL, NULL, NULL), 0);
	jobset_put(other_ids);
	tables_put(t);
	fabric_put(again);
}

static void expect_stale(struct world *w, const struct update_net_opts *o, const char *a,
			 const char *b)
{
	struct fabric *g = net_fabric(o);
	struct tables *t = net_tables(g, 0, true);
	struct err err = { "" };

	assert_int_equal(plan_staleness(w->p, g, t, w->jobs, &w->sm, &err), -ESTALE);
	if (!strstr(err.text, a) || !strstr(err.text, b))
		fail_msg("\"%s\" lacks \"%s\" or \"%s\"", err.text, a, b);
	tables_put(t);
	fabric_put(g);
}

static void staleness_of_the_fabric_is_named(void **state)
{
	expect_stale(*state, &(struct update_net_opts){ .no_cable = true }, "1 cable gone",
		     "leaf0/13-spine0/1");
	expect_stale(*state, &(struct update_net_opts){ .no_last_leaf = true },
		     "1 switch gone (leaf5)", "12 hosts gone (n5-0, ...)");
	expect_stale(*state, &(struct update_net_opts){ .lid_shift = 3 }, "LIDs changed", "80");
}

static void foreign_blocks_are_counted_and_named(void **state)
{
	struct world *w = *state;
	struct tables *t = net_tables(w->f, 0, true);
	struct err err = { "" };
	uint32_t leaf3 = fabric_switch_by_guid(w->f, 0x1003);

	tables_row(t, leaf3)[5] = 14;
	tables_row(t, leaf3)[70] = 14;
	tables_row(t, leaf3)[71] = 13;
	assert_int_equal(plan_staleness(w->p, w->f, t, w->jobs, &w->sm, &err), -ESTALE);
	assert_non_null(strstr(err.text, "LFT blocks"));
	assert_non_null(strstr(err.text, "leaf3"));
	assert_non_null(strstr(err.text, "on 1 switches"));
	tables_put(t);
}

static void a_plan_that_is_installed_is_called_so(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	assert_int_equal(plan_staleness(w->p, w->f, w->p->to, w->jobs, &w->sm, &err), -ESTALE);
	assert_non_null(strstr(err.text, "is already installed"));
}

static void staleness_of_jobs_and_sm_is_named(void **state)
{
	struct world *w = *state;
	struct jobset *js = net_jobs(w->f, "8:2-3:6 9:4-5:2");
	struct sm_pin sm = { 0x8002, 5 };
	struct err err = { "" };

	assert_int_equal(plan_staleness(w->p, w->f, w->from, js, &w->sm, &err), -ESTALE);
	assert_non_null(strstr(err.text, "1 job started (9 on 4 nodes)"));
	assert_non_null(strstr(err.text, "1 job ended (7 on 8 nodes)"));
	assert_int_equal(plan_staleness(w->p, w->f, w->from, w->jobs, &sm, &err), -ESTALE);
	assert_non_null(strstr(err.text, "the subnet manager changed: 0x0000000000008002"));
	sm = (struct sm_pin){ 0 };
	assert_int_equal(plan_staleness(w->p, w->f, w->from, w->jobs, &sm, &err), -ESTALE);
	assert_string_equal(err.text,
			    "the subnet manager 0x0000000000008001 does not respond any more");
	jobset_put(js);
}

static void too_few_lanes_are_refused_with_the_link(void **state)
{
	static const struct {
		uint8_t op_vls;
		int rc;
	} cases[] = { { 2, -ERANGE }, { 4, 0 }, { 8, 0 }, { 1, -ERANGE } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fabric *g =
			net_fabric(&(struct update_net_opts){ .op_vls = cases[i].op_vls });
		struct tables *a = net_tables(g, 0, true), *b = net_tables(g, 1, true);
		struct err err = { "" };
		struct plan *p;

		assert_int_equal(plan_new(&p, g, a, b, NULL, NULL, 0, NULL), 0);
		assert_int_equal(p->vls_needed, 4);
		assert_int_equal(p->op_vls, cases[i].op_vls);
		assert_int_equal(plan_check_vls(p, &err), cases[i].rc);
		if (cases[i].rc)
			assert_non_null(strstr(err.text, "leaf0 port 13"));
		plan_free(p);
		tables_put(a);
		tables_put(b);
		fabric_put(g);
	}
}

static void lanes_that_nobody_has_told_are_no_shortage(void **state)
{
	struct fabric *g = net_fabric(&(struct update_net_opts){ .op_vls = 4 });
	struct tables *a = net_tables(g, 0, true), *b = net_tables(g, 1, true);
	uint32_t last = g->nchan - 1;
	struct err err = { "" };
	struct plan *p;

	(void)state;
	assert_int_equal(plan_new(&p, g, a, b, NULL, NULL, 0, NULL), 0);
	g->port[g->port_off[g->chan_src[0]] + g->chan_port[0]].op_vls = 0;
	assert_int_equal(plan_check_vls(p, &err), -ENODATA);
	assert_non_null(strstr(err.text, "it is unknown"));
	g->port[g->port_off[g->chan_src[last]] + g->chan_port[last]].op_vls = 2;
	assert_int_equal(plan_check_vls(p, &err), -ERANGE);
	plan_free(p);
	tables_put(a);
	tables_put(b);
	fabric_put(g);
}

/* The other leaf's ports and those that nobody has told about are left alone. */
static void lanes_without_a_weight_are_refused_with_the_port_and_the_setting(void **state)
{
	struct fabric *g = net_fabric(&(struct update_net_opts){ .op_vls = 8 });
	struct tables *a = net_tables(g, 0, true), *b = net_tables(g, 1, true);
	struct err err = { "" };
	uint16_t *port;
	struct plan *p;

	(void)state;
	assert_int_equal(plan_new(&p, g, a, b, NULL, NULL, 0, NULL), 0);
	assert_int_equal(plan_check_weights(p, a, &err), 0);
	tables_weighted_form(a, g);
	assert_int_equal(plan_check_weights(p, a, &err), 0);
	port = &a->weighted[g->port_off[g->chan_src[0]] + g->chan_port[0]];
	*port = 0x7fff;
	assert_int_equal(plan_check_weights(p, a, &err), 0);
	*port = 0x000f; /* the plan needs four */
	assert_int_equal(plan_check_weights(p, a, &err), 0);
	*port = 0x0001;
	assert_int_equal(plan_check_weights(p, a, &err), -ERANGE);
	assert_non_null(strstr(err.text, "leaf0 port 13"));
	assert_null(strstr(err.text, "other port"));
	assert_non_null(strstr(err.text, "qos_swe_vlarb_low 0:4,1:4,2:4,3:4\""));
	port[1] = 0x0001;
	assert_int_equal(plan_check_weights(p, a, &err), -ERANGE);
	assert_non_null(strstr(err.text, "leaf0 port 13 and 1 other port:"));
	plan_free(p);
	tables_put(a);
	tables_put(b);
	fabric_put(g);
}

static void lanes_of_tables_of_unknown_make_are_counted(void **state)
{
	struct world *w = *state;
	struct tables *t = net_tables(w->f, 1, true);
	struct plan *p;

	t->vls = 0;
	t->sl_const = 1; /* (1 + 16 i + 1) % 4 == 2 for every kind of input */
	assert_int_equal(plan_new(&p, w->f, w->from, t, NULL, NULL, 0, NULL), 0);
	assert_int_equal(p->vls_needed, 3);
	plan_free(p);
	tables_put(t);
	t = net_tables(w->f, 1, false);
	t->vls = 0;
	tables_sl_form(t, SL_BY_DLID, w->f);
	t->sl[9] = 5;
	assert_int_equal(plan_new(&p, w->f, w->from, t, NULL, NULL, 0, NULL), 0);
	assert_int_equal(p->vls_needed, 6);
	plan_free(p);
	tables_put(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_inputs_give_the_same_id_at_any_time),
		cmocka_unit_test(changes_turn_the_old_tables_into_the_new_ones),
		cmocka_unit_test(a_plan_tells_how_far_it_is_and_is_ended_at_any_step),
		cmocka_unit_test(a_plan_is_made_again_without_finding_anything_out),
		cmocka_unit_test(tables_of_another_fabric_are_refused),
		cmocka_unit_test(lfts_without_their_sl2vl_are_no_base_of_a_plan),
		cmocka_unit_test(nothing_moved_is_not_stale),
		cmocka_unit_test(staleness_of_the_fabric_is_named),
		cmocka_unit_test(foreign_blocks_are_counted_and_named),
		cmocka_unit_test(a_plan_that_is_installed_is_called_so),
		cmocka_unit_test(staleness_of_jobs_and_sm_is_named),
		cmocka_unit_test(too_few_lanes_are_refused_with_the_link),
		cmocka_unit_test(lanes_that_nobody_has_told_are_no_shortage),
		cmocka_unit_test(lanes_without_a_weight_are_refused_with_the_port_and_the_setting),
		cmocka_unit_test(lanes_of_tables_of_unknown_make_are_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
