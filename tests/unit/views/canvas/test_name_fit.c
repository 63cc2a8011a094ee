/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/end_find.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"
#include "views/canvas/name_fit.h"
#include "views/canvas/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fabric *real_fabric(const char *file)
{
	struct freeze_opts opts = { .lmc = 0 };
	char *path = shared_file(file);
	struct ibnd_report report;
	struct builder *b;
	struct fabric *f = NULL;
	struct err err = { "" };
	FILE *in;

	if (!path)
		skip();
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(ibnd_read(&b, in, path, &report, &err), 0);
	fclose(in);
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	builder_free(b);
	free(path);
	return f;
}

static bool some_cut_tells(const struct fabric *f, const char *name, int width)
{
	char cut[END_NAME_LEN];

	for (int head = 1; head < width - 2; head++)
		if (end_shown_so(f, text_shorten_at(cut, sizeof(cut), name, width, head)) !=
		    FAB_NONE)
			return true;
	return false;
}

/* At that width: found as that end, or refused where no cut tells it from others.  Returns whether
 * it was found. */
static bool is_found(const struct fabric *f, uint32_t end, int width)
{
	char name[END_NAME_LEN], shown[END_NAME_LEN];
	struct err err = { "" };
	uint32_t is;
	uint16_t lid;
	int rc;

	end_name(name, sizeof(name), f, end);
	name_fit(shown, sizeof(shown), f, name, width);
	assert_true(text_width(shown) <= width);
	rc = end_find(&is, &lid, f, shown, &err);
	if (rc) {
		assert_int_equal(rc, -EINVAL);
		assert_non_null(strstr(err.text, "\" may be "));
		assert_false(some_cut_tells(f, name, width));
	} else if (is != end) {
		fail_msg("%s is shown as %s in %d columns, which is another's", name, shown, width);
	}
	return !rc;
}

/* In columns that labels have on a screen with 80: switches in the picture from 5 on, hosts in
 * lists of the preview from 10 on. */
static void names_of_real_fabrics_without_their_middle_are_found(void **state)
{
	static const char *const files[] = { "topograph-ndr-40sw-2025.ibnetdiscover",
					     "psmn-x5-2020.ibnetdiscover",
					     "kalcher-qdr-2014.ibnetdiscover" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fabric *f = real_fabric(files[i]);

		for (uint32_t end = f->nend; end < f->nend + f->nsw; end++)
			for (int width = 5; width <= 16; width++)
				assert_true(is_found(f, end, width) || width < 7);
		for (uint32_t end = 0; end < f->nend; end++)
			for (int width = 10; width <= 25; width += 5)
				assert_true(is_found(f, end, width) || width < 15);
		fabric_put(f);
	}
}

static void a_cut_moves_to_where_names_differ(void **state)
{
	static const char *const names[] = { "rack1-leaf-a-north-01", "rack1-leaf-b-north-01",
					     "rack2-leaf-a-north-01" };
	struct fabric *f = net_ring(3, 1, NULL);
	char *kept[3], buf[128];

	(void)state;
	for (int i = 0; i < 3; i++) {
		kept[i] = f->sw_short[i];
		f->sw_short[i] = (char *)names[i];
	}
	assert_string_equal(name_fit(buf, sizeof(buf), f, names[0], 21), names[0]);
	assert_string_equal(name_fit(buf, sizeof(buf), f, names[2], 10), "rack2..-01");
	assert_string_equal(name_fit(buf, sizeof(buf), f, names[1], 16), "rack..b-north-01");
	/* nowhere: the middle, which is refused with the names */
	assert_string_equal(name_fit(buf, sizeof(buf), f, names[1], 10), "rack..h-01");
	assert_string_equal(name_fit(buf, sizeof(buf), f,
				     "rack1-leaf-b-north-01/12 -> rack2-leaf-a-north-01/3", 36),
			    "r..b-north-01/12 -> rack2-..rth-01/3");
	assert_string_equal(name_fit(buf, sizeof(buf), f, "rack1-leaf-b-north-01/12 -> n1/1", 30),
			    "rack1-l..b-north-01/12 -> n1/1");
	for (int i = 0; i < 3; i++)
		f->sw_short[i] = kept[i];
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_real_fabrics_without_their_middle_are_found),
		cmocka_unit_test(a_cut_moves_to_where_names_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
