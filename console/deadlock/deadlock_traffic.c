/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/deadlock/deadlock_traffic.h"

#include "console/deadlock/busy_cycles.h"
#include "engines/predict/job_ranks.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/path.h"

#include <stdlib.h>

void deadlock_traffic_aim(struct deadlock_test *s, const struct tables *t,
			  const struct witness *cycle, uint32_t n)
{
	const struct fabric *f = s->f;

	for (uint32_t i = 0; i < n; i++) {
		const struct witness *w = &cycle[i];
		uint32_t sw = f->term_sw[w->src_term], hosts = 1;

		deadlock_test_connect(s, t, w->src_term, w->dlid);
		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
			uint32_t src = f->term_list[k];

			if (src == w->src_term || hosts == DEADLOCK_TRAFFIC_HOSTS ||
			    tables_path_sl(t, src, sw, w->dlid) != w->sl)
				continue;
			deadlock_test_connect(s, t, src, w->dlid);
			hosts++;
		}
	}
	s->aimed = s->nconn;
}

/* The first terminals of each switch. */
static uint32_t deadlock_traffic_choose_hosts(uint32_t *out, const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t hosts = 0;

		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
			if (f->term_list[k] >= f->nterm || hosts == DEADLOCK_TRAFFIC_HOSTS)
				continue;
			out[n++] = f->term_list[k];
			hosts++;
		}
	}
	return n;
}

void deadlock_traffic_spread(struct deadlock_test *s, const struct tables *t, unsigned rounds)
{
	const struct fabric *f = s->f;
	uint32_t *host = xcalloc(f->nterm, sizeof(*host));
	uint32_t n = deadlock_traffic_choose_hosts(host, f);
	struct rng r;

	rng_seed(&r, s->o.seed);
	rng_shuffle_u32(&r, host, n);
	for (unsigned round = 0; n > 1 && round < rounds; round++) {
		uint32_t shift = 1 + (uint32_t)rng_below(&r, n - 1);

		for (uint32_t i = 0; i < n; i++)
			deadlock_test_connect(s, t, host[i], f->term_lid[host[(i + shift) % n]]);
	}
	free(host);
}

/* ---- paths of a cycle ---- */

/* Does the path use the channel of w and then that of next, on their VLs? */
static bool deadlock_traffic_makes(const struct path *path, const struct witness *w,
				   const struct witness *next)
{
	for (uint32_t i = 0; i + 1 < path->links; i++) {
		const struct path_hop *h = &path->hop[i];

		if (h[0].chan == w->chan && h[0].vl == w->vl && h[1].chan == next->chan &&
		    h[1].vl == next->vl)
			return true;
	}
	return false;
}

static bool deadlock_traffic_on_cycle(const struct path *path, const struct witness *cycle,
				      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (deadlock_traffic_makes(path, &cycle[i], &cycle[(i + 1) % n]))
			return true;
	return false;
}

/* ---- each host to another one ---- */

struct pairing {
	struct deadlock_test *s;
	const struct tables *t, *of;
	const struct witness *cycle;
	uint32_t n;
	uint32_t *hosts;	     /* of each switch that take part */
	bool *in, *sends, *receives; /* by terminal */
};

static bool deadlock_traffic_may_join(const struct pairing *x, uint32_t term)
{
	return term < x->s->f->nterm &&
	       (x->in[term] || x->hosts[x->s->f->term_sw[term]] < DEADLOCK_TRAFFIC_HOSTS);
}

static void deadlock_traffic_join(struct pairing *x, uint32_t term)
{
	x->hosts[x->s->f->term_sw[term]] += !x->in[term];
	x->in[term] = true;
}

static void deadlock_traffic_pair(struct pairing *x, uint32_t src, uint32_t dst, uint16_t dlid)
{
	deadlock_traffic_join(x, src);
	deadlock_traffic_join(x, dst);
	x->sends[src] = x->receives[dst] = true;
	deadlock_test_connect(x->s, x->t, src, dlid);
}

/* Could it take that LID's messages, and would they make dependency i of the cycle? */
static bool deadlock_traffic_fits(const struct pairing *x, uint32_t src, uint16_t dlid, uint32_t i)
{
	uint32_t dst = fabric_lid_end(x->s->f, dlid);
	struct path path;

	if (dst == src || !deadlock_traffic_may_join(x, dst) || x->receives[dst])
		return false;
	path_walk(&path, x->s->f, x->of, src, dlid);
	return deadlock_traffic_makes(&path, &x->cycle[i], &x->cycle[(i + 1) % x->n]);
}

static void deadlock_traffic_pair_on_cycle(struct pairing *x, uint32_t src, uint32_t i)
{
	const struct fabric *f = x->s->f;
	uint16_t dlid = x->cycle[i].dlid;

	if (!deadlock_traffic_may_join(x, src) || x->sends[src])
		return;
	for (uint32_t dst = 0; !deadlock_traffic_fits(x, src, dlid, i); dst++) {
		if (dst == f->nterm)
			return;
		dlid = f->term_lid[dst];
	}
	deadlock_traffic_pair(x, src, fabric_lid_end(f, dlid), dlid);
}

static void deadlock_traffic_pair_all_on_cycle(struct pairing *x)
{
	const struct fabric *f = x->s->f;

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t sw = f->term_sw[x->cycle[i].src_term];

		deadlock_traffic_pair_on_cycle(x, x->cycle[i].src_term, i);
		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++)
			deadlock_traffic_pair_on_cycle(x, f->term_list[k], i);
	}
	x->s->aimed = x->s->nconn;
}

/* Fills up the hosts of each switch.  Returns those without a receiver, and as many that nobody
 * sends to. */
static uint32_t deadlock_traffic_left(struct pairing *x, uint32_t *src, uint32_t *dst)
{
	uint32_t nsrc = 0, ndst = 0;

	for (uint32_t term = 0; term < x->s->f->nterm; term++) {
		if (!deadlock_traffic_may_join(x, term))
			continue;
		deadlock_traffic_join(x, term);
		if (!x->sends[term])
			src[nsrc++] = term;
		if (!x->receives[term])
			dst[ndst++] = term;
	}
	return nsrc;
}

static void deadlock_traffic_not_to_itself(const uint32_t *src, uint32_t *dst, uint32_t i,
					   uint32_t n)
{
	uint32_t other = (i + 1) % n, mine = dst[i];

	if (mine != src[i])
		return;
	dst[i] = dst[other];
	dst[other] = mine;
}

/* Of busy cycles as many as there are; where there is none, of that one. */
static int deadlock_traffic_pair_cycles(struct pairing *x, struct rng *r, struct progress *progress,
					struct err *err)
{
	const struct witness *cycle = x->cycle;
	struct busy_cycles *busy;
	struct witness *found;
	uint32_t n = x->n;
	int rc;

	if (!n)
		return 0;
	rc = busy_cycles_new(&busy, x->s->f, x->of, progress, err);
	if (rc)
		return rc;
	while ((x->n = busy_cycles_next(busy, &found, r))) {
		x->cycle = found;
		deadlock_traffic_pair_all_on_cycle(x);
		free(found);
	}
	busy_cycles_free(busy);
	x->cycle = cycle;
	x->n = n;
	if (!x->s->aimed)
		deadlock_traffic_pair_all_on_cycle(x);
	return 0;
}

static void deadlock_traffic_pair_rest(struct pairing *x, struct rng *r)
{
	const struct fabric *f = x->s->f;
	uint32_t *src = xcalloc(f->nterm, sizeof(*src)), *dst = xcalloc(f->nterm, sizeof(*dst));
	uint32_t n = deadlock_traffic_left(x, src, dst);

	rng_shuffle_u32(r, dst, n);
	for (uint32_t i = 0; i < n; i++)
		deadlock_traffic_not_to_itself(src, dst, i, n);
	for (uint32_t i = 0; i < n; i++)
		if (dst[i] != src[i])
			deadlock_traffic_pair(x, src[i], dst[i], f->term_lid[dst[i]]);
	free(src);
	free(dst);
}

int deadlock_traffic_pairs(struct deadlock_test *s, const struct tables *t, const struct tables *of,
			   const struct witness *cycle, uint32_t n, struct progress *progress,
			   struct err *err)
{
	struct pairing x = { .s = s, .t = t, .of = of, .cycle = cycle, .n = n };
	struct rng r;
	int rc;

	rng_seed(&r, s->o.seed);
	x.hosts = xcalloc(s->f->nsw, sizeof(*x.hosts));
	x.in = xcalloc(s->f->nterm, sizeof(*x.in));
	x.sends = xcalloc(s->f->nterm, sizeof(*x.sends));
	x.receives = xcalloc(s->f->nterm, sizeof(*x.receives));
	rc = deadlock_traffic_pair_cycles(&x, &r, progress, err);
	if (!rc)
		deadlock_traffic_pair_rest(&x, &r);
	free(x.hosts);
	free(x.in);
	free(x.sends);
	free(x.receives);
	return rc;
}

/* ---- jobs ---- */

/* Shifts that are as far apart as they can be, from some start. */
static void deadlock_traffic_alltoall(struct rank_flows *out, const struct job_ranks *ranks,
				      uint32_t peers, struct rng *r)
{
	uint32_t most = ranks->nrank - 1;
	uint64_t start;

	if (ranks->nrank < 2)
		return;
	start = rng_below(r, most);
	peers = peers < most ? peers : most;
	for (uint32_t i = 0; i < peers; i++)
		job_ranks_shift(out, ranks,
				1 + (uint32_t)((start + (uint64_t)i * most / peers) % most));
}

static void deadlock_traffic_of_job(struct rank_flows *out, const struct job_ranks *ranks,
				    enum predict_pattern pattern, uint32_t peers, struct rng *r)
{
	if (pattern == PREDICT_ALLTOALL)
		deadlock_traffic_alltoall(out, ranks, peers, r);
	else if (pattern == PREDICT_SHIFT)
		job_ranks_shift(out, ranks, ranks->nrank / 2);
	else
		job_ranks_exchange(out, ranks, pattern);
}

void deadlock_traffic_jobs(struct deadlock_test *s, const struct tables *t, const struct tables *of,
			   const struct jobset *jobs, enum predict_pattern pattern, uint32_t peers,
			   const struct witness *cycle, uint32_t n)
{
	struct arena *mem = arena_new();
	struct job_ranks *ranks = job_ranks_new(mem, s->f, jobs);
	struct rank_flows list = { 0 };
	struct path path;
	struct rng r;

	rng_seed(&r, s->o.seed);
	for (uint32_t j = 0; j < jobs->njob; j++)
		deadlock_traffic_of_job(&list, &ranks[j], pattern, peers, &r);
	for (size_t i = 0; i < list.flows.n; i++) {
		const struct flow *flow = &list.flows.v[i];
		uint16_t dlid = s->f->term_lid[flow->dst];

		deadlock_test_connect(s, t, flow->src, dlid);
		path_walk(&path, s->f, of, flow->src, dlid);
		s->aimed += deadlock_traffic_on_cycle(&path, cycle, n);
	}
	vec_free(&list.flows);
	arena_free(mem);
}
