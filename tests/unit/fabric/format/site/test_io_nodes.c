/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/io_nodes.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char said[400];

static void take(void *ctx, uint64_t guid, const char *hosts)
{
	size_t n = strlen(said);

	(void)ctx;
	if (hosts)
		snprintf(said + n, sizeof(said) - n, "%s;", hosts);
	else
		snprintf(said + n, sizeof(said) - n, "%" PRIx64 ";", guid);
}

static int list(const char *text, struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = io_nodes_read(in, "io.txt", take, NULL, err);

	fclose(in);
	return rc;
}

static void a_list_has_guids_and_hosts(void **state)
{
	struct err err = { "" };

	(void)state;
	said[0] = '\0';
	assert_int_equal(list("# as OpenSM's\n0x0002c9030000aa01\n0x2c9030000aa02 oss1 HCA-1\r\n\n"
			      "io[01-04],mds1   # ours\n",
			      &err),
			 0);
	assert_string_equal(said, "2c9030000aa01;2c9030000aa02;io[01-04],mds1;");
}

static void a_mistake_is_told_with_its_line(void **state)
{
	struct err err = { "" };

	(void)state;
	assert_int_equal(list("io1\nio[1-\n", &err), -EINVAL);
	assert_non_null(strstr(err.text, "io.txt:2: "));
}

static void opensm_conf_names_its_file(void **state)
{
	static const struct {
		const char *text, *file;
	} cases[] = {
		{ "# io_guid_file /no\nio_guid_file /etc/opensm/io.guids\n",
		  "/etc/opensm/io.guids" },
		{ "root_guid_file /r\nio_guid_file (null)\n", NULL },
		{ "io_guid_file_of_others /x\nmax_reverse_hops 2\n", NULL },
		{ "io_guid_file /a\n  io_guid_file\t/b  \n", "/b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		FILE *in = text_file(cases[i].text, strlen(cases[i].text));
		struct err err = { "" };
		char *file;
		int rc = io_nodes_read_conf(&file, in, "opensm.conf", &err);

		assert_int_equal(rc, cases[i].file ? 0 : -ENODATA);
		if (cases[i].file)
			assert_string_equal(file, cases[i].file);
		else
			assert_non_null(strstr(err.text, "opensm.conf: "));
		free(file);
		fclose(in);
	}
}

static void nodes_of_slurm_have_features(void **state)
{
	static const char text[] =
		"n1 haswell,ib\nio1 storage,ib\nio2   lustre,storage\nn2 (null)\n"
		"n3\nn4 storage2\n";
	FILE *in = text_file(text, strlen(text));
	struct err err = { "" };

	(void)state;
	said[0] = '\0';
	assert_int_equal(io_nodes_read_features(in, "sinfo", "storage", take, NULL, &err), 0);
	assert_string_equal(said, "io1;io2;");
	fclose(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_has_guids_and_hosts),
		cmocka_unit_test(a_mistake_is_told_with_its_line),
		cmocka_unit_test(opensm_conf_names_its_file),
		cmocka_unit_test(nodes_of_slurm_have_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
