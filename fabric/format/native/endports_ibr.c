/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/endports_ibr.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define VERSION 1

enum {
	AT_MAGIC = 0,
	AT_VERSION = 8,
	AT_BYTES = 12, /* of all of it */
	AT_NSW = 16,
	AT_NEND = 20,
	AT_MAX_LID = 24,
	AT_LMC = 28,
	AT_FINGERPRINT = 32,
	AT_SWITCH_GRAPH = 64,
	HEADER_BYTES = ENDPORTS_IBR_HEADER,
	SWITCH_BYTES = 2,
	END_BYTES = 8 + 4 + 1 + 2,
};

#define MIN_BYTES (HEADER_BYTES + DIGEST_BYTES)

static const char magic[8] = "IBREND\n";

static uint8_t *endports_ibr_put(uint8_t *p, uint64_t v, int bytes)
{
	le_put(p, v, (size_t)bytes);
	return p + bytes;
}

static uint64_t endports_ibr_get(const uint8_t **p, int bytes)
{
	uint64_t v = le_get(*p, (size_t)bytes);

	*p += bytes;
	return v;
}

static size_t endports_ibr_raw_bytes(uint32_t nsw, uint32_t nend)
{
	return (size_t)nsw * SWITCH_BYTES + (size_t)nend * END_BYTES;
}

static uint8_t *endports_ibr_body(const struct endports *e)
{
	uint8_t *raw = xcalloc(endports_ibr_raw_bytes(e->nsw, e->nend) + 1, 1), *p = raw;

	for (uint32_t sw = 0; sw < e->nsw; sw++)
		p = endports_ibr_put(p, e->sw_lid[sw], SWITCH_BYTES);
	for (uint32_t i = 0; i < e->nend; i++) {
		p = endports_ibr_put(p, e->guid[i], 8);
		p = endports_ibr_put(p, e->sw[i], 4);
		p = endports_ibr_put(p, e->port[i], 1);
		p = endports_ibr_put(p, e->lid[i], 2);
	}
	return raw;
}

static void endports_ibr_header(uint8_t *h, const struct endports *e, size_t bytes)
{
	memset(h, 0, HEADER_BYTES);
	memcpy(h + AT_MAGIC, magic, sizeof(magic));
	le_put32(h + AT_VERSION, VERSION);
	le_put32(h + AT_BYTES, (uint32_t)bytes);
	le_put32(h + AT_NSW, e->nsw);
	le_put32(h + AT_NEND, e->nend);
	le_put32(h + AT_MAX_LID, e->max_lid);
	h[AT_LMC] = e->lmc;
	memcpy(h + AT_FINGERPRINT, e->fingerprint.b, DIGEST_BYTES);
	memcpy(h + AT_SWITCH_GRAPH, e->switch_graph.b, DIGEST_BYTES);
}

void endports_ibr_encode(uint8_t **buf, size_t *len, const struct endports *e)
{
	size_t raw_bytes = endports_ibr_raw_bytes(e->nsw, e->nend), bytes;
	uLongf packed = compressBound(raw_bytes);
	uint8_t *raw = endports_ibr_body(e), *out = xcalloc(MIN_BYTES + packed, 1);
	struct digest sum;

	if (compress2(out + HEADER_BYTES, &packed, raw, raw_bytes, Z_BEST_SPEED) != Z_OK)
		guard_give_up(-ENOMEM, "out of memory to pack end ports");
	free(raw);
	bytes = MIN_BYTES + packed;
	endports_ibr_header(out, e, bytes);
	digest_of(&sum, out, bytes - DIGEST_BYTES);
	memcpy(out + bytes - DIGEST_BYTES, sum.b, DIGEST_BYTES);
	*buf = out;
	*len = bytes;
}

uint32_t endports_ibr_rest(const uint8_t header[ENDPORTS_IBR_HEADER])
{
	uint32_t bytes = le_get32(header + AT_BYTES);

	return memcmp(header, magic, sizeof(magic)) || bytes < MIN_BYTES ? 0 : bytes - HEADER_BYTES;
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

static bool endports_ibr_unpack(struct endports *e, const uint8_t *data, size_t len)
{
	size_t want = endports_ibr_raw_bytes(e->nsw, e->nend);
	uint8_t *raw = xcalloc(want + 1, 1);
	const uint8_t *p = raw;
	uLongf got = want;
	bool ok = uncompress(raw, &got, data, len) == Z_OK && got == want;

	for (uint32_t sw = 0; sw < e->nsw && ok; sw++)
		e->sw_lid[sw] = (uint16_t)endports_ibr_get(&p, SWITCH_BYTES);
	for (uint32_t i = 0; i < e->nend && ok; i++) {
		e->guid[i] = endports_ibr_get(&p, 8);
		e->sw[i] = (uint32_t)endports_ibr_get(&p, 4);
		e->port[i] = (uint8_t)endports_ibr_get(&p, 1);
		e->lid[i] = (uint16_t)endports_ibr_get(&p, 2);
	}
	free(raw);
	return ok && endports_ibr_sound(e);
}

static int endports_ibr_check(const uint8_t *buf, size_t len, const char *what, struct err *err)
{
	struct digest sum;
	size_t bytes;

	if (!len || memcmp(buf, magic, len < sizeof(magic) ? len : sizeof(magic)))
		return err_set(err, -ENOENT, "%s: does not say which host had which LID", what);
	if (len < MIN_BYTES)
		return err_set(err, -EINVAL, "%s: truncated behind the tables", what);
	if (le_get32(buf + AT_VERSION) != VERSION)
		return err_set(err, -ENOTSUP,
			       "%s: its end ports were written by a newer "
			       "ibroute-top",
			       what);
	bytes = le_get32(buf + AT_BYTES);
	if (bytes < MIN_BYTES || bytes > len || buf[AT_LMC] > 7 ||
	    le_get32(buf + AT_MAX_LID) > FAB_MAX_LID || le_get32(buf + AT_NSW) > FAB_MAX_LID ||
	    le_get32(buf + AT_NEND) > FAB_MAX_LID)
		return err_set(err, -EINVAL, "%s: damaged: its end ports are cut off or invalid",
			       what);
	digest_of(&sum, buf, bytes - DIGEST_BYTES);
	if (memcmp(sum.b, buf + bytes - DIGEST_BYTES, DIGEST_BYTES))
		return err_set(err, -EINVAL,
			       "%s: damaged: the checksum of its end ports does not match", what);
	return 0;
}

int endports_ibr_decode(struct endports **out, const uint8_t *buf, size_t len, const char *what,
			struct err *err)
{
	struct endports *e;
	int rc = endports_ibr_check(buf, len, what, err);

	*out = NULL;
	if (rc)
		return rc;
	e = endports_new(le_get32(buf + AT_NSW), le_get32(buf + AT_NEND));
	e->max_lid = le_get32(buf + AT_MAX_LID);
	e->lmc = buf[AT_LMC];
	memcpy(e->fingerprint.b, buf + AT_FINGERPRINT, DIGEST_BYTES);
	memcpy(e->switch_graph.b, buf + AT_SWITCH_GRAPH, DIGEST_BYTES);
	if (!endports_ibr_unpack(e, buf + HEADER_BYTES, le_get32(buf + AT_BYTES) - MIN_BYTES)) {
		endports_put(e);
		return err_set(err, -EINVAL, "%s: damaged: its end ports do not fit together",
			       what);
	}
	*out = e;
	return 0;
}
