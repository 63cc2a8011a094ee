/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/vl/layers_verdict.h"

/* The engine's steps have names of their own: hands verify's on as "layers". */
struct proxy {
	struct progress self, *to;
};

static void layers_verdict_hand_on(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct proxy *p = ctx;

	(void)step;
	if (progress_step(p->to, "layers", done, total))
		atomic_store_explicit(&p->self.cancel, true, memory_order_relaxed);
}

int layers_verdict(struct verdict **out, const struct fabric *f, const struct tables *t,
		   unsigned threads, struct progress *progress, struct err *err)
{
	struct proxy p = { .self = { .report = layers_verdict_hand_on, .ctx = &p },
			   .to = progress };
	struct verify_opts opts = { .threads = threads };

	return verify_tables(out, f, t, &opts, &p.self, err);
}
