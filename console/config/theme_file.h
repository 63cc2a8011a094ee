/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * theme_file: colours of a user's own:
 *
 *   base = light
 *   good = 28
 *   loud = white on #d75f00 bold
 *
 * A line for each role that shall differ from the base (dark, unless it is said first).  Colours
 * are default, names of the basic ones (red, bright-red), numbers of the xterm-256 palette, and
 * #rrggbb.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/canvas/theme.h"

#define THEME_FILE_BYTES 65536

/* what: one of THEME_WORDS, or a file.  -EINVAL: a sentence with file and line. */
int theme_read(struct theme *out, const char *what, struct err *err);
