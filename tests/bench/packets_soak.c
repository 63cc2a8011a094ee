/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets_soak: random transactions between random tables, with packets under way.
 *
 *   packets_soak [TRANSACTIONS [SEED [EVERY]]]
 *
 * Each is played several times on the same fabric with the same connections, which never stop to
 * send but for a drain:
 *   phases  all five: agents drain and go to their escape LIDs, waves are written, agents return;
 *           two of three with trouble at a random moment (txn_phases.h); in every second one a job
 *           begins at a random moment, whose agent asks first what is going on
 *   late    every fourth of these once more, but the job asks nobody
 *   waves   only LIDs that transition_plan() says need it are drained; the others send on their
 *           traffic LIDs while wave after wave is written, and take their new SLs at the end; this
 *           takes longest and may be played every EVERY-th time only (preset 1; 0: never)
 *   off     everything is written in a random order under full traffic, then SLs change
 * With phases nothing may be lost, come out of order, or deadlock, and all has to end confirmed or
 * as it was.  All but where a job that began sent on its base LIDs while tables were written, for
 * nobody could tell it: the coordinator was dead, or all of its questions or their answers got
 * lost; that is counted on its own, and late has to show what it does.  With waves nothing may be
 * lost or deadlock; off has to show what these are good for: losses, packets out of order and
 * deadlocks.  Exit code 0 when all of that is so.
 */
#include "tests/bench/bench_kit.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/packets_drive.h"
#include "tests/unit/kit/txn_phases.h"
#include "tests/unit/kit/txn_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIFE_ns 200000
#define LARGEST 64 /* switches */

enum mode { MODE_PHASES, MODE_LATE, MODE_WAVES, MODE_OFF, MODES };
static const char *const mode_names[] = { "phases", "late", "waves", "off" };

struct totals {
	uint64_t runs, injected, lost, misordered, deadlocks, stuck, congested, writes, waves,
		drained;
	uint64_t ran_into[3]; /* transactions with losses, misorderings, deadlocks */
	double cpu;
};

struct ends {
	uint64_t all, struck, confirmed, refused, back, wrong;
};

struct phases_totals {
	struct ends by[TROUBLES];
	uint64_t agents, notices, lost, doubled, migrations;
	uint64_t late, led, joined, exposed, hit;
};

struct game {
	struct world w;
	bool *moved; /* to the escape LID */
	bool congested;
	bool late, exposed;
};

/* ---- waves, or nothing at all ---- */

static void wait_for_old_packets(struct world *w)
{
	uint64_t now = packets_now_ns(w->p);

	while (!w->deadlock && packets_oldest_ns(w->p) <= now &&
	       packets_now_ns(w->p) < now + WORLD_LIMIT_ns)
		world_wait(w, WORLD_STEP_ns);
}

/* Where hosts never stop, the share of who comes from afar may be next to nothing: that is no
 * deadlock when all is gone once everybody stops. */
static bool drain(struct game *g)
{
	if (world_drained(&g->w))
		return true;
	for (uint32_t c = 0; c < g->w.nconn; c++)
		packets_hold(g->w.p, c, true);
	g->congested = world_drained(&g->w);
	return false;
}

static void hold(struct game *g, bool on)
{
	for (uint32_t c = 0; c < g->w.nconn; c++)
		if (g->moved[c])
			packets_hold(g->w.p, c, on);
}

/* Those of moved, drained before, to their escape LIDs or back. */
static void migrate(struct game *g, const struct tables *t, bool escape)
{
	for (uint32_t c = 0; c < g->w.nconn; c++)
		if (g->moved[c])
			world_migrate(&g->w, c, t, escape);
	hold(g, false);
}

static void take_new_sls(struct game *g)
{
	for (uint32_t c = 0; c < g->w.nconn; c++)
		if (!g->moved[c])
			world_migrate(&g->w, c, g->w.new, false);
}

static void write_wave(struct world *w, uint32_t wave)
{
	uint32_t *order = xcalloc(w->writes.n, sizeof(*order)), n = 0;

	for (uint32_t i = 0; i < w->writes.n; i++)
		if (w->writes.v[i].wave == wave)
			order[n++] = i;
	rng_shuffle_u32(&w->rng, order, n);
	for (uint32_t i = 0; i < n && !w->deadlock; i++) {
		world_write(w, order[i], false);
		world_wait(w, rng_below(&w->rng, 500));
	}
	free(order);
}

static bool to_drain(const struct transition *plan, uint16_t lid)
{
	for (uint32_t i = 0; i < plan->ndrain; i++)
		if (plan->drain[i].lid == lid)
			return true;
	return false;
}

/* False when something stands that should not. */
static bool transact(struct game *g, enum mode mode)
{
	struct world *w = &g->w;
	uint32_t nwaves = mode == MODE_WAVES ? w->plan->nwaves : 1;

	for (uint32_t c = 0; c < w->nconn; c++)
		g->moved[c] = mode == MODE_WAVES && to_drain(w->plan, w->conn[c].dlid);
	hold(g, true);
	if (!drain(g))
		return false;
	migrate(g, w->old, true);
	world_wait(w, 10000);
	for (uint32_t wave = 0; wave < nwaves && !w->deadlock; wave++) {
		write_wave(w, wave);
		if (mode != MODE_OFF)
			wait_for_old_packets(w);
	}
	take_new_sls(g);
	hold(g, true);
	if (!drain(g))
		return false;
	migrate(g, w->new, false);
	world_wait(w, 20000);
	memset(g->moved, true, w->nconn);
	hold(g, true);
	return drain(g);
}

/* ---- one transaction ---- */

static void count(struct totals *sum, const struct world *w, enum mode mode)
{
	struct packets_counts n;

	packets_counts(&n, w->p);
	sum->runs++;
	sum->injected += n.injected;
	sum->lost += n.dropped;
	sum->misordered += n.misordered;
	sum->deadlocks += w->deadlock;
	sum->ran_into[0] += n.dropped > 0;
	sum->ran_into[1] += n.misordered > 0;
	sum->ran_into[2] += w->deadlock;
	sum->writes += w->writes.n;
	sum->waves += mode != MODE_OFF ? w->plan->nwaves : 1;
	sum->drained += mode == MODE_WAVES ? w->plan->ndrain : 0;
}

static void count_end(struct phases_totals *sum, const struct txn_end *e)
{
	struct ends *by = &sum->by[e->trouble];

	by->all++;
	by->struck += e->struck;
	by->confirmed += e->outcome == OUTCOME_CONFIRMED;
	by->refused += e->outcome == OUTCOME_REFUSED;
	by->back += e->outcome == OUTCOME_ROLLED_BACK;
	by->wrong += e->wrong != NULL;
	sum->agents += e->agents;
	sum->notices += e->notices;
	sum->lost += e->lost;
	sum->doubled += e->doubled;
	sum->migrations += e->migrations;
	sum->late += e->late;
	sum->led += e->led;
	sum->joined += e->joined;
	sum->exposed += e->exposed;
}

static const char *play_phases(struct phases_totals *sum, struct game *g, enum txn_lie lie)
{
	struct packets_counts n;
	struct txn_end e;

	txn_phases_play(&e, &g->w, lie);
	count_end(sum, &e);
	packets_counts(&n, g->w.p);
	g->late = e.late;
	g->exposed = e.exposed;
	sum->hit += e.exposed && (n.dropped || n.misordered || g->w.deadlock);
	return e.exposed && g->w.deadlock ? NULL : e.wrong;
}

static const char *bad_packets(const struct game *g, enum mode mode)
{
	struct packets_counts n;

	packets_counts(&n, g->w.p);
	if (mode == MODE_OFF || g->exposed)
		return NULL;
	if (g->w.deadlock)
		return "a deadlock";
	if (n.dropped)
		return "packets were lost";
	return mode != MODE_WAVES && n.misordered ? "packets came out of order" : NULL;
}

static const char *play_rest(struct totals *sum, struct game *g, enum mode mode)
{
	bool ok;

	g->moved = xcalloc(g->w.nconn, sizeof(*g->moved));
	ok = transact(g, mode) || g->congested || mode == MODE_OFF;
	sum->congested += g->congested;
	free(g->moved);
	return ok || g->w.deadlock ? NULL : "packets stand that nothing holds";
}

/* Whether a job began meanwhile. */
static bool play(struct totals *sum, struct phases_totals *phases, const struct world_pair *pair,
		 enum mode mode, uint64_t seed)
{
	struct game g = { .congested = false };
	double begin = cpu_s();
	const char *wrong;

	world_begin(&g.w, pair, mode != MODE_OFF, mode == MODE_OFF ? LIFE_ns : 0, seed);
	wrong = mode == MODE_PHASES ? play_phases(&phases[0], &g, LIE_NONE)
		: mode == MODE_LATE ? play_phases(&phases[1], &g, LIE_UNASKED)
				    : play_rest(sum, &g, mode);
	count(sum, &g.w, mode);
	if (!wrong)
		wrong = packets_check(g.w.p);
	if (!wrong)
		wrong = bad_packets(&g, mode);
	sum->stuck += wrong != NULL;
	if (wrong)
		printf("FAILED: %s, seed %" PRIu64 ", %s: %s\n", mode_names[mode], seed, pair->spec,
		       wrong);
	world_end(&g.w);
	sum->cpu += cpu_s() - begin;
	return g.late;
}

/* ---- counts ---- */

static void tell(const struct totals *sum)
{
	for (int m = 0; m < MODES; m++, sum++)
		printf("%-7s %" PRIu64 " transactions, %" PRIu64 " writes in %" PRIu64
		       " waves, %" PRIu64 " LIDs drained for their own sake: %" PRIu64
		       " packets, %" PRIu64 " lost (in %" PRIu64 " transactions), %" PRIu64
		       " out of order (%" PRIu64 "), %" PRIu64 " deadlocks, %" PRIu64
		       " given up for congestion, %" PRIu64 " wrong, %.1f CPU s\n",
		       mode_names[m], sum->runs, sum->writes, sum->waves, sum->drained,
		       sum->injected, sum->lost, sum->ran_into[0], sum->misordered,
		       sum->ran_into[1], sum->deadlocks, sum->congested, sum->stuck, sum->cpu);
}

static void tell_late(const struct phases_totals *sum, const char *name)
{
	printf("%s: in %" PRIu64 " a job began meanwhile; %" PRIu64
	       " of them were led away before their first packet, %" PRIu64
	       " agents joined, %" PRIu64 " sent on base LIDs that were written, and %" PRIu64
	       " of these saw packets lost, out of order or in a deadlock\n",
	       name, sum->late, sum->led, sum->joined, sum->exposed, sum->hit);
}

static void tell_phases(const struct phases_totals *sum)
{
	printf("phases: %" PRIu64 " agents, %" PRIu64 " notices (%" PRIu64 " lost, %" PRIu64
	       " doubled), %" PRIu64 " migrations of connections\n",
	       sum->agents, sum->notices, sum->lost, sum->doubled, sum->migrations);
	for (int t = 0; t < TROUBLES; t++)
		printf("  %-24s %5" PRIu64 " (%" PRIu64 " struck): %" PRIu64 " confirmed, %" PRIu64
		       " rolled back, %" PRIu64 " refused, %" PRIu64 " wrong\n",
		       txn_trouble_name((enum txn_trouble)t), sum->by[t].all, sum->by[t].struck,
		       sum->by[t].confirmed, sum->by[t].back, sum->by[t].refused, sum->by[t].wrong);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000, done = 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint64_t every = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	struct totals sum[MODES] = { 0 };
	struct phases_totals phases[2] = { 0 };
	const struct totals *off = &sum[MODE_OFF];
	double begin = cpu_s();
	bool ok;

	while (done < n) {
		struct world_pair pair;

		if (!world_pair(&pair, LARGEST, seed++))
			continue;
		if (play(&sum[MODE_PHASES], phases, &pair, MODE_PHASES, seed - 1) && !(done % 4))
			play(&sum[MODE_LATE], phases, &pair, MODE_LATE, seed - 1);
		if (every && !(done % every))
			play(&sum[MODE_WAVES], phases, &pair, MODE_WAVES, seed - 1);
		play(&sum[MODE_OFF], phases, &pair, MODE_OFF, seed - 1);
		world_pair_free(&pair);
		done++;
	}
	tell(sum);
	tell_phases(&phases[0]);
	tell_late(&phases[0], "asking");
	tell_late(&phases[1], "asking nobody");
	printf("%.1f CPU s\n", cpu_s() - begin);
	ok = !sum[MODE_PHASES].stuck && !sum[MODE_LATE].stuck && !sum[MODE_WAVES].stuck &&
	     phases[0].exposed * 10 <= phases[0].late &&
	     (n < 50 || (off->lost && off->misordered && off->deadlocks)) &&
	     (n < 200 || phases[1].hit);
	puts(ok ? "ok" : "FAILED");
	return !ok;
}
