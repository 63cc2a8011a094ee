/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key_name: keys as people write them and help shows them: x, Ctrl-R, F7, Space, PgUp. */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>

#define KEY_NAME_LEN 12

/* The key of the first len bytes of text.  -EINVAL: none, or one that a terminal does not tell
 * from another. */
int key_named(uint32_t *out, const char *text, size_t len, struct err *err);

/* Returns buf. */
const char *key_name(char buf[KEY_NAME_LEN], uint32_t key);
