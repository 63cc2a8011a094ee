/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/switch_links_ibr.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/hash/digest.h"
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
	AT_NLINK = 20,
	HEADER_BYTES = SWITCH_LINKS_IBR_HEADER,
	SWITCH_BYTES = 8 + 1,
	LINK_BYTES = 2 * (4 + 1),
	LINKS_MAX = FAB_MAX_LID * 128,
};

#define MIN_BYTES (HEADER_BYTES + DIGEST_BYTES)

static const char magic[8] = "IBRLINK\n";

static size_t switch_links_ibr_raw_bytes(uint32_t nsw, uint32_t nlink)
{
	return (size_t)nsw * SWITCH_BYTES + (size_t)nlink * LINK_BYTES;
}

static uint8_t *switch_links_ibr_put(uint8_t *p, uint64_t v, size_t bytes)
{
	le_put(p, v, bytes);
	return p + bytes;
}

static uint64_t switch_links_ibr_get(const uint8_t **p, size_t bytes)
{
	uint64_t v = le_get(*p, bytes);

	*p += bytes;
	return v;
}

static uint8_t *switch_links_ibr_body(const struct switch_links *s)
{
	uint8_t *raw = xcalloc(switch_links_ibr_raw_bytes(s->nsw, s->nlink) + 1, 1), *p = raw;

	for (uint32_t sw = 0; sw < s->nsw; sw++) {
		p = switch_links_ibr_put(p, s->guid[sw], 8);
		p = switch_links_ibr_put(p, s->nports[sw], 1);
	}
	for (const struct switch_link *l = s->link; l < s->link + s->nlink; l++) {
		p = switch_links_ibr_put(p, l->sw, 4);
		p = switch_links_ibr_put(p, l->port, 1);
		p = switch_links_ibr_put(p, l->to, 4);
		p = switch_links_ibr_put(p, l->to_port, 1);
	}
	return raw;
}

void switch_links_ibr_encode(uint8_t **buf, size_t *len, const struct switch_links *s)
{
	size_t raw_bytes = switch_links_ibr_raw_bytes(s->nsw, s->nlink), bytes;
	uLongf packed = compressBound(raw_bytes);
	uint8_t *raw = switch_links_ibr_body(s), *out = xcalloc(MIN_BYTES + packed, 1);
	struct digest sum;

	if (compress2(out + HEADER_BYTES, &packed, raw, raw_bytes, Z_BEST_SPEED) != Z_OK)
		guard_give_up(-ENOMEM, "out of memory to pack switches");
	free(raw);
	bytes = MIN_BYTES + packed;
	memcpy(out + AT_MAGIC, magic, sizeof(magic));
	le_put32(out + AT_VERSION, VERSION);
	le_put32(out + AT_BYTES, (uint32_t)bytes);
	le_put32(out + AT_NSW, s->nsw);
	le_put32(out + AT_NLINK, s->nlink);
	digest_of(&sum, out, bytes - DIGEST_BYTES);
	memcpy(out + bytes - DIGEST_BYTES, sum.b, DIGEST_BYTES);
	*buf = out;
	*len = bytes;
}

uint32_t switch_links_ibr_rest(const uint8_t header[SWITCH_LINKS_IBR_HEADER])
{
	uint32_t bytes = le_get32(header + AT_BYTES);

	return memcmp(header, magic, sizeof(magic)) || bytes < MIN_BYTES ? 0 : bytes - HEADER_BYTES;
}

static bool switch_links_ibr_port_is(const struct switch_links *s, uint32_t sw, uint8_t port)
{
	return sw < s->nsw && port && port <= s->nports[sw];
}

static bool switch_links_ibr_sound(const struct switch_links *s)
{
	for (uint32_t sw = 0; sw < s->nsw; sw++)
		if (s->nports[sw] > FAB_MAX_PORT || (sw && s->guid[sw] <= s->guid[sw - 1]))
			return false;
	for (const struct switch_link *l = s->link; l < s->link + s->nlink; l++)
		if (!switch_links_ibr_port_is(s, l->sw, l->port) ||
		    !switch_links_ibr_port_is(s, l->to, l->to_port))
			return false;
	return true;
}

static bool switch_links_ibr_unpack(struct switch_links *s, const uint8_t *data, size_t len)
{
	size_t want = switch_links_ibr_raw_bytes(s->nsw, s->nlink);
	uint8_t *raw = xcalloc(want + 1, 1);
	const uint8_t *p = raw;
	uLongf got = want;
	bool ok = uncompress(raw, &got, data, len) == Z_OK && got == want;

	for (uint32_t sw = 0; sw < s->nsw && ok; sw++) {
		s->guid[sw] = switch_links_ibr_get(&p, 8);
		s->nports[sw] = (uint8_t)switch_links_ibr_get(&p, 1);
	}
	for (uint32_t i = 0; i < s->nlink && ok; i++) {
		s->link[i].sw = (uint32_t)switch_links_ibr_get(&p, 4);
		s->link[i].port = (uint8_t)switch_links_ibr_get(&p, 1);
		s->link[i].to = (uint32_t)switch_links_ibr_get(&p, 4);
		s->link[i].to_port = (uint8_t)switch_links_ibr_get(&p, 1);
	}
	free(raw);
	return ok && switch_links_ibr_sound(s);
}

static int switch_links_ibr_check(const uint8_t *buf, size_t len, const char *what, struct err *err)
{
	struct digest sum;
	size_t bytes;

	if (!len || memcmp(buf, magic, len < sizeof(magic) ? len : sizeof(magic)))
		return err_set(err, -ENOENT, "%s: does not say which switches there were", what);
	if (len < MIN_BYTES)
		return err_set(err, -EINVAL, "%s: truncated behind the end ports", what);
	if (le_get32(buf + AT_VERSION) != VERSION)
		return err_set(err, -ENOTSUP,
			       "%s: its switches were written by a newer ibroute-top", what);
	bytes = le_get32(buf + AT_BYTES);
	if (bytes < MIN_BYTES || bytes > len || le_get32(buf + AT_NSW) > FAB_MAX_LID ||
	    le_get32(buf + AT_NLINK) > LINKS_MAX)
		return err_set(err, -EINVAL, "%s: damaged: its switches are cut off or invalid",
			       what);
	digest_of(&sum, buf, bytes - DIGEST_BYTES);
	if (memcmp(sum.b, buf + bytes - DIGEST_BYTES, DIGEST_BYTES))
		return err_set(err, -EINVAL,
			       "%s: damaged: the checksum of its switches does not match", what);
	return 0;
}

int switch_links_ibr_decode(struct switch_links **out, const uint8_t *buf, size_t len,
			    const char *what, struct err *err)
{
	struct switch_links *s;
	int rc = switch_links_ibr_check(buf, len, what, err);

	*out = NULL;
	if (rc)
		return rc;
	s = switch_links_new(le_get32(buf + AT_NSW), le_get32(buf + AT_NLINK));
	if (!switch_links_ibr_unpack(s, buf + HEADER_BYTES, le_get32(buf + AT_BYTES) - MIN_BYTES)) {
		switch_links_free(s);
		return err_set(err, -EINVAL, "%s: damaged: its switches do not fit together", what);
	}
	*out = s;
	return 0;
}
