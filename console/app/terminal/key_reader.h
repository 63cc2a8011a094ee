/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_reader: keys from the bytes that a terminal sends.
 *
 * Escape sequences are read to their end by the grammar that all terminals share (ECMA-48, and what
 * rxvt, the Linux console and VT52 do otherwise), so that one that nobody knows is no row of
 * letters: it means nothing.  No terminal, no clock: the caller has both.
 */
#pragma once

#include "console/app/terminal/keymap.h"

#include <stdbool.h>
#include <stddef.h>

struct key_reader;

struct key_reader *key_reader_new(void);
void key_reader_free(struct key_reader *r); /* NULL is fine */

/* What this terminal sends for a key, before what most send; K_NONE: for one that means nothing.
 * The first that is learnt for some bytes stands; a single byte is no sequence and is left out. */
void key_reader_learn(struct key_reader *r, const char *bytes, uint32_t key);

/* Bytes that came at now_s, seconds of a clock that never jumps. */
void key_reader_put(struct key_reader *r, const void *bytes, size_t n, double now_s);
/* The next key; K_NONE: there is none yet. */
uint32_t key_reader_take(struct key_reader *r, double now_s);
/* Seconds until the bytes that are there are a key if nothing follows: Esc, or the beginning of
 * something longer; negative: no such. */
double key_reader_wait_s(const struct key_reader *r, double now_s);

/* The key last taken belongs to a text that is pasted. */
bool key_reader_pasting(const struct key_reader *r);
/* Where the mouse was at the last of K_CLICK, K_WHEEL_*. */
void key_reader_mouse(const struct key_reader *r, int *x, int *y);
