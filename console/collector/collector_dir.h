/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector_dir: the folder of a collector, with a socket for those who may look and one for those
 * who may also have something read; and the way to it.
 *
 * Who may is up to the groups that the sockets belong to.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>

#define COLLECTOR_DIR	     "/run/ibroute-collector"
#define COLLECTOR_GROUP_LOOK "ibroute-look"
#define COLLECTOR_GROUP_ASK  "ibroute"

/* Where it is when nothing is said: one for each fabric that has a name.  The caller frees. */
char *collector_dir_default(const char *name);

struct collector_dir {
	int look, ask; /* listening */
	int lock;
	int dir;
	bool given; /* by systemd, who keeps the sockets */
};

/* Makes the folder (0755) where it is missing, and the sockets in it, or takes those that systemd
 * has given.  -EBUSY: a collector is there. */
int collector_dir_open(struct collector_dir *d, const char *path, struct err *err);
void collector_dir_close(struct collector_dir *d);

/* A connection to the collector of that folder: *fd, and whether it may ask.  -ENOENT,
 * -ECONNREFUSED: nobody is there; -EACCES: this user may not look; -EPERM: somebody else than root
 * or this user has made the folder. */
int collector_dir_connect(int *fd, bool *may_ask, const char *path, struct err *err);
