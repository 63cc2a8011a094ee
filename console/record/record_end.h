/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_end: how far a sealed session has come, in SID.seal beside its record.
 *
 * A chain that is cut off is still a chain.  After each line the number of lines is written here,
 * under an HMAC with the key of the next line, which replaces the one before: whoever cuts lines
 * off has no key of the line that would then be the next, and without the file the end is missed.
 */
#pragma once

#include "console/record/record_hmac.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_END_SUFFIX "seal"

struct record_end {
	uint64_t lines; /* of the session, in all of its parts */
	struct digest mac;
};

/* DIR/SID.seal of DIR/SID.jsonl or DIR/SID.2.jsonl; the caller frees it. */
char *record_end_path(const char *record_path);
/* A new file (0640); *fd is the caller's. */
int record_end_open(int *fd, const char *path, struct err *err);
/* seal: with the key of the line that comes next. */
int record_end_put(int fd, const struct record_hmac *seal, uint64_t lines, const char *path,
		   struct err *err);
/* False: there is none, or it is damaged. */
bool record_end_read(struct record_end *out, const char *path);
/* What mac has to be. */
void record_end_mac(struct digest *mac, const struct record_hmac *seal, uint64_t lines);
