/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric_watch: what is not as expected, from sweep to sweep and from run to run: a baseline that
 * is learnt, and error counters as the last run read them.
 *
 * Used by one thread.  Files that cannot be read or written are told once, as a warning; then it
 * goes on with what it has.
 */
#pragma once

#include "fabric/baseline/findings.h"
#include "fabric/model/topology/name_map.h"

#include <stdbool.h>

struct fabric_watch_opts {
	const char *state_dir; /* NULL: the default */
	const char *name;      /* of the fabric; NULL: not said */
	const struct name_map *names;
	const char *key;       /* counters of the last run with it; NULL: nothing is written */
	const uint64_t *limit; /* ERROR_COUNT of them; NULL: error_limits_default */
};

struct fabric_watch;

/* The texts of o must outlive it. */
struct fabric_watch *fabric_watch_new(const struct fabric_watch_opts *o);
void fabric_watch_free(struct fabric_watch *w); /* NULL is fine */

/* What was discovered.  partial: not all of it answered, so that nothing is learnt from it. */
void fabric_watch_fabric(struct fabric_watch *w, const struct fabric *f, bool partial);
/* The name that the fabric has kept, after the first of them; NULL: none. */
const char *fabric_watch_name(const struct fabric_watch *w);
/* Takes s.  between: read because somebody asked, between two readings that are compared with each
 * other: what rises slowly is to be told as if nobody had asked. */
void fabric_watch_errors(struct fabric_watch *w, const struct error_set *s, bool between);
/* One reference for the caller. */
const struct findings *fabric_watch_findings(const struct fabric_watch *w);
