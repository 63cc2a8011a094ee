/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen_shot: a screen with its colours, which another thread may draw as PNG. */
#pragma once

#include "fabric/base/message/err.h"
#include "views/canvas/canvas.h"

#include <stdint.h>
#include <stdio.h>

struct screen_shot;

/* In the theme in use. */
struct screen_shot *screen_shot_new(const struct canvas *c);
void screen_shot_free(struct screen_shot *s); /* NULL is fine */

/* font: a file, or NULL or "" (png_font_open()); size: of its letters, PNG_SIZE_LEAST to
 * PNG_SIZE_MOST pixels.  The same bytes for the same screen, font and FreeType.  -errno with a
 * sentence: no font, one that cannot be right, too many pixels; -ENOTSUP: the program was built
 * without libpng and FreeType. */
int screen_shot_png(FILE *out, const struct screen_shot *s, const char *font, unsigned size,
		    struct err *err);
