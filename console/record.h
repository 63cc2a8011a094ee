/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: what was done in this session, one JSON object a line, each chained to the line
 * before by its SHA-256.
 *
 *   {"v":1,"seq":n,"ts":"..Z","mono_ns":n,"sid":"..","type":"..","user":{..},"data":{..},
 *    "prev":"<64 hex>"}
 *
 * prev is over the raw bytes of the previous line without its newline, and the last key: no
 * canonical form of JSON is needed to check it.  Secrets such as M_Keys must not be given.
 * Thread-safe.
 */
#ifndef CONSOLE_RECORD_H
#define CONSOLE_RECORD_H

#include "fabric/base/digest.h"
#include "fabric/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define RECORD_DIR "/var/log/ibroute-top" /* default; IBROUTE_RECORD_DIR overrides */

struct record;

struct record_opts {
	const char *dir;    /* NULL: the default */
	const char *fabric; /* its name, may be NULL */
	const char *mode;   /* "ro", "rw", "demo", ... for the first line */
	bool syslog;	    /* heads also to syslog, as IBROUTE_HEAD= */
};

const char *record_dir(const char *dir);

/* Creates DIR/SID.jsonl (0640) with session.start, which names the last session's head.
 * Fails when it cannot be written and synced: then nothing may be changed in the fabric. */
int record_open(struct record **out, const struct record_opts *o, struct err *err);

/* Adds a line; takes the reference of data (NULL is an error: what was to be recorded could
 * not be put into JSON).  After a failed write the line is taken back, and the next that
 * works is preceded by record.gap. */
int record_add(struct record *r, const char *type, json_t *data, struct err *err);
/* Nothing was lost so far: 0; not synced. */
int record_whole(struct record *r, struct err *err);
int record_sync(struct record *r, struct err *err);  /* on disk when 0; heads to syslog */
int record_close(struct record *r, struct err *err); /* session.end, sync, free; NULL is fine */

const char *record_sid(const struct record *r);
const char *record_path(const struct record *r);
uint64_t record_seq(struct record *r); /* lines so far */

/* Any bytes as a JSON string: what is not UTF-8 becomes '?'. */
json_t *record_str(const char *s);

#endif
