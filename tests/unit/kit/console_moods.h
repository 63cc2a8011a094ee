/* SPDX-License-Identifier: GPL-2.0-or-later */
/* console_moods: states that take more than a fabric: records of sessions, an update under way. */
#pragma once

#include "tests/unit/kit/console_kit.h"
#include "views/data/lists/session_list.h"

/* Four records, one of them changed after it was written; made again by each call. */
struct sessions *console_records(void);
/* That one is opened: six lines of what was done. */
void console_record_opened(struct sessions *s, const char *file);

/* A plan (console_plan()) in the middle of writing its second wave, one agent silent. */
void console_running(struct console_kit *k);
/* After that: written, waits to be kept. */
void console_waiting(struct console_kit *k);
void console_step(struct state_apply *a, int i, enum step_state st, double took, const char *text);

/* Two plans that change nothing: their figures are as many as those of others. */
void console_plans(struct console_kit *k);
