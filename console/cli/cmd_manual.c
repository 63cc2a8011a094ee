/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * manual: the page ibroute-top(1).  What people wrote is in console/manual; options, commands,
 * engines and keys are put in from the tables that the program itself works by.
 */
#include "console/cli/commands.h"

#include "console/app/terminal/key_choice.h"
#include "console/app/terminal/keymap.h"
#include "console/app/terminal/keymap_scripts.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/io/glossary_page.h"
#include "console/io/output_file.h"
#include "console/io/roff.h"
#include "engines/engine.h"
#include "fabric/version.h"
#include "views/data/state/glossary.h"
#include "views/prompt/command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

__asm__(".pushsection .rodata\n"
	".global manual_page_text\n"
	"manual_page_text:\n"
	".incbin \"console/manual/ibroute-top.1.in\"\n"
	".byte 0\n"
	".popsection\n");
extern const char manual_page_text[];

static void cmd_manual_option_put(const struct cmdline_row *row, void *arg)
{
	FILE *out = arg;
	const char *comma = "";

	if (row->heading) {
		fputs(".PP\n", out);
		roff_text(out, row->heading);
		return;
	}
	fputs(".TP\n", out);
	for (int i = 0; i < row->nletters; i++, comma = ", ") {
		fprintf(out, "%s\\fB\\-", comma);
		roff_chars(out, &row->letter[i], 1);
		fputs("\\fR", out);
	}
	for (int i = 0; i < row->nnames; i++, comma = ", ") {
		fprintf(out, "%s\\fB\\-\\-", comma);
		roff_chars(out, row->name[i], strlen(row->name[i]));
		fputs("\\fR", out);
	}
	if (row->arg) {
		fprintf(out, "%s=\\fI", row->arg_optional ? "[" : "");
		roff_chars(out, row->arg, strlen(row->arg));
		fprintf(out, "\\fR%s", row->arg_optional ? "]" : "");
	}
	fputc('\n', out);
	roff_text(out, row->doc ? row->doc : "");
}

static void cmd_manual_options_put(const struct argp *argp, void *arg)
{
	cmdline_each(argp, cmd_manual_option_put, arg);
}

static void cmd_manual_synopsis_put(FILE *out, const char *name, const char *args)
{
	do {
		size_t n = strcspn(args, "\n");

		fputs(".br\n\\fBibroute\\-top ", out);
		roff_chars(out, name, strlen(name));
		fputs("\\fR [\\fIOPTION\\fR...] \\fI", out);
		roff_chars(out, args, n);
		fputs("\\fR\n", out);
		args += n + (args[n] == '\n');
	} while (*args);
}

/* arg_doc of argp: what comes before and after the options. */
static void cmd_manual_command_put(const struct argp *argp, void *arg)
{
	const struct subcommand *c = arg;
	const char *doc = argp->doc ? argp->doc : "", *after = strchr(doc, '\v');
	char *before = after ? strndup(doc, (size_t)(after - doc)) : strdup(doc);
	char *extra = argp->help_filter ? argp->help_filter(ARGP_KEY_HELP_EXTRA, NULL, NULL) : NULL;

	cmd_manual_synopsis_put(stdout, c->name, argp->args_doc ? argp->args_doc : "");
	fputs(".PP\n", stdout);
	if (before)
		roff_text(stdout, before);
	cmd_manual_options_put(argp, stdout);
	if (after && after[1]) {
		fputs(".PP\n", stdout);
		roff_text(stdout, after + 1);
	}
	if (extra && strncmp(extra, "Engines:", 8) != 0)
		roff_verbatim(stdout, extra);
	free(extra);
	free(before);
}

static int cmd_manual_commands_put(FILE *out, const struct subcommand *all)
{
	for (const struct subcommand *c = all; c->name; c++) {
		int rc;

		fprintf(out, ".SS \"%s: ", c->name);
		roff_chars(out, c->summary, strlen(c->summary));
		fputs("\"\n", out);
		rc = cmdline_describe(c->name, c->run, cmd_manual_command_put,
				      (void *)(uintptr_t)c);
		if (rc)
			return rc;
	}
	return 0;
}

static void cmd_manual_engines_put(FILE *out)
{
	const struct engine *const *all;
	size_t n;

	all = engine_all(&n);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, ".TP\n\\fB%s\\fR\n", all[i]->name);
		roff_text(out, all[i]->summary);
	}
}

static void cmd_manual_keys_put(FILE *out, enum view_id view, const char *title)
{
	size_t n;
	const struct binding *b = keymap_all(&n);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!b[i].help || !b[i].shown)
			continue;
		if (view == VIEW_COUNT ? b[i].views != 0 : !(b[i].views & VIEW_BIT(view)))
			continue;
		if (view != VIEW_COUNT && b[i].req >= REQ_UP && b[i].req <= REQ_BOTTOM)
			continue;
		if (!any)
			fprintf(out, ".SS \"%s\"\n", title);
		any = true;
		fputs(".TP\n\\fB", out);
		roff_chars(out, b[i].shown, strlen(b[i].shown));
		fputs(b[i].rw ? "\\fR (with \\-\\-rw)\n" : "\\fR\n", out);
		roff_text(out, b[i].help);
	}
}

static void cmd_manual_keymap_put(FILE *out)
{
	static const struct {
		enum view_id view;
		const char *title;
	} order[] = {
		{ VIEW_OVERVIEW, "1 Overview" },
		{ VIEW_HEATMAP, "2 Heatmap" },
		{ VIEW_LINKS, "3 Links" },
		{ VIEW_SWITCHES, "4 Switches" },
		{ VIEW_JOBS, "5 Jobs" },
		{ VIEW_PREVIEW, "6 Engines and preview" },
		{ VIEW_APPLY, "7 Apply" },
		{ VIEW_EVENTS, "8 Events" },
		{ VIEW_AUDIT, "9 Sessions and audit" },
		{ VIEW_PATHS, "0 Paths" },
		{ VIEW_TOPOLOGY, "t Topology" },
		{ VIEW_WEAK, "W What failures would cost" },
		{ VIEW_CAMPAIGN, "K Campaigns" },
		{ VIEW_HELP, "? Help" },
	};

	cmd_manual_keys_put(out, VIEW_COUNT, "In every view");
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		cmd_manual_keys_put(out, order[i].view, order[i].title);
}

static void cmd_manual_settings_put(FILE *out)
{
	const char *name, *option, *default_value, *help;

	for (size_t i = 0; (name = config_setting(i, &option, &default_value, &help)); i++) {
		if (!strncmp(name, KEY_SETTING, sizeof(KEY_SETTING) - 1))
			continue; /* @actions@ */
		fputs(".TP\n\\fB", out);
		roff_chars(out, name, strlen(name));
		fputs("\\fR", out);
		if (default_value[0]) {
			fputs(" = ", out);
			roff_chars(out, default_value, strlen(default_value));
		}
		fputs(option ? "\nas option " : "\n", out);
		roff_text(out, option ? option : help);
	}
}

/* What keys can be chosen for, and what they are without that. */
static void cmd_manual_actions_put(FILE *out)
{
	size_t n;
	const struct key_action *a = key_action_all(&n);

	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\\fB%s\\fR", a[i].name);
		if (a[i].keys[0]) {
			fputs(" (", out);
			roff_chars(out, a[i].keys, strlen(a[i].keys));
			fputc(')', out);
		}
		fputs(i + 1 < n ? ",\n" : ".\n", out);
	}
}

/* What can be typed behind ":". */
static void cmd_manual_prompt_put(FILE *out)
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

static void cmd_manual_glossary_put(FILE *out)
{
	const struct glossary *g = glossary_page();

	for (size_t i = 0; i < g->n; i++) {
		const char *head = g->entry[i].term ? g->entry[i].term : g->entry[i].text;

		fputs(g->entry[i].term ? ".TP\n.B " : ".SS ", out);
		roff_chars(out, head, strlen(head));
		fputc('\n', out);
		if (g->entry[i].term)
			roff_text(out, g->entry[i].text);
	}
}

static int cmd_manual_insert(FILE *out, const char *what, size_t n, subcommand_fn *console,
			     const struct subcommand *all)
{
#define IS(word) (n == sizeof(word) - 1 && !memcmp(what, word, n))
	if (IS("@options@"))
		return cmdline_describe("ibroute-top", console, cmd_manual_options_put, out);
	if (IS("@commands@"))
		return cmd_manual_commands_put(out, all);
	if (IS("@engines@"))
		return cmd_manual_engines_put(out), 0;
	if (IS("@settings@"))
		return cmd_manual_settings_put(out), 0;
	if (IS("@actions@"))
		return cmd_manual_actions_put(out), 0;
	if (IS("@prompt@"))
		return cmd_manual_prompt_put(out), 0;
	if (IS("@glossary@"))
		return cmd_manual_glossary_put(out), 0;
	if (IS("@keys@"))
		return cmd_manual_keymap_put(out), 0;
	if (IS("@scripts@"))
		return keymap_scripts_put(out), 0;
	return -EINVAL;
#undef IS
}

static int cmd_manual_page_put(FILE *out, subcommand_fn *console, const struct subcommand *all)
{
	fputs(".TH IBROUTE\\-TOP 1 \"\" \"ibroute\\-top " IBROUTE_VERSION "\" \"User Commands\"\n",
	      out);
	for (const char *line = manual_page_text; *line;) {
		size_t n = strcspn(line, "\n");
		int rc = 0;

		if (*line == '@')
			rc = cmd_manual_insert(out, line, n, console, all);
		else
			fprintf(out, "%.*s\n", (int)n, line);
		if (rc)
			return rc;
		line += n + (line[n] == '\n');
	}
	return 0;
}

static error_t cmd_manual_take(int key, char *text, struct argp_state *s)
{
	(void)text;
	(void)s;
	return key == ARGP_KEY_ARG ? EINVAL : ARGP_ERR_UNKNOWN;
}

int cmd_manual(int argc, char **argv, subcommand_fn *console, const struct subcommand *all)
{
	static const struct argp argp = {
		.parser = cmd_manual_take,
		.doc = "Prints the manual page of this version of the program: ibroute-top manual "
		       "| man -l -",
	};
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, NULL);
	rc = cmd_manual_page_put(stdout, console, all);
	if (!rc)
		rc = output_file_flush_stdout(&err);
	else
		err_set(&err, rc, "the page cannot be generated: %s", strerror(-rc));
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}
