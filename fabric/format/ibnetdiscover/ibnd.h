/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibnd: the text that ibnetdiscover prints, and ibsim's net files, which look like it.
 *
 * Quoted ids are "S-<node guid>", "H-<node guid>", "R-<node guid>", or any name (ibsim); then
 * the GUID is that of the switchguid=/caguid= line above, or counted up as ibsim does.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>
#include <stdio.h>

/* What was in the file.  Lines that make no sense are left out and noted in read. */
struct ibnd_report {
	struct read_report read;
	uint32_t switches, cas, routers; /* nodes */
	uint32_t cables;
};

/*
 * Reads until the end of in; path is for messages only.  The caller owns the builder.
 * report may be NULL.  -EINVAL: not a single switch in it (the sentence has file:line of the
 * first thing not understood); -ENODATA: not a single cable; -EIO and the like: reading failed.
 *
 * A cable to a node without a record, or that contradicts an earlier one, and a file that ends in
 * the middle are gaps of the report: without one, the fabric is what is left, and nothing tells.
 */
int ibnd_read(struct builder **out, FILE *in, const char *path, struct ibnd_report *report,
	      struct err *err);

/*
 * Writes a fabric as ibnetdiscover would, sorted by GUID, without the lines that hold a date.
 * ibnd_read() gives back a fabric of the same fingerprint; stock ibsim takes it as a net file
 * with the same NodeDescriptions and LIDs (SIM_HOST may be the quoted id or the whole
 * NodeDescription; ibsim's port GUIDs are always node GUID + port).  Descriptions lose
 * characters that the format cannot carry: '"' and control characters.  Reports to
 * file_progress(); -ECANCELED when that is cancelled.
 */
int ibnd_write(FILE *out, const struct fabric *f, struct err *err);
