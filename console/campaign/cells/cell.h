/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cell: one piece of a campaign, that any machine may compute: an engine's life for one seed.
 *
 * Its name is a hash over all that its lines depend on: fabric, jobs, failures, engine and
 * parameters, seed, version.  The result is a file of that name, written beside and renamed, so
 * that whoever is killed, or computes it twice, leaves a whole one or none.
 */
#pragma once

#include "console/campaign/failures/failures.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CELL_NAME DIGEST_HEX

struct cell {
	size_t engine; /* of the campaign */
	uint64_t seed;
	char name[CELL_NAME];
};

enum cell_state { CELL_MISSING, CELL_THERE, CELL_DAMAGED };

/* meta: of failures_meta(). */
void cell_init(struct cell *c, const struct failures *x, const json_t *meta, size_t engine,
	       uint64_t seed);

/* In the folder "cells" of dir. */
enum cell_state cell_look(const char *dir, const struct cell *c);
/* The lines; err says what a damaged one has.  -ENOENT, -EINVAL. */
int cell_read(struct failures_life *out, const char *dir, const struct cell *c, struct err *err);
int cell_write(const char *dir, const struct cell *c, const json_t *meta,
	       const struct failures_life *life, struct err *err);

/* A result of another fabric or version, which cannot be merged with those of meta: -EXDEV with a
 * sentence.  Any other file name is 0. */
int cell_foreign(const char *dir, const char *name, const json_t *meta, struct err *err);

void cell_life_free(struct failures_life *l);
