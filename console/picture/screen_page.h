/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen_page: a screen with its colours, as a page of HTML and as a picture (SVG), each one file
 * that needs no other. */
#pragma once

#include "views/canvas/canvas.h"

#include <stdio.h>

void screen_page_html(FILE *out, const struct canvas *c, const char *title);
void screen_page_svg(FILE *out, const struct canvas *c, const char *title);
