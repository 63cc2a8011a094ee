/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/mkey.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static bool parse(uint64_t *key, const char *text)
{
	char *end;

	errno = 0;
	*key = strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

bool mkey_take(uint64_t *key, char *arg)
{
	bool number = parse(key, arg);

	explicit_bzero(arg, strlen(arg));
	return !number;
}

int mkey_ask(uint64_t *key, struct err *err)
{
	bool tty = isatty(STDIN_FILENO), got;
	struct termios old, quiet;
	char line[64];

	fputs("M_Key: ", stderr);
	if (tty && !tcgetattr(STDIN_FILENO, &old)) {
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
	}
	got = fgets(line, sizeof(line), stdin);
	if (tty)
		tcsetattr(STDIN_FILENO, TCSANOW, &old);
	fputc('\n', stderr);
	if (got) {
		line[strcspn(line, "\n")] = '\0';
		got = parse(key, line);
	}
	explicit_bzero(line, sizeof(line));
	return got ? 0 : err_set(err, -EINVAL, "the M_Key is a number, such as 0x1234");
}
