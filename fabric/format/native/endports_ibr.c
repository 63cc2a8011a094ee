/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/endports_ibr.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/section_ibr.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	AT_NSW = SECTION_IBR_OWN,
	AT_NEND = 20,
	AT_MAX_LID = 24,
	AT_LMC = 28,
	AT_FINGERPRINT = 32,
	AT_SWITCH_GRAPH = 64,
	SWITCH_BYTES = 2,
	END_BYTES = 8 + 4 + 1 + 2,
};

static const struct section_ibr section = {
	.magic = "IBREND\n",
	.version = 1,
	.header_bytes = ENDPORTS_IBR_HEADER,
	.noun = "end ports",
	.absent = "does not say which host had which LID",
	.behind = "the tables",
};

static size_t endports_ibr_bytes(uint32_t nsw, uint32_t nend)
{
	return (size_t)nsw * SWITCH_BYTES + (size_t)nend * END_BYTES;
}

static uint8_t *endports_ibr_body(const struct endports *e)
{
	uint8_t *body = xcalloc(endports_ibr_bytes(e->nsw, e->nend) + 1, 1), *p = body;

	for (uint32_t sw = 0; sw < e->nsw; sw++)
		p = section_ibr_put(p, e->sw_lid[sw], SWITCH_BYTES);
	for (uint32_t i = 0; i < e->nend; i++) {
		p = section_ibr_put(p, e->guid[i], 8);
		p = section_ibr_put(p, e->sw[i], 4);
		p = section_ibr_put(p, e->port[i], 1);
		p = section_ibr_put(p, e->lid[i], 2);
	}
	return body;
}

void endports_ibr_encode(uint8_t **buf, size_t *len, const struct endports *e)
{
	uint8_t h[ENDPORTS_IBR_HEADER] = { 0 };

	le_put32(h + AT_NSW, e->nsw);
	le_put32(h + AT_NEND, e->nend);
	le_put32(h + AT_MAX_LID, e->max_lid);
	h[AT_LMC] = e->lmc;
	memcpy(h + AT_FINGERPRINT, e->fingerprint.b, DIGEST_BYTES);
	memcpy(h + AT_SWITCH_GRAPH, e->switch_graph.b, DIGEST_BYTES);
	section_ibr_seal(buf, len, &section, h, endports_ibr_body(e),
			 endports_ibr_bytes(e->nsw, e->nend));
}

uint32_t endports_ibr_rest(const uint8_t header[ENDPORTS_IBR_HEADER])
{
	return section_ibr_rest(&section, header);
}

static bool endports_ibr_sound(const struct endports *e)
{
	uint32_t lids = 1u << e->lmc;

	for (uint32_t sw = 0; sw < e->nsw; sw++)
		if (!e->sw_lid[sw] || e->sw_lid[sw] > e->max_lid)
			return false;
	for (uint32_t i = 0; i < e->nend; i++)
		if (e->sw[i] >= e->nsw || !e->port[i] || e->port[i] > FAB_MAX_PORT || !e->lid[i] ||
		    e->lid[i] + lids - 1 > e->max_lid)
			return false;
	return true;
}

static bool endports_ibr_unpack(struct endports *e, const uint8_t *buf)
{
	uint8_t *body = section_ibr_unpack(&section, buf, endports_ibr_bytes(e->nsw, e->nend));
	const uint8_t *p = body;

	if (!body)
		return false;
	for (uint32_t sw = 0; sw < e->nsw; sw++)
		e->sw_lid[sw] = (uint16_t)section_ibr_get(&p, SWITCH_BYTES);
	for (uint32_t i = 0; i < e->nend; i++) {
		e->guid[i] = section_ibr_get(&p, 8);
		e->sw[i] = (uint32_t)section_ibr_get(&p, 4);
		e->port[i] = (uint8_t)section_ibr_get(&p, 1);
		e->lid[i] = (uint16_t)section_ibr_get(&p, 2);
	}
	free(body);
	return endports_ibr_sound(e);
}

int endports_ibr_decode(struct endports **out, const uint8_t *buf, size_t len, const char *what,
			struct err *err)
{
	struct endports *e;
	int rc = section_ibr_check(&section, buf, len, what, err);

	*out = NULL;
	if (rc)
		return rc;
	if (buf[AT_LMC] > 7 || le_get32(buf + AT_MAX_LID) > FAB_MAX_LID ||
	    le_get32(buf + AT_NSW) > FAB_MAX_LID || le_get32(buf + AT_NEND) > FAB_MAX_LID)
		return section_ibr_refuse(&section, what, err);
	e = endports_new(le_get32(buf + AT_NSW), le_get32(buf + AT_NEND));
	e->max_lid = le_get32(buf + AT_MAX_LID);
	e->lmc = buf[AT_LMC];
	memcpy(e->fingerprint.b, buf + AT_FINGERPRINT, DIGEST_BYTES);
	memcpy(e->switch_graph.b, buf + AT_SWITCH_GRAPH, DIGEST_BYTES);
	if (!endports_ibr_unpack(e, buf)) {
		endports_put(e);
		return section_ibr_refuse(&section, what, err);
	}
	*out = e;
	return 0;
}
