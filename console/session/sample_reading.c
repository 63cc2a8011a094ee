/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/sample_reading.h"

#include "console/session/past_code.h"
#include "console/session/sample_history.h"
#include "fabric/base/mem.h"

#include <stdlib.h>
#include <time.h>

struct readings {
	const struct fabric *fabric; /* own references */
	const struct sample *last;
	struct tiers *tiers;
	struct norm norm;
	uint32_t since_whole;
};

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct readings *readings_new(void)
{
	return xcalloc(1, sizeof(struct readings));
}

static void drop(struct readings *r)
{
	sample_put(r->last);
	tiers_free(r->tiers);
	fabric_put(r->fabric);
	r->last = NULL;
	r->tiers = NULL;
	r->fabric = NULL;
}

void readings_free(struct readings *r)
{
	if (!r)
		return;
	drop(r);
	free(r);
}

static void take_fabric(struct readings *r, const struct fabric *f)
{
	struct shape *shape;

	if (r->fabric == f)
		return;
	if (r->fabric && digest_equal(&r->fabric->fingerprint, &f->fingerprint)) {
		fabric_put(r->fabric);
		r->fabric = fabric_get(f);
		norm_take(&r->norm, f, r->tiers); /* ports may have another state or rate */
		return;
	}
	drop(r);
	r->fabric = fabric_get(f);
	shape = shape_new(f);
	r->tiers = tiers_new(f, shape);
	shape_free(shape);
	norm_take(&r->norm, f, r->tiers);
}

struct reading *reading_new(struct readings *r, const struct fabric *f, const struct sample *s)
{
	struct reading *out = xcalloc(1, sizeof(*out));
	double start;

	take_fabric(r, f);
	start = cpu_s();
	out->sample = s;
	out->before = sample_get(r->last);
	out->rates = rates_new(f, out->before, s);
	out->tally = tally_new(f, &r->norm, s, out->rates);
	out->whole = !out->before || r->since_whole >= PAST_GROUP;
	r->since_whole = out->whole ? 1 : r->since_whole + 1;
	out->code = past_encode(&out->len, out->whole ? NULL : out->before, s);
	sample_put(r->last);
	r->last = sample_get(s);
	out->cpu_s = cpu_s() - start;
	return out;
}

void reading_free(struct reading *r)
{
	if (!r)
		return;
	sample_put(r->sample);
	sample_put(r->before);
	rates_put(r->rates);
	tally_put(r->tally);
	free(r->code);
	free(r);
}
