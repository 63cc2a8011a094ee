/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/html.h"

#include <stddef.h>

const char *html_escape(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}
