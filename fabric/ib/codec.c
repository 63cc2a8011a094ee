/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ib/codec.h"

#include "fabric/base/message/plain.h"
#include "fabric/ib/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Common header, 13.4.3; SMP header, 14.2.1. */
enum {
	OFF_BASE_VERSION = 0,
	OFF_CLASS = 1,
	OFF_CLASS_VERSION = 2,
	OFF_METHOD = 3,
	OFF_STATUS = 4, /* directed routes: the top bit is the direction */
	OFF_HOP_POINTER = 6,
	OFF_HOP_COUNT = 7,
	OFF_TID_LOW = 12, /* the high half belongs to the port's driver */
	OFF_ATTR = 16,
	OFF_MOD = 20,
	OFF_M_KEY = 24,
	OFF_RMPP_VERSION = 24, /* 13.6.2 */
	OFF_RMPP_TYPE = 25,
	OFF_RMPP_FLAGS = 26,
	OFF_RMPP_SEGMENT = 28,
	OFF_DR_SLID = 32,
	OFF_DR_DLID = 34,
	OFF_ATTR_OFFSET = 44, /* 15.2.1.1 */
	OFF_COMP_MASK = 48,
	OFF_SA_DATA = SA_HEADER,
	OFF_DATA = 64,
	OFF_INITIAL_PATH = 128,
	OFF_RETURN_PATH = 192,
};

#define STATUS_DIRECTION 0x8000
#define SA_VERSION	 2
#define RMPP_DATA	 1

enum { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 }; /* flags; above them is a time */

static bool codec_class_known(const uint8_t *d)
{
	uint8_t c = d[OFF_CLASS];

	return d[OFF_BASE_VERSION] == 1 &&
	       (c == MAD_SMP || c == MAD_SMP_DIRECTED || c == MAD_PERF ||
		(c == MAD_SA && d[OFF_CLASS_VERSION] == SA_VERSION));
}

static size_t codec_data_offset(const uint8_t *d)
{
	return d[OFF_CLASS] == MAD_SA ? OFF_SA_DATA : OFF_DATA;
}

void mad_build(struct mad_packet *out, const struct mad_request *r, uint32_t tid)
{
	uint8_t *d = out->data;

	memset(out, 0, sizeof(*out));
	out->addr.lid = r->lid;
	out->addr.sl = r->sl;
	d[OFF_BASE_VERSION] = 1;
	d[OFF_CLASS] = r->mgmt_class;
	d[OFF_CLASS_VERSION] = r->mgmt_class == MAD_SA ? SA_VERSION : 1;
	d[OFF_METHOD] = r->method;
	be32_put(d + OFF_TID_LOW, tid);
	be16_put(d + OFF_ATTR, r->attr);
	be32_put(d + OFF_MOD, r->mod);
	if (r->mgmt_class == MAD_SA && r->sa)
		memcpy(d + OFF_SA_DATA, r->sa, SA_DATA);
	else
		memcpy(d + codec_data_offset(d), r->data, SMP_DATA);
	if (r->mgmt_class == MAD_PERF || r->mgmt_class == MAD_SA) {
		out->addr.qpn = 1;
		out->addr.qkey = MAD_QP1_QKEY;
		if (r->mgmt_class == MAD_SA)
			be64_put(d + OFF_COMP_MASK, r->comp_mask);
		return;
	}
	be64_put(d + OFF_M_KEY, r->m_key);
	if (r->mgmt_class == MAD_SMP_DIRECTED) {
		out->addr.lid = MAD_PERMISSIVE_LID;
		d[OFF_HOP_COUNT] = r->route.hops;
		be16_put(d + OFF_DR_SLID, MAD_PERMISSIVE_LID);
		be16_put(d + OFF_DR_DLID, MAD_PERMISSIVE_LID);
		memcpy(d + OFF_INITIAL_PATH, r->route.port, ROUTE_HOPS + 1);
	}
}

static bool codec_is_answer(const uint8_t *d)
{
	return d[OFF_METHOD] == MAD_GET_RESP ||
	       (d[OFF_CLASS] == MAD_SA &&
		(d[OFF_METHOD] == MAD_DELETE_RESP || d[OFF_METHOD] == MAD_GET_TABLE_RESP));
}

/* A port that puts no datagrams together gives out the first one of a message like any other. */
static bool codec_is_whole(const struct mad_packet *p)
{
	const uint8_t *d = p->data;

	return p->whole && p->whole_len >= SA_HEADER && d[OFF_RMPP_VERSION] == MAD_RMPP_VERSION &&
	       d[OFF_RMPP_TYPE] == RMPP_DATA && (d[OFF_RMPP_FLAGS] & RMPP_ACTIVE) &&
	       (d[OFF_RMPP_FLAGS] & RMPP_FIRST) &&
	       !(d[OFF_RMPP_FLAGS] & RMPP_LAST) == (p->whole_len > MAD_BYTES);
}

static void codec_find_table(struct mad_answer *out, const struct mad_packet *p)
{
	out->table = NULL;
	out->table_len = 0;
	out->table_step = be16_get(p->data + OFF_ATTR_OFFSET);
	if (out->method != MAD_GET_TABLE_RESP || !codec_is_whole(p))
		return;
	out->table = p->whole + SA_HEADER;
	out->table_len = p->whole_len - SA_HEADER;
}

int mad_parse(struct mad_answer *out, const struct mad_packet *p)
{
	const uint8_t *d = p->data;

	if (!codec_class_known(d) || !codec_is_answer(d))
		return -EPROTO;
	out->mgmt_class = d[OFF_CLASS];
	out->method = d[OFF_METHOD];
	out->status = be16_get(d + OFF_STATUS) & (uint16_t)~STATUS_DIRECTION;
	out->tid = be32_get(d + OFF_TID_LOW);
	out->attr = be16_get(d + OFF_ATTR);
	out->mod = be32_get(d + OFF_MOD);
	out->data = d + codec_data_offset(d);
	codec_find_table(out, p);
	return 0;
}

static bool codec_same_way(const uint8_t *d, const struct mad_route *route)
{
	return d[OFF_HOP_COUNT] == route->hops && be16_get(d + OFF_DR_SLID) == MAD_PERMISSIVE_LID &&
	       be16_get(d + OFF_DR_DLID) == MAD_PERMISSIVE_LID &&
	       !memcmp(d + OFF_INITIAL_PATH + 1, route->port + 1, route->hops);
}

bool mad_answers(const struct mad_packet *p, const struct mad_request *r)
{
	const uint8_t *d = p->data;

	if (d[OFF_CLASS] != r->mgmt_class || be16_get(d + OFF_ATTR) != r->attr ||
	    be32_get(d + OFF_MOD) != r->mod)
		return false;
	return r->mgmt_class == MAD_SMP_DIRECTED ? codec_same_way(d, &r->route)
						 : p->addr.lid == r->lid;
}

static bool codec_is_request(const uint8_t *d)
{
	return d[OFF_METHOD] == MAD_GET || d[OFF_METHOD] == MAD_SET ||
	       (d[OFF_CLASS] == MAD_SA &&
		(d[OFF_METHOD] == MAD_DELETE || d[OFF_METHOD] == MAD_GET_TABLE));
}

int mad_parse_request(struct mad_request *out, uint32_t *tid, const struct mad_packet *p)
{
	const uint8_t *d = p->data;

	if (!codec_class_known(d) || !codec_is_request(d))
		return -EPROTO;
	memset(out, 0, sizeof(*out));
	out->mgmt_class = d[OFF_CLASS];
	out->method = d[OFF_METHOD];
	out->attr = be16_get(d + OFF_ATTR);
	out->mod = be32_get(d + OFF_MOD);
	out->lid = p->addr.lid;
	out->sl = p->addr.sl;
	memcpy(out->data, d + codec_data_offset(d), SMP_DATA);
	out->sa = out->mgmt_class == MAD_SA ? d + OFF_SA_DATA : NULL;
	if (out->mgmt_class == MAD_SA)
		out->comp_mask = be64_get(d + OFF_COMP_MASK);
	else if (out->mgmt_class != MAD_PERF)
		out->m_key = be64_get(d + OFF_M_KEY);
	if (out->mgmt_class == MAD_SMP_DIRECTED) {
		if (d[OFF_HOP_COUNT] > ROUTE_HOPS)
			return -EPROTO;
		out->route.hops = d[OFF_HOP_COUNT];
		memcpy(out->route.port, d + OFF_INITIAL_PATH, ROUTE_HOPS + 1);
	}
	*tid = be32_get(d + OFF_TID_LOW);
	return 0;
}

void mad_head(struct mad_head *out, const struct mad_packet *p)
{
	const uint8_t *d = p->data;

	out->mgmt_class = codec_class_known(d) ? d[OFF_CLASS] : 0;
	out->method = d[OFF_METHOD];
	out->attr = be16_get(d + OFF_ATTR);
	out->status = be16_get(d + OFF_STATUS) & (uint16_t)~STATUS_DIRECTION;
	out->mod = be32_get(d + OFF_MOD);
	out->tid = be32_get(d + OFF_TID_LOW);
	out->data = d + codec_data_offset(d);
}

uint8_t *mad_data(struct mad_packet *p)
{
	return p->data + codec_data_offset(p->data);
}

void mad_answer_method(struct mad_packet *p, uint8_t method)
{
	p->data[OFF_METHOD] = method;
	be16_put(p->data + OFF_STATUS, 0);
}

uint32_t mad_tid(const struct mad_packet *p)
{
	return be32_get(p->data + OFF_TID_LOW);
}

void mad_reply(struct mad_packet *p, uint16_t status, const uint8_t *data, size_t len)
{
	uint8_t *d = p->data;

	d[OFF_METHOD] = d[OFF_METHOD] == MAD_DELETE	 ? MAD_DELETE_RESP
			: d[OFF_METHOD] == MAD_GET_TABLE ? MAD_GET_TABLE_RESP
							 : MAD_GET_RESP;
	if (d[OFF_CLASS] == MAD_SMP_DIRECTED)
		status |= STATUS_DIRECTION;
	be16_put(d + OFF_STATUS, status);
	if (len)
		memcpy(d + codec_data_offset(d), data, len);
}

void mad_reply_table(struct mad_packet *p, uint8_t *whole, size_t len, uint16_t step)
{
	uint8_t *d = p->data;
	size_t first = len < MAD_BYTES ? len : MAD_BYTES;

	mad_reply(p, 0, NULL, 0);
	d[OFF_RMPP_VERSION] = MAD_RMPP_VERSION;
	d[OFF_RMPP_TYPE] = RMPP_DATA;
	d[OFF_RMPP_FLAGS] = RMPP_ACTIVE | RMPP_FIRST | (len <= MAD_BYTES ? RMPP_LAST : 0);
	be32_put(d + OFF_RMPP_SEGMENT, 1);
	be16_put(d + OFF_ATTR_OFFSET, step);
	memcpy(whole, d, SA_HEADER);
	memset(d + SA_HEADER, 0, SA_DATA);
	memcpy(d, whole, first);
	p->whole = whole;
	p->whole_len = len;
}

int node_info_decode(struct node_info *out, const uint8_t *d)
{
	memset(out, 0, sizeof(*out));
	out->type = d[2];
	out->nports = d[3];
	out->system_guid = be64_get(d + 4);
	out->node_guid = be64_get(d + 12);
	out->port_guid = be64_get(d + 20);
	out->pkeys = be16_get(d + 28);
	out->device_id = be16_get(d + 30);
	out->local_port = d[36];
	out->vendor_id = be32_get(d + 36) & 0xffffff;
	if (out->type < 1 || out->type > 3 || !out->node_guid || !out->nports ||
	    out->nports > 254 || out->local_port > out->nports)
		return -EPROTO;
	return 0;
}

void node_info_encode(uint8_t *d, const struct node_info *in)
{
	memset(d, 0, SMP_DATA);
	d[0] = 1;
	d[1] = 1;
	d[2] = in->type;
	d[3] = in->nports;
	be64_put(d + 4, in->system_guid);
	be64_put(d + 12, in->node_guid);
	be64_put(d + 20, in->port_guid);
	be16_put(d + 28, in->pkeys);
	be16_put(d + 30, in->device_id);
	be32_put(d + 36, (uint32_t)in->local_port << 24 | (in->vendor_id & 0xffffff));
}

void node_desc_decode(char out[SMP_DATA + 1], const uint8_t *d)
{
	size_t n = strnlen((const char *)d, SMP_DATA);

	memcpy(out, d, n);
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	plain_text(out, "");
}

void node_desc_encode(uint8_t *d, const char *desc)
{
	memset(d, 0, SMP_DATA);
	memcpy(d, desc, strnlen(desc, SMP_DATA));
}

int port_info_decode(struct port_info *out, const uint8_t *d)
{
	memset(out, 0, sizeof(*out));
	out->m_key = be64_get(d);
	out->gid_prefix = be64_get(d + 8);
	out->lid = be16_get(d + 16);
	out->sm_lid = be16_get(d + 18);
	out->cap_mask = be32_get(d + 20);
	out->local_port = d[28];
	out->width_enabled = d[29] & d[30];
	out->width_active = d[31];
	out->state = d[32] & 0xf;
	out->phys_state = d[33] >> 4;
	out->m_key_protect = d[34] >> 6;
	out->lmc = d[34] & 7;
	out->speed_active = d[35] >> 4;
	out->mtu = d[36] >> 4;
	out->sm_sl = d[36] & 0xf;
	out->vl_cap = d[37] >> 4;
	out->op_vls = d[43] >> 4;
	out->speed_ext_active = d[62] >> 4;
	return out->state > 4 ? -EPROTO : 0;
}

void port_info_encode(uint8_t *d, const struct port_info *in)
{
	memset(d, 0, SMP_DATA);
	be64_put(d, in->m_key);
	d[8] = 0xfe; /* the default GID prefix */
	d[9] = 0x80;
	be16_put(d + 16, in->lid);
	be16_put(d + 18, in->sm_lid);
	be32_put(d + 20, in->cap_mask);
	d[28] = in->local_port;
	d[31] = in->width_active;
	d[29] = d[30] = in->width_enabled ? in->width_enabled : in->width_active;
	d[32] = (uint8_t)(in->speed_active << 4 | in->state);
	d[33] = (uint8_t)(in->phys_state << 4 | 2);
	d[34] = (uint8_t)(in->m_key_protect << 6 | in->lmc);
	d[35] = (uint8_t)(in->speed_active << 4 | in->speed_active);
	d[36] = (uint8_t)(in->mtu << 4 | in->sm_sl);
	d[37] = (uint8_t)(in->vl_cap << 4);
	d[41] = in->mtu;
	d[43] = (uint8_t)(in->op_vls << 4);
	d[62] = (uint8_t)(in->speed_ext_active << 4 | in->speed_ext_active);
	d[63] = in->speed_ext_active;
}

static const uint8_t vl_codes[] = { 0, 1, 2, 4, 8, 15 };

uint32_t port_info_vls(uint8_t code)
{
	return code < sizeof(vl_codes) ? vl_codes[code] : 0;
}

uint8_t port_info_vl_code(uint32_t vls)
{
	for (uint8_t c = 0; c < sizeof(vl_codes); c++)
		if (vl_codes[c] >= vls)
			return c;
	return sizeof(vl_codes) - 1;
}

static const struct {
	uint8_t code, lanes;
} widths[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 } };

static const struct {
	uint8_t code;
	bool ext;
	char name[6];
} speeds[] = {
	{ 1, false, "SDR" }, { 2, false, "DDR" }, { 4, false, "QDR" }, { 1, true, "FDR" },
	{ 2, true, "EDR" },  { 4, true, "HDR" },  { 8, true, "NDR" },
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

void port_info_link(char out[12], const struct port_info *pi, bool ext)
{
	const char *speed = NULL;
	uint8_t lanes = 0;

	ext = ext && pi->speed_ext_active;
	for (size_t i = 0; i < COUNT_OF(widths); i++)
		if (widths[i].code == pi->width_active)
			lanes = widths[i].lanes;
	for (size_t i = 0; i < COUNT_OF(speeds); i++)
		if (speeds[i].ext == ext &&
		    speeds[i].code == (ext ? pi->speed_ext_active : pi->speed_active))
			speed = speeds[i].name;
	out[0] = '\0';
	if (lanes && speed)
		snprintf(out, 12, "%hhux%.5s", lanes, speed);
}

#define CABLE_LANES 4 /* wider links are of chips that are wired to each other, if at all */

void port_info_best_link(char out[12], const struct port_info *pi, bool ext)
{
	struct port_info best = *pi;

	for (size_t i = 0, lanes = 0; i < COUNT_OF(widths); i++) {
		if (!(pi->width_enabled & widths[i].code) || widths[i].lanes < lanes ||
		    widths[i].lanes > CABLE_LANES)
			continue;
		lanes = widths[i].lanes;
		best.width_active = widths[i].code;
	}
	port_info_link(out, &best, ext);
}

void port_info_set_link(struct port_info *pi, uint8_t lanes, const char *speed)
{
	pi->width_active = pi->speed_active = pi->speed_ext_active = 0;
	for (size_t i = 0; i < COUNT_OF(widths); i++)
		if (widths[i].lanes == lanes)
			pi->width_active = widths[i].code;
	for (size_t i = 0; i < COUNT_OF(speeds); i++) {
		if (strcmp(speeds[i].name, speed))
			continue;
		pi->speed_active = speeds[i].ext ? 4 : speeds[i].code;
		pi->speed_ext_active = speeds[i].ext ? speeds[i].code : 0;
	}
}

int switch_info_decode(struct switch_info *out, const uint8_t *d)
{
	out->linear_cap = be16_get(d);
	out->linear_top = be16_get(d + 6);
	out->default_port = d[8];
	out->port_state_change = d[11] & 4;
	out->enhanced_sp0 = d[16] & 8;
	return out->linear_top > 0xbfff ? -EPROTO : 0;
}

void switch_info_encode(uint8_t *d, const struct switch_info *in)
{
	memset(d, 0, SMP_DATA);
	be16_put(d, in->linear_cap);
	be16_put(d + 6, in->linear_top);
	d[8] = in->default_port;
	d[11] = in->port_state_change ? 4 : 0;
	d[16] = in->enhanced_sp0 ? 8 : 0;
}

void sl2vl_decode(uint8_t vl[16], const uint8_t *d)
{
	for (int i = 0; i < 8; i++) {
		vl[2 * i] = d[i] >> 4;
		vl[2 * i + 1] = d[i] & 0xf;
	}
}

void sl2vl_encode(uint8_t *d, const uint8_t vl[16])
{
	memset(d, 0, SMP_DATA);
	for (int i = 0; i < 8; i++)
		d[i] = (uint8_t)(vl[2 * i] << 4 | (vl[2 * i + 1] & 0xf));
}

#define VL_ARB_ENTRIES 32 /* of a block: VL and weight */

uint16_t vl_arb_decode(const uint8_t *d)
{
	uint16_t weighted = 0;

	for (int i = 0; i < VL_ARB_ENTRIES; i++)
		if (d[2 * i + 1])
			weighted |= (uint16_t)(1u << (d[2 * i] & 0xf));
	return weighted & 0x7fff;
}

void vl_arb_encode(uint8_t *d, uint16_t weighted)
{
	memset(d, 0, SMP_DATA);
	for (uint8_t vl = 0; vl < 15; vl++) {
		d[2 * vl] = vl;
		d[2 * vl + 1] = weighted >> vl & 1 ? 4 : 0;
	}
}

int sm_info_decode(struct sm_info *out, const uint8_t *d)
{
	out->guid = be64_get(d);
	out->act_count = be32_get(d + 16);
	out->priority = d[20] >> 4;
	out->state = d[20] & 0xf;
	return out->state > SM_MASTER ? -EPROTO : 0;
}

void sm_info_encode(uint8_t *d, const struct sm_info *in)
{
	memset(d, 0, SMP_DATA);
	be64_put(d, in->guid);
	be32_put(d + 16, in->act_count);
	d[20] = (uint8_t)(in->priority << 4 | in->state);
}

const char *sm_state_name(uint8_t state)
{
	static const char *const names[] = { "not active", "discovering", "standby", "master" };

	return state <= SM_MASTER ? names[state] : "unknown";
}

int perf_class_info_decode(struct perf_class_info *out, const uint8_t *d)
{
	uint32_t w = be32_get(d + 4);

	out->cap_mask = be16_get(d + 2);
	out->cap_mask2 = w >> 5;
	out->resp_time = w & 31;
	return 0;
}

void perf_class_info_encode(uint8_t *d, const struct perf_class_info *in)
{
	memset(d, 0, PERF_DATA);
	d[0] = 1;
	d[1] = 1;
	be16_put(d + 2, in->cap_mask);
	be32_put(d + 4, in->cap_mask2 << 5 | (in->resp_time & 31u));
}

int perf_counters_decode(struct perf_counters *out, const uint8_t *d)
{
	out->port = d[1];
	out->symbol_err = be16_get(d + 4);
	out->link_recovered = d[6];
	out->link_downed = d[7];
	out->rx_err = be16_get(d + 8);
	out->rx_remote_err = be16_get(d + 10);
	out->rx_relay_err = be16_get(d + 12);
	out->tx_discard = be16_get(d + 14);
	out->tx_constraint = d[16];
	out->rx_constraint = d[17];
	out->integrity = d[19] >> 4;
	out->overrun = d[19] & 0xf;
	out->qp1_dropped = be16_get(d + 20);
	out->vl15_dropped = be16_get(d + 22);
	out->tx_words = be32_get(d + 24);
	out->rx_words = be32_get(d + 28);
	out->tx_pkts = be32_get(d + 32);
	out->rx_pkts = be32_get(d + 36);
	out->tx_wait = be32_get(d + 40);
	return 0;
}

static uint64_t codec_clip(uint64_t v, uint64_t max)
{
	return v < max ? v : max;
}

void perf_counters_encode(uint8_t *d, const struct perf_counters *in)
{
	memset(d, 0, PERF_DATA);
	d[1] = in->port;
	be16_put(d + 4, (uint16_t)codec_clip(in->symbol_err, UINT16_MAX));
	d[6] = (uint8_t)codec_clip(in->link_recovered, UINT8_MAX);
	d[7] = (uint8_t)codec_clip(in->link_downed, UINT8_MAX);
	be16_put(d + 8, (uint16_t)codec_clip(in->rx_err, UINT16_MAX));
	be16_put(d + 10, in->rx_remote_err);
	be16_put(d + 12, in->rx_relay_err);
	be16_put(d + 14, (uint16_t)codec_clip(in->tx_discard, UINT16_MAX));
	d[16] = in->tx_constraint;
	d[17] = in->rx_constraint;
	d[19] = (uint8_t)(in->integrity << 4 | (in->overrun & 0xf));
	be16_put(d + 20, in->qp1_dropped);
	be16_put(d + 22, in->vl15_dropped);
	be32_put(d + 24, (uint32_t)codec_clip(in->tx_words, UINT32_MAX));
	be32_put(d + 28, (uint32_t)codec_clip(in->rx_words, UINT32_MAX));
	be32_put(d + 32, (uint32_t)codec_clip(in->tx_pkts, UINT32_MAX));
	be32_put(d + 36, (uint32_t)codec_clip(in->rx_pkts, UINT32_MAX));
	be32_put(d + 40, (uint32_t)codec_clip(in->tx_wait, UINT32_MAX));
}

int perf_counters_ext_decode(struct perf_counters *out, const uint8_t *d)
{
	memset(out, 0, sizeof(*out));
	out->port = d[1];
	out->tx_words = be64_get(d + 8);
	out->rx_words = be64_get(d + 16);
	out->tx_pkts = be64_get(d + 24);
	out->rx_pkts = be64_get(d + 32);
	out->symbol_err = be64_get(d + 72);
	out->link_recovered = be64_get(d + 80);
	out->link_downed = be64_get(d + 88);
	out->rx_err = be64_get(d + 96);
	out->tx_discard = be64_get(d + 120);
	out->tx_wait = be64_get(d + 168);
	return 0;
}

void perf_counters_ext_encode(uint8_t *d, const struct perf_counters *in)
{
	memset(d, 0, PERF_DATA);
	d[1] = in->port;
	be64_put(d + 8, in->tx_words);
	be64_put(d + 16, in->rx_words);
	be64_put(d + 24, in->tx_pkts);
	be64_put(d + 32, in->rx_pkts);
	be64_put(d + 72, in->symbol_err);
	be64_put(d + 80, in->link_recovered);
	be64_put(d + 88, in->link_downed);
	be64_put(d + 96, in->rx_err);
	be64_put(d + 120, in->tx_discard);
	be64_put(d + 168, in->tx_wait);
}
