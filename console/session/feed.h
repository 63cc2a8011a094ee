/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed: the seam "where a fabric being watched is told from": the poller, which asks the fabric
 * itself, or a link to a collector, which does so for many.
 *
 * What it learns goes into the mailbox that it was started with.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum want_type {
	WANT_SWEEP,    /* discovery and tables at once */
	WANT_TABLES,   /* only the tables */
	WANT_READ_ON,  /* the reading of tables that was ended */
	WANT_READ_END, /* see feed_tables_end() */
	WANT_SAMPLE,   /* counters at once */
	WANT_ERRORS,   /* error counters of all ports, soon: of a collector anybody may want them */
	WANT_COUNT
};

struct feed;

struct feed_ops {
	void (*want)(struct feed *f, enum want_type want);
	void (*interval)(struct feed *f, double interval_s);
	void (*end_sweep)(struct feed *f);
	void (*tables_end)(struct feed *f);
	/* NULL: it keeps nothing */
	void (*past)(struct feed *f, uint64_t serial, int64_t at_ms, int32_t step);
	/* NULL: it knows no events */
	void (*past_event)(struct feed *f, uint64_t serial, int64_t at_ms, int32_t by);
	void (*stop)(struct feed *f);
	void (*free)(struct feed *f);
};

struct feed {
	const struct feed_ops *ops;
	bool shared; /* with others: only to be looked at */
};

static inline void feed_want(struct feed *f, enum want_type want)
{
	f->ops->want(f, want);
}

static inline void feed_interval(struct feed *f, double interval_s)
{
	f->ops->interval(f, interval_s);
}

/* Ends a discovery that was wanted, begun or not: MSG_DISCOVERING with -ECANCELED, and all stays as
 * it was. */
static inline void feed_end_sweep(struct feed *f)
{
	f->ops->end_sweep(f);
}

/* Ends the reading of tables that somebody waits for: MSG_TABLES_READING with -ECANCELED.  What was
 * read is kept, and the reading goes on from there; where nothing is to go on, it begins again. */
static inline void feed_tables_end(struct feed *f)
{
	f->ops->tables_end(f);
}

static inline bool feed_has_past(const struct feed *f)
{
	return f && f->ops->past;
}

/* The sample at that time of the wall clock or the last before it; step: so many after (1) or
 * before
 * (-1) that.  MSG_PAST with that serial. */
static inline void feed_past(struct feed *f, uint64_t serial, int64_t at_ms, int32_t step)
{
	f->ops->past(f, serial, at_ms, step);
}

static inline bool feed_has_past_events(const struct feed *f)
{
	return feed_has_past(f) && f->ops->past_event;
}

/* The moment of the next event after (by 1) or before (-1) the sample at that time: MSG_PAST with
 * that serial, whose text is "1763608200 AREA: what". */
static inline void feed_past_event(struct feed *f, uint64_t serial, int64_t at_ms, int32_t by)
{
	f->ops->past_event(f, serial, at_ms, by);
}

/* Waits for what is under way. */
static inline void feed_stop(struct feed *f)
{
	if (f)
		f->ops->stop(f);
}

/* Afterwards; may take as long as the library below likes.  NULL is fine, here and above. */
static inline void feed_free(struct feed *f)
{
	if (f)
		f->ops->free(f);
}
