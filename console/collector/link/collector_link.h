/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collector_link: a feed of what a collector tells, see feed.h.  It comes back when the collector
 * does. */
#pragma once

#include "console/session/feed.h"
#include "console/session/message.h"

struct slurm_topology;

struct collector_link_opts {
	const char *dir;		    /* of the collector, see collector_dir.h */
	const struct slurm_topology *racks; /* NULL: names tell */
	const char *racks_path;
};

/* Is there one that this user may look at?  0, or as collector_dir_connect(). */
int collector_link_try(const char *dir, struct err *err);
/* 0, or -errno with a sentence.  What o points to must outlive it. */
int collector_link_start(struct feed **out, const struct collector_link_opts *o,
			 struct mailbox *box, struct err *err);
