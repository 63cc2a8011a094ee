/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exits: what the exit codes mean, the same for all commands. */
#pragma once

enum {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1,	/* faulty tables, an engine that refused, output not written */
	EXIT_CHANGES = 2,	/* plan --detailed-exitcode: the plan changes something */
	EXIT_PARTIAL = 3,	/* some ports or the batch system did not respond */
	EXIT_REFUSED = 4,	/* stale plan, or another reason not to start */
	EXIT_ROLLED_BACK = 5,	/* failed; rolled back, verified */
	EXIT_INCOMPLETE = 6,	/* rollback incomplete: some switches lack their previous tables */
	EXIT_NOT_CONFIRMED = 7, /* not confirmed in time; rolled back, verified */
	EXIT_NO_RECORD = 8,	/* the session cannot be recorded, so it was not armed */
	EXIT_SUPERSEDED = 9,	/* another writer's tables are installed */
	EXIT_FOREIGN = 10,	/* another writer during the update; rolled back, verified */
	EXIT_FABRIC_CHANGED = 11, /* during the update; the subnet manager routes, verified */
	EXIT_CUT = 12,		/* the end of a record is missing, and nothing else was found */
	EXIT_BAD_USAGE = 64,	/* bad options */
	EXIT_UNREADABLE = 255	/* the fabric, or another input, could not be read */
};
