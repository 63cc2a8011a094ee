/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_read: the records of a directory, verified, as view 9 and scripts show them. */
#ifndef CONSOLE_RECORD_SESSION_READ_H
#define CONSOLE_RECORD_SESSION_READ_H

#include "views/data/session_list.h"

#include <stdbool.h>

/* True: nothing more is to be read. */
typedef bool session_stop_fn(void *arg);

/* Newest first; open: the file whose lines are wanted, "" none.  What cannot be read has a finding
 * in its row, or in why.  known: rows that are taken as they are, read before; NULL: all are
 * verified, which takes as long as 'audit verify'.  Tells file_progress() how far all of it is.
 * stop may be NULL.  sessions_free(). */
struct sessions *session_read(const char *dir, const char *open, const struct sessions *known,
			      session_stop_fn *stop, void *arg);

#endif
