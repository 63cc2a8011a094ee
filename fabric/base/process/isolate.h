/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isolate: a computation in a process of its own, for a host that must survive it.
 *
 * The child has a copy of this process's memory and none of its descriptors.  Whatever becomes of
 * it (no memory left, killed by the kernel for that, an abort), all that it used is gone with it,
 * and the caller has an error.  The host may have any number of threads: the child must not take a
 * lock that one of them may have held (time zones, the host's log), memory and libcrypto aside.
 */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct isolated_out;

/* What the child put, read only. */
struct isolated {
	const uint8_t *data;
	size_t len;
	void *map, *heap;
	size_t mapped;
};

/* Runs fn in the child and waits for it.  0 with what it put, to be released by isolated_free(); or
 * what fn returned with its sentence; -ENOMEM, -EAGAIN: no process could be made; -ECHILD: it ended
 * without a result. */
int isolated_run(struct isolated *out,
		 int (*fn)(void *ctx, struct isolated_out *result, struct err *err), void *ctx,
		 struct err *err);
/* The same for the reader of a file that others wrote: it has open in[0] and in[1], either of which
 * may be NULL, and can open, write and send nothing (confine_to_computing()), where the kernel has
 * seccomp; else the log says so, once; nor take more than 4 GB and 64 times what is in them.  Tells
 * file_progress() how far in[0] is read; -ECANCELED when that is cancelled.  What it put is to be
 * checked as a file is: whoever wrote that may have written this.  Mostly called by apart_read().
 */
int isolated_read(struct isolated *out, FILE *const in[2],
		  int (*fn)(void *ctx, struct isolated_out *result, struct err *err), void *ctx,
		  struct err *err);
void isolated_free(struct isolated *r); /* zeroed is fine */

/* In the child: appends to the result. */
void isolated_put(struct isolated_out *result, const void *data, size_t len);
/* Likewise, without a copy where it is a reader's first; *data is empty afterwards. */
void isolated_give(struct isolated_out *result, bytes_out *data);
