/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_log: what an update has done, line by line, and each block that was read back. */
#ifndef VIEWS_APPLY_APPLY_LOG_H
#define VIEWS_APPLY_APPLY_LOG_H

#include "views/canvas/canvas.h"
#include "views/data/state.h"

/* Lines of blocks are made only where they are drawn. */
uint64_t apply_log_lines(const struct state_apply *a);
/* Into r, its first line a rule: as many as fit, the newest *back lines left out, which is brought
 * into range. */
void apply_log_draw(const struct state_apply *a, struct canvas *c, struct rect r, uint64_t *back);

#endif
