/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * note_file: notes in a file, a line each: what it is on, when it was written, the text, with tabs
 * between.
 *
 *	link 0x0002c90000000001/17	2026-11-20T03:10:00Z	cable swapped, ticket 4711
 *	switch 0x0002c90000000001	...
 *	host 0x0002c90000000102	...
 *	job 81234 hpc1	...		of the fabric of that name
 *	time 2026-11-20T03:10:00Z hpc1	...
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/data/row_notes.h"

/* $XDG_STATE_HOME/ibroute-top/notes (default: ~/.local/state); NULL: there is no HOME.  To be
 * freed. */
char *note_file_path(void);
/* Into out, which is empty.  Nothing of it is believed: what is wrong is told to the log with file
 * and line, and left out.  Of several on the same the last counts. */
int note_file_read(struct row_notes *out, const char *path, struct err *err);
/* Puts one in, or takes the one on the same out where its text is ""; other lines stay. */
int note_file_change(const char *path, const struct row_note *note, struct err *err);
