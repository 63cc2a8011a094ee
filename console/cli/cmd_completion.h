/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_completion: what lets a shell complete the options of the console and the subcommands. */
#ifndef CONSOLE_CLI_CMD_COMPLETION_H
#define CONSOLE_CLI_CMD_COMPLETION_H

#include "console/cli/commands.h"

/* all: ended by a NULL name. */
int cmd_completion(int argc, char **argv, subcommand_fn *console, const struct subcommand *all);

#endif
