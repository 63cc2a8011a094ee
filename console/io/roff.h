/* SPDX-License-Identifier: GPL-2.0-or-later */
/* roff: text for the manual page: what man(7) would take for orders is protected. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* n bytes of text as they are, within a line. */
void roff_chars(FILE *out, const char *text, size_t n);
/* Running text: an empty line starts a paragraph, a single line break is kept. */
void roff_text(FILE *out, const char *text);
/* The same in a fixed width, line by line. */
void roff_verbatim(FILE *out, const char *text);
