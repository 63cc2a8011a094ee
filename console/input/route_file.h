/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_file: a routing that no engine of ours has made, read from files, and which they were. */
#pragma once

#include "engines/engine.h"
#include "fabric/base/text/notes.h"
#include "fabric/plan/plan_files.h"

/* In menus beside the engines; it has nothing to route by. */
#define ROUTE_FILE "file"
extern const struct engine route_file_engine;

struct route_file {
	const char *tables;	     /* any form that load_tables() reads, "-" is stdin */
	const char *path_sl, *sl2vl; /* what LFTs alone do not tell; NULL or "": none */
};

/*
 * The caller owns one reference of *out.  Service levels that no file tells are taken to be 0:
 * LFTs that are free of deadlocks on one lane are so with any others.  An SL2VL table without them
 * is refused (-EINVAL).  notes: that, and what the readers found strange.  Errors are those of the
 * readers, with file and line; -ESTALE: for another fabric, with what differs; -ECANCELED by
 * file_progress().
 */
int route_file_read(struct tables **out, struct plan_files *files, struct notes *notes,
		    const struct route_file *from, const struct fabric *f, struct err *err);

/* Is more known of the SLs of paths than that the switches do not tell? */
bool route_file_sls_known(const struct tables *t);
