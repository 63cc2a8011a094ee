/* SPDX-License-Identifier: GPL-2.0-or-later */
/* installer: how tables get into the switches.  A seam: direct SMPs, through OpenSM, into files. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/plan/change.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One block or table to write or to read. */
struct install_item {
	uint32_t sw;
	uint16_t block;
	uint8_t kind; /* enum change_kind */
	uint8_t in, out;
	uint8_t data[CHANGE_LFT_BYTES]; /* written, or what was read */
	int rc;				/* out: 0, -ETIMEDOUT, -EIO (status), ... */
	uint32_t us;			/* out: how long it took; 0 unknown */
};

struct installer_ops {
	const char *name;
	bool carries_sl; /* also informs hosts of changed service levels */
	uint32_t batch;	 /* items of a call, at most; 0: as it suits who watches; UINT32_MAX: all
			  * of a wave at once */

	/* May be NULL.  Before anybody drains, and once the SM has granted the update: what can be
	 * done of the waves now, so that none has to wait for it.  0, also where that is nothing;
	 * else the update cannot be carried out. */
	int (*ahead)(void *ctx, const struct fabric *f, const struct changes *l,
		     struct progress *progress, struct err *err);

	/* Each item gets its own rc; the return value is for what concerns all of them (the
	 * port is gone, it was cancelled): then the rcs of the items are set as well.  Items of
	 * one switch are neighbours. */
	int (*write)(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		     struct progress *progress, struct err *err);
	int (*read)(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		    struct progress *progress, struct err *err);

	/* May be NULL.  Writes items and reads each back, into its neighbour in back (filled in by
	 * the caller but for data and rc), earlier than the last one is written but not before
	 * all of its switch are. */
	int (*put)(void *ctx, const struct fabric *f, struct install_item *items,
		   struct install_item *back, uint32_t n, struct progress *progress,
		   struct err *err);

	/* May be NULL.  At the start of a rollback, before anything is read: waits until writing is
	 * possible, for minutes at most. 0: writes take effect from now on; 1: another SM is
	 * master, with a routing of its own: nothing is written over it; 2: the fabric is no longer
	 * the plan's, or the SM has ended the update, and text says by what it routes: nothing of
	 * the plan is written; 3: likewise, as somebody has ordered it to route otherwise. */
	int (*back)(void *ctx, char *text, size_t size);

	/* May be NULL.  keep: it is confirmed, and what was written is to last: 0 only once that
	 * is on a disk.  Else the update is over, and the old contents are back.  Again after a
	 * keep that failed. */
	int (*end)(void *ctx, bool keep, struct err *err);
};

struct installer {
	const struct installer_ops *ops;
	void *ctx;
};
