/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seal: an HMAC on every line of a record, by keys that only go forward.
 *
 * A directory's state (0600) holds the key of the next epoch.  A session takes it, and writes the
 * one after it, a hash of it, in its place; the key of each line is a hash of the one before.  So
 * whoever takes over the machine has no key for what was written before, and cannot change it
 * unseen by the one who has the first key, which is kept elsewhere.
 *
 * A line belongs to one epoch and one place in it, and is checked with the key of those alone:
 * a newer key, which an attacker may have, does not fit an older entry (CVE-2023-31439).
 * Disks may keep what was overwritten; that cannot be helped from here.
 */
#ifndef CONSOLE_RECORD_RECORD_HMAC_H
#define CONSOLE_RECORD_RECORD_HMAC_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define SEAL_STATE  "seal.state"
#define SEAL_EPOCHS 10000000 /* more of them are a mistake */

struct record_hmac {
	uint64_t epoch;
	struct digest key; /* of the next line */
};

/* Makes the state of a directory; first: the key to keep elsewhere.  -EEXIST: it has one. */
int record_hmac_setup(struct digest *first, const char *dir, struct err *err);
/* Takes the next epoch; *out NULL when the directory is not sealed.  Once it is sealed, everything
 * that keeps the next key from being stored is an error. */
int record_hmac_begin(struct record_hmac **out, const char *dir, struct err *err);
void record_hmac_end(struct record_hmac *s); /* erases the key; NULL is fine */

/* HMAC of the line that is next.  The key is only gone with record_hmac_forward(). */
void record_hmac_line(struct digest *mac, const struct record_hmac *s, const char *line,
		      size_t len);
void record_hmac_forward(struct record_hmac *s);

/* For the one who has the first key: at line 0 of that epoch (from 1 on).  O(epoch). */
void record_hmac_at(struct record_hmac *out, const struct digest *first, uint64_t epoch);

/* The last epoch that was begun in a directory; 0: not sealed, or not to be read. */
uint64_t record_hmac_last_epoch(const char *dir);

#endif
