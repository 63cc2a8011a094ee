/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/sa.h"

#include "fabric/ib/bytes.h"
#include "fabric/ib/codec.h"

#include <errno.h>
#include <string.h>

#define SA_STEP 8 /* bytes: the unit of AttributeOffset */

const char *sa_status_text(uint16_t status)
{
	switch (status & 0x7f00) {
	case 0:
		return status ? "it does not support such requests" : "done";
	case SA_NO_RESOURCES:
		return "it has no resources for it";
	case SA_REQ_INVALID:
		return "it says that the request is invalid";
	case SA_NO_RECORDS:
		return "it has no such record";
	case SA_TOO_MANY_RECORDS:
		return "it has more than one such record";
	case SA_INVALID_GID:
		return "it does not know the GID";
	case SA_INSUFFICIENT:
		return "it wants more components in the request";
	case SA_DENIED:
		return "it denies this port the request";
	}
	return "it refuses";
}

void inform_info_init(struct inform_info *out, uint16_t trap, bool subscribe)
{
	memset(out, 0, sizeof(*out)); /* comparable byte by byte */
	out->lid_begin = INFORM_ALL_LIDS;
	out->generic = true;
	out->subscribe = subscribe;
	out->type = INFORM_ALL_TYPES;
	out->trap = trap;
	out->qpn = 1;
	out->resp_time = INFORM_RESP_TIME;
	out->producer = INFORM_ALL_PRODUCERS;
}

int inform_info_decode(struct inform_info *out, const uint8_t *d)
{
	uint32_t qpn = be32_get(d + 28);

	memset(out, 0, sizeof(*out));
	out->gid_prefix = be64_get(d);
	out->gid_guid = be64_get(d + 8);
	out->lid_begin = be16_get(d + 16);
	out->lid_end = be16_get(d + 18);
	out->generic = d[22];
	out->subscribe = d[23];
	out->type = be16_get(d + 24);
	out->trap = be16_get(d + 26);
	out->qpn = qpn >> 8;
	out->resp_time = qpn & 31;
	out->producer = be32_get(d + 32) & 0xffffff;
	return d[22] > 1 || d[23] > 1 ? -EPROTO : 0;
}

void inform_info_encode(uint8_t *d, const struct inform_info *in)
{
	memset(d, 0, SMP_DATA);
	be64_put(d, in->gid_prefix);
	be64_put(d + 8, in->gid_guid);
	be16_put(d + 16, in->lid_begin);
	be16_put(d + 18, in->lid_end);
	d[22] = in->generic;
	d[23] = in->subscribe;
	be16_put(d + 24, in->type);
	be16_put(d + 26, in->trap);
	be32_put(d + 28, in->qpn << 8 | (in->resp_time & 31u));
	be32_put(d + 32, in->producer & 0xffffff);
}

int sa_table_open(struct sa_table *out, const struct mad_answer *a, size_t size)
{
	size_t step = (size_t)a->table_step * SA_STEP;

	memset(out, 0, sizeof(*out));
	if (a->mgmt_class != MAD_SA || !a->table)
		return -EPROTO;
	if (!a->table_len)
		return 0; /* the step may be anything */
	if (step < size || a->table_len < size)
		return -EPROTO;
	out->at = a->table;
	out->step = step;
	out->n = (a->table_len - size) / step + 1; /* the last one may end before its padding */
	return 0;
}

int path_record_decode(struct path_record *out, const uint8_t *d)
{
	uint32_t flow = be32_get(d + 44);

	memset(out, 0, sizeof(*out));
	out->service = be64_get(d);
	out->dgid_prefix = be64_get(d + 8);
	out->dgid_guid = be64_get(d + 16);
	out->sgid_prefix = be64_get(d + 24);
	out->sgid_guid = be64_get(d + 32);
	out->dlid = be16_get(d + 40);
	out->slid = be16_get(d + 42);
	out->raw = flow >> 31;
	out->flow = flow >> 8 & 0xfffff;
	out->hop_limit = (uint8_t)flow;
	out->tclass = d[48];
	out->reversible = d[49] >> 7;
	out->num = d[49] & 0x7f;
	out->pkey = be16_get(d + 50);
	out->qos_class = be16_get(d + 52) >> 4;
	out->sl = d[53] & 0xf;
	out->mtu_selector = d[54] >> 6;
	out->mtu = d[54] & 0x3f;
	out->rate_selector = d[55] >> 6;
	out->rate = d[55] & 0x3f;
	out->life_selector = d[56] >> 6;
	out->life = d[56] & 0x3f;
	out->preference = d[57];
	return 0;
}

void path_record_encode(uint8_t *d, const struct path_record *in)
{
	memset(d, 0, SMP_DATA);
	be64_put(d, in->service);
	be64_put(d + 8, in->dgid_prefix);
	be64_put(d + 16, in->dgid_guid);
	be64_put(d + 24, in->sgid_prefix);
	be64_put(d + 32, in->sgid_guid);
	be16_put(d + 40, in->dlid);
	be16_put(d + 42, in->slid);
	be32_put(d + 44,
		 (uint32_t)in->raw << 31 | (in->flow & 0xfffff) << 8 | (uint32_t)in->hop_limit);
	d[48] = in->tclass;
	d[49] = (uint8_t)(in->reversible << 7 | (in->num & 0x7f));
	be16_put(d + 50, in->pkey);
	be16_put(d + 52, (uint16_t)(in->qos_class << 4 | (in->sl & 0xf)));
	d[54] = (uint8_t)(in->mtu_selector << 6 | (in->mtu & 0x3f));
	d[55] = (uint8_t)(in->rate_selector << 6 | (in->rate & 0x3f));
	d[56] = (uint8_t)(in->life_selector << 6 | (in->life & 0x3f));
	d[57] = in->preference;
}

enum { NODE_INFO_AT = 4, NODE_INFO_BYTES = 40 };

int node_record_decode(struct node_record *out, const uint8_t *d)
{
	out->lid = be16_get(d);
	node_desc_decode(out->desc, d + NODE_INFO_AT + NODE_INFO_BYTES);
	return node_info_decode(&out->info, d + NODE_INFO_AT);
}

void node_record_encode(uint8_t *d, const struct node_record *in)
{
	uint8_t info[SMP_DATA];

	memset(d, 0, NODE_INFO_AT);
	be16_put(d, in->lid);
	node_info_encode(info, &in->info);
	memcpy(d + NODE_INFO_AT, info, NODE_INFO_BYTES);
	node_desc_encode(d + NODE_INFO_AT + NODE_INFO_BYTES, in->desc);
}

void link_record_decode(struct link_record *out, const uint8_t *d)
{
	out->from_lid = be16_get(d);
	out->from_port = d[2];
	out->to_port = d[3];
	out->to_lid = be16_get(d + 4);
}

void link_record_encode(uint8_t *d, const struct link_record *in)
{
	memset(d, 0, SMP_DATA);
	be16_put(d, in->from_lid);
	d[2] = in->from_port;
	d[3] = in->to_port;
	be16_put(d + 4, in->to_lid);
}

enum { SERVICE_LEASE = 28, SERVICE_NAME = 48, SERVICE_DATA = 112 };

void service_record_decode(struct service_record *out, const uint8_t *d)
{
	out->id = be64_get(d);
	out->gid_prefix = be64_get(d + 8);
	out->gid_guid = be64_get(d + 16);
	out->lease_s = be32_get(d + SERVICE_LEASE);
	memcpy(out->name, d + SERVICE_NAME, SERVICE_TEXT);
	memcpy(out->data, d + SERVICE_DATA, SERVICE_TEXT);
}

void service_record_encode(uint8_t *d, const struct service_record *in)
{
	memset(d, 0, SA_DATA);
	be64_put(d, in->id);
	be64_put(d + 8, in->gid_prefix);
	be64_put(d + 16, in->gid_guid);
	be32_put(d + SERVICE_LEASE, in->lease_s);
	memcpy(d + SERVICE_NAME, in->name, SERVICE_TEXT);
	memcpy(d + SERVICE_DATA, in->data, SERVICE_TEXT);
}

void trap_build(struct mad_packet *out, uint16_t sm_lid, const struct notice *n, uint32_t tid)
{
	struct mad_request r = {
		.mgmt_class = MAD_SMP, .method = MAD_TRAP, .attr = SMP_NOTICE, .lid = sm_lid
	};

	notice_encode(r.data, NOTICE_SMP_DATA, n);
	mad_build(out, &r, tid);
}

int trap_read(struct notice *out, const struct mad_packet *p)
{
	struct mad_head h;

	mad_head(&h, p);
	if (h.mgmt_class != MAD_SMP || h.method != MAD_TRAP || h.attr != SMP_NOTICE)
		return -EPROTO;
	return notice_decode(out, h.data, NOTICE_SMP_DATA);
}

void report_build(struct mad_packet *out, uint16_t lid, uint8_t sl, uint32_t qpn,
		  const struct notice *n, uint32_t tid)
{
	struct mad_request r = {
		.mgmt_class = MAD_SA, .method = MAD_REPORT, .attr = SA_NOTICE, .lid = lid, .sl = sl
	};

	mad_build(out, &r, tid);
	out->addr.qpn = qpn;
	notice_encode(mad_data(out), NOTICE_SA_DATA, n);
}

int report_read(struct notice *out, const struct mad_packet *p)
{
	struct mad_head h;

	mad_head(&h, p);
	if (h.mgmt_class != MAD_SA || h.method != MAD_REPORT || h.attr != SA_NOTICE)
		return -EPROTO;
	return notice_decode(out, h.data, NOTICE_SA_DATA);
}

void report_answer(struct mad_packet *p)
{
	mad_answer_method(p, MAD_REPORT_RESP);
	p->timeout_ms = 0;
	p->addr.qkey = MAD_QP1_QKEY;
	if (!p->addr.qpn)
		p->addr.qpn = 1;
}
