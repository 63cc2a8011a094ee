/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last updates of the fabric, of all that is kept. */
#include "console/app/app_priv.h"

#include "console/collect/acts.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "tests/unit/kit/small_net.h"
#include "views/apply/apply_updates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void push(struct acts *l, enum act_kind kind, const char *fabric, uint64_t blocks)
{
	struct act a = { .kind = kind,
			 .engine = "sar",
			 .state = "confirmed",
			 .user = "root",
			 .text = "why",
			 .begin_ms = 1795800000123,
			 .end_ms = 1795800060999,
			 .blocks = blocks };

	snprintf(a.fabric, sizeof(a.fabric), "%s", fabric);
	vec_push(l, a);
}

/* Those of other fabrics, baselines and records are left out. */
static void updates_of_this_fabric_are_taken(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=8,spines=4,hosts=2");
	struct app *a = xcalloc(1, sizeof(*a));
	const struct apply_updates *l;
	struct acts *acts = acts_new();

	(void)state;
	push(acts, ACT_BASELINE, f->name, 1);
	push(acts, ACT_UPDATE, f->name, 2);
	push(acts, ACT_UPDATE, "another", 3);
	push(acts, ACT_UPDATE, "", 4); /* its journal is damaged */
	push(acts, ACT_RECORD, f->name, 5);
	a->state.fabric = f;
	app_updates_take(a, acts);
	l = a->state.updates;
	assert_int_equal(l->n, 2);
	assert_int_equal(l->row[0].blocks, 2);
	assert_int_equal(l->row[0].begin_s, 1795800000);
	assert_int_equal(l->row[0].end_s, 1795800060);
	assert_string_equal(l->row[0].engine, "sar");
	assert_string_equal(l->row[0].state, "confirmed");
	assert_string_equal(l->row[0].user, "root");
	assert_string_equal(l->row[0].text, "why");
	assert_int_equal(l->row[1].blocks, 4);
	a->state.fabric = NULL; /* not found yet */
	app_updates_take(a, acts);
	assert_int_equal(a->state.updates->n, 3);
	app_updates_part.end(a);
	free(a);
	acts_put(acts);
	fabric_put(f);
}

static void of_many_the_newest_are_taken(void **state)
{
	struct app *a = xcalloc(1, sizeof(*a));
	struct acts *acts = acts_new();

	(void)state;
	for (uint64_t i = 0; i < APPLY_UPDATES + 10; i++)
		push(acts, ACT_UPDATE, "", i);
	a->acts = acts; /* of a collector: nothing is read here */
	app_updates_read(a);
	assert_int_equal(a->state.updates->n, APPLY_UPDATES);
	assert_int_equal(a->state.updates->row[0].blocks, 0);
	assert_int_equal(a->state.updates->row[APPLY_UPDATES - 1].blocks, APPLY_UPDATES - 1);
	app_updates_part.end(a);
	free(a);
	acts_put(acts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(updates_of_this_fabric_are_taken),
		cmocka_unit_test(of_many_the_newest_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
