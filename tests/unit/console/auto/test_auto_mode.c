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

static void said(void *ctx, enum auto_act act, const char *why)
{
	(void)act;
	snprintf(ctx, 300, "%.299s", why);
}

/* A mode that has confirmed tables on a fabric, and is asked for the inputs of its next plan. */
struct confirmed {
	struct fabric *f;
	struct tables *kept, *now;
	struct auto_opts o;
	struct record *record;
	struct auto_mode m;
	struct auto_seen seen;
	char text[300];
};

static void confirmed_begin(struct confirmed *c)
{
	*c = (struct confirmed){ .f = net_tree(4, 2, 4, NULL) };
	c->kept = kit_bfs(c->f);
	c->now = kit_bfs(c->f);
	auto_opts_init(&c->o);
	c->m = (struct auto_mode){
		.opts = &c->o, .record = &c->record, .say = said, .ctx = c->text
	};
	auto_mode_start(&c->m, true);
	auto_mode_confirmed(&c->m, c->f, c->kept);
	auto_mode_ended(&c->m, AUTO_KEPT, "ours", NULL);
	c->seen = (struct auto_seen){
		.known = true, .f = c->f, .installed = c->now, .newest = "ours"
	};
}

static void confirmed_ask(struct confirmed *c)
{
	struct route_inputs in;
	struct err err = { "" };

	assert_int_equal(auto_mode_inputs(&in, &c->m, &c->seen, &err), 0);
	route_inputs_drop(&in);
}

static void confirmed_end(struct confirmed *c)
{
	auto_mode_end(&c->m);
	tables_put(c->kept);
	tables_put(c->now);
	fabric_put(c->f);
}

/* Leaf 1 sends to a host on leaf 0 over the other spine. */
static void overwrite(struct confirmed *c)
{
	uint8_t *row = tables_row(c->now, 1);

	row[c->f->term_lid[0]] = row[c->f->term_lid[0]] == 1 ? 2 : 1;
}

static void what_the_subnet_manager_overwrites_disarms(void **state)
{
	struct confirmed c;

	(void)state;
	confirmed_begin(&c);
	confirmed_ask(&c);
	assert_false(c.m.policy.disarmed);
	overwrite(&c);
	confirmed_ask(&c);
	assert_true(c.m.policy.disarmed);
	assert_non_null(strstr(c.text, "the subnet manager has overwritten 1 of "));
	assert_non_null(strstr(c.text, "writes nothing any more"));
	confirmed_end(&c);
}

/* OpenSM with our plugin routes by what was confirmed as long as the fabric is the same; on another
 * one it has to route, and the next plan is for that. */
static void with_the_plugin_another_fabric_may_have_other_tables(void **state)
{
	struct confirmed c;
	struct fabric *other = net_broken_tree(4, 2, 4);
	struct tables *t = kit_bfs(other);

	(void)state;
	confirmed_begin(&c);
	c.seen.plugin = true;
	c.seen.f = other;
	c.seen.installed = t;
	confirmed_ask(&c);
	assert_false(c.m.policy.disarmed);
	c.seen.f = c.f;
	c.seen.installed = c.now;
	overwrite(&c);
	confirmed_ask(&c);
	assert_true(c.m.policy.disarmed);
	assert_non_null(strstr(c.text, "somebody has overwritten 1 of "));
	tables_put(t);
	fabric_put(other);
	confirmed_end(&c);
}

static void what_an_operator_has_written_since_is_no_overwriting(void **state)
{
	struct confirmed c;

	(void)state;
	confirmed_begin(&c);
	overwrite(&c);
	c.seen.newest = "an operator's";
	confirmed_ask(&c);
	assert_false(c.m.policy.disarmed);
	assert_null(c.m.kept);
	confirmed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_demand_and_a_pattern_are_those_of_the_options),
		cmocka_unit_test(what_the_subnet_manager_overwrites_disarms),
		cmocka_unit_test(with_the_plugin_another_fabric_may_have_other_tables),
		cmocka_unit_test(what_an_operator_has_written_since_is_no_overwriting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
