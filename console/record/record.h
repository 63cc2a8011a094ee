/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: an audit log of a session, one JSON object a line, each with the SHA-256 of the line
 * before (a chain); and beside it a recording of the screen, where there is one.
 *
 *   {"v":1,"seq":n,"ts":"..Z","mono_ns":n,"sid":"..","type":"..","user":{..},"data":{..},
 *    "cast":{"off":n,"sha256":".."},"seal":{"epoch":n,"mac":".."},"self":"<64 hex>",
 *    "prev":"<64 hex>"}
 *
 * prev, the last key, is over the raw bytes of the previous line without its newline: no canonical
 * JSON is needed to verify it.  cast is the length and hash of the asciicast at that time.  seal is
 * there in directories with a key (record_hmac.h).  self, the hash of the bytes before that key, is
 * in the last line of a file, to which nothing is chained.  Secrets such as M_Keys must not be
 * given.
 *
 * SID.jsonl and SID.cast continue in SID.2.jsonl and SID.2.cast when one of them is too long:
 * record.rotate ends a part, record.part begins the next one.  Thread-safe.
 *
 * record_start() has a thread of its own for all that (record_queue.h), with the time and in the
 * order in which it was added; what is on disk after a crash is a prefix of that.
 */
#pragma once

#include "fabric/base/digest.h"
#include "fabric/base/err.h"
#include "views/canvas/canvas.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_DIR	   "/var/log/ibroute-top" /* default; IBROUTE_RECORD_DIR overrides */
#define RECORD_PART_BYTES  (16u << 20)
#define RECORD_CAST_BYTES  (256u << 20)
#define RECORD_QUEUE_BYTES (16u << 20)

struct record;

struct record_opts {
	const char *dir;    /* NULL: the default */
	const char *fabric; /* its name, may be NULL */
	const char *mode;   /* "ro", "rw", "demo", ... for the first line */
	bool syslog;	    /* heads also to syslog, as IBROUTE_HEAD= */
	/* Size of a part, and of all screens of the session, 0: as above; beyond it the oldest
	 * parts of the screen without a marker are removed (record.drop). */
	uint64_t part_bytes, cast_bytes;
	size_t queue_bytes; /* that wait to be written; 0: as above */
};

const char *record_dir(const char *dir);

/* Creates DIR/SID.jsonl (0640) with session.start, which names the last session's head.
 * Fails when it cannot be written and synced: then nothing may be changed in the fabric. */
int record_open(struct record **out, const struct record_opts *o, struct err *err);
/* The same in a thread of its own, which writes all that is added from now on: only record_whole(),
 * record_sync() and record_close() wait for the disk.  Strings of o must live until it is open, or
 * closed.  -errno: there is no thread. */
int record_start(struct record **out, const struct record_opts *o, struct err *err);
/* 0, -EINPROGRESS where it does not wait, or why it could not be opened: then what is added is
 * dropped, and nothing may be changed in the fabric. */
int record_opened(struct record *r, bool wait, struct err *err);
/* After record_start(): is something lost, now or since it was asked last, and why? */
bool record_lost(struct record *r, struct err *err);

/* Adds a line; takes the reference of data (NULL is an error: it could not be encoded).  After a
 * failed write the line is removed, and the next one is preceded by record.gap.  After
 * record_start() 0 says that it will be written; -ENOBUFS: too much waits for the disk. */
int record_add(struct record *r, const char *type, json_t *data, struct err *err);
/* The same with data as text of one JSON object, borrowed: faster for thousands of numbers. */
int record_add_text(struct record *r, const char *type, const char *data, struct err *err);
/* record_add() for whoever goes on without it: the log tells what failed.  r NULL: no record. */
void record_note(struct record *r, const char *type, json_t *data);
/* Records an error message that the operator has seen. */
void record_error(struct record *r, const char *area, const char *text);
/* Records a frame, where it differs from the last one; colours: of the terminal (256, 16, 0).
 * After a failure record_sync() fails until a frame can be written again. */
int record_screen(struct record *r, const struct canvas *c, int colours, struct err *err);
/* A marker in the recorded screen that players can jump to. */
void record_mark(struct record *r, const char *label);
/* 0: nothing was lost, and no sync of an ended part failed; does not sync.  After such a failure it
 * and record_sync() always fail. */
int record_whole(struct record *r, struct err *err);
int record_sync(struct record *r, struct err *err);  /* on disk when 0; heads to syslog */
int record_close(struct record *r, struct err *err); /* session.end, sync, free; NULL is fine */

const char *record_sid(const struct record *r);
const char *record_path(struct record *r); /* of its first part; "": it is not open */
uint64_t record_seq(struct record *r);	   /* lines so far */
void record_head(struct record *r, struct digest *head, uint64_t *cast_bytes);

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
