/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_columns: a sample as bytes to be kept: counter by counter, and of each the lowest bytes of
 * all ports, then the next; so that what is alike is together.  Alone, or as the difference to
 * another one.
 *
 * Times of ports are multiples of SAMPLE_COLUMNS_NS.
 */
#pragma once

#include "fabric/model/traffic/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_COLUMNS_NS 100000

/* What a counter of traffic has counted in an interval is known to a part in so many. */
#define SAMPLE_COLUMNS_PARTS 512

/* The caller frees. */
uint8_t *sample_columns_encode(size_t *len, const struct sample *s);

struct columns_code {
	const uint8_t *byte;
	size_t len;
};

/* The same, of which the caller frees the bytes, with fewer digits: s without those of its traffic
 * since before (byte NULL: not known) that are below a part; what is left of it as the difference
 * to base, if there is one (whole itself, else byte NULL).  None is believed: NULL where one is not
 * of columns, not whole or of other ports. */
uint8_t *sample_columns_rounded(size_t *len, struct columns_code s, struct columns_code before,
				struct columns_code base);
/* Can the bytes be anything else than columns? */
bool sample_columns_are(const uint8_t *code, size_t len);
bool sample_columns_need_base(const uint8_t *code, size_t len);
/* base: of which they are the difference.  NULL: damaged. */
struct sample *sample_columns_decode(const struct fabric *f, const struct sample *base,
				     const uint8_t *code, size_t len);
