/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows in order by digits, against a sort that compares. */
#include "views/table/row_sort.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/console_kit.h"
#include "views/table/order.h"
#include "views/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct ranked {
	uint64_t rank;
	uint32_t row;
};

static int ranked_cmp(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row; /* the order of before */
}

static void digits_give_the_order_of_comparing(void **state)
{
	static const uint64_t masks[] = { UINT64_MAX,	      0xff00, 0,
					  0x8000000000000001, 0x3,    0x700000000000ff,
					  0xffe0000000000000 };
	struct ranked *want = xcalloc(2000, sizeof(*want));
	struct row_rank *tmp = xcalloc(6000, sizeof(*tmp));
	uint64_t *rank = xcalloc(2000, sizeof(*rank));
	uint32_t *row = xcalloc(2000, sizeof(*row));
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (size_t m = 0; m < 28; m++) {
		uint32_t n = (uint32_t)rng_below(&r, m < 14 ? 2000 : 3);

		for (uint32_t i = 0; i < n; i++) {
			rank[i] = rng_u64(&r) & masks[m % 7];
			row[i] = i * 3;
			want[i] = (struct ranked){ rank[i], i * 3 };
		}
		row_sort(row, rank, n, tmp);
		qsort(want, n, sizeof(*want), ranked_cmp);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(row[i], want[i].row);
	}
	free(row);
	free(rank);
	free(tmp);
	free(want);
}

static void ranks_of_numbers_are_in_their_order(void **state)
{
	static const double v[] = { -INFINITY, -1e300, -2, -1,	 -1e-300, 0,
				    1e-300,    0.5,    1,  97.5, 1e18,	  INFINITY };

	(void)state;
	for (size_t i = 1; i < sizeof(v) / sizeof(v[0]); i++)
		assert_true(row_rank_of(v[i - 1]) < row_rank_of(v[i]));
	assert_true(row_rank_of(-0.0) == row_rank_of(0.0));
}

/* Highest first, unknown last, equals by name: 2,000 rows as well as 300. */
static void check_order(const struct rows *rows, const struct row_order *o, const struct field *f,
			bool reverse)
{
	for (uint32_t i = 1; i < o->n; i++) {
		struct value a, b;

		field_get(&a, f, rows, o->row[i - 1]);
		field_get(&b, f, rows, o->row[i]);
		if (isnan(b.num))
			continue;
		assert_false(isnan(a.num));
		assert_true(reverse ? a.num <= b.num : a.num >= b.num);
		if (a.num < b.num || a.num > b.num)
			continue;
		/* channels of a switch follow each other, and names of switches here their numbers
		 */
		assert_true(o->row[i - 1] < o->row[i]);
	}
}

static void many_rows_are_ordered_as_few(void **state)
{
	static const char *const specs[] = { "dragonfly:p=4", "dragonfly:p=2" };
	static const char *const fields[] = { "util_pct", "efi", "errors_per_min" };
	static const uint32_t jobs[] = { 100, 50, 0 };
	struct console_kit k;

	(void)state;
	for (int i = 0; i < 2; i++) {
		console_open(&k, 80, 24);
		console_fabric(&k, specs[i], jobs);
		console_no_reply(&k, 7);
		console_no_reply(&k, 99);
		console_keys(&k, "3");
		for (int j = 0; j < 6; j++) {
			const struct rows rows = { ROWS_LINKS, &k.s,
						   &shell_context(k.shell)->summary };
			const struct field *f =
				field_find(ROWS_LINKS, fields[j / 2], strlen(fields[j / 2]));
			struct row_order o = { 0 };

			rows_select(&o, &rows, NULL, f, j % 2);
			assert_int_equal(o.n, k.fabric->nchan);
			check_order(&rows, &o, f, j % 2);
			row_order_done(&o);
		}
		console_close(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_give_the_order_of_comparing),
		cmocka_unit_test(ranks_of_numbers_are_in_their_order),
		cmocka_unit_test(many_rows_are_ordered_as_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
