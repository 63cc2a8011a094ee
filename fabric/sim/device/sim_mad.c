/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_state.h"

#include "fabric/ib/bytes.h"
#include "fabric/ib/codec.h"

#include <stdlib.h>
#include <string.h>

#define MTU_4096 5

struct reply {
	uint16_t status;
	size_t len;
	uint8_t data[SA_DATA];
	struct sm_table table;
};

static void sim_mad_node_info(const struct sim *s, uint32_t end, uint8_t in, uint8_t *d)
{
	struct node_info ni;

	sim_node_info(s, end, &ni);
	ni.local_port = in;
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

/* Tables of 16 entries, as OpenSM sets them: VL 0 is in the one of high priority. */
static uint16_t sim_mad_vl_arb(const struct sim *s, uint32_t end, uint32_t mod, uint8_t *d)
{
	uint32_t part = mod >> 16, port = mod & 0xffff, sw = end - s->f->nend;
	uint16_t vls = 0x7fff;

	if (part != VL_ARB_LOW && part != VL_ARB_HIGH)
		return MAD_STATUS_VALUE;
	if (sim_is_switch(s, end)) {
		if (port > s->f->sw_nports[sw])
			return MAD_STATUS_VALUE;
		vls = s->weighted[s->f->port_off[sw] + port];
	}
	vl_arb_encode(d, vls & (part == VL_ARB_HIGH ? 1 : 0x7ffe));
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

static uint16_t sim_mad_pkeys(const struct sim *s, uint32_t end, uint32_t block, uint8_t *d)
{
	if (sim_is_switch(s, end) || block >= SIM_PKEYS / PKEYS_BLOCK)
		return MAD_STATUS_ATTRIBUTE;
	memset(d, 0, SMP_DATA);
	if (!s->pkeys[end] && !block)
		be16_put(d, 0xffff);
	for (uint32_t i = 0; s->pkeys[end] && i < PKEYS_BLOCK; i++)
		be16_put(d + 2 * i, s->pkeys[end][block * PKEYS_BLOCK + i]);
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
	case SMP_PKEYS:
		a->status = sim_mad_pkeys(s, end, r->mod, a->data);
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
	case SMP_VL_ARB:
		a->status = sim_mad_vl_arb(s, end, r->mod, a->data);
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

static struct perf_counters sim_mad_counters(const uint64_t *c, uint8_t port, bool errors)
{
	struct perf_counters pc = {
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
	return pc;
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
	struct perf_counters pc;
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
		if (!c) {
			a->status = MAD_STATUS_VALUE;
			return true;
		}
		pc = sim_mad_counters(c, port, wide || r->attr == PERF_COUNTERS);
		if (r->attr == PERF_COUNTERS)
			perf_counters_encode(a->data, &pc);
		else
			perf_counters_ext_encode(a->data, &pc);
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

static bool sim_mad_answer(struct sim *s, uint32_t end, uint8_t in, uint32_t from,
			   const struct mad_request *r, struct reply *a)
{
	if (r->mgmt_class == MAD_PERF)
		return sim_mad_answer_perf(s, end, r, a);
	if (r->mgmt_class != MAD_SA)
		return sim_mad_answer_smp(s, end, in, r, a);
	a->len = r->attr == SA_SERVICE_RECORD || r->attr == SA_NODE_RECORD ? SA_DATA : SMP_DATA;
	if (r->method == MAD_GET_TABLE)
		return sm_answer_table(s, end, r, &a->status, &a->table);
	return sm_answer(s, end, from, r, &a->status, a->data);
}

static void sim_mad_give_table(const struct sim *s, struct mad_packet *p, const struct sm_table *t)
{
	mad_reply_table(p, t->whole, t->len, t->step);
	if (s->o.tables != SIM_TABLES_FIRST_MAD)
		return;
	p->whole = NULL;
	free(t->whole);
}

bool sim_answer(struct sim *s, uint32_t from, struct mad_packet *p)
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
	    sim_walk_lid(s, at, s->f->term_lid[from], r.sl, smp, &back) != from) {
		free(a.table.whole);
		return false;
	}
	if (a.table.whole)
		sim_mad_give_table(s, p, &a.table);
	else
		mad_reply(p, a.status, a.data, a.len);
	if (!directed)
		p->addr.lid = r.lid;
	return true;
}
