/* SPDX-License-Identifier: GPL-2.0-or-later */
/* little_endian: numbers in files and messages, lowest byte first, at any address. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The lowest bytes of v, at most 8. */
static inline void le_put(uint8_t *p, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t le_get(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static inline void le_put32(uint8_t *p, uint32_t v)
{
	le_put(p, v, 4);
}

static inline void le_put64(uint8_t *p, uint64_t v)
{
	le_put(p, v, 8);
}

static inline uint32_t le_get32(const uint8_t *p)
{
	return (uint32_t)le_get(p, 4);
}

static inline uint64_t le_get64(const uint8_t *p)
{
	return le_get(p, 8);
}
