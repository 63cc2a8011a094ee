/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ib/notice.h"

#include "fabric/ib/bytes.h"

#include <errno.h>
#include <string.h>

#define GENERIC	    0x80
#define TOGGLE	    0x8000
#define OFF_DETAILS 10
#define OFF_ISSUER  64

int notice_decode(struct notice *out, const uint8_t *d, size_t n)
{
	uint16_t count;

	memset(out, 0, sizeof(*out));
	if (n < NOTICE_SMP_DATA || !(d[0] & GENERIC))
		return -EPROTO;
	count = be16_get(d + 8);
	out->type = d[0] & 0x7f;
	out->producer = be32_get(d) & 0xffffff;
	out->trap = be16_get(d + 4);
	out->issuer_lid = be16_get(d + 6);
	out->toggle = count & TOGGLE;
	out->count = count & 0x7fff;
	memcpy(out->details, d + OFF_DETAILS, NOTICE_DETAILS);
	if (n >= NOTICE_SA_DATA) {
		out->issuer_prefix = be64_get(d + OFF_ISSUER);
		out->issuer_guid = be64_get(d + OFF_ISSUER + 8);
	}
	return 0;
}

void notice_encode(uint8_t *d, size_t n, const struct notice *in)
{
	memset(d, 0, n);
	be32_put(d, (uint32_t)(GENERIC | (in->type & 0x7f)) << 24 | (in->producer & 0xffffff));
	be16_put(d + 4, in->trap);
	be16_put(d + 6, in->issuer_lid);
	be16_put(d + 8, (uint16_t)((in->toggle ? TOGGLE : 0) | (in->count & 0x7fff)));
	memcpy(d + OFF_DETAILS, in->details, NOTICE_DETAILS);
	if (n >= NOTICE_SA_DATA) {
		be64_put(d + OFF_ISSUER, in->issuer_prefix);
		be64_put(d + OFF_ISSUER + 8, in->issuer_guid);
	}
}
