/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_files: which files the tables of a plan were read from, where no engine made them. */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdint.h>

#define PLAN_FILES 3

struct plan_file {
	char kind[12];	      /* "tables", "path-sl", "sl2vl" */
	char path[256];	      /* whole, or "stdin"; only its end where it is longer */
	struct digest sha256; /* of its contents */
};

struct plan_files { /* all zero: none */
	uint32_t n;
	struct plan_file file[PLAN_FILES];
};

/* At most PLAN_FILES of them. */
void plan_files_add(struct plan_files *files, const char *kind, const char *path,
		    const struct digest *sha256);

/* A list of {kind, path, sha256}; the caller owns it. */
json_t *plan_files_encode(const struct plan_files *files);
/* j NULL: none.  -EBADMSG: something else. */
int plan_files_decode(struct plan_files *out, const json_t *j, struct err *err);
/* What the files held and were taken for, not where they were. */
void plan_files_digest(struct digest_stream *s, const struct plan_files *files);
