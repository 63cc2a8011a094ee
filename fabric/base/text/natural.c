/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/natural.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool natural_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t natural_digits(const char *s)
{
	size_t n = 0;

	while (natural_is_digit(s[n]))
		n++;
	return n;
}

int natural_cmp(const char *a, const char *b)
{
	while (*a && *b) {
		if (natural_is_digit(*a) && natural_is_digit(*b)) {
			size_t la, lb;
			int d;

			while (*a == '0')
				a++;
			while (*b == '0')
				b++;
			la = natural_digits(a);
			lb = natural_digits(b);
			if (la != lb)
				return la < lb ? -1 : 1;
			d = memcmp(a, b, la);
			if (d)
				return d;
			a += la;
			b += lb;
			continue;
		}
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		a++;
		b++;
	}
	return (*a != '\0') - (*b != '\0');
}
