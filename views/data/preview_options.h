/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_options: how an engine is to compute the next preview. */
#ifndef VIEWS_DATA_PREVIEW_OPTIONS_H
#define VIEWS_DATA_PREVIEW_OPTIONS_H

#include "engines/engine.h"
#include "fabric/base/err.h"
#include "fabric/model/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_TEXT 256 /* a file's name, typed */

/* How an engine is to compute: all that the command line can say, too. */
struct preview_options {
	unsigned vls;	  /* 0: as the fabric offers */
	unsigned threads; /* 0: one per core */
	uint64_t seed;	  /* 0: as preset */
	bool spread, escape;
	enum sar_method method;
	unsigned change_pct; /* of the blocks, sar:leafwise; 0: as preset */
	enum dfdn_base base;
	char roots[PATH_TEXT];	/* file of switch GUIDs, for updn; "" found in the fabric */
	char demand[PATH_TEXT]; /* file of who sends what, for parx; "" none */
	char pin[PATH_TEXT]; /* hosts whose routes stay, as fabric/format/native/pin_text.h reads it
			      */
	char exclude[PATH_TEXT]; /* no route may pass: as fabric/format/native/limits_text.h reads
				    it */
	unsigned job_nodes_min;	 /* smaller jobs do not count, for sar; 0: all do */
	/* instead of an engine: a file's tables, and what LFTs alone do not tell; "" none */
	char tables[PATH_TEXT], path_sl[PATH_TEXT], sl2vl[PATH_TEXT];
};

/* What is not as preset, in a few words; "" when all is.  Returns buf. */
const char *preview_options_text(char *buf, size_t len, const struct preview_options *o);
/* What a text names is excluded, too; with toggle it no longer is where all of it was.  -EINVAL as
 * route_limits_exclude(), also when the list gets too long. */
int preview_options_exclude(struct preview_options *o, const struct fabric *f, const char *text,
			    bool toggle, struct err *err);

#endif
