/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_names: hosts for storage and I/O of a list or a file, into a name map.  Files are read by a
 * process that can do nothing else (apart.h).
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/process/apart.h"
#include "fabric/model/topology/name_map.h"

#include <stdint.h>
#include <stdio.h>

struct io_names {
	struct name_map *names; /* that they go to */
	const char *path;	/* for sentences */
	uint64_t hosts;		/* so far */
};

/* Those of a host list.  -E2BIG: more than any subnet has. */
int io_names_add(struct io_names *x, const char *hosts, struct err *err);
/* An io_nodes_fn of the reader, whose ctx is what it writes to. */
void io_names_put(void *ctx, uint64_t guid, const char *hosts);
/* What that put: the ctx of struct apart's take is a struct io_names. */
int io_names_take(void *ctx, struct bytes_in *in, struct err *err);
/* The next of it, for a take of one's own: false at the end, or rc. */
bool io_names_next(int *rc, uint64_t *guid, char **hosts, struct bytes_in *in);
/* A file of GUIDs and host lists (io_nodes.h), which is open. */
int io_names_read(struct io_names *x, FILE *file, const char *path, struct err *err);
