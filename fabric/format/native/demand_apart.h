/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand_apart: demand_file_read(), with its ranks, in a process that can do nothing else
 * (apart_read()). */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/traffic/demand.h"

#include <stdio.h>

/* A file that is open, and how messages call it. */
struct demand_input {
	FILE *file; /* NULL: there is none */
	const char *path;
	struct read_report report; /* filled in */
};

/* As demand_file_read(), and rank_file_read() before it where ranks has a file; -ECHILD and the
 * like: that process has failed. */
int demand_apart_read(struct demand **out, struct demand_input *in, struct demand_input *ranks,
		      const struct fabric *f, struct err *err);
