/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message_summary: the metrics of messages by their size, where ports have LIDs for small and for
 * large ones, beside those of software that knows base LIDs only. */
#pragma once

#include "console/plan/route_report.h"

#include <jansson.h>
#include <stdio.h>

/* An object with one for each of base, small and large; null where they are not known. */
json_t *message_summary_json(const struct route_report *e);
/* Adds the same of a job: key "messages". */
void message_summary_add_job(json_t *o, const struct route_report *e, uint32_t job);
/* A table; nothing where they are not known. */
void message_summary_print(FILE *out, const struct route_report *e);
