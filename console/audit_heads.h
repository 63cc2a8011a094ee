/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit_heads: the heads of records that a log has seen (journalctl, syslog, any text with
 * IBROUTE_HEAD=<64 hex> sid=SID seq=N in its lines). */
#ifndef CONSOLE_AUDIT_HEADS_H
#define CONSOLE_AUDIT_HEADS_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"

#include <stdint.h>

struct audit_head {
	char sid[64];
	uint64_t lines;	    /* of the session then ... */
	struct digest head; /* ... and the hash of the last of them */
};

struct audit_heads {
	struct audit_head *v;
	uint32_t n;
};

/* "-" is standard input.  An error: not readable; a line with IBROUTE_HEAD= that is cut. */
int audit_heads_read(struct audit_heads *out, const char *path, struct err *err);
void audit_heads_free(struct audit_heads *h);

#endif
