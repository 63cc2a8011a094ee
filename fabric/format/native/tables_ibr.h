/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables_ibr: our own form of tables: compact, versioned, checksummed; tables.ibr on disk.
 *
 *   header    "IBROUTE\n", version, sizes, fingerprint of the fabric, engine, parameters, seed
 *   body      LFT rows, SL, SL2VL; deflated
 *   trailer   SHA-256 over all of the above
 *
 * All numbers are little-endian.  The same tables give the same bytes.
 *
 * In a file the end ports of the fabric follow (endports_ibr.h), so that the tables outlive hosts
 * that leave or come and LIDs that change (graft.h), and then its switches and cables
 * (switch_links_ibr.h), so that what still stands of them can be told after a failure (carry.h).
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stddef.h>
#include <stdint.h>

#define TABLES_IBR_VERSION 3 /* 1 knew no escape LIDs, 2 none without SL2VL */
#define TABLES_IBR_VLS	   2 /* of tables that know their VLs: as older programs read them */

/* What a file says of itself, known without its fabric. */
struct tables_ibr_info {
	uint32_t version;
	uint64_t bytes; /* of the whole encoding: several may stand behind each other */
	uint32_t nsw, nend, max_lid;
	char engine[16], params[96];
	uint64_t seed;
	struct digest fingerprint; /* of the fabric it is for */
};

/* To memory; the caller frees *buf. */
void tables_ibr_encode(uint8_t **buf, size_t *len, const struct tables *t);
/* Refuses with a sentence: -EINVAL wrong magic or damaged, -ENOTSUP newer version, -ENODATA
 * truncated, -ESTALE for another fabric, -ECANCELED as file_progress() wants.  Bytes behind the
 * encoding are left alone. what: "file tables.ibr", for messages. */
int tables_ibr_decode(struct tables **out, const uint8_t *buf, size_t len, const struct fabric *f,
		      const char *what, struct err *err);
int tables_ibr_peek(struct tables_ibr_info *info, const uint8_t *buf, size_t len, const char *what,
		    struct err *err);

/* From and to an open file, at its position; reports to file_progress(); -ECANCELED when that is
 * cancelled.  f: the fabric of the tables. */
int tables_ibr_write_fd(int fd, const struct tables *t, const struct fabric *f, const char *what,
			struct err *err);
/* Tables of f, or of the same switches and cables with other hosts or LIDs: grafted (graft.h).
 * grafted may be NULL; all zero: they are for this very fabric. */
int tables_ibr_read_fd(struct tables **out, int fd, const struct fabric *f,
		       struct graft_report *grafted, const char *what, struct err *err);

/* The same of any older state of the fabric: what still stands of them (carry.h).  carried all zero:
 * they are for this very fabric, or the file does not say for which, and is read as above. */
int tables_ibr_read_fd_before(struct tables **out, int fd, const struct fabric *f,
			      struct carry_report *carried, const char *what, struct err *err);

/* A file: written beside it, synced, then renamed, so that a reader sees all of it or none. */
int tables_ibr_save(const char *path, const struct tables *t, const struct fabric *f,
		    struct err *err);
/* The same where only the end ports are known. */
int tables_ibr_save_with(const char *path, const struct tables *t, const struct endports *ends,
			 struct err *err);
int tables_ibr_load(struct tables **out, const char *path, const struct fabric *f,
		    struct graft_report *grafted, struct err *err);
