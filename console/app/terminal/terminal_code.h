/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal_code: the sequences of screen_code.h, from the description of the terminal. */
#pragma once

#include "console/app/terminal/screen_code.h"

/* After start_color(), where there are colours: 0 (none), 16, 256 or COLOURS_TRUE.  False: its
 * sequences are others, and curses has to write. */
bool terminal_code_learn(struct screen_code *out, int colours);
