/* SPDX-License-Identifier: GPL-2.0-or-later */
/* play_keys: decodes the keys of the player from the bytes of a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PLAY_ESCAPE_MS 50 /* timeout for the rest of an escape sequence */

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

/* Decodes the first key of n >= 1 bytes and returns its length; 0: it is incomplete.  no_more: the
 * timeout has passed: ESC alone quits then, and an incomplete sequence is dropped. */
size_t play_key_take(enum play_key *key, const char *in, size_t n, bool no_more);

/* Reads keys from a terminal, waiting at most wait_ms for the first byte, and calls fn for each.
 * False: end of input. */
bool play_keys_read(int fd, int wait_ms, void (*fn)(void *ctx, enum play_key key), void *ctx);
