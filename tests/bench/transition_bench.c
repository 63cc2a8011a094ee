/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transition_bench: how updates are cut into waves, judged by brute force, and what that costs.
 *
 *   transition_bench judge [FABRICS [ORDERS [SEED]]]   random pairs of engines, played
 *   transition_bench cost OLD NEW SPEC...              CPU seconds, one thread
 *   transition_bench cost OLD+N NEW ...                new is old but for N random blocks
 *
 * The sum at the end of a line of cost is over all waves and drains: two builds that print the same
 * one plan the same.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/transition/transition.h"
#include "engines/transition/wave_judge.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/write_judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- judge ---- */

struct totals {
	struct judge_count count;
	uint32_t pairs, refused, one_wave, more_waves, with_drain, sure, irreducible, bad;
	uint64_t lids, drained;
};

static void judge_pair(struct totals *sum, const char *spec, const struct fabric *f,
		       const struct tables *old, const struct tables *new, const char *names,
		       bool sl_any, bool quick, uint32_t orders)
{
	struct transition_params params = { .sl_any = sl_any, .quick = quick };
	struct transition *t;
	struct err err;
	const char *what;
	uint32_t drained[4] = { 0 };

	if (transition_plan(&t, f, old, new, &params, NULL, &err)) {
		sum->refused++;
		printf("%-58s %-16s %s\n", spec, names, err.text);
		return;
	}
	what = judge_transition(f, old, new, t, sl_any, orders, 1, &sum->count);
	for (uint32_t i = 0; i < t->ndrain; i++)
		drained[t->drain[i].why]++;
	printf("%-58s %-16s %s%s waves %2u  LIDs %3u  drain %3u (%u loop, %u SL, %u SLs, %u order)  "
	       "writes %3u of %3u%s%s  %s\n",
	       spec, names, sl_any ? "any " : "last", quick ? " quick" : "", t->nwaves, t->lids,
	       t->ndrain, drained[0], drained[1], drained[2], drained[3], t->nwrites, t->blocks,
	       t->old_cyclic ? " old cyclic" : "", t->irreducible ? "" : " reducible?",
	       what ? what : "ok");
	sum->pairs++;
	sum->one_wave += t->nwaves <= 1 && !t->ndrain;
	sum->more_waves += t->nwaves > 1 && !t->ndrain;
	sum->with_drain += t->ndrain > 0;
	sum->irreducible += t->irreducible;
	sum->lids += t->lids;
	sum->drained += t->ndrain;
	sum->bad += what != NULL;
	transition_free(t);
}

/* Links with that many VLs, some of them with more: SLs of the other tables may go beyond. */
static void limit_vls(struct fabric *f, unsigned vls, struct rng *r)
{
	for (uint32_t i = 0; i < f->nport; i++)
		f->port[i].op_vls = (uint8_t)(vls + rng_below(r, 4) / 3 * 4);
}

static struct tables *route_with(const struct fabric *f, unsigned vls, struct rng *r,
				 const char **name)
{
	struct engine_params params = { .vls = 4, .threads = 1 };
	const struct engine *const *all;
	size_t n;

	all = engine_all(&n);
	for (int i = 0; i < 20; i++) {
		const struct engine *e = all[rng_below(r, n)];
		uint64_t root = f->sw_guid[rng_below(r, f->nsw)];
		struct tables *t;

		params.seed = rng_u64(r);
		params.vls = 1 + (unsigned)rng_below(r, vls);
		params.roots = &root;
		params.nroots = rng_below(r, 2);
		if (engine_run(e, &t, f, NULL, NULL, &params, NULL, NULL))
			continue;
		*name = e->name;
		return t;
	}
	return NULL;
}

/* The same paths on the same VLs by other SLs; what no path uses is dropped, or on a VL of its
 * number, which the links may not have. */
static void rename_sls(const struct fabric *f, struct tables *t, struct rng *r)
{
	uint8_t by = 1 + (uint8_t)rng_below(r, 15);
	bool drop = rng_below(r, 2);

	if (t->sl_kind == SL_BY_TERM || t->sl2vl_kind != SL2VL_IDENTITY)
		return;
	t->sl_const = (t->sl_const + by) % FAB_SLS;
	for (size_t i = 0; t->sl && i < (t->sl_kind == SL_BY_DLID ? 1 : f->nsw) * t->stride; i++)
		t->sl[i] = (t->sl[i] + by) % FAB_SLS;
	tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
	for (uint32_t i = 0; i < tables_sl2vl_bytes(t); i++) {
		uint8_t vl = (uint8_t)((i - by) % FAB_SLS);

		t->sl2vl[i] = vl < t->vls ? vl : drop ? VL_DROP : (uint8_t)(i % FAB_SLS);
	}
}

static void random_spec(char *spec, size_t size, struct rng *r)
{
	uint64_t seed = 1 + rng_below(r, 1000000);
	unsigned a = (unsigned)rng_below(r, 3), b = (unsigned)rng_below(r, 3), n = 5 + a + b;
	unsigned hosts = 1 + (unsigned)rng_below(r, 4);

	switch (rng_below(r, 6)) {
	case 0:
		snprintf(spec, size, "hyperx:dims=%ux%u,hosts=%u,lmc=1", 2 + a, 2 + b, hosts);
		return;
	case 1:
		snprintf(spec, size, "torus:dims=%ux%u,hosts=1", 3 + a / 2, 3 + b / 2);
		return;
	case 2:
		snprintf(spec, size, "fattree2:leaves=%u,spines=%u,hosts=%u", 3 + a, 2 + b, hosts);
		return;
	default:
		snprintf(spec, size,
			 "random:switches=%u,links=%u,hosts=%u,lids=random,seed=%" PRIu64, n,
			 n + (unsigned)rng_below(r, n), hosts, seed);
	}
}

static int judge(uint32_t fabrics, uint32_t orders, uint64_t seed)
{
	struct totals sum = { 0 };
	struct rng r;
	double begin = cpu_s();

	rng_seed(&r, seed);
	for (uint32_t i = 0; i < fabrics; i++) {
		struct fabric *f;
		struct tables *old, *new;
		struct err err;
		const char *a = "", *b = "";
		char spec[96], names[40];
		unsigned vls;

		random_spec(spec, sizeof(spec), &r);
		if (make_fabric(&f, spec, &err)) {
			fprintf(stderr, "%s: %s\n", spec, err.text);
			return 1;
		}
		vls = i % 2 ? 8 : 1u << rng_below(&r, 3);
		if (vls < 8)
			limit_vls(f, vls, &r);
		old = route_with(f, vls, &r, &a);
		new = route_with(f, vls, &r, &b);
		if (vls < 8 && old && rng_below(&r, 2))
			rename_sls(f, old, &r);
		if (vls < 8 && new &&rng_below(&r, 2))
			rename_sls(f, new, &r);
		snprintf(names, sizeof(names), "%s>%s", a, b);
		for (int k = 0; k < 4 && old && new && !tables_same(old, new, f); k++)
			judge_pair(&sum, spec, f, old, new, names, k & 1, k >> 1, orders);
		tables_put(old);
		tables_put(new);
		fabric_put(f);
	}
	printf("%u updates (%u refused: new tables with cycles): one wave %u, more %u, with a drain "
	       "%u (%" PRIu64 " of %" PRIu64 " LIDs; irreducible %u)\n"
	       "%" PRIu64 " waves, %" PRIu64 " orders, %" PRIu64 " states, %" PRIu64
	       " of them by verify: %u bad; %.1f CPU s\n",
	       sum.pairs, sum.refused, sum.one_wave, sum.more_waves, sum.with_drain, sum.drained,
	       sum.lids, sum.irreducible, sum.count.waves, sum.count.orders, sum.count.states,
	       sum.count.verified, sum.bad, cpu_s() - begin);
	return sum.bad != 0;
}

/* ---- cost ---- */

struct watch {
	double last, gap;
};

static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watch *w = ctx;
	double now = cpu_s();

	(void)step;
	(void)done;
	(void)total;
	w->gap = now - w->last > w->gap ? now - w->last : w->gap;
	w->last = now;
}

static struct tables *route(const char *name, const struct fabric *f, struct err *err)
{
	struct engine_params params = { .threads = 1 };
	const struct engine *e = engine_find(name, err);
	struct tables *t = NULL;

	if (e)
		engine_run(e, &t, f, NULL, NULL, &params, NULL, err);
	return t;
}

/* Takes the entries of some blocks from other tables. */
static struct tables *mix(const struct fabric *f, const struct tables *a, const struct tables *b,
			  uint32_t blocks)
{
	struct tables *t = tables_onto(f, a, a);
	struct rng r;

	rng_seed(&r, 1);
	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t block = (uint32_t)rng_below(&r, tables_blocks(a));

		for (uint32_t sw = 0; sw < f->nsw; sw++)
			memcpy(tables_row(t, sw) + block * LFT_BLOCK,
			       tables_row(b, sw) + block * LFT_BLOCK, LFT_BLOCK);
	}
	return t;
}

/* FNV-1a */
static uint64_t sum_more(uint64_t sum, uint64_t value)
{
	for (int i = 0; i < 64; i += 8)
		sum = (sum ^ (value >> i & 0xff)) * 0x100000001b3;
	return sum;
}

static uint64_t sum_of(const struct transition *t)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (uint32_t i = 0; i < t->nwrites; i++) {
		const struct transition_write *w = &t->writes[i];

		sum = sum_more(sum_more(sum, w->wave), w->sw);
		sum = sum_more(sum_more(sum, w->block), w->now);
	}
	for (uint32_t i = 0; i < t->ndrain; i++)
		sum = sum_more(sum_more(sum, t->drain[i].lid), t->drain[i].why);
	return sum;
}

/* Seconds that who writes it takes to see that it is safe. */
static double judged(const struct fabric *f, const struct tables *old, const struct tables *new,
		     const struct transition *t)
{
	bool *drained = xcalloc(f->max_lid + 1u, sizeof(*drained));
	double begin = cpu_s();
	struct err err;

	for (uint32_t i = 0; i < t->ndrain; i++)
		drained[t->drain[i].lid] = true;
	if (wave_judge(f, old, new, t, drained, NULL, &err))
		printf("%s\n", err.text);
	free(drained);
	return cpu_s() - begin;
}

static int cost(const char *from, const char *to, const char *spec, struct err *err)
{
	char *name = xstrdup(from), *plus = strchr(name, '+');
	struct watch w = { 0 };
	struct progress p = { .report = report, .ctx = &w };
	struct fabric *f = NULL;
	struct tables *old = NULL, *new = NULL, *mixed;
	struct transition *t = NULL;
	struct rusage ru;
	double begin;
	int rc = make_fabric(&f, spec, err);

	if (plus)
		*plus++ = '\0';
	if (!rc) {
		old = route(name, f, err);
		new = old ? route(to, f, err) : NULL;
		rc = new ? 0 : -1;
	}
	if (!rc && plus) {
		mixed = mix(f, old, new, (uint32_t)atoi(plus));
		tables_put(new);
		new = mixed;
	}
	begin = w.last = cpu_s();
	if (!rc && transition_plan(&t, f, old, new, NULL, &p, err)) {
		printf("%-40s %s -> %s: %.3f s: %s\n", spec, from, to, cpu_s() - begin, err->text);
	} else if (!rc) {
		double end = cpu_s();
		uint32_t why[4] = { 0 };

		getrusage(RUSAGE_SELF, &ru);
		for (uint32_t i = 0; i < t->ndrain; i++)
			why[t->drain[i].why]++;
		printf("%-30s %s -> %s: %.3f s, gap %.3f s, %ld MB, %u waves, %u writes of %u "
		       "blocks, %u LIDs change, %u to drain (%u loop, %u SL, %u SLs, %u order)%s, "
		       "judged in %.3f s, %016" PRIx64 "\n",
		       spec, from, to, end - begin, w.gap, ru.ru_maxrss / 1024, t->nwaves,
		       t->nwrites, t->blocks, t->lids, t->ndrain, why[0], why[1], why[2], why[3],
		       t->irreducible ? " irreducible" : "", judged(f, old, new, t), sum_of(t));
	}
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
	free(name);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: transition_bench judge [FABRICS [ORDERS [SEED]]] | "
			   "cost OLD NEW SPEC..." };
	int rc = 1;

	if (argc > 1 && !strcmp(argv[1], "judge"))
		return judge(argc > 2 ? (uint32_t)atoi(argv[2]) : 50,
			     argc > 3 ? (uint32_t)atoi(argv[3]) : 1000,
			     argc > 4 ? (uint64_t)atoi(argv[4]) : 1);
	if (argc > 4 && !strcmp(argv[1], "cost"))
		for (int i = 4, bad = 0; i < argc && !bad; i++)
			rc = bad = cost(argv[2], argv[3], argv[i], &err);
	if (rc)
		fprintf(stderr, "transition_bench: %s\n", err.text);
	return rc != 0;
}
