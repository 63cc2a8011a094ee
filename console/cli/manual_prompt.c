/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/manual_prompt.h"

#include "console/lib/roff.h"
#include "views/shell/command.h"

#include <string.h>

void manual_prompt_put(FILE *out)
{
	size_t n;
	const struct command *all = command_all(&n);

	for (size_t i = 0; i < n; i++) {
		fprintf(out, ".TP\n\\fB%s\\fR%s\\fI", all[i].name, all[i].args[0] ? " " : "");
		roff_chars(out, all[i].args, strlen(all[i].args));
		fputs("\\fR\n", out);
		roff_text(out, all[i].help);
	}
}
