/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit_report: a report of one update from the records of a directory. */
#pragma once

#include "console/io/report_doc.h"
#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdint.h>

struct report_file {
	char *path;
	struct audit_report verdict;
};

/* Lines are whole entries, ordered by time. */
struct audit_change {
	char txn[64];
	json_t **line;
	uint32_t n;
	json_t *plan, *figures; /* data of plan.create and plan.figures; borrowed, NULL: unknown */
	struct report_file *file;
	uint32_t nfiles;
};

/* The update whose ID is, or begins with, id; names are files and directories.  -ENOENT: no record
 * of it; -EINVAL: several match. */
int audit_change_read(struct audit_change *out, const char *id, char *const *names, int n,
		      struct err *err);
void audit_change_free(struct audit_change *c);

/* The whole document. */
void audit_report_write(struct report_doc *d, const struct audit_change *c);
