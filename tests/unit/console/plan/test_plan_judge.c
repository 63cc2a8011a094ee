/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/plan_judge.h"

#include "console/plan/plan_order.h"
#include "engines/engine.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A ring, on which packets go the other way round afterwards: the order of writes matters, and
 * somebody has to drain. */
struct world {
	struct fabric *f;
	struct tables *from, *to, *read;
	struct jobset *jobs;
	struct plan *p;
	struct err err;
};

/* Drops the plan at hand for one with those tables, ordered as plans are. */
static void plan_again_to(struct world *w, const struct tables *to)
{
	plan_free(w->p);
	assert_int_equal(plan_new(&w->p, w->f, w->from, to, w->jobs, NULL, 0, &w->err), 0);
	if (plan_order_find(w->p, NULL, NULL, &w->err))
		fail_msg("%s", w->err.text);
}

static int setup(void **state)
{
	static struct world w;
	uint64_t both = 1, *member;

	w = (struct world){ .f = net_ring(6, 2, NULL) };
	member = xcalloc(w.f->nterm, sizeof(*member));
	for (uint32_t i = 0; i < w.f->nterm; i++)
		member[i] = both;
	w.jobs = kit_jobs(w.f, member, 1);
	free(member);
	w.from = kit_cut_ring(w.f, 5);
	w.to = kit_cut_ring(w.f, 2);
	w.read = kit_cut_ring(w.f, 5);
	snprintf(w.read->engine, sizeof(w.read->engine), "%s", TABLES_WIRE);
	plan_again_to(&w, w.to);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	plan_free(w->p);
	jobset_put(w->jobs);
	tables_put(w->from);
	tables_put(w->to);
	tables_put(w->read);
	fabric_put(w->f);
	return 0;
}

static int judged(struct world *w)
{
	w->err.text[0] = '\0';
	return plan_judge(w->p, w->read, NULL, &w->err);
}

static void refused(struct world *w, int rc, const char *words)
{
	assert_int_equal(judged(w), rc);
	if (!strstr(w->err.text, words))
		fail_msg("%s", w->err.text);
}

static void what_was_computed_passes(void **state)
{
	struct world *w = *state;

	if (judged(w))
		fail_msg("%s", w->err.text);
	assert_true(w->p->changes->nwaves > 1 || w->p->drain.nlid);
}

/* As forged: two switches hand packets to each other. */
static void tables_that_loop_are_refused(void **state)
{
	struct world *w = *state;
	struct tables *evil = kit_cut_ring(w->f, 5);
	struct drain nobody = { .known = true, .jobs = true };
	uint32_t lid = w->f->term_lid[6];

	tables_row(evil, 0)[lid] = w->f->chan_port[kit_chan(w->f, 0, 1)];
	tables_row(evil, 1)[lid] = w->f->chan_port[kit_chan(w->f, 1, 0)];
	plan_free(w->p);
	assert_int_equal(plan_new(&w->p, w->f, w->from, evil, w->jobs, NULL, 0, &w->err), 0);
	plan_with_drain(w->p, &nobody);
	refused(w, -EPROTO, "did not pass");
	tables_put(evil);
}

static void an_order_of_one_wave_is_refused(void **state)
{
	struct world *w = *state;
	struct drain nobody = { .known = true, .jobs = true };

	plan_free(w->p);
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, w->jobs, NULL, 0, &w->err), 0);
	refused(w, -EPROTO, "order of writes is not safe"); /* of an earlier version */
	plan_with_drain(w->p, &nobody);
	refused(w, -EPROTO, "order of writes is not safe");
}

/* All LIDs drained, all at once; then who they are is left out. */
static void who_has_to_drain_cannot_be_left_out(void **state)
{
	struct world *w = *state;
	struct drain d = { 0 };

	plan_free(w->p);
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, w->jobs, NULL, 0, &w->err), 0);
	d.lid = xcalloc(w->f->max_lid, sizeof(*d.lid));
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		if (w->f->lid_end[lid] != FAB_NONE)
			d.lid[d.nlid++] = (struct drain_lid){ (uint16_t)lid, DRAIN_NO_ORDER };
	assert_int_equal(drain_find(&d, w->f, w->from, w->to, w->jobs, w->p->diff, NULL, &w->err),
			 0);
	assert_true(d.nneeded == 1 && d.unassigned_lids);
	plan_with_drain(w->p, &d);
	assert_int_equal(judged(w), 0);

	d.unassigned_lids--;
	plan_with_drain(w->p, &d);
	refused(w, -EPROTO, "LIDs of no job");
	d.unassigned_lids++;
	d.job[0].needed = false;
	plan_with_drain(w->p, &d);
	refused(w, -EPROTO, "has to drain");
	d.njob = 0;
	plan_with_drain(w->p, &d);
	refused(w, -EPROTO, "has to drain");
	d.njob = 1;
	d.job[0].needed = true;
	d.escape = true;
	plan_with_drain(w->p, &d);
	refused(w, -EPROTO, "escape LIDs");
	d.escape = false;
	d.nlid = 0;
	plan_with_drain(w->p, &d);
	refused(w, -EPROTO, "order of writes is not safe");
	drain_clear(&d);
}

static void lanes_that_links_do_not_have_are_refused(void **state)
{
	struct world *w = *state;
	struct tables *evil = kit_cut_ring(w->f, 5);

	evil->sl_const = 3;
	evil->vls = 1;
	plan_free(w->p);
	assert_int_equal(plan_new(&w->p, w->f, w->from, evil, w->jobs, NULL, 0, &w->err), 0);
	for (uint32_t i = 0; i < w->f->nport; i++)
		w->f->port[i].op_vls = 2;
	refused(w, -EPROTO, "did not pass");
	tables_put(evil);
}

/* What is in the switches counts, and the service levels where OpenSM tells them. */
static void it_has_to_begin_with_what_was_read(void **state)
{
	struct world *w = *state;

	tables_row(w->read, 0)[w->f->term_lid[6]] ^= 1;
	refused(w, -ESTALE, "other tables");
	tables_put(w->read);
	w->read = kit_cut_ring(w->f, 5);
	assert_int_equal(judged(w), 0);
	w->read->sl_const = 1;
	refused(w, -ESTALE, "service levels");
}

static struct tables *with_escape(const struct fabric *f, const char *engine)
{
	struct engine_params params = { .vls = 4, .seed = 1, .threads = 1, .escape = true };
	struct tables *t;

	assert_int_equal(
		engine_run(engine_find(engine, NULL), &t, f, NULL, NULL, &params, NULL, NULL), 0);
	return t;
}

/* As they are read where no plugin tells SLs: one lane for all, and cycles. */
static void escape_lids_that_have_to_be_drained_carry_nobody(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=4x4,hosts=2,lmc=3");
	struct tables *from = with_escape(f, "dfsssp"), *to = with_escape(f, "nue");
	struct world w = { .f = f, .from = from, .read = from };
	char text[400];

	(void)state;
	from->sl_kind = SL_CONST;
	from->sl_const = 0;
	snprintf(from->engine, sizeof(from->engine), "%s", TABLES_WIRE);
	plan_again_to(&w, to);
	assert_true(drain_has_escape_lids(&w.p->drain, f));
	assert_false(w.p->drain.escape);
	drain_text(text, sizeof(text), &w.p->drain, f, NULL);
	assert_non_null(strstr(text, "LIDs must be drained"));
	if (judged(&w))
		fail_msg("%s", w.err.text);
	plan_free(w.p);
	tables_put(from);
	tables_put(to);
	fabric_put(f);
}

static void cancel(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;

	(void)step;
	assert_true(done <= total);
	atomic_store(&p->cancel, true);
}

static void a_cancel_is_honoured(void **state)
{
	struct world *w = *state;
	struct progress p = { .report = cancel, .ctx = &p };

	assert_int_equal(plan_judge(w->p, w->read, &p, &w->err), -ECANCELED);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_was_computed_passes),
		T(tables_that_loop_are_refused),
		T(an_order_of_one_wave_is_refused),
		T(who_has_to_drain_cannot_be_left_out),
		T(lanes_that_links_do_not_have_are_refused),
		T(it_has_to_begin_with_what_was_read),
		cmocka_unit_test(escape_lids_that_have_to_be_drained_carry_nobody),
		T(a_cancel_is_honoured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
