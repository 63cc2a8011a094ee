/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/frame/updates_bytes.h"

#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"

#include <errno.h>
#include <math.h>

struct update_numbers {
	uint64_t n, open, left;
	int64_t step_ms, confirmed_s;
	struct txn_gain gain;
};

void updates_bytes_put(bytes_out *out, const struct update_counts *c)
{
	struct update_numbers h = { .n = c->by.n,
				    .open = c->open,
				    .left = c->left,
				    .step_ms = c->step_ms,
				    .confirmed_s = c->confirmed_s,
				    .gain = c->gain };

	bytes_put(out, &h, sizeof(h));
	for (size_t i = 0; i < c->by.n; i++)
		bytes_put(out, &c->by.v[i], sizeof(c->by.v[i]));
}

#define UPDATES_TEXT(text) ((text)[sizeof(text) - 1] = '\0', plain_text(text, ""))

static bool updates_bytes_is_sum(double v)
{
	return isfinite(v) && v >= 0;
}

static void updates_bytes_take_one(struct journal_count *c, struct bytes_in *in)
{
	bytes_take(in, c, sizeof(*c));
	UPDATES_TEXT(c->fabric);
	UPDATES_TEXT(c->engine);
	in->bad |= !updates_bytes_is_sum(c->gain) || !updates_bytes_is_sum(c->loss);
}

int updates_bytes_take(const struct update_counts **out, struct bytes_in *in)
{
	struct update_counts *c = update_counts_new();
	struct update_numbers h;

	bytes_take(in, &h, sizeof(h));
	c->open = (uint32_t)h.open;
	c->left = (uint32_t)h.left;
	c->step_ms = h.step_ms;
	c->confirmed_s = h.confirmed_s;
	c->gain = h.gain;
	UPDATES_TEXT(c->gain.pattern);
	in->bad |= !updates_bytes_is_sum(c->gain.before) || !updates_bytes_is_sum(c->gain.after);
	for (uint64_t i = 0; i < h.n && !in->bad; i++) {
		struct journal_count one;

		updates_bytes_take_one(&one, in);
		if (!in->bad)
			vec_push(&c->by, one);
	}
	if (!bytes_at_end(in)) {
		update_counts_put(c);
		return -EPROTO;
	}
	*out = c;
	return 0;
}
