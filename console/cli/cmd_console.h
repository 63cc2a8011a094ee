/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_console: ibroute-top without a subcommand: the live console, batch output, or the service of
 * automatic mode, as its options say. */
#ifndef CONSOLE_CLI_CMD_CONSOLE_H
#define CONSOLE_CLI_CMD_CONSOLE_H

/* help: as help_filter of argp.  Returns the exit code. */
int cmd_console(int argc, char **argv, char *(*help)(int key, const char *text, void *input));

#endif
