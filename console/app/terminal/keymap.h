/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keymap: which key means what, where; the footers, the help view and the manual come from it. */
#pragma once

#include "views/data/state/request.h"

#include <stddef.h>

/* Key codes: a Unicode code point, or one of these. */
enum key {
	K_NONE = 0,
	K_TAB = '\t',
	K_ENTER = '\r',
	K_ESC = 27,
	K_BACKSPACE = 127,
	K_UP = 0x110000,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_PGUP,
	K_PGDN,
	K_HOME,
	K_END,
	K_DELETE,
	K_BACKTAB,
	K_F1,
	K_F2,
	K_F3,
	K_F4,
	K_F5,
	K_F6,
	K_F7,
	K_F8,
	K_F9,
	K_F10,
	K_CLICK, /* the mouse; terminal_mouse() says where */
	K_WHEEL_UP,
	K_WHEEL_DOWN,
	K_RESIZE, /* the terminal has another size now */
	K_EOF,	  /* the terminal went away */
};

#define K_CTRL(letter) ((letter)&0x1f)

/* What keys mean now: the same rows as by default, with the keys that were chosen. */
const struct binding *keymap_all(size_t *n);
const struct binding *keymap_default(size_t *n);
/* Of the command that does what this row does; NULL: none. */
const char *keymap_name(const struct binding *b);

/* From now on these keys: as many rows as keymap_default() has, whose keys and shown are copied.
 * For the whole process. */
#define KEYMAP_SHOWN 48 /* bytes of what is shown of the keys of a row */
void keymap_use(const struct binding *rows);

/* What a key means in a view.  typing: keys are text.  Without rw, a key that would change
 * the fabric comes with refused_ro set. */
void keymap_translate(struct input *out, uint32_t key, enum view_id view, bool typing, bool rw);

/* The same while a menu lies over the view: moving, Enter, Space, Esc; letters are REQ_CHAR. */
void keymap_menu(struct input *out, uint32_t key);
