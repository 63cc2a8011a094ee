/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/txn_world.h"

#include "engines/engine.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/packets_drive.h"
#include "tests/unit/kit/small_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VLS	  15
#define CONNS	  3 /* of each terminal */
#define SEEDS_MAX 1000000

/* ---- fabrics and tables by chance ---- */

static void random_spec(char *spec, size_t size, unsigned largest, struct rng *r)
{
	unsigned a = (unsigned)rng_below(r, 4), b = (unsigned)rng_below(r, 4);
	unsigned lmc = 1 + (unsigned)rng_below(r, 2), hosts = 1 + (unsigned)rng_below(r, 2);
	unsigned n = 8 + (unsigned)rng_below(r, largest - 7);

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

bool world_pair(struct world_pair *out, unsigned largest, uint64_t seed)
{
	struct transition_params params = { .sl_any = false };
	struct rng r;
	unsigned vls;

	memset(out, 0, sizeof(*out));
	rng_seed(&r, seed);
	random_spec(out->spec, sizeof(out->spec), largest, &r);
	vls = 3 + (unsigned)rng_below(&r, 6);
	out->f = net_spec(out->spec);
	out->old = out->f ? route(out->f, vls, &r) : NULL;
	out->new = out->old ? route(out->f, vls, &r) : NULL;
	if (out->new &&
	    !transition_plan(&out->plan, out->f, out->old, out->new, &params, NULL, NULL))
		return true;
	out->plan = NULL;
	world_pair_free(out);
	return false;
}

void world_pair_free(struct world_pair *w)
{
	transition_free(w->plan);
	tables_put(w->old);
	tables_put(w->new);
	fabric_put(w->f);
}

/* ---- connections ---- */

uint8_t world_sl(const struct world *w, uint32_t c, const struct tables *t, bool escape)
{
	const struct world_conn *k = &w->conn[c];
	uint16_t half = (uint16_t)(1u << (w->f->lmc - 1));

	return tables_path_sl(t, k->src, w->f->term_sw[k->src],
			      (uint16_t)(k->dlid + (escape ? half : 0)));
}

void world_migrate(struct world *w, uint32_t c, const struct tables *t, bool escape)
{
	uint16_t half = (uint16_t)(1u << (w->f->lmc - 1));

	packets_migrate(w->p, c, (uint16_t)(w->conn[c].dlid + (escape ? half : 0)),
			world_sl(w, c, t, escape));
	w->conn[c].escape = escape;
}

/* Every round of connections is a permutation of the terminals. */
static void connect_all(struct world *w)
{
	const struct fabric *f = w->f;
	uint32_t half = 1u << (f->lmc - 1), shift = 1;

	w->nconn = CONNS * f->nterm;
	w->conn = xcalloc(w->nconn, sizeof(*w->conn));
	for (uint32_t c = 0; c < w->nconn; c++) {
		uint32_t src = c % f->nterm, dst;

		if (!src)
			shift = 1 + (uint32_t)rng_below(&w->rng, f->nterm - 1);
		dst = (src + shift) % f->nterm;
		w->conn[c].src = src;
		w->conn[c].dlid = (uint16_t)(f->term_lid[dst] + rng_below(&w->rng, half));
		packets_connect(w->p, src, w->conn[c].dlid, world_sl(w, c, w->old, false));
		packets_send(w->p, c, PACKETS_ENDLESS);
	}
}

/* ---- writes ---- */

static void new_row(const struct world *w, const struct world_write *k, bool back,
		    uint8_t vl[FAB_SLS])
{
	for (uint8_t sl = 0; sl < FAB_SLS; sl++)
		vl[sl] = tables_vl(back ? w->old : w->new, w->f, k->sw, k->in, k->out, sl);
}

static bool sl2vl_differs(const struct world *w, const struct world_write *k)
{
	uint8_t a[FAB_SLS], b[FAB_SLS];

	new_row(w, k, false, a);
	new_row(w, k, true, b);
	return memcmp(a, b, sizeof(a));
}

static void list_sl2vl(struct world *w, uint32_t sw, uint32_t wave)
{
	uint32_t ports = w->f->sw_nports[sw] + 1u;

	for (uint32_t row = 0; row < ports * ports; row++) {
		struct world_write k = { .wave = wave,
					 .sw = sw,
					 .in = (uint8_t)(row / ports),
					 .out = (uint8_t)(row % ports) };

		if (k.out && sl2vl_differs(w, &k))
			vec_push(&w->writes, k);
	}
}

static void list_writes(struct world *w, bool waves)
{
	for (uint32_t i = 0; i < w->plan->nwrites; i++) {
		const struct transition_write *k = &w->plan->writes[i];

		vec_push(&w->writes, (struct world_write){ .wave = waves ? k->wave : 0,
							   .sw = k->sw,
							   .block = k->block,
							   .now = k->now });
	}
	for (uint32_t sw = 0; sw < w->f->nsw; sw++)
		list_sl2vl(w, sw, waves ? w->plan->sl2vl_wave : 0);
}

void world_write(struct world *w, uint32_t i, bool back)
{
	const struct world_write *k = &w->writes.v[i];
	const struct tables *t = back ? w->old : w->new;
	const uint8_t *row = tables_row(t, k->sw) + (size_t)k->block * LFT_BLOCK;
	uint8_t vl[FAB_SLS], block[LFT_BLOCK];

	if (!k->now) {
		new_row(w, k, back, vl);
		packets_set_sl2vl(w->p, k->sw, k->in, k->out, vl);
		return;
	}
	packets_get_lft_block(w->p, k->sw, k->block, block);
	for (uint32_t lid = 0; lid < LFT_BLOCK; lid++)
		if (k->now >> lid & 1)
			block[lid] = row[lid];
	packets_set_lft_block(w->p, k->sw, k->block, block);
}

bool world_holds(const struct world *w, uint32_t i, bool back)
{
	const struct world_write *k = &w->writes.v[i];
	const uint8_t *row =
		tables_row(back ? w->old : w->new, k->sw) + (size_t)k->block * LFT_BLOCK;
	uint8_t is[FAB_SLS], vl[FAB_SLS], block[LFT_BLOCK];

	if (!k->now) {
		new_row(w, k, back, vl);
		packets_get_sl2vl(w->p, k->sw, k->in, k->out, is);
		return !memcmp(is, vl, sizeof(is));
	}
	packets_get_lft_block(w->p, k->sw, k->block, block);
	for (uint32_t lid = 0; lid < LFT_BLOCK; lid++)
		if (k->now >> lid & 1 && block[lid] != row[lid])
			return false;
	return true;
}

bool world_holds_all(const struct world *w, bool back)
{
	for (uint32_t i = 0; i < w->writes.n; i++)
		if (!world_holds(w, i, back))
			return false;
	return true;
}

/* ---- time passes ---- */

static void look(struct world *w)
{
	w->deadlock = w->deadlock || packets_deadlock(w->p, NULL, NULL);
}

void world_wait(struct world *w, uint64_t ns)
{
	uint64_t end = packets_now_ns(w->p) + ns;

	while (!w->deadlock && packets_now_ns(w->p) < end) {
		uint64_t next = packets_now_ns(w->p) + WORLD_STEP_ns;

		packets_run(w->p, next < end ? next : end);
		look(w);
	}
}

bool world_drained(struct world *w)
{
	bool done = packets_run_drained(w->p, packets_now_ns(w->p) + WORLD_LIMIT_ns);

	look(w);
	return done;
}

void world_begin(struct world *w, const struct world_pair *pair, bool waves, uint64_t life_ns,
		 uint64_t seed)
{
	struct packets_opts o;

	memset(w, 0, sizeof(*w));
	w->f = pair->f;
	w->old = pair->old;
	w->new = pair->new;
	w->plan = pair->plan;
	packets_opts_init(&o);
	o.seed = seed;
	/* old SLs may take more VLs through new SL2VL tables than either of both needs */
	o.vls = VLS;
	o.credits = 100; /* three packets: what can close, closes soon */
	o.life_ns = life_ns;
	rng_seed(&w->rng, seed);
	w->p = packets_new(w->f, w->old, &o);
	connect_all(w);
	list_writes(w, waves);
	world_wait(w, 20000);
}

void world_end(struct world *w)
{
	packets_free(w->p);
	vec_free(&w->writes);
	free(w->conn);
}
