/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/limits/pin.h"

#include "engines/transition/transition.h"
#include "engines/verify/verify.h"
#include "engines/verify/verify_pinned.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"
#include "fabric/model/tables/route_limits.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tables *run(const char *engine, const struct fabric *f, const struct engine_params *p,
			  int *rc, struct err *err)
{
	const struct engine *e = engine_find(engine, err);
	struct tables *t = NULL;

	assert_non_null(e);
	*rc = engine_run(e, &t, f, NULL, NULL, p, NULL, err);
	return t;
}

static struct tables *installed(const char *engine, const struct fabric *f, bool escape)
{
	struct engine_params p = { .vls = 8, .seed = 7, .escape = escape };
	struct err err = { "" };
	int rc;
	struct tables *t = run(engine, f, &p, &rc, &err);

	if (rc)
		fail_msg("%s: %s", engine, err.text);
	return t;
}

/* Every third terminal. */
static bool *some(const struct fabric *f)
{
	bool *pin = xcalloc(f->nend, sizeof(*pin));

	for (uint32_t e = 0; e < f->nterm; e += 3)
		pin[e] = true;
	return pin;
}

/* Entries, SLs, and VLs hop by hop, looked up one by one. */
static void assert_path_stays(const struct fabric *f, const struct tables *a,
			      const struct tables *b, uint32_t end, uint32_t lid)
{
	uint32_t u = f->term_sw[end], c;
	uint8_t in = f->term_port[end], sl = tables_path_sl(a, end, u, lid);

	assert_int_equal(sl, tables_path_sl(b, end, u, lid));
	while ((c = fabric_chan(f, u, tables_row(a, u)[lid])) != FAB_NONE) {
		assert_int_equal(tables_vl(a, f, u, in, f->chan_port[c], sl),
				 tables_vl(b, f, u, in, f->chan_port[c], sl));
		in = f->chan_rport[c];
		u = f->chan_dst[c];
	}
}

static void assert_pinned(const struct fabric *f, const struct tables *a, const struct tables *b,
			  const bool *pin, bool escape)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint32_t to = fabric_lid_end(f, lid);

		if (to >= f->nend || !pin[to] || (escape && fabric_lid_escape(f, lid)))
			continue;
		for (uint32_t u = 0; u < f->nsw; u++)
			assert_int_equal(tables_row(a, u)[lid], tables_row(b, u)[lid]);
		for (uint32_t e = 0; e < f->nend; e++)
			assert_path_stays(f, a, b, e, lid);
	}
}

static void assert_clean(const struct fabric *f, const struct tables *t, const char *what)
{
	struct verdict *v;
	char why[256];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s by %s: %s", what, t->engine, why);
	assert_true(v->vls_used <= t->vls);
	verdict_free(v);
}

struct done {
	unsigned routed, refused, again;
};

/* All engines onto what one has installed; refused: for want of VLs only. */
static void all_engines(struct done *done, const struct fabric *f, const struct tables *cur,
			const char *what, bool escape)
{
	struct route_limits limits = { .nend = f->nend, .pin = some(f) };
	size_t n;
	const struct engine *const *e = engine_all(&n);

	for (size_t k = 0; k < n; k++) {
		struct engine_params p = { .vls = 8, .seed = 1, .threads = 1, .escape = escape };
		struct tables *t, *again;
		struct notes notes = { 0 };
		struct err err = { "" };
		struct pin_verdict v;
		int rc;

		p.current = cur;
		t = e[k]->suits(f, NULL) ? NULL : run(e[k]->name, f, &p, &rc, &err);
		if (!t)
			continue; /* nor would it without pinned routes */
		tables_put(t);
		p.limits = &limits;
		p.notes = &notes;
		t = run(e[k]->name, f, &p, &rc, &err);
		if (rc) {
			if (rc != -ENOSPC || !strstr(err.text, "VLs"))
				fail_msg("%s, %s onto %s: %s", what, e[k]->name, cur->engine,
					 err.text);
			done->refused++;
			notes_done(&notes);
			continue;
		}
		done->routed++;
		done->again += strstr(notes_find(&notes, "pinned")->text, "layers") != NULL;
		notes_done(&notes);
		assert_complete(f, t);
		assert_clean(f, t, what);
		assert_pinned(f, cur, t, limits.pin, escape);
		verify_pinned(&v, f, cur, t, &limits);
		assert_int_equal(v.changed, 0);
		assert_int_equal(v.hosts, route_limits_pinned(&limits, f));
		p.threads = 4;
		p.notes = NULL;
		again = run(e[k]->name, f, &p, &rc, &err);
		assert_int_equal(rc, 0);
		assert_same_tables(t, again);
		tables_put(again);
		tables_put(t);
	}
	free(limits.pin);
}

static const char *const specs[] = {
	"fattree2:leaves=6,spines=3,hosts=3,lmc=1",
	"kary:k=3,n=3,hosts=2,lmc=1,lids=random",
	"hyperx:dims=4x3,hosts=2,lmc=2",
	"torus:dims=4x4,hosts=1,lmc=1",
	"dragonfly:p=2,lmc=1",
	"random:switches=12,links=20,hosts=2,seed=3,fail=2,lmc=1",
};

static const char *const olds[] = { "minhop", "updn", "dfsssp", "dfdn", "nue" };

static void pinned_routes_stay_whatever_the_engine(void **state)
{
	struct done done = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		for (size_t k = 0; k < sizeof(olds) / sizeof(*olds); k++)
			for (int escape = 0; escape < 2; escape++) {
				struct fabric *f = net_spec(specs[i]);
				struct tables *cur = installed(olds[k], f, escape);

				all_engines(&done, f, cur, specs[i], escape);
				tables_put(cur);
				fabric_put(f);
			}
	/* both ways were taken */
	assert_true(done.routed > done.again && done.again > 0);
	assert_true(done.routed > 20 * done.refused);
}

/* As Torus-2QoS does: the VL goes by the ports, to and fro. */
static void vls_that_change_to_and_fro_stay_too(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=6,spines=3,hosts=3,lmc=1");
	struct tables *cur = installed("minhop", f, false), *t;
	struct route_limits limits = { .nend = f->nend, .pin = some(f) };
	struct engine_params p = { .vls = 4, .limits = &limits, .current = cur };
	struct err err;
	int rc;

	(void)state;
	tables_sl2vl_form(cur, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++)
				memset(tables_sl2vl_row(cur, sw, in, out), (sw + out) % 2, FAB_SLS);
	for (int k = 0; k < 2; k++) {
		t = run(k ? "dfdn" : "dfsssp", f, &p, &rc, &err);
		if (rc)
			fail_msg("%s", err.text);
		assert_clean(f, t, "to and fro");
		assert_pinned(f, cur, t, limits.pin, false);
		tables_put(t);
	}
	free(limits.pin);
	tables_put(cur);
	fabric_put(f);
}

/* --- refusals ---------------------------------------------------------------------------- */

static void assert_refused(const char *engine, const struct fabric *f,
			   const struct engine_params *p, int rc, const char *a, const char *b)
{
	struct err err = { "" };
	int got;
	struct tables *t = run(engine, f, p, &got, &err);

	assert_null(t);
	assert_int_equal(got, rc);
	if (!strstr(err.text, a) || !strstr(err.text, b))
		fail_msg("\"%s\" does not say %s and %s", err.text, a, b);
}

static void what_is_not_known_cannot_stay(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL), *other = net_ring(6, 3, NULL);
	struct tables *cur = installed("minhop", f, false),
		      *theirs = installed("updn", other, false);
	struct route_limits limits = { .nend = f->nend, .pin = xcalloc(f->nend, 1) };
	struct engine_params p = { .vls = 8, .limits = &limits };
	uint32_t c = f->chan_off[4];

	(void)state;
	limits.pin[0] = limits.pin[5] = true;
	assert_refused("sar", f, &p, -EINVAL, "2 pinned hosts", "unknown");
	p.current = theirs;
	assert_refused("sar", f, &p, -EINVAL, "2 pinned hosts", "another fabric");
	p.current = cur;
	tables_row(cur, 4)[f->term_lid[5]] = FAB_NO_PORT;
	assert_refused("minhop", f, &p, -EINVAL, f->sw_name[4], f->term_name[5]);
	/* there and back */
	tables_row(cur, 4)[f->term_lid[5]] = f->chan_port[c];
	for (uint32_t e = f->chan_off[f->chan_dst[c]]; e < f->chan_off[f->chan_dst[c] + 1]; e++)
		if (f->chan_dst[e] == 4)
			tables_row(cur, f->chan_dst[c])[f->term_lid[5]] = f->chan_port[e];
	assert_refused("minhop", f, &p, -EINVAL, "do not lead from switch", f->term_name[5]);
	limits.pin[5] = false;
	tables_put(run("minhop", f, &p, &(int){ 0 }, NULL));
	free(limits.pin);
	tables_put(cur);
	tables_put(theirs);
	fabric_put(f);
	fabric_put(other);
}

/* All clockwise: the ring is full of dependencies that wait for each other. */
static struct tables *clockwise(const struct fabric *f)
{
	struct tables *t = tables_new(f, TABLES_WIRE);

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t out;
		uint32_t dst = fabric_lid_switch(f, lid, &out);

		for (uint32_t u = 0; u < f->nsw && dst != FAB_NONE; u++) {
			uint32_t c = f->chan_off[u];

			while (f->chan_dst[c] != (u + 1) % f->nsw)
				c++;
			tables_row(t, u)[lid] = u == dst ? out : f->chan_port[c];
		}
	}
	return t;
}

static void pinned_routes_with_a_cycle_of_their_own_are_refused_by_name(void **state)
{
	struct fabric *f = net_ring(6, 1, NULL);
	struct tables *cur = clockwise(f), *t;
	struct route_limits limits = { .nend = f->nend, .pin = xcalloc(f->nend, 1) };
	struct engine_params p = { .vls = 4, .limits = &limits, .current = cur };
	struct err err;
	int rc;

	(void)state;
	limits.pin[0] = true;
	t = run("dfsssp", f, &p, &rc, &err);
	assert_int_equal(rc, 0);
	assert_clean(f, t, "ring");
	assert_pinned(f, cur, t, limits.pin, false);
	tables_put(t);
	limits.pin[3] = true;
	assert_refused("dfsssp", f, &p, -EDEADLK, f->term_name[3], "cycle");
	free(limits.pin);
	tables_put(cur);
	fabric_put(f);
}

static void vls_that_are_missing_are_told(void **state)
{
	struct fabric *f = net_spec("torus:dims=5x5,hosts=1,lmc=1");
	struct tables *cur = installed("dfsssp", f, false), *one;
	struct route_limits limits = { .nend = f->nend, .pin = some(f) };
	struct engine_params p = { .vls = 1, .limits = &limits, .current = cur };

	(void)state;
	assert_true(cur->vls > 1);
	assert_refused("nue", f, &p, -EINVAL, "VL 1", "only 1 VL may be used");
	p.vls = 2;
	p.escape = true;
	assert_refused("nue", f, &p, -EINVAL, "VL 1", "escape LIDs");
	/* one VL full of pinned routes; the others need more */
	p.escape = false;
	p.vls = 1;
	one = installed("updn", f, false);
	assert_int_equal(one->vls, 1);
	p.current = one;
	assert_refused("nue", f, &p, -ENOSPC, "VLs to be deadlock-free together",
		       "and 1 may be used");
	p.vls = 8;
	tables_put(run("nue", f, &p, &(int){ 0 }, NULL));
	free(limits.pin);
	tables_put(cur);
	tables_put(one);
	fabric_put(f);
}

/* On the torus with other entries, on a tree with one path between two leaves on another VL. */
static void traffic_of_pinned_hosts_does_not_become_escape_lids(void **state)
{
	static const char *const nets[] = { "torus:dims=4x4,hosts=1,lmc=1",
					    "fattree2:leaves=5,spines=1,hosts=6,lmc=1" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = net_spec(nets[i]);
		struct tables *cur = installed("minhop", f, false);
		struct route_limits limits = { .nend = f->nend, .pin = some(f) };
		struct engine_params p = { .vls = 8, .limits = &limits, .current = cur };

		p.escape = true;
		assert_refused("minhop", f, &p, -EINVAL, "would become an escape LID",
			       f->term_name[0]);
		free(limits.pin);
		tables_put(cur);
		fabric_put(f);
	}
}

static void what_is_pinned_and_excluded_at_once_is_named(void **state)
{
	struct fabric *f = net_tree(4, 2, 2, NULL);
	struct tables *cur = installed("minhop", f, false);
	struct route_limits limits = { .nsw = f->nsw, .nchan = f->nchan, .nend = f->nend };
	struct engine_params p = { .vls = 8, .limits = &limits, .current = cur };
	uint32_t u = f->term_sw[0] ? 0 : f->nsw - 1, c, spine;

	(void)state;
	while (u == f->term_sw[0] || f->term_off[u] == f->term_off[u + 1])
		u--;
	c = fabric_chan(f, u, tables_row(cur, u)[f->term_lid[0]]);
	spine = f->chan_dst[c];
	limits.pin = xcalloc(f->nend, 1);
	limits.exclude_sw = xcalloc(f->nsw, 1);
	limits.pin[0] = limits.exclude_sw[spine] = true;
	assert_refused("updn", f, &p, -EINVAL, f->sw_name[spine], f->term_name[0]);
	free(limits.exclude_sw);
	limits.exclude_sw = NULL;
	limits.exclude_chan = xcalloc(f->nchan, 1);
	limits.exclude_chan[c] = limits.exclude_chan[f->chan_rev[c]] = true;
	assert_refused("updn", f, &p, -EINVAL, f->sw_name[u], f->term_name[0]);
	free(limits.exclude_chan);
	free(limits.pin);
	tables_put(cur);
	fabric_put(f);
}

/* Nothing comes through a leaf. */
static void others_go_around_what_is_excluded_and_pinned_ones_stay(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=5,spines=3,hosts=3,lmc=1");
	struct tables *cur = installed("minhop", f, true);
	struct route_limits *limits = NULL;
	size_t n;
	const struct engine *const *e = engine_all(&n);

	(void)state;
	assert_int_equal(route_limits_pin(&limits, f, NULL, "n[0001-0005]", NULL), 0);
	assert_int_equal(route_limits_exclude(&limits, f, "leaf4", NULL), 0);
	for (size_t i = 0; i < n; i++) {
		struct engine_params p = { .vls = 8, .limits = limits, .current = cur };
		struct verify_opts opts = { .limits = limits, .installed = cur };
		struct verdict *v;
		struct tables *t;
		struct err err = { "" };
		int rc;

		if (e[i]->suits(f, NULL))
			continue;
		p.escape = true;
		t = run(e[i]->name, f, &p, &rc, &err);
		if (rc)
			fail_msg("%s: %s", e[i]->name, err.text);
		assert_int_equal(verify_tables(&v, f, t, &opts, NULL, NULL), 0);
		assert_true(verdict_ok(v));
		assert_int_equal(v->pinned.hosts, 5);
		verdict_free(v);
		tables_put(t);
	}
	route_limits_free(limits);
	tables_put(cur);
	fabric_put(f);
}

/* --- the update -------------------------------------------------------------------------- */

static void nothing_that_is_pinned_is_written_or_drained(void **state)
{
	struct fabric *f = net_spec("torus:dims=6x6,hosts=2");
	struct tables *cur = installed("nue", f, false), *t, *onto;
	struct route_limits limits = { .nend = f->nend, .pin = some(f) };
	struct engine_params p = { .vls = 8, .seed = 1, .limits = &limits, .current = cur };
	struct transition *x;
	int rc;

	(void)state;
	t = run("dfsssp", f, &p, &rc, NULL);
	assert_int_equal(rc, 0);
	onto = tables_onto(f, cur, t);
	assert_pinned(f, cur, onto, limits.pin, false);
	assert_int_equal(transition_plan(&x, f, cur, onto, NULL, NULL, NULL), 0);
	assert_true(x->nwrites > 0 && x->ndrain > 0);
	for (uint32_t i = 0; i < x->ndrain; i++) {
		uint32_t end = fabric_lid_end(f, x->drain[i].lid);

		assert_false(end < f->nend && limits.pin[end]);
	}
	for (uint32_t i = 0; i < x->nwrites; i++)
		for (uint32_t k = 0; k < LFT_BLOCK; k++) {
			uint32_t end = fabric_lid_end(f, x->writes[i].block * LFT_BLOCK + k);

			if (end < f->nend && limits.pin[end])
				assert_false(x->writes[i].now >> k & 1);
		}
	transition_free(x);
	free(limits.pin);
	tables_put(onto);
	tables_put(t);
	tables_put(cur);
	fabric_put(f);
}

/* --- the check of its own ------------------------------------------------------------------ */

static void what_changes_is_found_by_entry_sl_and_vl(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL);
	struct tables *a = installed("dfsssp", f, false), *b = installed("dfsssp", f, false);
	struct route_limits limits = { .nend = f->nend, .pin = xcalloc(f->nend, 1) };
	uint32_t lid = f->term_lid[5];
	struct pin_verdict v;
	char text[200];

	(void)state;
	verify_pinned(&v, f, a, b, NULL);
	assert_int_equal(v.hosts, 0);
	limits.pin[5] = true;
	verify_pinned(&v, f, a, b, &limits);
	assert_int_equal(v.hosts, 1);
	assert_int_equal(v.changed, 0);
	pin_verdict_sentence(text, sizeof(text), &v, f);
	assert_string_equal(text, "paths to 1 pinned host unchanged");

	tables_row(b, 0)[f->term_lid[4]] = FAB_NO_PORT; /* of somebody else */
	verify_pinned(&v, f, a, b, &limits);
	assert_int_equal(v.changed, 0);
	tables_row(b, 0)[lid]++;
	verify_pinned(&v, f, a, b, &limits);
	assert_int_equal(v.changed, 1);
	assert_int_equal(v.fault, PIN_ENTRY);
	assert_int_equal(v.sw, 0);
	assert_int_equal(v.lid, lid);
	pin_verdict_sentence(text, sizeof(text), &v, f);
	assert_non_null(strstr(text, f->term_name[5]));
	tables_row(b, 0)[lid]--;

	tables_sl2vl_form(b, SL2VL_FULL, f);
	for (size_t i = 0; i < tables_sl2vl_bytes(b); i++)
		b->sl2vl[i] = i % FAB_SLS;
	verify_pinned(&v, f, a, b, &limits);
	assert_int_equal(v.changed, 0);
	for (size_t i = 0; i < tables_sl2vl_bytes(b); i += FAB_SLS)
		b->sl2vl[i] = 1;
	verify_pinned(&v, f, a, b, &limits);
	assert_true(v.changed > 0);
	assert_int_equal(v.fault, PIN_VL);
	tables_put(b);

	b = installed("dfsssp", f, false);
	tables_sl_form(b, SL_BY_DLID, f);
	memset(b->sl, 9, b->stride);
	verify_pinned(&v, f, a, b, &limits);
	assert_int_equal(v.fault, PIN_SL);
	free(limits.pin);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

/* --- who is pinned ----------------------------------------------------------------------- */

static struct jobset *two_jobs(const struct fabric *f)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	static const char *const names[] = { "n0001", "n0004", "n0009", "n0010" };

	jobset_builder_add(b, &(struct job){ .id = 81234 }, names, 3);
	jobset_builder_add(b, &(struct job){ .id = 7 }, names + 3, 1);
	return jobset_build(b);
}

static void assert_names(const struct fabric *f, const struct jobset *jobs, const char *text,
			 const char *as)
{
	struct route_limits *l = NULL, *copy;
	struct err err = { "" };

	if (route_limits_pin(&l, f, jobs, text, &err))
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(l->pin_text, as);
	copy = route_limits_copy(l);
	route_limits_free(l);
	assert_string_equal(copy->pin_text, as);
	route_limits_free(copy);
}

static void assert_no_names(const struct fabric *f, const struct jobset *jobs, const char *text,
			    const char *why)
{
	struct route_limits *l = NULL;
	struct err err = { "" };

	assert_int_equal(route_limits_pin(&l, f, jobs, text, &err), -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("%s: \"%s\" does not say %s", text, err.text, why);
	route_limits_free(l);
}

static void assert_of_now(const struct jobset *jobs, const char *text, const char *as)
{
	char *now = pin_text_of_now(text, jobs);

	assert_string_equal(now, as);
	free(now);
}

static void hosts_are_named_by_list_and_job(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct jobset *jobs = two_jobs(f);
	struct route_limits *l = NULL;

	(void)state;
	assert_names(f, jobs, "n[0001-0003,0005],n0001 n0012", "n[0001-0003,0005,0012]");
	assert_names(f, jobs, "job:81234,n0002", "n[0001-0002,0004,0009]");
	assert_names(f, NULL, "n0010", "n0010");
	assert_int_equal(route_limits_pin(&l, f, NULL, " , ", NULL), 0);
	assert_null(l->pin);
	assert_int_equal(route_limits_pinned(l, f), 0);
	assert_int_equal(route_limits_pin(&l, f, jobs, "job:81234", NULL), 0);
	assert_int_equal(route_limits_pinned(l, f), 3);
	route_limits_free(l);
	assert_of_now(jobs, "n[0001-0003,0005] job:5,job:7, n0009",
		      "n[0001-0003,0005],job:7,n0009");
	assert_of_now(NULL, "job:7", "");
	assert_of_now(jobs, "job:x,", "job:x"); /* a mistake is told later */
	assert_no_names(f, jobs, "n0001,n0099", "no host of this fabric has the name n0099");
	assert_no_names(f, jobs, f->sw_name[0], "is a switch");
	assert_no_names(f, jobs, "n[0001", "pin: node list, position");
	assert_no_names(f, jobs, "job:5", "no job 5 is running");
	assert_no_names(f, jobs, "job:x", "not \"x\"");
	assert_no_names(f, NULL, "job:7", "as are all jobs");
	jobset_put(jobs);
	fabric_put(f);
}

static void small_jobs_do_not_count_where_that_is_asked(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct jobset *jobs = two_jobs(f), *large = jobset_at_least(jobs, 3, f);
	struct engine_params p = { .vls = 8, .seed = 1 };
	struct notes notes = { 0 };
	struct tables *a = NULL, *b = NULL;

	(void)state;
	assert_int_equal(large->njob, 1);
	assert_int_equal(large->jobs[0].id, 81234);
	assert_int_equal(large->jobs[0].nterm, 3);
	assert_true(jobset_same(jobs, large)); /* the other one is on one switch */
	assert_int_equal(engine_run(engine_find("sar", NULL), &a, f, large, NULL, &p, NULL, NULL),
			 0);
	p.job_nodes_min = 3;
	p.notes = &notes;
	assert_int_equal(engine_run(engine_find("sar", NULL), &b, f, jobs, NULL, &p, NULL, NULL),
			 0);
	assert_same_tables(a, b);
	assert_non_null(strstr(b->params, "jobs>=3"));
	assert_string_equal(notes_find(&notes, "jobs_counted")->text,
			    "1 of 2 jobs have at least 3 nodes and count");
	notes_done(&notes);
	tables_put(a);
	tables_put(b);
	jobset_put(large);
	jobset_put(jobs);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pinned_routes_stay_whatever_the_engine),
		cmocka_unit_test(vls_that_change_to_and_fro_stay_too),
		cmocka_unit_test(what_is_not_known_cannot_stay),
		cmocka_unit_test(pinned_routes_with_a_cycle_of_their_own_are_refused_by_name),
		cmocka_unit_test(vls_that_are_missing_are_told),
		cmocka_unit_test(traffic_of_pinned_hosts_does_not_become_escape_lids),
		cmocka_unit_test(what_is_pinned_and_excluded_at_once_is_named),
		cmocka_unit_test(others_go_around_what_is_excluded_and_pinned_ones_stay),
		cmocka_unit_test(nothing_that_is_pinned_is_written_or_drained),
		cmocka_unit_test(what_changes_is_found_by_entry_sl_and_vl),
		cmocka_unit_test(hosts_are_named_by_list_and_job),
		cmocka_unit_test(small_jobs_do_not_count_where_that_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
