/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superseded: a rollback that cannot restore the old tables, because another SM or writer has
 * changed the routing.
 */
#pragma once

#include <stdbool.h>

struct transaction;

/* Where another SM is master: waits until what it writes is there.  true: the old contents are, and
 * nothing else; else t->superseded, or it is to be tried again. */
bool superseded_wait(struct transaction *t);
/* All is back but what somebody else has written.  Sets t->superseded where that is a routing. */
void superseded_stay(struct transaction *t);
/* The reason of the end begins with what is there now. */
void superseded_report(struct transaction *t);
