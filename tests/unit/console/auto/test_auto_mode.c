/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plan of the automatic mode is computed from. */
#include "console/auto/auto_mode.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/traffic/demand.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_to(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Its file is read for each plan; one that is gone ends that plan, and is named. */
static void a_demand_and_a_pattern_are_those_of_the_options(void **state)
{
	char path[] = "/tmp/demand-XXXXXX";
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct tables *t = kit_bfs(f);
	struct auto_opts o;
	struct auto_mode m = { .opts = &o };
	struct auto_seen seen = { .known = true, .f = f, .installed = t };
	struct route_inputs in;
	struct err err = { "" };

	(void)state;
	close(mkstemp(path));
	auto_opts_init(&o);
	o.pattern = PREDICT_RING;
	assert_int_equal(auto_mode_inputs(&in, &m, &seen, &err), 0);
	assert_null(in.demand);
	route_inputs_drop(&in);
	o.demand = path;
	o.ranks = "";
	write_to(path, "n0001: n0002=1000\n");
	assert_int_equal(auto_mode_inputs(&in, &m, &seen, &err), 0);
	assert_int_equal(in.demand->npair, 1);
	assert_int_equal(in.opts.pattern, PREDICT_RING);
	route_inputs_drop(&in);
	write_to(path, "n0001: n0002=1000\nn0002: n0003=1\n");
	assert_int_equal(auto_mode_inputs(&in, &m, &seen, &err), 0);
	assert_int_equal(in.demand->npair, 2);
	route_inputs_drop(&in);
	unlink(path);
	assert_int_not_equal(auto_mode_inputs(&in, &m, &seen, &err), 0);
	assert_non_null(strstr(err.text, path));
	route_inputs_drop(&in);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_demand_and_a_pattern_are_those_of_the_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
