/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/file/changefile.h"

#include "fabric/base/memory/mem.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static const char magic[8] = "IBRCHG1";

struct file_head {
	char magic[8];
	uint32_t n, nwaves;
};

struct file_change {
	uint64_t guid;
	uint16_t block, wave;
	uint8_t kind, in, out, zero;
};

void changefile_encode(uint8_t **data, size_t *len, const struct changes *l)
{
	struct file_head h = { .n = htole32(l->n), .nwaves = htole32(l->nwaves) };
	uint8_t *p;

	*len = sizeof(h) + l->n * sizeof(struct file_change) + l->ndata;
	p = *data = xcalloc(*len, 1);
	memcpy(h.magic, magic, sizeof(magic));
	memcpy(p, &h, sizeof(h));
	p += sizeof(h);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		struct file_change fc = {
			.guid = htole64(c->guid),
			.block = htole16(c->block),
			.wave = htole16(c->wave),
			.kind = c->kind,
			.in = c->in,
			.out = c->out,
		};

		memcpy(p, &fc, sizeof(fc));
		p += sizeof(fc);
		memcpy(p, change_old(l, c), 2 * change_bytes(c));
		p += 2 * change_bytes(c);
	}
}

static int changefile_decode_one(struct changes *l, const uint8_t **p, const uint8_t *end)
{
	struct file_change fc;
	struct change c = { .sw = FAB_NONE };

	if ((size_t)(end - *p) < sizeof(fc))
		return -EBADMSG;
	memcpy(&fc, *p, sizeof(fc));
	*p += sizeof(fc);
	c.guid = le64toh(fc.guid);
	c.block = le16toh(fc.block);
	c.wave = le16toh(fc.wave);
	c.kind = fc.kind;
	c.in = fc.in;
	c.out = fc.out;
	c.at = l->ndata;
	if (c.kind > CHANGE_SL2VL || c.wave >= l->nwaves || c.block > FAB_MAX_LID / LFT_BLOCK ||
	    (size_t)(end - *p) < 2 * change_bytes(&c))
		return -EBADMSG;
	memcpy(l->data + c.at, *p, 2 * change_bytes(&c));
	*p += 2 * change_bytes(&c);
	l->ndata += 2 * change_bytes(&c);
	l->nlft += c.kind == CHANGE_LFT;
	l->nsl2vl += c.kind == CHANGE_SL2VL;
	l->v[l->n++] = c;
	return 0;
}

int changefile_decode(struct changes **out, const uint8_t *data, size_t len, const char *name,
		      struct err *err)
{
	const uint8_t *p = data + sizeof(struct file_head), *end = data + len;
	struct changes *l;
	struct file_head h;
	uint32_t n;

	if (len < sizeof(h))
		return err_set(err, -EBADMSG, "%s: too short for a list of changes", name);
	memcpy(&h, data, sizeof(h));
	n = le32toh(h.n);
	if (memcmp(h.magic, magic, sizeof(magic)) || n > len / sizeof(struct file_change))
		return err_set(err, -EBADMSG, "%s: not a list of changes of this version", name);
	l = xcalloc(1, sizeof(*l));
	l->nwaves = le32toh(h.nwaves);
	l->v = xcalloc(n, sizeof(*l->v));
	l->data = xcalloc(len, 1);
	while (l->n < n)
		if (changefile_decode_one(l, &p, end))
			break;
	if (l->n < n || p != end || changes_link(l)) {
		uint32_t at = l->n;

		changes_free(l);
		return err_set(err, -EBADMSG, "%s: damaged at change %u of %u", name, at + 1, n);
	}
	*out = l;
	return 0;
}
