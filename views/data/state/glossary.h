/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glossary: the definitions of console/manual/glossary.md, for the help and the manual page. */
#pragma once

#include <stddef.h>

struct glossary_entry {
	const char *term; /* NULL: a heading, in text */
	const char *text; /* one line, without markup */
};

struct glossary {
	struct glossary_entry *entry;
	size_t n;
};

/* Reads the text of the page: "## HEADING", and "- **TERM**: DEFINITION" with lines of continuation
 * that are indented.  Ends before the table of words that are not used.  All strings are the
 * glossary's own; glossary_free() it. */
void glossary_parse(struct glossary *out, const char *text);
void glossary_free(struct glossary *g);
