/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_writer: the files of a record, written by one thread at a time: chained lines, the screen
 * beside them, parts, and what is noted of lines that were lost.
 */
#pragma once

#include "console/record/cast.h"
#include "console/record/record.h"
#include "console/record/record_hmac.h"
#include "console/record/record_queue.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct record_part {
	char *cast; /* path; NULL: dropped, or there was none */
	uint64_t bytes;
	bool keep; /* it has a marker */
};

/* Others read it and change nothing. */
struct record_writer {
	struct record_time began;
	char *path, *dir; /* path: of the part being written */
	char *user;	  /* the same in every line, as JSON */
	char sid[48];
	char host[72];
	char place[PATH_MAX]; /* realpath() of dir, for syslog */
	bool syslog;
	int fd;
	struct record_time at; /* of what is being written */
	uint64_t seq;	       /* of the next line */
	uint64_t lost;	       /* lines that could not be written since the last one that was */
	uint64_t lost_all;
	off_t size;
	struct digest head;   /* of the last line; zeros before the first */
	struct digest logged; /* the one that syslog has */

	unsigned part; /* from 1 on */
	uint64_t part_bytes, cast_bytes;
	uint64_t rotate_at; /* of size, or of the cast's */

	struct cast *cast; /* of this part; NULL: nothing was shown in it yet */
	uint64_t frames_lost;
	struct err screen; /* why the last frame could not be written, "" = it could */
	struct err ended;  /* why an ended part may not be on disk, for good; "" = all are */
	VEC(struct record_part) parts;
	struct record_hmac *seal; /* NULL: the directory is not sealed */
	char *end_path;		  /* of a sealed one (record_end.h) */
	int end_fd;
};

/* Copies what it needs of the options.  record_writer_free(). */
void record_writer_init(struct record_writer *w, const struct record_opts *o);
/* The directory, and an empty file with a name of its own. */
int record_writer_create(struct record_writer *w, struct err *err);
/* The file again, of a session that was never started. */
void record_writer_remove(const struct record_writer *w);
/* A line, a frame, a marker; or whether all is whole, or on disk.  A part that is too long ends
 * first. */
int record_writer_write(struct record_writer *w, const struct record_entry *e, struct err *err);
/* Before the last line, which has the hash of the whole screen.  lost: since the last entry. */
void record_writer_last(struct record_writer *w, const struct record_entry *lost, struct err *err);
void record_writer_free(struct record_writer *w);
