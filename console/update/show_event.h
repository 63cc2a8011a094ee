/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show_event: what an update does, as lines on stdout. */
#pragma once

#include "fabric/update/executor.h"

/* block: which one an APPLY_ITEM is about; those that went well are not shown. */
void show_event(const struct executor_event *ev, const char *block, const char *txn);
