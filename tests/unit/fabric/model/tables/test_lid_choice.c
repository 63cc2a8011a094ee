/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/lid_choice_file.h"
#include "fabric/format/site/lid_policy.h"

#include "engines/parx/parx_choice.h"
#include "fabric/format/opensm/guid2lid.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lid_choice *choice_of(const struct fabric *f)
{
	struct tables *t = must_route(engine_find("parx", NULL), f, NULL, NULL);
	struct lid_choice *c = NULL;
	struct err err = { "" };

	if (parx_choice_find(&c, f, t, NULL, &err))
		fail_msg("%s", err.text);
	tables_put(t);
	return c;
}

static char *written(const struct fabric *f, const struct lid_choice *c)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(lid_choice_write(out, f, c, NULL), 0);
	fclose(out);
	return text;
}

static int read_text(struct lid_choice **c, const char *text, const struct fabric *f,
		     struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = lid_choice_read(c, in, "choice", f, NULL, err);

	fclose(in);
	return rc;
}

static void what_is_written_is_read_back(void **state)
{
	static const char *const specs[] = {
		"hyperx:dims=12x8,hosts=7,lmc=2,fail=15,seed=1",
		"hyperx:dims=5x3,hosts=2,lmc=2,lids=random",
		"hyperx:dims=3x3x2,hosts=1,lmc=3,fail=2",
		"hyperx:dims=1,hosts=3,lmc=0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct lid_choice *c = choice_of(f), *back = NULL;
		char *text = written(f, c), *again;
		struct err err = { "" };

		if (read_text(&back, text, f, &err))
			fail_msg("%s: %s", specs[i], err.text);
		again = written(f, back);
		assert_string_equal(text, again);
		for (uint32_t s = 0; s < f->nsw; s++)
			for (uint32_t d = 0; d < f->nsw; d++) {
				struct lid_set a = lid_choice_get(c, s, d);
				struct lid_set b = lid_choice_get(back, s, d);

				assert_int_equal(a.small, b.small);
				assert_int_equal(a.large, b.large);
			}
		lid_choice_free(c);
		lid_choice_free(back);
		free(text);
		free(again);
		fabric_put(f);
	}
}

/* Whoever edits a file by hand does not sort it. */
static void exceptions_may_be_in_any_order(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=4x4,hosts=1,lmc=2,fail=6,seed=2");
	struct lid_choice *c = choice_of(f), *back = NULL;
	char *text = written(f, c), *turned = written(f, c), *again;
	char *from = strstr(text, "\nexcept ") + 1, *to = turned + (from - text);
	uint32_t n = 0;

	(void)state;
	for (char *at = text + strlen(text); at > from; n++) { /* all of them are at the end */
		char *line = at - 1;

		while (line > from && line[-1] != '\n')
			line--;
		assert_memory_equal(line, "except ", 7);
		memcpy(to, line, (size_t)(at - line));
		to += at - line;
		at = line;
	}
	assert_true(n > 2 && n == c->nexcept);
	assert_int_equal(read_text(&back, turned, f, NULL), 0);
	again = written(f, back);
	assert_string_equal(text, again);
	for (uint32_t i = 0; i < n; i++) {
		struct lid_except *e = &c->except[i];
		struct lid_set lids = lid_choice_get(back, e->src, e->dst);

		assert_memory_equal(&lids, &e->lids, sizeof(lids));
	}
	lid_choice_free(c);
	lid_choice_free(back);
	free(text);
	free(turned);
	free(again);
	fabric_put(f);
}

static void lines_look_as_documented(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=4x2,hosts=1,lmc=2");
	struct lid_choice *c = choice_of(f);
	char *text = written(f, c);

	(void)state;
	assert_non_null(strstr(text, "\nlid-choice 1\ntopology hyperx 4x2\nlmc 2\n"
				     "pair 0 0 small 1,3 large 0,2\npair 0 1 small 1 large 0\n"));
	assert_non_null(strstr(text, "\nswitch 3 0x0002000000000030 3 3 sw4\n"));
	assert_non_null(strstr(text, "\nport 4 0 n0001\n"));
	assert_null(strstr(text, "except"));
	free(text);
	lid_choice_free(c);
	fabric_put(f);
}

static void mistakes_are_told_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *where, *what;
	} cases[] = {
		{ "", "choice: ", "no pair line" },
		{ "hello\n", "choice:1: ", "version 1" },
		{ "lid-choice 2\n", "choice:1: ", "version 1" },
		{ "lid-choice 1\nlmc 9\n", "choice:2: ", "0 to 7" },
		{ "lid-choice 1\nlmc 1\npair 0 9 small 0 large 1\n", "choice:3: ", "two numbers" },
		{ "lid-choice 1\nlmc 1\npair 0 0 small 2 large 1\n", "choice:3: ", "below 2^lmc" },
		{ "lid-choice 1\nlmc 1\npair 0 0 small 1\n", "choice:3: ", "small 0,1 large 2,3" },
		{ "lid-choice 1\nlmc 1\npair 0 0 small 0 large 1\nswitch 0 0x77 0 0 a\n",
		  "choice:4: ", "no switch of that GUID" },
		{ "lid-choice 1\nlmc 1\npair 0 0 small 0 large 1\nswitch 0 0x2000000000000 1 0 a\n",
		  "choice:4: ", "a class that has a pair line" },
		{ "lid-choice 1\nlmc 1\npair 0 0 small 0 large 1\nswitch 0 0x2000000000000 0 0 a\n"
		  "switch 0 0x2000000000010 0 0 a\n",
		  "choice:5: ", "appears twice" },
		{ "lid-choice 1\nlmc 1\npair 0 0 small 0 large 1\nswitch 0 0x2000000000000 0 0 a\n",
		  "choice: ", "switch sw2 has no line" },
		{ "lid-choice 1\nlmc 1\npair 0 1 small 0 large 1\n",
		  "choice: ", "classes 0 and 0 have no pair line" },
		{ "lid-choice 1\nlmc 1\npair 0 0 small 0 large 1\nexcept 0 1 small 0 large 1\n",
		  "choice:4: ", "two numbers" },
	};
	struct fabric *f = net_spec("hyperx:dims=2,hosts=1,lmc=1");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lid_choice *c = NULL;
		struct err err = { "" };

		assert_int_equal(read_text(&c, cases[i].text, f, &err), -EINVAL);
		if (strncmp(err.text, cases[i].where, strlen(cases[i].where)) ||
		    !strstr(err.text, cases[i].what))
			fail_msg("case %zu: %s", i, err.text);
		assert_null(c);
	}
	fabric_put(f);
}

static int try_read(FILE *in, void *ctx)
{
	struct lid_choice *c = NULL;
	struct err err = { "" };
	int rc = lid_choice_read(&c, in, "damaged", ctx, NULL, &err);

	assert_true(!rc || err.text[0]);
	lid_choice_free(c);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=3x2,hosts=1,lmc=2,fail=1");
	struct lid_choice *c = choice_of(f);
	char *text = written(f, c);
	struct survived s = damage(text, strlen(text), 3, 2000, try_read, f);

	(void)state;
	assert_non_null(strstr(text, "except"));
	assert_true(s.accepted > 50);
	assert_true(s.refused > 50);
	free(text);
	lid_choice_free(c);
	fabric_put(f);
}

/* The policy of a fabric, as the reader of guid2lid files sees it. */
static struct guid_lid *policy(struct lid_policy *p, uint32_t *n, const struct fabric *f)
{
	struct lid_choice *c = choice_of(f);
	struct guid_lid *list = NULL;
	struct read_report report;
	struct err err = { "" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *in;

	if (lid_policy_write(out, f, c, p, &err))
		fail_msg("%s", err.text);
	fclose(out);
	for (const char *at = text; *at; at += 2) {
		at = strchr(at, '\n');
		assert_int_equal(at[1], '\n'); /* an empty line behind every entry */
	}
	in = text_file(text, strlen(text));
	assert_int_equal(guid2lid_read(&list, n, in, "guid2lid", &report, &err), 0);
	assert_int_equal(report.warnings, 0);
	fclose(in);
	free(text);
	lid_choice_free(c);
	return list;
}

/* LIDs aligned, of one owner each, and their quadrant as the policy tells it. */
static void judge_policy(const char *spec, uint32_t block, uint32_t switches)
{
	struct fabric *f = net_spec(spec);
	struct lid_choice *c = choice_of(f);
	struct lid_policy p;
	uint32_t n, seen = 0;
	struct guid_lid *list = policy(&p, &n, f);
	bool used[FAB_MAX_LID + 1] = { false };

	assert_int_equal(p.block, block);
	assert_int_equal(p.switches, switches);
	assert_int_equal(n, f->nend + f->nsw);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t term = fabric_term_by_guid(f, list[i].port_guid), lid = list[i].min_lid;
		uint32_t sw = fabric_switch_by_guid(f, list[i].port_guid);

		for (uint32_t k = lid; k <= list[i].max_lid; k++) {
			assert_false(used[k]);
			used[k] = true;
		}
		if (term != FAB_NONE) {
			assert_int_equal(lid % (1u << f->lmc), 0);
			assert_int_equal(list[i].max_lid - lid + 1, 1u << f->lmc);
			assert_int_equal(lid / p.block, c->quadrant[c->class[f->term_sw[term]]]);
			assert_int_equal(list[i].max_lid / p.block, lid / p.block);
			seen++;
		} else {
			assert_int_equal(list[i].max_lid, lid);
			assert_int_equal((lid - p.switches) / p.sw_block,
					 c->quadrant[c->class[sw]]);
		}
	}
	assert_int_equal(seen, f->nterm);
	assert_false(used[0]);
	free(list);
	lid_choice_free(c);
	fabric_put(f);
}

static void lids_tell_the_quadrant(void **state)
{
	(void)state;
	judge_policy("hyperx:dims=12x8,hosts=7,lmc=2", 1000, 10000);
	judge_policy("hyperx:dims=12x8,hosts=7,lmc=2,lids=random", 1000, 10000);
	judge_policy("hyperx:dims=5x3,hosts=3,lmc=4", 1000, 10000);
	judge_policy("hyperx:dims=12x12,hosts=12,lmc=2", 2000, 20000);
	judge_policy("hyperx:dims=3x3x2x2,hosts=1,lmc=3", 1000, 16000);
	judge_policy("hyperx:dims=16x16,hosts=30,lmc=2", 8000, 32000);
}

static void a_policy_that_does_not_fit_is_refused(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=2x2x2x2,hosts=20,lmc=7");
	struct lid_choice *c = choice_of(f);
	struct err err = { "" };
	FILE *out = tmpfile();

	(void)state;
	assert_int_equal(lid_policy_write(out, f, c, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "16 quadrants of 3000 LIDs"));
	fclose(out);
	lid_choice_free(c);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(exceptions_may_be_in_any_order),
		cmocka_unit_test(lines_look_as_documented),
		cmocka_unit_test(mistakes_are_told_with_file_and_line),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(lids_tell_the_quadrant),
		cmocka_unit_test(a_policy_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
