/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_value: one figure of a channel on the scale of colours, and how it looks. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/canvas/palette.h"
#include "views/data/state/state.h"
#include "views/data/summary/fabric_summary.h"

enum chan_metric {
	CHAN_UTIL,
	CHAN_WAIT,
	CHAN_EFI,
	CHAN_JOB_EFI,
	CHAN_ERRORS,
	CHAN_LANES,
	CHAN_DARK,
	CHAN_PROBLEM,
	CHAN_UTIL_CHANGE, /* against another moment; only when there is one: chan_metric_shown() */
	CHAN_WAIT_CHANGE,
	CHAN_DELTA, /* what the preview changes; only when one is there */
	CHAN_METRICS
};

struct chan_value {
	double pct;  /* 0..100 of the scale; change in percent; NAN: see the glyph */
	uint8_t bad; /* for choosing the worst of several: 0 good .. 255 */
	char glyph;
	enum role role;
};

/* A sign without a share; bad as above.  A share on the scale of colours, '?' where it is NAN. */
struct chan_value chan_value_sign(char glyph, enum role role, uint8_t bad);
struct chan_value chan_value_heat(double pct, enum palette palette);

const char *chan_metric_name(enum chan_metric m);
/* The same in a title: says of which plan it is, and what to do where nothing is known of paths. */
const char *chan_metric_title(char *buf, size_t len, enum chan_metric m, const struct state *s);
/* Of a dump, which has no counters: what is known of its paths, or else of its cables; else m. */
enum chan_metric chan_metric_first(enum chan_metric m, const struct state *s);
/* Of the tables; where none are known, of the plan selected; NULL: neither. */
const struct metrics *chan_metrics(const struct state *s);
/* It, or utilisation where there is no moment that it could be held against. */
enum chan_metric chan_metric_shown(enum chan_metric m, const struct state *s);
/* The one after it of those that need no plan; CHAN_DELTA behind the last. */
enum chan_metric chan_metric_next(enum chan_metric m, const struct state *s);

/* O(1). */
struct chan_value chan_value_of(enum chan_metric m, enum palette palette, const struct state *s,
				const struct fabric_summary *v, uint32_t chan);
/* Index of the worst of n channels, the first of equals.  O(n); utilisation, which is asked for
 * every cable with every sample, without looking at each in full. */
uint32_t chan_worst(enum chan_metric m, enum palette palette, const struct state *s,
		    const struct fabric_summary *v, const uint32_t *chan, uint32_t n);
/* What the signs mean, on one line; in the colours of heat_role_quiet(). */
void chan_value_legend(enum chan_metric m, enum palette palette, enum heat_quiet quiet,
		       const struct state *s, struct canvas *c, struct rect r, int y);
