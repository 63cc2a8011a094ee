/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit_heads: the heads of records that a log has seen (journalctl, syslog, any text with
 * IBROUTE_HEAD=<64 hex> sid=SID seq=N host=NAME dir=DIRECTORY in its lines; old ones end with N).
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>

struct audit_head {
	char sid[64];
	uint64_t lines;	     /* of the session then ... */
	struct digest head;  /* ... and the hash of the last of them */
	char host[72], *dir; /* where it was written; "" and NULL: not in the log */
	uint64_t at;	     /* line of the log */
};

/* By session, and those of one as they were in the log. */
struct audit_heads {
	struct audit_head *v;
	size_t n, cap;
};

/* "-" is standard input.  -EINVAL: a line with IBROUTE_HEAD= is incomplete. */
int audit_heads_read(struct audit_heads *out, const char *path, struct err *err);
/* Those of a session, *n from the result on. */
const struct audit_head *audit_heads_of(size_t *n, const struct audit_heads *h, const char *sid);
/* The first head after `after` (NULL: of all) of another session of this machine in that directory,
 * given as realpath() has it. */
const struct audit_head *audit_heads_next(const struct audit_heads *h,
					  const struct audit_head *after, const char *dir);
void audit_heads_free(struct audit_heads *h);
