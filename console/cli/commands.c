/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

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
	{ "topo", "generate a fabric from a one-line specification", cmd_topo },
	{ "route", "compute a routing and write it to files", cmd_route },
	{ "check", "verify tables from any source: reachability, loops, deadlocks", cmd_check },
	{ "deadlock", "simulate packets over tables until they deadlock", cmd_deadlock },
	{ "compare", "compare several engines on one fabric", cmd_compare },
	{ "replay", "show what routings would have done for the jobs of a history", cmd_replay },
	{ "weak", "list what failures of cables and switches would cost", cmd_weak },
	{ "failures", "show what engines do as a fabric wears out", cmd_failures },
	{ "campaign", "the same in cells, by many processes and machines", cmd_campaign },
	{ "plan", "compute a routing for the fabric and save it as a plan", cmd_plan },
	{ "show", "show a plan: metrics, cost, every entry that changes", cmd_show },
	{ "apply", "write a plan to the switches; roll back unless confirmed", cmd_apply },
	{ "status", "list updates, or show one: phase, deadline, watch conditions", cmd_status },
	{ "attach", "watch a running update; confirm it or roll it back", cmd_attach },
	{ "confirm", "confirm an update that waits for it", cmd_confirm },
	{ "extend", "move the deadline of an update", cmd_extend },
	{ "override", "make an update ignore watch conditions", cmd_override },
	{ "rollback", "roll back an unfinished update from its journal", cmd_rollback },
	{ "note", "add a note about an update to the record", cmd_note },
	{ "paths", "trace a path, with the installed tables and with a plan", cmd_paths },
	{ "dump-lfts", "write the installed tables, or others, as files for OpenSM",
	  cmd_dump_lfts },
	{ "topology", "write SLURM's topology file for the fabric, or compare one", cmd_topology },
	{ "sm", "show the master SM and its routing; control the OpenSM plugin", cmd_sm },
	{ "baseline", "show or set what the fabric is expected to be, for --check", cmd_baseline },
	{ "collect", "watch a fabric for all who want to see it, and keep the past", cmd_collect },
	{ "agent", "run on a compute node: drain and move its jobs during updates", cmd_agent },
	{ "tour", "learn the console in three minutes, on a simulated fabric", cmd_tour },
	{ "audit", "verify, list, replay and export session records", cmd_audit },
	{ "config", "show or check the configuration files", cmd_config },
	{ "manual", "print the manual page", commands_manual },
	{ "completion", "print completion for bash or zsh", commands_completion },
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
	fprintf(out, "Commands, each with its own --help:\n");
	commands_print(out);
	fclose(out);
	return list;
}

int commands_console(int argc, char **argv)
{
	return cmd_console(argc, argv, commands_help);
}
