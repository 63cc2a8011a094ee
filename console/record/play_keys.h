/* SPDX-License-Identifier: GPL-2.0-or-later */
/* play_keys: what is typed while a session is played, out of the bytes of a terminal. */
#ifndef CONSOLE_RECORD_PLAY_KEYS_H
#define CONSOLE_RECORD_PLAY_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#define PLAY_ESCAPE_MS 50 /* as long the rest of a key may take that begins with ESC */

enum play_key {
	PLAY_NONE,
	PLAY_QUIT,
	PLAY_PAUSE,
	PLAY_BACK,
	PLAY_ON,
	PLAY_PREV,
	PLAY_NEXT,
	PLAY_FASTER,
	PLAY_SLOWER,
	PLAY_START,
	PLAY_END,
	PLAY_STEP
};

/* The first key of n bytes, and how many of them it is; 0: its rest has not come yet.  no_more:
 * nothing came for so long that it is none: ESC alone then quits, and the begin of a sequence is
 * dropped.  n >= 1. */
size_t play_key_take(enum play_key *key, const char *in, size_t n, bool no_more);

/* Reads keys from the terminal in, at most wait_ms for the first byte, and calls fn for each.  A
 * key whose bytes come apart is one.  False: there is nothing to be read any more. */
bool play_keys_read(int fd, int wait_ms, void (*fn)(void *ctx, enum play_key key), void *ctx);

#endif
