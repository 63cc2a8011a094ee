/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/failures/packet_load.h"

#include "console/deadlock/deadlock_test.h"
#include "fabric/sim/packet/pattern.h"

#define SHIFTS	    24
#define ALL_TO_ALLS 4
#define PEERS	    8
#define SHIFT_BYTES (64u << 10)
#define ALL_BYTES   (16u << 10)
#define LIMIT_ns    20000000u /* thousands of times what a message takes: what is not there by then stands */

struct packet_phase {
	const struct fabric *f;
	const struct tables *t;
	uint64_t seed;
	double bytes, ns;
	uint32_t deadlocks;
};

static void packet_load_send(struct deadlock_test *s, const struct packet_phase *x, uint32_t from,
			     uint32_t to)
{
	const struct fabric *f = x->f;

	deadlock_test_connect(s, x->t, f->term_by_name[from], f->term_lid[f->term_by_name[to]]);
}

static int packet_load_run(struct packet_phase *x, struct deadlock_test *s, struct err *err)
{
	int rc = deadlock_test_run(s, LIMIT_ns, NULL, err);

	x->bytes += (double)s->n.bytes;
	x->ns += (double)(s->ncycle ? LIMIT_ns : s->n.last_ns);
	x->deadlocks += s->ncycle > 0;
	return rc;
}

static int packet_load_shift(struct packet_phase *x, uint32_t distance, struct err *err)
{
	struct deadlock_test_opts o = { .seed = x->seed, .message = SHIFT_BYTES };
	struct deadlock_test s;
	int rc;

	deadlock_test_init(&s, x->f, x->t, &o);
	for (uint32_t i = 0; i < x->f->nterm; i++)
		packet_load_send(&s, x, i, (i + distance) % x->f->nterm);
	rc = packet_load_run(x, &s, err);
	deadlock_test_free(&s);
	return rc;
}

static int packet_load_all(struct packet_phase *x, uint64_t phase, struct err *err)
{
	struct deadlock_test_opts o = { .seed = x->seed, .message = ALL_BYTES };
	uint32_t peer[PEERS], n;
	struct deadlock_test s;
	int rc;

	deadlock_test_init(&s, x->f, x->t, &o);
	for (uint32_t i = 0; i < x->f->nterm; i++) {
		n = pattern_peers(peer, PEERS, PATTERN_ALLTOALL, x->f->nterm, i, x->seed + phase);
		for (uint32_t k = 0; k < n; k++)
			packet_load_send(&s, x, i, peer[k]);
	}
	rc = packet_load_run(x, &s, err);
	deadlock_test_free(&s);
	return rc;
}

/* Bytes a nanosecond are GB/s. */
static double packet_load_rate(const struct packet_phase *x)
{
	return x->ns > 0 ? x->bytes / x->ns / x->f->nterm : 0;
}

int packet_load_measure(struct packet_load *out, const struct fabric *f, const struct tables *t,
			uint64_t seed, struct err *err)
{
	struct packet_phase shift = { .f = f, .t = t, .seed = seed }, all = shift;
	uint32_t most = f->nterm - 1, phases = most < SHIFTS ? most : SHIFTS;
	int rc = 0;

	*out = (struct packet_load){ 0 };
	if (f->nterm < 2)
		return 0;
	for (uint32_t k = 0; k < phases && !rc; k++)
		rc = packet_load_shift(&shift, 1 + (uint32_t)((uint64_t)k * most / phases), err);
	for (uint32_t k = 0; k < ALL_TO_ALLS && !rc; k++)
		rc = packet_load_all(&all, k, err);
	out->shift_GBps = packet_load_rate(&shift);
	out->all_to_all_GBps = packet_load_rate(&all);
	out->deadlocks = shift.deadlocks + all.deadlocks;
	return rc;
}
