/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of files, as plans: all forms, what they do not tell, and what does not fit. */
#include "console/input/route_file.h"

#include "engines/engine_spec.h"
#include "engines/verify/route_judge.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/plan/file/planfile.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_route_file.XXXXXX";
static struct fabric *f;
static struct tables *t; /* of nue: four SLs and VLs */

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static struct tables *routed(const struct fabric *of, const char *by)
{
	struct engine_params params = { 0 };
	struct engine_spec spec;
	struct tables *out;
	struct err err;

	if (engine_spec_parse(&spec, by, &err))
		fail_msg("%s", err.text);
	engine_spec_apply(&spec, &params);
	if (engine_run(spec.engine, &out, of, NULL, NULL, &params, NULL, &err))
		fail_msg("%s", err.text);
	return out;
}

typedef int writer(FILE *, const struct fabric *, const struct tables *, struct err *);

static void save(const char *name, writer *write)
{
	char *path = in_dir(name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(write(file, f, t, NULL), 0);
	fclose(file);
	free(path);
}

static int setup(void **state)
{
	char *ibr, *saved;
	struct tables *now;
	struct plan *p;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	f = net_spec("torus:dims=4x4,hosts=1");
	t = routed(f, "nue:4");
	now = routed(f, "updn");
	ibr = in_dir("tables.ibr");
	saved = in_dir("one.plan");
	assert_int_equal(tables_ibr_save(ibr, t, f, NULL), 0);
	save("lfts", osm_lfts_write);
	save("fdbs", osm_fdbs_write);
	save("path-sl", path_sl_write);
	save("sl2vl", osm_sl2vl_write);
	assert_int_equal(plan_new(&p, f, now, t, NULL, &(struct sm_pin){ 0 }, 0, NULL), 0);
	assert_int_equal(plan_save(saved, p, NULL), 0);
	plan_free(p);
	tables_put(now);
	free(ibr);
	free(saved);
	return 0;
}

static int teardown(void **state)
{
	char *cmd = xasprintf("rm -r %s", dir);
	int rc = system(cmd);

	(void)state;
	free(cmd);
	tables_put(t);
	fabric_put(f);
	return rc;
}

struct got {
	struct tables *t;
	struct plan_files files;
	struct notes notes;
	struct err err;
	int rc;
};

static void read_on(struct got *g, const struct fabric *of, const char *name, const char *path_sl,
		    const char *sl2vl)
{
	char *a = in_dir(name), *b = path_sl ? in_dir(path_sl) : NULL;
	char *c = sl2vl ? in_dir(sl2vl) : NULL;
	struct route_file from = { a, b, c };

	memset(g, 0, sizeof(*g));
	g->rc = route_file_read(&g->t, &g->files, &g->notes, &from, of, &g->err);
	assert_int_equal(g->rc != 0, g->t == NULL);
	if (g->rc)
		notes_done(&g->notes);
	free(a);
	free(b);
	free(c);
}

static void got_done(struct got *g)
{
	tables_put(g->t);
	notes_done(&g->notes);
}

static void forms_with_service_levels_are_the_same_routing(void **state)
{
	static const char *const from[][3] = { { "tables.ibr", NULL, NULL },
					       { "one.plan", NULL, NULL },
					       { "lfts", "path-sl", "sl2vl" },
					       { "fdbs", "path-sl", "sl2vl" } };
	struct got g;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		read_on(&g, f, from[i][0], from[i][1], from[i][2]);
		if (g.rc)
			fail_msg("%s", g.err.text);
		assert_true(tables_same(g.t, t, f));
		assert_null(notes_find(&g.notes, "sls_assumed"));
		assert_int_equal(g.files.n, i < 2 ? 1 : 3);
		got_done(&g);
	}
}

static void each_file_is_named_with_its_sha256(void **state)
{
	char *path = in_dir("lfts"), *cmd = xasprintf("sha256sum <%s", path), hex[DIGEST_HEX];
	char want[DIGEST_HEX];
	FILE *pipe = popen(cmd, "r");
	struct got g;

	(void)state;
	assert_int_equal(fread(want, 1, DIGEST_HEX - 1, pipe), DIGEST_HEX - 1);
	want[DIGEST_HEX - 1] = '\0';
	pclose(pipe);
	read_on(&g, f, "lfts", "path-sl", NULL);
	assert_string_equal(g.files.file[0].kind, "tables");
	assert_string_equal(g.files.file[0].path, path);
	assert_string_equal(digest_hex(hex, &g.files.file[0].sha256), want);
	assert_non_null(strstr(notes_find(&g.notes, "file_tables")->text, want));
	assert_string_equal(g.files.file[1].kind, "path-sl");
	assert_string_not_equal(digest_hex(hex, &g.files.file[1].sha256), want);
	got_done(&g);
	free(cmd);
	free(path);
}

/* As tables of files are judged. */
static const struct route_judge_opts apart = { .management_apart = true };

static void lfts_alone_are_taken_for_sl_0(void **state)
{
	struct verdict *v;
	struct got g;

	(void)state;
	read_on(&g, f, "lfts", NULL, NULL);
	assert_int_equal(g.rc, 0);
	assert_non_null(notes_find(&g.notes, "sls_assumed"));
	assert_int_equal(g.t->sl_kind, SL_CONST);
	assert_int_equal(route_judge(&v, f, g.t, &apart, NULL, NULL), 0);
	assert_true(v->connected && v->loop_free);
	assert_false(v->deadlock_free); /* on one lane paths of nue have cycles */
	verdict_free(v);
	got_done(&g);
	read_on(&g, f, "lfts", NULL, "sl2vl");
	assert_int_equal(g.rc, -EINVAL);
	assert_non_null(strstr(g.err.text, "path SLs is needed"));
}

/* Constant ones are as well known as others. */
static void service_levels_that_are_all_0_are_told(void **state)
{
	char *path = in_dir("zeros");
	FILE *file = fopen(path, "w");
	struct got g;

	(void)state;
	for (uint32_t a = 0; a < f->nterm; a++)
		for (uint32_t b = 0; b < f->nterm; b++)
			fprintf(file, "0x%016llx %u 0\n", (unsigned long long)f->term_guid[a],
				f->term_lid[b]);
	fclose(file);
	read_on(&g, f, "lfts", "zeros", "sl2vl");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.files.n, 3);
	assert_null(notes_find(&g.notes, "sls_assumed"));
	got_done(&g);
	free(path);
}

/* Of the paths from switches to hosts. */
static uint64_t lost_paths(const struct fabric *of, const struct tables *on)
{
	struct route_judge_opts opts = { .verify = { .terminals_only = true } };
	struct verdict *v;
	uint64_t n;

	assert_int_equal(route_judge(&v, of, on, &opts, NULL, NULL), 0);
	assert_int_equal(v->looping, 0);
	n = v->unreachable;
	verdict_free(v);
	return n;
}

/* A cable has gone since, a switch has come; whatever form they have. */
static void what_stands_of_an_older_state_is_taken(void **state)
{
	static const char *const names[] = { "one.plan", "tables.ibr", "" /* the folder */ };
	struct fabric *less = net_spec("torus:dims=4x4,hosts=1,fail=1,seed=1");
	struct got g;

	(void)state;
	for (int i = 0; i < 3; i++) {
		read_on(&g, less, names[i], NULL, NULL);
		assert_int_equal(g.rc, 0);
		assert_true(digest_equal(&g.t->fingerprint, &less->fingerprint));
		assert_true(lost_paths(less, g.t) > 0);
		got_done(&g);
	}
	fabric_put(less);
}

static void what_does_not_fit_says_what_differs(void **state)
{
	struct fabric *other = net_spec("dragonfly:p=2");
	struct fabric *more = net_spec("torus:dims=5x4,hosts=1");
	struct got g;

	(void)state;
	read_on(&g, other, "one.plan", NULL, NULL);
	assert_int_equal(g.rc, -ESTALE);
	assert_non_null(strstr(g.err.text, "does not match"));
	read_on(&g, other, "tables.ibr", NULL, NULL);
	assert_int_equal(g.rc, -ESTALE);
	read_on(&g, more, "lfts", NULL, NULL);
	assert_int_equal(g.rc, -ENODATA);
	assert_non_null(strstr(g.err.text, "of only 16 of the fabric's 20 switches"));
	read_on(&g, f, "path-sl", NULL, NULL);
	assert_int_equal(g.rc, -EINVAL);
	read_on(&g, f, "none", NULL, NULL);
	assert_int_equal(g.rc, -ENOENT);
	fabric_put(other);
	fabric_put(more);
}

static void what_a_reader_finds_strange_is_a_note_with_its_line(void **state)
{
	char *path = in_dir("odd"), *from = in_dir("lfts");
	char *cmd = xasprintf("sed '2i what is this' %s >%s", from, path);
	struct got g;

	(void)state;
	assert_int_equal(system(cmd), 0);
	read_on(&g, f, "odd", NULL, NULL);
	assert_int_equal(g.rc, 0);
	assert_non_null(strstr(notes_find(&g.notes, "file_warning_1")->text, "odd:2: "));
	got_done(&g);
	free(cmd);
	free(path);
	free(from);
}

static void nobody_has_to_wait_for_it(void **state)
{
	struct progress p = { 0 }, *before;
	struct got g;

	(void)state;
	atomic_store(&p.cancel, true);
	before = file_progress_set(&p);
	read_on(&g, f, "tables.ibr", NULL, NULL);
	file_progress_set(before);
	assert_int_equal(g.rc, -ECANCELED);
}

static uint32_t named(const struct fabric *of, const char *name)
{
	for (uint32_t sw = 0; sw < of->nsw; sw++)
		if (!strcmp(of->sw_name[sw], name))
			return sw;
	fail_msg("no switch %s", name);
	return 0;
}

/* The entry of at for the LID of the switch to leads to the switch next. */
static void lead(struct tables *x, const struct fabric *of, const char *at, const char *to,
		 const char *next)
{
	uint32_t chan = kit_chan(of, named(of, at), named(of, next));

	tables_row(x, named(of, at))[of->sw_lid[named(of, to)]] = of->chan_port[chan];
}

/* Two spines are reached in circles that wait for each other: only management goes there. */
static void routes_to_switches_alone_are_no_deadlock_of_others(void **state)
{
	struct fabric *tree = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct tables *mh = routed(tree, "minhop"), *as_file;
	struct verdict *v;
	char *path = in_dir("tree");
	FILE *file = fopen(path, "w");
	struct got g;

	(void)state;
	lead(mh, tree, "leaf1", "spine2", "spine1");
	lead(mh, tree, "spine1", "spine2", "leaf2");
	lead(mh, tree, "leaf2", "spine1", "spine2");
	lead(mh, tree, "spine2", "spine1", "leaf1");
	assert_int_equal(osm_lfts_write(file, tree, mh, NULL), 0);
	fclose(file);
	read_on(&g, tree, "tree", NULL, NULL);
	assert_int_equal(g.rc, 0);
	as_file = g.t;
	assert_int_equal(verify_tables(&v, tree, as_file, NULL, NULL, NULL), 0);
	assert_false(v->deadlock_free);
	verdict_free(v);
	assert_int_equal(route_judge(&v, tree, as_file, &apart, NULL, NULL), 0);
	assert_true(verdict_ok(v));
	verdict_free(v);
	got_done(&g);
	tables_put(mh);
	fabric_put(tree);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_with_service_levels_are_the_same_routing),
		cmocka_unit_test(each_file_is_named_with_its_sha256),
		cmocka_unit_test(lfts_alone_are_taken_for_sl_0),
		cmocka_unit_test(service_levels_that_are_all_0_are_told),
		cmocka_unit_test(what_stands_of_an_older_state_is_taken),
		cmocka_unit_test(what_does_not_fit_says_what_differs),
		cmocka_unit_test(what_a_reader_finds_strange_is_a_note_with_its_line),
		cmocka_unit_test(nobody_has_to_wait_for_it),
		cmocka_unit_test(routes_to_switches_alone_are_no_deadlock_of_others),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
