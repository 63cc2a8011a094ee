/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/topology/builder.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define NEW_GUID 0x900000ull

/* What becomes of a fabric's hosts. */
struct moves {
	uint32_t away_every;	/* one in that many hosts is away; 0: none */
	uint32_t new_every;	/* one in that many switches with hosts gets a host more; 0: none */
	uint32_t shift;		/* all LIDs are that much higher */
	uint32_t without_cable; /* this channel and its reverse are missing; FAB_NONE */
	uint32_t host_on;	/* a new host on this switch; FAB_NONE */
};

static const struct moves nothing_moves = { .without_cable = FAB_NONE, .host_on = FAB_NONE };

struct rebuilding {
	struct builder *b;
	const struct fabric *f;
	const struct moves *m;
	uint32_t *sw, lid, added;
	struct err err;
};

static void must(struct rebuilding *r, int rc)
{
	if (rc)
		fail_msg("%s", r->err.text);
}

static void add_host(struct rebuilding *r, uint64_t guid, uint32_t sw, uint32_t port, uint32_t lid)
{
	char name[24];
	uint32_t id;

	snprintf(name, sizeof(name), "h%lx", (unsigned long)guid);
	must(r, builder_node(&id, r->b, NODE_CA, guid + 8, 1, name, &r->err));
	must(r, builder_port_guid(r->b, id, 1, guid, &r->err));
	must(r, builder_port_lid(r->b, id, 1, lid, r->f->lmc, &r->err));
	must(r, builder_link(r->b, id, 1, r->sw[sw], port, &r->err));
}

static void add_new_host(struct rebuilding *r, uint32_t sw)
{
	const struct fabric *f = r->f;
	uint32_t port = 1;

	while (fabric_port(f, sw, (uint8_t)port)->chan != FAB_NONE ||
	       fabric_port(f, sw, (uint8_t)port)->term != FAB_NONE)
		port++;
	r->lid = (r->lid + (1u << f->lmc)) & ~((1u << f->lmc) - 1);
	add_host(r, NEW_GUID + 16 * r->added++, sw, port, r->lid);
}

static void add_switches(struct rebuilding *r)
{
	const struct fabric *f = r->f;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		must(r, builder_node(&r->sw[sw], r->b, NODE_SWITCH, f->sw_guid[sw],
				     f->sw_nports[sw], f->sw_name[sw], &r->err));
		must(r,
		     builder_port_lid(r->b, r->sw[sw], 0, f->sw_lid[sw] + r->m->shift, 0, &r->err));
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		if (f->chan_rev[c] > c && c != r->m->without_cable)
			must(r, builder_link(r->b, r->sw[f->chan_src[c]], f->chan_port[c],
					     r->sw[f->chan_dst[c]], f->chan_rport[c], &r->err));
}

static struct fabric *rebuilt(const struct fabric *f, const struct moves *m)
{
	struct rebuilding r = { builder_new(),	       f, m,	 xcalloc(f->nsw, 4),
				f->max_lid + m->shift, 0, { "" } };
	struct freeze_opts opts = { .lmc = f->lmc };
	struct fabric *g;

	add_switches(&r);
	for (uint32_t e = 0; e < f->nend; e++)
		if (!m->away_every || e % m->away_every)
			add_host(&r, f->term_guid[e], f->term_sw[e], f->term_port[e],
				 f->term_lid[e] + m->shift);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if ((m->new_every && f->sw_nterm[sw] && sw % m->new_every == 0) || sw == m->host_on)
			add_new_host(&r, sw);
	must(&r, builder_freeze(&g, r.b, &opts, &r.err));
	assert_true(g->lids_given);
	builder_free(r.b);
	free(r.sw);
	return g;
}

static struct tables *must_graft(const struct fabric *g, const struct fabric *f,
				 const struct tables *t, struct graft_report *report)
{
	struct endports *was = endports_of(f);
	struct err err = { "" };
	struct tables *out;

	if (tables_graft(&out, g, t, was, report, &err))
		fail_msg("%s", err.text);
	endports_put(was);
	return out;
}

static void assert_sound(const struct fabric *f, const struct tables *t)
{
	struct verdict *v;
	struct err err;
	char text[300];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, &err), 0);
	verdict_sentence(text, sizeof(text), v, f);
	if (!verdict_ok(v))
		fail_msg("%s: %s", t->engine, text);
	verdict_free(v);
}

/* Of hosts of both fabrics: the same entries on every switch, and the same SLs between them. */
static void assert_others_stay(const struct fabric *f, const struct tables *t,
			       const struct fabric *g, const struct tables *u)
{
	for (uint32_t e = 0; e < g->nend; e++) {
		uint32_t was = fabric_term_by_guid(f, g->term_guid[e]);

		for (uint32_t k = 0; was != FAB_NONE && k < 1u << g->lmc; k++) {
			uint32_t old = f->term_lid[was] + k, lid = g->term_lid[e] + k;

			for (uint32_t sw = 0; sw < g->nsw; sw++)
				assert_int_equal(tables_row(t, sw)[old], tables_row(u, sw)[lid]);
			for (uint32_t s = 0; s < g->nend; s++) {
				uint32_t from = fabric_term_by_guid(f, g->term_guid[s]);

				if (from != FAB_NONE)
					assert_int_equal(
						tables_path_sl(t, from, f->term_sw[from], old),
						tables_path_sl(u, s, g->term_sw[s], lid));
			}
		}
	}
}

#define NETS 3

/* Switches of 128 ports, so that there is room for more hosts. */
static struct fabric *net(uint32_t n, const struct net_opts *o)
{
	switch (n) {
	case 0:
		return net_tree(6, 3, 4, o);
	case 1:
		return net_torus(4, 4, 2, o);
	default:
		return net_random(7, 12, 18, 3, o);
	}
}

static const char *const engines[] = { "updn", "dfsssp", "sar", "nue", "dfdn" };

static void on_every_net(const struct moves *m, const struct graft_report *want)
{
	for (uint32_t n = 0; n < 2 * NETS; n++) {
		struct net_opts o = { .lmc = n < NETS ? 0 : 1 };
		struct fabric *f = net(n % NETS, &o), *g = rebuilt(f, m);

		for (size_t k = 0; k < sizeof(engines) / sizeof(*engines); k++) {
			struct engine_params p = { .vls = 8, .threads = 1, .escape = f->lmc };
			struct tables *t = must_route(engine_find(engines[k], NULL), f, NULL, &p);
			struct graft_report r;
			struct tables *u = must_graft(g, f, t, &r);

			assert_sound(g, u);
			assert_others_stay(f, t, g, u);
			if (want)
				assert_memory_equal(&r, want, sizeof(r));
			tables_put(t);
			tables_put(u);
		}
		fabric_put(f);
		fabric_put(g);
	}
}

static void hosts_that_are_away_change_no_other_entry_and_no_sl(void **state)
{
	struct moves m = nothing_moves;

	(void)state;
	m.away_every = 3;
	on_every_net(&m, NULL);
}

static void hosts_that_come_are_routed_soundly_and_no_other_path_moves(void **state)
{
	struct moves m = nothing_moves;

	(void)state;
	m.new_every = 2;
	m.away_every = 5;
	on_every_net(&m, NULL);
}

static void lids_that_have_moved_take_their_entries_along(void **state)
{
	struct moves m = nothing_moves;

	(void)state;
	m.shift = 64;
	on_every_net(&m, NULL);
}

static void the_same_fabric_gives_the_same_tables(void **state)
{
	static const struct graft_report none;

	(void)state;
	on_every_net(&nothing_moves, &none);
}

static void other_cables_are_refused_and_so_is_a_host_without_a_model(void **state)
{
	struct fabric *f = net_tree(4, 2, 3, NULL), *g, *h;
	struct tables *t = must_route(engine_find("updn", NULL), f, NULL, NULL), *out = NULL;
	struct endports *was = endports_of(f);
	struct moves cut = nothing_moves, bare = nothing_moves;
	struct err err;

	(void)state;
	cut.without_cable = 0;
	g = rebuilt(f, &cut);
	assert_int_equal(tables_graft(&out, g, t, was, NULL, &err), -ESTALE);
	assert_non_null(strstr(err.text, "cables"));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (!f->sw_nterm[sw])
			bare.host_on = sw;
	h = rebuilt(f, &bare);
	assert_int_equal(tables_graft(&out, h, t, was, NULL, &err), -ESTALE);
	assert_non_null(strstr(err.text, "had no host"));
	assert_null(out);
	endports_put(was);
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
	fabric_put(h);
}

/* With the digest of the fabric's switches, which anybody can copy. */
static void made_up_end_ports_are_refused(void **state)
{
	struct fabric *f = net(0, NULL), *g;
	struct tables *t = must_route(engine_find("dfsssp", NULL), f, NULL, NULL), *out;
	struct endports *was = endports_of(f), *more = endports_new(f->nsw + 50, f->nend);
	char path[] = "/tmp/test_graft.XXXXXX";
	struct moves m = nothing_moves;
	struct err err;

	(void)state;
	m.away_every = 4;
	g = rebuilt(f, &m);
	was->port[1] = FAB_MAX_PORT;
	assert_int_equal(tables_graft(&out, g, t, was, NULL, &err), -EINVAL);
	assert_null(out);
	more->max_lid = f->max_lid;
	more->fingerprint = f->fingerprint;
	more->switch_graph = f->switch_graph;
	for (uint32_t sw = 0; sw < more->nsw; sw++)
		more->sw_lid[sw] = 1;
	for (uint32_t e = 0; e < more->nend; e++) {
		more->sw[e] = more->nsw - 1;
		more->port[e] = 1;
		more->lid[e] = 1;
	}
	assert_int_equal(tables_graft(&out, g, t, more, NULL, &err), -EINVAL);
	close(mkstemp(path));
	assert_int_equal(tables_ibr_save_with(path, t, more, &err), 0);
	assert_true(tables_ibr_load(&out, path, g, NULL, &err) < 0);
	unlink(path);
	endports_put(was);
	endports_put(more);
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
}

static void a_file_keeps_tables_for_the_hosts_that_are_there_later(void **state)
{
	struct fabric *f = net(2, NULL), *g;
	struct tables *t = must_route(engine_find("nue", NULL), f, NULL, NULL), *u, *v;
	char path[] = "/tmp/test_graft.XXXXXX";
	struct moves m = nothing_moves;
	struct graft_report r;
	struct err err = { "" };

	(void)state;
	m.away_every = 4;
	m.new_every = 3;
	g = rebuilt(f, &m);
	close(mkstemp(path));
	assert_int_equal(tables_ibr_save(path, t, f, &err), 0);
	if (tables_ibr_load(&u, path, g, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.away, (f->nend + 3) / 4);
	assert_true(r.came > 0);
	v = must_graft(g, f, t, NULL);
	assert_same_tables(u, v);
	tables_put(u);
	assert_int_equal(tables_ibr_load(&u, path, f, &r, &err), 0);
	assert_int_equal(r.away + r.came + r.relabelled, 0);
	assert_same_tables(u, t);
	unlink(path);
	tables_put(t);
	tables_put(u);
	tables_put(v);
	fabric_put(f);
	fabric_put(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_fabric_gives_the_same_tables),
		cmocka_unit_test(hosts_that_are_away_change_no_other_entry_and_no_sl),
		cmocka_unit_test(hosts_that_come_are_routed_soundly_and_no_other_path_moves),
		cmocka_unit_test(lids_that_have_moved_take_their_entries_along),
		cmocka_unit_test(other_cables_are_refused_and_so_is_a_host_without_a_model),
		cmocka_unit_test(made_up_end_ports_are_refused),
		cmocka_unit_test(a_file_keeps_tables_for_the_hosts_that_are_there_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
