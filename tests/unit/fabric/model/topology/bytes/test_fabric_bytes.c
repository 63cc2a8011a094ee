/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/bytes/fabric_bytes.h"

#include "fabric/base/hash/rng.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

static struct fabric *made(const char *spec, const struct name_map *names)
{
	struct freeze_opts o = { .name = "hall one", .lmc = -1, .names = names };
	struct builder *b;
	struct fabric *f;
	uint32_t leaf = 0, twin;

	assert_int_equal(topo_build(&b, spec, NULL), 0);
	assert_int_equal(builder_node(&twin, b, NODE_CA, 0xabc0, 2, "twin HCA-1", NULL), 0);
	builder_set_system(b, twin, 0xabc00);
	assert_int_equal(builder_link(b, leaf, 60, twin, 1, NULL), 0);
	assert_int_equal(builder_link(b, leaf + 1, 60, twin, 2, NULL), 0);
	assert_int_equal(builder_port_state(b, leaf, 1, PORT_ARMED, 8, NULL), 0);
	assert_int_equal(builder_port_link(b, leaf, 1, "2xHDR", NULL), 0);
	assert_int_equal(builder_port_best(b, leaf, 1, "4xHDR", NULL), 0);
	assert_int_equal(builder_freeze(&f, b, &o, NULL), 0);
	builder_free(b);
	return f;
}

static void same_ports(const struct fabric *f, const struct fabric *g)
{
	assert_int_equal(f->nport, g->nport);
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port *p = &f->port[i], *q = &g->port[i];

		assert_int_equal(p->chan, q->chan);
		assert_int_equal(p->term, q->term);
		assert_int_equal(p->rate_Mbps, q->rate_Mbps);
		assert_int_equal(p->best_Mbps, q->best_Mbps);
		assert_int_equal(p->state, q->state);
		assert_int_equal(p->op_vls, q->op_vls);
		assert_int_equal(p->width, q->width);
		assert_string_equal(p->speed, q->speed);
	}
}

static void same_nodes(const struct fabric *f, const struct fabric *g)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		assert_string_equal(f->sw_name[sw], g->sw_name[sw]);
		assert_string_equal(f->sw_short[sw], g->sw_short[sw]);
		assert_string_equal(f->sw_desc[sw], g->sw_desc[sw]);
	}
	for (uint32_t t = 0; t < f->nend; t++) {
		assert_string_equal(f->term_name[t], g->term_name[t]);
		assert_string_equal(f->term_desc[t], g->term_desc[t]);
		assert_int_equal(f->term_kind[t], g->term_kind[t]);
		assert_int_equal(f->term_mapped[t], g->term_mapped[t]);
		assert_int_equal(f->term_node_guid[t], g->term_node_guid[t]);
		assert_int_equal(f->term_sys_guid[t], g->term_sys_guid[t]);
		assert_int_equal(f->term_ambiguous[t], g->term_ambiguous[t]);
	}
}

static void a_fabric_comes_as_it_was_sent(void **state)
{
	static const char *const specs[] = { "fattree2:leaves=4,spines=2,hosts=4", "dragonfly:p=2",
					     "torus:dims=3x3x3" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *plain = made(specs[i], NULL), *f, *g;
		struct name_map *names = name_map_new();
		bytes_out out = { 0 };
		struct bytes_in in;

		name_map_add(names, plain->sw_guid[1], "the second one");
		name_map_add(names, plain->term_node_guid[2], "login1");
		name_map_add_io(names, plain->term_name[3]);
		f = made(specs[i], names);
		fabric_bytes_put(&out, f);
		in = (struct bytes_in){ .at = out.v, .left = out.n };
		assert_int_equal(fabric_bytes_take(&g, &in, NULL), 0);
		assert_true(bytes_at_end(&in));
		assert_memory_equal(&f->fingerprint, &g->fingerprint, sizeof(f->fingerprint));
		assert_memory_equal(&f->switch_graph, &g->switch_graph, sizeof(f->switch_graph));
		assert_string_equal(f->name, g->name);
		same_ports(f, g);
		same_nodes(f, g);
		fabric_put(plain);
		fabric_put(f);
		fabric_put(g);
		name_map_free(names);
		vec_free(&out);
	}
}

static void other_bytes_are_refused_or_are_the_same_fabric(void **state)
{
	struct fabric *f = made("fattree2:leaves=4,spines=2,hosts=4", NULL), *g;
	bytes_out out = { 0 };
	uint32_t refused = 0;
	struct rng rng;

	(void)state;
	fabric_bytes_put(&out, f);
	rng_seed(&rng, 7);
	for (int i = 0; i < 3000; i++) {
		size_t at = rng_below(&rng, (uint32_t)out.n), len = out.n;
		uint8_t was = out.v[at];
		struct bytes_in in;
		struct err err;

		if (i % 3)
			out.v[at] ^= (uint8_t)(1 + rng_below(&rng, 255));
		else
			len = at;
		in = (struct bytes_in){ .at = out.v, .left = len };
		if (fabric_bytes_take(&g, &in, &err)) {
			assert_null(g);
			refused++;
		} else {
			assert_memory_equal(&f->fingerprint, &g->fingerprint,
					    sizeof(f->fingerprint));
			fabric_put(g);
		}
		out.v[at] = was;
	}
	assert_true(refused > 1000); /* all that were cut off, at least */
	fabric_put(f);
	vec_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fabric_comes_as_it_was_sent),
		cmocka_unit_test(other_bytes_are_refused_or_are_the_same_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
