/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/mad/apply_notice.h"

#include "fabric/mad/bytes.h"

#include <errno.h>
#include <string.h>

#define OURS 40 /* offset in the details */

/* Details of a notice 144 (14.2.5.1). */
enum {
	LOCAL_LID = 2,
	LOCAL_OTHER_CHANGES = 5,
	LOCAL_CAP_MASK = 6,
	LOCAL_CHANGE_FLAGS = 10,
};

#define NODE_DESCRIPTION_CHANGE 0x0001

void apply_notice_make(struct notice *out, const struct apply_notice *in,
		       const struct apply_sender *from)
{
	uint8_t *d = out->details;

	memset(out, 0, sizeof(*out));
	out->type = in->ack ? NOTICE_INFO : NOTICE_MANAGEMENT;
	out->producer = in->ack ? NOTICE_CA : NOTICE_MANAGER;
	out->trap = in->ack ? NOTICE_LOCAL_CHANGES : in->phase;
	out->issuer_lid = from->lid;
	if (in->ack) {
		be16_put(d + LOCAL_LID, from->lid);
		d[LOCAL_OTHER_CHANGES] = 1;
		be32_put(d + LOCAL_CAP_MASK, from->cap_mask);
		be16_put(d + LOCAL_CHANGE_FLAGS, NODE_DESCRIPTION_CHANGE);
	}
	d += OURS;
	d[0] = APPLY_NOTICE_VERSION;
	d[1] = in->phase;
	be16_put(d + 2, in->flags);
	be32_put(d + 4, in->txn);
	be32_put(d + 8, in->seq);
	be16_put(d + 12, in->ack ? in->ref : 0);
}

int apply_notice_read(struct apply_notice *out, const struct notice *n)
{
	const uint8_t *d = n->details + OURS;

	memset(out, 0, sizeof(*out));
	if (n->trap != NOTICE_UNPATH && n->trap != NOTICE_REPATH && n->trap != NOTICE_LOCAL_CHANGES)
		return -ENOENT;
	if (!d[0]) /* ports send notices 144 of their own */
		return -ENOENT;
	out->ack = n->trap == NOTICE_LOCAL_CHANGES;
	out->phase = d[1];
	out->flags = be16_get(d + 2);
	out->txn = be32_get(d + 4);
	out->seq = be32_get(d + 8);
	out->ref = be16_get(d + 12);
	if (d[0] != APPLY_NOTICE_VERSION || !out->txn ||
	    (out->phase != NOTICE_UNPATH && out->phase != NOTICE_REPATH) ||
	    (!out->ack && (out->phase != n->trap || out->ref)))
		return -EPROTO;
	return 0;
}

uint32_t apply_txn(const char *id)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *id; id++)
		h = (h ^ (uint8_t)*id) * 16777619u;
	return h ? h : 1;
}
