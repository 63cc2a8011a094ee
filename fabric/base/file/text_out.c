/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/file/text_out.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BUF_BYTES (1u << 16)

struct text_out {
	FILE *f;
	int rc;
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
	if (!o->rc && o->n && fwrite(o->buf, 1, o->n, o->f) != o->n)
		o->rc = errno ? -errno : -EIO;
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

void text_out_hex(struct text_out *o, uint64_t v, unsigned width)
{
	char tmp[16];
	unsigned n = 0;

	do {
		tmp[15 - n++] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (n < 16 && (v || n < width));
	text_out_bytes(o, tmp + 16 - n, n);
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

void text_out_fmt(struct text_out *o, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0) {
		o->rc = o->rc ? o->rc : -ENOMEM;
	} else {
		text_out_str(o, s);
		free(s);
	}
	va_end(ap);
}

bool text_out_step(struct text_out *o, uint32_t done, uint32_t total)
{
	if (!o->rc)
		o->rc = file_progress_write(done, total, NULL);
	return !o->rc;
}

int text_out_end(struct text_out *o, const char *what, struct err *err)
{
	int rc;

	text_out_flush(o);
	if (!o->rc && fflush(o->f))
		o->rc = errno ? -errno : -EIO;
	rc = o->rc;
	free(o);
	if (rc == -ECANCELED)
		return err_set(err, rc, "cancelled");
	return rc ? err_set(err, rc, "%s could not be written: %s", what, strerror(-rc)) : 0;
}
