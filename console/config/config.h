/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config: settings from files, in the order in which one overrides the other:
 *
 *   /etc/infiniband-diags/ibdiag.conf	CA, Port, timeout, m_key, as for the diags
 *   /etc/ibroute-top/config
 *   $XDG_CONFIG_HOME/ibroute-top/config (default: ~/.config)
 *   --config FILE, instead of the two above
 *
 * Lines of NAME = VALUE; # or ; begins a comment.  What stands before the first section is for
 * every fabric; a section [fabric NAME] is a profile for --profile NAME.  Settings become options
 * of the command line that stand before those that were typed, so what was typed wins.
 * cmdline_parse() does that for the console and for every command that has --profile.
 * Parameters of engines are settings, too, as engines/param.h says, and keys of actions (key.NAME),
 * as console/app/terminal/key_choice.h says.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdio.h>

struct config;

/* file, profile: as --config and --fabric say, NULL: not given.  -EINVAL: a sentence with file and
 * line; -ENOENT: a profile that no file has, or a file that was named and is not there. */
int config_read(struct config **out, const char *file, const char *profile, struct err *err);
void config_free(struct config *c); /* NULL is fine */

/* Every setting with its value and where it comes from; secrets as dots. */
void config_show(const struct config *c, FILE *out);

/* The i-th setting's name, NULL behind the last: the option that it is, or NULL and what it
 * means; and what it is by default ("": none). */
const char *config_setting(size_t i, const char **option, const char **default_value,
			   const char **help);

/* From what to what the number of an option ("--Port") that is a setting may be. */
void config_range(double *least, double *most, const char *option);

/* Does the command take this option ("--Ca") from a file?  NULL: it takes all. */
typedef bool config_takes_fn(const char *option, void *arg);
/* argv with the settings between its first and its second word.  It is in use until the end. */
void config_argv(const struct config *c, config_takes_fn *takes, void *arg, int *argc,
		 char ***argv);

/* The value that argv gives an option ("--config", letter 'z'; 0: it has none), also when its name
 * is cut short, as getopt takes it; NULL: none.  Nothing else is judged. */
const char *config_asked(int argc, char **argv, const char *option, char letter);

/* Rows for the table of a command; its parser takes the keys and does nothing. */
enum { OPT_CONFIG_FILE = 'z', OPT_CONFIG_PROFILE = 0x7c00 };
#define OPTION_CONFIG(group)                                                                        \
	{ "profile",                                                                                \
	  OPT_CONFIG_PROFILE,                                                                       \
	  "NAME",                                                                                   \
	  0,                                                                                        \
	  "use the section [fabric NAME] of the configuration file",                                \
	  (group) },                                                                                \
	{                                                                                           \
		"config", OPT_CONFIG_FILE, "FILE", 0,                                               \
			"this configuration file instead of the default ones ('config show' lists " \
			"them)",                                                                    \
			(group)                                                                     \
	}

/* The i-th setting that the screen takes by ':set', NULL behind the last: the words that it may be
 * (" yes no ", NULL: any text or number), and what it is. */
const char *config_screen(size_t i, const char **words, const char **about);

/* ~/.config/ibroute-top/config, or where XDG_CONFIG_HOME has it; NULL: there is no HOME.  To be
 * freed. */
char *config_user_file(void);
