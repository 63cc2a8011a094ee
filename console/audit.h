/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit: does a session's record still say what was written?  Reads only. */
#ifndef CONSOLE_AUDIT_H
#define CONSOLE_AUDIT_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct audit_report {
	bool ok;	    /* every line is there, in order and unchanged */
	bool ended;	    /* with session.end: else it is open, or was cut */
	uint64_t lines;	    /* read before the first finding */
	uint64_t bad_line;  /* counted from 1; 0 = none */
	char what[256];	    /* the finding */
	struct digest head; /* of the last good line: compare with what syslog keeps */
	char sid[64];
	char start[40], end[40]; /* times of the first and the last line */
	char fabric[64], user[40];
	char genesis_sid[64]; /* the session before, "" = none */
	struct digest genesis;
};

/* 0 when the file could be read, whatever was found in it. */
int audit_verify(struct audit_report *out, const char *path, struct err *err);

/* True when some line of the file has that hash: a later session's genesis must be found. */
bool audit_has_line(const char *path, const struct digest *head);

#endif
