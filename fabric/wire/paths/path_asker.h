/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_asker: the SLs of a list of paths from the SA's path records.
 *
 * Where a list has rows, all paths of a row from one terminal, each row is one query for a table of
 * all paths of that terminal, as long as the SA gives such tables and this port can receive them:
 * the first row tells.  What no table has is asked for path by path.
 */
#pragma once

#include "fabric/base/memory/vec.h"
#include "fabric/wire/wire.h"

#define PATH_NO_SL 0xff

struct asked_path {
	uint32_t term;
	uint16_t dlid;
	uint8_t sl; /* PATH_NO_SL: no answer */
};

/* Paths begin .. end of the list, by ascending dlid.  Those of other terminals among them are left
 * alone. */
struct path_row {
	uint32_t term;
	size_t begin, end;
};

struct path_asker {
	struct wire *w;
	const struct fabric *f;
	VEC(struct asked_path) paths;
	VEC(struct path_row) rows;
	uint64_t max;	   /* queries; 0: any number */
	const char *which; /* paths these are, for the sentence that more would be needed */
	struct path_sl_report *report;

	/* its own */
	uint64_t at, total;
	uint32_t row, row_end, open, failed; /* tables */
	uint16_t sm_lid, status;	     /* of the last answer with an error */
	uint8_t sm_sl;
};

void path_asker_add(struct path_asker *x, uint32_t term, uint16_t dlid);
/* Asks for all.  0 also when some have no answer, which the report says.  -E2BIG: more than max
 * queries, which it is told before most are sent. */
int path_asker_run(struct path_asker *x, struct progress *progress, struct err *err);
/* Sets err: paths have no answer.  -EIO. */
int path_asker_unanswered(const struct path_asker *x, struct err *err);
void path_asker_free(struct path_asker *x);
