/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_manual: the manual page of the console and of the subcommands. */
#ifndef CONSOLE_CLI_CMD_MANUAL_H
#define CONSOLE_CLI_CMD_MANUAL_H

#include "console/cli/commands.h"

/* all: ended by a NULL name. */
int cmd_manual(int argc, char **argv, subcommand_fn *console, const struct subcommand *all);

#endif
