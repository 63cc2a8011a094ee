/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/file_work.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/time/clock.h"

#include <stdlib.h>

#define REPORT_MS 50

struct file_work {
	const struct file_work_ops *ops;
	void *ctx;
	struct mailbox *box;
	pthread_t thread;
	struct progress progress;

	/* the thread's own, until it is joined */
	const char *last_step;
	uint64_t last_ms;
	int rc;
	struct err err;
};

static void file_work_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct file_work *w = ctx;
	uint64_t now = clock_ms();
	struct msg *msg;

	if (step == w->last_step && now - w->last_ms < REPORT_MS)
		return;
	w->last_step = step;
	w->last_ms = now;
	msg = msg_new(MSG_FILE_STEP);
	msg->file = w;
	msg->step = step;
	msg->done = done;
	msg->total = total;
	mailbox_send(w->box, msg);
}

static void *file_work_run(void *arg)
{
	struct file_work *w = arg;
	struct msg *msg = msg_new(MSG_FILE_END);

	file_progress_set(&w->progress);
	w->rc = w->ops->run(w->ctx, &w->err);
	file_progress_set(NULL);
	msg->file = w;
	mailbox_send(w->box, msg);
	return NULL;
}

int file_work_start(struct file_work **out, const struct file_work_ops *ops, void *ctx,
		    struct mailbox *box, struct err *err)
{
	struct file_work *w = xcalloc(1, sizeof(*w));
	int rc;

	w->ops = ops;
	w->ctx = ctx;
	w->box = box;
	w->progress.report = file_work_report;
	w->progress.ctx = w;
	rc = thread_start(&w->thread, "files", file_work_run, w, err);
	if (rc)
		file_work_free(w);
	else
		*out = w;
	return rc;
}

const struct file_work_ops *file_work_ops(const struct file_work *w)
{
	return w->ops;
}

void *file_work_ctx(const struct file_work *w)
{
	return w->ctx;
}

void file_work_cancel(struct file_work *w)
{
	atomic_store(&w->progress.cancel, true);
}

int file_work_join(struct file_work *w, struct err *err)
{
	pthread_join(w->thread, NULL);
	*err = w->err;
	return w->rc;
}

void file_work_free(struct file_work *w)
{
	w->ops->free(w->ctx);
	free(w);
}
