/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * baseline: the fabric as it is expected to be, kept between runs in STATE/baseline/NAME.topology.
 *
 * The file is the text of ibnetdiscover behind a line that says whether it was learnt, and so grows
 * with the fabric, or accepted: then it stays as it is.  It may be edited.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/topology/name_map.h"

#include <stdbool.h>
#include <stdint.h>

struct baseline {
	struct fabric *fabric; /* NULL: there is none yet */
	char *path;	       /* where it is, or would be */
	char *name;	       /* of the fabric */
	bool accepted;
	int64_t since_s; /* it was written; 0: there is none */
};

/* The folder of a state directory (NULL: the default); the caller frees. */
char *baseline_dir(const char *state_dir);
/* In dir: the one of that name; without a name (NULL) the one that has most of its switches in now,
 * else one yet to be written with the name of now.  0 also when there is none. */
int baseline_open(struct baseline *out, const char *dir, const char *name, const struct fabric *now,
		  const struct name_map *names, struct err *err);
/* Writes what is expected from now on, with the folder where that is missing. */
int baseline_write(struct baseline *b, const struct fabric *f, bool accepted, struct err *err);
int baseline_remove(struct baseline *b, struct err *err);
void baseline_close(struct baseline *b); /* an all-zero one is fine */

/* The fabric whose baseline a file of that name in the folder is; NULL: of none.  Caller frees. */
char *baseline_of_file(const char *file);

/* STATE/baseline/NAME.KEY.errors, which error counters of a fabric are kept in; caller frees. */
char *baseline_errors_path(const char *dir, const char *name, const char *key);
