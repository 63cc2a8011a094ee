/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy: what the subnet manager is to route with, as a small text file.
 *
 *   engine  nue:4                 needed: NAME or NAME:HOW, as on the command line
 *   tables  confirmed.ibr         used as long as they are for this very fabric
 *   vls     4                     data VLs that may be used; 0 or left out: what the links offer
 *   seed    1
 *   threads 0                     0: one per core
 *   spread  no                    paths over all of the VLs
 *   escape  no                    the upper half of every port's LIDs are escape LIDs
 *   roots   roots.txt             switches at the top for updn, a GUID a line
 *   jobs    jobs.txt              running jobs, for sar
 *   demand  demand.txt            what nodes send, for parx
 *   exclude spine11,leaf7/33      switches and cables that no route may pass (maintenance)
 *   ranks   ranks.txt             which node each rank is on, when the demand is between ranks
 *   io-nodes io.txt               hosts for storage and I/O, for sar: a host list, or a file of
 *                                 GUIDs and such lists; left out: OpenSM's io_guid_file
 *   on_change repair              after a failure, or when switches or cables come: see enum
 *                                 policy_change
 *   improve 60                    after so many seconds without changes a repaired routing gets
 *                                 better in steps, each that time after the one before; 0: never
 *
 * # comments; every key once.  Names of files that do not begin with / are taken from the folder
 * of the policy.
 */
#pragma once

#include "engines/engine_spec.h"
#include "engines/param.h"
#include "fabric/base/message/err.h"

#include <stdio.h>

/* What routes when switches or cables are others than those that the tables were made for. */
enum policy_change {
	ON_CHANGE_REPAIR,    /* the tables that route, with new paths for those that are broken */
	ON_CHANGE_REROUTE,   /* new tables of the engine */
	ON_CHANGE_CONFIRMED, /* as repair, but from the confirmed tables each time */
};

#define IMPROVE_MAX_S 86400

struct policy {
	struct engine_spec spec;
	struct engine_params params;
	char *text[PARAM_TEXTS]; /* by enum param_id: paths and lists, or NULL */
	enum policy_change on_change;
	unsigned improve_s; /* 0: never; at most IMPROVE_MAX_S */
	int refs;
};

/* -EINVAL with file:line for the first line that is wrong, and when no engine is named.  The
 * caller owns one reference of *out, which is NULL after an error. */
int policy_read(struct policy **out, FILE *file, const char *path, struct err *err);
/* From a file by name; also -errno when it cannot be opened. */
int policy_load(struct policy **out, const char *path, struct err *err);
/* Would both choose the same tables, but for what is in the files that they name?  When these are to
 * get better is another matter. */
bool policy_same(const struct policy *a, const struct policy *b);
/* A name of a file in it, as a path that the caller frees; path: the policy's. */
char *policy_beside(const char *path, const char *name);
/* Nobody changes it once it is read.  Thread-safe; NULL is fine; get returns p. */
struct policy *policy_get(struct policy *p);
void policy_put(struct policy *p);
