/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: what was done in this session, one JSON object a line, each chained to the line
 * before by its SHA-256; and beside it, where there is a screen, what that showed.
 *
 *   {"v":1,"seq":n,"ts":"..Z","mono_ns":n,"sid":"..","type":"..","user":{..},"data":{..},
 *    "cast":{"off":n,"sha256":".."},"seal":{"epoch":n,"mac":".."},"self":"<64 hex>",
 *    "prev":"<64 hex>"}
 *
 * prev is over the raw bytes of the previous line without its newline, and the last key: no
 * canonical form of JSON is needed to check it.  cast is only there with a screen: how long the
 * asciicast was then, and its hash.  Secrets such as M_Keys must not be given.
 * seal is only there in a directory with a key (seal.h).  self is only in the last line of a file,
 * to which nothing is chained there: the hash of its bytes before that key.
 *
 * SID.jsonl and SID.cast go on in SID.2.jsonl and SID.2.cast when one of them is too long:
 * record.rotate ends the one, record.part begins the other, chained to it.
 * Thread-safe.
 */
#ifndef CONSOLE_RECORD_RECORD_H
#define CONSOLE_RECORD_RECORD_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"
#include "views/canvas/canvas.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_DIR	  "/var/log/ibroute-top" /* default; IBROUTE_RECORD_DIR overrides */
#define RECORD_PART_BYTES (16u << 20)
#define RECORD_CAST_BYTES (256u << 20)

struct record;

struct record_opts {
	const char *dir;    /* NULL: the default */
	const char *fabric; /* its name, may be NULL */
	const char *mode;   /* "ro", "rw", "demo", ... for the first line */
	bool syslog;	    /* heads also to syslog, as IBROUTE_HEAD= */
	/* 0: as above.  A part is ended at that size; of a screen's parts, the oldest in which
	 * nothing was marked are dropped beyond cast_bytes, which record.drop tells. */
	uint64_t part_bytes, cast_bytes;
};

const char *record_dir(const char *dir);

/* Creates DIR/SID.jsonl (0640) with session.start, which names the last session's head.
 * Fails when it cannot be written and synced: then nothing may be changed in the fabric. */
int record_open(struct record **out, const struct record_opts *o, struct err *err);

/* Adds a line; takes the reference of data (NULL is an error: what was to be recorded could
 * not be put into JSON).  After a failed write the line is taken back, and the next that
 * works is preceded by record.gap. */
int record_add(struct record *r, const char *type, json_t *data, struct err *err);
/* The same with data that is the text of one JSON object already: for thousands of numbers, which
 * take their time as json_t.  Only borrowed. */
int record_add_text(struct record *r, const char *type, const char *data, struct err *err);
/* error: what went wrong, as the operator was told.  A line that cannot be written is lost like any
 * other. */
void record_error(struct record *r, const char *area, const char *text);
/* What the screen shows now; colours as of the terminal (256, 16, 0).  Nothing is written when
 * nothing changed.  After a failure record_sync() fails until a frame can be written again. */
int record_screen(struct record *r, const struct canvas *c, int colours, struct err *err);
/* A place in the screen's recording that players can jump to, when there is one. */
void record_mark(struct record *r, const char *label);
/* Nothing was lost so far, and no sync of a part that was ended failed: 0; not synced.  After such
 * a failure it and record_sync() fail for good. */
int record_whole(struct record *r, struct err *err);
int record_sync(struct record *r, struct err *err);  /* on disk when 0; heads to syslog */
int record_close(struct record *r, struct err *err); /* session.end, sync, free; NULL is fine */

const char *record_sid(const struct record *r);
const char *record_path(const struct record *r); /* of its first part */
uint64_t record_seq(struct record *r);		 /* lines so far */
void record_head(struct record *r, struct digest *head, uint64_t *cast_bytes);

/* A sealed line ends so; its HMAC is over the line with zeros for mac's digits. */
#define RECORD_PREV_KEY "\"prev\":\""

#define RECORD_PREV_TAIL (sizeof(RECORD_PREV_KEY) - 1 + DIGEST_HEX - 1 + 2)

#define RECORD_MAC_KEY "\"mac\":\""

/* Bytes from the first digit of mac to the end of the line. */
#define RECORD_MAC_TAIL (DIGEST_HEX - 1 + 3 + RECORD_PREV_TAIL)

/* The last line of a file has one key more before prev: the hash of all bytes before that key.  Its
 * HMAC is over the line without it. */
#define RECORD_SELF_KEY ",\"self\":\""

#define RECORD_SELF_TAIL (sizeof(RECORD_SELF_KEY) - 1 + DIGEST_HEX - 1 + 2 + RECORD_PREV_TAIL)

bool record_line_ends(const char *type); /* session.end, record.rotate: the last of its file */
/* Any bytes as a JSON string: what is not UTF-8 becomes '?'. */
json_t *record_str(const char *s);

/* Session and part (from 1 on) of a file, SID.jsonl or SID.2.jsonl; path may have a directory. */
unsigned record_name(char *sid, size_t size, const char *path);
/* FILE.cast beside FILE.jsonl; the caller frees it. */
char *record_cast_path(const char *path);

struct record_files {
	char **v; /* paths, oldest first: names begin with the time */
	size_t n, cap;
};

/* All *.jsonl in a directory, none where it cannot be read.  record_files_free(). */
void record_files_list(struct record_files *out, const char *dir);
void record_files_free(struct record_files *files);
/* -errno with the sentence where dir cannot be listed. */
int record_dir_check(const char *dir, struct err *err);

/* False: no more lines are needed. */
typedef bool record_line_fn(void *ctx, json_t *line);

/* Calls fn for each line of a file that is JSON.  -ECANCELED when file_progress() says so. */
int record_lines(const char *path, record_line_fn *fn, void *ctx, struct err *err);
/* Values of a JSON object; "" and 0 when they are missing or of another type. */
const char *record_text(const json_t *j, const char *key);
json_int_t record_int(const json_t *j, const char *key);

#endif
