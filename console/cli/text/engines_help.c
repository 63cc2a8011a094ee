/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/engines_help.h"

#include "engines/engine.h"

#include <argp.h>
#include <stdio.h>

char *engines_help(int key, const char *text, void *input)
{
	const struct engine *const *all;
	char *out = NULL;
	size_t n, len;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	f = open_memstream(&out, &len);
	if (!f)
		return NULL;
	all = engine_all(&n);
	fprintf(f, "Engines:\n");
	for (size_t i = 0; i < n; i++)
		fprintf(f, "  %-10s %s\n", all[i]->name, all[i]->summary);
	fclose(f);
	return out;
}
