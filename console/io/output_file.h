/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_file: files that appear whole or not at all: written beside their name, then renamed.
 *
 * One at a time.  SIGINT, SIGTERM and SIGHUP end the program at once with 128 + signal, the
 * unfinished file removed.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdio.h>

struct output_file {
	FILE *file;
	char *path, *temp;
};

/* From here on the signals act as said above. */
void output_file_guard_signals(void);

int output_file_open(struct output_file *o, const char *path, struct err *err);
/* Flushes, syncs and renames.  On failure the old file, if any, is untouched; -ECANCELED: the
 * file_progress() of this thread did not want to wait for the disk. */
int output_file_commit(struct output_file *o, struct err *err);
void output_file_abandon(struct output_file *o);
/* Commits when rc is 0, else abandons and returns rc. */
int output_file_end(struct output_file *o, int rc, struct err *err);

/* What write() puts into the file, or, path NULL, to stdout.  Errors are those of both. */
int output_file_write(const char *path, int (*write)(FILE *out, const void *what, struct err *err),
		      const void *what, struct err *err);

/* Creates a folder and those above it; an existing one is fine. */
int output_file_folder(const char *path, struct err *err);

/* The text of a file that was written, to stdout. */
int output_file_print(const char *path, struct err *err);

/* Flushes stdout and tells what went wrong with all that was written to it. */
int output_file_flush_stdout(struct err *err);

/* One JSON value and a newline; -EIO and the like with a sentence. */
int output_file_json(FILE *out, const json_t *value, struct err *err);
/* The same to stdout, of a value that it takes over. */
int output_file_print_json(json_t *value, struct err *err);
