/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_json: what time_gate finds, for scripts and for the record. */
#pragma once

#include "engines/time/time_gate.h"

#include <jansson.h>

/* {slower, text, pattern, patterns{NAME{before,after,stderr}}, worst_pattern, jobs_slower,
 * worst_job{id,before,after,stderr}}; null where nothing could be compared. */
json_t *gate_json(const struct time_gate *g);
