/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every engine on every kind of fabric, judged by verify and measured by metrics. */
#include "engines/engine.h"
#include "engines/metrics/metrics.h"
#include "engines/verify/verify.h"
#include "engines/verify/verify_certificate.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const nets[] = {
	"fattree2:leaves=8,spines=6,hosts=12",
	"fattree2:leaves=4,spines=2,hosts=3,parallel=3",
	"fattree3:k=6",
	"kary:k=4,n=3,hosts=4",
	"xgft:h=3,m=4x3x4,w=1x2x2",
	"hyperx:dims=5x4,hosts=6",
	"torus:dims=3x3x3,hosts=4",
	"slimfly:q=5,hosts=3",
	"dragonfly:p=2",
	"oft:k=4",
	"kautz:b=3,n=2,hosts=8",
	"random:switches=30,links=90,hosts=5,seed=2",
};

#define NNETS (sizeof(nets) / sizeof(*nets))

static struct fabric *make(const char *spec, int lmc, const char *more)
{
	struct freeze_opts opts = { .lmc = lmc, .assign_lids = true };
	struct builder *b;
	struct fabric *f = NULL;
	struct err err;
	char text[160];

	snprintf(text, sizeof(text), "%s%s", spec, more);
	if (topo_build(&b, text, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s: %s", text, err.text);
	builder_free(b);
	return f;
}

static bool free_of_cycles(const struct engine *e)
{
	return strcmp(e->name, "minhop") != 0; /* the one that promises nothing about it */
}

static void assert_good(const struct engine *e, const char *spec, const struct fabric *f,
			const struct tables *t, const struct jobset *js)
{
	struct verify_opts opts = { .certificate = true };
	uint64_t *routes = count_routes(f, t);
	struct verdict *v;
	struct metrics *m;
	char text[400];

	assert_int_equal(verify_tables(&v, f, t, &opts, NULL, NULL), 0);
	verdict_sentence(text, sizeof(text), v, f);
	if (!v->connected || !v->loop_free || (free_of_cycles(e) && !verdict_ok(v)))
		fail_msg("%s on %s: %s", e->name, spec, text);
	if (v->deadlock_free)
		assert_int_equal(certificate_check(f, t, v->nvl, v->order, false, NULL), 0);
	if (t->vls)
		assert_true(v->vls_used <= t->vls);

	assert_int_equal(metrics_compute(&m, f, t, js, NULL, NULL, NULL), 0);
	assert_int_equal(m->unreachable, 0);
	assert_memory_equal(m->efi, routes, f->nchan * sizeof(*routes));
	if (m->eff_efi_bound > m->eff_efi_max)
		fail_msg("%s on %s: bound %lu, reached %lu", e->name, spec,
			 (unsigned long)m->eff_efi_bound, (unsigned long)m->eff_efi_max);
	assert_int_equal(m->vls_used, v->vls_used);
	assert_int_equal(m->sls_used, v->sls_used);
	metrics_free(m);
	verdict_free(v);
	free(routes);
}

/* Returns the engines that could route it; a refusal must be for want of VLs. */
static uint32_t judge_net(const char *spec, int lmc, const char *more, uint64_t seed)
{
	struct fabric *f = make(spec, lmc, more);
	size_t n, i;
	const struct engine *const *all = engine_all(&n);
	struct engine_params params = { .vls = 15, .threads = 1 };
	struct jobset *js;
	uint32_t routed = 0;
	struct rng r;

	rng_seed(&r, seed);
	js = kit_random_jobs(f, 8, 20, &r);
	for (i = 0; i < n; i++) {
		struct tables *t;
		struct err err;
		int rc;

		if (all[i]->suits(f, &err))
			continue;
		rc = engine_run(all[i], &t, f, js, NULL, &params, NULL, &err);
		if (rc && rc != -ENOSPC)
			fail_msg("%s on %s%s: %s", all[i]->name, spec, more, err.text);
		if (rc)
			continue;
		assert_good(all[i], spec, f, t, js);
		routed++;
		tables_put(t);
	}
	jobset_put(js);
	fabric_put(f);
	return routed;
}

static void every_engine_passes_on_every_kind_of_fabric(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NNETS; i++)
		assert_true(judge_net(nets[i], 0, "", i) >= 3);
}

static void every_engine_passes_with_failed_cables_and_two_lids_a_port(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NNETS; i++)
		assert_true(judge_net(nets[i], 1, ",fail=2", i) >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_passes_on_every_kind_of_fabric),
		cmocka_unit_test(every_engine_passes_with_failed_cables_and_two_lids_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
