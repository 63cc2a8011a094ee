/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands: the subcommands.  Each takes its own argv (argv[0] is "ibroute-top NAME") and
 * returns the exit code. */
#pragma once

#include <stdio.h>

typedef int subcommand_fn(int argc, char **argv);

struct subcommand {
	const char *name;
	const char *summary;
	subcommand_fn *run;
};

/* Ended by a NULL name. */
extern const struct subcommand commands[];

void commands_print(FILE *out);
/* The program without a subcommand. */
int commands_console(int argc, char **argv);
/* That program itself: the live console, batch output, or the service of the automatic mode, as its
 * options say.  help: as help_filter of argp. */
int cmd_console(int argc, char **argv, char *(*help)(int key, const char *text, void *input));
/* The manual page and the completion of shells, of the console and of all, ended by a NULL name. */
int cmd_manual(int argc, char **argv, subcommand_fn *console, const struct subcommand *all);
int cmd_completion(int argc, char **argv, subcommand_fn *console, const struct subcommand *all);

int cmd_topo(int argc, char **argv);
int cmd_topology(int argc, char **argv);
int cmd_route(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_deadlock(int argc, char **argv);
int cmd_failures(int argc, char **argv);
int cmd_campaign(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_weak(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_rollback(int argc, char **argv);
int cmd_confirm(int argc, char **argv);
int cmd_extend(int argc, char **argv);
int cmd_override(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_note(int argc, char **argv);
int cmd_paths(int argc, char **argv);
int cmd_dump_lfts(int argc, char **argv);
int cmd_sm(int argc, char **argv);
int cmd_baseline(int argc, char **argv);
int cmd_collect(int argc, char **argv);
int cmd_agent(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_tour(int argc, char **argv);
int cmd_config(int argc, char **argv);
