/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engines_help: for argp: adds the list of engines to the end of --help. */
#ifndef CONSOLE_CLI_ENGINES_HELP_H
#define CONSOLE_CLI_ENGINES_HELP_H

char *engines_help(int key, const char *text, void *input);

#endif
