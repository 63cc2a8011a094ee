/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_read: the records of a directory, verified, as view 9 and scripts show them. */
#pragma once

#include "views/data/lists/session_list.h"

#include <stdbool.h>

/* True: stop reading. */
typedef bool session_stop_fn(void *arg);

/* Newest first; open: the file whose entries to read, "" none.  Read errors are in the row, or in
 * why.  known: rows that were read before; NULL: all are verified, which takes as long as 'audit
 * verify' and is reported to file_progress().  stop may be NULL.  sessions_free(). */
struct sessions *session_read(const char *dir, const char *open, const struct sessions *known,
			      session_stop_fn *stop, void *arg);
