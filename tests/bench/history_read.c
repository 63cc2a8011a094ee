/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_read FILE: how long an hour of a collector's samples (1,800) takes to be read, one after
 * the other as [ and ] do, and decoded.  The samples that the file has are read in turns. */
#include "console/collector/frame/taken.h"
#include "console/collector/history/history.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HOUR 1800

static struct bytes_in frame_bytes(const struct frame *f)
{
	return (struct bytes_in){ .at = f->data, .left = f->head.len };
}

static int read_fabric(struct taken_fabric *out, struct history *h, struct err *err)
{
	static const struct taken_racks none;
	struct frame *f;
	struct bytes_in in;
	uint8_t head[16];
	int rc = history_last(&f, h, FRAME_FABRIC, INT64_MAX, err);

	if (rc)
		return rc;
	in = frame_bytes(f);
	bytes_take(&in, head, sizeof(head));
	free(bytes_take_text(&in));
	rc = taken_fabric(out, NULL, &none, &in, err);
	frame_put(f);
	return rc;
}

/* Neighbours have the same base. */
static int decode(struct sample **out, struct sample **base, const struct frame **base_of,
		  const struct fabric *fabric, const struct frame *f)
{
	struct bytes_in in;

	if (f->base && f->base != *base_of) {
		sample_put(*base);
		frame_put(*base_of);
		*base_of = frame_get(f->base);
		in = frame_bytes(f->base);
		if (taken_sample(base, fabric, NULL, &in))
			return -1;
	}
	in = frame_bytes(f);
	return taken_sample(out, fabric, *base, &in);
}

/* As a collector reads and a viewer decodes: at the same time. */
struct reading {
	struct history *h;
	struct frame *frame[HOUR];
	atomic_int n; /* of these; HOUR: no more */
	double read_s;
	int rc;
	struct err err;
};

static void *read_hour(void *arg)
{
	struct reading *r = arg;
	double start = clock_s();
	int64_t at = 0, next;

	for (int i = 0; i < HOUR && !r->rc; i++) {
		r->rc = history_sample_at(&next, r->h, at, 1, &r->err);
		at = next <= at ? 0 : next;
		if (!r->rc)
			r->rc = history_last(&r->frame[i], r->h, FRAME_SAMPLE, next, &r->err);
		atomic_store(&r->n, r->rc ? HOUR : i + 1);
	}
	r->read_s = clock_s() - start;
	return NULL;
}

int main(int argc, char **argv)
{
	struct taken_fabric fabric = { 0 };
	static struct reading r;
	const struct frame *base_of = NULL;
	struct sample *base = NULL;
	double start, decode_s = 0;
	pthread_t reader;

	if (argc != 2)
		return 64;
	r.rc = history_open(&r.h, argv[1], NULL, NULL, &r.err);
	if (!r.rc)
		r.rc = read_fabric(&fabric, r.h, &r.err);
	start = clock_s();
	if (!r.rc && pthread_create(&reader, NULL, read_hour, &r))
		return 1;
	for (int i = 0; i < HOUR && !r.rc; i++) {
		struct sample *s;
		double before;

		while (atomic_load(&r.n) <= i)
			poll(NULL, 0, 1);
		before = clock_s();
		if (!r.frame[i] || decode(&s, &base, &base_of, fabric.fabric, r.frame[i]))
			r.rc = -1;
		else
			sample_put(s);
		frame_put(r.frame[i]);
		decode_s += clock_s() - before;
	}
	if (r.rc)
		fprintf(stderr, "history_read: %s\n", r.err.text);
	else if (!pthread_join(reader, NULL))
		printf("an hour of samples: %.2f s (%.2f s of CPU), %.2f s to read and unpack and "
		       "meanwhile %.2f s to decode\n",
		       clock_s() - start, (double)clock() / CLOCKS_PER_SEC, r.read_s, decode_s);
	sample_put(base);
	frame_put(base_of);
	taken_fabric_done(&fabric);
	history_close(r.h);
	return r.rc ? 1 : 0;
}
