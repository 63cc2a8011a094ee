/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_apart: plan_decode() with the bytes read in a process that can do nothing else
 * (apart_read()). */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/plan/plan.h"

#include <stddef.h>

/* As plan_decode(); -ECHILD and the like: that process has failed. */
int plan_decode_apart(struct plan **out, const void *data, size_t len, const char *path,
		      struct err *err);
