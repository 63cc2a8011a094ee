/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_json: values of JSON, as records and output for scripts have them. */
#pragma once

#include <jansson.h>

/* Any bytes as a JSON string, as json_text() has it. */
json_t *record_str(const char *s);
/* Values of a JSON object; "" and 0 when they are missing or of another type. */
const char *record_text(const json_t *j, const char *key);
json_int_t record_int(const json_t *j, const char *key);
