/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_state.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <math.h>
#include <string.h>

#define HOPS_MAX     64
#define ROUNDS_MAX   32
#define PACKET_BYTES 2074.0 /* 2 KiB and LRH, BTH, ICRC, VCRC */
#define RATE_UNKNOWN 12.5e9 /* bytes per second, where nobody says */
#define FLIT_BYTES   4.0
#define NONE	     UINT32_MAX

/* A link is one direction of a cable, named by its sender: a switch's fabric port, or nport + the
 * terminal that injects. */
struct traffic {
	const struct fabric *f;
	uint32_t nlink;
	double *capacity; /* bytes per second */
	double *sent;	  /* of all flows that pass */
	double *waits;	  /* share of the time with something to send and no credit */
	double *dropped;  /* packets per second that end here */
	double *carry_bytes, *carry_pkts, *carry_wait, *carry_drop; /* fractions not yet counted */

	struct sim_flow *flow;
	uint32_t nflow;
	uint32_t *off;	    /* nflow+1, into path */
	VEC(uint32_t) path; /* links of each flow in order */
	bool *arrives;
	double *rate;	      /* bytes per second that each flow gets */
	double *own;	      /* that it would get if it had not to wait for others of its group */
	uint32_t *bottleneck; /* link that throttles it, or NONE */
	/* flows that go at one pace: those of a group, or one alone */
	uint32_t nunit, *unit_off, *unit_flow; /* nunit+1; the flows of each */
	bool changed;
	uint64_t *counted_ns; /* each link's counters are as of; NULL: sim_traffic_step() says */
};

struct traffic *traffic_new(const struct fabric *f)
{
	struct traffic *t = xcalloc(1, sizeof(*t));

	t->f = f;
	t->nlink = f->nport + f->nend;
	t->capacity = xcalloc(t->nlink, sizeof(double));
	t->sent = xcalloc(t->nlink, sizeof(double));
	t->waits = xcalloc(t->nlink, sizeof(double));
	t->dropped = xcalloc(t->nlink, sizeof(double));
	t->carry_bytes = xcalloc(t->nlink, sizeof(double));
	t->carry_pkts = xcalloc(t->nlink, sizeof(double));
	t->carry_wait = xcalloc(t->nlink, sizeof(double));
	t->carry_drop = xcalloc(t->nlink, sizeof(double));
	for (uint32_t l = 0; l < t->nlink; l++) {
		const struct port *p = l < f->nport ? &f->port[l]
						    : fabric_port(f, f->term_sw[l - f->nport],
								  f->term_port[l - f->nport]);

		t->capacity[l] = p->rate_Mbps ? p->rate_Mbps * 125e3 : RATE_UNKNOWN;
	}
	t->off = xcalloc(1, sizeof(*t->off));
	return t;
}

static void sim_traffic_flows_free(struct traffic *t)
{
	free(t->flow);
	free(t->off);
	free(t->arrives);
	free(t->rate);
	free(t->own);
	free(t->bottleneck);
	free(t->unit_off);
	free(t->unit_flow);
}

void traffic_free(struct traffic *t)
{
	sim_traffic_flows_free(t);
	vec_free(&t->path);
	free(t->capacity);
	free(t->sent);
	free(t->waits);
	free(t->dropped);
	free(t->carry_bytes);
	free(t->carry_pkts);
	free(t->carry_wait);
	free(t->carry_drop);
	free(t->counted_ns);
	free(t);
}

void traffic_changed(struct traffic *t)
{
	t->changed = true;
}

static int sim_traffic_by_group(const void *pa, const void *pb, void *arg)
{
	const struct sim_flow *flow = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (flow[a].group != flow[b].group)
		return flow[a].group < flow[b].group ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void sim_traffic_find_units(struct traffic *t)
{
	t->unit_flow = xcalloc(t->nflow + 1u, sizeof(*t->unit_flow));
	t->unit_off = xcalloc(t->nflow + 1u, sizeof(*t->unit_off));
	t->nunit = 0;
	for (uint32_t i = 0; i < t->nflow; i++)
		t->unit_flow[i] = i;
	qsort_r(t->unit_flow, t->nflow, sizeof(*t->unit_flow), sim_traffic_by_group, t->flow);
	for (uint32_t k = 0; k < t->nflow; k++) {
		uint32_t group = t->flow[t->unit_flow[k]].group;

		if (!k || !group || group != t->flow[t->unit_flow[k - 1]].group)
			t->unit_off[t->nunit++] = k;
	}
	t->unit_off[t->nunit] = t->nflow;
}

void sim_set_flows(struct sim *s, const struct sim_flow *flows, uint32_t n)
{
	struct traffic *t = s->traffic;

	pthread_mutex_lock(&s->lock);
	sim_traffic_flows_free(t);
	t->flow = xcalloc(n, sizeof(*t->flow));
	if (n)
		memcpy(t->flow, flows, n * sizeof(*flows));
	t->nflow = n;
	t->off = xcalloc(n + 1u, sizeof(*t->off));
	t->arrives = xcalloc(n, sizeof(*t->arrives));
	t->rate = xcalloc(n, sizeof(*t->rate));
	t->own = xcalloc(n, sizeof(*t->own));
	t->bottleneck = xcalloc(n, sizeof(*t->bottleneck));
	sim_traffic_find_units(t);
	t->changed = true;
	pthread_mutex_unlock(&s->lock);
}

/* Appends the flow's links; true when they lead to the owner of its LID. */
static bool sim_traffic_walk(struct sim *s, const struct sim_flow *flow)
{
	struct traffic *t = s->traffic;
	const struct fabric *f = s->f;
	uint32_t goal = fabric_lid_end(f, flow->dlid), at = flow->src, next;
	uint8_t in, out;

	if (flow->src >= f->nend || sim_dead(s, flow->src) || goal == flow->src ||
	    !sim_step(s, at, f->term_ca_port[at], &next, &in))
		return false;
	vec_push(&t->path, f->nport + flow->src);
	at = next;
	for (int h = 0; h < HOPS_MAX; h++) {
		uint32_t sw = at - f->nend;

		if (sim_dead(s, at))
			return false;
		if (at == goal)
			return true;
		out = sim_lft(s, sw, flow->dlid);
		if (!sim_step(s, at, out, &next, &in))
			return false;
		vec_push(&t->path, f->port_off[sw] + out);
		at = next;
		if (!sim_is_switch(s, at))
			return at == goal && !sim_dead(s, at);
	}
	return false;
}

static void sim_traffic_walk_all(struct sim *s)
{
	struct traffic *t = s->traffic;

	t->path.n = 0;
	for (uint32_t i = 0; i < t->nflow; i++) {
		t->off[i] = (uint32_t)t->path.n;
		t->arrives[i] = sim_traffic_walk(s, &t->flow[i]);
	}
	t->off[t->nflow] = (uint32_t)t->path.n;
}

struct filling {
	double *left;	 /* capacity not yet given away */
	double *wanted;	 /* by flows not yet settled */
	double *share;	 /* of what is wanted that the link can give: 0..1 */
	double *full;	 /* that share of the link that held flows back, or 1 */
	double *least;	 /* least share of any unsettled unit over the link */
	bool *settled;	 /* units */
	uint32_t *fresh; /* units of this round, nfresh of them */
	uint32_t nfresh;
};

/* The share a flow can have by the links' shares, and the link that says so (NONE: it gets all). */
static double sim_traffic_flow_share(const struct traffic *t, const double *of_link, uint32_t i,
				     uint32_t *by)
{
	double share = 1;

	*by = NONE;
	for (uint32_t k = t->off[i]; k < t->off[i + 1]; k++)
		if (of_link[t->path.v[k]] < share) {
			share = of_link[t->path.v[k]];
			*by = t->path.v[k];
		}
	return share;
}

/* That of the slowest flow of a unit. */
static double sim_traffic_unit_share(const struct traffic *t, const struct filling *x, uint32_t u,
				     uint32_t *by)
{
	double share = 1;

	*by = NONE;
	for (uint32_t k = t->unit_off[u]; k < t->unit_off[u + 1]; k++) {
		uint32_t link;
		double v = sim_traffic_flow_share(t, x->share, t->unit_flow[k], &link);

		if (v >= share)
			continue;
		share = v;
		*by = link;
	}
	return share;
}

static void sim_traffic_lower_least(const struct traffic *t, struct filling *x, uint32_t u,
				    double share)
{
	for (uint32_t n = t->unit_off[u]; n < t->unit_off[u + 1]; n++) {
		uint32_t i = t->unit_flow[n];

		for (uint32_t k = t->off[i]; k < t->off[i + 1]; k++)
			x->least[t->path.v[k]] = fmin(x->least[t->path.v[k]], share);
	}
}

static void sim_traffic_settle(struct traffic *t, struct filling *x, uint32_t u)
{
	x->settled[u] = true;
	for (uint32_t n = t->unit_off[u]; n < t->unit_off[u + 1]; n++) {
		uint32_t i = t->unit_flow[n];

		for (uint32_t k = t->off[i]; k < t->off[i + 1]; k++) {
			uint32_t l = t->path.v[k];

			x->left[l] = fmax(0, x->left[l] - t->rate[i]);
			x->wanted[l] = fmax(0, x->wanted[l] - t->flow[i].Bps);
		}
	}
}

/* One round of water-filling: links whose flows are all held back by that very link are full, and
 * the units of these flows settled; so are units that nobody holds back. */
static void sim_traffic_fill_round(struct traffic *t, struct filling *x, bool last)
{
	double share;
	uint32_t by;

	for (uint32_t l = 0; l < t->nlink; l++) {
		x->share[l] = x->wanted[l] > x->left[l] ? x->left[l] / x->wanted[l] : 1;
		x->least[l] = 1;
	}
	for (uint32_t u = 0; u < t->nunit; u++)
		if (!x->settled[u])
			sim_traffic_lower_least(t, x, u, sim_traffic_unit_share(t, x, u, &by));
	x->nfresh = 0;
	for (uint32_t u = 0; u < t->nunit; u++) {
		if (x->settled[u])
			continue;
		share = sim_traffic_unit_share(t, x, u, &by);
		if (!last && by != NONE && x->least[by] < x->share[by])
			continue;
		for (uint32_t k = t->unit_off[u]; k < t->unit_off[u + 1]; k++)
			t->rate[t->unit_flow[k]] = share * t->flow[t->unit_flow[k]].Bps;
		if (by != NONE)
			x->full[by] = fmin(x->full[by], share);
		x->fresh[x->nfresh++] = u;
	}
	for (uint32_t k = 0; k < x->nfresh; k++)
		sim_traffic_settle(t, x, x->fresh[k]);
}

/* What holds a flow back by itself; the pace of its unit is no more than that. */
static void sim_traffic_find_bottleneck(struct traffic *t, const struct filling *x, uint32_t i)
{
	t->own[i] = t->flow[i].Bps * sim_traffic_flow_share(t, x->full, i, &t->bottleneck[i]);
}

static void sim_traffic_share_out(struct traffic *t)
{
	struct filling x = { .left = xcalloc(t->nlink, sizeof(double)),
			     .wanted = xcalloc(t->nlink, sizeof(double)),
			     .share = xcalloc(t->nlink, sizeof(double)),
			     .full = xcalloc(t->nlink, sizeof(double)),
			     .least = xcalloc(t->nlink, sizeof(double)),
			     .settled = xcalloc(t->nunit, sizeof(bool)),
			     .fresh = xcalloc(t->nunit, sizeof(uint32_t)) };
	uint32_t open = t->nunit;

	memcpy(x.left, t->capacity, t->nlink * sizeof(double));
	for (uint32_t l = 0; l < t->nlink; l++)
		x.full[l] = 1;
	for (uint32_t i = 0; i < t->nflow; i++)
		for (uint32_t k = t->off[i]; k < t->off[i + 1]; k++)
			x.wanted[t->path.v[k]] += t->flow[i].Bps;
	for (int round = 1; open && round <= ROUNDS_MAX; round++) {
		sim_traffic_fill_round(t, &x, round == ROUNDS_MAX);
		open -= x.nfresh;
	}
	for (uint32_t i = 0; i < t->nflow; i++)
		sim_traffic_find_bottleneck(t, &x, i);
	free(x.left);
	free(x.wanted);
	free(x.share);
	free(x.full);
	free(x.least);
	free(x.settled);
	free(x.fresh);
}

/* A flow that waits for others of its group has sent by then, and wants nothing. */
static double sim_traffic_short_of(const struct traffic *t, uint32_t i)
{
	if (!(t->own[i] > 0))
		return t->flow[i].Bps;
	return (t->flow[i].Bps - t->own[i]) * t->rate[i] / t->own[i];
}

static void sim_traffic_sum_links(struct traffic *t)
{
	memset(t->sent, 0, t->nlink * sizeof(double));
	memset(t->waits, 0, t->nlink * sizeof(double));
	memset(t->dropped, 0, t->nlink * sizeof(double));
	for (uint32_t i = 0; i < t->nflow; i++) {
		double short_of = sim_traffic_short_of(t, i);
		bool before = t->bottleneck[i] != NONE;
		uint32_t l = NONE;

		for (uint32_t k = t->off[i]; k < t->off[i + 1]; k++) {
			l = t->path.v[k];
			before = before && l != t->bottleneck[i];
			t->sent[l] += t->rate[i];
			if (before)
				t->waits[l] += short_of / t->capacity[l];
		}
		if (l != NONE && !t->arrives[i])
			t->dropped[l] += t->rate[i] / PACKET_BYTES;
	}
	for (uint32_t l = 0; l < t->nlink; l++)
		t->waits[l] = fmin(t->waits[l], fmax(0, 1 - t->sent[l] / t->capacity[l]));
}

static uint64_t sim_traffic_whole(double *carry, double more)
{
	double v = *carry + more, w = floor(v);

	*carry = v - w;
	return (uint64_t)w;
}

/* Counters of the port that the link leads to, or NULL. */
static uint64_t *sim_traffic_receiver(struct sim *s, uint32_t l)
{
	const struct fabric *f = s->f;
	const struct port *p;

	if (l >= f->nport)
		return s->port_ctr[f->port_off[f->term_sw[l - f->nport]] +
				   f->term_port[l - f->nport]];
	p = &f->port[l];
	if (p->term != FAB_NONE)
		return s->term_ctr[p->term];
	if (p->chan == FAB_NONE)
		return NULL;
	return s->port_ctr[f->port_off[f->chan_dst[p->chan]] + f->chan_rport[p->chan]];
}

static void sim_traffic_count_link(struct sim *s, uint32_t l, double dt)
{
	struct traffic *t = s->traffic;
	uint64_t *tx = l < s->f->nport ? s->port_ctr[l] : s->term_ctr[l - s->f->nport];
	uint64_t *rx = sim_traffic_receiver(s, l);
	uint64_t bytes = 4 * sim_traffic_whole(&t->carry_bytes[l], t->sent[l] * dt / 4);
	uint64_t pkts = sim_traffic_whole(&t->carry_pkts[l], t->sent[l] * dt / PACKET_BYTES);

	tx[CTR_TX_BYTES] += bytes;
	tx[CTR_TX_PKTS] += pkts;
	tx[CTR_TX_WAIT] += sim_traffic_whole(&t->carry_wait[l],
					     t->waits[l] * t->capacity[l] / FLIT_BYTES * dt);
	tx[CTR_TX_DISCARD] += sim_traffic_whole(&t->carry_drop[l], t->dropped[l] * dt);
	if (rx) {
		rx[CTR_RX_BYTES] += bytes;
		rx[CTR_RX_PKTS] += pkts;
	}
}

/* By the rates that the link has had since. */
static void sim_traffic_catch_up(struct sim *s, uint32_t l)
{
	struct traffic *t = s->traffic;
	uint64_t now = sim_now_ns(s), since = t->counted_ns[l];

	if (now <= since)
		return;
	t->counted_ns[l] = now;
	if (t->sent[l] > 0 || t->waits[l] > 0)
		sim_traffic_count_link(s, l, (double)(now - since) / 1e9);
}

static void sim_traffic_catch_up_all(struct sim *s)
{
	for (uint32_t l = 0; s->traffic->counted_ns && l < s->traffic->nlink; l++)
		sim_traffic_catch_up(s, l);
}

void traffic_read(struct sim *s, uint32_t end, uint8_t port)
{
	const struct fabric *f = s->f;
	const struct port *p;

	if (!s->traffic->counted_ns)
		return;
	if (!sim_is_switch(s, end)) {
		sim_traffic_catch_up(s, f->nport + end);
		sim_traffic_catch_up(s, f->port_off[f->term_sw[end]] + f->term_port[end]);
		return;
	}
	p = fabric_port(f, end - f->nend, port);
	sim_traffic_catch_up(s, f->port_off[end - f->nend] + port);
	if (p->term != FAB_NONE)
		sim_traffic_catch_up(s, f->nport + p->term);
	else if (p->chan != FAB_NONE)
		sim_traffic_catch_up(s, f->port_off[f->chan_dst[p->chan]] + f->chan_rport[p->chan]);
}

static void sim_traffic_refresh(struct sim *s)
{
	struct traffic *t = s->traffic;

	if (!t->changed)
		return;
	sim_traffic_catch_up_all(s);
	sim_traffic_walk_all(s);
	sim_traffic_share_out(t);
	for (uint32_t i = 0; i < t->nflow; i++)
		if (t->off[i] == t->off[i + 1])
			t->rate[i] = 0;
	sim_traffic_sum_links(t);
	t->changed = false;
}

void sim_traffic_step(struct sim *s, double dt_s)
{
	struct traffic *t = s->traffic;

	pthread_mutex_lock(&s->lock);
	sim_traffic_refresh(s);
	for (uint32_t l = 0; l < t->nlink; l++)
		if (t->sent[l] > 0 || t->waits[l] > 0)
			sim_traffic_count_link(s, l, dt_s);
	pthread_mutex_unlock(&s->lock);
}

void sim_traffic_follow(struct sim *s)
{
	struct traffic *t = s->traffic;

	pthread_mutex_lock(&s->lock);
	if (!t->counted_ns) {
		t->counted_ns = xcalloc(t->nlink, sizeof(*t->counted_ns));
		for (uint32_t l = 0; l < t->nlink; l++)
			t->counted_ns[l] = sim_now_ns(s);
	}
	sim_traffic_refresh(s);
	sim_traffic_catch_up_all(s);
	pthread_mutex_unlock(&s->lock);
}

void sim_flow_rates(struct sim *s, double *Bps, uint32_t n)
{
	struct traffic *t = s->traffic;

	pthread_mutex_lock(&s->lock);
	sim_traffic_refresh(s);
	for (uint32_t i = 0; i < n && i < t->nflow; i++)
		Bps[i] = t->arrives[i] ? t->rate[i] : 0;
	pthread_mutex_unlock(&s->lock);
}
