/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_files: where the records are, and how their files are named: SID.jsonl and SID.cast, which
 * continue in SID.2.jsonl and SID.2.cast. */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>

#define RECORD_DIR "/var/log/ibroute-top" /* default; IBROUTE_RECORD_DIR overrides */

/* dir, or the default when it is NULL. */
const char *record_dir(const char *dir);

/* Of a path the part behind the last slash. */
const char *record_file_name(const char *path);
/* Session and part (from 1 on) of a file, SID.jsonl or SID.2.jsonl; path may have a directory. */
unsigned record_name(char *sid, size_t size, const char *path);
/* FILE.cast beside FILE.jsonl; the caller frees it. */
char *record_cast_path(const char *path);
/* DIR/SID.SUFFIX, and from part 2 on DIR/SID.2.SUFFIX; the caller frees it. */
char *record_part_path(const char *dir, const char *sid, unsigned part, const char *suffix);

struct record_files {
	char **v; /* paths, oldest first: names begin with the time */
	size_t n, cap;
};

/* All *.jsonl in a directory, none where it cannot be read.  record_files_free(). */
void record_files_list(struct record_files *out, const char *dir);
void record_files_free(struct record_files *files);
/* -errno with the sentence where dir cannot be listed. */
int record_dir_check(const char *dir, struct err *err);
