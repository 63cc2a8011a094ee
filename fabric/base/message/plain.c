/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/message/plain.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Length of the sequence that begins with that byte, 0 when none does. */
static size_t plain_length(unsigned char b)
{
	if (b < 0x80)
		return 1;
	if (b >= 0xc2 && b < 0xe0)
		return 2;
	if (b >= 0xe0 && b < 0xf0)
		return 3;
	return b >= 0xf0 && b < 0xf5 ? 4 : 0;
}

static bool plain_ok(uint32_t ch, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (ch < least[n] || ch > 0x10ffff || (ch >= 0xd800 && ch < 0xe000))
		return false;
	/* controls, and the marks that turn the direction of writing */
	return ch >= 0x20 && !(ch >= 0x7f && ch < 0xa0) && !(ch >= 0x200b && ch < 0x2010) &&
	       !(ch >= 0x2028 && ch < 0x202f) && !(ch >= 0x2060 && ch < 0x2070) && ch != 0xfeff;
}

uint32_t plain_next(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	size_t n = plain_length(*p);
	uint32_t ch;

	if (!*p)
		return 0;
	if (!n) {
		(*text)++;
		return '?';
	}
	ch = n == 1 ? *p : *p & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			*text += i;
			return '?';
		}
		ch = ch << 6 | (p[i] & 0x3f);
	}
	*text += n;
	return plain_ok(ch, n) ? ch : '?';
}

char *plain_text(char *text, const char *keep)
{
	for (char *p = text; *p;) {
		const char *next = p;

		if (strchr(keep, *p))
			next++;
		else if (plain_next(&next) == '?')
			memset(p, '?', (size_t)(next - p));
		p += next - p;
	}
	return text;
}

char *plain_vformat(char *buf, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(buf, size, fmt, ap);
	size_t end = size - 1, at = end;

	if (n > 0 && (size_t)n > end) { /* not a part of a code point */
		while (at && end - at < 3 && (buf[at - 1] & 0xc0) == 0x80)
			at--;
		if (at && plain_length((unsigned char)buf[at - 1]) > end - at + 1)
			buf[at - 1] = '\0';
	}
	return plain_text(buf, "\n\t");
}
