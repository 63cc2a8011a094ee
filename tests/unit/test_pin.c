/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/pin.h"

#include "engines/verify.h"
#include "fabric/base/mem.h"
#include "fabric/model/route_limits.h"
#include "fabric/model/tdiff.h"
#include "tests/unit/fabkit.h"
#include "tests/unit/route_check.h"
#include "tests/unit/small_net.h"

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
	unsigned routed, refused, anew;
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
			if (getenv("SHOW"))
				printf("# %s: %s onto %s: %s\n", what, e[k]->name, cur->engine,
				       err.text);
			done->refused++;
			notes_done(&notes);
			continue;
		}
		done->routed++;
		done->anew += strstr(notes_find(&notes, "pinned")->text, "layers") != NULL;
		notes_done(&notes);
		assert_complete(f, t);
		if (getenv("SHOW"))
			printf("# %s %s onto %s escape %d\n", what, e[k]->name, cur->engine,
			       escape);
		assert_clean(f, t, what);
		assert_pinned(f, cur, t, limits.pin, escape);
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
	printf("# %u routed, %u of them with new layers, %u refused for VLs\n", done.routed,
	       done.anew, done.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pinned_routes_stay_whatever_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
