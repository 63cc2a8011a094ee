/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input: a file that an option names, or "-" for stdin, and what it looks like. */
#ifndef CONSOLE_INPUT_H
#define CONSOLE_INPUT_H

#include "fabric/base/err.h"
#include "fabric/files/report.h"

#include <stdio.h>

#define INPUT_HEAD 8192

struct input {
	FILE *file;	  /* at its beginning; can be rewound, also when it came through a pipe */
	const char *path; /* as messages show it */
	char head[INPUT_HEAD + 1]; /* its first bytes, zero-terminated; zero bytes as blanks */
};

/* -errno with a sentence.  An empty file is fine here. */
int input_open(struct input *in, const char *path, struct err *err);
void input_close(struct input *in);

/* Tells the warnings of a reader in the log. */
void input_tell(const struct read_report *report);

#endif
