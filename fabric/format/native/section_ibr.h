/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * section_ibr: what the parts behind the tables in a tables.ibr have in common: a header that
 * begins with magic, version and length, a packed body, a checksum.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>

#define SECTION_IBR_OWN 16 /* a header's first bytes; the rest is the section's */

struct section_ibr {
	const char *magic; /* 8 bytes */
	uint32_t version, header_bytes;
	const char *noun;   /* "end ports", of sentences */
	const char *absent; /* "does not say which ..." */
	const char *behind; /* what stands before it */
};

/* All but the packed body. */
static inline size_t section_ibr_min(const struct section_ibr *k)
{
	return k->header_bytes + DIGEST_BYTES;
}

/* Little endian, and on to what follows. */
uint8_t *section_ibr_put(uint8_t *p, uint64_t v, size_t bytes);
uint64_t section_ibr_get(const uint8_t **p, size_t bytes);

/* A new buffer, the caller's: the header, of which the first bytes are filled in here, and the
 * body, which is freed. */
void section_ibr_seal(uint8_t **buf, size_t *len, const struct section_ibr *k, uint8_t *header,
		      uint8_t *body, size_t body_bytes);
/* Bytes behind the header; 0: it is not one of that kind. */
uint32_t section_ibr_rest(const struct section_ibr *k, const uint8_t *header);
/* what: the file.  -ENOENT: another kind, or nothing; -ENOTSUP: newer; -EINVAL: cut off or damaged.
 */
int section_ibr_check(const struct section_ibr *k, const uint8_t *buf, size_t len, const char *what,
		      struct err *err);
/* The body of one that was checked; the caller frees it.  NULL: not of that length. */
uint8_t *section_ibr_unpack(const struct section_ibr *k, const uint8_t *buf, size_t body_bytes);
/* -EINVAL: what was unpacked contradicts itself. */
int section_ibr_refuse(const struct section_ibr *k, const char *what, struct err *err);
