/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guid_list: a GUID a line, # comments. */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* -EINVAL with file:line for the first line that is none.  The caller frees *out, which is NULL
 * after an error. */
int guid_list_read(uint64_t **out, size_t *n, FILE *file, const char *path, struct err *err);
