/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_install: the way by which an update writes, as the options say or as it is best. */
#pragma once

#include "console/live/live_fabric.h"
#include "fabric/update/installer/installer.h"

struct live_install {
	struct installer in;
	char warning[600]; /* what the operator should know about this way; "" */
	struct osm_install *osm;
	struct file_install *files;
	struct wire *w; /* of osm: where another SM shows */
	uint64_t sm_guid;
};

/* For that plan, or (NULL) for a recovery.  Without o->installer: through OpenSM where our plugin
 * answers in the master, else by SMPs, with a warning; a recovery also goes by SMPs when OpenSM
 * was asked for but cannot, and where another SM is master than sm_guid (0: not known), under which
 * the update had begun.  -ENOTSUP, -ERANGE: this way is not possible here, and what to do;
 * -EPROTO, -ESTALE: OpenSM's plugin would not end in these tables, as its policy excludes what they
 * pass; files: -errno of the folder.  l must outlive it, and out stays where it is. */
int live_install_open(struct live_install *out, struct live *l, const struct live_opts *o,
		      const struct plan *p, uint64_t sm_guid, struct err *err);
void live_install_close(struct live_install *i); /* an all-zero one is fine */
