/* SPDX-License-Identifier: GPL-2.0-or-later */
/* taken: the parts of frames as objects: a fabric with its shape, tables, samples.  What is the
 * same as before stays the same object. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/sample.h"
#include "views/data/summary/fabric_shape.h"

#include <stdbool.h>

struct slurm_topology;

struct taken_racks {
	const struct slurm_topology *racks; /* NULL: names tell */
	const char *path;
};

struct taken_fabric {
	const struct fabric *fabric; /* own references; NULL: none yet */
	const struct fabric_shape *shape;
	struct digest of; /* the bytes that it was made from */
};

struct taken_tables {
	const struct tables *tables; /* likewise */
	struct digest of;
};

/* Of a frame's rest: its body.  like: another that may be the same; NULL: none.  0 or -EPROTO, and
 * f is as it was. */
int taken_fabric(struct taken_fabric *f, const struct taken_fabric *like,
		 const struct taken_racks *racks, struct bytes_in *in, struct err *err);
/* weighted: they end with the VLs of ports that have a weight.  -ESTALE: of another fabric. */
int taken_tables(struct taken_tables *t, const struct taken_tables *like, const struct fabric *f,
		 bool weighted, struct bytes_in *in);
/* The caller's; NULL with -EPROTO or -ESTALE.  base: of which it may be the difference; NULL:
 * none. */
int taken_sample(struct sample **out, const struct fabric *f, const struct sample *base,
		 struct bytes_in *in);
void taken_fabric_done(struct taken_fabric *f);
void taken_tables_done(struct taken_tables *t);
