/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/glossary.h"

#include "fabric/base/memory/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TABLE "## Words that are not used"

static bool glossary_starts(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

static void glossary_add(struct glossary *g, char *term, char *text)
{
	g->entry = xrealloc(g->entry, g->n + 1, sizeof(*g->entry));
	g->entry[g->n++] = (struct glossary_entry){ term, text };
}

/* A line of continuation goes behind the last definition. */
static void glossary_append(struct glossary *g, const char *line, size_t n)
{
	struct glossary_entry *last = &g->entry[g->n - 1];
	char *text = xasprintf("%s %.*s", last->text, (int)n, line);

	free((char *)last->text);
	last->text = text;
}

/* Markup of code and emphasis is dropped in place. */
static void glossary_strip(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++)
		if (*p != '`' && *p != '*')
			*to++ = *p;
	*to = '\0';
}

static void glossary_line(struct glossary *g, const char *line, size_t n)
{
	const char *end = NULL;

	if (glossary_starts(line, "## ")) {
		glossary_add(g, NULL, xasprintf("%.*s", (int)n - 3, line + 3));
	} else if (glossary_starts(line, "- **") && (end = strstr(line, "**: ")) &&
		   end < line + n) {
		glossary_add(g, xasprintf("%.*s", (int)(end - line) - 4, line + 4),
			     xasprintf("%.*s", (int)(line + n - end) - 4, end + 4));
	} else if (glossary_starts(line, "  ") && g->n && g->entry[g->n - 1].term) {
		size_t blanks = strspn(line, " ");

		glossary_append(g, line + blanks, n - blanks);
	}
}

void glossary_parse(struct glossary *out, const char *text)
{
	*out = (struct glossary){ .entry = NULL };
	for (const char *line = text; *line && !glossary_starts(line, TABLE);) {
		size_t n = strcspn(line, "\n");

		glossary_line(out, line, n);
		line += n + (line[n] == '\n');
	}
	for (size_t i = 0; i < out->n; i++)
		glossary_strip((char *)out->entry[i].text);
}

void glossary_free(struct glossary *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free((char *)g->entry[i].term);
		free((char *)g->entry[i].text);
	}
	free(g->entry);
	*g = (struct glossary){ .entry = NULL };
}
