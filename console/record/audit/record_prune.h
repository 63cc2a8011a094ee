/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_prune: which sessions of a directory go, and their removal, one by one, oldest first.
 * Never one that is being written, nor one of an update that has not ended. */
#pragma once

#include "console/record/record.h"
#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* < 0: not said.  With days and sessions those go that are older and not among the last; beyond
 * that, with a size, the oldest until the rest is no larger. */
struct record_keep {
	int32_t days, sessions, mib;
};

bool record_keep_said(const struct record_keep *k);

struct record_prune_opts {
	const char *dir;       /* of the records */
	const char *state_dir; /* of the journals of updates; NULL: the default */
	struct record_keep keep;
	bool dry_run;
	/* Before any file goes: that it was there and what it ended with, for a record; takes the
	 * reference.  -errno with a sentence: nothing is removed. */
	int (*tell)(void *ctx, json_t *data, struct err *err);
	int (*told)(void *ctx, struct err *err); /* all of it, and on disk; likewise */
	/* It is gone, or would be; bytes with its screen. */
	void (*gone)(void *ctx, const char *path, uint64_t bytes);
	void *ctx;
};

/* -ECANCELED when file_progress() says so. */
int record_prune(const struct record_prune_opts *o, struct err *err);

/* As the configuration says it: 0: not said, so that nothing goes that nobody has asked for. */
struct record_policy {
	unsigned days, sessions, mib;
};

bool record_policy_said(const struct record_policy *p);

/* The same, noted in a session's own record and in the log; from any thread. */
int record_prune_told(struct record *r, const char *dir, const char *state_dir,
		      const struct record_policy *policy, struct err *err);
