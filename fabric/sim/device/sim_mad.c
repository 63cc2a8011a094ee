/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_priv.h"

#include "fabric/base/mem.h"
#include "fabric/base/vec.h"
#include "fabric/ib/codec.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define HOPS_MAX 64
#define MTU_4096 5

struct reply {
	uint16_t status;
	size_t len;
	uint8_t data[PERF_DATA];
};

static void sim_mad_node_info(const struct sim *s, uint32_t end, uint8_t in, uint8_t *d)
{
	const struct fabric *f = s->f;
	struct node_info ni = { .type = 1, .local_port = in, .vendor_id = 0x1234 };

	if (sim_is_switch(s, end)) {
		ni.type = 2;
		ni.nports = f->sw_nports[end - f->nend];
		ni.node_guid = ni.port_guid = ni.system_guid = f->sw_guid[end - f->nend];
	} else {
		ni.type = f->term_kind[end] == TERM_ROUTER ? 3 : 1;
		ni.nports = s->term_nports[end];
		ni.node_guid = ni.system_guid = f->term_node_guid[end];
		ni.port_guid = f->term_guid[end];
	}
	node_info_encode(d, &ni);
}

/* State, width and speed of the link on a switch's port, as both of its ends report them. */
static void sim_mad_link_info(const struct sim *s, uint32_t sw, uint8_t port, struct port_info *pi)
{
	const struct port *p = fabric_port(s->f, sw, port);
	bool cabled = p->chan != FAB_NONE || p->term != FAB_NONE;
	bool up = cabled && !s->link_down[s->f->port_off[sw] + port];

	pi->state = up ? 4 : 1;
	pi->phys_state = up ? 5 : 2;
	if (up)
		port_info_set_link(pi, p->width, p->speed);
	/* where the fabric does not say: as most switches have */
	pi->op_vls = port_info_vl_code(p->op_vls ? p->op_vls : 8);
	pi->vl_cap = pi->op_vls;
	pi->mtu = MTU_4096;
}

static uint32_t sim_mad_sibling(const struct sim *s, uint32_t term, uint32_t ca_port)
{
	for (uint32_t t = 0; t < s->f->nend; t++)
		if (s->f->term_node_guid[t] == s->f->term_node_guid[term] &&
		    s->f->term_ca_port[t] == ca_port)
			return t;
	return FAB_NONE;
}

uint32_t sim_cap_mask(const struct sim *s, uint32_t term)
{
	return PORT_CAP_EXT_SPEED | (term == s->o.sm_term ? PORT_CAP_SM : 0);
}

static uint16_t sim_mad_port_info(const struct sim *s, uint32_t end, uint8_t in, uint32_t port,
				  bool key_ok, uint8_t *d)
{
	const struct fabric *f = s->f;
	struct port_info pi = { .local_port = in, .cap_mask = PORT_CAP_EXT_SPEED };

	if (!sim_is_switch(s, end)) {
		if (port && port != f->term_ca_port[end])
			end = sim_mad_sibling(s, end, port);
		if (end == FAB_NONE)
			return MAD_STATUS_VALUE;
		sim_mad_link_info(s, f->term_sw[end], f->term_port[end], &pi);
		pi.lid = f->term_lid[end];
		pi.lmc = f->lmc;
		pi.cap_mask = sim_cap_mask(s, end);
	} else {
		uint32_t sw = end - f->nend;

		if (port > f->sw_nports[sw])
			return MAD_STATUS_VALUE;
		if (port) {
			sim_mad_link_info(s, sw, (uint8_t)port, &pi);
		} else {
			pi.lid = f->sw_lid[sw];
			pi.state = 4;
			pi.phys_state = 5;
			pi.op_vls = pi.vl_cap = 1;
			pi.width_active = 2;
			pi.speed_active = 1;
		}
	}
	pi.sm_lid = s->o.sm_term < f->nend ? f->term_lid[s->o.sm_term] : 0;
	pi.m_key = key_ok || !s->o.m_key_protect ? sim_m_key(s, end) : 0;
	pi.m_key_protect = s->o.m_key_protect;
	port_info_encode(d, &pi);
	return 0;
}

static uint16_t sim_mad_switch_info(struct sim *s, uint32_t end, const struct mad_request *r,
				    uint8_t *d)
{
	struct switch_info si, want;
	uint32_t sw = end - s->f->nend;

	if (!sim_is_switch(s, end))
		return MAD_STATUS_ATTRIBUTE;
	if (r->method == MAD_SET) {
		if (switch_info_decode(&want, r->data) || want.linear_top >= s->stride)
			return MAD_STATUS_VALUE;
		s->top[sw] = want.linear_top;
		traffic_changed(s->traffic);
	}
	si = (struct switch_info){ .linear_cap = (uint16_t)s->stride,
				   .linear_top = s->top[sw],
				   .default_port = FAB_NO_PORT,
				   .enhanced_sp0 = s->f->sw_enhanced_sp0[sw] };
	switch_info_encode(d, &si);
	return 0;
}

static uint16_t sim_mad_lft_block(struct sim *s, uint32_t end, const struct mad_request *r,
				  uint8_t *d)
{
	uint8_t *row;

	if (!sim_is_switch(s, end))
		return MAD_STATUS_ATTRIBUTE;
	if (r->mod >= s->stride / LFT_BLOCK)
		return MAD_STATUS_VALUE;
	row = s->lft + (size_t)(end - s->f->nend) * s->stride + (size_t)r->mod * LFT_BLOCK;
	if (r->method == MAD_SET) {
		memcpy(row, r->data, LFT_BLOCK);
		traffic_changed(s->traffic);
	}
	memcpy(d, row, LFT_BLOCK);
	return 0;
}

static uint16_t sim_mad_sl2vl_table(struct sim *s, uint32_t end, const struct mad_request *r,
				    uint8_t *d)
{
	static const uint8_t identity[FAB_SLS] = { 0, 1, 2,  3,	 4,  5,	 6,  7,
						   8, 9, 10, 11, 12, 13, 14, 15 };
	uint8_t in = (uint8_t)(r->mod >> 8), out = (uint8_t)r->mod, vl[FAB_SLS];
	uint32_t sw = end - s->f->nend;

	if (!sim_is_switch(s, end)) {
		if (r->method == MAD_SET)
			return MAD_STATUS_ATTRIBUTE;
		sl2vl_encode(d, identity);
		return 0;
	}
	if (in > s->f->sw_nports[sw] || out > s->f->sw_nports[sw] || r->mod > 0xffff)
		return MAD_STATUS_VALUE;
	if (r->method == MAD_SET)
		memcpy(sim_sl2vl_row(s, sw, in, out), r->data, 8);
	for (uint8_t sl = 0; sl < FAB_SLS; sl++)
		vl[sl] = sim_vl(s, sw, in, out, sl);
	sl2vl_encode(d, vl);
	return 0;
}

static uint16_t sim_mad_sm_info(const struct sim *s, uint32_t end, uint8_t *d)
{
	struct sm_info si = { .priority = 14, .state = SM_MASTER };

	if (end != s->o.sm_term)
		return MAD_STATUS_ATTRIBUTE;
	si.guid = s->f->term_guid[end];
	si.act_count = (uint32_t)((sim_now_ns(s) - s->start_ns) / 1000000);
	sm_info_encode(d, &si);
	return 0;
}

/* False: refused, with a status, or none when it is to be lost. */
static bool sim_mad_set_allowed(struct sim *s, uint16_t attr, struct reply *a)
{
	if (attr != SMP_LFT && attr != SMP_SL2VL && attr != SMP_SWITCH_INFO) {
		a->status = MAD_STATUS_ATTRIBUTE;
		return false;
	}
	if (!s->lose_after)
		return false;
	s->lose_after -= s->lose_after != UINT64_MAX;
	if (!s->fail_after) {
		a->status = MAD_STATUS_VALUE;
		return false;
	}
	s->fail_after -= s->fail_after != UINT64_MAX;
	return true;
}

/* False: no answer at all. */
static bool sim_mad_answer_smp(struct sim *s, uint32_t end, uint8_t in, const struct mad_request *r,
			       struct reply *a)
{
	uint64_t key = sim_m_key(s, end);
	bool key_ok = !key || r->m_key == key;

	a->len = SMP_DATA;
	if (!key_ok && r->attr != SMP_SM_INFO &&
	    (r->method == MAD_SET || s->o.m_key_protect >= 2)) {
		s->key_violations[end]++;
		return false;
	}
	if (r->method == MAD_SET && !sim_mad_set_allowed(s, r->attr, a))
		return a->status != 0;
	switch (r->attr) {
	case SMP_NODE_INFO:
		sim_mad_node_info(s, end, in, a->data);
		break;
	case SMP_NODE_DESC:
		node_desc_encode(a->data, sim_is_switch(s, end) ? s->f->sw_desc[end - s->f->nend]
								: s->f->term_desc[end]);
		break;
	case SMP_PORT_INFO:
		a->status = sim_mad_port_info(s, end, in, r->mod, key_ok, a->data);
		break;
	case SMP_SWITCH_INFO:
		a->status = sim_mad_switch_info(s, end, r, a->data);
		break;
	case SMP_LFT:
		a->status = sim_mad_lft_block(s, end, r, a->data);
		break;
	case SMP_SL2VL:
		a->status = sim_mad_sl2vl_table(s, end, r, a->data);
		break;
	case SMP_SM_INFO:
		if (s->sm_stopped && end == s->o.sm_term)
			return false;
		a->status = sim_mad_sm_info(s, end, a->data);
		break;
	default:
		a->status = MAD_STATUS_ATTRIBUTE;
	}
	return true;
}

static uint32_t sim_mad_stuck(uint64_t v, uint32_t max)
{
	return v < max ? (uint32_t)v : max;
}

static void sim_mad_counters_narrow(const uint64_t *c, uint8_t port, uint8_t *d)
{
	struct perf_counters pc = {
		.port = port,
		.symbol_err = (uint16_t)sim_mad_stuck(c[CTR_SYMBOL_ERR], UINT16_MAX),
		.link_recovered = (uint8_t)sim_mad_stuck(c[CTR_LINK_RECOVERED], UINT8_MAX),
		.link_downed = (uint8_t)sim_mad_stuck(c[CTR_LINK_DOWNED], UINT8_MAX),
		.rx_err = (uint16_t)sim_mad_stuck(c[CTR_RX_ERR], UINT16_MAX),
		.tx_discard = (uint16_t)sim_mad_stuck(c[CTR_TX_DISCARD], UINT16_MAX),
		.tx_words = sim_mad_stuck(c[CTR_TX_BYTES] / 4, UINT32_MAX),
		.rx_words = sim_mad_stuck(c[CTR_RX_BYTES] / 4, UINT32_MAX),
		.tx_pkts = sim_mad_stuck(c[CTR_TX_PKTS], UINT32_MAX),
		.rx_pkts = sim_mad_stuck(c[CTR_RX_PKTS], UINT32_MAX),
		.tx_wait = sim_mad_stuck(c[CTR_TX_WAIT], UINT32_MAX),
	};

	perf_counters_encode(d, &pc);
}

static void sim_mad_counters_wide(const uint64_t *c, uint8_t port, bool errors, uint8_t *d)
{
	struct perf_counters_ext pc = {
		.port = port,
		.tx_words = c[CTR_TX_BYTES] / 4,
		.rx_words = c[CTR_RX_BYTES] / 4,
		.tx_pkts = c[CTR_TX_PKTS],
		.rx_pkts = c[CTR_RX_PKTS],
	};

	if (errors) {
		pc.symbol_err = c[CTR_SYMBOL_ERR];
		pc.link_recovered = c[CTR_LINK_RECOVERED];
		pc.link_downed = c[CTR_LINK_DOWNED];
		pc.rx_err = c[CTR_RX_ERR];
		pc.tx_discard = c[CTR_TX_DISCARD];
		pc.tx_wait = c[CTR_TX_WAIT];
	}
	perf_counters_ext_encode(d, &pc);
}

static const uint64_t *sim_mad_counters_of(const struct sim *s, uint32_t end, uint8_t port)
{
	const struct fabric *f = s->f;

	if (!sim_is_switch(s, end))
		return port == f->term_ca_port[end] ? s->term_ctr[end] : NULL;
	if (!port || port > f->sw_nports[end - f->nend])
		return NULL;
	return s->port_ctr[f->port_off[end - f->nend] + port];
}

/* Of all ports of a switch, added up. */
static const uint64_t *sim_mad_counters_sum(struct sim *s, uint32_t end, uint64_t out[CTR_COUNT])
{
	const struct fabric *f = s->f;

	if (!sim_is_switch(s, end) || s->o.no_sums)
		return NULL;
	memset(out, 0, CTR_COUNT * sizeof(*out));
	for (uint8_t p = 1; !s->o.false_sums && p <= f->sw_nports[end - f->nend]; p++) {
		const uint64_t *c = sim_mad_counters_of(s, end, p);

		traffic_read(s, end, p);
		for (unsigned k = 0; k < CTR_COUNT; k++)
			out[k] += c[k];
	}
	return out;
}

static bool sim_mad_answer_perf(struct sim *s, uint32_t end, const struct mad_request *r,
				struct reply *a)
{
	bool wide = !s->o.narrow_pma && !s->o.short_pma;
	struct perf_class_info ci = { .cap_mask = PERF_CAP_XMIT_WAIT, .resp_time = 18 };
	uint8_t port = r->data[1];
	uint64_t sum[CTR_COUNT];
	const uint64_t *c =
		port == 255 ? sim_mad_counters_sum(s, end, sum) : sim_mad_counters_of(s, end, port);

	a->len = PERF_DATA;
	if (r->method != MAD_GET) {
		a->status = MAD_STATUS_ATTRIBUTE;
	} else if (r->attr == PERF_CLASS_INFO) {
		ci.cap_mask |= s->o.narrow_pma ? 0 : PERF_CAP_EXT;
		ci.cap_mask |= sim_is_switch(s, end) && !s->o.no_sums ? PERF_CAP_ALL_PORTS : 0;
		ci.cap_mask2 = wide ? PERF_CAP2_EXT_ERRORS : 0;
		perf_class_info_encode(a->data, &ci);
	} else if (r->attr == PERF_COUNTERS || (r->attr == PERF_COUNTERS_EXT && !s->o.narrow_pma)) {
		if (c && c != sum)
			traffic_read(s, end, port);
		if (!c)
			a->status = MAD_STATUS_VALUE;
		else if (r->attr == PERF_COUNTERS)
			sim_mad_counters_narrow(c, port, a->data);
		else
			sim_mad_counters_wide(c, port, wide, a->data);
	} else {
		a->status = MAD_STATUS_ATTRIBUTE;
	}
	return true;
}

/* Follows a directed route from a terminal; FAB_NONE: it does not get through. */
static uint32_t sim_mad_walk_route(const struct sim *s, uint32_t from, const struct mad_route *r,
				   uint8_t *in)
{
	uint32_t at = from, next;

	*in = s->f->term_ca_port[from];
	for (uint8_t h = 1; h <= r->hops; h++) {
		if (sim_dead(s, at) || (h > 1 && !sim_is_switch(s, at)) ||
		    !sim_step(s, at, r->port[h], &next, in))
			return FAB_NONE;
		at = next;
	}
	return sim_dead(s, at) ? FAB_NONE : at;
}

static bool sim_mad_owns(const struct sim *s, uint32_t end, uint32_t lid)
{
	const struct fabric *f = s->f;

	if (sim_is_switch(s, end))
		return f->sw_lid[end - f->nend] == lid;
	return lid >= f->term_lid[end] && lid < f->term_lid[end] + (1u << f->lmc);
}

uint32_t sim_walk_lid(const struct sim *s, uint32_t from, uint32_t lid, uint8_t sl, bool smp,
		      uint8_t *in)
{
	uint32_t at = from;

	*in = sim_is_switch(s, from) ? 0 : s->f->term_ca_port[from];
	for (int h = 0; h < HOPS_MAX; h++) {
		uint8_t out, at_in = *in;

		if (sim_dead(s, at))
			return FAB_NONE;
		if (sim_mad_owns(s, at, lid))
			return at;
		if (!sim_is_switch(s, at)) {
			if (at != from || !sim_step(s, at, s->f->term_ca_port[at], &at, in))
				return FAB_NONE;
			continue;
		}
		out = sim_lft(s, at - s->f->nend, lid);
		if (!smp && out <= s->f->sw_nports[at - s->f->nend] &&
		    sim_vl(s, at - s->f->nend, at_in, out, sl) == VL_DROP)
			return FAB_NONE;
		if (!sim_step(s, at, out, &at, in))
			return FAB_NONE;
	}
	return FAB_NONE;
}

static bool sim_mad_answer(struct sim *s, uint32_t end, uint8_t in, uint32_t from,
			   const struct mad_request *r, struct reply *a)
{
	if (r->mgmt_class == MAD_PERF)
		return sim_mad_answer_perf(s, end, r, a);
	if (r->mgmt_class != MAD_SA)
		return sim_mad_answer_smp(s, end, in, r, a);
	a->len = SMP_DATA;
	return sm_answer(s, end, from, r, &a->status, a->data);
}

/* Computes a packet's answer in place: false when there is none. */
static bool sim_mad_answer_in_place(struct sim *s, uint32_t from, struct mad_packet *p)
{
	struct mad_request r;
	struct reply a = { 0 };
	bool smp, directed;
	uint32_t tid, at;
	uint8_t in, back;

	if (mad_parse_request(&r, &tid, p))
		return false;
	smp = r.mgmt_class == MAD_SMP || r.mgmt_class == MAD_SMP_DIRECTED;
	directed = r.mgmt_class == MAD_SMP_DIRECTED;
	at = directed ? sim_mad_walk_route(s, from, &r.route, &in)
		      : sim_walk_lid(s, from, r.lid, r.sl, smp, &in);
	if (at == FAB_NONE)
		return false;
	if (!sim_mad_answer(s, at, in, from, &r, &a))
		return false;
	if (!directed && at != from &&
	    sim_walk_lid(s, at, s->f->term_lid[from], r.sl, smp, &back) != from)
		return false;
	mad_reply(p, a.status, a.data, a.len);
	if (!directed)
		p->addr.lid = r.lid;
	return true;
}

/* An answer on its way. */
struct flight {
	uint64_t due_ns, seq;
	uint32_t packet;
};

struct sim_port {
	struct sim *sim;
	uint32_t term;
	uint64_t seq;
	struct sim_port *next;
	VEC(struct flight) heap; /* earliest first */
	VEC(struct mad_packet) packets;
	VEC(uint32_t) spare;
};

static bool sim_mad_earlier(const struct flight *a, const struct flight *b)
{
	return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->seq < b->seq);
}

static void sim_mad_heap_add(struct sim_port *sp, struct flight x)
{
	size_t i = sp->heap.n;

	vec_push(&sp->heap, x);
	while (i && sim_mad_earlier(&x, &sp->heap.v[(i - 1) / 2])) {
		sp->heap.v[i] = sp->heap.v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sp->heap.v[i] = x;
}

static struct flight sim_mad_heap_take(struct sim_port *sp)
{
	struct flight first = sp->heap.v[0], last = sp->heap.v[--sp->heap.n];
	size_t i = 0, n = sp->heap.n;

	while (2 * i + 1 < n) {
		size_t c = 2 * i + 1;

		if (c + 1 < n && sim_mad_earlier(&sp->heap.v[c + 1], &sp->heap.v[c]))
			c++;
		if (!sim_mad_earlier(&sp->heap.v[c], &last))
			break;
		sp->heap.v[i] = sp->heap.v[c];
		i = c;
	}
	if (n)
		sp->heap.v[i] = last;
	return first;
}

static void sim_mad_fly(struct sim_port *sp, const struct mad_packet *p)
{
	const struct sim_opts *o = &sp->sim->o;
	struct rng *rng = &sp->sim->rng;
	uint64_t us = o->delay_us;
	uint32_t slot;

	if (o->jitter_us)
		us += rng_below(rng, o->jitter_us + 1ull);
	if (o->reorder > 0 && rng_unit(rng) < o->reorder)
		us += 10ull * (o->delay_us ? o->delay_us : 1);
	if (sp->spare.n) {
		slot = sp->spare.v[--sp->spare.n];
	} else {
		slot = (uint32_t)sp->packets.n;
		vec_push(&sp->packets, (struct mad_packet){ 0 });
	}
	sp->packets.v[slot] = *p;
	sim_mad_heap_add(sp, (struct flight){ sim_now_ns(sp->sim) + us * 1000, sp->seq++, slot });
}

static bool sim_mad_lost(struct sim *s)
{
	return s->o.loss > 0 && rng_unit(&s->rng) < s->o.loss;
}

/* What is not lost on the way; now and then twice. */
static void sim_mad_arrive(struct sim_port *sp, const struct mad_packet *p)
{
	struct sim *s = sp->sim;

	if (sim_mad_lost(s))
		return;
	sim_mad_fly(sp, p);
	if (s->o.duplicate > 0 && rng_unit(&s->rng) < s->o.duplicate)
		sim_mad_fly(sp, p);
}

void sim_deliver(struct sim *s, uint32_t term, const struct mad_packet *p)
{
	for (struct sim_port *sp = s->ports; sp; sp = sp->next)
		if (sp->term == term)
			sim_mad_arrive(sp, p);
	pthread_cond_broadcast(&s->arrival);
}

static int sim_mad_port_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	struct sim_port *sp = ctx;
	struct sim *s = sp->sim;
	struct mad_packet back = *p;

	(void)err;
	pthread_mutex_lock(&s->lock);
	if (!sim_mad_lost(s)) {
		if (sim_mad_answer_in_place(s, sp->term, &back))
			sim_mad_arrive(sp, &back);
		else
			sm_take(s, sp->term, p);
	}
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* Until then, or until somebody else sends something here. */
static void sim_mad_sleep_until(struct sim *s, uint64_t t)
{
	struct timespec ts = { (time_t)(t / 1000000000u), (long)(t % 1000000000u) };

	pthread_cond_timedwait(&s->arrival, &s->lock, &ts);
}

static int sim_mad_port_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err)
{
	struct sim_port *sp = ctx;
	struct sim *s = sp->sim;
	uint64_t until, t;
	int got = 0;

	(void)err;
	pthread_mutex_lock(&s->lock);
	until = sim_now_ns(s) + wait_ns;
	for (;;) {
		t = sim_now_ns(s);
		if (sp->heap.n && sp->heap.v[0].due_ns <= t) {
			struct flight x = sim_mad_heap_take(sp);

			*p = sp->packets.v[x.packet];
			p->status = 0;
			vec_push(&sp->spare, x.packet);
			got = 1;
			break;
		}
		if (t >= until)
			break;
		t = sp->heap.n && sp->heap.v[0].due_ns < until ? sp->heap.v[0].due_ns : until;
		if (s->o.virtual_clock) {
			s->clock_ns = t;
			continue;
		}
		sim_mad_sleep_until(s, t);
	}
	pthread_mutex_unlock(&s->lock);
	return got;
}

static uint64_t sim_mad_port_now_ns(void *ctx)
{
	struct sim_port *sp = ctx;
	uint64_t t;

	if (!sp->sim->o.virtual_clock)
		return sim_now_ns(sp->sim);
	pthread_mutex_lock(&sp->sim->lock);
	t = sim_now_ns(sp->sim);
	pthread_mutex_unlock(&sp->sim->lock);
	return t;
}

static void sim_mad_port_local(void *ctx, struct mad_local *out)
{
	struct sim_port *sp = ctx;
	const struct fabric *f = sp->sim->f;
	uint32_t sm = sp->sim->o.sm_term;

	*out = (struct mad_local){ .ca = "sim",
				   .port = f->term_ca_port[sp->term],
				   .port_guid = f->term_guid[sp->term],
				   .lid = f->term_lid[sp->term],
				   .sm_lid = sm < f->nend ? f->term_lid[sm] : 0 };
}

static void sim_mad_port_close(void *ctx)
{
	struct sim_port *sp = ctx, **at = &sp->sim->ports;

	pthread_mutex_lock(&sp->sim->lock);
	while (*at != sp)
		at = &(*at)->next;
	*at = sp->next;
	pthread_mutex_unlock(&sp->sim->lock);
	vec_free(&sp->heap);
	vec_free(&sp->packets);
	vec_free(&sp->spare);
	free(sp);
}

int sim_port_open(struct mad_port *out, struct sim *s, uint32_t term, struct err *err)
{
	static const struct mad_ops ops = { .send = sim_mad_port_send,
					    .recv = sim_mad_port_recv,
					    .now_ns = sim_mad_port_now_ns,
					    .local = sim_mad_port_local,
					    .close = sim_mad_port_close };
	struct sim_port *sp;

	if (term >= s->f->nterm)
		return err_set(err, -EINVAL, "the simulated fabric has no terminal %u", term);
	sp = xcalloc(1, sizeof(*sp));
	sp->sim = s;
	sp->term = term;
	pthread_mutex_lock(&s->lock);
	sp->next = s->ports;
	s->ports = sp;
	pthread_mutex_unlock(&s->lock);
	*out = (struct mad_port){ &ops, sp };
	return 0;
}
