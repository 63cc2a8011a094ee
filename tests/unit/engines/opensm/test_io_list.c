/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which hosts are for I/O, as the plugin's policy or OpenSM's io_guid_file has them. */
#include "engines/opensm/io_list.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/temp_folder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static uint32_t storage(const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < f->nterm; t++)
		n += f->term_kind[t] == TERM_STORAGE;
	return n;
}

static char dir[] = "/tmp/io-list.XXXXXX";

/* By a policy of that text, "" none, and an io_guid_file; returns what io_list_mark() does. */
static int marked(struct fabric **f, const char *text, const char *guid_file, struct err *err)
{
	char *path = temp_folder_file("policy.conf");
	struct policy *p = NULL;
	int rc;

	*f = net_tree(4, 2, 4, NULL);
	temp_folder_put("policy.conf", text);
	if (*text && policy_load(&p, path, err))
		fail_msg("%s", err->text);
	rc = io_list_mark(*f, p, path, guid_file, err);
	policy_put(p);
	free(path);
	return rc;
}

static void the_policy_names_a_list_or_a_file_beside_it(void **state)
{
	struct fabric *f;
	struct err err = { "" };

	(void)state;
	assert_int_equal(marked(&f, "engine sar:paper\nio-nodes n000[1-2]\n", NULL, &err), 2);
	assert_int_equal(storage(f), 2);
	for (uint32_t t = 0; t < f->nterm; t++)
		assert_int_equal(f->term_kind[t] == TERM_STORAGE,
				 !strcmp(f->term_name[t], "n0001") ||
					 !strcmp(f->term_name[t], "n0002"));
	fabric_put(f);
	temp_folder_put("io.txt", "# servers\nn[0003-0005]\n");
	assert_int_equal(marked(&f, "engine sar:paper\nio-nodes io.txt\n", NULL, &err), 3);
	fabric_put(f);
	assert_true(marked(&f, "engine sar:paper\nio-nodes ./none.txt\n", NULL, &err) < 0);
	assert_non_null(strstr(err.text, "none.txt cannot be opened"));
	assert_int_equal(storage(f), 0);
	fabric_put(f);
}

/* The policy goes before it. */
static void without_that_it_is_opensms_file(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	char text[64], *path = temp_folder_file("guids");
	struct err err = { "" };

	(void)state;
	snprintf(text, sizeof(text), "0x%016" PRIx64 "\n", f->term_guid[7]);
	temp_folder_put("guids", text);
	fabric_put(f);
	assert_int_equal(marked(&f, "engine sar:paper\n", path, &err), 1);
	assert_int_equal(f->term_kind[7], TERM_STORAGE);
	fabric_put(f);
	assert_int_equal(marked(&f, "", path, &err), 1);
	fabric_put(f);
	assert_int_equal(marked(&f, "engine sar:paper\nio-nodes n000[1-2]\n", path, &err), 2);
	assert_int_equal(f->term_kind[7], TERM_COMPUTE);
	fabric_put(f);
	assert_int_equal(marked(&f, "engine sar:paper\n", NULL, &err), 0);
	fabric_put(f);
	free(path);
}

static int setup(void **state)
{
	(void)state;
	temp_folder_begin(dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_folder_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_policy_names_a_list_or_a_file_beside_it),
		cmocka_unit_test(without_that_it_is_opensms_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
