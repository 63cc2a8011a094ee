/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen_look: what a cell looks like where nobody else has colours of his own: in files. */
#pragma once

#include "views/canvas/canvas.h"

#include <stdbool.h>

struct screen_look {
	int fg, bg; /* 0xRRGGBB */
	bool bold;
};

/* In the theme in use. */
struct screen_look screen_look_of(const struct cell *cell);
/* Of what is plain text. */
struct screen_look screen_look_own(void);
