/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Updates counted: what became of them, what they were to gain, whom they drained; also when their
 * journals have gone. */
#include "console/collect/update_watch.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/plan/plan.h"
#include "fabric/update/journal/journal_prune.h"
#include "tests/unit/kit/update_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	char *base;
	struct update_watch *watch;
	unsigned made;
};

static int setup(void **state)
{
	static struct world w;

	w = (struct world){ .f = net_fabric(NULL), .base = net_tmpdir() };
	w.from = net_tables(w.f, 0, false);
	w.to = net_tables(w.f, 1, true);
	w.watch = update_watch_new(w.base, "hpc1");
	*state = &w;
	return plan_new(&w.p, w.f, w.from, w.to, NULL, NULL, 1000, NULL);
}

static int teardown(void **state)
{
	struct world *w = *state;

	update_watch_free(w->watch);
	net_rmdir(w->base);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	return 0;
}

struct told {
	const char *fabric, *engine;
	enum txn_state state;
	enum coord_why why;
	double before, after;
	bool drains;
};

/* One that has come that far; its name in id. */
static void update(struct world *w, char id[48], const struct told *t)
{
	static const struct txn_agent agents[] = { { 1, 1, 2, 4711, "n1" },
						   { 2, 3, 2, 4711, "n2" },
						   { 3, 5, 2, 12, "n3" } };
	struct txn_head h = { .user = "ana", .gain = { "ring", t->before, t->after } };
	struct journal *j;
	struct err err;

	snprintf(h.id, sizeof(h.id), "20261120T2319%02uZ-4711", w->made++);
	snprintf(h.fabric, sizeof(h.fabric), "%s", t->fabric);
	snprintf(h.engine, sizeof(h.engine), "%s", t->engine);
	if (id)
		memcpy(id, h.id, sizeof(h.id));
	if (journal_begin(&j, w->base, w->f, &h, w->p->changes, &err))
		fail_msg("%s", err.text);
	if (t->drains) {
		assert_int_equal(journal_put_agents(j, agents, 3, &err), 0);
		assert_int_equal(journal_mark(j, TXN_UNPATH, 0, NULL, &err), 0);
	}
	journal_because(j, t->why);
	assert_int_equal(journal_mark(j, t->state, 0, NULL, &err), 0);
	journal_close(j);
}

static const struct told kept = { "hpc1", "sar", TXN_CONFIRMED, WHY_NONE, 2.0, 1.5, true };
static const struct told lost = { "hpc1", "sar", TXN_ROLLED_BACK, WHY_WATCH, 2.0, 1.0, false };
static const struct told worse = { "hpc1", "nue", TXN_CONFIRMED, WHY_NONE, 2.0, 2.2, false };
static const struct told others = { "hpc2", "nue", TXN_CONFIRMED, WHY_NONE, 2.0, 1.0, true };
static const struct told open_still = { "hpc1", "nue", TXN_WRITING, WHY_NONE, 2.0, 1.0, false };

static const struct update_counts *look(struct world *w)
{
	const struct update_counts *c = update_watch_look(w->watch);

	assert_non_null(c);
	return c;
}

static const struct journal_count *of(const struct update_counts *c, const char *engine)
{
	for (size_t i = 0; i < c->by.n; i++)
		if (!strcmp(c->by.v[i].engine, engine))
			return &c->by.v[i];
	fail_msg("no updates of %s", engine);
	return NULL;
}

static void without_any_there_are_none(void **state)
{
	struct world *w = *state;
	const struct update_counts *c = look(w);

	assert_int_equal(c->by.n, 0);
	assert_int_equal(c->open + c->left, 0);
	assert_null(update_watch_look(w->watch));
	update_counts_put(c);
}

static void ends_gains_drains_and_causes_are_counted_by_engine(void **state)
{
	struct world *w = *state;
	const struct journal_count *sar, *nue;
	const struct update_counts *c;

	update(w, NULL, &kept);
	update(w, NULL, &lost);
	update(w, NULL, &worse);
	update(w, NULL, &others);
	c = look(w);
	assert_int_equal(c->by.n, 2);
	sar = of(c, "sar");
	assert_int_equal(sar->ended[TXN_CONFIRMED], 1);
	assert_int_equal(sar->ended[TXN_ROLLED_BACK], 1);
	assert_int_equal(sar->why[WHY_WATCH], 1);
	assert_int_equal(sar->drains, 1);
	assert_int_equal(sar->jobs, 2);
	assert_int_equal(sar->ports, 3);
	assert_int_equal(sar->gains, 1);
	assert_float_equal(sar->gain, 0.25, 1e-9);
	nue = of(c, "nue");
	assert_int_equal(nue->ended[TXN_CONFIRMED], 1);
	assert_int_equal(nue->losses, 1);
	assert_float_equal(nue->loss, 0.1, 1e-9);
	assert_true(c->confirmed_s > 0);
	assert_string_equal(c->gain.pattern, "ring");
	assert_true(c->step_ms >= c->confirmed_s * 1000);
	update_counts_put(c);
}

static void one_that_is_not_over_is_open_or_left_behind_and_counts_when_it_ends(void **state)
{
	struct world *w = *state;
	const struct update_counts *c;
	struct journal *j;
	struct err err;
	char id[48];

	update(w, id, &open_still);
	c = look(w);
	assert_int_equal(c->left, 1);
	assert_int_equal(c->open, 0);
	assert_int_equal(c->by.n, 0);
	update_counts_put(c);
	assert_null(update_watch_look(w->watch));
	assert_int_equal(journal_open(&j, w->base, id, &err), 0);
	assert_int_equal(journal_mark(j, TXN_GIVEN_UP, 0, "gone", &err), 0);
	journal_close(j);
	c = look(w);
	assert_int_equal(c->left, 0);
	assert_int_equal(of(c, "nue")->ended[TXN_GIVEN_UP], 1);
	update_counts_put(c);
}

static void what_is_removed_stays_counted_for_all_who_look(void **state)
{
	struct world *w = *state;
	const struct update_counts *c;
	struct update_watch *later;
	struct err err = { "" };
	uint32_t n;

	update(w, NULL, &kept);
	update(w, NULL, &kept);
	update(w, NULL, &lost);
	update_counts_put(look(w));
	assert_int_equal(journal_prune(w->base, INT64_MAX, &n, &err), 0);
	assert_int_equal(n, 3);
	c = look(w);
	assert_int_equal(of(c, "sar")->ended[TXN_CONFIRMED], 2);
	assert_int_equal(of(c, "sar")->why[WHY_WATCH], 1);
	assert_float_equal(of(c, "sar")->gain, 0.5, 1e-9);
	update_counts_put(c);
	update(w, NULL, &kept);
	assert_int_equal(journal_prune(w->base, INT64_MAX, &n, &err), 0);
	assert_int_equal(n, 1);
	later = update_watch_new(w->base, NULL);
	c = update_watch_look(later);
	assert_int_equal(of(c, "sar")->ended[TXN_CONFIRMED], 3);
	assert_int_equal(of(c, "sar")->jobs, 6);
	update_counts_put(c);
	update_watch_free(later);
}

/* Killed after it had counted them. */
static void what_was_to_be_removed_and_is_there_still_counts_once(void **state)
{
	struct world *w = *state;
	char *cut = xasprintf("%s/removed.json", w->base), *text;
	const struct update_counts *c;
	struct err err = { "" };
	size_t len;
	uint32_t n;
	char id[48];

	update(w, id, &kept);
	update_counts_put(look(w));
	assert_int_equal(journal_prune(w->base, INT64_MAX, &n, &err), 0);
	assert_int_equal(store_read(&text, &len, cut, &err), 0);
	assert_non_null(strstr(text, id));
	w->made--;
	update(w, NULL, &kept);
	assert_null(update_watch_look(w->watch)); /* as it was */
	assert_int_equal(journal_prune(w->base, INT64_MAX, &n, &err), 0);
	assert_int_equal(n, 1);
	c = look(w); /* whose it was is known no more */
	assert_int_equal(of(c, "sar")->ended[TXN_CONFIRMED], 1);
	assert_int_equal(c->confirmed_s, 0);
	update_counts_put(c);
	free(text);
	free(cut);
}

static void a_damaged_count_of_what_was_removed_is_begun_again(void **state)
{
	struct world *w = *state;
	char *path = xasprintf("%s/removed.json", w->base);
	const struct update_counts *c;
	struct err err = { "" };
	uint32_t n;

	assert_int_equal(store_replace(path, "{\"version\":1,\"counts\":[7]", 25, 0600, &err), 0);
	update(w, NULL, &kept);
	c = look(w);
	assert_int_equal(of(c, "sar")->ended[TXN_CONFIRMED], 1);
	update_counts_put(c);
	assert_int_equal(journal_prune(w->base, INT64_MAX, &n, &err), 0);
	assert_int_equal(n, 1);
	c = look(w);
	assert_int_equal(of(c, "sar")->ended[TXN_CONFIRMED], 1);
	update_counts_put(c);
	free(path);
}

/* What others may have written into the file: no number is taken for what it cannot be. */
static void numbers_of_what_was_removed_are_checked(void **state)
{
	static const char text[] =
		"{\"version\":1,\"removed\":[5],\"counts\":[{\"fabric\":\"a\\u001b\",\"engine\":7,"
		"\"ended\":{\"confirmed\":-3,\"writing\":9},\"why\":[],\"jobs\":1e99,\"gain\":-2}]}";
	struct journal_counts l = { 0 };
	struct journal_gone gone = { 0 };

	(void)state;
	assert_int_equal(journal_counts_decode(&l, &gone, text, strlen(text)), 0);
	assert_int_equal(l.n, 1);
	assert_int_equal(gone.n, 0);
	assert_null(strchr(l.v[0].fabric, 27));
	assert_string_equal(l.v[0].engine, "");
	for (int s = 0; s < TXN_STATES; s++)
		assert_int_equal(l.v[0].ended[s], 0);
	assert_int_equal(l.v[0].jobs, 0);
	assert_float_equal(l.v[0].gain, 0, 0);
	journal_counts_free(&l);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(without_any_there_are_none),
		T(ends_gains_drains_and_causes_are_counted_by_engine),
		T(one_that_is_not_over_is_open_or_left_behind_and_counts_when_it_ends),
		T(what_is_removed_stays_counted_for_all_who_look),
		T(what_was_to_be_removed_and_is_there_still_counts_once),
		T(a_damaged_count_of_what_was_removed_is_begun_again),
		T(numbers_of_what_was_removed_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
