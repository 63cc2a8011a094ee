/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/cli/cmd_completion.h"
#include "console/cli/cmd_console.h"
#include "console/cli/cmd_manual.h"

#include <argp.h>
#include <stdint.h>

static int commands_manual(int argc, char **argv)
{
	return cmd_manual(argc, argv, commands_console, commands);
}

static int commands_completion(int argc, char **argv)
{
	return cmd_completion(argc, argv, commands_console, commands);
}

const struct subcommand commands[] = {
	{ "topo", "make a fabric from a line of text", cmd_topo },
	{ "route", "compute routes and write them as files", cmd_route },
	{ "check", "judge tables, ours or others'", cmd_check },
	{ "deadlock", "drive packets over tables until they wait for each other", cmd_deadlock },
	{ "compare", "several engines on one fabric, beside each other", cmd_compare },
	{ "plan", "compute routes for the fabric and keep the difference as a plan", cmd_plan },
	{ "show", "what is in a plan: figures, cost, every entry that changes", cmd_show },
	{ "apply", "write a plan into the switches, keep it when confirmed", cmd_apply },
	{ "status", "updates made or under way: phase, deadline, what is watched", cmd_status },
	{ "attach", "watch an update that another process carries out, decide on it", cmd_attach },
	{ "confirm", "keep an update that waits", cmd_confirm },
	{ "extend", "give it more time before it rolls back", cmd_extend },
	{ "override", "take a condition off its watch", cmd_override },
	{ "rollback", "undo an unfinished update from its journal", cmd_rollback },
	{ "note", "a sentence about an update, into the record", cmd_note },
	{ "paths", "the way from one end to another, now and after a plan", cmd_paths },
	{ "dump-lfts", "the installed tables, or others, as files for OpenSM", cmd_dump_lfts },
	{ "sm", "who manages the subnet, what it routes by, and orders for it", cmd_sm },
	{ "agent", "a node's side of an update: drain, migrate, return, answer", cmd_agent },
	{ "audit", "verify or list the records of sessions", cmd_audit },
	{ "config", "what the configuration files say, and whether they are right", cmd_config },
	{ "manual", "the manual page, made from this very program's tables", commands_manual },
	{ "completion", "what lets bash or zsh complete commands and options",
	  commands_completion },
	{ NULL, NULL, NULL },
};

void commands_print(FILE *out)
{
	for (const struct subcommand *c = commands; c->name; c++)
		fprintf(out, "  ibroute-top %-10s %s\n", c->name, c->summary);
}

/* The subcommands at the end of --help. */
static char *commands_help(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t len;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	out = open_memstream(&list, &len);
	if (!out)
		return NULL;
	fprintf(out, "Subcommands, each with a --help of its own:\n");
	commands_print(out);
	fclose(out);
	return list;
}

int commands_console(int argc, char **argv)
{
	return cmd_console(argc, argv, commands_help);
}
