/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guid_list_apart: guid_list_read() in a process that can do nothing else (apart_read()). */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* As guid_list_read(); -ECHILD and the like: that process has failed. */
int guid_list_apart_read(uint64_t **out, size_t *n, FILE *file, const char *path, struct err *err);
