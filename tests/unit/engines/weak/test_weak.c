/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What failures cost, against repairs that are really made and shifts that are measured again. */
#include "engines/weak/weak.h"

#include "engines/predict/job_ranks.h"
#include "engines/repair/repairer.h"
#include "engines/time/shift_time.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/without.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct weak_report *must_find(const struct fabric *f, const struct tables *t,
				     unsigned threads)
{
	struct engine_params params = { .current = t, .threads = threads };
	struct weak_opts opts = { .cables = true, .switches = true };
	struct weak_report *w;
	struct err err;

	if (weak_find(&w, f, &params, &opts, NULL, &err))
		fail_msg("%s", err.text);
	return w;
}

static double measured(const struct fabric *f, const struct tables *t)
{
	struct shift_time s;

	assert_int_equal(shift_time_compute(&s, f, t, NULL, NULL, NULL), 0);
	assert_int_equal(s.stranded, 0);
	return 1 / s.sync.mean;
}

/* The repair itself, once, on tables of its own. */
static const struct tables *repaired(struct repairer **x, const struct fabric *f,
				     const struct tables *t, const bool *down,
				     struct repair_report *report)
{
	struct engine_params params = { .current = t, .threads = 1 };
	struct entry_changes changes = { 0 };
	struct err err;

	if (repairer_new(x, f, &params, NULL, &err) ||
	    repairer_update(*x, down, &changes, report, &err))
		fail_msg("%s", err.text);
	entry_changes_done(&changes);
	return repairer_tables(*x);
}

static void check_cable(const struct fabric *f, const struct tables *t, const struct weak_part *p)
{
	bool *down = xcalloc(f->nchan, sizeof(*down));
	struct repair_report r;
	const struct tables *now;
	struct repairer *x;
	struct fabric *less;
	struct verdict *v;

	down[p->chan] = down[f->chan_rev[p->chan]] = true;
	now = repaired(&x, f, t, down, &r);
	less = fabric_without(f, down);
	assert_int_equal(r.changed, p->changed);
	assert_int_equal(r.needed, p->needed);
	assert_int_equal(now->vls, p->vls);
	assert_true(fabs(measured(less, now) - p->time) < 1e-9);
	assert_int_equal(verify_tables(&v, less, now, NULL, NULL, NULL), 0);
	assert_true(verdict_ok(v));
	assert_true(v->vls_used <= p->vls);
	verdict_free(v);
	repairer_free(x);
	fabric_put(less);
	free(down);
}

/* Loads of one shift, without those who are on a switch. */
static double naive_shift(const struct fabric *f, const struct tables *t,
			  const struct rank_flows *list, uint32_t gone)
{
	uint32_t *load = xcalloc(f->nchan, sizeof(*load)), most = 1;

	for (size_t i = 0; i < list->flows.n; i++) {
		const struct flow *fl = &list->flows.v[i];
		uint32_t sw = f->term_sw[fl->src], to = f->term_sw[fl->dst];

		if (sw == gone || to == gone)
			continue;
		while (sw != to) {
			uint32_t c = fabric_chan(f, sw, tables_row(t, sw)[f->term_lid[fl->dst]]);

			load[c]++;
			most = load[c] > most ? load[c] : most;
			sw = f->chan_dst[c];
		}
	}
	free(load);
	return most;
}

static void check_switch(const struct fabric *f, const struct tables *t, const struct weak_part *p)
{
	bool *down = xcalloc(f->nchan, sizeof(*down));
	struct rank_flows list = { 0 };
	struct arena *mem = arena_new();
	struct job_ranks *ranks = job_ranks_all(mem, f);
	const struct tables *now;
	struct repair_report r;
	struct repairer *x;
	double sum = 0;

	for (uint32_t c = f->chan_off[p->sw]; c < f->chan_off[p->sw + 1]; c++)
		down[c] = down[f->chan_rev[c]] = true;
	now = repaired(&x, f, t, down, &r);
	for (uint32_t k = 1; k < ranks->nrank; k++) {
		list.flows.n = 0;
		job_ranks_shift(&list, ranks, k);
		sum += naive_shift(f, now, &list, p->sw);
	}
	assert_int_equal(r.changed, p->changed);
	assert_int_equal(p->hosts, f->sw_nterm[p->sw]);
	assert_true(fabs(sum / (ranks->nrank - 1) - p->time) < 1e-9);
	vec_free(&list.flows);
	arena_free(mem);
	repairer_free(x);
	free(down);
}

/* Tables that were read from switches do not tell how many VLs they need. */
static void check_vls_of_read(const struct fabric *f, struct tables *t, const struct weak_report *w)
{
	struct weak_report *read;

	t->vls = t->sls = 0;
	read = must_find(f, t, 1);
	assert_true(read->vls > 0);
	assert_int_equal(read->vls, w->vls);
	assert_int_equal(read->part[0].vls, w->part[0].vls);
	weak_report_free(read);
}

static void every_failure_costs_what_its_repair_does(void **state)
{
	static const struct {
		const char *net, *engine;
	} cases[] = { { "fattree2:leaves=6,spines=3,hosts=4", "ftree" },
		      { "torus:dims=4x4,hosts=2", "dfsssp" },
		      { "dragonfly:p=2", "nue" },
		      { "hyperx:dims=4x3,hosts=2", "dfsssp" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fabric *f = net_spec(cases[i].net);
		struct engine_params params = { .seed = 1, .threads = 1 };
		struct tables *t = must_route(engine_find(cases[i].engine, NULL), f, NULL, &params);
		struct weak_report *w = must_find(f, t, 1), *other = must_find(f, t, 3);
		uint32_t looked = 0;

		assert_true(fabs(w->time - measured(f, t)) < 1e-9);
		assert_int_equal(w->n, f->nchan / 2 + f->nsw);
		assert_int_equal(other->n, w->n);
		assert_memory_equal(w->part, other->part, w->n * sizeof(*w->part));
		for (uint32_t k = 0; k < w->n; k++) {
			const struct weak_part *p = &w->part[k];

			assert_int_equal(p->end, WEAK_REPAIRED);
			assert_true(!k || p->time <= w->part[k - 1].time);
			if (looked++ % 7)
				continue;
			if (p->sw == FAB_NONE)
				check_cable(f, t, p);
			else
				check_switch(f, t, p);
		}
		check_vls_of_read(f, t, w);
		weak_report_free(w);
		weak_report_free(other);
		tables_put(t);
		fabric_put(f);
	}
}

static void what_cuts_hosts_off_comes_first(void **state)
{
	struct fabric *f = net_chain(4, 3, FAB_NONE, NULL);
	struct tables *t = must_route(engine_find("updn", NULL), f, NULL, NULL);
	struct weak_report *w = must_find(f, t, 1);

	(void)state;
	assert_int_equal(w->n, 3 + 4);
	/* the cable in the middle, then switches in the middle or cables at the ends */
	assert_int_equal(w->part[0].end, WEAK_CUT);
	assert_int_equal(w->part[0].hosts, 6);
	for (uint32_t i = 0; i < w->n; i++)
		assert_int_equal(
			w->part[i].end == WEAK_REPAIRED,
			w->part[i].sw != FAB_NONE &&
				f->chan_off[w->part[i].sw + 1] - f->chan_off[w->part[i].sw] == 1);
	weak_report_free(w);
	tables_put(t);
	fabric_put(f);
}

static void tables_that_lack_paths_are_refused(void **state)
{
	struct fabric *f = net_spec("torus:dims=3x3,hosts=1");
	struct tables *t = tables_new(f, "test");
	struct engine_params params = { .current = t };
	struct weak_opts opts = { .cables = true };
	struct weak_report *w;
	struct err err;

	(void)state;
	assert_int_equal(weak_find(&w, f, &params, &opts, NULL, &err), -ENETUNREACH);
	assert_null(w);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failure_costs_what_its_repair_does),
		cmocka_unit_test(what_cuts_hosts_off_comes_first),
		cmocka_unit_test(tables_that_lack_paths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
