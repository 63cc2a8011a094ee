/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/file/bytes_io.h"

#include "fabric/base/message/plain.h"

#include <string.h>

#define NO_TEXT UINT32_MAX

void bytes_put(bytes_out *out, const void *data, size_t n)
{
	if (!n) /* data of an empty array is NULL */
		return;
	vec_reserve(out, out->n + n);
	memcpy(out->v + out->n, data, n);
	out->n += n;
}

void bytes_put_text(bytes_out *out, const char *text)
{
	uint32_t n = text ? (uint32_t)strlen(text) : NO_TEXT;

	bytes_put(out, &n, sizeof(n));
	if (text)
		bytes_put(out, text, n);
}

void bytes_take(struct bytes_in *in, void *out, size_t n)
{
	in->bad |= n > in->left;
	if (!n)
		return;
	if (in->bad) {
		memset(out, 0, n);
		return;
	}
	memcpy(out, in->at, n);
	in->at += n;
	in->left -= n;
}

char *bytes_take_text(struct bytes_in *in)
{
	uint32_t n;
	char *text;

	bytes_take(in, &n, sizeof(n));
	if (n == NO_TEXT && !in->bad)
		return NULL;
	in->bad |= n > in->left;
	n = in->bad ? 0 : n;
	text = xcalloc((size_t)n + 1, 1);
	bytes_take(in, text, n);
	return plain_text(text, "\t");
}

bool bytes_at_end(const struct bytes_in *in)
{
	return !in->bad && !in->left;
}
