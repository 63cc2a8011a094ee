/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_pack: bytes of a row, compressed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* With a checksum: 0, or -ENOMEM.  The caller frees. */
int history_pack(uint8_t **out, size_t *len, const uint8_t *data, size_t n);
/* What a reader of many has; of one thread. */
struct history_unpacker;
struct history_unpacker *history_unpacker_new(void);
void history_unpacker_free(struct history_unpacker *u); /* NULL is fine */
/* Of this or of format 1 (zlib), into n bytes that it must have; -EIO: damaged. */
int history_unpack(struct history_unpacker *u, uint8_t *out, size_t n, const uint8_t *packed,
		   size_t len);
