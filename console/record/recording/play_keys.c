/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/recording/play_keys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define ESC 27

struct key_meaning {
	const char *bytes; /* each of them */
	enum play_key key;
};

static enum play_key play_keys_find(const struct key_meaning *m, char c)
{
	while (m->bytes && !(c && strchr(m->bytes, c)))
		m++;
	return m->key;
}

size_t play_key_take(enum play_key *key, const char *in, size_t n, bool no_more)
{
	static const struct key_meaning letters[] = {
		{ "q\3\33", PLAY_QUIT }, { " ", PLAY_PAUSE },  { "]n", PLAY_NEXT },
		{ "[N", PLAY_PREV },	 { "+", PLAY_FASTER }, { "-", PLAY_SLOWER },
		{ "g", PLAY_START },	 { "G", PLAY_END },    { "l", PLAY_ON },
		{ "h", PLAY_BACK },	 { ".", PLAY_STEP },   { NULL, PLAY_NONE },
	};
	/* what follows ESC [ or ESC O; Home is 1 and End 4 in screen and tmux */
	static const struct key_meaning sequences[] = {
		{ "A5", PLAY_PREV },   { "B6", PLAY_NEXT }, { "C", PLAY_ON },	 { "D", PLAY_BACK },
		{ "H17", PLAY_START }, { "F48", PLAY_END }, { NULL, PLAY_NONE },
	};
	size_t i = 2;

	*key = PLAY_NONE;
	if (n == 1 && in[0] == ESC && !no_more)
		return 0;
	if (n == 1 || in[0] != ESC || (in[1] != '[' && in[1] != 'O')) {
		*key = play_keys_find(letters, in[0]);
		return 1;
	}
	while (i < n && (in[i] < '@' || in[i] > '~'))
		i++;
	if (i == n)
		return no_more ? n : 0;
	*key = play_keys_find(sequences, in[2]);
	return i + 1;
}

static bool play_keys_poll(int fd, int wait_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, wait_ms) > 0;
}

bool play_keys_read(int fd, int wait_ms, void (*fn)(void *ctx, enum play_key key), void *ctx)
{
	char in[64];
	size_t n = 0, used;
	enum play_key key;
	bool more = play_keys_poll(fd, wait_ms);

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
		more = n && play_keys_poll(fd, PLAY_ESCAPE_MS);
	}
	return true;
}
