/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal_text: head.json and state.log of a transaction, between structs and bytes. */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/update/journal/journal.h"

#include <stddef.h>
#include <stdint.h>

/* sum: of changes.bin.  The caller frees it. */
char *txn_head_encode(const struct txn_head *h, const struct digest *sum);
/* -EBADMSG: not such bytes, another version, a checksum missing.  name: for the sentence. */
int txn_head_decode(struct txn_head *h, struct digest *sum, const char *data, size_t len,
		    const char *name, struct err *err);

/* A line of the log, with its checksum and its end; the caller frees it. said: for people, one
 * line of at most JOURNAL_SAID bytes, or NULL. why: in front of it as "[foreign] ", for states
 * of a rollback or of an end without a confirmation. */
char *txn_mark_line(uint64_t seq, enum txn_state s, uint32_t wave, enum coord_why why,
		    const char *said, int64_t time_s);
/* Takes all lines up to the first that is not whole or not the next one: the state is that of
 * the last.  Returns the bytes of them; *seq: how many. */
size_t txn_log_decode(struct txn_info *info, uint64_t *seq, const char *data, size_t len);

/* Of agents.json: a checksum, then a line.  The caller frees it. */
char *txn_agents_encode(const struct txn_agent *v, uint32_t n);
/* -EBADMSG.  The caller frees *out. */
int txn_agents_decode(struct txn_agent **out, uint32_t *n, const char *data, size_t len);
