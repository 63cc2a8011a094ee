/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/deadlock/deadlock_text.h"
#include "console/deadlock/deadlock_traffic.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT_ns 100000

/* Who hears of it, and may lose patience. */
struct listener {
	struct progress p;
	const char *step;
	uint64_t done, total; /* of that step, as told last */
	unsigned heard, steps, patience;
};

static void hear(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct listener *l = ctx;

	if (!l->step || strcmp(l->step, step)) {
		l->steps++;
		l->step = step;
		l->done = 0;
		l->total = total;
	}
	assert_true(done >= l->done && done <= total);
	assert_int_equal(total, l->total);
	l->done = done;
	if (++l->heard == l->patience)
		atomic_store(&l->p.cancel, true);
}

static void listen(struct listener *l, unsigned patience)
{
	*l = (struct listener){ .p = { .report = hear }, .patience = patience };
	l->p.ctx = l;
}

/* Clockwise around a ring, which deadlocks, or by shortest paths, which do not. */
static int run(struct deadlock_test *s, struct fabric **f, bool clockwise, struct progress *p,
	       struct err *err)
{
	struct tables *t;
	int rc;

	*f = clockwise ? net_ring(5, 2, NULL) : net_tree(4, 2, 2, NULL);
	t = clockwise ? kit_clockwise(*f) : kit_bfs(*f);
	deadlock_test_init(s, *f, t, NULL);
	deadlock_traffic_spread(s, t, 4);
	rc = deadlock_test_run(s, LIMIT_ns, p, err);
	tables_put(t);
	return rc;
}

static void done_with(struct deadlock_test *s, struct fabric *f)
{
	deadlock_test_free(s);
	fabric_put(f);
}

static char *text_of(const struct deadlock_test *s)
{
	char *text = NULL;
	size_t len;
	FILE *m = open_memstream(&text, &len);

	deadlock_text_print(m, s, NULL);
	fclose(m);
	return text;
}

static void it_tells_how_much_of_the_time_was_simulated(void **state)
{
	struct listener l;
	struct fabric *f;
	struct deadlock_test s;
	struct err err;

	(void)state;
	listen(&l, 0);
	assert_int_equal(run(&s, &f, false, &l.p, &err), 0);
	assert_int_equal(s.ncycle, 0);
	assert_true(s.n.delivered > 0);
	assert_int_equal(l.steps, 1);
	assert_string_equal(l.step, "simulating");
	assert_int_equal(l.done, LIMIT_ns);
	assert_int_equal(l.total, LIMIT_ns);
	assert_true(l.heard >= 10);
	done_with(&s, f);
}

static void after_a_deadlock_it_tells_how_the_others_come_to_stand(void **state)
{
	struct listener l;
	struct fabric *f;
	struct deadlock_test s;
	struct err err;

	(void)state;
	listen(&l, 0);
	assert_int_equal(run(&s, &f, true, &l.p, &err), 0);
	assert_true(s.ncycle > 0 && s.cycle);
	assert_int_equal(l.steps, 2);
	assert_string_equal(l.step, "settling");
	assert_true(l.total > 0 && l.done == l.total);
	done_with(&s, f);
}

static void whoever_listens_changes_nothing(void **state)
{
	(void)state;
	for (int clockwise = 0; clockwise < 2; clockwise++) {
		struct fabric *f, *g;
		struct deadlock_test s, u;
		struct listener l;
		struct err err;
		char *a, *b;

		listen(&l, 0);
		assert_int_equal(run(&s, &f, clockwise, &l.p, &err), 0);
		assert_int_equal(run(&u, &g, clockwise, NULL, &err), 0);
		a = text_of(&s);
		b = text_of(&u);
		assert_string_equal(a, b);
		free(a);
		free(b);
		done_with(&s, f);
		done_with(&u, g);
	}
}

/* Also after the deadlock was found. */
static void who_waits_for_it_can_end_it_at_any_word(void **state)
{
	struct listener whole, l;
	struct fabric *f;
	struct deadlock_test s;
	struct err err;
	bool settled = false;

	(void)state;
	listen(&whole, 0);
	assert_int_equal(run(&s, &f, true, &whole.p, &err), 0);
	done_with(&s, f);
	for (unsigned patience = 1; patience <= whole.heard; patience++) {
		listen(&l, patience);
		err.text[0] = '\0';
		assert_int_equal(run(&s, &f, true, &l.p, &err), -ECANCELED);
		assert_string_equal(err.text, "cancelled");
		assert_int_equal(l.heard, patience);
		settled |= !strcmp(l.step, "settling");
		done_with(&s, f);
	}
	assert_true(whole.heard > 1 && settled);
}

/* All that can be asked of packets after each part, whether it took one event or all. */
static void time_in_parts_passes_as_at_once(void **state)
{
	struct fabric *f = net_tree(4, 2, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *whole = packets_new(f, t, NULL), *parts = packets_new(f, t, NULL);

	(void)state;
	for (uint32_t i = 0; i < f->nterm; i++) {
		uint16_t dlid = f->term_lid[(i + 3) % f->nterm];

		packets_send(whole, packets_connect(whole, i, dlid, 0), PACKETS_ENDLESS);
		packets_send(parts, packets_connect(parts, i, dlid, 0), PACKETS_ENDLESS);
	}
	for (uint64_t ns = 5000; ns <= LIMIT_ns; ns += 5000) {
		struct packets_counts a, b;
		uint64_t events = 0;

		packets_run(whole, ns);
		while (!packets_run_part(parts, ns, 1)) {
			assert_true(packets_now_ns(parts) <= ns);
			events++;
		}
		packets_counts(&a, whole);
		packets_counts(&b, parts);
		assert_memory_equal(&a, &b, sizeof(a));
		assert_int_equal(packets_now_ns(parts), ns);
		assert_true(events > 0);
	}
	packets_free(whole);
	packets_free(parts);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_tells_how_much_of_the_time_was_simulated),
		cmocka_unit_test(after_a_deadlock_it_tells_how_the_others_come_to_stand),
		cmocka_unit_test(whoever_listens_changes_nothing),
		cmocka_unit_test(who_waits_for_it_can_end_it_at_any_word),
		cmocka_unit_test(time_in_parts_passes_as_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
