/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_hmac: a seal: an HMAC on every line of a record, with forward-secure keys.
 *
 * The state of a directory (0600) has the key of the next epoch.  A session takes it and replaces
 * it by its hash, the key of the epoch after; the key of each line is a hash of the one before.  An
 * attacker on the machine has no key for older lines, and cannot change them without notice by
 * those who have the first key, which is stored elsewhere.
 *
 * A line belongs to one epoch and one place in it, and is verified with that key only: a newer key,
 * which an attacker may have, does not match an older entry (CVE-2023-31439).  Disks may retain the
 * overwritten state.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>

#define SEAL_STATE  "seal.state"
#define SEAL_EPOCHS 10000000 /* a higher number is invalid */

struct record_hmac {
	uint64_t epoch;
	struct digest key; /* of the next line */
};

/* Creates the state of a directory; first: the key to store elsewhere.  -EEXIST: it has one. */
int record_hmac_setup(struct digest *first, const char *dir, struct err *err);
/* Takes the next epoch; *out NULL when the directory is not sealed.  In a sealed one it is an error
 * when the next key cannot be stored. */
int record_hmac_begin(struct record_hmac **out, const char *dir, struct err *err);
void record_hmac_end(struct record_hmac *s); /* erases the key; NULL is fine */

/* HMAC of the next line.  record_hmac_forward() then replaces the key. */
void record_hmac_line(struct digest *mac, const struct record_hmac *s, const char *line,
		      size_t len);
void record_hmac_forward(struct record_hmac *s);

/* From the first key: the key of line 0 of an epoch (from 1 on).  O(epoch). */
void record_hmac_at(struct record_hmac *out, const struct digest *first, uint64_t epoch);

/* The same for several epochs, O(1) for each that is not below the one before.  Begins as zeros. */
struct record_hmac_walk {
	uint64_t epoch;	   /* 0: not begun */
	struct digest key; /* of it */
};

void record_hmac_walk(struct record_hmac *out, struct record_hmac_walk *w,
		      const struct digest *first, uint64_t epoch);

/* The last epoch used in a directory; 0: not sealed, or not readable. */
uint64_t record_hmac_last_epoch(const char *dir);
