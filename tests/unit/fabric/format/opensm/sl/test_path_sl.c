/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/model/topology/builder.h"
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

static int read_text(struct tables *t, const char *text, const struct fabric *f,
		     struct read_report *report, struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = path_sl_read(t, in, "path-sl.dump", f, report, err);

	fclose(in);
	return rc;
}

static void assert_same_paths(const struct fabric *f, const struct tables *a,
			      const struct tables *b)
{
	for (uint32_t s = 0; s < f->nend; s++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (f->lid_end[lid] != FAB_NONE && f->lid_end[lid] != s)
				assert_int_equal(tables_path_sl(a, s, f->term_sw[s], lid),
						 tables_path_sl(b, s, f->term_sw[s], lid));
}

static void every_form_comes_back_in_its_cheapest_form(void **state)
{
	static const enum sl_kind kinds[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
	struct fabric *f = net_tree(3, 2, 3, &(struct net_opts){ .lmc = 1 });
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (size_t i = 0; i < 4; i++) {
		struct tables *t = tables_new(f, "x"), *back = tables_new(f, "x");
		struct read_report report;
		struct err err = { "" };
		char *text, *again;

		if (kinds[i] == SL_CONST)
			t->sl_const = 5;
		else
			kit_random_sl(t, f, kinds[i], 8, &r);
		text = text_of(path_sl_write, f, t);
		assert_int_equal(read_text(back, text, f, &report, &err), 0);
		assert_int_equal(report.warnings, 0);
		assert_int_equal(report.records, f->nend * ((f->nend - 1) * 2 + f->nsw));
		assert_int_equal(back->sl_kind, kinds[i]);
		assert_same_paths(f, t, back);
		again = text_of(path_sl_write, f, back);
		assert_string_equal(text, again);
		free(text);
		free(again);
		tables_put(t);
		tables_put(back);
	}
	fabric_put(f);
}

/* Three adapters, the last with two ports on different switches. */
static struct fabric *dual_rail(void)
{
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = 0 };
	struct fabric *f = NULL;
	uint32_t sw[2], ca;
	struct err err;

	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(builder_node(&sw[i], b, NODE_SWITCH, 0x10 + i, 4, "s", &err), 0);
	assert_int_equal(builder_link(b, sw[0], 4, sw[1], 4, &err), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(builder_node(&ca, b, NODE_CA, 0x100 * (i + 1), 2, "h", &err), 0);
		for (uint32_t p = 1; p <= (i < 2 ? 1u : 2u); p++) {
			assert_int_equal(builder_port_guid(b, ca, p, 0x100 * (i + 1) + p, &err), 0);
			assert_int_equal(builder_link(b, ca, p, sw[p - 1], 1 + i, &err), 0);
		}
	}
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	builder_free(b);
	return f;
}

static void ports_of_one_node_may_use_different_sls(void **state)
{
	struct fabric *f = dual_rail();
	struct tables *t = tables_new(f, "x"), *back = tables_new(f, "x");
	struct err err = { "" };
	struct rng r;
	char *text;

	(void)state;
	rng_seed(&r, 8);
	kit_random_sl(t, f, SL_BY_TERM, 8, &r);
	text = text_of(path_sl_write, f, t);
	assert_non_null(strstr(text, "0x0000000000000300 "));
	assert_non_null(strstr(text, "0x0000000000000302 "));
	assert_int_equal(read_text(back, text, f, NULL, &err), 0);
	assert_same_paths(f, t, back);
	free(text);
	tables_put(t);
	tables_put(back);
	fabric_put(f);
}

static void lines_that_name_nobody_are_told(void **state)
{
	static const char text[] = "# source dlid sl\r\n"
				   "0x0000000000100000 2 3\r\n"
				   "0x0000000000100001 3 3\r\n"
				   "0x00000000deadbeef 2 3\r\n"
				   "0x0000000000100000 999 3\r\n"
				   "0x0000000000100000 2 16\r\n"
				   "0x0000000000100000 2\r\n";
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = tables_new(f, "x");
	struct read_report report;
	struct err err;

	(void)state;
	assert_int_equal(read_text(t, text, f, &report, &err), 0);
	assert_int_equal(report.records, 2);
	assert_int_equal(report.skipped, 4);
	assert_int_equal(t->sl_kind, SL_CONST);
	assert_int_equal(t->sl_const, 3);
	assert_int_equal(read_text(t, "nothing\n", f, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "path-sl.dump"));
	tables_put(t);
	fabric_put(f);
}

static int try_read(FILE *in, void *ctx)
{
	const struct fabric *f = ctx;
	struct tables *t = tables_new(f, "x");
	struct read_report report;
	struct err err = { "" };
	int rc = path_sl_read(t, in, "damaged", f, &report, &err);

	assert_true(!rc || err.text[0]);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		assert_true(tables_path_sl(t, 0, f->term_sw[0], lid) < FAB_SLS);
	tables_put(t);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, NULL);
	struct tables *t = tables_new(f, "x");
	struct survived s;
	struct rng r;
	char *text;

	(void)state;
	rng_seed(&r, 9);
	kit_random_sl(t, f, SL_BY_TERM, 8, &r);
	text = text_of(path_sl_write, f, t);
	s = damage(text, strlen(text), 31, 3000, try_read, f);
	assert_true(s.accepted > 1000);
	assert_true(s.refused > 0);
	free(text);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_comes_back_in_its_cheapest_form),
		cmocka_unit_test(ports_of_one_node_may_use_different_sls),
		cmocka_unit_test(lines_that_name_nobody_are_told),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
