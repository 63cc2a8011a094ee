/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_line: one line of a record as bytes. */
#ifndef CONSOLE_RECORD_RECORD_LINE_H
#define CONSOLE_RECORD_RECORD_LINE_H

#include "console/record/record_hmac.h"
#include "fabric/base/digest.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What is JSON is borrowed text of a whole value, in one line. */
struct record_line {
	uint64_t seq;
	const char *sid, *type; /* neither has anything that JSON would escape */
	const char *user, *data;
	const char *cast;		/* NULL: no screen is recorded */
	const struct record_hmac *seal; /* NULL: not sealed */
	const struct digest *prev;	/* of the line before */
};

/* A sealed line ends so; its HMAC is over the line with zeros for mac's digits. */
#define RECORD_PREV_KEY	 "\"prev\":\""
#define RECORD_PREV_TAIL (sizeof(RECORD_PREV_KEY) - 1 + DIGEST_HEX - 1 + 2)
#define RECORD_MAC_KEY	 "\"mac\":\""
/* Bytes from the first digit of mac to the end of the line. */
#define RECORD_MAC_TAIL (DIGEST_HEX - 1 + 3 + RECORD_PREV_TAIL)

/* The last line of a file has one key more before prev: the hash of all bytes before that key.  Its
 * HMAC is over the line without it. */
#define RECORD_SELF_KEY	 ",\"self\":\""
#define RECORD_SELF_TAIL (sizeof(RECORD_SELF_KEY) - 1 + DIGEST_HEX - 1 + 2 + RECORD_PREV_TAIL)

bool record_line_ends(const char *type); /* session.end, record.rotate: the last of its file */

struct record_text {
	char *v; /* no string: n bytes of cap; freed by the owner */
	size_t n, cap;
};

/* Instead of what is in out: the line, whose last key is prev, without a newline. */
void record_line_put(struct record_text *out, const struct record_line *l);

/* Any bytes as a JSON string: what is not UTF-8 becomes '?'. */
json_t *record_str(const char *s);

#endif
