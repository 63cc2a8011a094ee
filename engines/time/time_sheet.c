/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_sheet.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

int time_sheet_compute(struct time_sheet **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, const struct job_time_opts *opts,
		       struct progress *progress, struct err *err)
{
	struct job_time_opts o = opts ? *opts : (struct job_time_opts){ .seed = 1 };
	struct time_sheet *s = xcalloc(1, sizeof(*s));
	int rc = 0;

	s->refs = 1;
	for (int p = 0; !rc && p < PREDICT_PATTERNS; p++) {
		o.pattern = (enum predict_pattern)p;
		rc = job_times_compute(&s->of[p], f, t, jobs, &o, progress, err);
	}
	if (rc) {
		time_sheet_put(s);
		s = NULL;
	}
	*out = s;
	return rc;
}

struct time_sheet *time_sheet_get(struct time_sheet *s)
{
	if (s)
		s->refs++;
	return s;
}

void time_sheet_put(struct time_sheet *s)
{
	if (!s || --s->refs)
		return;
	for (int p = 0; p < PREDICT_PATTERNS; p++)
		job_times_free(s->of[p]);
	free(s);
}
