/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_mover.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <string.h>

#define SPARES (SAR_DETOUR_MAX + 1u)
#define LITTLE 1.02 /* times what the flows cost alone: nothing can be gained */

/* Flows from one switch. */
struct group {
	uint32_t sw, first, n;
	bool comes; /* through the switch in hand */
};

/* A switch that is reached with so many hops to spare, and how. */
struct place {
	double cost;
	uint32_t stamp;
	uint32_t before, chan; /* place before, channel from there; FAB_NONE at the beginning */
};

struct found {
	double cost;
	uint32_t last, chan; /* last place, and the channel to the tree */
};

struct sar_mover {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct tables *t;
	const struct tables *from;
	struct sar_contention *k;
	struct lft_hops hops;
	struct sar_dags dags;
	uint8_t *differ; /* by row and block: entries that do */
	uint64_t nblocks, work;
	const struct sar_mover_rule *rule;
	/* the LID in hand */
	const struct dest *d;
	const struct sar_dag *dag;
	const struct sar_flow *flows;
	struct group *group;
	uint32_t ngroup;
	uint32_t *carry; /* by switch: flows that come through */
	uint32_t *node;	 /* switches that have had some */
	bool *listed;	 /* by switch: it is one of them */
	uint32_t nnode;
	/* the switch in hand */
	uint32_t sw, spare; /* hops that its way may have more than necessary */
	uint32_t come;	    /* flows through it */
	struct sar_bundle b;
	uint32_t *above; /* by switch: stamp where the tree leads through the one in hand */
	uint32_t above_stamp;
	/* the search */
	struct place *place; /* by switch * SPARES + hops to spare */
	uint32_t *list[2], nlist[2];
	uint32_t stamp;
	struct sar_burden *burden; /* by channel, as far as it was needed ... */
	uint32_t *burden_stamp;
	double *rest; /* by switch of the tree: what is left from there on ... */
	uint32_t *rest_hops, *rest_stamp;
	uint32_t *way; /* channels of the new way, from its end ... */
	uint32_t *was; /* ... what the entries there were, and those of the old way */
	uint32_t *old;
	uint32_t nway, nold;
};

/* Blocks that differ already. */
static void sar_mover_count(struct sar_mover *m)
{
	uint32_t nblock = tables_blocks(m->t);

	for (uint32_t u = 0; u < m->f->nsw; u++) {
		const uint8_t *now = tables_row(m->t, u), *was = tables_row(m->from, u);
		uint8_t *differ = m->differ + (size_t)u * nblock;

		for (uint32_t lid = 0; lid < m->t->stride; lid++)
			differ[lid / LFT_BLOCK] =
				(uint8_t)(differ[lid / LFT_BLOCK] + (now[lid] != was[lid]));
		for (uint32_t b = 0; b < nblock; b++)
			m->nblocks += differ[b] > 0;
	}
}

struct sar_mover *sar_mover_new(const struct fabric *f, struct tables *t, const struct tables *from,
				struct sar_contention *k)
{
	struct arena *mem = arena_new();
	struct sar_mover *m = arena_alloc(mem, 1, sizeof(*m));
	uint32_t nsw = f->nsw, most = 1;

	m->mem = mem;
	m->f = f;
	m->t = t;
	m->from = from;
	m->k = k;
	for (uint32_t i = 0; i < f->nterm; i++) {
		uint32_t n = k->x->off[i + 1] - k->x->off[i];

		most = n > most ? n : most;
	}
	lft_hops_init(&m->hops, f, t);
	sar_dags_init(&m->dags, f, mem);
	m->differ = arena_alloc(mem, nsw, tables_blocks(t));
	m->group = arena_array(mem, struct group, nsw);
	m->carry = arena_array(mem, uint32_t, nsw);
	m->node = arena_array(mem, uint32_t, nsw);
	m->listed = arena_array(mem, bool, nsw);
	m->was = arena_array(mem, uint32_t, nsw);
	m->b.phase = arena_array(mem, uint32_t, most);
	m->b.amount = arena_array(mem, uint32_t, most);
	m->b.weight = arena_array(mem, float, most);
	m->above = arena_array(mem, uint32_t, nsw);
	m->place = arena_array(mem, struct place, (size_t)SPARES * nsw);
	for (int i = 0; i < 2; i++)
		m->list[i] = arena_array(mem, uint32_t, (size_t)SPARES * nsw);
	m->burden = arena_array(mem, struct sar_burden, f->nchan);
	m->burden_stamp = arena_array(mem, uint32_t, f->nchan);
	m->rest = arena_array(mem, double, nsw);
	m->rest_hops = arena_array(mem, uint32_t, nsw);
	m->rest_stamp = arena_array(mem, uint32_t, nsw);
	m->way = arena_array(mem, uint32_t, nsw);
	m->old = arena_array(mem, uint32_t, nsw);
	if (from)
		sar_mover_count(m);
	return m;
}

void sar_mover_free(struct sar_mover *m)
{
	if (!m)
		return;
	lft_hops_done(&m->hops);
	sar_dags_done(&m->dags);
	arena_free(m->mem);
}

struct lft_hops *sar_mover_hops(struct sar_mover *m)
{
	return &m->hops;
}

uint64_t sar_mover_blocks(const struct sar_mover *m)
{
	return m->nblocks;
}

uint64_t sar_mover_work(const struct sar_mover *m)
{
	return m->work + m->k->work + m->dags.work;
}

static inline uint32_t sar_mover_chan(struct sar_mover *m, uint32_t u, const uint8_t *ports)
{
	return m->f->chan_off[u] + lft_hops_place(&m->hops, u, ports[u]);
}

/* --- entries ------------------------------------------------------------------------------------
 */

static inline uint8_t *sar_mover_differ(const struct sar_mover *m, uint32_t u)
{
	return m->differ + (size_t)u * tables_blocks(m->t) + m->d->lid / LFT_BLOCK;
}

/* Would another block change if the LID went over that channel? */
static inline bool sar_mover_is_new_block(const struct sar_mover *m, uint32_t u, uint32_t c)
{
	return m->from && tables_row(m->from, u)[m->d->lid] != m->f->chan_port[c] &&
	       !*sar_mover_differ(m, u);
}

static void sar_mover_write(struct sar_mover *m, uint32_t u, uint32_t c)
{
	uint8_t *differ = sar_mover_differ(m, u), port = m->f->chan_port[c];
	uint8_t was = tables_row(m->t, u)[m->d->lid];
	uint8_t old = m->from ? tables_row(m->from, u)[m->d->lid] : was;

	lft_hops_set(&m->hops, m->t, u, m->d->lid, port);
	if (!m->from)
		return;
	m->nblocks -= *differ > 0;
	*differ = (uint8_t)(*differ + (port != old) - (was != old));
	m->nblocks += *differ > 0;
}

/* --- the tree -----------------------------------------------------------------------------------
 */

static void sar_mover_find_groups(struct sar_mover *m)
{
	const struct sar_traffic *x = m->k->x;
	uint32_t first = x->off[m->d->end], end = x->off[m->d->end + 1];

	m->flows = x->flows;
	m->ngroup = 0;
	for (uint32_t i = first; i < end; i++) {
		if (!m->ngroup || m->group[m->ngroup - 1].sw != x->flows[i].sw)
			m->group[m->ngroup++] = (struct group){ x->flows[i].sw, i, 0, false };
		m->group[m->ngroup - 1].n++;
	}
}

static inline void sar_mover_carry(struct sar_mover *m, uint32_t u, uint32_t n)
{
	if (!m->listed[u])
		m->node[m->nnode++] = u;
	m->listed[u] = true;
	m->carry[u] += n;
}

static void sar_mover_lay_out(struct sar_mover *m, const uint8_t *ports)
{
	m->nnode = 0;
	for (uint32_t g = 0; g < m->ngroup; g++)
		for (uint32_t u = m->group[g].sw; u != m->d->sw;
		     u = lft_hops_next(&m->hops, u, ports[u]))
			sar_mover_carry(m, u, m->group[g].n);
	m->work += 2ull * m->nnode + m->ngroup;
}

static void sar_mover_forget(struct sar_mover *m)
{
	for (uint32_t i = 0; i < m->nnode; i++) {
		m->carry[m->node[i]] = 0;
		m->listed[m->node[i]] = false;
	}
	m->nnode = 0;
}

/* The channels from the switch in hand on; returns how many. */
static uint32_t sar_mover_find_old(struct sar_mover *m, const uint8_t *ports)
{
	m->nold = 0;
	for (uint32_t u = m->sw; u != m->d->sw; u = lft_hops_next(&m->hops, u, ports[u]))
		m->old[m->nold++] = sar_mover_chan(m, u, ports);
	return m->nold;
}

/* Does the group come through the switch in hand?  Then so do those that the tree leads through
 * before; its way leaves at most so many hops more than necessary for the rest. */
static bool sar_mover_comes(struct sar_mover *m, struct group *g, const uint8_t *ports)
{
	uint32_t n = 0, more, u;

	for (u = g->sw; u != m->d->sw && u != m->sw; n++)
		u = lft_hops_next(&m->hops, u, ports[u]);
	m->work += n;
	if (u != m->sw)
		return false;
	for (u = g->sw; u != m->sw; u = lft_hops_next(&m->hops, u, ports[u]))
		m->above[u] = m->above_stamp;
	more = n + m->dag->dist[m->sw] - m->dag->dist[g->sw];
	more = more > m->rule->detour ? 0 : m->rule->detour - more;
	m->spare = more < m->spare ? more : m->spare;
	return true;
}

static void sar_mover_put_first(struct sar_bundle *b, uint32_t i)
{
	uint32_t phase = b->phase[0], amount = b->amount[0];
	float weight = b->weight[0];

	b->phase[0] = b->phase[i];
	b->amount[0] = b->amount[i];
	b->weight[0] = b->weight[i];
	b->phase[i] = phase;
	b->amount[i] = amount;
	b->weight[i] = weight;
}

/* Those of a demand, which are all of one phase, become one: the first. */
static void sar_mover_add_group(struct sar_mover *m, const struct group *g)
{
	uint32_t demand = m->k->x->phases - m->k->x->of[SAR_DEMAND].n;

	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		const struct sar_flow *fl = &m->flows[i];
		float weight = (float)fl->amount * m->k->weight[fl->at];

		if (fl->phase == demand && m->b.n && m->b.phase[0] == demand) {
			m->b.amount[0] += fl->amount;
			m->b.weight[0] += weight;
			continue;
		}
		m->b.phase[m->b.n] = fl->phase;
		m->b.amount[m->b.n] = fl->amount;
		m->b.weight[m->b.n] = weight;
		if (fl->phase == demand)
			sar_mover_put_first(&m->b, m->b.n);
		m->b.n++;
	}
	m->come += g->n;
}

/* The flows that come through the switch. */
static void sar_mover_take_in_hand(struct sar_mover *m, uint32_t u, const uint8_t *ports)
{
	m->sw = u;
	m->spare = m->rule->detour;
	m->above[u] = ++m->above_stamp;
	m->b.n = 0;
	m->come = 0;
	for (uint32_t g = 0; g < m->ngroup && m->come < m->carry[u]; g++)
		if (sar_mover_comes(m, &m->group[g], ports))
			sar_mover_add_group(m, &m->group[g]);
}

/* --- the search ---------------------------------------------------------------------------------
 */

static double sar_mover_burden(struct sar_mover *m, uint32_t c, double most)
{
	if (m->burden_stamp[c] != m->stamp) {
		m->burden_stamp[c] = m->stamp;
		m->burden[c] = (struct sar_burden){ 0, 0 };
	}
	return sar_contention_burden(m->k, c, &m->b, &m->burden[c], most);
}

/* From a switch of the tree on, whose way is no longer the one in hand's. */
static double sar_mover_rest(struct sar_mover *m, uint32_t u, const uint8_t *ports, double most)
{
	uint32_t n = 0;
	double sum = 0;

	if (m->rest_stamp[u] == m->stamp)
		return m->rest[u];
	for (uint32_t v = u; v != m->d->sw; v = lft_hops_next(&m->hops, v, ports[v])) {
		n++;
		if (sum < most)
			sum += sar_mover_burden(m, sar_mover_chan(m, v, ports), most);
	}
	m->work += n;
	m->rest_stamp[u] = m->stamp;
	m->rest_hops[u] = n;
	return m->rest[u] = sum;
}

/* What a hop costs besides what it adds to the channel. */
static double sar_mover_toll(const struct sar_mover *m, uint32_t u, uint32_t c, uint32_t detours,
			     double cost)
{
	double toll = detours ? m->rule->hop * cost * detours : 0;

	if (!sar_mover_is_new_block(m, u, c))
		return toll;
	return m->nblocks >= m->rule->limit ? HUGE_VAL : toll + m->rule->block;
}

/* One hop over a channel from a place; hops is the layer where it arrives, most what the flows
 * cost now. */
static void sar_mover_step(struct sar_mover *m, const uint8_t *ports, uint32_t at, uint32_t c,
			   uint32_t layer, double most, struct found *best)
{
	uint32_t u = at / SPARES, spare = at % SPARES;
	uint32_t v = m->f->chan_dst[c], lost = m->dag->dist[v] + 1u - m->dag->dist[u], to;
	double cost = m->place[at].cost;

	if (lost > spare || m->above[v] == m->above_stamp)
		return;
	cost += sar_mover_toll(m, u, c, lost, most);
	if (cost >= best->cost)
		return;
	cost += sar_mover_burden(m, c, best->cost - cost);
	if (cost >= best->cost)
		return;
	to = v * SPARES + spare - lost;
	if (v == m->d->sw || m->carry[v]) {
		cost += v == m->d->sw ? 0 : sar_mover_rest(m, v, ports, best->cost);
		if (cost < best->cost &&
		    (v == m->d->sw || m->rest_hops[v] <= m->dag->dist[v] + spare - lost))
			*best = (struct found){ cost, at, c };
		return;
	}
	if (m->place[to].stamp != m->stamp)
		m->list[layer % 2][m->nlist[layer % 2]++] = to;
	else if (m->place[to].cost <= cost)
		return;
	m->place[to] = (struct place){ cost, m->stamp, at, c };
}

static void sar_mover_expand(struct sar_mover *m, const uint8_t *ports, uint32_t at, uint32_t layer,
			     double most, struct found *best)
{
	uint32_t u = at / SPARES, first = m->f->chan_off[u];

	if (m->place[at].cost >= best->cost)
		return;
	m->work += m->dag->degree[u];
	for (uint32_t k = m->dag->off[u], end = k + m->dag->degree[u]; k < end; k++)
		sar_mover_step(m, ports, at, first + m->dag->edge[k], layer, most, best);
	if (at % SPARES == 0)
		return;
	m->work += m->f->chan_off[u + 1] - first;
	for (uint32_t c = first; c < m->f->chan_off[u + 1]; c++)
		if (m->dag->dist[m->f->chan_dst[c]] >= m->dag->dist[u])
			sar_mover_step(m, ports, at, c, layer, most, best);
}

/* A way that costs less than that, tolls included; its cost is HUGE_VAL when there is none. */
static struct found sar_mover_search(struct sar_mover *m, const uint8_t *ports, double most)
{
	struct found best = { most * (1 - m->rule->gain), FAB_NONE, FAB_NONE };
	uint32_t at = m->sw * SPARES + m->spare;

	m->place[at] = (struct place){ 0, m->stamp, FAB_NONE, FAB_NONE };
	m->list[0][0] = at;
	m->nlist[0] = 1;
	for (uint32_t layer = 1; m->nlist[(layer - 1) % 2]; layer++) {
		const uint32_t *list = m->list[(layer - 1) % 2];
		uint32_t n = m->nlist[(layer - 1) % 2];

		m->nlist[layer % 2] = 0;
		for (uint32_t i = 0; i < n; i++)
			sar_mover_expand(m, ports, list[i], layer, most, &best);
	}
	return best;
}

/* The channels of that way, from its end, up to where it joins the tree.  False when it comes by
 * one switch twice. */
static bool sar_mover_find_way(struct sar_mover *m, const struct found *best)
{
	m->way[0] = best->chan;
	m->nway = 1;
	for (uint32_t at = best->last; m->place[at].before != FAB_NONE; at = m->place[at].before) {
		for (uint32_t i = 0; i < m->nway; i++)
			if (m->f->chan_src[m->way[i]] == m->f->chan_src[m->place[at].chan])
				return false;
		m->way[m->nway++] = m->place[at].chan;
	}
	return true;
}

/* --- moves --------------------------------------------------------------------------------------
 */

/* Flows that come to the switch in hand do not go on from it, or do again. */
static void sar_mover_cut(struct sar_mover *m)
{
	for (uint32_t i = 1; i < m->nold; i++)
		m->carry[m->f->chan_src[m->old[i]]] -= m->come;
}

static void sar_mover_join(struct sar_mover *m)
{
	for (uint32_t i = 1; i < m->nold; i++)
		m->carry[m->f->chan_src[m->old[i]]] += m->come;
}

static double sar_mover_take_out(struct sar_mover *m)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->nold; i++)
		sum += sar_contention_take(m->k, m->old[i], &m->b);
	return sum;
}

/* Over what the entries say. */
static double sar_mover_put_in(struct sar_mover *m, const uint8_t *ports)
{
	double sum = 0;

	for (uint32_t u = m->sw; u != m->d->sw; u = lft_hops_next(&m->hops, u, ports[u])) {
		sum += sar_contention_put(m->k, sar_mover_chan(m, u, ports), &m->b);
		if (u != m->sw)
			sar_mover_carry(m, u, m->come);
	}
	return sum;
}

static uint64_t sar_mover_new_blocks(const struct sar_mover *m)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->nway; i++)
		n += sar_mover_is_new_block(m, m->f->chan_src[m->way[i]], m->way[i]);
	return n;
}

static void sar_mover_write_way(struct sar_mover *m, const uint32_t *way, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sar_mover_write(m, m->f->chan_src[way[i]], way[i]);
}

/* Takes the new way, and back where it turns out to be dearer: the search does not see flows that
 * meet each other in a phase.  Returns what is saved. */
static double sar_mover_go(struct sar_mover *m, const uint8_t *ports, double before)
{
	uint32_t n = m->nway;
	double after;

	for (uint32_t i = 0; i < n; i++)
		m->was[i] = fabric_chan(m->f, m->f->chan_src[m->way[i]],
					ports[m->f->chan_src[m->way[i]]]);
	sar_mover_write_way(m, m->way, n);
	after = sar_mover_put_in(m, ports);
	if (after <= before)
		return before - after;
	sar_mover_find_old(m, ports);
	sar_mover_take_out(m);
	sar_mover_cut(m);
	sar_mover_write_way(m, m->was, n);
	sar_mover_put_in(m, ports);
	return 0;
}

/* What the flows cost at least, on ways of their own. */
static double sar_mover_floor(const struct sar_mover *m)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->b.n; i++)
		sum += (double)m->b.weight[i];
	return sum * m->dag->dist[m->sw] * m->k->slow_least;
}

/* What is saved without them on each channel of their way is what they would cost there. */
static double sar_mover_relief(struct sar_mover *m)
{
	double sum = 0;

	m->stamp++;
	for (uint32_t i = 0; i < m->nold; i++) {
		double relief = sar_contention_relief(m->k, m->old[i], &m->b);

		m->burden_stamp[m->old[i]] = m->stamp;
		m->burden[m->old[i]] = (struct sar_burden){ relief, m->b.n };
		sum += relief;
	}
	return sum;
}

/* Moves all that comes through a switch. */
static double sar_mover_move(struct sar_mover *m, uint32_t u, const uint8_t *ports)
{
	struct found best;
	double before;

	sar_mover_take_in_hand(m, u, ports);
	sar_mover_find_old(m, ports);
	before = sar_mover_relief(m);
	if (before * (1 - m->rule->gain) <= LITTLE * sar_mover_floor(m))
		return 0;
	sar_mover_cut(m);
	best = sar_mover_search(m, ports, before);
	if (best.chan != FAB_NONE && sar_mover_find_way(m, &best) &&
	    m->nblocks + sar_mover_new_blocks(m) <= m->rule->limit)
		return sar_mover_go(m, ports, sar_mover_take_out(m));
	sar_mover_join(m);
	return 0;
}

static void sar_mover_begin(struct sar_mover *m, const struct dest *d,
			    const struct sar_mover_rule *rule, const uint8_t *ports)
{
	m->d = d;
	m->rule = rule;
	m->dag = sar_dags_find(&m->dags, d->sw);
	sar_mover_find_groups(m);
	sar_mover_lay_out(m, ports);
}

double sar_mover_improve(struct sar_mover *m, const struct dest *d,
			 const struct sar_mover_rule *rule)
{
	const uint8_t *ports = lft_hops_at(&m->hops, d->lid);
	double saved = 0;
	uint32_t n;

	sar_mover_begin(m, d, rule, ports);
	n = m->nnode;
	for (uint32_t i = 0; i < n; i++)
		if (m->carry[m->node[i]])
			saved += sar_mover_move(m, m->node[i], ports);
	sar_mover_forget(m);
	return saved;
}

/* --- what is left behind ------------------------------------------------------------------------
 */

static bool sar_mover_is_nearer(const struct sar_mover *m, uint32_t u, uint32_t c)
{
	return c != FAB_NONE && m->dag->dist[m->f->chan_dst[c]] < m->dag->dist[u];
}

/* Does the way from there come by that switch? */
static bool sar_mover_comes_by(struct sar_mover *m, uint32_t from, uint32_t sw,
			       const uint8_t *ports)
{
	uint32_t u = from;

	while (u != m->d->sw && u != sw)
		u = lft_hops_next(&m->hops, u, ports[u]);
	return u == sw;
}

/* Hops from there, by these entries or by those before. */
static uint32_t sar_mover_hops_from(struct sar_mover *m, uint32_t u, const uint8_t *ports)
{
	uint32_t n = 0;

	while (u != m->d->sw) {
		uint8_t port = ports ? ports[u] : tables_row(m->from, u)[m->d->lid];

		u = lft_hops_next(&m->hops, u, port);
		n++;
	}
	m->work += n;
	return n;
}

/* Is its way longer than it may be, and than it was? */
static bool sar_mover_is_too_long(struct sar_mover *m, uint32_t u, const uint8_t *ports)
{
	uint32_t hops = sar_mover_hops_from(m, u, ports);

	return hops > m->dag->dist[u] + m->rule->detour && hops > sar_mover_hops_from(m, u, NULL);
}

/* A shortest way from there, the installed one if that is; FAB_NONE: it may stay, or has to. */
static uint32_t sar_mover_shorter(struct sar_mover *m, uint32_t u, const uint8_t *ports)
{
	uint32_t now = sar_mover_chan(m, u, ports);
	uint32_t was = fabric_chan(m->f, u, tables_row(m->from, u)[m->d->lid]);

	if (sar_mover_is_nearer(m, u, now) || (was == now && !sar_mover_is_too_long(m, u, ports)))
		return FAB_NONE;
	if (!sar_mover_is_nearer(m, u, was))
		was = m->f->chan_off[u] + m->dag->edge[m->dag->off[u]];
	return sar_mover_comes_by(m, m->f->chan_dst[was], u, ports) ? FAB_NONE : was;
}

void sar_mover_tidy(struct sar_mover *m, const struct dest *d)
{
	const uint8_t *ports = lft_hops_at(&m->hops, d->lid);

	m->d = d;
	m->dag = sar_dags_find(&m->dags, d->sw);
	sar_mover_find_groups(m);
	sar_mover_lay_out(m, ports);
	for (uint32_t u = 0; u < m->f->nsw; u++) {
		uint32_t c = u == d->sw || m->carry[u] ? FAB_NONE : sar_mover_shorter(m, u, ports);

		if (c == FAB_NONE)
			continue;
		if (!sar_mover_is_new_block(m, u, c) || m->nblocks < m->rule->limit)
			sar_mover_write(m, u, c);
	}
	m->work += m->f->nsw;
	sar_mover_forget(m);
}

/* --- one entry -----------------------------------------------------------------------------------
 */

/* Do the flows that come through the switch get to the LID by that channel, not too far round? */
static bool sar_mover_may_turn(struct sar_mover *m, uint32_t u, uint32_t c, const uint8_t *ports)
{
	uint32_t v = m->f->chan_dst[c];

	return !sar_mover_comes_by(m, v, u, ports) &&
	       (!m->b.n || sar_mover_hops_from(m, v, ports) + 1 <= m->dag->dist[u] + m->spare);
}

bool sar_mover_turn(struct sar_mover *m, const struct dest *d, uint32_t u, uint8_t port,
		    const struct sar_mover_rule *rule, double *saved)
{
	const uint8_t *ports = lft_hops_at(&m->hops, d->lid);
	uint32_t c = fabric_chan(m->f, u, port);
	bool may;

	sar_mover_begin(m, d, rule, ports);
	sar_mover_take_in_hand(m, u, ports);
	may = c != FAB_NONE && sar_mover_may_turn(m, u, c, ports);
	if (may && m->b.n) {
		sar_mover_find_old(m, ports);
		*saved += sar_mover_take_out(m);
		sar_mover_cut(m);
		sar_mover_write(m, u, c);
		*saved -= sar_mover_put_in(m, ports);
	} else if (may) {
		sar_mover_write(m, u, c);
	}
	sar_mover_forget(m);
	return may;
}

bool sar_mover_is_long(struct sar_mover *m, const struct dest *d, const struct sar_mover_rule *rule)
{
	const uint8_t *ports = lft_hops_at(&m->hops, d->lid);
	bool moved = false, longer = false;

	m->d = d;
	m->rule = rule;
	m->dag = sar_dags_find(&m->dags, d->sw);
	for (uint32_t u = 0; u < m->f->nsw && !moved; u++)
		moved = ports[u] != tables_row(m->from, u)[d->lid];
	for (uint32_t u = 0; u < m->f->nsw && moved && !longer; u++)
		longer = u != d->sw && sar_mover_is_too_long(m, u, ports);
	return longer;
}

void sar_mover_undo(struct sar_mover *m, const struct dest *d)
{
	m->d = d;
	for (uint32_t u = 0; u < m->f->nsw; u++)
		if (u != d->sw)
			sar_mover_write(m, u, fabric_chan(m->f, u, tables_row(m->from, u)[d->lid]));
}
