/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal_prune: journals of long ago go, and what they counted stays, in BASE/removed.json.
 *
 * That is written first, with the names of those that go: one that is still there, since the
 * removing was cut short, is not counted twice.
 */
#pragma once

#include "fabric/update/journal/journal_counts.h"

/* Removes those that are over and whose last step was before that time, but none of others; *n: how
 * many. */
int journal_prune(const char *base, int64_t before_s, uint32_t *n, struct err *err);

/* What those that were removed count, and their names as above; both may be empty.  0 also where
 * none were; -EBADMSG. */
int journal_removed(struct journal_counts *l, struct journal_gone *gone, const char *base,
		    struct err *err);
