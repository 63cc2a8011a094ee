/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/watch_conditions.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/jobs/source.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	struct sim *sim;
	struct wire *wire;
	struct watch *w;
	char said[WATCHES][200];
	int blocks_rc;
	struct job_source jobs;
};

static void said(void *ctx, const struct watch_finding *f)
{
	struct world *w = ctx;

	snprintf(w->said[f->what], sizeof(w->said[0]), "%s", f->text);
}

static int blocks(void *ctx, struct err *err)
{
	struct world *w = ctx;

	return w->blocks_rc ? err_set(err, w->blocks_rc, "3 blocks changed") : 0;
}

static void no_poll(struct job_source *s)
{
	(void)s;
}

static const struct job_source_type fake = { .name = "fake", .poll = no_poll };

static void begin(struct world *w, unsigned mask)
{
	struct watch_opts o = {
		.mask = mask,
		.limits = watch_limits_default,
		.interval_ms = { 1, 1, 1, 1 },
		.jobs = &w->jobs,
		.blocks = blocks,
		.blocks_ms = 1,
		.settle_ms = 20,
		.ctx = w,
	};

	w->w = watch_new(&o);
	watch_begin(w->w, w->wire, w->p, said, w);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct wire_opts wo = { .timeout_ms = 5, .retries = 1 };
	struct sim_opts so;

	sim_opts_init(&so);
	w->f = net_fabric(NULL);
	w->from = net_tables(w->f, 0, false);
	w->to = net_tables(w->f, 1, false);
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, NULL, NULL, 1000, NULL), 0);
	assert_int_equal(sim_new(&w->sim, w->f, &so, NULL), 0);
	assert_int_equal(sim_install_tables(w->sim, w->to, NULL), 0);
	assert_int_equal(wire_open_sim(&w->wire, w->sim, &wo, NULL), 0);
	w->jobs = (struct job_source){ .type = &fake, .fd = -1 };
	w->jobs.newest = job_list_new("fake", 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	watch_free(w->w);
	job_list_put(w->jobs.newest);
	wire_close(w->wire);
	sim_free(w->sim);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	free(w);
	return 0;
}

/* Looks so often; true as soon as it trips. */
static bool trips(struct world *w, unsigned looks, struct watch_finding *f)
{
	struct timespec pause = { .tv_nsec = 2000000 };

	for (unsigned i = 0; i < looks; i++) {
		if (watch_poll(w->w, f))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void lists_are_parsed_strictly(void **state)
{
	struct watch_limits l = watch_limits_default;
	unsigned mask = 99;

	(void)state;
	assert_int_equal(watch_parse(&mask, "sm,jobs", NULL), 0);
	assert_int_equal(mask, 1u << WATCH_SM | 1u << WATCH_JOBS);
	assert_int_equal(watch_parse(&mask, "sm,reach,errors,jobs", NULL), 0);
	assert_int_equal(mask, WATCH_ALL);
	assert_int_equal(watch_parse(&mask, "", NULL), 0);
	assert_int_equal(mask, 0);
	assert_int_equal(watch_parse(&mask, "s", NULL), -EINVAL);
	assert_int_equal(watch_parse(&mask, "sm,smm", NULL), -EINVAL);
	assert_int_equal(watch_limits_parse(&l, "symbol=7,downed=2", NULL), 0);
	assert_int_equal(l.symbol, 7);
	assert_int_equal(l.downed, 2);
	assert_int_equal(l.rcv, watch_limits_default.rcv);
	assert_int_equal(watch_limits_parse(&l, "symbol", NULL), -EINVAL);
	assert_int_equal(watch_limits_parse(&l, "symbol=-1", NULL), -EINVAL);
	assert_int_equal(watch_limits_parse(&l, "discard=5x", NULL), -EINVAL);
	assert_int_equal(watch_limits_parse(&l, "noise=5", NULL), -EINVAL);
}

static void healthy_fabric_trips_nothing(void **state)
{
	struct world *w = *state;
	struct watch_finding f;

	begin(w, WATCH_ALL);
	for (int i = 0; i < WATCHES; i++) {
		assert_true(watch_on(w->w, (enum watch_what)i));
		assert_non_null(strstr(w->said[i], "watched: "));
	}
	for (int i = 0; i < WATCHES; i++)
		assert_int_equal(watch_looks(w->w, (enum watch_what)i), 0);
	assert_false(trips(w, 30, &f));
	for (int i = 0; i < WATCHES; i++)
		assert_true(watch_looks(w->w, (enum watch_what)i) > 0);
	assert_false(watch_sm_now(w->w, &f));
}

static void what_is_switched_off_says_so_and_trips_nothing(void **state)
{
	struct world *w = *state;
	struct watch_finding f;

	begin(w, 0);
	for (int i = 0; i < WATCHES; i++)
		assert_string_equal(w->said[i], "off: not selected");
	sim_move_sm(w->sim, 5);
	sim_kill_term(w->sim, 7, true);
	assert_false(trips(w, 10, &f));
	assert_false(watch_sm_now(w->w, &f));
}

static void another_master_sm_trips(void **state)
{
	struct world *w = *state;
	struct watch_finding f;

	begin(w, 1u << WATCH_SM);
	sim_move_sm(w->sim, 5);
	assert_true(watch_sm_now(w->w, &f));
	assert_int_equal(f.what, WATCH_SM);
	assert_non_null(strstr(f.text, "another subnet manager"));
}

static void silent_sm_is_given_time(void **state)
{
	struct world *w = *state;
	struct watch_finding f;

	begin(w, 1u << WATCH_SM);
	sim_stop_sm(w->sim, true);
	assert_false(trips(w, 3, &f)); /* 10 s, of which these are none */
	assert_non_null(strstr(watch_last(w->w, WATCH_SM), "no response for 0."));
	sim_stop_sm(w->sim, false);
	assert_false(trips(w, 3, &f));
}

static void without_an_sm_it_cannot_be_watched(void **state)
{
	struct world *w = *state;

	sim_stop_sm(w->sim, true);
	begin(w, 1u << WATCH_SM);
	assert_false(watch_on(w->w, WATCH_SM));
	assert_non_null(strstr(w->said[WATCH_SM], "off: "));
}

/* A port of the first leaf towards a spine. */
static uint8_t uplink(const struct world *w, uint32_t *sw)
{
	*sw = w->f->chan_src[0];
	return w->f->chan_port[0];
}

static void errors_up_to_the_limit_are_no_reason(void **state)
{
	struct world *w = *state;
	struct watch_finding f;
	uint32_t sw;
	uint8_t port = uplink(w, &sw);

	begin(w, 1u << WATCH_ERRORS);
	sim_add_counter(w->sim, sw, port, CTR_SYMBOL_ERR, watch_limits_default.symbol);
	assert_false(trips(w, 200, &f));
	assert_non_null(strstr(watch_last(w->w, WATCH_ERRORS), "50 errors more"));
	sim_add_counter(w->sim, sw, port, CTR_SYMBOL_ERR, 1);
	assert_true(trips(w, 1000, &f));
	assert_int_equal(f.what, WATCH_ERRORS);
	assert_non_null(strstr(f.text, w->f->sw_name[sw]));
	assert_non_null(strstr(f.text, "51 symbol errors more since the update, limit 50"));
}

/* The plan mends a path that the tables of before do not have. */
static void lose_a_path(struct world *w, uint32_t sw)
{
	uint32_t term = 0;

	while (w->f->term_sw[term] == sw)
		term++;
	plan_free(w->p);
	tables_row(w->from, sw)[w->f->term_lid[term]] = FAB_NO_PORT;
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, NULL, NULL, 1000, NULL), 0);
}

/* An update that gives paths to messages which are lost is not rolled back for those. */
static void what_was_lost_before_a_repair_is_no_reason(void **state)
{
	struct world *w = *state;
	struct watch_finding f;
	uint32_t sw;
	uint8_t port = uplink(w, &sw);

	lose_a_path(w, sw);
	begin(w, 1u << WATCH_ERRORS);
	sim_add_counter(w->sim, sw, port, CTR_TX_DISCARD, 5000);
	assert_false(trips(w, 1, &f));
	assert_non_null(strstr(watch_last(w->w, WATCH_ERRORS), "messages were lost"));
	sim_add_counter(w->sim, sw, port, CTR_TX_DISCARD, 5000); /* were on their way */
	assert_false(trips(w, 200, &f));
	assert_non_null(strstr(watch_last(w->w, WATCH_ERRORS), "no error counter rose"));
	sim_add_counter(w->sim, sw, port, CTR_TX_DISCARD, watch_limits_default.discard);
	assert_false(trips(w, 200, &f));
	sim_add_counter(w->sim, sw, port, CTR_TX_DISCARD, 1);
	assert_true(trips(w, 1000, &f));
	assert_non_null(strstr(f.text, "101 discards more since the update, limit 100"));
}

static void other_errors_count_from_the_first_write_on_in_a_repair_too(void **state)
{
	struct world *w = *state;
	struct watch_finding f;
	uint32_t sw;
	uint8_t port = uplink(w, &sw);

	lose_a_path(w, sw);
	begin(w, 1u << WATCH_ERRORS);
	sim_add_counter(w->sim, sw, port, CTR_LINK_DOWNED, 1);
	assert_true(trips(w, 1000, &f));
	assert_non_null(strstr(f.text, "1 times down"));
}

static void link_that_went_down_once_is_a_reason(void **state)
{
	struct world *w = *state;
	struct watch_finding f;
	uint32_t sw;
	uint8_t port = uplink(w, &sw);

	sim_add_counter(w->sim, sw, port, CTR_LINK_DOWNED, 7); /* before: no matter */
	begin(w, 1u << WATCH_ERRORS);
	assert_false(trips(w, 5, &f));
	sim_add_counter(w->sim, sw, port, CTR_LINK_DOWNED, 1);
	assert_true(trips(w, 1000, &f));
	assert_non_null(strstr(f.text, "1 times down"));
}

static void links_without_a_change_are_left_out(void **state)
{
	struct world *w = *state;
	const struct fabric *f = w->f;
	uint32_t nport = f->port_off[f->nsw];
	bool *marked = xcalloc(nport, sizeof(bool));
	struct sample *a = sample_new(f), *b = sample_new(f);
	uint64_t worst;
	char text[200] = "";

	for (uint32_t p = 0; p < nport; p++) {
		a->port[p].valid = b->port[p].valid = (1u << CTR_COUNT) - 1;
		b->port[p].v[CTR_RX_ERR] = 1000;
	}
	assert_false(watch_errors_judge(text, sizeof(text), &worst, f, a, b, marked,
					&watch_limits_default));
	marked[nport - 1] = true;
	assert_true(watch_errors_judge(text, sizeof(text), &worst, f, a, b, marked,
				       &watch_limits_default));
	assert_int_equal(worst, 1000);
	/* cleared by somebody meanwhile: counts from 0 */
	a->port[nport - 1].v[CTR_RX_ERR] = 5000;
	b->port[nport - 1].v[CTR_RX_ERR] = 3;
	assert_false(watch_errors_judge(text, sizeof(text), &worst, f, a, b, marked,
					&watch_limits_default));
	assert_int_equal(worst, 3);
	/* unknown is not an error */
	b->port[nport - 1].v[CTR_RX_ERR] = 9000;
	b->port[nport - 1].valid = 0;
	assert_false(watch_errors_judge(text, sizeof(text), &worst, f, a, b, marked,
					&watch_limits_default));
	sample_put(a);
	sample_put(b);
	free(marked);
}

static void both_ends_of_changed_links_are_marked(void **state)
{
	struct world *w = *state;
	const struct fabric *f = w->f;
	bool *marked = xcalloc(f->port_off[f->nsw], sizeof(bool));
	uint32_t ups = 0;

	watch_mark_links(marked, f, w->p->changes);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = f->port_off[f->chan_src[c]] + f->chan_port[c];
		uint32_t b = f->port_off[f->chan_dst[c]] + f->chan_rport[c];

		assert_int_equal(marked[a], marked[b]);
		ups += marked[a];
	}
	assert_true(ups > 0);
	free(marked);
}

static void hosts_are_picked_evenly(void **state)
{
	struct world *w = *state;
	uint16_t all[1000], few[10];
	uint32_t n = watch_pick_lids(all, 1000, w->f, w->p->changes);

	assert_true(n > 50);
	for (uint32_t i = 0; i < n; i++)
		assert_true(fabric_lid_end(w->f, all[i]) < w->f->nend);
	assert_int_equal(watch_pick_lids(few, 10, w->f, w->p->changes), 10);
	assert_true(few[0] <= all[n / 10]);
	assert_true(few[9] >= all[n * 8 / 10]);
	for (int i = 1; i < 10; i++)
		assert_true(few[i] > few[i - 1]);
}

static void host_that_falls_silent_trips_and_is_named(void **state)
{
	struct world *w = *state;
	struct watch_finding f;

	begin(w, 1u << WATCH_REACH);
	assert_false(trips(w, 3, &f));
	sim_kill_term(w->sim, 20, true);
	assert_true(trips(w, 1000, &f));
	assert_int_equal(f.what, WATCH_REACH);
	assert_non_null(strstr(f.text, w->f->term_name[20]));
}

static void host_that_was_dead_before_is_no_reason(void **state)
{
	struct world *w = *state;
	struct watch_finding f;

	sim_kill_term(w->sim, 20, true);
	begin(w, 1u << WATCH_REACH);
	assert_false(trips(w, 20, &f));
}

static void block_of_somebody_else_trips(void **state)
{
	struct world *w = *state;
	struct watch_finding f;

	begin(w, 1u << WATCH_REACH);
	assert_false(trips(w, 5, &f));
	w->blocks_rc = -EIO; /* could not be read: is asked again */
	assert_false(trips(w, 5, &f));
	w->blocks_rc = -EUCLEAN;
	assert_true(trips(w, 1000, &f));
	assert_string_equal(f.text, "3 blocks changed");
}

static void job_with_node_fail_trips_but_not_an_old_one(void **state)
{
	struct world *w = *state;
	struct job_list *l = job_list_new("fake", 2);
	struct watch_finding f;

	job_list_failed((struct job_list *)w->jobs.newest, 17);
	begin(w, 1u << WATCH_JOBS);
	assert_null(w->jobs.newest); /* taken */
	job_list_failed(l, 17);
	w->jobs.newest = l;
	assert_false(trips(w, 3, &f));
	l = job_list_new("fake", 3);
	job_list_failed(l, 17);
	job_list_failed(l, 4711);
	w->jobs.newest = l;
	assert_true(trips(w, 1000, &f));
	assert_int_equal(f.what, WATCH_JOBS);
	assert_non_null(strstr(f.text, "job 4711 has lost a node"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(lists_are_parsed_strictly),
		T(healthy_fabric_trips_nothing),
		T(what_is_switched_off_says_so_and_trips_nothing),
		T(another_master_sm_trips),
		T(silent_sm_is_given_time),
		T(without_an_sm_it_cannot_be_watched),
		T(errors_up_to_the_limit_are_no_reason),
		T(what_was_lost_before_a_repair_is_no_reason),
		T(other_errors_count_from_the_first_write_on_in_a_repair_too),
		T(link_that_went_down_once_is_a_reason),
		T(links_without_a_change_are_left_out),
		T(both_ends_of_changed_links_are_marked),
		T(hosts_are_picked_evenly),
		T(host_that_falls_silent_trips_and_is_named),
		T(host_that_was_dead_before_is_no_reason),
		T(block_of_somebody_else_trips),
		T(job_with_node_fail_trips_but_not_an_old_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
