/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings: what is not as a fabric is expected to be: nodes and cables that are gone, links that
 * are slower, what was moved or renamed, error counters that rose.
 */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/port_errors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_kind {
	FINDING_GONE,
	FINDING_SLOWER,
	FINDING_MOVED,
	FINDING_RENAMED,
	FINDING_ERRORS,
	FINDING_NEW, /* these two are no reason to wake anybody */
	FINDING_FASTER,
	FINDING_KINDS
};

struct finding {
	enum finding_kind kind;
	const char *what;      /* "switch", "host", "cable", "link", "name", or an error counter */
	char *subject;	       /* "leaf1", "leaf1/17 - spine4/3" */
	char *before, *after;  /* NULL of what is gone or new */
	uint64_t guid, guid_b; /* of the node; of a cable both ends, else guid_b is 0 */
	uint8_t port;	       /* of a cable, link or counter; else 0 */
	uint64_t rise;	       /* of an error counter */
};

/* Immutable once it is shared. */
struct findings {
	struct finding *v; /* by kind */
	size_t n, cap;
	const struct fabric *expected;	/* own reference; NULL: there is no baseline */
	const struct error_set *errors; /* read last, own reference; NULL: none were */
	char *path;			/* of the baseline; NULL: none */
	bool accepted;			/* it stays until somebody accepts another */
	int64_t since_s;		/* the baseline was written; 0: none */
	int refs;
};

struct findings *findings_new(void);
const struct findings *findings_get(const struct findings *l); /* thread-safe; returns l */
void findings_put(const struct findings *l);		       /* NULL is fine */

/* What differs in the fabric as it is now.  O(ports + nodes log nodes). */
void findings_add_fabric(struct findings *l, const struct fabric *expected,
			 const struct fabric *now);
/* Counters that rose by more than their limits.  f: for names. */
void findings_add_errors(struct findings *l, const struct error_set *was,
			 const struct error_set *now, const uint64_t limit[ERROR_COUNT],
			 const struct fabric *f);

/* What one has of the fabric, and another of the counters; each may be NULL. */
struct findings *findings_joined(const struct findings *fabric, const struct findings *counters);

bool finding_counts(const struct finding *f);	    /* should somebody be called? */
uint32_t findings_count(const struct findings *l);  /* of those; NULL: 0 */
const char *finding_kind_name(enum finding_kind k); /* "gone" */
/* "cable gone: leaf1/17 - spine4/3"; the caller frees. */
char *finding_text(const struct finding *f);
