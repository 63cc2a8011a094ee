/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/plan_graft.h"

#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define CAME "n2-3" /* the host that net_fabric() leaves out with no_host */

static const struct update_net_opts without_host = { .no_host = true };

/* A plan on one fabric, and what is there when it is applied. */
struct world {
	struct fabric *was, *is;
	struct tables *from, *to, *read;
	struct jobset *jobs;
	struct plan *p, *q;
	struct sm_pin sm;
	struct graft_report grafted;
	struct err err;
};

static void begin(struct world *w, const struct update_net_opts *was,
		  const struct update_net_opts *is)
{
	*w = (struct world){ .sm = { 0x8001, 5 } };
	w->was = net_fabric(was);
	w->is = net_fabric(is);
	w->from = net_tables(w->was, 0, true);
	w->to = net_tables(w->was, 1, true);
	w->read = net_tables(w->is, 0, true);
	snprintf(w->read->engine, sizeof(w->read->engine), TABLES_WIRE);
	w->jobs = net_jobs(w->was, "7:0-1:4 8:2-3:6");
	assert_int_equal(plan_new(&w->p, w->was, w->from, w->to, w->jobs, &w->sm, 1000, &w->err),
			 0);
}

static int graft(struct world *w, const struct jobset *now)
{
	return plan_graft(&w->q, w->p, w->is, w->read, now, &w->sm, &w->grafted, &w->err);
}

static void end(struct world *w)
{
	plan_free(w->p);
	plan_free(w->q);
	jobset_put(w->jobs);
	tables_put(w->from);
	tables_put(w->to);
	tables_put(w->read);
	fabric_put(w->was);
	fabric_put(w->is);
}

static uint16_t lid_of(const struct fabric *f, const char *name)
{
	uint32_t t;

	assert_int_equal(fabric_terms_by_name(f, name, &t, 1), 1);
	return f->term_lid[t];
}

/* All entries of LIDs that both have lead where those of the plan do. */
static void assert_others_stay(const struct world *w)
{
	for (uint32_t sw = 0; sw < w->is->nsw; sw++)
		for (uint32_t lid = 1; lid <= w->is->max_lid; lid++)
			if (fabric_lid_end(w->is, lid) != FAB_NONE &&
			    fabric_lid_end(w->was, lid) != FAB_NONE)
				assert_int_equal(tables_row(w->q->to, sw)[lid],
						 tables_row(w->to, sw)[lid]);
}

static void a_host_that_is_away_makes_no_plan_stale(void **state)
{
	struct world w;
	uint16_t lid;

	(void)state;
	begin(&w, NULL, &without_host);
	lid = lid_of(w.was, CAME);
	assert_int_equal(graft(&w, NULL), 0);
	assert_int_equal(w.grafted.away, 1);
	assert_int_equal(w.grafted.came, 0);
	assert_others_stay(&w);
	for (uint32_t sw = 0; sw < w.is->nsw; sw++) /* which nobody owns: as it was read */
		assert_int_equal(tables_row(w.q->to, sw)[lid], tables_row(w.read, sw)[lid]);
	assert_int_equal(w.q->order.n, 0);
	assert_int_equal(plan_staleness(w.q, w.is, w.read, NULL, &w.sm, &w.err), 0);
	end(&w);
}

static void a_host_that_came_is_routed_and_written(void **state)
{
	struct world w;
	uint16_t lid, like;
	uint32_t leaf;

	(void)state;
	begin(&w, &without_host, NULL);
	lid = lid_of(w.is, CAME);
	like = lid_of(w.is, "n2-0");
	leaf = fabric_switch_by_guid(w.is, 0x1002);
	assert_int_equal(graft(&w, NULL), 0);
	assert_int_equal(w.grafted.came, 1);
	assert_others_stay(&w);
	for (uint32_t sw = 0; sw < w.is->nsw; sw++)
		if (sw != leaf)
			assert_int_equal(tables_row(w.q->to, sw)[lid],
					 tables_row(w.q->to, sw)[like]);
	assert_int_equal(tables_row(w.q->to, leaf)[lid], 4);
	end(&w);
}

static void lids_that_moved_are_followed(void **state)
{
	struct world w;

	(void)state;
	begin(&w, NULL, &(struct update_net_opts){ .lid_shift = 6 });
	assert_int_equal(graft(&w, NULL), 0);
	assert_int_equal(w.grafted.relabelled, w.is->nend);
	for (uint32_t sw = 0; sw < w.is->nsw; sw++)
		for (uint32_t lid = 1; lid <= w.was->max_lid; lid++)
			assert_int_equal(tables_row(w.q->to, sw)[lid + 6],
					 tables_row(w.to, sw)[lid]);
	end(&w);
}

static void entries_of_the_host_that_came_may_be_any(void **state)
{
	struct world w;
	uint16_t lid;

	(void)state;
	begin(&w, &without_host, NULL);
	lid = lid_of(w.is, CAME);
	for (uint32_t sw = 0; sw < w.is->nsw; sw++)
		tables_row(w.read, sw)[lid] = FAB_NO_PORT;
	assert_int_equal(graft(&w, NULL), 0);
	assert_int_equal(tables_row(w.q->from, 3)[lid], FAB_NO_PORT); /* what a rollback writes */
	assert_int_not_equal(tables_row(w.q->to, 3)[lid], FAB_NO_PORT);
	end(&w);
}

static void what_others_have_written_is_found(void **state)
{
	struct world w;

	(void)state;
	begin(&w, NULL, &without_host);
	tables_row(w.read, 3)[lid_of(w.is, "n2-4")] ^= 3;
	assert_int_equal(graft(&w, NULL), -ESTALE);
	assert_non_null(strstr(w.err.text, "installed tables changed"));
	assert_null(w.q);
	end(&w);
}

static void what_opensm_tells_is_what_it_begins_with(void **state)
{
	struct world w;
	uint16_t lid;

	(void)state;
	begin(&w, NULL, &without_host);
	lid = lid_of(w.is, "n2-4");
	tables_row(w.read, 3)[lid] ^= 3;
	snprintf(w.read->engine, sizeof(w.read->engine), "nue");
	assert_int_equal(graft(&w, NULL), 0);
	assert_others_stay(&w);
	assert_int_equal(tables_row(w.q->from, 3)[lid], tables_row(w.read, 3)[lid]);
	end(&w);
}

static void other_cables_are_named(void **state)
{
	struct world w;

	(void)state;
	begin(&w, NULL, &(struct update_net_opts){ .no_cable = true });
	assert_int_equal(graft(&w, NULL), -ESTALE);
	assert_non_null(strstr(w.err.text, "leaf0/13-spine0/1"));
	end(&w);
}

static void jobs_are_those_of_the_same_nodes(void **state)
{
	struct world w;
	struct jobset *same, *other;

	(void)state;
	begin(&w, NULL, &without_host);
	same = net_jobs(w.is, "7:0-1:4 8:2-3:6"); /* one of its nodes is away */
	other = net_jobs(w.is, "7:0-1:4 8:2-3:6 9:4-5:2");
	assert_int_equal(graft(&w, same), 0);
	assert_int_equal(w.q->jobs->jobs[0].nterm, w.jobs->jobs[0].nterm - 1);
	plan_free(w.q);
	assert_int_equal(graft(&w, other), -ESTALE);
	assert_non_null(strstr(w.err.text, "1 job started (9 on 4 nodes)"));
	jobset_put(same);
	jobset_put(other);
	end(&w);
}

static void another_subnet_manager_is_named(void **state)
{
	struct world w;

	(void)state;
	begin(&w, NULL, &without_host);
	w.sm.guid++;
	assert_int_equal(graft(&w, NULL), -ESTALE);
	assert_non_null(strstr(w.err.text, "subnet manager"));
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_is_away_makes_no_plan_stale),
		cmocka_unit_test(a_host_that_came_is_routed_and_written),
		cmocka_unit_test(lids_that_moved_are_followed),
		cmocka_unit_test(entries_of_the_host_that_came_may_be_any),
		cmocka_unit_test(what_others_have_written_is_found),
		cmocka_unit_test(what_opensm_tells_is_what_it_begins_with),
		cmocka_unit_test(other_cables_are_named),
		cmocka_unit_test(jobs_are_those_of_the_same_nodes),
		cmocka_unit_test(another_subnet_manager_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
