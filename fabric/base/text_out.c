/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text_out.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUF_BYTES (1u << 16)

struct text_out {
	FILE *f;
	int error;
	size_t n;
	char buf[BUF_BYTES];
};

struct text_out *text_out_new(FILE *f)
{
	struct text_out *o = xcalloc(1, sizeof(*o));

	o->f = f;
	return o;
}

static void text_out_flush(struct text_out *o)
{
	if (!o->error && o->n && fwrite(o->buf, 1, o->n, o->f) != o->n)
		o->error = errno ? errno : EIO;
	o->n = 0;
}

void text_out_bytes(struct text_out *o, const char *s, size_t len)
{
	while (len > BUF_BYTES - o->n) {
		size_t part = BUF_BYTES - o->n;

		memcpy(o->buf + o->n, s, part);
		o->n += part;
		s += part;
		len -= part;
		text_out_flush(o);
	}
	memcpy(o->buf + o->n, s, len);
	o->n += len;
}

void text_out_str(struct text_out *o, const char *s)
{
	text_out_bytes(o, s, strlen(s));
}

static void text_out_put_hex(struct text_out *o, uint64_t v, unsigned width, const char *digits)
{
	char tmp[16];
	unsigned n = 0;

	do {
		tmp[15 - n++] = digits[v & 15];
		v >>= 4;
	} while (n < 16 && (v || n < width));
	text_out_bytes(o, tmp + 16 - n, n);
}

void text_out_hex(struct text_out *o, uint64_t v, unsigned width)
{
	text_out_put_hex(o, v, width, "0123456789abcdef");
}

void text_out_HEX(struct text_out *o, uint64_t v, unsigned width)
{
	text_out_put_hex(o, v, width, "0123456789ABCDEF");
}

void text_out_dec(struct text_out *o, uint64_t v, unsigned width)
{
	char tmp[20];
	unsigned n = 0;

	do {
		tmp[19 - n++] = (char)('0' + v % 10);
		v /= 10;
	} while (n < 20 && (v || n < width));
	text_out_bytes(o, tmp + 20 - n, n);
}

int text_out_end(struct text_out *o, const char *what, struct err *err)
{
	int error;

	text_out_flush(o);
	if (!o->error && fflush(o->f))
		o->error = errno ? errno : EIO;
	error = o->error;
	free(o);
	if (!error)
		return 0;
	return err_set(err, -error, "%s could not be written: %s", what, strerror(error));
}
