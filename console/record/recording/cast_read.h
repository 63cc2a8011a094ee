/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cast_read: an asciicast of version 2 in memory. */
#pragma once

#include "fabric/base/message/err.h"

#include <stdint.h>

struct cast_event {
	double at_s; /* since the session began */
	char code;   /* 'o', 'r', 'm', ... */
	uint32_t file;
	uint64_t end; /* offset in its file of the next event */
	char *text;
};

struct cast_file {
	char *path;
	int w, h;
	int64_t timestamp;
	double at_s; /* of its second 0 in the session */
};

/* One file, or the parts of a session in their order. */
struct cast_events {
	struct cast_file *file;
	struct cast_event *v;
	uint32_t nfiles, n;
};

/* Adds a file.  An incomplete last line is ignored; other errors name file and line.  After an
 * error the events read so far remain until cast_events_free(). */
int cast_read(struct cast_events *e, const char *path, struct err *err);
/* The cast of a record or a cast itself, and the parts after it in the same directory. */
int cast_read_session(struct cast_events *e, const char *path, struct err *err);
void cast_events_free(struct cast_events *e);

double cast_events_end(const struct cast_events *e); /* time of the last; 0 when there is none */
/* The first event at or after an offset of a file. */
uint32_t cast_events_find(const struct cast_events *e, uint32_t file, uint64_t bytes);
