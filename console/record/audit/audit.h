/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * audit: verifies the record of a session.  Reads only.
 *
 * The chain shows every line that was edited, removed, inserted or moved, except at the end: after
 * truncation, or an edited last line, it is still consistent.  That is found by comparison with the
 * next part or session in the same directory, whose first line has the hash, with the heads in
 * syslog, and with the seal, which counts the lines.
 */
#pragma once

#include "console/record/audit/audit_dir.h"
#include "console/record/audit/audit_heads.h"
#include "console/record/record_hmac.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>

enum audit_cast {
	AUDIT_CAST_NONE,   /* no screen was recorded */
	AUDIT_CAST_ABSENT, /* it was, and the file is not beside the record */
	AUDIT_CAST_GOOD,
};

struct audit_report {
	bool ok;	    /* every line is there, in order and unchanged */
	bool cut;	    /* the finding is that the end is missing */
	bool ended;	    /* with session.end; else still open, or truncated */
	bool rotated;	    /* with record.rotate: continued in the next part */
	uint64_t lines;	    /* good ones before the first finding */
	uint64_t bad_line;  /* counted from 1; 0 = none, or the whole file */
	char what[256];	    /* the finding; "" = none */
	struct digest head; /* of the last good line: compare with what syslog keeps */
	uint64_t first_seq; /* of line 1; > 0: a later part of a session */
	uint32_t part;	    /* from 1 on */
	char sid[64];
	char start[40], end[40]; /* times of the first and the last good line */
	char fabric[64], mode[16];
	uint32_t uid;
	char genesis_sid[64]; /* the session before, "" = none */
	struct digest genesis;
	char next_sid[64]; /* a later session chained to this one, "" = none */
	uint64_t gaps;	   /* record.gap lines: something could not be recorded */
	uint64_t updates;  /* lines that start or recover an update */
	uint32_t heads;	   /* in the log, that match */
	bool head_is_last; /* the log saw the last line */
	bool sealed;	   /* lines carry an HMAC ... */
	bool seal_checked; /* ... which matches */
	bool counted;	   /* ... and the seal counts the lines (record_end.h) */
	uint64_t epoch;	   /* of the seal */
	enum audit_cast cast;
	uint64_t bytes, cast_bytes;
};

struct audit_opts {
	const struct audit_heads *heads; /* NULL: not compared */
	const struct digest *key;	 /* the first of the seal; NULL: not checked */
	const struct audit_dir *dir;	 /* of the file; NULL: it is read for this one */
	struct record_hmac_walk *epochs; /* for many files; NULL: each begins with the first key */
};

/* 0 when the file could be read; findings are in out.  o may be NULL. */
int audit_verify(struct audit_report *out, const char *path, const struct audit_opts *o,
		 struct err *err);
