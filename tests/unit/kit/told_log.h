/* SPDX-License-Identifier: GPL-2.0-or-later */
/* told_log: what a program told in the log, a line each. */
#pragma once

void told_log_begin(void);
void told_log_end(void);

/* Borrowed; it grows with what is told. */
const char *told_log_text(void);
void told_log_clear(void);
