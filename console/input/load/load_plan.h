/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_plan: plan files; a terminal is told how far they are read. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/plan/file/plan_bytes.h"

/* plan_load() */
int load_plan(struct plan **out, const char *path, struct err *err);
/* The same with its bytes, see plan_bytes_load(). */
int load_plan_bytes(struct plan_bytes *bytes, struct plan **out, const char *path, struct err *err);
