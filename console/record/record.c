/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record.h"

#include "console/record/cast.h"
#include "console/record/record_files.h"
#include "console/record/record_queue.h"
#include "console/record/record_read.h"
#include "console/record/record_writer.h"
#include "fabric/base/file/store.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/json_text.h"
#include "fabric/version.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What others may ask for while something is written. */
struct record_seen {
	char *path; /* of its first part; NULL: not open */
	uint64_t seq, cast_bytes;
	struct digest head;
	bool first;	   /* no session was before it */
	bool failing;	   /* to write a line, or frames since then */
	struct err failed; /* why, since it was asked last; "": it has not */
};

struct record {
	struct record_opts opts;    /* its strings are the caller's, until it is open */
	struct record_queue *queue; /* NULL: whoever adds writes */
	pthread_mutex_t seen_lock;
	struct record_seen seen;
	pthread_mutex_t lock; /* of the writer */
	struct record_writer w;
};

static void record_show(struct record *r, const struct record_entry *e, int rc,
			const struct err *err)
{
	struct record_seen *s = &r->seen;

	pthread_mutex_lock(&r->seen_lock);
	s->seq = r->w.seq;
	s->head = r->w.head;
	s->cast_bytes = r->w.cast ? cast_size(r->w.cast) : 0;
	if (rc && e->what <= RECORD_FRAME) {
		s->failing = true;
		s->failed = *err;
	} else if (e->what == RECORD_FRAME) {
		s->failing = false;
	}
	pthread_mutex_unlock(&r->seen_lock);
}

static int record_write(void *of, const struct record_entry *e, struct err *err)
{
	struct record *r = of;
	struct err why = { "" };
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = record_writer_write(&r->w, e, &why);
	record_show(r, e, rc, &why);
	pthread_mutex_unlock(&r->lock);
	if (rc && err)
		*err = why;
	return rc;
}

static int record_first_line(struct record *r, struct err *err)
{
	char sid[64] = "", hex[DIGEST_HEX];
	struct digest last;
	int64_t seq;
	const struct record_opts *o = &r->opts;
	struct record_entry e = { .what = RECORD_LINE, .at = r->w.began, .type = "session.start" };
	json_t *data, *genesis = json_null();
	bool first = !record_previous(sid, sizeof(sid), &last, &seq, r->w.dir, r->w.sid);
	char *text;
	int rc;

	pthread_mutex_lock(&r->seen_lock);
	r->seen.first = first;
	pthread_mutex_unlock(&r->seen_lock);
	if (!first)
		genesis = json_pack("{s:o, s:I, s:s}", "sid", json_text(sid), "seq",
				    (json_int_t)seq, "head", digest_hex(hex, &last));
	data = json_pack("{s:s, s:s, s:o, s:s, s:o, s:I, s:o}", "program", "ibroute-top", "version",
			 IBROUTE_VERSION, "fabric", o->fabric ? json_text(o->fabric) : json_null(),
			 "mode", o->mode ? o->mode : "ro", "host", json_text(r->w.host), "pid",
			 (json_int_t)getpid(), "genesis", genesis);
	e.text = text = json_dumps(data, JSON_COMPACT);
	rc = record_write(r, &e, err);
	free(text);
	json_decref(data);
	return rc;
}

static void record_free(struct record *r)
{
	record_writer_free(&r->w);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->seen_lock);
	free(r->seen.path);
	free(r);
}

static struct record *record_new(const struct record_opts *o)
{
	struct record *r = xcalloc(1, sizeof(*r));

	if (o)
		r->opts = *o;
	record_writer_init(&r->w, &r->opts);
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->seen_lock, NULL);
	return r;
}

/* What was begun stays for record_free(). */
static int record_begin(struct record *r, struct err *err)
{
	const struct record_entry sync = { .what = RECORD_SYNC, .at = r->w.began };
	int rc = record_writer_create(&r->w, err);

	if (!rc)
		rc = record_first_line(r, err);
	if (!rc)
		rc = record_write(r, &sync, err);
	return rc ? rc : store_sync_dir(r->w.dir, err);
}

static int record_do_open(void *of, struct err *err)
{
	struct record *r = of;
	int rc = record_begin(r, err);

	/* the session was never started: nothing else is in the file */
	if (rc && r->w.fd >= 0 && !r->w.seq)
		record_writer_remove(&r->w);
	if (rc)
		return rc;
	pthread_mutex_lock(&r->seen_lock);
	r->seen.path = xstrdup(r->w.path);
	pthread_mutex_unlock(&r->seen_lock);
	return 0;
}

int record_open(struct record **out, const struct record_opts *o, struct err *err)
{
	struct record *r = record_new(o);
	int rc = record_do_open(r, err);

	if (rc)
		record_free(r);
	else
		*out = r;
	return rc;
}

int record_start(struct record **out, const struct record_opts *o, struct err *err)
{
	static const struct record_queue_ops ops = { .open = record_do_open,
						     .write = record_write };
	struct record *r = record_new(o);
	size_t bytes = o->queue_bytes ? o->queue_bytes : RECORD_QUEUE_BYTES;
	int rc = record_queue_start(&r->queue, &ops, r, bytes, err);

	if (rc)
		record_free(r);
	else
		*out = r;
	return rc;
}

int record_opened(struct record *r, bool wait, struct err *err)
{
	return r->queue ? record_queue_opened(r->queue, wait, err) : 0;
}

/* --- whoever adds to it ---------------------------------------------------------------------- */

static int record_give(struct record *r, const struct record_entry *e, struct err *err)
{
	return r->queue ? record_queue_add(r->queue, e, err) : record_write(r, e, err);
}

static int record_ask(struct record *r, enum record_what what, struct err *err)
{
	const struct record_entry e = { .what = what };

	return r->queue ? record_queue_ask(r->queue, &e, err) : record_write(r, &e, err);
}

int record_add_text(struct record *r, const char *type, const char *data, struct err *err)
{
	const struct record_entry e = { .what = RECORD_LINE, .type = type, .text = data };

	return record_give(r, &e, err);
}

int record_add(struct record *r, const char *type, json_t *data, struct err *err)
{
	char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	int rc = record_add_text(r, type, text, err);

	free(text);
	json_decref(data);
	return rc;
}

void record_note(struct record *r, const char *type, json_t *data)
{
	struct err err;

	if (!r)
		json_decref(data);
	else if (record_add(r, type, data, &err))
		log_add(LOG_ERROR, "record", "%s", err.text);
}

void record_error(struct record *r, const char *area, const char *text)
{
	record_add(r, "error",
		   json_pack("{s:o, s:o}", "area", json_text(area), "text", json_text(text)), NULL);
}

int record_screen(struct record *r, const struct canvas *c, int colours, struct err *err)
{
	const struct record_entry e = { .what = RECORD_FRAME, .screen = c, .colours = colours };

	return record_give(r, &e, err);
}

void record_mark(struct record *r, const char *label)
{
	const struct record_entry e = { .what = RECORD_MARK, .text = label };

	record_give(r, &e, NULL);
}

int record_whole(struct record *r, struct err *err)
{
	return record_ask(r, RECORD_WHOLE, err);
}

int record_sync(struct record *r, struct err *err)
{
	return record_ask(r, RECORD_SYNC, err);
}

bool record_lost(struct record *r, struct err *err)
{
	bool lost;

	if (r->queue && record_queue_full(r->queue, err))
		return true;
	pthread_mutex_lock(&r->seen_lock);
	lost = r->seen.failed.text[0];
	if (lost)
		*err = r->seen.failed;
	if (!r->seen.failing)
		r->seen.failed.text[0] = '\0';
	pthread_mutex_unlock(&r->seen_lock);
	return lost;
}

/* --- the end --------------------------------------------------------------------------------- */

/* All that waits is written, and from now on by the caller.  False: it was never open. */
static bool record_end_queue(struct record *r, struct record_entry *lost)
{
	bool open = !record_opened(r, true, NULL);

	*lost = (struct record_entry){ 0 };
	if (r->queue)
		record_queue_end(r->queue, lost);
	r->queue = NULL;
	return open;
}

int record_close(struct record *r, struct err *err)
{
	struct record_entry lost;
	int rc;

	if (!r)
		return 0;
	if (!record_end_queue(r, &lost)) {
		record_free(r);
		return 0;
	}
	record_writer_last(&r->w, &lost, err);
	rc = record_add(r, "session.end",
			json_pack("{s:I, s:I}", "lines", (json_int_t)r->w.seq, "lost",
				  (json_int_t)r->w.lost_all),
			err);
	if (!rc)
		rc = record_sync(r, err);
	record_free(r);
	return rc;
}

const char *record_sid(const struct record *r)
{
	return r->w.sid;
}

const char *record_path(struct record *r)
{
	const char *path;

	pthread_mutex_lock(&r->seen_lock);
	path = r->seen.path;
	pthread_mutex_unlock(&r->seen_lock);
	return path ? path : "";
}

uint64_t record_seq(struct record *r)
{
	uint64_t seq;

	pthread_mutex_lock(&r->seen_lock);
	seq = r->seen.seq;
	pthread_mutex_unlock(&r->seen_lock);
	return seq;
}

bool record_is_first(struct record *r)
{
	bool first;

	pthread_mutex_lock(&r->seen_lock);
	first = r->seen.first;
	pthread_mutex_unlock(&r->seen_lock);
	return first;
}

void record_head(struct record *r, struct digest *head, uint64_t *cast_bytes)
{
	pthread_mutex_lock(&r->seen_lock);
	*head = r->seen.head;
	*cast_bytes = r->seen.cast_bytes;
	pthread_mutex_unlock(&r->seen_lock);
}
