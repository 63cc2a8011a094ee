/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/planfile.h"

#include "fabric/base/mem.h"
#include "fabric/update/store.h"
#include "tests/unit/update_net.h"

#include <errno.h>
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
	struct jobset *jobs;
	struct plan *p;
	struct sm_pin sm;
	char *dir, *path;
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
	w.dir = net_tmpdir();
	w.path = xasprintf("%s/p.plan", w.dir);
	*state = &w;
	if (plan_new(&w.p, w.f, w.from, w.to, w.jobs, &w.sm, 1000, &err) ||
	    plan_save(w.path, w.p, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	plan_free(w->p);
	jobset_put(w->jobs);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	free(w->path);
	net_rmdir(w->dir);
	return 0;
}

static void saved_plan_comes_back_the_same(void **state)
{
	struct world *w = *state;
	struct plan *p;
	struct err err = { "" };

	if (plan_load(&p, w->path, &err))
		fail_msg("%s", err.text);
	assert_true(digest_equal(&p->hash, &w->p->hash));
	assert_string_equal(p->id, w->p->id);
	assert_string_equal(p->fabric->name, "testnet");
	assert_int_equal(p->changes->n, w->p->changes->n);
	assert_int_equal(p->jobs->njob, 2);
	assert_int_equal(plan_stale(p, w->f, w->from, w->jobs, &w->sm, NULL), 0);
	plan_free(p);
}

static void same_plan_gives_the_same_bytes(void **state)
{
	struct world *w = *state;
	char *again = xasprintf("%s/q.plan", w->dir), *a, *b;
	size_t la, lb;
	struct plan *p;

	assert_int_equal(plan_new(&p, w->f, w->from, w->to, w->jobs, &w->sm, 9999, NULL), 0);
	assert_int_equal(plan_save(again, p, NULL), 0);
	assert_int_equal(store_read(&a, &la, w->path, NULL), 0);
	assert_int_equal(store_read(&b, &lb, again, NULL), 0);
	assert_int_equal(la, lb);
	assert_memory_equal(a, b, la);
	plan_free(p);
	free(a);
	free(b);
	free(again);
}

static void the_order_of_writes_is_kept_and_protected(void **state)
{
	struct world *w = *state;
	const struct tdiff *d = w->p->diff;
	struct change_write *v = xcalloc(2 * (size_t)d->nblocks, sizeof(*v));
	struct change_order o = { .v = v, .n = 2 * d->nblocks, .nwaves = 2, .sl2vl_wave = 1 };
	struct digest before = w->p->hash;
	struct plan *p, *q;
	struct err err = { "" };

	for (uint32_t i = 0; i < o.n; i++) {
		const struct tdiff_block *b = &d->blocks[i % d->nblocks];
		uint32_t wave = i / d->nblocks;

		v[i] = (struct change_write){ wave, b->sw, b->block,
					      wave ? ~0ull << 32 : ~0ull >> 32 };
	}
	assert_int_equal(plan_in_order(w->p, &o, NULL), 0);
	assert_false(digest_equal(&before, &w->p->hash));
	assert_int_equal(plan_save(w->path, w->p, NULL), 0);
	if (plan_load(&p, w->path, &err))
		fail_msg("%s", err.text);
	assert_true(digest_equal(&p->hash, &w->p->hash));
	assert_int_equal(p->changes->n, w->p->changes->n);
	assert_int_equal(p->changes->nwaves, 2);
	assert_int_equal(p->changes->ndata, w->p->changes->ndata);
	assert_memory_equal(p->changes->data, w->p->changes->data, p->changes->ndata);
	assert_int_equal(plan_rebase(&q, p, w->f, w->from, &err), 0);
	assert_true(digest_equal(&p->hash, &q->hash));
	assert_int_equal(q->changes->nwaves, 2);
	plan_free(q);
	plan_free(p);
	free(v);
}

static void loaded_plan_says_what_has_changed(void **state)
{
	struct world *w = *state;
	struct fabric *g = net_fabric(&(struct update_net_opts){ .no_cable = true });
	struct tables *t = net_tables(g, 0, true);
	struct err err = { "" };
	struct plan *p, *q;

	assert_int_equal(plan_load(&p, w->path, NULL), 0);
	assert_int_equal(plan_rebase(&q, p, g, t, &err), -ESTALE);
	assert_non_null(strstr(err.text, "leaf0/13-spine0/1"));
	assert_int_equal(plan_rebase(&q, p, w->f, w->to, &err), -ESTALE);
	assert_non_null(strstr(err.text, "installed tables changed"));
	assert_int_equal(plan_rebase(&q, p, w->f, w->from, &err), 0);
	assert_true(digest_equal(&q->hash, &p->hash));
	assert_true(q->fabric == w->f);
	assert_int_equal(q->op_vls, 4); /* which the file does not know */
	plan_free(q);
	plan_free(p);
	tables_put(t);
	fabric_put(g);
}

static void damaged_file_is_refused(void **state)
{
	struct world *w = *state;
	struct err err = { "" };
	struct plan *p;
	char *data;
	size_t len;

	assert_int_equal(store_read(&data, &len, w->path, NULL), 0);
	for (size_t i = 0; i < len; i += i < 400 ? 1 : 101) {
		char *bad = xasprintf("%s/bad.plan", w->dir);

		remove(bad);
		assert_int_equal(store_write(bad, data, i, NULL), 0);
		assert_int_not_equal(plan_load(&p, bad, &err), 0);
		remove(bad);
		data[i] ^= 4;
		assert_int_equal(store_write(bad, data, len, NULL), 0);
		data[i] ^= 4;
		if (!plan_load(&p, bad, &err)) { /* a byte that only people read */
			assert_true(digest_equal(&p->hash, &w->p->hash));
			plan_free(p);
		}
		free(bad);
	}
	free(data);
	assert_int_equal(plan_load(&p, "/no/such.plan", &err), -ENOENT);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(saved_plan_comes_back_the_same), T(the_order_of_writes_is_kept_and_protected),
		T(same_plan_gives_the_same_bytes), T(loaded_plan_says_what_has_changed),
		T(damaged_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
