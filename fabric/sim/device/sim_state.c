/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_state.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/ib/codec.h"
#include "fabric/wire/mkeys.h"

#include <string.h>

#define HOPS_MAX 64

uint64_t sim_now_ns(const struct sim *s)
{
	return s->o.virtual_clock ? s->clock_ns : clock_ns();
}

bool sim_is_switch(const struct sim *s, uint32_t end)
{
	return end >= s->f->nend;
}

bool sim_dead(const struct sim *s, uint32_t end)
{
	return sim_is_switch(s, end) ? s->sw_dead[end - s->f->nend] : s->term_dead[end];
}

void sim_node_info(const struct sim *s, uint32_t end, struct node_info *ni)
{
	const struct fabric *f = s->f;

	*ni = (struct node_info){ .type = 1, .vendor_id = 0x1234 };
	if (sim_is_switch(s, end)) {
		ni->type = 2;
		ni->nports = f->sw_nports[end - f->nend];
		ni->node_guid = ni->port_guid = ni->system_guid = f->sw_guid[end - f->nend];
	} else {
		ni->type = f->term_kind[end] == TERM_ROUTER ? 3 : 1;
		ni->nports = s->term_nports[end];
		ni->pkeys = SIM_PKEYS;
		ni->node_guid = f->term_node_guid[end];
		ni->system_guid = f->term_sys_guid[end] ? f->term_sys_guid[end] : ni->node_guid;
		ni->port_guid = f->term_guid[end];
	}
}

uint64_t sim_port_guid(const struct sim *s, uint32_t end)
{
	return sim_is_switch(s, end) ? s->f->sw_guid[end - s->f->nend] : s->f->term_guid[end];
}

uint64_t sim_m_key(const struct sim *s, uint32_t end)
{
	return mkeys_of(s->o.m_keys, sim_port_guid(s, end), s->o.m_key);
}

uint32_t sim_cap_mask(const struct sim *s, uint32_t term)
{
	return PORT_CAP_EXT_SPEED | (term == s->o.sm_term ? PORT_CAP_SM : 0);
}

bool sim_step(const struct sim *s, uint32_t end, uint8_t port, uint32_t *next, uint8_t *in)
{
	const struct fabric *f = s->f;
	const struct port *p;
	uint32_t sw;

	if (!sim_is_switch(s, end)) {
		sw = f->term_sw[end];
		*next = f->nend + sw;
		*in = f->term_port[end];
		return !s->link_down[f->port_off[sw] + *in] &&
		       (port == f->term_ca_port[end] || !f->term_ca_port[end]);
	}
	sw = end - f->nend;
	if (!port || port > f->sw_nports[sw] || s->link_down[f->port_off[sw] + port])
		return false;
	p = fabric_port(f, sw, port);
	if (p->term != FAB_NONE) {
		*next = p->term;
		*in = f->term_ca_port[p->term];
		return true;
	}
	if (p->chan == FAB_NONE)
		return false;
	*next = f->nend + f->chan_dst[p->chan];
	*in = f->chan_rport[p->chan];
	return true;
}

uint8_t sim_lft(const struct sim *s, uint32_t sw, uint32_t lid)
{
	if (lid == s->f->sw_lid[sw])
		return 0;
	if (lid >= s->stride || lid > s->top[sw])
		return FAB_NO_PORT;
	return s->lft[(size_t)sw * s->stride + lid];
}

static size_t sim_state_sl2vl_at(const struct sim *s, uint32_t sw, uint8_t in, uint8_t out)
{
	return ((size_t)in * (s->f->sw_nports[sw] + 1u) + out) * 8;
}

uint8_t sim_vl(const struct sim *s, uint32_t sw, uint8_t in, uint8_t out, uint8_t sl)
{
	uint8_t pair;

	if (!s->sl2vl[sw])
		return sl;
	pair = s->sl2vl[sw][sim_state_sl2vl_at(s, sw, in, out) + sl / 2];
	return sl & 1 ? pair & 0xf : pair >> 4;
}

uint8_t *sim_sl2vl_row(struct sim *s, uint32_t sw, uint8_t in, uint8_t out)
{
	static const uint8_t identity[8] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	size_t rows = (s->f->sw_nports[sw] + 1u) * (s->f->sw_nports[sw] + 1u);

	if (!s->sl2vl[sw]) {
		s->sl2vl[sw] = xcalloc(rows, 8);
		for (size_t r = 0; r < rows; r++)
			memcpy(s->sl2vl[sw] + r * 8, identity, 8);
	}
	return s->sl2vl[sw] + sim_state_sl2vl_at(s, sw, in, out);
}

static bool sim_state_owns(const struct sim *s, uint32_t end, uint32_t lid)
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
		if (sim_state_owns(s, at, lid))
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
