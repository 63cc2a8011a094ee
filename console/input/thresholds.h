/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thresholds: limits of error counters from a file of ibqueryerrors' kind, as a filter of ports. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/traffic/port_errors.h"

/* Lines of NAME=NUMBER, # comments, as /etc/infiniband-diags/error_thresholds; what it does not set
 * is as ibqueryerrors has it.  *out, for the caller to free, is "symbol_errors>10 or ...", of the
 * counters that a table of ports has; limit gets those of all.  -EINVAL: file and line. */
int thresholds_filter(char **out, uint64_t limit[ERROR_COUNT], const char *path, struct err *err);
