/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/play_keys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define ESC 27

static enum play_key play_keys_arrow(char c)
{
	switch (c) {
	case 'A':
	case '5':
		return PLAY_PREV;
	case 'B':
	case '6':
		return PLAY_NEXT;
	case 'C':
		return PLAY_ON;
	case 'D':
		return PLAY_BACK;
	case 'H':
	case '1': /* so within screen and tmux */
	case '7':
		return PLAY_START;
	case 'F':
	case '4':
	case '8':
		return PLAY_END;
	default:
		return PLAY_NONE;
	}
}

static enum play_key play_keys_letter(char c)
{
	switch (c) {
	case 'q':
	case 3:
	case ESC:
		return PLAY_QUIT;
	case ' ':
		return PLAY_PAUSE;
	case ']':
	case 'n':
		return PLAY_NEXT;
	case '[':
	case 'N':
		return PLAY_PREV;
	case '+':
		return PLAY_FASTER;
	case '-':
		return PLAY_SLOWER;
	case 'g':
		return PLAY_START;
	case 'G':
		return PLAY_END;
	case 'l':
		return PLAY_ON;
	case 'h':
		return PLAY_BACK;
	case '.':
		return PLAY_STEP;
	default:
		return PLAY_NONE;
	}
}

size_t play_key_take(enum play_key *key, const char *in, size_t n, bool no_more)
{
	size_t i = 2;

	*key = PLAY_NONE;
	if (n == 1 && in[0] == ESC && !no_more)
		return 0;
	if (n == 1 || in[0] != ESC || (in[1] != '[' && in[1] != 'O')) {
		*key = play_keys_letter(in[0]);
		return 1;
	}
	while (i < n && (in[i] < '@' || in[i] > '~'))
		i++;
	if (i == n)
		return no_more ? n : 0;
	*key = play_keys_arrow(in[2]);
	return i + 1;
}

static bool play_keys_comes(int fd, int wait_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, wait_ms) > 0;
}

bool play_keys_read(int fd, int wait_ms, void (*fn)(void *ctx, enum play_key key), void *ctx)
{
	char in[64];
	size_t n = 0, used;
	enum play_key key;
	bool more = play_keys_comes(fd, wait_ms);

	while (more || n) {
		ssize_t got = more ? read(fd, in + n, sizeof(in) - n) : 0;

		if (more && got <= 0)
			return got < 0 && errno == EINTR;
		n += (size_t)got;
		while (n && (used = play_key_take(&key, in, n, !more || n == sizeof(in)))) {
			fn(ctx, key);
			n -= used;
			memmove(in, in + used, n);
		}
		more = n && play_keys_comes(fd, PLAY_ESCAPE_MS);
	}
	return true;
}
