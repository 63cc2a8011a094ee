/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_line: one line of a record as bytes. */
#ifndef CONSOLE_RECORD_LINE_H
#define CONSOLE_RECORD_LINE_H

#include "console/seal.h"
#include "fabric/base/digest.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct record_line {
	uint64_t seq;
	const char *sid, *type;
	json_t *user, *data;	   /* borrowed */
	const char *text;	   /* borrowed; instead of data, which is null: JSON already */
	json_t *cast;		   /* borrowed; NULL: no screen is recorded */
	const struct seal *seal;   /* NULL: not sealed */
	const struct digest *prev; /* of the line before */
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

/* Without a newline; its last key is prev.  NULL: data cannot be put into JSON.  Caller frees. */
char *record_line_text(const struct record_line *l);

/* Any bytes as a JSON string: what is not UTF-8 becomes '?'. */
json_t *record_str(const char *s);

#endif
