/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apart: a reader of what others wrote, in a process that can do nothing else (isolated_read()).
 *
 * read() is called there: it puts what it found as bytes.  take() is called here, and believes
 * none of them: whoever wrote the file may have made that process send what it likes.
 */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"

#include <stdint.h>
#include <stdio.h>

struct apart {
	const char *path;    /* as messages show it */
	FILE *file, *beside; /* what it may read; NULL: nothing, it has all in memory */
	int (*read)(void *ctx, bytes_out *out, struct read_report *report, struct err *err);
	/* -EPROTO: that cannot be right; what it has made until then is for the caller to free */
	int (*take)(void *ctx, struct bytes_in *in, struct err *err);
	void *ctx;
};

/* 0, or what read() or take() returned with its sentence; -ECHILD and the like: the process has
 * failed.  report may be NULL; it is the one that read() has filled, its texts plain. */
int apart_read(const struct apart *a, struct read_report *report, struct err *err);
