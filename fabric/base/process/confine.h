/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine: what a process gives up of its own accord, for good, with all that it starts later: a
 * fault in it is then worth as little as what is left.
 *
 * Capabilities are those of libcap; system calls are filtered by seccomp, files by landlock. Either
 * may be missing from the kernel: what could not be done is reported, and the process goes on with
 * the rest.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>

enum confine_keep {
	CONFINE_KEEP_FILES =
		1 << 0, /* CAP_DAC_OVERRIDE: files of another user whom root works for */
	CONFINE_KEEP_GROUPS = 1 << 1, /* CAP_CHOWN: sockets are given to their groups */
};

/* All capabilities but those of keep, of enum confine_keep, and the way to new ones (setuid
 * programs).  Of the calling thread: before there are others.  0 or -errno. */
int confine_capabilities(unsigned keep, struct err *err);

/* For a process that computes from what it has open: nothing can be opened, made, sent, started or
 * signalled. 0; -ENOSYS: the kernel has no seccomp; -errno. */
int confine_to_computing(struct err *err);

/* For libslurm: no program is started, no file written, no port listened on; it reads its
 * configuration and connects to slurmctld and munge.  0, or the first thing that could not be done.
 */
int confine_to_asking(struct err *err);

/* For a command that reads files of others and prints: the same, and no connection either. */
int confine_to_reading(struct err *err);

/* For one that also writes, into one folder (and those in it): nothing anywhere else.  logs: it may
 * connect to sockets of this machine, as syslog's, and give a file that it has open mode 0640. */
int confine_to_writing(const char *dir, bool logs, struct err *err);

/* What the kernel has. */
bool confine_has_seccomp(void);
int confine_landlock_abi(void); /* 0: none */
