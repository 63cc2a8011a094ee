/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric_spec: what --tab says: several fabrics, each with a name and how it is reached.
 *
 *   NAME				the section [fabric NAME] of the configuration file
 *   NAME=port:CA[:PORT]
 *   NAME=collector:DIR
 *   NAME=load:PATH
 *   NAME=demo[:SPEC]
 *   NAME=ro, NAME=ro:port:CA, ...	never with --rw, which the others may have
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/data/state/state.h"

#include <stdbool.h>
#include <stddef.h>

enum fabric_from { FROM_PROFILE, FROM_PORT, FROM_COLLECTOR, FROM_LOAD, FROM_DEMO };

struct fabric_spec {
	char name[FABRIC_NAME];
	enum fabric_from from;
	bool read_only;
	char *where, *port; /* NULL: not said */
};

struct fabric_specs {
	struct fabric_spec spec[FABRICS_MAX];
	size_t n;
};

/* Adds those of text, with blanks between; "none": no more than none. */
int fabric_specs_add(struct fabric_specs *s, const char *text, struct err *err);
void fabric_specs_free(struct fabric_specs *s); /* what it holds */

/* The command line of a console of this fabric alone: argv without --tab, and with its own
 * options.  In one allocation with its words that are new; freed by free(). */
char **fabric_spec_argv(int *out_argc, const struct fabric_spec *s, int argc, char **argv);
