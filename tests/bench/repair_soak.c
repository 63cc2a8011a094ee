/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repair_soak: random irregular fabrics, and half as many with a shape, in which cables, line cards
 * and switches go and come back, repaired and judged each time (repair_play.h), the tables of every
 * engine to begin with; then the same with hosts that go, come and move and cables that get slower
 * (host_play.h).
 *
 *   repair_soak [FABRICS [EVENTS [ORDERS [SEED [FOLDER]]]]]
 *
 * FOLDER: where files for ibdmchk may be, which is asked then after each event with hosts.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "tests/unit/kit/host_play.h"
#include "tests/unit/kit/repair_play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACK_EVERY 5  /* events */
#define MOVE_BACK  16 /* entries at a time */

#define SHAPE_EVERY 2 /* irregular fabrics */

static void random_spec(char *spec, size_t size, struct rng *r)
{
	unsigned n = 8 + (unsigned)rng_below(r, 17), links = n + (unsigned)rng_below(r, 2 * n);

	snprintf(spec, size,
		 "random:switches=%u,links=%u,hosts=%u,lids=random,lmc=%u,seed=%" PRIu64, n, links,
		 1 + (unsigned)rng_below(r, 4), (unsigned)rng_below(r, 4) / 3,
		 1 + rng_below(r, 1000000));
}

/* A small one with a shape. */
static void shaped_spec(char *spec, size_t size, struct rng *r)
{
	unsigned a = 2 + (unsigned)rng_below(r, 4), b = 2 + (unsigned)rng_below(r, 4);
	unsigned hosts = 1 + (unsigned)rng_below(r, 3), kind = (unsigned)rng_below(r, 8);
	char shape[128];

	switch (kind) {
	case 0:
		snprintf(shape, sizeof(shape), "fattree2:leaves=%u,spines=%u,hosts=%u", a + b, b,
			 hosts);
		break;
	case 1:
		snprintf(shape, sizeof(shape),
			 "fattree3:pods=%u,leaves=%u,aggs=%u,cores=2,hosts=%u", a, b, b, hosts);
		break;
	case 2:
		snprintf(shape, sizeof(shape), "kary:k=2,n=%u,hosts=%u", a > 4 ? 4 : a, hosts);
		break;
	case 3:
		snprintf(shape, sizeof(shape), "dragonfly:p=%u,a=%u,h=1", hosts, b);
		break;
	case 4:
		snprintf(shape, sizeof(shape), "slimfly:q=%u,hosts=%u", a > 3 ? 4 : 3, hosts);
		break;
	default:
		snprintf(shape, sizeof(shape), "%s:dims=%ux%u,hosts=%u",
			 kind == 5   ? "hyperx"
			 : kind == 6 ? "torus"
				     : "mesh",
			 a + 1, b, hosts);
	}
	snprintf(spec, size, "%s,lids=random,lmc=%u,seed=%" PRIu64, shape,
		 (unsigned)rng_below(r, 4) / 3, 1 + rng_below(r, 1000000));
}

static bool play(struct repair_play *p, const struct fabric *f, const struct tables *t,
		 uint32_t events, uint64_t seed)
{
	bool fine = repair_play_begin(p, f, t, seed);

	for (uint32_t i = 0; i < events && fine && p->r; i++) {
		fine = repair_play_event(p, (enum cable_event)rng_below(&p->e.rng, CABLE_EVENTS));
		if (fine && i % BACK_EVERY == BACK_EVERY - 1)
			fine = repair_play_move_back(p, MOVE_BACK);
	}
	return fine && (!p->r || repair_play_all_back(p));
}

static void add_up(struct repair_play *sum, const struct repair_play *p)
{
	sum->events += p->events;
	sum->refused += p->refused;
	sum->stuck += p->stuck;
	sum->one_wave += p->one_wave;
	sum->waves += p->waves;
	sum->drained += p->drained;
	sum->needed += p->needed;
	sum->changed += p->changed;
}

/* The tables of that engine, with other hosts each time. */
static bool play_hosts(struct host_play *sum, const struct fabric *f, const char *spec,
		       const char *engine, uint32_t events, uint64_t seed)
{
	struct host_play p = { .orders = sum->orders, .files = sum->files };
	bool fine = host_play_begin(&p, f, engine, seed);

	for (uint32_t i = 0; i < events && fine && p.t; i++)
		fine = host_play_event(&p);
	if (!fine)
		printf("%s, %s, hosts: %s\n", spec, engine, p.why);
	sum->events += p.events;
	sum->again += p.again;
	sum->asked += p.asked;
	sum->refused += p.refused;
	sum->needed += p.needed;
	sum->changed += p.changed;
	host_play_end(&p);
	return fine;
}

static uint32_t play_each_engine(struct repair_play *sum, struct host_play *hosts, const char *spec,
				 uint32_t events, uint32_t orders, uint64_t seed)
{
	const struct engine *const *all;
	struct fabric *f;
	uint32_t bad = 0;
	struct err err;
	size_t n;

	if (make_fabric(&f, spec, &err)) {
		fprintf(stderr, "%s: %s\n", spec, err.text);
		exit(1);
	}
	all = engine_all(&n);
	for (size_t i = 0; i < n; i++) {
		struct engine_params params = { .seed = seed, .threads = 1 };
		struct repair_play p = { .orders = orders };
		struct tables *t;

		if (!strcmp(all[i]->name, "repair") ||
		    engine_run(all[i], &t, f, NULL, NULL, &params, NULL, &err))
			continue;
		if (!play(&p, f, t, events, seed)) {
			printf("%s, %s: %s\n", spec, all[i]->name, p.why);
			bad++;
		}
		add_up(sum, &p);
		repair_play_end(&p);
		tables_put(t);
		bad += !play_hosts(hosts, f, spec, all[i]->name, events, seed);
	}
	fabric_put(f);
	return bad;
}

int main(int argc, char **argv)
{
	uint32_t fabrics = argc > 1 ? (uint32_t)atoi(argv[1]) : 200, bad = 0;
	uint32_t events = argc > 2 ? (uint32_t)atoi(argv[2]) : 20;
	uint32_t orders = argc > 3 ? (uint32_t)atoi(argv[3]) : 5;
	uint64_t seed = argc > 4 ? (uint64_t)atoll(argv[4]) : 1;
	struct repair_play sum = { 0 };
	struct host_play hosts = { .orders = orders, .files = argc > 5 ? argv[5] : NULL };
	double begin = cpu_s();
	struct rng r;

	rng_seed(&r, seed);
	for (uint32_t i = 0; i < fabrics; i++) {
		char spec[192];

		random_spec(spec, sizeof(spec), &r);
		bad += play_each_engine(&sum, &hosts, spec, events, orders, seed + i);
		if (i % SHAPE_EVERY)
			continue;
		shaped_spec(spec, sizeof(spec), &r);
		bad += play_each_engine(&sum, &hosts, spec, events, orders, seed + i);
	}
	printf("%u events, %u refused and routed by the engine, %u not all back; %" PRIu64
	       " entries changed, %" PRIu64
	       " needed (x%.3f); writes in any order %u, in waves %u, with a drain %u: %u bad; %.1f "
	       "CPU s\n",
	       sum.events, sum.refused, sum.stuck, sum.changed, sum.needed,
	       sum.needed ? (double)sum.changed / (double)sum.needed : 1, sum.one_wave, sum.waves,
	       sum.drained, bad, cpu_s() - begin);
	printf("with hosts: %u events, %u of them routed again; %" PRIu64
	       " entries changed, %" PRIu64 " needed; ibdmchk asked %u times, could not read %u\n",
	       hosts.events, hosts.again, hosts.changed, hosts.needed, hosts.asked, hosts.refused);
	return bad != 0;
}
