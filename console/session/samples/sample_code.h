/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_code: a sample as bytes, alone or as its difference to another one; and numbers as bytes.
 */
#pragma once

#include "fabric/model/traffic/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. */
struct bytes {
	uint8_t *p;
	size_t n, cap;
};

/* 7 bits a byte, lowest first. */
void bytes_put_uint(struct bytes *b, uint64_t v);
void bytes_put_int(struct bytes *b, int64_t v); /* small ones of either sign are short */
void bytes_put_raw(struct bytes *b, const void *p, size_t n);

/* Reading beyond the end gives 0 and sets bad. */
struct reader {
	const uint8_t *p, *end;
	bool bad;
};

uint64_t reader_get_uint(struct reader *r);
int64_t reader_get_int(struct reader *r);
bool reader_get_raw(struct reader *r, void *p, size_t n);

/* before NULL: whole.  The caller frees. */
uint8_t *sample_code_encode(size_t *len, const struct sample *before, const struct sample *s);
/* NULL: damaged. */
struct sample *sample_code_decode(const struct fabric *f, const struct sample *before,
				  const uint8_t *code, size_t len);
