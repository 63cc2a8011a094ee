/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/section_ibr.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { AT_MAGIC = 0, AT_VERSION = 8, AT_BYTES = 12, MAGIC_BYTES = 8 };

uint8_t *section_ibr_put(uint8_t *p, uint64_t v, size_t bytes)
{
	le_put(p, v, bytes);
	return p + bytes;
}

uint64_t section_ibr_get(const uint8_t **p, size_t bytes)
{
	uint64_t v = le_get(*p, bytes);

	*p += bytes;
	return v;
}

void section_ibr_seal(uint8_t **buf, size_t *len, const struct section_ibr *k, uint8_t *header,
		      uint8_t *body, size_t body_bytes)
{
	uLongf packed = compressBound(body_bytes);
	uint8_t *out = xcalloc(section_ibr_min(k) + packed, 1);
	struct digest sum;
	size_t bytes;

	if (compress2(out + k->header_bytes, &packed, body, body_bytes, Z_BEST_SPEED) != Z_OK)
		guard_give_up(-ENOMEM, "out of memory to pack what belongs to tables");
	free(body);
	bytes = section_ibr_min(k) + packed;
	memcpy(header + AT_MAGIC, k->magic, MAGIC_BYTES);
	le_put32(header + AT_VERSION, k->version);
	le_put32(header + AT_BYTES, (uint32_t)bytes);
	memcpy(out, header, k->header_bytes);
	digest_of(&sum, out, bytes - DIGEST_BYTES);
	memcpy(out + bytes - DIGEST_BYTES, sum.b, DIGEST_BYTES);
	*buf = out;
	*len = bytes;
}

uint32_t section_ibr_rest(const struct section_ibr *k, const uint8_t *header)
{
	uint32_t bytes = le_get32(header + AT_BYTES);

	if (memcmp(header, k->magic, MAGIC_BYTES) || bytes < section_ibr_min(k))
		return 0;
	return bytes - k->header_bytes;
}

int section_ibr_check(const struct section_ibr *k, const uint8_t *buf, size_t len, const char *what,
		      struct err *err)
{
	struct digest sum;
	size_t bytes;

	if (!len || memcmp(buf, k->magic, len < MAGIC_BYTES ? len : MAGIC_BYTES))
		return err_set(err, -ENOENT, "%s: %s", what, k->absent);
	if (len < section_ibr_min(k))
		return err_set(err, -EINVAL, "%s: truncated behind %s", what, k->behind);
	if (le_get32(buf + AT_VERSION) != k->version)
		return err_set(err, -ENOTSUP, "%s: its %s were written by a newer ibroute-top",
			       what, k->noun);
	bytes = le_get32(buf + AT_BYTES);
	if (bytes < section_ibr_min(k) || bytes > len)
		return err_set(err, -EINVAL, "%s: damaged: its %s are cut off or invalid", what,
			       k->noun);
	digest_of(&sum, buf, bytes - DIGEST_BYTES);
	if (memcmp(sum.b, buf + bytes - DIGEST_BYTES, DIGEST_BYTES))
		return err_set(err, -EINVAL, "%s: damaged: the checksum of its %s does not match",
			       what, k->noun);
	return 0;
}

uint8_t *section_ibr_unpack(const struct section_ibr *k, const uint8_t *buf, size_t body_bytes)
{
	size_t packed = le_get32(buf + AT_BYTES) - section_ibr_min(k);
	uint8_t *body = xcalloc(body_bytes + 1, 1);
	uLongf got = body_bytes;

	if (uncompress(body, &got, buf + k->header_bytes, packed) == Z_OK && got == body_bytes)
		return body;
	free(body);
	return NULL;
}

int section_ibr_refuse(const struct section_ibr *k, const char *what, struct err *err)
{
	return err_set(err, -EINVAL, "%s: damaged: its %s do not fit together", what, k->noun);
}
