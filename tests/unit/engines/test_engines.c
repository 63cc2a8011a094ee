/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract that all engines share, on every generated topology, judged by verify. */
#include "engines/engine.h"
#include "engines/updn.h"
#include "engines/verify/verify.h"

#include "fabric/base/memory/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void judge_fabric(const char *spec, const struct fabric *f, const struct engine *e)
{
	struct verify_opts opts = { .certificate = false };
	struct tables *t;
	struct verdict *v;
	char why[256];

	if (e->suits(f, NULL))
		return;
	t = must_route(e, f, NULL, NULL);
	assert_int_equal(verify_tables(&v, f, t, &opts, NULL, NULL), 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s by %s: %s", spec, e->name, why);
	assert_int_equal(v->vls_used, t->vls);
	verdict_free(v);
	tables_put(t);
}

static void judge(const char *spec, const struct engine *e)
{
	struct fabric *f = net_spec(spec);

	judge_fabric(spec, f, e);
	fabric_put(f);
}

static void every_engine_routes_every_topology(void **state)
{
	static const char *const specs[] = {
		"fattree2:leaves=8,spines=4,hosts=6",
		"fattree2:leaves=8,spines=4,hosts=6,fail=4,lids=random",
		"fattree3:k=6",
		"fattree3:k=6,fail=5,lmc=1",
		"kary:k=3,n=3,hosts=3",
		"xgft:h=3,m=3x3x4,w=1x3x3",
		"hyperx:dims=5x4,hosts=2",
		"hyperx:dims=3x3x2,hosts=2,fail=6,lmc=2",
		"torus:dims=4x4,hosts=2",
		"torus:dims=3x3x3,hosts=1,fail=3,lids=random",
		"dragonfly:p=2",
		"dragonfly:p=2,fail=9",
		"slimfly:q=5",
		"oft:k=4",
		"kautz:b=3,n=2,hosts=2",
		"random:switches=25,links=60,hosts=3,seed=1,fail=5",
		"random:switches=40,links=80,hosts=2,seed=7,lmc=1,lids=random",
	};
	const struct engine *const *e;
	size_t n;

	(void)state;
	e = engine_all(&n);
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		for (size_t k = 0; k < n; k++)
			judge(specs[i], e[k]);
}

static void every_engine_routes_random_fabrics_with_failures(void **state)
{
	const struct engine *const *e;
	char spec[128];
	size_t n;

	(void)state;
	e = engine_all(&n);
	for (unsigned seed = 1; seed <= 40; seed++) {
		unsigned sw = 6 + seed, links = 2 * sw + seed % 7 * 4;

		snprintf(spec, sizeof(spec),
			 "random:switches=%u,links=%u,hosts=%u,seed=%u,fail=%u,lmc=%u%s", sw, links,
			 1 + seed % 4, seed, seed % 9, seed % 3, seed % 2 ? ",lids=random" : "");
		for (size_t k = 0; k < n; k++)
			judge(spec, e[k]);
	}
}

static struct fabric *from_dump(const char *path, FILE *in)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct fabric *f = NULL;
	struct builder *b;
	struct err err;

	if (ibnd_read(&b, in, path, NULL, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s: %s", path, err.text);
	builder_free(b);
	return f;
}

/* Aggregation nodes on every spine, parallel cables, uneven trees. */
static void every_engine_routes_the_real_fabrics(void **state)
{
	static const char *const names[] = {
		"topograph-ndr-40sw-2025.ibnetdiscover",
		"psmn-x5-2020.ibnetdiscover",
		"kalcher-qdr-2014.ibnetdiscover",
	};
	const struct engine *const *e;
	size_t n;

	(void)state;
	e = engine_all(&n);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct fabric *f;
		char *path = shared_file(names[i]);
		FILE *in;

		if (!path)
			skip();
		in = fopen(path, "r");
		assert_non_null(in);
		f = from_dump(path, in);
		fclose(in);
		free(path);
		for (size_t k = 0; k < n; k++)
			judge_fabric(names[i], f, e[k]);
		fabric_put(f);
	}
}

/* The figures of the path-first-fit prototype, which broke records of cycle breaking. */
static void layers_are_as_few_as_promised(void **state)
{
	static const struct {
		const char *spec;
		unsigned vls;
	} want[] = {
		{ "hyperx:dims=12x8,hosts=7", 2 },
		{ "slimfly:q=7,hosts=11", 2 },
		{ "dragonfly:p=4", 3 },
		{ "torus:dims=4x4x4,hosts=4", 6 },
		{ "fattree2:leaves=18,spines=18,hosts=18", 1 },
		{ "kary:k=6,n=3,hosts=6", 1 },
		{ "random:switches=125,links=1000,hosts=8,seed=1", 3 },
	};
	const struct engine *e = engine_find("dfsssp", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = net_spec(want[i].spec);
		struct engine_params params = { .vls = want[i].vls };
		struct tables *t = must_route(e, f, NULL, &params);

		if (t->vls > want[i].vls)
			fail_msg("%s takes %u VLs", want[i].spec, t->vls);
		tables_put(t);
		fabric_put(f);
	}
}

static void engines_are_found_by_name_and_the_names_are_said(void **state)
{
	const struct engine *const *e;
	struct err err;
	size_t n;

	(void)state;
	e = engine_all(&n);
	assert_true(n >= 4);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(engine_find(e[i]->name, NULL), e[i]);
		assert_true(strlen(e[i]->summary) > 10);
	}
	assert_null(engine_find("magic", &err));
	assert_non_null(strstr(err.text, "magic"));
	assert_non_null(strstr(err.text, "dfsssp"));
}

static void vls_are_those_of_the_links_when_nobody_says(void **state)
{
	struct fabric *f = net_ring(8, 1, NULL);
	const struct engine *e = engine_find("dfsssp", NULL);
	struct engine_params p = { 0 };
	struct tables *t = NULL;
	struct err err = { "" };

	(void)state;
	for (uint32_t i = 0; i < f->nport; i++)
		f->port[i].op_vls = 1;
	assert_int_equal(engine_run(e, &t, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "1 may be used"));
	for (uint32_t i = 0; i < f->nport; i++)
		f->port[i].op_vls = 2;
	t = must_route(e, f, NULL, &p);
	assert_int_equal(t->vls, 2);
	tables_put(t);
	fabric_put(f);
}

static void parts_without_terminals_are_named_by_their_switches(void **state)
{
	struct fabric *f = net_chain(4, 0, 1, NULL);
	const struct engine *const *e;
	struct err err;
	size_t n;

	(void)state;
	e = engine_all(&n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(e[i]->suits(f, &err), -ENETUNREACH);
		assert_non_null(strstr(err.text, "switch S0"));
		assert_non_null(strstr(err.text, "switch S2"));
	}
	fabric_put(f);
}

/* By every engine that does not refuse the fabric at once. */
static void route_bare(const struct engine *e, const struct fabric *f)
{
	struct tables *t;

	if (e->suits(f, NULL))
		return;
	t = must_route(e, f, NULL, NULL);
	assert_complete(f, t);
	tables_put(t);
}

static void a_switch_alone_and_a_fabric_without_terminals_are_routed(void **state)
{
	struct fabric *alone = net_chain(1, 3, FAB_NONE, NULL);
	struct fabric *empty = net_ring(4, 0, NULL);
	const struct engine *const *e;
	size_t n;

	(void)state;
	e = engine_all(&n);
	for (size_t i = 0; i < n; i++) {
		route_bare(e[i], alone);
		route_bare(e[i], empty);
	}
	fabric_put(alone);
	fabric_put(empty);
}

/* Cancels at a report. */
struct stop {
	struct progress p;
	unsigned left, reports;
};

static void count_down(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct stop *s = ctx;

	(void)step;
	assert_true(done <= total);
	s->reports++;
	if (!s->left--)
		atomic_store(&s->p.cancel, true);
}

/* Job 1 on the even terminals, 2 on the odd ones of the first half. */
static struct jobset *two_jobs(const struct fabric *f)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	const char **names = xcalloc(f->nterm, sizeof(*names));

	for (uint32_t id = 1; id <= 2; id++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < f->nterm / id; i++)
			if (i % 2 == id - 1)
				names[n++] = f->term_name[i];
		jobset_builder_add(b, &(struct job){ .id = id }, names, n);
	}
	free(names);
	return jobset_build(b);
}

/* Tables in which the entries of some switches to every fifth LID are gone. */
static struct tables *broken_tables(const struct fabric *f)
{
	struct tables *t = must_route(&engine_updn, f, NULL, NULL);

	for (uint32_t u = 0; u < f->nsw; u += 3)
		for (uint32_t i = 0; i < f->nterm; i += 5)
			if (f->term_sw[i] != u)
				tables_row(t, u)[f->term_lid[i]] = FAB_NO_PORT;
	return t;
}

/* One report after another, later ones in larger steps; returns how often. */
static unsigned cancel_everywhere(const struct engine *e, const struct fabric *f,
				  const struct jobset *jobs, const struct tables *current)
{
	unsigned left = 0, n = 0;
	int rc;

	do {
		struct stop s = { .p = { .report = count_down }, .left = left };
		struct engine_params params = { .threads = 1 + n % 2,
						.vls = 8,
						.current = current };
		struct tables *t = NULL;
		struct err err;

		s.p.ctx = &s;
		rc = engine_run(e, &t, f, jobs, NULL, &params, &s.p, &err);
		if (rc && rc != -ECANCELED && s.reports <= left)
			return 0; /* not for this fabric */
		if (rc && rc != -ECANCELED)
			fail_msg("%s, cancelled at report %u: %s", e->name, left, err.text);
		if (!rc && s.reports > left + 1)
			fail_msg("%s was cancelled at report %u of %u and went on", e->name, left,
				 s.reports);
		assert_int_equal(rc != 0, t == NULL);
		tables_put(t);
		left += 1 + left / 2;
		n++;
	} while (rc);
	return n;
}

static void every_engine_can_be_cancelled_at_one_report_after_another(void **state)
{
	static const char *const spec[] = { "fattree3:k=8,fail=3%", "dragonfly:p=2,fail=2%",
					    "hyperx:dims=4x3,hosts=2,lmc=2,fail=2",
					    "torus:dims=4x4,hosts=2,fail=2" };
	const struct engine *const *e;
	size_t n;

	(void)state;
	e = engine_all(&n);
	for (size_t i = 0; i < n; i++) {
		unsigned times = 0;

		for (size_t k = 0; k < sizeof(spec) / sizeof(*spec); k++) {
			struct fabric *f = net_spec(spec[k]);
			struct jobset *jobs = two_jobs(f);
			struct tables *current = broken_tables(f);
			unsigned m = cancel_everywhere(e[i], f, jobs, current);

			times += m;
			tables_put(current);
			jobset_put(jobs);
			fabric_put(f);
		}
		if (times < 5)
			fail_msg("%s was cancelled %u times", e[i]->name, times);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_routes_every_topology),
		cmocka_unit_test(every_engine_routes_random_fabrics_with_failures),
		cmocka_unit_test(every_engine_routes_the_real_fabrics),
		cmocka_unit_test(layers_are_as_few_as_promised),
		cmocka_unit_test(engines_are_found_by_name_and_the_names_are_said),
		cmocka_unit_test(vls_are_those_of_the_links_when_nobody_says),
		cmocka_unit_test(parts_without_terminals_are_named_by_their_switches),
		cmocka_unit_test(a_switch_alone_and_a_fabric_without_terminals_are_routed),
		cmocka_unit_test(every_engine_can_be_cancelled_at_one_report_after_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
