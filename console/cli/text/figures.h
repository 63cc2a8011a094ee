/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures: the figures of a routing, each with its key in JSON, its title in tables and where it
 * comes from; of all messages, or of those of one size where a port has LIDs for each.
 */
#pragma once

#include "console/plan/route_report.h"

#include <jansson.h>
#include <stdio.h>

enum figure_kind { FIGURE_COUNT, FIGURE_REAL, FIGURE_YES_NO };

struct figure_source {
	const struct route_report *e;
	const struct message_metrics *m; /* NULL: of the routing as a whole */
	enum message_size size;		 /* with m; else MESSAGES_BASE */
};

struct figure {
	const char *key;   /* in JSON; of one that is not there its name between ( and ) */
	const char *title; /* in the table; NULL: not there */
	enum figure_kind kind;
	double (*value)(const struct figure_source *x); /* NAN unknown */
};

/* In the order of summary_json() and of the table.  NULL at the end. */
const struct figure *figures_at(size_t i);
/* NULL: there is none of that key. */
const struct figure *figures_find(const char *key);
bool figures_in_json(const struct figure *x);

/* null where it is not known */
json_t *figures_json(enum figure_kind kind, double v);
