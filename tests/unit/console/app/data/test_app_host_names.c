/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events about names: who is called otherwise, and which names several hosts may have. */
#include "console/app/app_priv.h"

#include "fabric/base/message/log.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/host_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char said[2000];

static void keep(void *ctx, const struct log_line *line)
{
	size_t len = strlen(said);

	(void)ctx;
	snprintf(said + len, sizeof(said) - len, "%s\n", line->text);
}

/* Hosts h0, h1, ... on one switch. */
static struct fabric *hosts(uint32_t n)
{
	struct builder *b = builder_new();
	struct fabric *f = NULL;
	uint32_t sw, id;
	struct err err;

	assert_int_equal(builder_node(&sw, b, NODE_SWITCH, 0x99, 40, "sw", &err), 0);
	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "h%u", i);
		assert_int_equal(builder_node(&id, b, NODE_CA, 0x100 * (i + 1), 1, name, &err), 0);
		assert_int_equal(builder_link(b, sw, i + 1, id, 1, &err), 0);
	}
	assert_int_equal(builder_freeze(&f, b, NULL, &err), 0);
	builder_free(b);
	return f;
}

static void another_host_of_a_name_is_told_once(void **state)
{
	struct fabric *f = hosts(4), *g;
	char h0[] = "h0", *desc[] = { NULL, NULL, NULL, h0 };

	(void)state;
	said[0] = '\0';
	app_host_names_events(NULL, f);
	assert_string_equal(said, "");
	g = fabric_renamed(f, desc);
	assert_false(app_host_names_same(f, g));
	app_host_names_events(f, g);
	assert_string_equal(said, "port 0x0000000000000401 was h3 and is h0 now\n"
				  "several hosts may be called h0: ports 0x0000000000000101 at "
				  "sw/1 and 0x0000000000000401 at sw/4\n");
	said[0] = '\0';
	app_host_names_events(g, g);
	assert_string_equal(said, "");
	fabric_put(g);
	fabric_put(f);
}

static void many_changes_are_few_lines(void **state)
{
	struct fabric *f = hosts(12), *g;
	char same[] = "MT4129 ConnectX7", *desc[12];

	(void)state;
	said[0] = '\0';
	for (int i = 0; i < 12; i++)
		desc[i] = same;
	g = fabric_renamed(f, desc);
	app_host_names_events(f, g);
	assert_non_null(strstr(said, "... and 9 more ports have other names\n"));
	assert_non_null(strstr(said, "several hosts may be called MT4129: ports 0x"));
	assert_non_null(strstr(said, " and 10 more\n"));
	fabric_put(g);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_host_of_a_name_is_told_once),
		cmocka_unit_test(many_changes_are_few_lines),
	};

	log_set_sink(keep, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
