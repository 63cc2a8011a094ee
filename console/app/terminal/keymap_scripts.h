/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keymap_scripts: what does in a script what a key does on the screen. */
#pragma once

#include "views/data/state/request.h"

#include <stdio.h>

/* Words of the command line, or why there is nothing to be done; NULL: nobody has said. */
const char *keymap_script(enum req req);

/* For the manual: every key of the keymap, its command of the command line, and the above. */
void keymap_scripts_put(FILE *out);
