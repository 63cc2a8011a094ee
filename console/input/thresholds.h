/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thresholds: limits of error counters from a file of ibqueryerrors' kind, as a filter of ports. */
#pragma once

#include "fabric/base/message/err.h"

/* Lines of NAME=NUMBER, # comments, as /etc/infiniband-diags/error_thresholds; what it does not set
 * is as ibqueryerrors has it.  *out, for the caller to free, is "symbol_errors>10 or ...". Counters
 * that we do not read are named on stderr.  -EINVAL: file and line. */
int thresholds_filter(char **out, const char *path, struct err *err);
