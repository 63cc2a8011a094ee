/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heatmap's arithmetic: every channel in one cell, every cell on the screen. */
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"
#include "views/heatmap/heat_window.h"

#include "fabric/base/memory/mem.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/sim/topology/topo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const specs[] = {
	"fattree2:leaves=18,spines=9,hosts=4",
	"fattree2:leaves=18,spines=9,hosts=4,fail=6,seed=3",
	"kary:k=4,n=3,hosts=2",
	"xgft:h=3,m=4x4x4,w=1x2x2",
	"hyperx:dims=6x4,hosts=2",
	"hyperx:dims=4x3x3,hosts=2",
	"hyperx:dims=12x8,hosts=7,fail=15,seed=1",
	"torus:dims=6x5,hosts=2",
	"torus:dims=4x4x4,hosts=2",
	"dragonfly:p=2",
	"slimfly:q=5",
	"random:switches=40,links=90,hosts=2,seed=1",
};

#define NSPECS (sizeof(specs) / sizeof(specs[0]))

static void count_plane(const struct heat_plane *p, const struct fabric *f, uint32_t *count)
{
	for (uint32_t r = 0; r < p->nrow; r++) {
		for (uint32_t i = p->row_off[r]; i < p->row_off[r + 1]; i++) {
			uint32_t c = p->chan[i];

			assert_true(p->col[i] < p->ncol);
			assert_true(i == p->row_off[r] || p->col[i - 1] <= p->col[i]);
			if (p->row_sw)
				assert_int_equal(f->chan_src[c], p->row_sw[r]);
			else
				assert_non_null(p->row_text[r]);
			if (p->col_sw)
				assert_int_equal(f->chan_dst[c], p->col_sw[p->col[i]]);
			count[c]++;
			if (p->up)
				count[f->chan_rev[c]]++;
		}
	}
}

static void every_channel_is_in_exactly_one_cell(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSPECS; i++) {
		struct fabric *f = net_spec(specs[i]);
		struct topology_kind *s = topology_kind_new(f);
		struct heat_layout *l = heat_layout_new(f, s, NULL);
		uint32_t *count = xcalloc(f->nchan, sizeof(*count));

		/* planes of a set are neighbours and hold every channel once between them */
		for (uint32_t p = 0; p < l->nplane;) {
			uint32_t set = l->plane[p].set;

			memset(count, 0, f->nchan * sizeof(*count));
			for (; p < l->nplane && l->plane[p].set == set; p++)
				count_plane(&l->plane[p], f, count);
			for (uint32_t c = 0; c < f->nchan; c++)
				assert_int_equal(count[c], 1);
		}
		assert_true(l->nplane >= 2);
		free(count);
		heat_layout_free(l);
		topology_kind_free(s);
		fabric_put(f);
	}
}

static void different_cables_of_a_row_share_a_cell_only_when_parallel(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSPECS; i++) {
		struct fabric *f = net_spec(specs[i]);
		struct topology_kind *s = topology_kind_new(f);
		struct heat_layout *l = heat_layout_new(f, s, NULL);

		for (uint32_t k = 0; k < l->nplane; k++) {
			const struct heat_plane *p = &l->plane[k];

			for (uint32_t r = 0; r < p->nrow; r++)
				for (uint32_t x = p->row_off[r] + 1; x < p->row_off[r + 1]; x++)
					if (p->row_sw && p->col[x] == p->col[x - 1] &&
					    strcmp(p->col_name, "group") != 0)
						assert_int_equal(f->chan_dst[p->chan[x]],
								 f->chan_dst[p->chan[x - 1]]);
		}
		heat_layout_free(l);
		topology_kind_free(s);
		fabric_put(f);
	}
}

static void shapes_are_recognised(void **state)
{
	static const char *const want[NSPECS] = {
		"tree of 2 levels",
		"tree of 2 levels",
		"tree of 3 levels",
		"tree of 3 levels",
		"HyperX 6x4",
		"HyperX 4x3x3",
		"HyperX 12x8, 15 cables missing",
		"torus 6x5",
		"torus 4x4x4",
		"9 groups of close switches",
		"general graph",
		"general graph",
	};

	(void)state;
	for (size_t i = 0; i < NSPECS; i++) {
		struct fabric *f = net_spec(specs[i]);
		struct topology_kind *s = topology_kind_new(f);
		char text[64];

		topology_kind_sentence(text, sizeof(text), s);
		assert_string_equal(text, want[i]);
		topology_kind_free(s);
		fabric_put(f);
	}
}

static void storage_on_spines_leaves_a_tree_a_tree(void **state)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct builder *b = NULL;
	struct fabric *f = NULL;
	struct topology_kind *s;
	struct err err;
	uint32_t io, spine;

	(void)state;
	assert_int_equal(topo_build(&b, "fattree2:leaves=6,spines=3,hosts=6", &err), 0);
	/* the spines follow the leaves; one more host on a spine's free port */
	assert_int_equal(builder_node(&io, b, NODE_CA, 0x99, 1, "io1", &err), 0);
	spine = builder_find(b, 0x0002000000000000 + 16 * 6);
	assert_int_not_equal(spine, FAB_NONE);
	if (builder_link(b, io, 1, spine, 7, &err)) {
		/* no free port on a spine of this generator: nothing to show */
		builder_free(b);
		skip();
	}
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	s = topology_kind_new(f);
	assert_int_equal(s->kind, TOPOLOGY_TREE);
	assert_int_equal(s->tree->nrow, 2);
	topology_kind_free(s);
	builder_free(b);
	fabric_put(f);
}

static void check_window(const struct heat_window *w, const struct heat_plane *p, struct rect r,
			 uint32_t row, uint32_t col)
{
	/* inside of the rectangle, labels and cells without overlap */
	assert_true(w->rows.x >= r.x + w->label_w);
	assert_true(w->rows.x + (int)w->vis_cols * w->cell_w <= r.x + r.w);
	assert_true(w->rows.y + (int)w->vis_rows <= r.y + r.h);
	/* all of the matrix can be reached, and nothing beyond it is shown */
	assert_true((uint64_t)w->nrow * w->row_n >= p->nrow);
	assert_true((uint64_t)w->ncol * w->col_n >= p->ncol);
	assert_true(w->top + w->vis_rows <= w->nrow);
	assert_true(w->left + w->vis_cols <= w->ncol);
	/* the cursor is in sight */
	assert_in_range(row / w->row_n, w->top, w->top + w->vis_rows - 1);
	assert_in_range(col / w->col_n, w->left, w->left + w->vis_cols - 1);
}

static void windows_fit_the_screen_at_every_size_and_zoom(void **state)
{
	static const char *const some[] = { "fattree2:leaves=40,spines=18,hosts=2",
					    "hyperx:dims=12x8,hosts=2", "dragonfly:p=4" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fabric *f = net_spec(some[i]);
		struct topology_kind *s = topology_kind_new(f);
		struct heat_layout *l = heat_layout_new(f, s, NULL);

		for (uint32_t k = 0; k < l->nplane; k++) {
			const struct heat_plane *p = &l->plane[k];
			struct heat_window w = { 0 };

			for (int h = 24; h <= 60; h += 4)
				for (int width = 80; width <= 200; width += 13)
					for (uint32_t zoom = 1; zoom < 64; zoom *= 2)
						for (uint32_t at = 0; at < 5; at++) {
							struct rect r = { 0, 4, width, h - 12 };
							uint32_t row = at * (p->nrow - 1) / 4;
							uint32_t col = at * (p->ncol - 1) / 4;

							heat_window_set(&w, p, r, 10, zoom, row,
									col);
							check_window(&w, p, r, row, col);
						}
		}
		heat_layout_free(l);
		topology_kind_free(s);
		fabric_put(f);
	}
}

static void at_the_fit_all_of_2064_switches_is_on_a_small_screen(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=8");
	struct topology_kind *s = topology_kind_new(f);
	struct heat_layout *l = heat_layout_new(f, s, NULL);
	struct heat_window w = { 0 };

	(void)state;
	assert_int_equal(f->nsw, 2064);
	heat_window_set(&w, &l->plane[0], (struct rect){ 0, 4, 80, 12 }, 10, UINT32_MAX, 0, 0);
	assert_int_equal(w.vis_rows, w.nrow);
	assert_int_equal(w.vis_cols, w.ncol);
	heat_layout_free(l);
	topology_kind_free(s);
	fabric_put(f);
}

static void a_channel_is_found_in_its_planes(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSPECS; i += 2) {
		struct fabric *f = net_spec(specs[i]);
		struct topology_kind *s = topology_kind_new(f);
		struct heat_layout *l = heat_layout_new(f, s, NULL);

		for (uint32_t c = 0; c < f->nchan; c += 7) {
			uint32_t sets = 0, found = 0;
			struct heat_spot spot;

			for (uint32_t p = 0; p < l->nplane; p++) {
				sets += !p || l->plane[p].set != l->plane[p - 1].set;
				found += heat_plane_find(&l->plane[p], f, c, &spot);
			}
			assert_int_equal(found, sets);
		}
		heat_layout_free(l);
		topology_kind_free(s);
		fabric_put(f);
	}
}

/* A plane's cell leads to what its row and column say. */
static void cells_of_groups_and_lines_join_what_they_say(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2"), *g = net_spec("torus:dims=6x5,hosts=1");
	struct topology_kind *s = topology_kind_new(f), *t = topology_kind_new(g);
	struct heat_layout *l = heat_layout_new(f, s, NULL), *m = heat_layout_new(g, t, NULL);

	(void)state;
	assert_string_equal(l->plane[0].title, "group x group");
	assert_int_equal(l->plane[0].nrow, 9);
	for (uint32_t r = 0; r < 9; r++)
		for (uint32_t i = l->plane[0].row_off[r]; i < l->plane[0].row_off[r + 1]; i++) {
			uint32_t c = l->plane[0].chan[i];

			assert_int_equal(s->group[f->chan_src[c]], r);
			assert_int_equal(s->group[f->chan_dst[c]], l->plane[0].col[i]);
		}
	/* groups are those that the generator made: four switches each, in order */
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		assert_int_equal(s->group[sw], sw / 4);
	assert_int_equal(m->plane[0].nrow, 5);
	assert_int_equal(m->plane[0].ncol, 6);
	for (uint32_t r = 0; r < 5; r++) /* six steps around, each from the place of its column */
		for (uint32_t x = 0; x < 6; x++) {
			uint32_t c = m->plane[0].chan[m->plane[0].row_off[r] + x];

			assert_int_equal(m->plane[0].col[m->plane[0].row_off[r] + x], x);
			assert_int_equal(grid_coord(t->grid, g->chan_src[c])[0], x);
			assert_int_equal(grid_coord(t->grid, g->chan_dst[c])[0], (x + 1) % 6);
		}
	heat_layout_free(l);
	heat_layout_free(m);
	topology_kind_free(s);
	topology_kind_free(t);
	fabric_put(f);
	fabric_put(g);
}

static void racks_are_read_from_names(void **state)
{
	static const struct {
		const char *name, *rack;
	} names[] = { { "r07s1", "r07" },
		      { "isw-r3u40", "r3" },
		      { "Rack 12 leaf 3", "Rack 12" },
		      { "rack-4-tor", "rack-4" },
		      { "x1000c2r7b0", "x1000" },
		      { "cab11sw2", "cab11" },
		      { "leaf01", NULL },
		      { "spine1", NULL },
		      { "server12", NULL },
		      { "x12", NULL },
		      { "", NULL },
		      { "MF0;r2s1:MQM9700/U1", "r2" } };
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool found = rack_in_name(buf, sizeof(buf), names[i].name);

		assert_int_equal(found, names[i].rack != NULL);
		if (found)
			assert_string_equal(buf, names[i].rack);
	}
}

/* A tree whose leaves are named by their racks, two each. */
static struct fabric *in_racks(bool hosts)
{
	struct fabric *f = net_spec("fattree2:leaves=8,spines=4,hosts=3");
	static char names[64][32];

	for (uint32_t i = 0; i < f->nsw && !hosts; i++) {
		snprintf(names[i], sizeof(names[i]), "r%02us%u", i / 2 + 1, i % 2);
		f->sw_name[i] = names[i];
	}
	for (uint32_t i = 0; i < f->nterm && hosts; i++) {
		snprintf(names[i], sizeof(names[i]), "r%02un%u", f->term_sw[i] / 2 + 1, i);
		f->term_name[i] = names[i];
	}
	return f;
}

static void racks_are_those_of_switches_else_of_their_hosts(void **state)
{
	(void)state;
	for (int hosts = 0; hosts < 2; hosts++) {
		struct fabric *f = in_racks(hosts);
		struct topology_kind *s = topology_kind_new(f);
		struct racks *r = racks_new(f, NULL, NULL);
		struct heat_layout *l = heat_layout_new(f, s, r);
		struct heat_rows rows = { 0 };
		struct state st;

		state_init(&st);
		st.fabric = f;
		/* spines are in racks 5 and 6, or say nothing of themselves */
		assert_int_equal(r->n, hosts ? 5 : 6);
		assert_string_equal(r->from, hosts ? "host names" : "switch names");
		assert_string_equal(r->name[4], hosts ? "elsewhere" : "r05");
		for (uint32_t sw = 0; sw < 8; sw++)
			assert_int_equal(r->of[sw], sw / 2);
		assert_int_equal(strncmp(l->plane[1].title, "rack x rack", 11), 0);
		assert_int_equal(l->plane[1].nrow, r->n);
		assert_false(heat_sort_suits(HEAT_BY_RACK, &l->plane[1], r));
		assert_true(heat_sort_suits(HEAT_BY_RACK, &l->plane[0], r));
		heat_rows_set(&rows, &l->plane[2], HEAT_BY_RACK, &st, r);
		for (uint32_t i = 1; i < rows.n; i++)
			assert_true(r->of[l->plane[2].row_sw[rows.row[i - 1]]] <=
				    r->of[l->plane[2].row_sw[rows.row[i]]]);
		heat_rows_done(&rows);
		heat_layout_free(l);
		racks_free(r);
		topology_kind_free(s);
		fabric_put(f);
	}
}

static void names_without_racks_make_no_racks(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2");
	struct racks *r = racks_new(f, NULL, NULL);

	(void)state;
	assert_int_equal(r->n, 0);
	racks_free(r);
	fabric_put(f);
}

/* The racks that a text in SLURM's words makes of a tree of 8 leaves, 4 spines, 3 hosts a leaf. */
static struct racks *racks_by(struct fabric *f, const char *text)
{
	FILE *in = text_file(text, strlen(text));
	struct slurm_topology *topo = NULL;
	struct err err = { "" };
	struct racks *r;

	if (slurm_topology_read(&topo, in, "topology.conf", NULL, &err))
		fail_msg("%s", err.text);
	fclose(in);
	r = racks_new(f, topo, "/etc/slurm/topology.conf");
	slurm_topology_free(topo);
	return r;
}

static void check_pairs(const char *text, const char *first)
{
	struct fabric *f = net_spec("fattree2:leaves=8,spines=4,hosts=3");
	struct racks *r = racks_by(f, text);
	struct topology_kind *s = topology_kind_new(f);
	struct heat_layout *l = heat_layout_new(f, s, r);

	assert_int_equal(r->n, 5);
	assert_string_equal(r->from, "topology.conf");
	assert_string_equal(r->name[0], first);
	assert_string_equal(r->name[4], "elsewhere");
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		assert_int_equal(r->of[sw], f->sw_nterm[sw] ? sw / 2 : 4);
	assert_string_equal(l->plane[1].title, "rack x rack by topology.conf");
	assert_int_equal(l->plane[1].nrow, 5);
	heat_layout_free(l);
	racks_free(r);
	topology_kind_free(s);
	fabric_put(f);
}

static void racks_of_a_file_go_before_names(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=8,spines=4,hosts=3");
	char hosts[1024] = "", leaves[2048] = "";

	(void)state;
	/* blocks of hosts of two leaves each */
	for (uint32_t k = 0; k < 4; k++)
		snprintf(hosts + strlen(hosts), sizeof(hosts) - strlen(hosts),
			 "SwitchName=row%u Nodes=%s,%s,%s,%s,%s,%s\n", k + 1, f->term_name[6 * k],
			 f->term_name[6 * k + 1], f->term_name[6 * k + 2], f->term_name[6 * k + 3],
			 f->term_name[6 * k + 4], f->term_name[6 * k + 5]);
	check_pairs(hosts, "row1");
	/* a block is a leaf: what is above it */
	for (uint32_t k = 0; k < 8; k++)
		snprintf(leaves + strlen(leaves), sizeof(leaves) - strlen(leaves),
			 "SwitchName=l%u Nodes=%s,%s,%s\n", k, f->term_name[3 * k],
			 f->term_name[3 * k + 1], f->term_name[3 * k + 2]);
	for (uint32_t k = 0; k < 4; k++)
		snprintf(leaves + strlen(leaves), sizeof(leaves) - strlen(leaves),
			 "SwitchName=pod%u Switches=l%u,l%u\n", k, 2 * k, 2 * k + 1);
	strcat(leaves, "SwitchName=top Switches=pod[0-3]\n");
	check_pairs(leaves, "pod0");
	/* switches of the fabric by their names */
	hosts[0] = '\0';
	for (uint32_t k = 0; k < 4; k++)
		snprintf(hosts + strlen(hosts), sizeof(hosts) - strlen(hosts),
			 "SwitchName=rack%u Switches=%s,%s\n", k + 7, f->sw_name[2 * k],
			 f->sw_name[2 * k + 1]);
	check_pairs(hosts, "rack7");
	fabric_put(f);
}

static void a_file_of_another_fabric_is_told_and_left_out(void **state)
{
	struct fabric *f = in_racks(false);
	struct racks *r = racks_by(f, "SwitchName=a Nodes=x[1-9]\nSwitchName=b Nodes=y[1-9]\n");

	(void)state;
	assert_string_equal(r->from, "switch names");
	assert_int_equal(r->n, 6);
	racks_free(r);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_channel_is_in_exactly_one_cell),
		cmocka_unit_test(different_cables_of_a_row_share_a_cell_only_when_parallel),
		cmocka_unit_test(shapes_are_recognised),
		cmocka_unit_test(storage_on_spines_leaves_a_tree_a_tree),
		cmocka_unit_test(windows_fit_the_screen_at_every_size_and_zoom),
		cmocka_unit_test(at_the_fit_all_of_2064_switches_is_on_a_small_screen),
		cmocka_unit_test(a_channel_is_found_in_its_planes),
		cmocka_unit_test(cells_of_groups_and_lines_join_what_they_say),
		cmocka_unit_test(racks_are_read_from_names),
		cmocka_unit_test(racks_are_those_of_switches_else_of_their_hosts),
		cmocka_unit_test(racks_of_a_file_go_before_names),
		cmocka_unit_test(a_file_of_another_fabric_is_told_and_left_out),
		cmocka_unit_test(names_without_racks_make_no_racks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
