/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables.ibr.  First byte, modulo 3: 0 the bytes behind it as they are; 1 length and checksum put
 * right; 2 a header and a body that is not yet packed: packed, then as 1.
 */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/memory/mem.h"
#include "fabric/format/native/tables_ibr.h"
#include "tests/fuzz/tiny.h"

#include <string.h>
#include <zlib.h>

#define HEADER	 208
#define AT_BYTES 16

static void put_u64(uint8_t *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static void seal(uint8_t *data, size_t len)
{
	struct digest d;

	if (len < HEADER + DIGEST_BYTES)
		return;
	put_u64(data + AT_BYTES, len);
	digest_of(&d, data, len - DIGEST_BYTES);
	memcpy(data + len - DIGEST_BYTES, d.b, DIGEST_BYTES);
}

/* With a window of 512 bytes: the usual 256 KB of memory took longer than all the rest. */
static size_t pack(uint8_t *out, size_t room, const uint8_t *data, size_t size)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data,
		       .avail_in = (uInt)size,
		       .next_out = out,
		       .avail_out = (uInt)room };

	FUZZ_NEED(deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 9, 1, Z_FIXED) == Z_OK);
	FUZZ_NEED(deflate(&z, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static uint8_t *make(size_t *len, unsigned form, const uint8_t *data, size_t size)
{
	size_t room = compressBound(size) + 256;
	uint8_t *out;

	*len = size;
	if (form != 2 || size < HEADER) {
		out = fuzz_copy(data, size);
	} else {
		out = xcalloc(HEADER + room + DIGEST_BYTES, 1);
		memcpy(out, data, HEADER);
		room = pack(out + HEADER, room, data + HEADER, size - HEADER);
		*len = HEADER + room + DIGEST_BYTES;
		out = xrealloc(out, *len, 1);
	}
	if (form)
		seal(out, *len);
	return out;
}

static void check(const struct tables *t)
{
	const struct fabric *f = tiny_fabric();
	struct tables *again;
	struct err err;
	uint8_t *bytes;
	size_t len;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			FUZZ_NEED(tables_path_sl(t, 0, sw, (uint16_t)lid) < FAB_SLS);
	tables_ibr_encode(&bytes, &len, t);
	FUZZ_NEED(!tables_ibr_decode(&again, bytes, len, f, "again", &err));
	FUZZ_NEED(tables_row(again, 0)[1] == tables_row(t, 0)[1] && again->vls == t->vls);
	tables_put(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tables_ibr_info info;
	struct err err = { "" };
	struct tables *t;
	uint8_t *bytes;
	size_t len;

	if (!size)
		return 0;
	bytes = make(&len, data[0] % 3, data + 1, size - 1);
	tables_ibr_peek(&info, bytes, len, "tables.ibr", &err);
	if (tables_ibr_decode(&t, bytes, len, tiny_fabric(), "tables.ibr", &err)) {
		FUZZ_NEED(err.text[0]);
	} else {
		check(t);
		tables_put(t);
	}
	free(bytes);
	return 0;
}

static void unpack(uint8_t **data, size_t *len)
{
	uLongf room = 1 << 20;
	uint8_t *out = xcalloc(HEADER + room, 1);

	memcpy(out, *data, HEADER);
	FUZZ_NEED(uncompress(out + HEADER, &room, *data + HEADER, *len - HEADER) == Z_OK);
	free(*data);
	*data = out;
	*len = HEADER + room;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	uint8_t *data;

	if (i >= 3 * TINY_TABLES)
		return false;
	tables_ibr_encode(&data, len, tiny_tables(i / 3));
	if (i % 3 == 2)
		unpack(&data, len);
	*out = xcalloc(*len + 1, 1);
	(*out)[0] = (uint8_t)(i % 3);
	memcpy(*out + 1, data, *len);
	++*len;
	free(data);
	return true;
}
