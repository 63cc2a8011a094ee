/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit_dir: what the first lines of all records of a directory say of each other, read once, so
 * that verifying all of them takes time in proportion to their number. */
#pragma once

#include "fabric/base/hash/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first line of a file. */
struct audit_first {
	char *name; /* of the file, plain */
	char sid[64], ts[40];
	uint64_t seq;	/* > 0: a later part ... */
	uint64_t part;	/* ... this one */
	uint64_t epoch; /* of its seal; 0: none */
	bool follows;	/* a part that names the end of the one before it ... */
	struct digest head;
	char genesis_sid[64]; /* the session that it is chained to, "" = none ... */
	struct digest genesis;
	int64_t genesis_seq; /* ... by this line of it */
};

struct audit_dir;

/* audit_dir_free().  Files without a first line of JSON are left out. */
struct audit_dir *audit_dir_read(const char *dir);
void audit_dir_free(struct audit_dir *d); /* NULL is fine */

/* Those chained to a session, the *n first lines from the result on. */
const struct audit_first *const *audit_dir_chained(size_t *n, const struct audit_dir *d,
						   const char *sid);
/* The parts of a session, by number. */
const struct audit_first *const *audit_dir_parts(size_t *n, const struct audit_dir *d,
						 const char *sid);
/* Another session with that epoch of the seal, with a later one and an earlier time, or the other
 * way round; NULL: none. */
const struct audit_first *audit_dir_wrong_epoch(const struct audit_dir *d, const char *sid,
						const char *ts, uint64_t epoch);
/* The first sealed session, where it began before that time; NULL: none. */
const struct audit_first *audit_dir_sealed_before(const struct audit_dir *d, const char *ts);
