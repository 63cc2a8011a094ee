/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_line: the format of a line of a record.
 *
 *   {"v":1,"seq":n,"ts":"..Z","mono_ns":n,"sid":"..","type":"..","user":{..},"data":{..},
 *    "cast":{"off":n,"sha256":".."},"seal":{"v":2,"epoch":n,"mac":".."},"self":"<64 hex>",
 *    "prev":"<64 hex>"}
 *
 * prev, the last key, is over the raw bytes of the previous line without its newline: no canonical
 * JSON is needed to verify it.  cast is the length and hash of the asciicast at that time.  seal is
 * there in directories with a key (record_hmac.h).  self, the hash of the bytes before that key, is
 * in the last line of a file, to which nothing is chained.  Secrets such as M_Keys must not be
 * given.
 */
#pragma once

#include "console/record/cast.h"
#include "console/record/record_hmac.h"
#include "console/record/record_queue.h"
#include "fabric/base/hash/digest.h"

#include <stdbool.h>
#include <stdint.h>

/* The end of a sealed line; its HMAC is over the line with zeros for the digits of mac. */
#define RECORD_PREV_KEY "\"prev\":\""

#define RECORD_PREV_TAIL (sizeof(RECORD_PREV_KEY) - 1 + DIGEST_HEX - 1 + 2)

#define RECORD_MAC_KEY "\"mac\":\""

/* Bytes from the first digit of mac to the end of the line. */
#define RECORD_MAC_TAIL (DIGEST_HEX - 1 + 3 + RECORD_PREV_TAIL)

/* The last line of a file has one key more before prev: the hash of all bytes before that key.  Its
 * HMAC is over the line without it. */
#define RECORD_SELF_KEY ",\"self\":\""

#define RECORD_SELF_TAIL (sizeof(RECORD_SELF_KEY) - 1 + DIGEST_HEX - 1 + 2 + RECORD_PREV_TAIL)

/* All is borrowed. */
struct record_line {
	uint64_t seq;
	const struct record_time *at;
	const char *sid, *type;
	const char *user, *data;	/* each one JSON object */
	const struct cast *cast;	/* NULL: nothing was shown in this part yet */
	const struct record_hmac *seal; /* NULL: the directory is not sealed */
	const struct digest *prev;
};

/* Without a newline; the caller frees it. */
char *record_line_text(const struct record_line *l);
/* {"uid":..,"loginuid":..,"ssh":..} of this process; the caller frees it. */
char *record_line_user(void);
bool record_line_ends(const char *type); /* session.end, record.rotate: the last of its file */
