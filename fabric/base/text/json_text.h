/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_text: strings of JSON that are plain (plain.h), on their way out and on their way in.  JSON
 * escapes a control character, and whoever reads it has it back; C1 and the marks that turn the
 * direction of writing are not even escaped. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* A string, as plain_text() makes it, but with line feeds and tabs; NULL: null. */
json_t *json_text(const char *s);

/* Of what was read: every string and every key in it, in place, without line feeds and tabs, too.
 * Returns j; NULL is fine. */
json_t *json_text_clean(json_t *j);

/* What an object has under a key; "" and 0 where it is missing or of another type. */
const char *json_string_at(const json_t *object, const char *key);
json_int_t json_integer_at(const json_t *object, const char *key);
/* A count: 0 also where it does not fit. */
uint32_t json_u32_at(const json_t *object, const char *key);
