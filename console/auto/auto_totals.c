/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_totals.h"

#include "fabric/base/message/plural.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define DAY_S 86400

static int64_t auto_totals_day(int64_t time_s)
{
	return time_s / DAY_S;
}

void auto_totals_begin(struct auto_totals *t, int64_t time_s)
{
	*t = (struct auto_totals){ .day = auto_totals_day(time_s) };
}

bool auto_totals_over(const struct auto_totals *t, int64_t time_s)
{
	return t->looks && auto_totals_day(time_s) != t->day;
}

void auto_totals_judged(struct auto_totals *t, enum auto_act act, const struct auto_plan *p)
{
	t->plans++;
	t->cpu_s += p->cpu_s;
	switch (act) {
	case AUTO_APPLY:
		t->written++;
		t->drains += p->drain;
		t->blocks += p->blocks;
		t->gain = auto_gain(p);
		break;
	case AUTO_PROPOSE:
		t->proposed++;
		break;
	default:
		if (p->sound)
			t->small++;
		else
			t->failed++;
		break;
	}
}

void auto_totals_ended(struct auto_totals *t, enum auto_end end)
{
	switch (end) {
	case AUTO_KEPT:
		t->kept++;
		t->best = t->gain > t->best ? t->gain : t->best;
		break;
	case AUTO_ROLLED_BACK:
		t->rolled_back++;
		break;
	case AUTO_REFUSED:
		t->refused++;
		break;
	case AUTO_INCOMPLETE:
	case AUTO_SUPERSEDED:
	case AUTO_LEFT:
		t->other++;
		break;
	}
}

const char *auto_totals_text(char buf[AUTO_TOTALS_TEXT], const struct auto_totals *t)
{
	time_t s = (time_t)(t->day * DAY_S);
	struct tm day;
	char date[16];
	int n;

	gmtime_r(&s, &day);
	strftime(date, sizeof(date), "%Y-%m-%d", &day);
	n = snprintf(buf, AUTO_TOTALS_TEXT,
		     "totals of %s: %u look%s, %u plan%s computed (%.1f s of CPU): %u written "
		     "(%" PRIu64 " blocks, %u with a drain), %u proposed, %u with too little to "
		     "gain, %u failed",
		     date, t->looks, plural(t->looks), t->plans, plural(t->plans), t->cpu_s,
		     t->written, t->blocks, t->drains, t->proposed, t->small, t->failed);
	n += snprintf(buf + n, AUTO_TOTALS_TEXT - (size_t)n,
		      "; updates: %u confirmed, %u rolled back, %u refused, %u other", t->kept,
		      t->rolled_back, t->refused, t->other);
	if (t->kept)
		snprintf(buf + n, AUTO_TOTALS_TEXT - (size_t)n, "; largest gain %.1f %%",
			 100 * t->best);
	return buf;
}
