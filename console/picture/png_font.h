/* SPDX-License-Identifier: GPL-2.0-or-later */
/* png_font: the font that letters of pictures are taken from. */
#pragma once

#include "fabric/base/message/err.h"

#include <stdio.h>

#define PNG_SIZE       16 /* pixels of an em, unless another is said */
#define PNG_SIZE_LEAST 8
#define PNG_SIZE_MOST  48

struct png_font {
	char path[256];
	FILE *regular, *bold; /* bold: NULL: made of the regular one */
};

/* The file of that name, or, where it is NULL or "", the first monospaced font in the places where
 * distributions put them.  -ENOENT and the like with a sentence that says what to install. */
int png_font_open(struct png_font *out, const char *path, struct err *err);
void png_font_close(struct png_font *f);
