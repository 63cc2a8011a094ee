/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_work: files that are read or written by a thread of their own, while the console goes on.
 *
 * It tells how far it is as MSG_FILE_STEP and ends in one MSG_FILE_END; both name it.
 */
#pragma once

#include "console/session/message.h"
#include "fabric/base/message/err.h"

struct file_work_ops {
	const char *what; /* for whoever waits: "snapshot" */
	bool waited;	  /* somebody waits for it, and may end it by a key */
	bool finishes;	  /* also while the console ends, which ends all others */
	/* In its thread, which tells file_progress().  0, -ECANCELED, or -errno with a sentence. */
	int (*run)(void *ctx, struct err *err);
	/* In the thread that takes the message; owner is whoever keeps the list of them. */
	void (*done)(void *owner, void *ctx);
	/* Likewise, instead, with what run() has returned; NULL: the sentence is logged. */
	void (*failed)(void *owner, void *ctx, int rc, const struct err *why);
	/* Words of a step, in the same thread; NULL: only what is waited for is told */
	void (*step)(void *owner, void *ctx, const char *words);
	void (*free)(void *ctx);
};

struct file_work;

/* Takes ctx, also where it fails: -errno with a sentence. */
int file_work_start(struct file_work **out, const struct file_work_ops *ops, void *ctx,
		    struct mailbox *box, struct err *err);
const struct file_work_ops *file_work_ops(const struct file_work *w);
void *file_work_ctx(const struct file_work *w);
void file_work_cancel(struct file_work *w);
/* After MSG_FILE_END, or after it was cancelled: waits for its thread.  What run() has returned. */
int file_work_join(struct file_work *w, struct err *err);
void file_work_free(struct file_work *w); /* and its ctx; joined before */
