/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths through tables, and ends by name, LID and GUID. */
#include "fabric/model/tables/path.h"
#include "fabric/model/topology/end_find.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/route_check.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
	struct fabric *f;
	struct tables *t;
};

static void open_world(struct world *w, const char *spec)
{
	struct freeze_opts opts = { .name = "net", .lmc = -1 };
	struct builder *b = NULL;
	struct err err;
	uint32_t *hops;

	if (topo_build(&b, spec, &err) || builder_freeze(&w->f, b, &opts, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	w->t = tables_new(w->f, "minhop");
	hops = calloc(w->f->nsw, sizeof(*hops));
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++) {
		uint8_t port;
		uint32_t to = fabric_lid_switch(w->f, lid, &port);

		if (to == FAB_NONE)
			continue;
		bfs_hops(hops, w->f, to);
		for (uint32_t c = 0; c < w->f->nchan; c++)
			if (hops[w->f->chan_dst[c]] + 1 == hops[w->f->chan_src[c]])
				tables_row(w->t, w->f->chan_src[c])[lid] = w->f->chan_port[c];
		tables_row(w->t, to)[lid] = port;
	}
	free(hops);
}

static void close_world(struct world *w)
{
	tables_put(w->t);
	fabric_put(w->f);
}

static void a_path_visits_leaf_spine_leaf(void **state)
{
	struct world w;
	struct path p;
	char text[128];

	(void)state;
	open_world(&w, "fattree2:leaves=4,spines=2,hosts=3");
	path_walk(&p, w.f, w.t, 0, w.f->term_lid[11]);
	assert_int_equal(p.fate, PATH_ARRIVES);
	assert_int_equal(p.nhop, 3);
	assert_int_equal(p.links, 2);
	assert_int_equal(p.hop[0].sw, w.f->term_sw[0]);
	assert_int_equal(p.hop[0].in, w.f->term_port[0]);
	assert_int_equal(p.hop[2].sw, w.f->term_sw[11]);
	assert_int_equal(p.hop[2].out, w.f->term_port[11]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(w.f->chan_dst[p.hop[i].chan], p.hop[i + 1].sw);
		assert_int_equal(w.f->chan_rport[p.hop[i].chan], p.hop[i + 1].in);
	}
	assert_string_equal(path_fate_text(text, sizeof(text), &p, w.f), "arrives");
	/* from a switch's own port to its neighbour's */
	path_walk(&p, w.f, w.t, w.f->nend, w.f->sw_lid[w.f->nsw - 1]);
	assert_int_equal(p.fate, PATH_ARRIVES);
	assert_int_equal(p.hop[0].in, 0);
	assert_int_equal(p.hop[p.nhop - 1].out, 0);
	close_world(&w);
}

static void vls_follow_the_tables(void **state)
{
	struct world w;
	struct path p;

	(void)state;
	open_world(&w, "fattree2:leaves=4,spines=2,hosts=3");
	tables_sl_form(w.t, SL_BY_DLID, w.f);
	w.t->sl[w.f->term_lid[11]] = 5;
	tables_sl2vl_form(w.t, SL2VL_BY_INPUT, w.f);
	w.t->sl2vl[1 * FAB_SLS + 5] = 2; /* from a host */
	w.t->sl2vl[2 * FAB_SLS + 5] = 3; /* from a switch */
	path_walk(&p, w.f, w.t, 0, w.f->term_lid[11]);
	assert_int_equal(p.sl, 5);
	assert_int_equal(p.hop[0].vl, 2);
	assert_int_equal(p.hop[1].vl, 3);
	w.t->sl2vl[2 * FAB_SLS + 5] = VL_DROP;
	path_walk(&p, w.f, w.t, 0, w.f->term_lid[11]);
	assert_int_equal(p.fate, PATH_DROPPED);
	assert_int_equal(p.nhop, 2);
	close_world(&w);
}

static void broken_tables_are_told_apart(void **state)
{
	struct world w;
	struct path p, q;
	uint16_t lid;
	uint32_t spine;
	char text[160];

	(void)state;
	open_world(&w, "fattree2:leaves=4,spines=2,hosts=3");
	lid = w.f->term_lid[11];
	path_walk(&p, w.f, w.t, 0, lid);
	spine = p.hop[1].sw;
	tables_row(w.t, spine)[lid] = FAB_NO_PORT;
	path_walk(&q, w.f, w.t, 0, lid);
	assert_int_equal(q.fate, PATH_NO_ENTRY);
	assert_non_null(strstr(path_fate_text(text, sizeof(text), &q, w.f), w.f->sw_name[spine]));
	assert_int_equal(path_differs(&p, &q), 1);
	assert_int_equal(path_differs(&p, &p), FAB_NONE);
	assert_true(path_hop_same(&p, &q, 0));
	tables_row(w.t, spine)[lid] = p.hop[1].in; /* back to where it came from */
	path_walk(&q, w.f, w.t, 0, lid);
	assert_int_equal(q.fate, PATH_LOOP);
	tables_row(w.t, spine)[lid] = 200;
	path_walk(&q, w.f, w.t, 0, lid);
	assert_int_equal(q.fate, PATH_NOWHERE);
	tables_row(w.t, w.f->term_sw[0])[lid] = w.f->term_port[1];
	path_walk(&q, w.f, w.t, 0, lid);
	assert_int_equal(q.fate, PATH_STRANGER);
	path_walk(&q, w.f, w.t, 0, 0xbff0);
	assert_int_equal(q.fate, PATH_NO_LID);
	close_world(&w);
}

static void ends_are_found_by_name_lid_and_guid(void **state)
{
	struct world w;
	struct err err;
	uint32_t end;
	uint16_t lid;
	char text[64], name[64];

	(void)state;
	open_world(&w, "fattree2:leaves=4,spines=2,hosts=3,lmc=2");
	for (uint32_t e = 0; e < w.f->nend + w.f->nsw; e++) {
		assert_int_equal(
			end_find(&end, &lid, w.f, end_name(name, sizeof(name), w.f, e), &err), 0);
		assert_int_equal(end, e);
		assert_int_equal(lid, end_lid(w.f, e));
	}
	snprintf(text, sizeof(text), "%u", w.f->term_lid[5] + 3u);
	assert_int_equal(end_find(&end, &lid, w.f, text, &err), 0);
	assert_int_equal(end, 5);
	assert_int_equal(lid, w.f->term_lid[5] + 3);
	snprintf(text, sizeof(text), "0x%x", w.f->sw_lid[2]);
	assert_int_equal(end_find(&end, &lid, w.f, text, &err), 0);
	assert_int_equal(end, w.f->nend + 2);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)w.f->term_guid[7]);
	assert_int_equal(end_find(&end, &lid, w.f, text, &err), 0);
	assert_int_equal(end, 7);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)w.f->sw_guid[1]);
	assert_int_equal(end_find(&end, &lid, w.f, text, &err), 0);
	assert_int_equal(end, w.f->nend + 1);
	assert_int_equal(end_find(&end, &lid, w.f, "nobody", &err), -ENOENT);
	assert_non_null(strstr(err.text, "nobody"));
	assert_int_equal(end_find(&end, &lid, w.f, "49000", &err), -ENOENT);
	assert_int_equal(end_find(&end, &lid, w.f, "0x123456789", &err), -ENOENT);
	assert_int_equal(end_find(&end, &lid, w.f, "", &err), -ENOENT);
	close_world(&w);
}

static void ends_are_taken_as_lids_guids_or_routes_where_asked(void **state)
{
	struct world w;
	struct err err;
	uint32_t end, here = 0;
	uint16_t lid;
	char text[64];

	(void)state;
	open_world(&w, "fattree2:leaves=4,spines=2,hosts=3,lmc=2");
	snprintf(text, sizeof(text), "%u", w.f->term_lid[5] + 3u);
	assert_int_equal(end_find_as(&end, &lid, w.f, END_LID, text, FAB_NONE, &err), 0);
	assert_int_equal(end, 5);
	assert_int_equal(lid, w.f->term_lid[5] + 3);
	snprintf(text, sizeof(text), "%llx", (unsigned long long)w.f->sw_guid[1]);
	assert_int_equal(end_find_as(&end, &lid, w.f, END_GUID, text, FAB_NONE, &err), 0);
	assert_int_equal(end, w.f->nend + 1);
	for (enum end_as as = END_LID; as <= END_ROUTE; as++)
		assert_int_equal(end_find_as(&end, &lid, w.f, as, "leaf1", here, &err), -EINVAL);
	assert_int_equal(end_find_as(&end, &lid, w.f, END_LID, "70000", here, &err), -EINVAL);
	/* from the first host: its leaf, a spine, another leaf, its second host */
	assert_int_equal(end_find_as(&end, &lid, w.f, END_ROUTE, "0", here, &err), 0);
	assert_int_equal(end, here);
	assert_int_equal(end_find_as(&end, &lid, w.f, END_ROUTE, "0,1", here, &err), 0);
	assert_int_equal(end, w.f->nend + w.f->term_sw[here]);
	assert_int_equal(end_find_as(&end, &lid, w.f, END_ROUTE, "0,1,4,2,2", here, &err), 0);
	assert_int_equal(end, fabric_port(w.f, 1, 2)->term);
	assert_int_equal(lid, w.f->term_lid[end]);
	assert_int_equal(end_find_as(&end, &lid, w.f, END_ROUTE, "0,1,9", here, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nothing is behind port 9 of leaf1"));
	assert_int_equal(end_find_as(&end, &lid, w.f, END_ROUTE, "0,1", FAB_NONE, &err), -ENOTSUP);
	close_world(&w);
}

static void completion_puts_beginnings_first(void **state)
{
	struct world w;
	uint32_t out[4], all;
	char name[64];

	(void)state;
	open_world(&w, "fattree2:leaves=4,spines=2,hosts=3");
	all = end_complete(out, 4, w.f, "");
	assert_int_equal(all, w.f->nend + w.f->nsw);
	all = end_complete(out, 4, w.f, w.f->sw_name[w.f->nsw - 1]);
	assert_int_equal(all, 1);
	assert_int_equal(out[0], w.f->nend + w.f->nsw - 1);
	all = end_complete(out, 4, w.f, "1");
	for (uint32_t i = 0; i < all && i < 4; i++)
		assert_non_null(strchr(end_name(name, sizeof(name), w.f, out[i]), '1'));
	assert_true(all > 1);
	assert_int_equal(end_complete(out, 4, w.f, "no such"), 0);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_visits_leaf_spine_leaf),
		cmocka_unit_test(vls_follow_the_tables),
		cmocka_unit_test(broken_tables_are_told_apart),
		cmocka_unit_test(ends_are_found_by_name_lid_and_guid),
		cmocka_unit_test(ends_are_taken_as_lids_guids_or_routes_where_asked),
		cmocka_unit_test(completion_puts_beginnings_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
