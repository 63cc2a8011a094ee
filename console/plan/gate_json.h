/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_json: what time_gate finds, for scripts and for the record. */
#pragma once

#include "engines/parx/message_efi.h"
#include "engines/time/time_gate.h"

#include <jansson.h>

/* {slower, text, pattern, patterns{NAME{before,after,stderr}}, worst_pattern, jobs_slower,
 * worst_job{id,before,after,stderr}}; null where nothing could be compared. */
json_t *gate_json(const struct time_gate *g);
/* Those of base LIDs, small and large messages, by enum message_size, as its key messages; into
 * nothing where it is null. */
void gate_json_add_messages(json_t *o, const struct time_gate *gate);
