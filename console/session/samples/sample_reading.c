/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/samples/sample_reading.h"

#include "console/session/samples/sample_code.h"
#include "console/session/samples/sample_history.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <time.h>

struct readings {
	const struct fabric_shape *shape; /* own references */
	const struct sample *last;
	uint32_t since_whole;
};

static double sample_reading_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct readings *sample_readings_new(void)
{
	return xcalloc(1, sizeof(struct readings));
}

static void sample_reading_drop(struct readings *r)
{
	sample_put(r->last);
	fabric_shape_put(r->shape);
	r->last = NULL;
	r->shape = NULL;
}

void sample_readings_free(struct readings *r)
{
	if (!r)
		return;
	sample_reading_drop(r);
	free(r);
}

static void sample_reading_take_shape(struct readings *r, const struct fabric_shape *shape)
{
	if (r->shape == shape)
		return;
	sample_reading_drop(r);
	r->shape = fabric_shape_get(shape);
}

struct sample_reading *sample_reading_new(struct readings *r, const struct fabric_shape *shape,
					  const struct sample *s)
{
	struct sample_reading *out = xcalloc(1, sizeof(*out));
	double start;

	sample_reading_take_shape(r, shape);
	start = sample_reading_cpu_s();
	out->sample = s;
	out->before = sample_get(r->last);
	out->rates = rates_new(shape->fabric, out->before, s);
	out->sample_summary = sample_summary_new(shape->fabric, &shape->reference, s, out->rates);
	out->whole = !out->before || r->since_whole >= SAMPLE_HISTORY_GROUP;
	r->since_whole = out->whole ? 1 : r->since_whole + 1;
	out->code = sample_code_encode(&out->len, out->whole ? NULL : out->before, s);
	sample_put(r->last);
	r->last = sample_get(s);
	out->cpu_s = sample_reading_cpu_s() - start;
	return out;
}

void sample_reading_free(struct sample_reading *r)
{
	if (!r)
		return;
	sample_put(r->sample);
	sample_put(r->before);
	rates_put(r->rates);
	sample_summary_put(r->sample_summary);
	free(r->code);
	free(r);
}
