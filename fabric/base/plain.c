/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/plain.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the sequence that begins there (RFC 3629), 0: none does, or a control character. */
static size_t plain_sequence(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0x20, 0xa0, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : 4;
	uint32_t ch = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	if (s[0] >= 0x80 && (s[0] < 0xc2 || s[0] > 0xf4))
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		ch = ch << 6 | (s[i] & 0x3fu);
	}
	if (ch < least[n] || ch == 0x7f || (ch >= 0xd800 && ch < 0xe000) || ch > 0x10ffff)
		return 0;
	return n;
}

char *plain_text(char *text, const char *keep)
{
	for (char *p = text; *p;) {
		size_t n = strchr(keep, *p) ? 1 : plain_sequence((const unsigned char *)p);

		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
	return text;
}
