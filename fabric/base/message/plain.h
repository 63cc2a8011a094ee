/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain: text that others wrote, fit to be printed on a terminal and put into JSON.
 *
 * A NodeDescription is whatever the root of some node typed, and a message quotes the line of a
 * file that may be anything: neither may move the cursor of who reads it.
 *
 * Plain is UTF-8 (RFC 3629) without control characters (C0, DEL, C1) and without the invisible
 * ones that turn the direction of writing or part words.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* The next code point of text, 0 at the end; what is not plain comes as '?'. */
uint32_t plain_next(const char **text);

/* In place and of the same length: each byte of what is not plain becomes '?', other than the
 * characters in keep.  Returns text. */
char *plain_text(char *text, const char *keep);

/* vsnprintf() into buf, with line feeds and tabs, otherwise plain; what is too long ends with a
 * whole code point.  Returns buf. */
char *plain_vformat(char *buf, size_t size, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
