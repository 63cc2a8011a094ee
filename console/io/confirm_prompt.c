/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/confirm_prompt.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int confirm_prompt_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

enum answer confirm_prompt_name(const char *prompt, const char *name, unsigned timeout_s)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[256];
	ssize_t n;
	int rc;

	/* what was typed before the question was not meant as its answer */
	tcflush(STDIN_FILENO, TCIFLUSH);
	fputs(prompt, stderr);
	fflush(stderr);
	rc = poll(&p, 1, timeout_s ? (int)timeout_s * 1000 : -1);
	if (rc < 0)
		return errno == EINTR ? ANSWER_SIGNAL : ANSWER_NO;
	if (!rc)
		return ANSWER_TIMEOUT;
	n = read(STDIN_FILENO, line, sizeof(line) - 1);
	if (n < 0 && errno == EINTR)
		return ANSWER_SIGNAL;
	if (n <= 0)
		return ANSWER_NO;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return strcmp(line, name) ? ANSWER_NO : ANSWER_YES;
}
