/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_file: a file that an option names, or "-" for stdin, and what it looks like. */
#pragma once

#include "console/io/progress_line.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/base/text/notes.h"

#include <stdio.h>

#define INPUT_FILE_HEAD 8192

struct input_file {
	FILE *file;	  /* at its beginning; can be rewound, also when it came through a pipe */
	const char *path; /* as messages show it */
	char head[INPUT_FILE_HEAD + 1]; /* its first bytes, zero-terminated; zero bytes as blanks */
	struct progress_line watch; /* tells a terminal how far it is read; it stays where it is */
};

/* -errno with a sentence.  An empty file is fine here. */
int input_file_open(struct input_file *in, const char *path, struct err *err);
void input_file_close(struct input_file *in);
/* Closes it and, where rc is 0, tells what the reader reported.  Returns rc. */
int input_file_end(struct input_file *in, const struct read_report *report, int rc);

struct apart;

/* Opens the file as *in, has it read in a process of its own and closes it; a has all but the file
 * and its path. */
int input_file_read_apart(struct apart *a, struct input_file *in, const char *path,
			  struct err *err);

/* Tells the warnings of a reader in the log. */
void input_file_tell(const struct read_report *report);

/* Who wants to know more of the files that this thread reads. */
struct input_file_watch {
	struct notes *notes;  /* warnings, beside the log; may be NULL */
	bool summed;	      /* a file was opened; the next is of its contents */
	struct digest sha256; /* of the one opened last */
};

/* w lives until the next call; NULL: nobody.  Returns the previous one. */
struct input_file_watch *input_file_watch_set(struct input_file_watch *w);
