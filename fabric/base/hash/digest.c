/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/hash/digest.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct digest_stream {
	EVP_MD_CTX *md;
};

/* Fetched once, which takes longer than a short hash; tried again if it failed. */
static const EVP_MD *digest_sha256(void)
{
	static _Atomic(EVP_MD *) fetched;
	EVP_MD *md = atomic_load(&fetched), *other = NULL;

	if (md)
		return md;
	md = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (!md || atomic_compare_exchange_strong(&fetched, &other, md))
		return md;
	EVP_MD_free(md);
	return other;
}

struct digest_stream *digest_begin(void)
{
	struct digest_stream *s = xcalloc(1, sizeof(*s));
	const EVP_MD *sha256 = digest_sha256();

	s->md = EVP_MD_CTX_new();
	if (!s->md || !sha256 || EVP_DigestInit_ex(s->md, sha256, NULL) != 1) {
		EVP_MD_CTX_free(s->md);
		free(s);
		guard_give_up(-ENOTSUP, "libcrypto offers no SHA-256");
	}
	return s;
}

void digest_add(struct digest_stream *s, const void *data, size_t len)
{
	EVP_DigestUpdate(s->md, data, len);
}

void digest_add_u64(struct digest_stream *s, uint64_t v)
{
	uint8_t b[8];

	le_put64(b, v);
	digest_add(s, b, sizeof(b));
}

static void digest_finish(struct digest *out, EVP_MD_CTX *md)
{
	if (EVP_DigestFinal_ex(md, out->b, NULL) != 1)
		guard_give_up(-ENOTSUP, "libcrypto cannot finish a SHA-256");
}

void digest_peek(struct digest *out, const struct digest_stream *s)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();

	if (!md || EVP_MD_CTX_copy_ex(md, s->md) != 1) {
		EVP_MD_CTX_free(md);
		guard_give_up(-ENOMEM, "libcrypto cannot copy a SHA-256");
	}
	digest_finish(out, md);
	EVP_MD_CTX_free(md);
}

void digest_end(struct digest *out, struct digest_stream *s)
{
	digest_finish(out, s->md);
	EVP_MD_CTX_free(s->md);
	free(s);
}

static _Thread_local EVP_MD_CTX *own; /* kept: new ones cost more than a short hash */
static pthread_once_t keyed = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit;

static void digest_free_own(void *md)
{
	EVP_MD_CTX_free(md);
}

static void digest_make_key(void)
{
	pthread_key_create(&at_exit, digest_free_own);
}

void digest_of(struct digest *out, const void *data, size_t len)
{
	struct digest_stream *s;

	if (own && EVP_DigestInit_ex(own, NULL, NULL) == 1) {
		EVP_DigestUpdate(own, data, len);
		digest_finish(out, own);
		return;
	}
	s = digest_begin();
	digest_add(s, data, len);
	digest_finish(out, s->md);
	pthread_once(&keyed, digest_make_key);
	EVP_MD_CTX_free(own);
	own = s->md;
	pthread_setspecific(at_exit, own);
	free(s);
}

void digest_hmac(struct digest *out, const struct digest *key, const void *data, size_t len)
{
	unsigned n = DIGEST_BYTES;

	if (!HMAC(EVP_sha256(), key->b, DIGEST_BYTES, data, len, out->b, &n))
		guard_give_up(-ENOTSUP, "libcrypto offers no HMAC-SHA256");
}

void digest_erase(struct digest *d)
{
	OPENSSL_cleanse(d, sizeof(*d));
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return !memcmp(a->b, b->b, DIGEST_BYTES);
}

static void digest_hex_of(char *hex, const struct digest *d, int bytes)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < bytes; i++) {
		hex[2 * i] = digits[d->b[i] >> 4];
		hex[2 * i + 1] = digits[d->b[i] & 15];
	}
	hex[2 * bytes] = '\0';
}

char *digest_hex(char hex[DIGEST_HEX], const struct digest *d)
{
	digest_hex_of(hex, d, DIGEST_BYTES);
	return hex;
}

char *digest_short(char hex[9], const struct digest *d)
{
	digest_hex_of(hex, d, 4);
	return hex;
}

static int digest_nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int digest_parse(struct digest *out, const char *hex)
{
	for (int i = 0; i < DIGEST_BYTES; i++) {
		int hi = digest_nibble(hex[2 * i]),
		    lo = hi < 0 ? -1 : digest_nibble(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return -EINVAL;
		out->b[i] = (uint8_t)(hi << 4 | lo);
	}
	return hex[2 * DIGEST_BYTES] ? -EINVAL : 0;
}
