/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_files: files in memory, tables to fill them, and damage to texts, for tests of readers. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Every LID in use gets a port that the switch has; a function of the seed. */
struct tables *random_tables(const struct fabric *f, uint64_t seed);

/* A file to read that text from. */
FILE *text_file(const char *text, size_t len);

/* What fn() writes; the caller frees it. */
typedef int (*write_fn)(FILE *, const struct fabric *, const struct tables *, struct err *);
char *text_of(write_fn fn, const struct fabric *f, const struct tables *t);

/*
 * Calls fn with seeded damage to text, rounds times: bytes changed, cut out, doubled, swapped,
 * cut off, garbage put in; CRLF and a byte order mark now and then.  fn must survive; what
 * it returns is counted, so that a test can ask for both outcomes.
 */
typedef int (*survive_fn)(FILE *f, void *ctx);
struct survived {
	unsigned accepted, refused;
};
struct survived damage(const char *text, size_t len, uint64_t seed, unsigned rounds, survive_fn fn,
		       void *ctx);

/* "$SHARED/data/fabrics/NAME", or NULL with a message when it is not there. */
char *shared_file(const char *name);
