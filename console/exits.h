/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exits: what the exit codes mean, the same for all subcommands. */
#ifndef CONSOLE_EXITS_H
#define CONSOLE_EXITS_H

enum {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1,    /* tables with faults, an engine that refused, output not written */
	EXIT_NO_RECORD = 8,   /* the session cannot be recorded, so it was not armed */
	EXIT_BAD_USAGE = 64,  /* options that make no sense */
	EXIT_UNREADABLE = 255 /* the fabric, or another input, could not be read */
};

#endif
