/* SPDX-License-Identifier: GPL-2.0-or-later */
/* manual_prompt: what can be typed after ':' as a part of the manual page. */
#ifndef CONSOLE_CLI_MANUAL_PROMPT_H
#define CONSOLE_CLI_MANUAL_PROMPT_H

#include <stdio.h>

void manual_prompt_put(FILE *out);

#endif
