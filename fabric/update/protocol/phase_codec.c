/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/protocol/phase_codec.h"

#include "fabric/ib/bytes.h"
#include "fabric/update/protocol/coordinator.h"

#include <errno.h>
#include <string.h>

#define OURS 34 /* offset in the details */

/* Details of a notice 144 (14.2.5.1). */
enum {
	LOCAL_LID = 2,
	LOCAL_OTHER_CHANGES = 5,
	LOCAL_CAP_MASK = 6,
	LOCAL_CHANGE_FLAGS = 10,
};

#define NODE_DESCRIPTION_CHANGE 0x0001

void phase_codec_encode(struct notice *out, const struct phase_notice *in, bool answer,
			const struct notice_sender *from)
{
	uint8_t trap = in->phase == PHASE_UNPATH ? NOTICE_UNPATH : NOTICE_REPATH;
	uint8_t *d = out->details;

	memset(out, 0, sizeof(*out));
	out->type = answer ? NOTICE_INFO : NOTICE_MANAGEMENT;
	out->producer = answer ? NOTICE_CA : NOTICE_MANAGER;
	out->trap = answer ? NOTICE_LOCAL_CHANGES : trap;
	out->issuer_lid = from->lid;
	if (answer) {
		be16_put(d + LOCAL_LID, from->lid);
		d[LOCAL_OTHER_CHANGES] = 1;
		be32_put(d + LOCAL_CAP_MASK, from->cap_mask);
		be16_put(d + LOCAL_CHANGE_FLAGS, NODE_DESCRIPTION_CHANGE);
	}
	d += OURS;
	d[0] = in->version;
	d[1] = trap;
	be16_put(d + 2, in->flags);
	be16_put(d + 4, in->repeat);
	be16_put(d + 6, in->hold_s);
	be32_put(d + 8, in->seq);
	be64_put(d + 12, in->txn);
}

int phase_codec_decode(struct phase_notice *out, bool *answer, const struct notice *n)
{
	const uint8_t *d = n->details + OURS;

	memset(out, 0, sizeof(*out));
	*answer = n->trap == NOTICE_LOCAL_CHANGES;
	if (n->trap != NOTICE_UNPATH && n->trap != NOTICE_REPATH && !*answer)
		return -ENOENT;
	if (!d[0]) /* ports send notices 144 of their own */
		return -ENOENT;
	out->version = d[0];
	out->phase = d[1] == NOTICE_UNPATH ? PHASE_UNPATH : PHASE_REPATH;
	out->flags = be16_get(d + 2);
	out->repeat = be16_get(d + 4);
	out->hold_s = be16_get(d + 6);
	out->seq = be32_get(d + 8);
	out->txn = be64_get(d + 12);
	if (out->version != PHASE_NOTICE_VERSION ||
	    (!out->txn && !(*answer && out->flags & NOTICE_ASK)) ||
	    (d[1] != NOTICE_UNPATH && d[1] != NOTICE_REPATH) || (!*answer && d[1] != n->trap))
		return -EPROTO;
	return 0;
}
