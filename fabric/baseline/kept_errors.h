/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept_errors: error counters as the last run read them, in a file: what rose between two runs. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/traffic/port_errors.h"

/* -ENOENT: there was no run yet; -EPROTO with a sentence: it is not such a file. */
int kept_errors_read(struct error_set **out, const char *path, struct err *err);
int kept_errors_write(const char *path, const struct error_set *s, struct err *err);
