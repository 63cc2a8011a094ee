/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jsonl: a file of JSON, a value a line. */
#pragma once

#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Calls take(ctx, line) with each; true: no more.  -errno; -EINVAL with file and line. */
int jsonl_read(const char *dir, const char *name, bool (*take)(void *ctx, const json_t *line),
	       void *ctx, struct err *err);
/* The same of a file that is open; path: as messages show it. */
int jsonl_read_file(FILE *in, const char *path, bool (*take)(void *ctx, const json_t *line),
		    void *ctx, struct err *err);
/* A number of an object; NAN: null, not there, no number. */
double jsonl_number(const json_t *o, const char *key);
