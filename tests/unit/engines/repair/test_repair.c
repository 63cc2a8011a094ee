/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/repair.h"

#include "engines/repair/repair_state.h"
#include "engines/verify/verify.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/without.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct engine *must_find(const char *name)
{
	struct err err;
	const struct engine *e = engine_find(name, &err);

	if (!e)
		fail_msg("%s", err.text);
	return e;
}

static void must_verify(const struct fabric *f, const struct tables *t)
{
	struct verdict *v;
	char text[300];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(text, sizeof(text), v, f);
	if (!verdict_ok(v))
		fail_msg("%s", text);
	verdict_free(v);
}

/* What has no path any more by t, the LID's own switch among it where its entry is wrong. */
static bool stands(const struct fabric *f, const struct tables *t, uint32_t sw, uint32_t lid)
{
	uint8_t port = 0;
	uint32_t dst = fabric_lid_switch(f, lid, &port);

	if (sw == dst)
		return tables_row(t, sw)[lid] == port;
	for (uint32_t hops = 0; sw != dst; hops++) {
		uint32_t c = fabric_chan(f, sw, tables_row(t, sw)[lid]);

		if (c == FAB_NONE || hops > f->nsw)
			return false;
		sw = f->chan_dst[c];
	}
	return true;
}

static void must_keep_what_stands(const struct fabric *f, const struct tables *was,
				  const struct tables *t)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		for (uint32_t sw = 0; sw < f->nsw && f->lid_end[lid] != FAB_NONE; sw++)
			if (stands(f, was, sw, lid)) {
				assert_int_equal(tables_row(t, sw)[lid], tables_row(was, sw)[lid]);
				for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++)
					assert_int_equal(
						tables_path_sl(t, f->term_list[k], sw, lid),
						tables_path_sl(was, f->term_list[k], sw, lid));
			}
}

struct result {
	struct tables *t;
	uint64_t needed, changed, sls_again;
};

static uint64_t noted(const struct notes *notes, const char *key)
{
	const struct note *n = notes_find(notes, key);

	return n ? n->value : 0;
}

static struct result must_repair(const struct fabric *f, const struct tables *was, unsigned threads)
{
	struct notes notes = { 0 };
	struct engine_params p = { .seed = 1, .threads = threads, .current = was, .notes = &notes };
	struct tables_diff *diff;
	struct result out;

	out.t = must_route(&engine_repair, f, NULL, &p);
	out.needed = noted(&notes, "entries_needed");
	out.changed = noted(&notes, "entries_changed");
	out.sls_again = noted(&notes, "sls_assigned_again");
	diff = tables_diff_new(f, was, out.t);
	assert_int_equal(out.changed, diff->entries);
	assert_true(out.needed <= out.changed);
	tables_diff_free(diff);
	notes_done(&notes);
	must_verify(f, out.t);
	return out;
}

/* The same with that many cables less, and still connected. */
static struct fabric *fewer_cables(const struct fabric *f, uint32_t cables, uint64_t seed)
{
	bool *drop = xcalloc(f->nchan, sizeof(*drop));
	struct fabric *out = fabric_without(f, drop);
	struct rng r;

	rng_seed(&r, seed);
	while (cables) {
		uint32_t c = (uint32_t)rng_below(&r, f->nchan);
		struct fabric *less;

		if (drop[c])
			continue;
		drop[c] = drop[f->chan_rev[c]] = true;
		less = fabric_without(f, drop);
		if (fabric_connected(less)) {
			fabric_put(out);
			out = less;
			cables--;
			continue;
		}
		fabric_put(less);
		drop[c] = drop[f->chan_rev[c]] = false;
	}
	free(drop);
	return out;
}

static const char *const nets[] = {
	"fattree2:leaves=6,spines=4,hosts=5",
	"kary:k=4,n=3,hosts=3",
	"torus:dims=4x4,hosts=2",
	"torus:dims=3x3x3,hosts=1",
	"dragonfly:p=2",
	"hyperx:dims=4x3,hosts=2",
	"random:switches=16,links=40,hosts=3,seed=5",
};

#define NNETS (sizeof(nets) / sizeof(*nets))

static void keeps_what_stands_and_replaces_the_rest(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "dfsssp", "nue", "dfdn" };

	(void)state;
	for (size_t i = 0; i < NNETS; i++) {
		struct fabric *f = net_spec(nets[i]);

		for (size_t k = 0; k < sizeof(engines) / sizeof(*engines); k++) {
			struct engine_params p = { .seed = 1, .threads = 1 };
			struct tables *was = NULL;
			struct err err;

			if (engine_run(must_find(engines[k]), &was, f, NULL, NULL, &p, NULL, &err))
				continue;
			for (uint32_t n = 1; n <= 5; n += 2) {
				struct fabric *now = fewer_cables(f, n, 7 * n + i);
				struct result r = must_repair(now, was, 1);

				if (!r.sls_again)
					must_keep_what_stands(now, was, r.t);
				tables_put(r.t);
				fabric_put(now);
			}
			tables_put(was);
		}
		fabric_put(f);
	}
}

/* --- hosts and switches --------------------------------------------------------------------- */

#define NEW_HOST   0x700000ull
#define NEW_SWITCH 0x7fff000000000000ull

struct change {
	uint32_t sw_gone;  /* with its hosts; FAB_NONE */
	uint32_t end_gone; /* FAB_NONE */
	uint32_t moved;	   /* an end that goes to the last switch with ends; FAB_NONE */
	uint32_t host_on;  /* a new host on that switch; FAB_NONE */
	uint32_t beside;   /* a new switch with a host, cabled to that one and the next; FAB_NONE */
	uint32_t shift;	   /* of all LIDs */
};

static const struct change none = { FAB_NONE, FAB_NONE, FAB_NONE, FAB_NONE, FAB_NONE, 0 };

struct changing {
	struct builder *b;
	const struct fabric *f;
	const struct change *c;
	uint32_t *id, lid;
	uint8_t *port; /* by switch: the next one behind those that the fabric has */
	struct err err;
};

static void must(struct changing *x, int rc)
{
	if (rc)
		fail_msg("%s", x->err.text);
}

static void put_host(struct changing *x, uint64_t guid, uint32_t sw, uint32_t port, uint32_t lid)
{
	char name[24];
	uint32_t id;

	snprintf(name, sizeof(name), "h%lx", (unsigned long)guid);
	must(x, builder_node(&id, x->b, NODE_CA, guid + 8, 1, name, &x->err));
	must(x, builder_port_guid(x->b, id, 1, guid, &x->err));
	must(x, builder_port_lid(x->b, id, 1, lid, x->f->lmc, &x->err));
	must(x, builder_link(x->b, id, 1, x->id[sw], port, &x->err));
}

static uint32_t new_lid(struct changing *x)
{
	return x->lid = (x->lid + (1u << x->f->lmc)) & ~((1u << x->f->lmc) - 1);
}

static void put_switches(struct changing *x)
{
	const struct fabric *f = x->f;
	char name[24];

	for (uint32_t sw = 0; sw <= f->nsw; sw++) {
		bool is_new = sw == f->nsw;

		if (sw == x->c->sw_gone || (is_new && x->c->beside == FAB_NONE))
			continue;
		snprintf(name, sizeof(name), "sw%u", sw);
		must(x, builder_node(&x->id[sw], x->b, NODE_SWITCH,
				     is_new ? NEW_SWITCH : f->sw_guid[sw],
				     is_new ? 4 : f->sw_nports[sw] + 3u, name, &x->err));
		must(x, builder_port_lid(x->b, x->id[sw], 0,
					 is_new ? new_lid(x) : f->sw_lid[sw] + x->c->shift, 0,
					 &x->err));
		x->port[sw] = is_new ? 0 : f->sw_nports[sw];
	}
}

static void put_cables(struct changing *x)
{
	const struct fabric *f = x->f;
	uint32_t near = x->c->beside;

	for (uint32_t c = 0; c < f->nchan; c++)
		if (f->chan_rev[c] > c && f->chan_src[c] != x->c->sw_gone &&
		    f->chan_dst[c] != x->c->sw_gone)
			must(x, builder_link(x->b, x->id[f->chan_src[c]], f->chan_port[c],
					     x->id[f->chan_dst[c]], f->chan_rport[c], &x->err));
	for (int i = 0; near != FAB_NONE && i < 2; i++) {
		must(x, builder_link(x->b, x->id[f->nsw], ++x->port[f->nsw], x->id[near],
				     ++x->port[near], &x->err));
		near = (near + 1) % f->nsw;
	}
	if (x->c->beside != FAB_NONE)
		put_host(x, NEW_HOST + 64, f->nsw, ++x->port[f->nsw], new_lid(x));
}

/* The same fabric after that, with the LIDs that there were. */
static struct fabric *changed(const struct fabric *f, const struct change *c)
{
	struct changing x = { .b = builder_new(), .f = f, .c = c, .lid = f->max_lid + c->shift };
	struct freeze_opts opts = { .lmc = f->lmc };
	struct fabric *out;

	x.id = xcalloc(f->nsw + 1u, sizeof(*x.id));
	x.port = xcalloc(f->nsw + 1u, sizeof(*x.port));
	put_switches(&x);
	put_cables(&x);
	for (uint32_t e = 0; e < f->nend; e++) {
		uint32_t to = f->term_sw[f->nend - 1];

		if (e == c->end_gone || f->term_sw[e] == c->sw_gone)
			continue;
		if (e == c->moved)
			put_host(&x, f->term_guid[e], to, ++x.port[to], f->term_lid[e]);
		else
			put_host(&x, f->term_guid[e], f->term_sw[e], f->term_port[e],
				 f->term_lid[e] + c->shift);
	}
	if (c->host_on != FAB_NONE)
		put_host(&x, NEW_HOST, c->host_on, ++x.port[c->host_on], new_lid(&x));
	must(&x, builder_freeze(&out, x.b, &opts, &x.err));
	assert_true(out->lids_given);
	assert_true(fabric_connected(out));
	builder_free(x.b);
	free(x.id);
	free(x.port);
	return out;
}

static struct tables *must_carry(const struct fabric *now, const struct fabric *f,
				 const struct tables *t, const char *says)
{
	struct endports *was = endports_of(f);
	struct carry_report report;
	struct tables *out;
	struct err err;
	char text[200];

	if (tables_carry(&out, now, t, was, &report, &err))
		fail_msg("%s", err.text);
	carry_report_text(text, sizeof(text), &report);
	assert_string_equal(text, says);
	endports_put(was);
	return out;
}

static void repairs_after(const struct fabric *f, const struct tables *t, const struct change *c,
			  const char *says)
{
	struct fabric *now = changed(f, c);
	struct tables *was = must_carry(now, f, t, says);
	struct result r = must_repair(now, was, 1), other = must_repair(now, was, 3);

	assert_same_tables(r.t, other.t);
	if (!r.sls_again)
		must_keep_what_stands(now, was, r.t);
	tables_put(other.t);
	tables_put(r.t);
	tables_put(was);
	fabric_put(now);
}

static void every_change(const struct fabric *f, const struct tables *t)
{
	uint32_t last = f->term_sw[f->nend - 1];
	struct change c = none;
	char says[64];

	c.end_gone = 1;
	repairs_after(f, t, &c, "1 host port gone");
	c = none;
	c.moved = 0;
	repairs_after(f, t, &c, "1 host port moved");
	c.host_on = 0;
	repairs_after(f, t, &c, "1 host port new, 1 host port moved");
	c = none;
	c.host_on = last;
	c.shift = 7;
	snprintf(says, sizeof(says), "1 host port new, %u host ports with another LID", f->nend);
	repairs_after(f, t, &c, says);
	c = none;
	c.beside = 1;
	repairs_after(f, t, &c, "1 switch new, 1 host port new");
}

static void hosts_and_switches_come_go_and_move(void **state)
{
	static const struct {
		const char *net, *engine;
	} cases[] = {
		{ "fattree2:leaves=6,spines=4,hosts=4", "ftree" },
		{ "fattree2:leaves=6,spines=4,hosts=4", "nue" },
		{ "torus:dims=4x4,hosts=1", "dfsssp" },
		{ "torus:dims=3x3x3,hosts=1", "updn" },
		{ "torus:dims=3x3x3,hosts=1", "nue" },
		{ "dragonfly:p=2", "dfsssp" },
		{ "dragonfly:p=2", "minhop" },
		{ "dragonfly:p=2", "dfdn" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fabric *f = net_spec(cases[i].net);
		struct tables *t = must_route(must_find(cases[i].engine), f, NULL, NULL);

		every_change(f, t);
		tables_put(t);
		fabric_put(f);
	}
}

static void a_switch_fails(void **state)
{
	struct change c = none;

	(void)state;
	for (size_t i = 0; i < NNETS; i++) {
		struct fabric *f = net_spec(nets[i]);
		struct tables *t = must_route(must_find("nue"), f, NULL, NULL);
		char says[64];

		c.sw_gone = f->nsw - 1;
		if (f->sw_nterm[c.sw_gone])
			snprintf(says, sizeof(says), "1 switch gone, %u host port%s gone",
				 f->sw_nterm[c.sw_gone], f->sw_nterm[c.sw_gone] == 1 ? "" : "s");
		else
			snprintf(says, sizeof(says), "1 switch gone");
		repairs_after(f, t, &c, says);
		tables_put(t);
		fabric_put(f);
	}
}

/* One after another, each from what the one before has left. */
static void a_burst_of_failures(void **state)
{
	(void)state;
	for (size_t i = 0; i < NNETS; i++) {
		struct fabric *f = net_spec(nets[i]);
		struct tables *t = must_route(must_find("nue"), f, NULL, NULL);

		for (uint32_t k = 1; k <= 6; k++) {
			struct fabric *less = fewer_cables(f, k, i);
			struct result r = must_repair(less, t, 1);

			tables_put(t);
			t = r.t;
			fabric_put(less);
		}
		tables_put(t);
		fabric_put(f);
	}
}

/* Where the installed tables can deadlock themselves, SLs are found that cannot. */
static void tables_of_others_that_deadlock(void **state)
{
	struct fabric *f = net_spec("torus:dims=5x5,hosts=1");
	struct tables *was = kit_bfs(f);
	struct fabric *less = fewer_cables(f, 1, 3);
	struct result r = must_repair(less, was, 1);

	(void)state;
	assert_int_equal(r.sls_again, 1);
	assert_true(r.changed < 40);
	tables_put(r.t);
	tables_put(was);
	fabric_put(less);
	fabric_put(f);
}

static void nothing_changes_where_nothing_is_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < NNETS; i++) {
		struct fabric *f = net_spec(nets[i]);
		struct tables *t = must_route(must_find("dfsssp"), f, NULL, NULL);
		struct result r = must_repair(f, t, 1);

		assert_int_equal(r.changed, 0);
		assert_same_tables(r.t, t);
		tables_put(r.t);
		tables_put(t);
		fabric_put(f);
	}
}

static uint32_t naive_siblings(const struct fabric *f, const struct tables *t, const struct dest *d,
			       uint32_t chan)
{
	uint32_t u = f->chan_src[chan], n = 0;

	for (uint32_t lid = 1; lid <= f->max_lid && d->end < f->nterm && f->sw_nterm[u]; lid++)
		n += lid != d->lid && f->lid_end[lid] < f->nterm && (lid & 1) == (d->lid & 1u) &&
		     f->term_sw[f->lid_end[lid]] == d->sw &&
		     tables_row(t, u)[lid] == f->chan_port[chan];
	return n;
}

/* Of two LIDs of a host those with the same offset belong together. */
static void siblings_are_the_lids_of_a_switch_on_a_channel(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=2,hosts=3,lmc=1");
	struct tables *t = must_route(must_find("minhop"), f, NULL, NULL);
	struct engine_params p = { .threads = 1, .current = t };
	struct repair_state r;
	uint32_t most = 0;

	(void)state;
	repair_state_init(&r, f, &p);
	for (uint32_t i = 0; i < r.ndest; i++)
		for (uint32_t c = 0; c < f->nchan; c++) {
			uint32_t n = repair_state_siblings(&r, &r.dests[i], c);

			assert_int_equal(n, naive_siblings(f, t, &r.dests[i], c));
			most = n > most ? n : most;
		}
	assert_true(most > 0);
	repair_state_done(&r);
	tables_put(t);
	fabric_put(f);
}

/* Paths stay, and get SLs on the VLs that there are. */
static void installed_paths_on_too_many_vls_get_other_sls(void **state)
{
	struct engine_params wide = { .seed = 1, .threads = 1, .vls = 8 };
	struct fabric *f = net_spec("dragonfly:p=2");
	struct tables *t = must_route(must_find("nue"), f, NULL, &wide);
	struct fabric *less = fewer_cables(f, 1, 1);
	struct notes notes = { 0 };
	struct engine_params p = { .threads = 1, .vls = 4, .current = t, .notes = &notes };
	struct tables *again;

	(void)state;
	assert_true(t->vls > 4);
	again = must_route(&engine_repair, less, NULL, &p);
	must_verify(less, again);
	assert_true(again->vls <= 4);
	assert_int_equal(noted(&notes, "sls_assigned_again"), 1);
	assert_int_equal(noted(&notes, "entries_changed"), noted(&notes, "entries_needed"));
	assert_int_equal(repair_vls(f, t, 4), t->vls);
	assert_int_equal(repair_vls(f, t, 0), 0);
	assert_int_equal(repair_vls(f, again, 6), 6);
	notes_done(&notes);
	tables_put(again);
	tables_put(t);
	fabric_put(less);
	fabric_put(f);
}

/* One cable of a 1,024-host tree: the entries that led over it, and no other. */
static void a_cable_of_a_large_tree_moves_a_few_hundred_entries(void **state)
{
	struct fabric *f = net_spec("xgft:h=3,m=16x8x8,w=1x8x8");
	struct tables *t = must_route(must_find("dfsssp"), f, NULL, NULL);
	struct fabric *less = fewer_cables(f, 1, 1);
	struct result r = must_repair(less, t, 1);

	(void)state;
	assert_int_equal(f->nterm, 1024);
	assert_true(r.changed > 0 && r.changed < 500);
	assert_int_equal(r.changed, r.needed);
	assert_int_equal(r.t->vls, t->vls);
	tables_put(r.t);
	tables_put(t);
	fabric_put(less);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_stands_and_replaces_the_rest),
		cmocka_unit_test(hosts_and_switches_come_go_and_move),
		cmocka_unit_test(a_switch_fails),
		cmocka_unit_test(a_burst_of_failures),
		cmocka_unit_test(tables_of_others_that_deadlock),
		cmocka_unit_test(nothing_changes_where_nothing_is_broken),
		cmocka_unit_test(siblings_are_the_lids_of_a_switch_on_a_channel),
		cmocka_unit_test(installed_paths_on_too_many_vls_get_other_sls),
		cmocka_unit_test(a_cable_of_a_large_tree_moves_a_few_hundred_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
