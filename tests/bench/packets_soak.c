/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets_soak: random transactions between random tables, with packets under way.
 *
 *   packets_soak [TRANSACTIONS [SEED]]
 *
 * Each is played three times on the same fabric with the same connections, which never stop to
 * send but for a drain:
 *   phases  all connections drain, move to their escape LIDs, send on; everything is written in a
 *           random order; all drain and move back with their new SLs
 *   waves   only LIDs that transition_plan() says need it are drained; the others send on their
 *           traffic LIDs while wave after wave is written, and take their new SLs at the end
 *   off     everything is written in a random order under full traffic, then SLs change
 * With phases nothing may be lost, come out of order, or deadlock; with waves nothing may be lost
 * or deadlock; off has to show what these are good for.  Exit code 0 when all of that is so.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/transition.h"
#include "fabric/base/mem.h"
#include "fabric/base/rng.h"
#include "fabric/base/vec.h"
#include "fabric/sim/packets.h"
#include "fabric/sim/topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP_ns	  2000
#define LIMIT_ns  20000000 /* whatever takes longer than this stands */
#define LIFE_ns	  200000
#define VLS	  15
#define CONNS	  3 /* of each terminal */
#define SEEDS_MAX 1000000

enum mode { MODE_PHASES, MODE_WAVES, MODE_OFF, MODES };
static const char *const mode_names[] = { "phases", "waves", "off" };

struct totals {
	uint64_t runs, injected, lost, misordered, deadlocks, stuck, congested, writes, waves,
		drained;
};

struct write {
	uint32_t wave, sw, block;
	uint64_t now; /* LIDs of the block; 0: SL2VL of (in, out) */
	uint8_t in, out;
};

struct game {
	const struct fabric *f;
	const struct tables *old, *new;
	const struct transition *plan;
	struct packets *p;
	struct rng rng;
	uint32_t nconn;
	uint32_t *src;
	uint16_t *dlid;
	bool *moved; /* to the escape LID */
	VEC(struct write) writes;
	bool deadlock, congested;
};

/* ---- time passes ---- */

static void look(struct game *g)
{
	g->deadlock = g->deadlock || packets_deadlock(g->p, NULL, NULL);
}

static void wait(struct game *g, uint64_t ns)
{
	uint64_t end = packets_now_ns(g->p) + ns;

	while (!g->deadlock && packets_now_ns(g->p) < end) {
		uint64_t next = packets_now_ns(g->p) + STEP_ns;

		packets_run(g->p, next < end ? next : end);
		look(g);
	}
}

/* Until all packets that were under way are gone. */
static void wait_for_old_packets(struct game *g)
{
	uint64_t now = packets_now_ns(g->p);

	while (!g->deadlock && packets_oldest_ns(g->p) <= now &&
	       packets_now_ns(g->p) < now + LIMIT_ns)
		wait(g, STEP_ns);
}

static bool drained(struct game *g)
{
	bool done = packets_run_drained(g->p, packets_now_ns(g->p) + LIMIT_ns);

	look(g);
	return done;
}

/* Where hosts never stop, the share of who comes from afar may be next to nothing: that is no
 * deadlock when all is gone once everybody stops. */
static bool drain(struct game *g)
{
	if (drained(g))
		return true;
	for (uint32_t c = 0; c < g->nconn; c++)
		packets_hold(g->p, c, true);
	g->congested = drained(g);
	return false;
}

/* ---- connections ---- */

static void hold(struct game *g, bool on)
{
	for (uint32_t c = 0; c < g->nconn; c++)
		if (g->moved[c])
			packets_hold(g->p, c, on);
}

/* Those of moved, drained before, to their escape LIDs or back. */
static void migrate(struct game *g, const struct tables *t, bool escape)
{
	uint16_t half = (uint16_t)(1u << (g->f->lmc - 1));

	for (uint32_t c = 0; c < g->nconn; c++) {
		uint16_t lid = (uint16_t)(g->dlid[c] + (escape ? half : 0));

		if (g->moved[c])
			packets_migrate(
				g->p, c, lid,
				tables_path_sl(t, g->src[c], g->f->term_sw[g->src[c]], lid));
	}
	hold(g, false);
}

static void take_new_sls(struct game *g)
{
	for (uint32_t c = 0; c < g->nconn; c++)
		if (!g->moved[c])
			packets_migrate(g->p, c, g->dlid[c],
					tables_path_sl(g->new, g->src[c], g->f->term_sw[g->src[c]],
						       g->dlid[c]));
}

/* Every round of connections is a permutation of the terminals. */
static void connect_all(struct game *g)
{
	const struct fabric *f = g->f;
	uint32_t half = 1u << (f->lmc - 1), shift = 1;

	g->nconn = CONNS * f->nterm;
	g->src = xcalloc(g->nconn, sizeof(*g->src));
	g->dlid = xcalloc(g->nconn, sizeof(*g->dlid));
	g->moved = xcalloc(g->nconn, sizeof(*g->moved));
	for (uint32_t c = 0; c < g->nconn; c++) {
		uint32_t src = c % f->nterm, dst;

		if (!src)
			shift = 1 + (uint32_t)rng_below(&g->rng, f->nterm - 1);
		dst = (src + shift) % f->nterm;
		g->src[c] = src;
		g->dlid[c] = (uint16_t)(f->term_lid[dst] + rng_below(&g->rng, half));
		packets_connect(g->p, src, g->dlid[c],
				tables_path_sl(g->old, src, f->term_sw[src], g->dlid[c]));
		packets_send(g->p, c, PACKETS_ENDLESS);
	}
}

/* ---- writes ---- */

static bool sl2vl_differs(const struct game *g, uint32_t sw, uint8_t in, uint8_t out)
{
	for (uint8_t sl = 0; sl < FAB_SLS; sl++)
		if (tables_vl(g->old, g->f, sw, in, out, sl) !=
		    tables_vl(g->new, g->f, sw, in, out, sl))
			return true;
	return false;
}

static void list_sl2vl(struct game *g, uint32_t sw, uint32_t wave)
{
	uint32_t ports = g->f->sw_nports[sw] + 1u;

	for (uint32_t row = 0; row < ports * ports; row++) {
		uint8_t in = (uint8_t)(row / ports), out = (uint8_t)(row % ports);

		if (out && sl2vl_differs(g, sw, in, out))
			vec_push(&g->writes,
				 (struct write){ .wave = wave, .sw = sw, .in = in, .out = out });
	}
}

static void list_writes(struct game *g, bool in_waves)
{
	for (uint32_t i = 0; i < g->plan->nwrites; i++) {
		const struct transition_write *w = &g->plan->writes[i];

		vec_push(&g->writes, (struct write){ .wave = in_waves ? w->wave : 0,
						     .sw = w->sw,
						     .block = w->block,
						     .now = w->now });
	}
	for (uint32_t sw = 0; sw < g->f->nsw; sw++)
		list_sl2vl(g, sw, in_waves ? g->plan->sl2vl_wave : 0);
}

static void write_one(struct game *g, const struct write *w)
{
	uint8_t vl[FAB_SLS], block[LFT_BLOCK];
	const uint8_t *row = tables_row(g->new, w->sw) + (size_t)w->block * LFT_BLOCK;

	if (!w->now) {
		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			vl[sl] = tables_vl(g->new, g->f, w->sw, w->in, w->out, sl);
		packets_set_sl2vl(g->p, w->sw, w->in, w->out, vl);
		return;
	}
	packets_get_lft_block(g->p, w->sw, w->block, block);
	for (uint32_t k = 0; k < LFT_BLOCK; k++)
		if (w->now >> k & 1)
			block[k] = row[k];
	packets_set_lft_block(g->p, w->sw, w->block, block);
}

static void write_wave(struct game *g, uint32_t wave)
{
	uint32_t *order = xcalloc(g->writes.n, sizeof(*order)), n = 0;

	for (uint32_t i = 0; i < g->writes.n; i++)
		if (g->writes.v[i].wave == wave)
			order[n++] = i;
	rng_shuffle_u32(&g->rng, order, n);
	for (uint32_t i = 0; i < n && !g->deadlock; i++) {
		write_one(g, &g->writes.v[order[i]]);
		wait(g, rng_below(&g->rng, 500));
	}
	free(order);
}

/* ---- the three ways ---- */

static bool to_drain(const struct game *g, uint16_t lid)
{
	for (uint32_t i = 0; i < g->plan->ndrain; i++)
		if (g->plan->drain[i].lid == lid)
			return true;
	return false;
}

static void choose_moved(struct game *g, enum mode mode)
{
	for (uint32_t c = 0; c < g->nconn; c++)
		g->moved[c] =
			mode == MODE_PHASES || (mode == MODE_WAVES && to_drain(g, g->dlid[c]));
}

/* False when something stands that should not. */
static bool transact(struct game *g, enum mode mode)
{
	uint32_t nwaves = mode == MODE_WAVES ? g->plan->nwaves : 1;

	choose_moved(g, mode);
	hold(g, true);
	if (!drain(g))
		return false;
	migrate(g, g->old, true);
	wait(g, 10000);
	for (uint32_t wave = 0; wave < nwaves && !g->deadlock; wave++) {
		write_wave(g, wave);
		if (mode != MODE_OFF)
			wait_for_old_packets(g);
	}
	take_new_sls(g);
	hold(g, true);
	if (!drain(g))
		return false;
	migrate(g, g->new, false);
	wait(g, 20000);
	memset(g->moved, true, g->nconn);
	hold(g, true);
	return drain(g);
}

static void play(struct totals *sum, const struct fabric *f, const struct tables *old,
		 const struct tables *new, const struct transition *plan, enum mode mode,
		 uint64_t seed)
{
	struct packets_counts n;
	struct packets_opts o;
	struct game g = { .f = f, .old = old, .new = new, .plan = plan };
	bool ok;

	packets_opts_init(&o);
	o.seed = seed;
	/* old SLs may take more VLs through new SL2VL tables than either of both needs */
	o.vls = VLS;
	o.credits = 100; /* three packets: what can close, closes soon */
	o.life_ns = mode == MODE_OFF ? LIFE_ns : 0;
	rng_seed(&g.rng, seed);
	g.p = packets_new(f, old, &o);
	connect_all(&g);
	list_writes(&g, mode == MODE_WAVES);
	wait(&g, 20000);
	ok = transact(&g, mode);
	packets_counts(&n, g.p);
	sum->runs++;
	sum->injected += n.injected;
	sum->lost += n.dropped;
	sum->misordered += n.misordered;
	sum->deadlocks += g.deadlock;
	ok = ok || g.congested;
	sum->congested += g.congested;
	sum->stuck += !ok && !g.deadlock;
	sum->writes += g.writes.n;
	sum->waves += mode == MODE_WAVES ? plan->nwaves : 1;
	sum->drained += mode == MODE_WAVES ? plan->ndrain : 0;
	if (mode != MODE_OFF && (n.dropped || g.deadlock || !ok || packets_check(g.p)))
		printf("FAILED: %s, seed %" PRIu64 "\n", mode_names[mode], seed);
	packets_free(g.p);
	vec_free(&g.writes);
	free(g.src);
	free(g.dlid);
	free(g.moved);
}

/* ---- fabrics and tables by chance ---- */

static void random_spec(char *spec, size_t size, struct rng *r)
{
	unsigned a = (unsigned)rng_below(r, 4), b = (unsigned)rng_below(r, 4);
	unsigned lmc = 1 + (unsigned)rng_below(r, 2), hosts = 1 + (unsigned)rng_below(r, 2);
	unsigned n = 8 + (unsigned)rng_below(r, 57);

	switch (rng_below(r, 6)) {
	case 0:
		snprintf(spec, size, "hyperx:dims=%ux%u,hosts=%u,lmc=%u", 3 + a, 3 + b, hosts, lmc);
		return;
	case 1:
		snprintf(spec, size, "torus:dims=%ux%u,hosts=1,lmc=%u", 3 + a, 3 + b, lmc);
		return;
	case 2:
		snprintf(spec, size, "fattree2:leaves=%u,spines=%u,hosts=%u,lmc=%u", 6 + 2 * a,
			 2 + b, 2 * hosts, lmc);
		return;
	default:
		snprintf(spec, size, "random:switches=%u,links=%u,hosts=%u,lmc=%u,seed=%u", n,
			 n + (unsigned)rng_below(r, n), hosts, lmc,
			 1 + (unsigned)rng_below(r, SEEDS_MAX));
	}
}

static struct tables *route(const struct fabric *f, unsigned vls, struct rng *r)
{
	const struct engine *const *all;
	size_t n;

	all = engine_all(&n);
	for (int i = 0; i < 30; i++) {
		const struct engine *e = all[rng_below(r, n)];
		struct engine_params params = { .vls = vls,
						.threads = 1,
						.seed = rng_u64(r),
						.spread = rng_below(r, 2),
						.escape = true };
		struct tables *t;

		if (!engine_run(e, &t, f, NULL, NULL, &params, NULL, NULL))
			return t;
	}
	return NULL;
}

static bool one_transaction(struct totals *sum, uint64_t seed)
{
	struct transition_params params = { .sl_any = false };
	struct transition *plan = NULL;
	struct tables *old, *new;
	struct fabric *f;
	struct err err;
	struct rng r;
	unsigned vls;
	char spec[96];
	bool done;

	rng_seed(&r, seed);
	random_spec(spec, sizeof(spec), &r);
	vls = 3 + (unsigned)rng_below(&r, 6);
	if (make_fabric(&f, spec, &err))
		return false;
	old = route(f, vls, &r);
	new = route(f, vls, &r);
	done = old && new && !transition_plan(&plan, f, old, new, &params, NULL, &err);
	for (int mode = 0; done && mode < MODES; mode++)
		play(&sum[mode], f, old, new, plan, (enum mode)mode, seed);
	transition_free(plan);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
	return done;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000, done = 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct totals sum[MODES] = { 0 };
	const struct totals *on = &sum[MODE_PHASES], *waves = &sum[MODE_WAVES];
	const struct totals *off = &sum[MODE_OFF];
	double begin = cpu_s();
	bool ok;

	while (done < n)
		done += one_transaction(sum, seed++);
	for (int m = 0; m < MODES; m++)
		printf("%-7s %" PRIu64 " transactions, %" PRIu64 " writes in %" PRIu64
		       " waves, %" PRIu64 " LIDs drained for their own sake: %" PRIu64
		       " packets, %" PRIu64 " lost, %" PRIu64 " out of order, %" PRIu64
		       " deadlocks, %" PRIu64 " stuck, %" PRIu64 " given up for congestion\n",
		       mode_names[m], sum[m].runs, sum[m].writes, sum[m].waves, sum[m].drained,
		       sum[m].injected, sum[m].lost, sum[m].misordered, sum[m].deadlocks,
		       sum[m].stuck, sum[m].congested);
	printf("%.1f CPU s\n", cpu_s() - begin);
	ok = !on->lost && !on->misordered && !on->deadlocks && !on->stuck && !waves->lost &&
	     !waves->deadlocks && !waves->stuck && off->lost + off->misordered;
	puts(ok ? "ok" : "FAILED");
	return !ok;
}
