/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/deadlock/deadlock_test.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_ns	 10000	/* how often to look for a deadlock */
#define PART	 16384	/* events between two words about it: some 10 ms */
#define QUIET_ns 200000 /* so long after it all that can be reached is expected to stand */

void deadlock_test_init(struct deadlock_test *s, const struct fabric *f, const struct tables *t,
			const struct deadlock_test_opts *o)
{
	struct packets_opts packets;

	packets_opts_init(&packets);
	*s = (struct deadlock_test){ .f = f, .o = { .seed = packets.seed } };
	if (o)
		s->o = *o;
	packets.seed = s->o.seed;
	packets.shared = s->o.shared;
	packets.vls = s->o.vls;
	s->p = packets_new(f, t, &packets);
}

void deadlock_test_free(struct deadlock_test *s)
{
	packets_free(s->p);
	free(s->src);
	free(s->cycle);
	memset(s, 0, sizeof(*s));
}

void deadlock_test_connect(struct deadlock_test *s, const struct tables *t, uint32_t src,
			   uint16_t dlid)
{
	uint8_t sl = tables_path_sl(t, src, s->f->term_sw[src], dlid);
	uint32_t c = packets_connect(s->p, src, dlid, sl);

	if (!(c & (c - 1)))
		s->src = xrealloc(s->src, 2 * (size_t)c + 1, sizeof(*s->src));
	s->src[c] = src;
	s->nconn = c + 1;
	packets_send(s->p, c, s->o.message ? s->o.message : PACKETS_ENDLESS);
}

/* A stretch of the time from..end, up to until. */
struct stretch {
	const char *step;
	uint64_t from_ns, until_ns, end_ns;
};

static int deadlock_test_run_stretch(struct deadlock_test *s, const struct stretch *w,
				     struct progress *progress, struct err *err)
{
	bool there = false;

	while (!there) {
		there = packets_run_part(s->p, w->until_ns, PART);
		if (progress_step(progress, w->step, packets_now_ns(s->p) - w->from_ns,
				  w->end_ns - w->from_ns))
			return err_set(err, -ECANCELED, "cancelled");
	}
	return 0;
}

/* Until packets wait in a circle, nothing moves any more, or the time is over. */
static int deadlock_test_seek_deadlock(struct deadlock_test *s, uint64_t *t,
				       struct progress *progress, struct err *err)
{
	struct stretch w = { .step = "simulating", .end_ns = s->limit_ns };
	int rc = 0;

	while (!rc && *t < s->limit_ns && !s->ncycle && !packets_still(s->p)) {
		*t = *t + LOOK_ns < s->limit_ns ? *t + LOOK_ns : s->limit_ns;
		w.until_ns = *t;
		rc = deadlock_test_run_stretch(s, &w, progress, err);
		if (!rc)
			s->ncycle = packets_deadlock(s->p, NULL, NULL);
	}
	return rc;
}

static void deadlock_test_count(struct deadlock_test *s)
{
	struct packets_conn_counts n;

	s->still = packets_still(s->p);
	packets_counts(&s->n, s->p);
	for (uint32_t c = 0; s->o.message && c < s->nconn; c++) {
		packets_conn_counts(&n, s->p, c);
		s->complete += n.bytes == s->o.message;
	}
}

int deadlock_test_run(struct deadlock_test *s, uint64_t limit_ns, struct progress *progress,
		      struct err *err)
{
	uint64_t t = 0;
	int rc;

	s->limit_ns = limit_ns;
	rc = deadlock_test_seek_deadlock(s, &t, progress, err);
	if (!rc && s->ncycle) {
		struct stretch w = { "settling", t, t + QUIET_ns, t + QUIET_ns };

		rc = deadlock_test_run_stretch(s, &w, progress, err);
		if (!rc)
			s->ncycle = packets_deadlock(s->p, &s->cycle, &s->closed_ns);
	}
	deadlock_test_count(s);
	return rc;
}
