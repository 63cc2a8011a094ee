/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_kit: what a console makes a terminal be sent, frame by frame. */
#pragma once

#include "console/app/terminal/screen_code.h"
#include "tests/unit/kit/console_kit.h"

#define LINE_BUDGET 9999 /* bytes that a key may send */

enum line_kind {
	LINE_XTERM, /* 256 colours, ECH and REP */
	LINE_TMUX,  /* 256 colours, neither */
	LINE_TRUE,  /* true colours, neither */
	LINE_KINDS
};

struct line_kit {
	struct console_kit *k;
	enum line_kind kind;
	struct screen_code code;
	struct cell *shown;
	int w, h;
};

/* A terminal of that size, in braille and colours, that shows nothing yet. */
void line_open(struct line_kit *l, struct console_kit *k, enum line_kind kind, int w, int h);
void line_close(struct line_kit *l);
/* Bytes of the frame after these keys. */
size_t line_bytes(struct line_kit *l, const char *keys);
/* Fails the test when that is more than a key may send. */
void line_is_small(struct line_kit *l, const char *keys);

/* A load of its own on each port so that hardly two neighbours are alike, and full histories. */
void line_make_busy(struct console_kit *k);
