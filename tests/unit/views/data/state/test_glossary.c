/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/glossary.h"

#include "console/io/glossary_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void headings_terms_and_lines_of_continuation_are_read(void **state)
{
	struct glossary g;

	(void)state;
	glossary_parse(&g,
		       "# Title\n\nNo entry.\n\n## Part\n\n- **term**: what `it` is,\n  and more.\n"
		       "- **last**: one line\n");
	assert_int_equal(g.n, 3);
	assert_null(g.entry[0].term);
	assert_string_equal(g.entry[0].text, "Part");
	assert_string_equal(g.entry[1].term, "term");
	assert_string_equal(g.entry[1].text, "what it is, and more.");
	assert_string_equal(g.entry[2].text, "one line");
	glossary_free(&g);
	assert_int_equal(g.n, 0);
}

static void table_of_words_that_are_not_used_is_no_definition(void **state)
{
	struct glossary g;

	(void)state;
	glossary_parse(&g, "- **a**: b\n## Words that are not used\n- **c**: d\n");
	assert_int_equal(g.n, 1);
	glossary_free(&g);
}

static void damaged_text_gives_what_can_be_read(void **state)
{
	struct glossary g;

	(void)state;
	glossary_parse(&g, "");
	assert_int_equal(g.n, 0);
	glossary_parse(&g, "- **open\n  lost\n## \n- **a**: b");
	assert_int_equal(g.n, 2);
	assert_string_equal(g.entry[1].term, "a");
	glossary_free(&g);
}

static void page_of_the_program_defines_what_screens_say(void **state)
{
	static const char *const terms[] = { "EFI",	 "job EFI", "bound",	"unused", "plan",
					     "wave",	 "confirm", "watchdog", "hot",	  "tier",
					     "slowdown", "REC",	    "RO, RW" };
	const struct glossary *g = glossary_page();

	(void)state;
	for (size_t t = 0; t < sizeof(terms) / sizeof(*terms); t++) {
		size_t i = 0;

		while (i < g->n && (!g->entry[i].term || strcmp(g->entry[i].term, terms[t])))
			i++;
		if (i == g->n)
			fail_msg("the glossary lacks %s", terms[t]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headings_terms_and_lines_of_continuation_are_read),
		cmocka_unit_test(table_of_words_that_are_not_used_is_no_definition),
		cmocka_unit_test(damaged_text_gives_what_can_be_read),
		cmocka_unit_test(page_of_the_program_defines_what_screens_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
