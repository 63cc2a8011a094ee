/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_parts: what a plan file consists of, between its bytes and the plan.
 *
 * plan_parts_read() reads what others may have written, plan_parts_make() makes the plan of it and
 * checks it against its hash.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/builder.h"
#include "fabric/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_SCHEMA   "ibroute-top plan/1"
#define PLAN_SCHEMA_2 "ibroute-top plan/2" /* with an order of the writes */
#define PLAN_SCHEMA_3                                                                              \
	"ibroute-top plan/3" /* and with what has to be drained; perhaps without order */
#define PLAN_SCHEMA_4 "ibroute-top plan/4" /* and jobs by port GUIDs; perhaps without either */
#define PLAN_SCHEMA_5                                                                              \
	"ibroute-top plan/5" /* and what its times are measured with: pattern, demand, I/O nodes   \
			      */

/* In a file, one behind the other. */
enum plan_part {
	PLAN_PART_FABRIC,
	PLAN_PART_FROM,
	PLAN_PART_TO,
	PLAN_PART_ORDER,
	PLAN_PART_DEMAND,
	PLAN_PARTS
};

/* The names that the file has for them. */
extern const char *const plan_part_names[PLAN_PARTS];

/* Of the order of writes, little endian. */
struct plan_order_head {
	uint32_t nwaves, sl2vl_wave;
};

struct plan_order_write {
	uint32_t wave, sw, block, zero;
	uint64_t now;
};

/* Of the demand: this, the terminals that are destinations, and the pairs; likewise. */
struct plan_demand_head {
	uint64_t max_bytes;
	uint32_t ndest, npair;
};

struct plan_demand_pair {
	uint32_t src, dst, weight;
};

struct plan_parts {
	struct builder *b; /* the fabric with ... */
	char *name;	   /* ... its name, NULL: none, */
	int lmc;
	struct name_map *names; /* what a node-name-map said */
	uint64_t *io;		/* and the port GUIDs of I/O nodes */
	uint32_t nio;
	struct fabric *f; /* made of these */
	struct tables *from, *to;
	struct jobset *jobs;   /* NULL: none */
	struct demand *demand; /* likewise */
	char pattern[16];
	struct change_order order;
	struct drain drain; /* known: there is one */
	struct plan_files files;
	struct sm_pin sm;
	bool hashed;
	struct digest hash; /* that the plan must have */
};

/* -EINVAL, -EBADMSG: not a plan, damaged.  *r is to be cleared also after an error. */
int plan_parts_read(struct plan_parts *r, const void *data, size_t len, const char *path,
		    struct err *err);
/* The fabric of b, name, lmc and names. */
int plan_parts_freeze(struct plan_parts *r, struct err *err);
/* -EBADMSG: they do not fit each other, or the hash.  Reports to file_progress(). */
int plan_parts_make(struct plan **out, const struct plan_parts *r, const char *path,
		    struct err *err);
void plan_parts_clear(struct plan_parts *r);
