/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_place: the directory and files of a record, and the user that each of its lines names. */
#ifndef CONSOLE_RECORD_RECORD_PLACE_H
#define CONSOLE_RECORD_RECORD_PLACE_H

#include "fabric/base/err.h"

/* The directory, with its parents; a new one is 0750.  -ENOTDIR: something else is there. */
int record_mkdir(const char *dir, struct err *err);
/* DIR/SID.jsonl, and of part 2 on DIR/SID.2.jsonl; caller frees. */
char *record_part_path(const char *dir, const char *sid, unsigned part, const char *ending);
/* A new file (0640), locked, to append to; *fd is the caller's.  -EEXIST when it is there. */
int record_file(int *fd, const char *path, struct err *err);
/* {"uid":..,"loginuid":..,"ssh":..} of this process; caller frees. */
char *record_user(void);

#endif
