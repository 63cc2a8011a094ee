/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector: one process that watches a fabric for all who want to see it, and keeps what it saw.
 *
 * It polls as a console does; what it learns goes to its viewers (viewers.h) and into its history.
 */
#pragma once

#include "console/alert/alert_opts.h"
#include "console/collect/acts.h"
#include "console/collector/history/history.h"
#include "console/session/message.h"
#include "console/session/poller.h"
#include "fabric/jobs/source.h"

#include <signal.h>

struct collector_opts {
	const char *dir;     /* see collector_dir.h */
	const char *history; /* file; NULL: nothing is kept */
	struct history_keep keep;
	struct acts_dirs dirs; /* of what is done to the fabric, which is kept, too */
	struct poller_opts poll;
	const struct alert_opts *alert; /* who is told what is worth telling; NULL: nobody */
	const char *source;		/* what it polls through, for people */
	const char *jobs;		/* where the jobs are from; "": there are none */
};

/* Until *stop.  Takes the wire, also where it fails; jobs is borrowed and may be NULL; what is sent
 * to box by others (a demo) goes the same way.  0, or -errno with a sentence. */
int collector_run(const struct collector_opts *o, struct wire *w, struct job_source *jobs,
		  struct mailbox *box, const volatile sig_atomic_t *stop, struct err *err);
