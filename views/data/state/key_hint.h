/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key_hint: keys as sentences name them, those in force: "M reads them". */
#pragma once

#include "views/data/state/request.h"

#include <stddef.h>

#define KEY_HINTS     128
#define KEY_HINT_LEN  16
#define KEY_HINT_TEXT 512 /* bytes that sentences with keys take at most */

/* From now on the keys of these rows, for the whole process; name: of the command that does what a
 * row does, NULL: none.  Names are borrowed.  Of several rows of one name the first counts. */
void key_hints_use(const struct binding *rows, size_t n,
		   const char *(*name)(const struct binding *b));

/* The shortest of the keys that do what this command does; ":close" where none does.  Valid until
 * key_hints_use(). */
const char *key_hint(const char *command);

/* Of what a sentence may begin with, the longest key in force: its number, from 1 on; 0: none.
 * *len: its bytes. */
uint16_t key_hint_read(size_t *len, const char *text);
/* The code of the key of that number; 0: none. */
uint32_t key_hint_code(uint16_t number);

/* The i-th command that has a key by default, NULL behind the last. */
const char *key_hint_command(size_t i);

/* The text with keys for the commands in braces: "{close}: close" is "x: close".  Returns buf. */
const char *key_hint_text(char *buf, size_t len, const char *text);
