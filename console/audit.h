/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * audit: does a session's record still say what was written?  Reads only.
 *
 * The chain shows every line that was edited, removed, inserted or moved, except at the end:
 * a tail that was cut off, or a last line that was edited, leaves a chain that fits.  That
 * shows against the session that came next in the same directory, whose first line holds
 * the hash, and against the heads in syslog.
 */
#ifndef CONSOLE_AUDIT_H
#define CONSOLE_AUDIT_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct audit_report {
	bool ok;	    /* every line is there, in order and unchanged */
	bool ended;	    /* with session.end: else it is open, or was cut */
	uint64_t lines;	    /* good ones before the first finding */
	uint64_t bad_line;  /* counted from 1; 0 = none, or the whole file */
	char what[256];	    /* the finding; "" = none */
	struct digest head; /* of the last good line: compare with what syslog keeps */
	char sid[64];
	char start[40], end[40]; /* times of the first and the last good line */
	char fabric[64], mode[16];
	uint32_t uid;
	char genesis_sid[64]; /* the session before, "" = none */
	struct digest genesis;
	char next_sid[64]; /* a later session that vouches for a line of this one, "" = none */
};

/* 0 when the file could be read, whatever was found in it. */
int audit_verify(struct audit_report *out, const char *path, struct err *err);

#endif
