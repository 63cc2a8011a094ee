/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exits: what the exit codes mean, the same for all subcommands. */
#ifndef CONSOLE_LIB_EXITS_H
#define CONSOLE_LIB_EXITS_H

enum {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1,	/* tables with faults, an engine that refused, output not written */
	EXIT_CHANGES = 2,	/* plan --detailed-exitcode: the plan changes something */
	EXIT_PARTIAL = 3,	/* some ports or the batch system did not answer */
	EXIT_REFUSED = 4,	/* stale plan, or another reason not to begin */
	EXIT_ROLLED_BACK = 5,	/* failed, and the old tables are back, verified */
	EXIT_INCOMPLETE = 6,	/* some switches do not have their old tables back */
	EXIT_NOT_CONFIRMED = 7, /* nobody confirmed in time; rolled back, verified */
	EXIT_NO_RECORD = 8,	/* the session cannot be recorded, so it was not armed */
	EXIT_SUPERSEDED = 9,	/* neither the old nor the new tables are there: somebody else's */
	EXIT_FOREIGN = 10,	/* somebody else wrote during the update; rolled back, verified */
	EXIT_BAD_USAGE = 64,	/* options that make no sense */
	EXIT_UNREADABLE = 255	/* the fabric, or another input, could not be read */
};

#endif
