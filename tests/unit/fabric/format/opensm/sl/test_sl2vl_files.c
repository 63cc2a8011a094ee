/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/sl2vl_form.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef int (*read_fn)(struct tables *, FILE *, const char *, const struct fabric *,
		       struct read_report *, struct err *);

static const struct form {
	read_fn read;
	write_fn write;
} forms[] = { { osm_sl2vl_read, osm_sl2vl_write }, { ibdm_sl2vl_read, ibdm_sl2vl_write } };

#define FORMS (sizeof(forms) / sizeof(*forms))

static int read_text(struct tables *t, read_fn fn, const char *text, const struct fabric *f,
		     struct read_report *report, struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = fn(t, in, "sl2vl", f, report, err);

	fclose(in);
	return rc;
}

static void assert_same_vls(const struct fabric *f, const struct tables *a, const struct tables *b)
{
	struct digest x, y;

	tables_hash(&x, a, f);
	tables_hash(&y, b, f);
	assert_true(digest_equal(&x, &y));
}

static void every_form_comes_back_in_its_cheapest_form(void **state)
{
	static const enum sl2vl_kind kinds[] = { SL2VL_IDENTITY, SL2VL_BY_INPUT, SL2VL_FULL };
	struct fabric *f = net_random(5, 6, 9, 3, NULL);
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (size_t i = 0; i < FORMS * 3; i++) {
		const struct form *form = &forms[i / 3];
		struct tables *t = tables_new(f, "x"), *back = tables_new(f, "x");
		struct read_report report;
		struct err err = { "" };
		char *text, *again;

		if (kinds[i % 3] != SL2VL_IDENTITY)
			kit_random_sl2vl(t, f, kinds[i % 3], 8, &r);
		text = text_of(form->write, f, t);
		assert_int_equal(read_text(back, form->read, text, f, &report, &err), 0);
		assert_int_equal(report.warnings, 0);
		assert_int_equal(back->sl2vl_kind, kinds[i % 3]);
		assert_same_vls(f, t, back);
		again = text_of(form->write, f, back);
		assert_string_equal(text, again);
		free(text);
		free(again);
		tables_put(t);
		tables_put(back);
	}
	fabric_put(f);
}

static const char dump[] = "\xef\xbb\xbf# cat opensm-sl2vl.dump\r\n"
			   "Switch 0x0000000000002000, base LID 4, \"S0\"\r\n"
			   "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\r\n"
			   "#--------------------------------------------------------\r\n"
			   "1   2   : 7  6  5  4  3  2  1  0  0  0  0  0  0  0  0  15 \r\n"
			   "1   200 : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \r\n"
			   "1   3   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  16 \r\n"
			   "Switch 0x0000000000002010, base LID 5, \"S1\"\r\n"
			   "1   2   : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\r\n"
			   "Switch 0x0000000000002020, base LID 6, \"S2\"\r\n"
			   "1   2   : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\r\n"
			   "Switch 0x0000000000002030, base LID 7, \"S3\"\r\n"
			   "1   2   : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\r\n"
			   "Channel Adapter 0x0000000000100001, base LID 2, \"H0\"\r\n"
			   "0   0   : 1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1 \r\n";

static void rows_of_adapters_are_passed_over_and_wrong_ones_told(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, NULL);
	struct tables *t = tables_new(f, "x");
	struct read_report report;
	struct err err;

	(void)state;
	assert_int_equal(read_text(t, osm_sl2vl_read, dump, f, &report, &err), 0);
	assert_int_equal(report.records, 4);
	assert_int_equal(report.skipped, 2);
	assert_int_equal(t->sl2vl_kind, SL2VL_FULL);
	assert_int_equal(tables_vl(t, f, 0, 1, 2, 0), 7);
	assert_int_equal(tables_vl(t, f, 0, 1, 2, 15), VL_DROP);
	assert_int_equal(tables_vl(t, f, 0, 2, 1, 9), 9);
	tables_put(t);
	fabric_put(f);
}

static void a_file_cut_between_two_switches_is_refused(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, NULL);
	struct tables *t = tables_new(f, "x");
	struct err err;

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		const char *of_last = i == 0 ? "Switch 0x0000000000002030" : "0x0000000000002030 ";
		char *text = text_of(forms[i].write, f, t), *end = strstr(text, of_last);

		assert_non_null(end);
		*end = '\0';
		assert_int_equal(read_text(t, forms[i].read, text, f, NULL, &err), -ENODATA);
		assert_non_null(strstr(err.text, "rows of only 3 of the fabric's 4"));
		assert_int_equal(t->sl2vl_kind, SL2VL_IDENTITY);
		free(text);
	}
	tables_put(t);
	fabric_put(f);
}

static void other_files_are_refused_and_leave_the_identity(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, NULL);
	struct tables *t = tables_new(f, "x");
	struct err err;

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		assert_int_equal(read_text(t, forms[i].read, "hello\n", f, NULL, &err), -EINVAL);
		assert_non_null(strstr(err.text, "not a dump of SL2VL tables"));
	}
	assert_int_equal(read_text(t, ibdm_sl2vl_read,
				   "0xdead 0 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef\n", f, NULL,
				   &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "is of another one"));
	assert_int_equal(t->sl2vl_kind, SL2VL_IDENTITY);
	tables_put(t);
	fabric_put(f);
}

struct victim {
	const struct fabric *f;
	read_fn read;
};

static int try_read(FILE *in, void *ctx)
{
	const struct victim *v = ctx;
	struct tables *t = tables_new(v->f, "x");
	struct read_report report;
	struct err err = { "" };
	int rc = v->read(t, in, "damaged", v->f, &report, &err);

	assert_true(!rc || err.text[0]);
	for (uint32_t sw = 0; sw < v->f->nsw; sw++)
		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			assert_true(tables_vl(t, v->f, sw, 0, 1, sl) <= VL_DROP);
	tables_put(t);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	struct fabric *f = net_ring(3, 1, NULL);
	struct tables *t = tables_new(f, "x");
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	kit_random_sl2vl(t, f, SL2VL_FULL, 8, &r);
	for (size_t i = 0; i < FORMS; i++) {
		struct victim v = { f, forms[i].read };
		char *text = text_of(forms[i].write, f, t);
		struct survived s = damage(text, strlen(text), 21 + i, 1500, try_read, &v);

		assert_true(s.accepted > 500);
		assert_true(s.refused > 0);
		free(text);
	}
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_comes_back_in_its_cheapest_form),
		cmocka_unit_test(rows_of_adapters_are_passed_over_and_wrong_ones_told),
		cmocka_unit_test(a_file_cut_between_two_switches_is_refused),
		cmocka_unit_test(other_files_are_refused_and_leave_the_identity),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
