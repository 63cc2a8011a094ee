/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/roff.h"

#include <stdbool.h>
#include <string.h>

void roff_chars(FILE *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		switch (text[i]) {
		case '\\':
			fputs("\\e", out);
			break;
		case '-':
			fputs("\\-", out);
			break;
		case '`':
			fputs("\\(ga", out);
			break;
		case '\'':
			fputs("\\(aq", out);
			break;
		case '^':
			fputs("\\(ha", out);
			break;
		case '~':
			fputs("\\(ti", out);
			break;
		default:
			fputc(text[i], out);
		}
}

static void roff_line_put(FILE *out, const char *line, size_t n)
{
	if (n && *line == '.')
		fputs("\\&", out);
	roff_chars(out, line, n);
	fputc('\n', out);
}

void roff_text(FILE *out, const char *text)
{
	bool gap = false, first = true;

	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n) {
			if (!first)
				fputs(gap ? ".PP\n" : ".br\n", out);
			roff_line_put(out, text, n);
			first = false;
		}
		gap = !n;
		text += n + (text[n] == '\n');
	}
}

void roff_verbatim(FILE *out, const char *text)
{
	fputs(".PP\n.nf\n", out);
	while (*text) {
		size_t n = strcspn(text, "\n");

		roff_line_put(out, text, n);
		text += n + (text[n] == '\n');
	}
	fputs(".fi\n", out);
}
