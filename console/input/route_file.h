/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_file: a routing that no engine of ours has made, read from files, and which they were. */
#ifndef CONSOLE_INPUT_ROUTE_FILE_H
#define CONSOLE_INPUT_ROUTE_FILE_H

#include "engines/engine.h"
#include "engines/verify/verify.h"
#include "fabric/base/notes.h"
#include "fabric/plan/plan_files.h"

/* In menus beside the engines; it has nothing to route by. */
#define ROUTE_FILE "file"
extern const struct engine route_file_engine;

struct route_file {
	const char *tables;	     /* any form that load_fabric_tables() reads, "-" is stdin */
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

/* verify_tables() of all LIDs; but routes to switches themselves, which only management takes (on
 * VL 15), do not count as a deadlock of tables that others have made. */
int route_file_verify(struct verdict **out, const struct fabric *f, const struct tables *t,
		      const struct verify_opts *opts, struct progress *progress, struct err *err);

#endif
