/* SPDX-License-Identifier: GPL-2.0-or-later */
/* digest: SHA-256 (libcrypto) over a stream of values, for fingerprints and the audit chain.
 * Where libcrypto has none, or no memory, these give up (guard.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_BYTES 32
#define DIGEST_HEX   (2 * DIGEST_BYTES + 1)

struct digest {
	uint8_t b[DIGEST_BYTES];
};

struct digest_stream;

struct digest_stream *digest_begin(void);
void digest_add(struct digest_stream *s, const void *data, size_t len);
void digest_add_u64(struct digest_stream *s, uint64_t v); /* little endian on every machine */
/* Of what was added so far; more may follow. */
void digest_peek(struct digest *out, const struct digest_stream *s);
void digest_end(struct digest *out, struct digest_stream *s); /* frees s */

void digest_of(struct digest *out, const void *data, size_t len);
/* HMAC-SHA256 with a key of DIGEST_BYTES. */
void digest_hmac(struct digest *out, const struct digest *key, const void *data, size_t len);
void digest_erase(struct digest *d); /* a secret, and is not optimised away */
bool digest_equal(const struct digest *a, const struct digest *b);
/* 64 lower-case hex digits and a zero; returns hex. */
char *digest_hex(char hex[DIGEST_HEX], const struct digest *d);
/* First 8 hex digits, as screens and file names show a fingerprint. */
char *digest_short(char hex[9], const struct digest *d);
int digest_parse(struct digest *out, const char *hex); /* 0 or -EINVAL */
