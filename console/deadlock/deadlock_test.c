/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/deadlock_test.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_ns	 10000	/* how often to look for a deadlock */
#define PART	 16384	/* events between two words about it: some 10 ms */
#define QUIET_ns 200000 /* so long after it all that can be reached is expected to stand */

void deadlock_test_init(struct deadlock_test *s, const struct fabric *f, const struct tables *t,
			uint64_t seed)
{
	struct packets_opts o;

	packets_opts_init(&o);
	o.seed = seed;
	*s = (struct deadlock_test){ .f = f };
	s->p = packets_new(f, t, &o);
}

void deadlock_test_free(struct deadlock_test *s)
{
	packets_free(s->p);
	free(s->src);
	free(s->cycle);
	memset(s, 0, sizeof(*s));
}

static void deadlock_test_connect_pair(struct deadlock_test *s, const struct tables *t,
				       uint32_t src, uint16_t dlid)
{
	uint8_t sl = tables_path_sl(t, src, s->f->term_sw[src], dlid);
	uint32_t c = packets_connect(s->p, src, dlid, sl);

	if (!(c & (c - 1)))
		s->src = xrealloc(s->src, 2 * (size_t)c + 1, sizeof(*s->src));
	s->src[c] = src;
	s->nconn = c + 1;
	packets_send(s->p, c, PACKETS_ENDLESS);
}

void deadlock_test_aim(struct deadlock_test *s, const struct tables *t, const struct witness *cycle,
		       uint32_t n)
{
	const struct fabric *f = s->f;

	for (uint32_t i = 0; i < n; i++) {
		const struct witness *w = &cycle[i];
		uint32_t sw = f->term_sw[w->src_term], hosts = 1;

		deadlock_test_connect_pair(s, t, w->src_term, w->dlid);
		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
			uint32_t src = f->term_list[k];

			if (src == w->src_term || hosts == DEADLOCK_TEST_HOSTS ||
			    tables_path_sl(t, src, sw, w->dlid) != w->sl)
				continue;
			deadlock_test_connect_pair(s, t, src, w->dlid);
			hosts++;
		}
	}
	s->aimed = s->nconn;
}

/* The first terminals of each switch. */
static uint32_t deadlock_test_choose_hosts(uint32_t *out, const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t hosts = 0;

		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
			if (f->term_list[k] >= f->nterm || hosts == DEADLOCK_TEST_HOSTS)
				continue;
			out[n++] = f->term_list[k];
			hosts++;
		}
	}
	return n;
}

void deadlock_test_spread(struct deadlock_test *s, const struct tables *t, unsigned rounds,
			  uint64_t seed)
{
	const struct fabric *f = s->f;
	uint32_t *host = xcalloc(f->nterm, sizeof(*host)), n = deadlock_test_choose_hosts(host, f);
	struct rng r;

	rng_seed(&r, seed);
	rng_shuffle_u32(&r, host, n);
	for (unsigned round = 0; n > 1 && round < rounds; round++) {
		uint32_t shift = 1 + (uint32_t)rng_below(&r, n - 1);

		for (uint32_t i = 0; i < n; i++)
			deadlock_test_connect_pair(s, t, host[i],
						   f->term_lid[host[(i + shift) % n]]);
	}
	free(host);
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
	s->still = packets_still(s->p);
	packets_counts(&s->n, s->p);
	return rc;
}

void deadlock_test_line(char *buf, size_t len, const struct deadlock_test *s, uint32_t i)
{
	const struct fabric *f = s->f;
	const struct packets_wait *w = &s->cycle[i];

	snprintf(buf, len, "%s/%u -> %s/%u VL %u, %u packets, the first from %s to LID %u (SL %u)",
		 f->sw_name[f->chan_src[w->chan]], f->chan_port[w->chan],
		 f->sw_name[f->chan_dst[w->chan]], f->chan_rport[w->chan], w->vl, w->npackets,
		 f->term_name[s->src[w->conn]], w->dlid, w->sl);
}

static json_t *deadlock_test_wait_json(const struct deadlock_test *s, const struct packets_wait *w)
{
	const struct fabric *f = s->f;

	return json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:s, s:i, s:i}", "switch",
			 f->sw_name[f->chan_src[w->chan]], "port", f->chan_port[w->chan],
			 "to_switch", f->sw_name[f->chan_dst[w->chan]], "to_port",
			 f->chan_rport[w->chan], "vl", w->vl, "packets", (int)w->npackets, "source",
			 f->term_name[s->src[w->conn]], "dlid", w->dlid, "sl", w->sl);
}

json_t *deadlock_test_json(const struct deadlock_test *s)
{
	json_t *list = json_array(), *o;

	for (uint32_t i = 0; i < s->ncycle; i++)
		json_array_append_new(list, deadlock_test_wait_json(s, &s->cycle[i]));
	o = json_pack("{s:b, s:f, s:i, s:i, s:I, s:I, s:I, s:I, s:I}", "deadlock", s->ncycle > 0,
		      "simulated_us", (double)packets_now_ns(s->p) * 1e-3, "connections",
		      (int)s->nconn, "on_cycle", (int)s->aimed, "injected",
		      (json_int_t)s->n.injected, "delivered", (json_int_t)s->n.delivered,
		      "in_flight", (json_int_t)s->n.in_flight, "dropped", (json_int_t)s->n.dropped,
		      "misordered", (json_int_t)s->n.misordered);
	json_object_set_new(o, "deadlock_us",
			    s->ncycle ? json_real((double)s->closed_ns * 1e-3) : json_null());
	json_object_set_new(o, "last_moved_us",
			    s->still ? json_real((double)s->n.last_ns * 1e-3) : json_null());
	json_object_set_new(o, "wait_for", list);
	return o;
}

static void deadlock_test_print_deadlock(FILE *out, const struct deadlock_test *s)
{
	char line[512];

	fprintf(out, "Deadlock after %.1f us: %u buffers wait for each other in a cycle.\n",
		(double)s->closed_ns * 1e-3, s->ncycle);
	for (uint32_t i = 0; i < s->ncycle; i++) {
		deadlock_test_line(line, sizeof(line), s, i);
		fprintf(out, "  %s\n", line);
	}
	if (s->still)
		fprintf(out, "The last packet moved at %.1f us; ", (double)s->n.last_ns * 1e-3);
	else
		fprintf(out, "Other packets still move at %.1f us; ",
			(double)packets_now_ns(s->p) * 1e-3);
	fprintf(out, "%" PRIu64 " were delivered, %" PRIu64 " are in flight.\n", s->n.delivered,
		s->n.in_flight);
}

void deadlock_test_print(FILE *out, const struct deadlock_test *s)
{
	fprintf(out, "%u connections send continuously", s->nconn);
	if (s->aimed)
		fprintf(out, ", %u of them on paths that form a cycle", s->aimed);
	fprintf(out, ".\n");
	if (s->ncycle) {
		deadlock_test_print_deadlock(out, s);
		return;
	}
	fprintf(out,
		"No deadlock in %.3f ms: %" PRIu64 " packets were delivered, %" PRIu64
		" are in flight, %" PRIu64 " were dropped, %" PRIu64 " arrived out of order.\n",
		(double)s->limit_ns * 1e-6, s->n.delivered, s->n.in_flight, s->n.dropped,
		s->n.misordered);
}
