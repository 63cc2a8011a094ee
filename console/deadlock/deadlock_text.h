/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deadlock_text: what became of tables that were tried for deadlocks, for people and scripts. */
#pragma once

#include "console/deadlock/deadlock_test.h"

#include <jansson.h>
#include <stdio.h>

/* A buffer of the circle: "S3/17 -> S9/4 VL 0, 25 packets, the first from n012 to LID 57 (SL 0)".
 */
void deadlock_text_line(char *buf, size_t len, const struct deadlock_test *s, uint32_t i);
/* pattern: of the jobs that sent; NULL: jobs did not. */
json_t *deadlock_text_json(const struct deadlock_test *s, const char *pattern);
void deadlock_text_print(FILE *out, const struct deadlock_test *s, const char *pattern);
