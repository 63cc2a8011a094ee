/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_read FILE: how long an hour of a collector's samples (1,800) takes to be read, one after the
 * other as [ and ] do, and decoded.  The samples that the file has are read in turns. */
#include "console/collector/frame/taken.h"
#include "console/collector/history/history.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
	struct taken_fabric fabric = { 0 };
	struct err err = { "" };
	struct history *h;
	double start, read_s = 0;
	int64_t at = 0;
	int rc;

	if (argc != 2)
		return 64;
	rc = history_open(&h, argv[1], NULL, NULL, &err);
	if (!rc)
		rc = read_fabric(&fabric, h, &err);
	start = clock_s();
	for (int i = 0; i < HOUR && !rc; i++) {
		double before = clock_s();
		int64_t next;
		struct sample *s;
		struct frame *f;
		struct bytes_in in;

		rc = history_sample_at(&next, h, at, 1, &err);
		at = next <= at ? 0 : next;
		if (!rc)
			rc = history_last(&f, h, FRAME_SAMPLE, next, &err);
		if (rc)
			break;
		read_s += clock_s() - before;
		in = frame_bytes(f);
		rc = taken_sample(&s, fabric.fabric, &in);
		sample_put(s);
		frame_put(f);
	}
	if (rc)
		fprintf(stderr, "history_read: %s\n", err.text);
	else
		printf("an hour of samples: %.2f s, of it %.2f s to read and unpack\n",
		       clock_s() - start, read_s);
	taken_fabric_done(&fabric);
	history_close(h);
	return rc ? 1 : 0;
}
