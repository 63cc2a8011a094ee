/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that computes: what is asked for has an end, whichever. */
#include "console/io/progress_line.h"
#include "console/session/worker.h"

#include "engines/minhop.h"
#include "engines/parx/parx.h"
#include "engines/parx/parx_choice.h"
#include "engines/updn.h"
#include "fabric/base/time/clock.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/thread_spy.h"

#include <errno.h>
#include <poll.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SERIAL 7
#define LONG_S 120

/* The next message of one of these types; fails the test after a long time. */
static struct msg *next_of(struct mailbox *box, enum msg_type a, enum msg_type b)
{
	struct pollfd fd = { .fd = mailbox_fd(box), .events = POLLIN };
	double end = clock_s() + LONG_S;
	struct msg *m;

	while (clock_s() < end) {
		while ((m = mailbox_take(box))) {
			if (m->type == a || m->type == b)
				return m;
			msg_drop(m);
		}
		poll(&fd, 1, 100);
	}
	fail_msg("no message of type %d or %d", a, b);
	return NULL;
}

static struct worker *start(struct mailbox *box)
{
	struct worker *w = NULL;
	struct err err;

	assert_int_equal(worker_start(&w, box, &err), 0);
	return w;
}

static void no_thread_is_told_and_leaves_nothing_behind(void **state)
{
	struct mailbox *box = mailbox_new();
	struct worker *w = NULL;
	struct err err = { "" };

	(void)state;
	thread_spy_fail_at = 1;
	assert_int_equal(worker_start(&w, box, &err), -EAGAIN);
	assert_null(w);
	assert_non_null(strstr(err.text, "thread worker cannot be started"));
	worker_stop(w);
	worker_stop(start(box));
	mailbox_free(box);
}

/* Of the installed tables and of the plan, before anything that takes longer. */
static void a_preview_knows_the_time_of_jobs(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=6,spines=3,hosts=6");
	struct engine_params params = { 0 };
	struct tables *t = must_route(&engine_minhop, f, NULL, &params);
	struct rng rng = { { 1, 2, 3, 4 } };
	struct jobset *jobs = kit_random_jobs(f, 3, 40, &rng);
	struct mailbox *box = mailbox_new();
	struct worker *w = start(box);
	struct route_inputs in = { .f = f, .jobs = jobs, .installed = t, .engine = &engine_minhop };
	struct msg *m;

	(void)state;
	worker_preview(w, &in, SERIAL);
	m = next_of(box, MSG_PREVIEW_FAILED, MSG_PREVIEW);
	assert_int_equal(m->type, MSG_PREVIEW);
	assert_true(m->time_now.known && m->time_now.jobs);
	assert_true(m->time_plan.of[PREDICT_ALLTOALL].mean.mean > 1);
	/* the same tables in the same phases */
	assert_memory_equal(&m->time_now, &m->time_plan, sizeof(m->time_now));
	assert_true(m->time_plan.shift.sync.mean > 0);
	msg_drop(m);
	worker_stop(w);
	mailbox_free(box);
	jobset_put(jobs);
	tables_put(t);
	fabric_put(f);
}

static struct msg *preview_of_parx(struct worker *w, struct mailbox *box, const struct fabric *f,
				   const struct jobset *jobs, const struct tables *installed)
{
	struct route_inputs in = {
		.f = f, .jobs = jobs, .installed = installed, .engine = &engine_parx
	};
	struct auto_agents who = { 0 };
	struct msg *m;

	in.opts.pattern = PREDICT_ALLTOALL;
	worker_propose(w, &in, &who, SERIAL);
	m = next_of(box, MSG_PREVIEW_FAILED, MSG_PREVIEW);
	assert_int_equal(m->type, MSG_PREVIEW);
	return m;
}

/* Each by the LIDs that the choice names for it, and who knows base LIDs only is warned. */
static void a_preview_of_parx_tells_small_and_large_messages_apart(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=4x4,hosts=4,lmc=2");
	struct engine_params params = { 0 };
	struct tables *t = must_route(&engine_minhop, f, NULL, &params), *parx;
	struct rng rng = { { 1, 2, 3, 4 } };
	struct jobset *jobs = kit_random_jobs(f, 5, 20, &rng);
	struct mailbox *box = mailbox_new();
	struct worker *w = start(box);
	const struct message_figures *x;
	struct msg *m = preview_of_parx(w, box, f, jobs, t);

	(void)state;
	x = &m->messages;
	assert_true(x->known);
	assert_false(x->chosen_now);
	assert_null(notes_find(&m->notes, "parx_base_metrics"));
	assert_true(x->plan[MESSAGES_SMALL].efi.hops_mean < x->plan[MESSAGES_LARGE].efi.hops_mean);
	assert_memory_equal(&x->now[MESSAGES_SMALL].time, &x->now[MESSAGES_LARGE].time,
			    sizeof(m->time_now));
	assert_memory_equal(&x->plan[MESSAGES_LARGE].time, &m->time_plan, sizeof(m->time_plan));
	assert_true(m->time_plan.of[PREDICT_ALLTOALL].mean.mean !=
		    x->plan[MESSAGES_BASE].time.of[PREDICT_ALLTOALL].mean.mean);
	assert_string_equal(x->gate[MESSAGES_SMALL].messages, "small");
	/* of large messages, in the automatic mode, too */
	assert_true(m->automatic.by_size);
	assert_true(m->automatic.time_after == m->time_plan.of[PREDICT_ALLTOALL].mean.mean);
	assert_true(m->automatic.small_after > 0);
	assert_string_equal(m->automatic.base_loses, x->base_loses);
	assert_non_null(strstr(x->base_loses, "software that knows base LIDs only"));
	/* its own tables gain nothing over themselves */
	parx = must_route(&engine_parx, f, jobs, &params);
	msg_drop(m);
	m = preview_of_parx(w, box, f, jobs, parx);
	assert_true(m->messages.chosen_now);
	assert_true(m->automatic.time_before == m->automatic.time_after);
	assert_true(m->automatic.small_before == m->automatic.small_after);
	msg_drop(m);
	worker_stop(w);
	mailbox_free(box);
	jobset_put(jobs);
	tables_put(parx);
	tables_put(t);
	fabric_put(f);
}

/* It waits for the figures, as on a large fabric just after the start. */
static void a_preview_that_is_cancelled_while_it_waits_is_told(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=36,spines=18,hosts=18");
	struct engine_params params = { 0 };
	struct tables *t = must_route(&engine_minhop, f, NULL, &params);
	struct mailbox *box = mailbox_new();
	struct worker *w = start(box);
	struct route_inputs in = { .f = f, .installed = t, .engine = &engine_minhop };
	struct msg *m;

	(void)state;
	worker_metrics(w, f, t, NULL, true, false);
	msg_drop(next_of(box, MSG_METRICS_STEP, MSG_METRICS));
	worker_preview(w, &in, SERIAL);
	worker_cancel(w);
	/* a machine that slept meanwhile may have been done before */
	m = next_of(box, MSG_PREVIEW_FAILED, MSG_PREVIEW);
	assert_int_equal(m->total, SERIAL);
	if (m->type == MSG_PREVIEW_FAILED)
		assert_int_equal(m->rc, -ECANCELED);
	msg_drop(m);
	worker_stop(w);
	mailbox_free(box);
	tables_put(t);
	fabric_put(f);
}

static void an_order_of_writes_tells_its_steps_from_the_plan_on(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=12,spines=6,hosts=6");
	struct engine_params params = { 0 };
	struct tables *from = must_route(&engine_minhop, f, NULL, &params), *to;
	struct mailbox *box = mailbox_new();
	struct worker *w = start(box);
	struct route_inputs in = { .f = f, .installed = from };
	struct msg *m;

	(void)state;
	params.seed = 5;
	in.tables = to = must_route(&engine_updn, f, NULL, &params);
	worker_cost(w, &in, SERIAL, false);
	m = next_of(box, MSG_COST_STEP, MSG_COST);
	assert_int_equal(m->type, MSG_COST_STEP);
	assert_string_equal(m->step, "plan");
	assert_string_equal(m->text, "write order");
	assert_int_equal(m->done, 0);
	assert_true(m->total > 0);
	msg_drop(m);
	m = next_of(box, MSG_COST, MSG_COST);
	assert_int_equal(m->rc, 0);
	assert_int_equal(m->total, SERIAL);
	assert_non_null(m->ordered);
	msg_drop(m);
	/* one that is ended leaves no plan */
	worker_cost(w, &in, SERIAL, true);
	worker_cancel_cost(w);
	worker_order(w, &in, SERIAL);
	while ((m = next_of(box, MSG_ORDERED, MSG_COST))->type == MSG_COST) {
		assert_true(m->rc ? m->rc == -ECANCELED && !m->ordered : m->ordered != NULL);
		msg_drop(m);
	}
	assert_int_equal(m->rc, 0);
	assert_non_null(m->ordered);
	msg_drop(m);
	worker_stop(w);
	mailbox_free(box);
	tables_put(to);
	tables_put(from);
	fabric_put(f);
}

/* Otherwise nothing on the screen tells why figures are missing. */
static void a_forecast_tells_how_far_it_is(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=12,spines=6,hosts=6");
	struct engine_params params = { 0 };
	struct tables *t = must_route(&engine_minhop, f, NULL, &params);
	struct mailbox *box = mailbox_new();
	struct worker *w = start(box);
	struct forecast_ask ask = { .fabric = f, .from = t, .to = t, .serial = SERIAL };
	struct msg *m;

	(void)state;
	worker_forecast(w, &ask);
	m = next_of(box, MSG_BACKGROUND_STEP, MSG_FORECAST);
	assert_int_equal(m->type, MSG_BACKGROUND_STEP);
	assert_string_equal(m->text, "forecast");
	assert_int_equal(m->part, 1);
	assert_int_equal(m->parts, 2);
	msg_drop(m);
	m = next_of(box, MSG_FORECAST, MSG_FORECAST);
	assert_int_equal(m->rc, 0);
	assert_int_equal(m->total, SERIAL);
	assert_true(m->plan.known && m->now.known);
	msg_drop(m);
	/* one that is ended says so, unless it was done before */
	worker_forecast(w, &ask);
	msg_drop(next_of(box, MSG_BACKGROUND_STEP, MSG_BACKGROUND_STEP));
	worker_cancel_background(w);
	m = next_of(box, MSG_FORECAST, MSG_FORECAST);
	assert_true(!m->rc || m->rc == -ECANCELED);
	msg_drop(m);
	worker_stop(w);
	mailbox_free(box);
	tables_put(t);
	fabric_put(f);
}

static double bandwidth(const struct fabric *f, const struct tables *t, struct lid_choice *choice)
{
	struct parx_lids ctx = { f, choice };
	struct ebb_opts opts = { .seed = 1,
				 .lids = choice ? parx_large_lids : NULL,
				 .lids_ctx = &ctx };
	struct ebb ebb;
	struct err err;

	assert_int_equal(predict_ebb(&ebb, f, t, &opts, NULL, &err), 0);
	return ebb.mean;
}

/* As the times beside it. */
static void a_forecast_of_parx_is_of_large_messages(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=4x4,hosts=4,lmc=2");
	struct engine_params params = { 0 };
	struct tables *now = must_route(&engine_minhop, f, NULL, &params);
	struct tables *parx = must_route(&engine_parx, f, NULL, &params);
	struct mailbox *box = mailbox_new();
	struct worker *w = start(box);
	struct forecast_ask ask = { .fabric = f, .from = now, .to = parx, .serial = SERIAL };
	struct lid_choice *choice;
	struct err err;
	struct msg *m;

	(void)state;
	assert_int_equal(parx_choice_find(&choice, f, parx, NULL, &err), 0);
	worker_forecast(w, &ask);
	m = next_of(box, MSG_FORECAST, MSG_FORECAST);
	assert_int_equal(m->rc, 0);
	assert_true(m->plan.ebb == bandwidth(f, parx, choice));
	assert_true(m->plan.ebb != bandwidth(f, parx, NULL));
	assert_true(m->now.ebb == bandwidth(f, now, NULL));
	msg_drop(m);
	lid_choice_free(choice);
	worker_stop(w);
	mailbox_free(box);
	tables_put(parx);
	tables_put(now);
	fabric_put(f);
}

static void what_is_left_in_all_is_told_in_the_last_long_step_only(void **state)
{
	(void)state;
	assert_true(progress_about_s(true, 25, 100, 10) == 30);
	assert_true(isnan(progress_about_s(false, 25, 100, 10)));
	assert_true(isnan(progress_about_s(true, 1, 100, 10))); /* too early to say */
	assert_true(isnan(progress_about_s(true, 25, 100, 0.1)));
	assert_true(isnan(progress_about_s(true, 25, 0, 10)));
	assert_true(progress_most_s(3, 4, 10.5) == 7); /* twice as slow, and rounded up */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_thread_is_told_and_leaves_nothing_behind),
		cmocka_unit_test(what_is_left_in_all_is_told_in_the_last_long_step_only),
		cmocka_unit_test(a_preview_knows_the_time_of_jobs),
		cmocka_unit_test(a_preview_of_parx_tells_small_and_large_messages_apart),
		cmocka_unit_test(a_preview_that_is_cancelled_while_it_waits_is_told),
		cmocka_unit_test(an_order_of_writes_tells_its_steps_from_the_plan_on),
		cmocka_unit_test(a_forecast_tells_how_far_it_is),
		cmocka_unit_test(a_forecast_of_parx_is_of_large_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
