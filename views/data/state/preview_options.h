/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_options: how an engine is to compute the next preview. */
#pragma once

#include "engines/param.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stddef.h>

#define PATH_TEXT 256 /* a file's name, typed */

/* How an engine is to compute: all that the command line can say, too. */
struct preview_options {
	struct engine_params params; /* pointers are NULL: files are read by the application */
	char text[PARAM_TEXTS][PATH_TEXT]; /* by enum param_id: files and lists; "" none */
};

/* What differs from the defaults, in a few words; "" when all is.  Returns buf. */
const char *preview_options_text(char *buf, size_t len, const struct preview_options *o);
/* What a text names is excluded, too; with toggle it no longer is where all of it was.  -EINVAL as
 * route_limits_exclude(), also when the list gets too long. */
int preview_options_exclude(struct preview_options *o, const struct fabric *f, const char *text,
			    bool toggle, struct err *err);
/* The same for hosts whose paths stay, as route_limits_pin() takes them. */
int preview_options_pin(struct preview_options *o, const struct fabric *f,
			const struct jobset *jobs, const char *text, bool toggle, struct err *err);
