/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update_event: events of an update as JSON, between the process that runs it and those that
 * watch. */
#pragma once

#include "fabric/update/executor.h"

#include <jansson.h>
#include <stdbool.h>

/* {"event":"begin",...,"status":{...}}; f names the switches of items, may be NULL. */
json_t *update_event_json(const struct executor_event *ev, const struct executor_status *st,
			  const struct fabric *f);
json_t *update_status_json(const struct executor_status *st);
/* The same back, without what belongs to the other process (txn, list, change; slow switches come
 * by GUID, their index is FAB_NONE).
 * false: not such an event.  Anything in it may be missing or nonsense: then it is 0. */
bool update_event_parse(struct executor_event *ev, struct executor_status *st, const json_t *j);
/* A wave as people count, from 1; behind the last one, when all are written, that one.  nwaves 0:
 * not known. */
uint32_t update_event_wave(uint32_t wave, uint32_t nwaves);
