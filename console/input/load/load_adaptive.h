/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_adaptive: do the switches route adaptively?  Then tables describe only part of what packets
 * do.  No attribute of the InfiniBand specification tells; OpenSM does, where it can be asked or
 * its files are here, and the operator (--adaptive-routing).
 */
#pragma once

#include "fabric/update/installer/osm_msg.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum adaptive_state { ADAPTIVE_UNKNOWN, ADAPTIVE_NO, ADAPTIVE_YES };

struct adaptive {
	enum adaptive_state state;
	char why[120]; /* a few words */
};

/* "auto" (unknown), "no", "yes"; false: none of them.  What OpenSM says of yes wins over no. */
bool adaptive_parse(enum adaptive_state *out, const char *word);
/* s: of the plugin in the master SM; NULL: none.  sm_here: that SM uses a port of this machine, so
 * its opensm.conf and opensm.log are of it. */
void load_adaptive(struct adaptive *out, enum adaptive_state declared, const struct osm_status *s,
		   bool sm_here);
/* The same of these files, any of which may be missing. */
void load_adaptive_files(struct adaptive *out, enum adaptive_state declared,
			 const struct osm_status *s, const char *conf, const char *log);

/* Of a dump: what was declared, and nothing else. */
void load_adaptive_declared(struct adaptive *out, enum adaptive_state declared);

/* What it means, where it is yes, or else "".  Returns buf. */
const char *adaptive_text(char *buf, size_t len, const struct adaptive *a);
json_t *adaptive_json(const struct adaptive *a);
