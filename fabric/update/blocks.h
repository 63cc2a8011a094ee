/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks: the list todo of a transaction, written and read through the installer.
 */
#pragma once

#include "fabric/update/transaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void blocks_todo_all(struct transaction *t, uint32_t waves); /* all that waves 0..waves-1 write */
void blocks_todo_wave(struct transaction *t, uint32_t wave); /* what that one writes */
bool blocks_is_last(const struct transaction *t, uint32_t i, uint32_t waves); /* of its block */

void blocks_write(struct transaction *t, bool back); /* new contents, or the old ones */
void blocks_read(struct transaction *t);	     /* sets holds */
/* Progress of a batch, from the installer; ctx: the transaction. */
void blocks_report(void *ctx, const char *step, uint64_t done, uint64_t total);

uint32_t blocks_holding(const struct transaction *t, enum holds h); /* how many of todo */
/* Drops from the list what holds h; the rest is to be done once more. */
void blocks_keep_others(struct transaction *t, enum holds h);
/* The first of todo that is not h, with what is wrong, for a sentence. */
void blocks_first_not(char *buf, size_t size, const struct transaction *t, enum holds h);
