/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/shuffled.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct shuffle {
	const struct fabric *f;
	struct builder *b;
	struct rng r;
	uint32_t *guid; /* by switch, then by end */
	uint32_t *port; /* by fabric port: another port of that switch */
};

static void mix(struct shuffle *s)
{
	const struct fabric *f = s->f;

	for (uint32_t i = 0; i < f->nsw; i++)
		s->guid[i] = i;
	for (uint32_t i = 0; i < f->nend; i++)
		s->guid[f->nsw + i] = i;
	rng_shuffle_u32(&s->r, s->guid, f->nsw);
	rng_shuffle_u32(&s->r, s->guid + f->nsw, f->nend);
	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t p = 1; p <= f->sw_nports[u]; p++)
			s->port[f->port_off[u] + p] = p;
		rng_shuffle_u32(&s->r, s->port + f->port_off[u] + 1, f->sw_nports[u]);
	}
}

static void add_nodes(struct shuffle *s)
{
	const struct fabric *f = s->f;
	uint32_t id;
	char name[32];

	for (uint32_t u = 0; u < f->nsw; u++) {
		snprintf(name, sizeof(name), "X%04u", s->guid[u]);
		assert_int_equal(builder_node(&id, s->b, NODE_SWITCH, 0x20000 + 16 * s->guid[u],
					      f->sw_nports[u], name, NULL),
				 0);
		assert_int_equal(id, u);
	}
	for (uint32_t e = 0; e < f->nend; e++) {
		uint32_t num = s->guid[f->nsw + e];

		snprintf(name, sizeof(name), "h%05u", num);
		assert_int_equal(
			builder_node(&id, s->b, NODE_CA, 0x1000000 + 16 * num, 1, name, NULL), 0);
		builder_port_guid(s->b, id, 1, 0x1000001 + 16 * num, NULL);
		assert_int_equal(builder_link(s->b, f->term_sw[e],
					      s->port[f->port_off[f->term_sw[e]] + f->term_port[e]],
					      id, 1, NULL),
				 0);
	}
}

struct fabric *shuffled_topo(const char *spec, uint64_t seed)
{
	struct fabric *f = net_spec(spec), *out = NULL;
	struct freeze_opts opts = { .lmc = f->lmc };
	struct shuffle s = { .f = f };

	if (!seed)
		return f;
	s.b = builder_new();
	rng_seed(&s.r, seed);
	s.guid = xcalloc(f->nsw + f->nend, sizeof(*s.guid));
	s.port = xcalloc(f->nport, sizeof(*s.port));
	mix(&s);
	add_nodes(&s);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c], v = f->chan_dst[c];

		assert_int_equal(builder_link(s.b, u, s.port[f->port_off[u] + f->chan_port[c]], v,
					      s.port[f->port_off[v] + f->chan_rport[c]], NULL),
				 0);
	}
	assert_int_equal(builder_freeze(&out, s.b, &opts, NULL), 0);
	builder_free(s.b);
	free(s.guid);
	free(s.port);
	fabric_put(f);
	return out;
}
